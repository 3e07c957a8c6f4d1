// SPDX-License-Identifier: Apache-2.0
#include "profiler/measure/gpu/gpu_group.h"

#include <algorithm>
#include <span>
#include <utility>

#include "profiler/measure/gpu/point_abort.h"
#include "profiler/units/number_format.h"

namespace attnscope::gpu {

struct GpuGroup::Gpu {
  CUdevice device = 0;
  std::unique_ptr<Context> own;  ///< Null for the first GPU, which the caller owns.
  const Context* context = nullptr;
  Stream own_stream;
  CUstream launches = nullptr;
  Stream copies;
  std::unique_ptr<KernelRunner> own_runner;
  KernelRunner* runner = nullptr;
  std::map<std::string, DeviceMemory> memory;
  Event begin;
  Event launches_end;
  Event copies_end;
};

GpuGroup::GpuGroup(const CudaApi& cuda, const KernelBuilder& builder, std::string arch, const DeviceLimits& limits,
                   const First& first)
    : cuda_(cuda),
      builder_(builder),
      arch_(std::move(arch)),
      limits_(limits),
      first_(first),
      begin_(make_event(cuda)),
      end_(make_event(cuda)) {}

GpuGroup::~GpuGroup() {
  release();
  // Resources must be released in their own GPU's context.
  for (auto gpu = gpus_.rbegin(); gpu != gpus_.rend(); ++gpu) {
    if (*gpu) cuda_.cuCtxSetCurrent((*gpu)->context->get());
    gpu->reset();
  }
  cuda_.cuCtxSetCurrent(first_.context.get());
}

class GpuGroup::FirstContextGuard {
 public:
  explicit FirstContextGuard(const GpuGroup& group) : group_(group) {}
  FirstContextGuard(const FirstContextGuard&) = delete;
  FirstContextGuard& operator=(const FirstContextGuard&) = delete;
  ~FirstContextGuard() { group_.cuda_.cuCtxSetCurrent(group_.first_.context.get()); }

 private:
  const GpuGroup& group_;
};

void GpuGroup::open(int gpus) {
  int count = 0;
  cuda_.check(cuda_.cuDeviceGetCount(&count), "cuDeviceGetCount");
  std::vector<CUdevice> devices{first_.device};
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    CUdevice device = 0;
    cuda_.check(cuda_.cuDeviceGet(&device, ordinal), "cuDeviceGet");
    if (device != first_.device && device_name(cuda_, device) == limits_.name) devices.push_back(device);
  }
  if (std::ssize(devices) < gpus) {
    throw PointAbort(Disposition::infeasible, "point.too_few_gpus_of_kind",
                     "Needs {} GPUs of one kind; of {} visible GPUs, {} are {}.", gpus, count, devices.size(),
                     limits_.name);
  }
  devices.resize(static_cast<std::size_t>(gpus));
  for (const CUdevice one : devices) {
    for (const CUdevice other : devices) {
      int can_access = 1;
      if (one != other) cuda_.check(cuda_.cuDeviceCanAccessPeer(&can_access, one, other), "cuDeviceCanAccessPeer");
      if (can_access == 0) {
        throw PointAbort(Disposition::infeasible, "point.no_peer_access",
                         "GPU {} has no peer access to {} (both must be on one NVLink or PCIe switch).",
                         device_uuid(cuda_, one), device_uuid(cuda_, other));
      }
    }
  }
  const FirstContextGuard context_guard(*this);
  for (std::size_t i = gpus_.size(); i < devices.size(); ++i) {
    std::unique_ptr<Gpu> gpu = make_gpu(devices[i]);
    for (const auto& other : gpus_) enable_peer_access(*gpu, *other);
    if (i > 0) uuids_.push_back(device_uuid(cuda_, devices[i]));
    gpus_.push_back(std::move(gpu));
  }
}

std::unique_ptr<GpuGroup::Gpu> GpuGroup::make_gpu(CUdevice device) const {
  auto gpu = std::make_unique<Gpu>();
  gpu->device = device;
  try {
    if (device == first_.device) {
      gpu->context = &first_.context;
      gpu->launches = first_.stream;
      gpu->runner = &first_.runner;
    } else {
      gpu->own = std::make_unique<Context>(cuda_, device);
      gpu->context = gpu->own.get();
      gpu->own_stream = make_stream(cuda_);
      gpu->launches = gpu->own_stream.get();
      gpu->own_runner = std::make_unique<KernelRunner>(cuda_, builder_, arch_, gpu->launches, limits_);
      gpu->runner = gpu->own_runner.get();
    }
    gpu->context->make_current();
    gpu->copies = make_stream(cuda_);
    for (Event* event : {&gpu->begin, &gpu->launches_end, &gpu->copies_end}) *event = make_event(cuda_);
  } catch (const DriverError& error) {
    // An error of another GPU; this point's GPU is intact.
    if (device == first_.device) throw;
    const bool memory = error.code() == CUDA_ERROR_OUT_OF_MEMORY;
    throw PointAbort(
        memory ? Disposition::out_of_memory : Disposition::infeasible,
        make_reason("point.other_gpu_unusable", "GPU {} is needed for this problem but cannot be used. [{}]",
                    device_uuid(cuda_, device), error.what()));
  }
  return gpu;
}

void GpuGroup::enable_peer_access(const Gpu& one, const Gpu& other) const {
  for (const auto& [from, to] : {std::pair{&one, &other}, {&other, &one}}) {
    from->context->make_current();
    const CUresult enabled = cuda_.cuCtxEnablePeerAccess(to->context->get(), 0);
    if (enabled != CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED) cuda_.check(enabled, "cuCtxEnablePeerAccess");
  }
}

void GpuGroup::wait_for(const Event& event, std::chrono::milliseconds limit) const {
  try {
    first_.runner.wait(event.get(), limit);
  } catch (const LaunchTimeout&) {
    for (const auto& gpu : gpus_) {
      for (const CUstream stream : {gpu->launches, gpu->copies.get()}) {
        const CUresult state = cuda_.cuStreamQuery(stream);
        if (state != CUDA_ERROR_NOT_READY) cuda_.check(state, "cuStreamQuery");
      }
    }
    throw;
  }
}

GpuGroup::Prepared GpuGroup::prepared(const Operation& operation, const AttentionPlan& plan,
                                      const std::vector<BufferSpec>& others, const BufferResolver& address_of) {
  const auto address = [&](const std::string& name) -> CUdeviceptr {
    const BufferSpec* const there = find_buffer(others, name);
    if (there == nullptr) return address_of(name);
    const Gpu& gpu = *gpus_.at(static_cast<std::size_t>(there->gpu));
    return gpu.memory.at(enclosing_buffer(others, *there).name).get() + static_cast<CUdeviceptr>(there->place.offset);
  };
  Gpu& gpu = *gpus_.at(static_cast<std::size_t>(operation.gpu));
  gpu.context->make_current();
  Prepared result{.operation = &operation, .launch = {}, .begin = make_event(cuda_), .end = make_event(cuda_)};
  if (operation.is_transfer()) {
    result.from = address(operation.transfer.from) + static_cast<CUdeviceptr>(operation.transfer.from_offset);
    result.to = address(operation.transfer.to) + static_cast<CUdeviceptr>(operation.transfer.to_offset);
    return result;
  }
  const KernelLaunch& launch = plan.launches.at(operation.launch);
  const auto resolve = [&](const std::string& name) {
    const auto renamed_buffer = std::ranges::find(operation.buffers, name, &std::pair<std::string, std::string>::first);
    return address(renamed_buffer == operation.buffers.end() ? name : renamed_buffer->second);
  };
  result.launch = std::make_unique<PreparedLaunch>(cuda_, launch, gpu.runner->load(launch), resolve);
  return result;
}

void GpuGroup::prepare(const AttentionPlan& plan, const std::vector<BufferSpec>& others,
                       const BufferResolver& address_of) {
  release();
  const FirstContextGuard context_guard(*this);
  schedule_ = &plan.schedule;
  for (const BufferSpec& buffer : others) {
    if (buffer.place.is_view()) continue;
    Gpu& gpu = *gpus_.at(static_cast<std::size_t>(buffer.gpu));
    gpu.context->make_current();
    try {
      gpu.memory.emplace(buffer.name, allocate(cuda_, buffer.bytes));
    } catch (const DriverError& error) {
      if (error.code() != CUDA_ERROR_OUT_OF_MEMORY) throw;
      const std::int64_t free = free_device_bytes(cuda_);
      throw PointAbort(Disposition::out_of_memory, "point.memory_of_gpu",
                       "Buffers on GPU {} need {} of device memory; {} are free.", buffer.gpu,
                       text(Capacity(bytes_of(others))), text(Capacity(free)));
    }
    const bool zeros = buffer.fill == BufferFill::zeros;
    cuda_.fill(gpu.memory.at(buffer.name).get(), zeros ? 0 : nan_byte, static_cast<std::size_t>(buffer.bytes),
               gpu.launches);
  }
  for (const auto& [from, to] : {std::pair{&plan.schedule.distribute, &distribute_},
                                 {&plan.schedule.operations, &operations_},
                                 {&plan.schedule.gather, &gather_}}) {
    for (const Operation& each : *from) to->push_back(prepared(each, plan, others, address_of));
  }
  for (const auto& gpu : gpus_) {
    gpu->context->make_current();
    cuda_.check(cuda_.cuCtxSynchronize(), "cuCtxSynchronize");
  }
}

void GpuGroup::release() {
  schedule_ = nullptr;
  distribute_.clear();
  operations_.clear();
  gather_.clear();
  for (const auto& gpu : gpus_) {
    cuda_.cuCtxSetCurrent(gpu->context->get());
    gpu->memory.clear();
  }
  cuda_.cuCtxSetCurrent(first_.context.get());
}

CUstream GpuGroup::stream_of(const Operation& operation) const {
  const Gpu& gpu = *gpus_.at(static_cast<std::size_t>(operation.gpu));
  return operation.is_transfer() ? gpu.copies.get() : gpu.launches;
}

void GpuGroup::wait(CUstream stream, CUevent event) const {
  cuda_.check(cuda_.cuStreamWaitEvent(stream, event, CU_EVENT_WAIT_DEFAULT), "cuStreamWaitEvent");
}

void GpuGroup::copy(const Prepared& each, CUstream stream) const {
  const Transfer& what = each.operation->transfer;
  const CUcontext from = gpus_.at(static_cast<std::size_t>(each.operation->gpu))->context->get();
  const CUcontext to = gpus_.at(static_cast<std::size_t>(what.to_gpu))->context->get();
  if (what.rows == 1) {
    cuda_.check(cuda_.cuMemcpyPeerAsync(each.to, to, each.from, from, static_cast<std::size_t>(what.row_bytes), stream),
                "cuMemcpyPeerAsync");
    return;
  }
  CUDA_MEMCPY3D_PEER rows{};
  rows.srcMemoryType = CU_MEMORYTYPE_DEVICE;
  rows.srcDevice = each.from;
  rows.srcContext = from;
  rows.srcPitch = static_cast<std::size_t>(what.from_pitch);
  rows.srcHeight = static_cast<std::size_t>(what.rows);
  rows.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  rows.dstDevice = each.to;
  rows.dstContext = to;
  rows.dstPitch = static_cast<std::size_t>(what.to_pitch);
  rows.dstHeight = static_cast<std::size_t>(what.rows);
  rows.WidthInBytes = static_cast<std::size_t>(what.row_bytes);
  rows.Height = static_cast<std::size_t>(what.rows);
  rows.Depth = 1;
  cuda_.check(cuda_.cuMemcpy3DPeerAsync(&rows, stream), "cuMemcpy3DPeerAsync");
}

void GpuGroup::enqueue(Prepared& each) {
  const CUstream stream = stream_of(*each.operation);
  gpus_.at(static_cast<std::size_t>(each.operation->gpu))->context->make_current();
  for (const std::size_t other : each.operation->after) {
    const Prepared& before = operations_.at(other);
    if (stream_of(*before.operation) != stream) wait(stream, before.end.get());
  }
  cuda_.record(each.begin.get(), stream);
  each.launch ? each.launch->enqueue(cuda_, stream) : copy(each, stream);
  cuda_.record(each.end.get(), stream);
}

void GpuGroup::run_copies(std::vector<Prepared>& copies, std::chrono::milliseconds limit) {
  const FirstContextGuard context_guard(*this);
  for (Prepared& each : copies) enqueue(each);
  for (const Prepared& each : copies) wait_for(each.end, limit);
}

void GpuGroup::distribute(std::chrono::milliseconds limit) {
  run_copies(distribute_, limit);
}

void GpuGroup::gather(std::chrono::milliseconds limit) {
  run_copies(gather_, limit);
}

double GpuGroup::copy_ns(std::size_t bytes, bool both_ways, const std::array<CUdeviceptr, 4>& from_to,
                         std::chrono::milliseconds limit) {
  constexpr std::chrono::microseconds enqueue_time(100);
  const FirstContextGuard context_guard(*this);
  const std::array ends{gpus_[0].get(), gpus_[1].get()};
  first_.runner.enqueue_delay(enqueue_time);
  cuda_.record(begin_.get(), first_.stream);
  for (std::size_t i = 0; i < (both_ways ? 2U : 1U); ++i) {
    const Gpu& sender = *ends[i];
    const Gpu& receiver = *ends[1 - i];
    sender.context->make_current();
    wait(sender.copies.get(), begin_.get());
    cuda_.check(cuda_.cuMemcpyPeerAsync(from_to[2 * i + 1], receiver.context->get(), from_to[2 * i],
                                        sender.context->get(), bytes, sender.copies.get()),
                "cuMemcpyPeerAsync");
    cuda_.record(sender.copies_end.get(), sender.copies.get());
    wait(first_.stream, sender.copies_end.get());
  }
  cuda_.record(end_.get(), first_.stream);
  first_.context.make_current();
  wait_for(end_, limit);
  return cuda_.elapsed_ns(begin_.get(), end_.get());
}

std::vector<Ceiling> GpuGroup::links(int rounds, std::chrono::milliseconds limit) {
  constexpr std::size_t large = std::size_t{256} << 20;
  constexpr std::size_t small = std::size_t{1} << 20;
  const FirstContextGuard context_guard(*this);
  std::vector<DeviceMemory> memory;
  for (const std::size_t gpu : {0U, 1U, 1U, 0U}) {
    gpus_[gpu]->context->make_current();
    memory.push_back(allocate(cuda_, std::int64_t{large}));
  }
  const std::array from_to{memory[0].get(), memory[1].get(), memory[2].get(), memory[3].get()};
  std::vector<double> one_way;
  std::vector<double> both;
  std::vector<double> latency;
  (void)copy_ns(large, true, from_to, limit);
  for (int round = 0; round < rounds; ++round) {
    one_way.push_back(1e9 * large / copy_ns(large, false, from_to, limit));
    const double ns = copy_ns(large, true, from_to, limit);
    both.push_back(1e9 * large / ns);
    // Copy time beyond the transfer at the large copy's rate.
    latency.push_back(std::max(1.0, copy_ns(small, true, from_to, limit) - small * ns / large));
  }
  std::vector<Ceiling> found;
  for (const auto& [key, values] : {std::pair{ceiling_key::peer_copy, &one_way},
                                    {ceiling_key::peer_copy_both_ways, &both},
                                    {ceiling_key::peer_copy_latency, &latency}}) {
    const SampleSummary summary = *summarize(*values);
    found.push_back({.name = std::string(key),
                     .value = summary.median,
                     .q1 = summary.q1,
                     .q3 = summary.q3,
                     .unit = std::string(find_ceiling(key)->unit)});
  }
  return found;
}

ScheduleTimes GpuGroup::run(CacheState cache, std::chrono::milliseconds limit) {
  // The first GPU waits while the host enqueues everything, so that no GPU waits for the host.
  constexpr std::chrono::microseconds enqueue_time_per_operation(20);
  const FirstContextGuard context_guard(*this);
  const std::span used(gpus_.data(), static_cast<std::size_t>(schedule_->gpus));
  for (const auto& gpu : used) {
    gpu->context->make_current();
    if (cache == CacheState::cold) gpu->runner->enqueue_l2_clear();
    if (gpu == gpus_.front()) continue;
    cuda_.record(gpu->launches_end.get(), gpu->launches);
    wait(first_.stream, gpu->launches_end.get());  // wait until all GPUs are ready
  }
  first_.context.make_current();
  first_.runner.enqueue_delay(enqueue_time_per_operation * static_cast<std::int64_t>(operations_.size() + used.size()));
  cuda_.record(begin_.get(), first_.stream);
  for (const auto& gpu : used) {
    if (gpu != gpus_.front()) wait(gpu->launches, begin_.get());
    wait(gpu->copies.get(), begin_.get());
    cuda_.record(gpu->begin.get(), gpu->launches);
  }
  for (Prepared& each : operations_) enqueue(each);
  for (const auto& gpu : used) {
    cuda_.record(gpu->launches_end.get(), gpu->launches);
    cuda_.record(gpu->copies_end.get(), gpu->copies.get());
    if (gpu != gpus_.front()) wait(first_.stream, gpu->launches_end.get());
    wait(first_.stream, gpu->copies_end.get());
  }
  cuda_.record(end_.get(), first_.stream);
  wait_for(end_, limit);

  std::vector<OperationTime> times;
  for (const Prepared& each : operations_) {
    const Gpu& gpu = *gpus_.at(static_cast<std::size_t>(each.operation->gpu));
    gpu.context->make_current();
    const double begin = cuda_.elapsed_ns(gpu.begin.get(), each.begin.get());
    times.push_back({begin, begin + cuda_.elapsed_ns(each.begin.get(), each.end.get())});
  }
  first_.context.make_current();
  // Both events are on one GPU: clocks of several GPUs are not synchronized.
  return total_schedule_times(*schedule_, times, cuda_.elapsed_ns(begin_.get(), end_.get()));
}

bool GpuGroup::usable() const {
  return std::ranges::all_of(gpus_, [&](const auto& gpu) {
    return std::ranges::all_of(std::array{gpu->launches, gpu->copies.get()}, [&](CUstream stream) {
      const CUresult state = cuda_.cuStreamQuery(stream);
      return state == CUDA_SUCCESS || state == CUDA_ERROR_NOT_READY;
    });
  });
}

}  // namespace attnscope::gpu
