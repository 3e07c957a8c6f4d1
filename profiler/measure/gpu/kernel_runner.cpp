// SPDX-License-Identifier: Apache-2.0
#include "profiler/measure/gpu/kernel_runner.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <thread>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sstream>
#include <variant>

namespace attnscope::gpu {
namespace {

constexpr unsigned service_threads = 256;
constexpr std::int64_t l2_line_bytes = 128;
/// Upper bound of SM indices.
constexpr std::size_t max_sms = 1024;
/// Cycles and nanoseconds of one SM.
using ClockStamp = std::array<std::uint64_t, 2>;
using ClockStamps = std::array<ClockStamp, max_sms>;

/// All service kernels are in one source file.
KernelLaunch service_launch() {
  KernelLaunch launch;
  launch.name = "service";
  launch.source = {.file = "device/measurement.cuh", .entry = "attn_fill_l2", .defines = {}};
  return launch;
}

std::string key_of(const KernelSource& source) {
  // The pointer distinguishes equally named files of two manifests.
  return fmt::format("{} {} {} {}", source.file, source.entry, fmt::join(source.defines, " "),
                     static_cast<const void*>(source.user_source.get()));
}

/// Extracts the first error line of a compiler log, for a one-line reason.
std::string first_error_line(const Message& error) {
  std::istringstream lines(english_text(error));
  std::string first;
  for (std::string line; std::getline(lines, line);) {
    if (line.find("error") != std::string::npos && line.find("NVRTC_ERROR") == std::string::npos) return line;
    if (first.empty()) first = line;
  }
  return first;
}

CUtensorMap encoded(const CudaApi& cuda, const TensorMapArgument& map, CUdeviceptr address) {
  if (cuda.encode_tensor_map == nullptr) {
    throw PointAbort(Disposition::infeasible, "point.no_tensor_maps",
                     "The driver (CUDA {}) does not support tensor maps (12.0 or newer is required)",
                     driver_api_version(cuda));
  }
  const std::vector<cuuint64_t> extents(map.extents.begin(), map.extents.end());
  const std::vector<cuuint64_t> strides(map.strides.begin(), map.strides.end());
  const std::vector<cuuint32_t> box(map.box.begin(), map.box.end());
  const std::vector<cuuint32_t> steps(box.size(), 1);
  const CUtensorMapSwizzle swizzle = map.swizzle_bytes == 128  ? CU_TENSOR_MAP_SWIZZLE_128B
                                     : map.swizzle_bytes == 64 ? CU_TENSOR_MAP_SWIZZLE_64B
                                     : map.swizzle_bytes == 32 ? CU_TENSOR_MAP_SWIZZLE_32B
                                                               : CU_TENSOR_MAP_SWIZZLE_NONE;
  CUtensorMap result{};
  const CUtensorMapDataType element = map.dtype == DType::fp8    ? CU_TENSOR_MAP_DATA_TYPE_UINT8
                                      : map.dtype == DType::bf16 ? CU_TENSOR_MAP_DATA_TYPE_BFLOAT16
                                      : map.dtype == DType::fp32 ? CU_TENSOR_MAP_DATA_TYPE_FLOAT32
                                                                 : CU_TENSOR_MAP_DATA_TYPE_FLOAT16;
  cuda.check(cuda.encode_tensor_map(&result, element, static_cast<cuuint32_t>(extents.size()),
                                    reinterpret_cast<void*>(address), extents.data(), strides.data(), box.data(),
                                    steps.data(), CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle,
                                    CU_TENSOR_MAP_L2_PROMOTION_L2_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE),
             "cuTensorMapEncodeTiled");
  return result;
}

template <class T>
std::vector<std::byte> bytes_of_value(const T& value) {
  std::vector<std::byte> bytes(sizeof value);
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

/// Returns an argument as the driver takes it.
struct ArgumentEncoder {
  const CudaApi& cuda;
  const BufferResolver& address_of;

  std::vector<std::byte> operator()(const BufferArgument& buffer) const {
    return bytes_of_value(buffer.name.empty() ? CUdeviceptr{0} : address_of(buffer.name));
  }
  std::vector<std::byte> operator()(const TensorMapArgument& map) const {
    return bytes_of_value(encoded(cuda, map, address_of(map.buffer)));
  }
  /// Aligns each member to its size, and the end to the largest member.
  std::vector<std::byte> operator()(const StructArgument& structure) const {
    const auto align = [](std::vector<std::byte>& bytes, std::size_t to) {
      bytes.resize((bytes.size() + to - 1) / to * to);
    };
    std::vector<std::byte> all;
    std::size_t alignment = 1;
    for (const PlainArgument& member : structure.members) {
      const auto value = std::visit(*this, member);
      alignment = std::max(alignment, value.size());
      align(all, value.size());
      all.insert(all.end(), value.begin(), value.end());
    }
    align(all, alignment);
    return all;
  }
  template <class Number>
  std::vector<std::byte> operator()(const Number& value) const {
    return bytes_of_value(value);
  }
};

/// Throws PointAbort if a manifest's arguments differ from the kernel's parameters, or if the driver cannot tell.
void check_arguments(const CudaApi& cuda, const KernelLaunch& launch, CUfunction function,
                     const std::vector<std::vector<std::byte>>& arguments) {
  if (cuda.parameter_info == nullptr) {
    throw PointAbort(Disposition::compile_error, "compile.argument_check",
                     "{}: a driver of CUDA 12.4 or later is needed to check the arguments.", launch.source.entry);
  }
  std::vector<std::size_t> taken;
  std::size_t offset = 0;
  std::size_t bytes = 0;
  CUresult result = CUDA_SUCCESS;
  while ((result = cuda.parameter_info(function, taken.size(), &offset, &bytes)) == CUDA_SUCCESS)
    taken.push_back(bytes);
  if (result != CUDA_ERROR_INVALID_VALUE) return;  // unknown; an invalid index is the end
  if (taken.size() != arguments.size()) {
    throw PointAbort(Disposition::compile_error, "compile.argument_count",
                     "{} takes {} arguments, but the manifest lists {}.", launch.source.entry, taken.size(),
                     arguments.size());
  }
  for (std::size_t i = 0; i < taken.size(); ++i) {
    const std::size_t stated = arguments[i].size();
    const bool narrow = std::holds_alternative<std::int32_t>(launch.arguments[i]) && taken[i] <= sizeof(short);
    if (stated == taken[i] || narrow) continue;  // the driver takes the low bytes for bool and short
    throw PointAbort(
        Disposition::compile_error, "compile.argument_bytes",
        "Argument {} of {} has {} bytes, but the manifest gives {} (pointer, long, double: 8; int, float: 4; "
        "half: 2; bool: 1; tensor map: 128; struct: padded members).",
        i + 1, launch.source.entry, taken[i], stated);
  }
}

}  // namespace

PreparedLaunch::PreparedLaunch(const CudaApi& cuda, const KernelLaunch& launch, const LoadedKernel& kernel,
                               const BufferResolver& address_of)
    : launch_(&launch), kernel_(&kernel) {
  slots_.reserve(launch.arguments.size());
  for (const Argument& argument : launch.arguments)
    slots_.push_back(std::visit(ArgumentEncoder{cuda, address_of}, argument));
  if (launch.source.user_source) check_arguments(cuda, launch, kernel.function, slots_);
}

void PreparedLaunch::enqueue(const CudaApi& cuda, CUstream stream) {
  if (host_) return host_->launch(stream);
  std::vector<void*> pointers;
  for (auto& slot : slots_) pointers.push_back(slot.data());
  std::vector<CUlaunchAttribute> attributes;
  const auto add = [&](CUlaunchAttributeID id) -> CUlaunchAttributeValue& {
    attributes.push_back({});
    attributes.back().id = id;
    return attributes.back().value;
  };
  if (launch_->starts_early) {
    add(CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION).programmaticStreamSerializationAllowed = 1;
  }
  if (launch_->cooperative) add(CU_LAUNCH_ATTRIBUTE_COOPERATIVE).cooperative = 1;
  if (const auto& [x, y, z] = launch_->cluster; x * y * z > 1) {
    auto& cluster = add(CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION).clusterDim;
    cluster.x = x;
    cluster.y = y;
    cluster.z = z;
  }
  CUlaunchConfig config{};
  const auto [grid_x, grid_y, grid_z] = launch_->launched_grid();
  config.gridDimX = grid_x;
  config.gridDimY = grid_y;
  config.gridDimZ = grid_z;
  config.blockDimX = launch_->block[0];
  config.blockDimY = launch_->block[1];
  config.blockDimZ = launch_->block[2];
  config.sharedMemBytes = static_cast<unsigned>(launch_->dynamic_shared_bytes);
  config.hStream = stream;
  config.attrs = attributes.data();
  config.numAttrs = static_cast<unsigned>(attributes.size());
  cuda.check(cuda.cuLaunchKernelEx(&config, kernel_->function, pointers.data(), nullptr), "cuLaunchKernelEx");
}

KernelRunner::KernelRunner(const CudaApi& cuda, const KernelBuilder& builder, std::string arch, CUstream stream,
                           const DeviceLimits& limits)
    : cuda_(cuda),
      builder_(builder),
      arch_(std::move(arch)),
      stream_(stream),
      limits_(limits),
      last_(make_event(cuda)),
      fill_bytes_(2 * limits.l2_bytes / l2_line_bytes * l2_line_bytes),
      fill_buffer_(allocate(cuda, fill_bytes_)),
      stamps_(allocate(cuda, 2 * sizeof(ClockStamps))) {
  const LoadedKernel& service = load(service_launch());
  const auto find = [&](CUfunction& function, const char* name) {
    cuda_.check(cuda_.cuModuleGetFunction(&function, service.module.get(), name), "cuModuleGetFunction");
  };
  find(fill_l2_, "attn_fill_l2");
  find(displace_l2_, "attn_displace_l2");
  find(discard_l2_, "attn_discard_l2");
  find(read_noise_, "attn_read_noise");
  find(delay_, "attn_delay");
  find(stamp_clocks_, "attn_stamp_clocks");
  find(count_nonfinite_, "attn_count_nonfinite");
}

const LoadedKernel& KernelRunner::load(const KernelLaunch& launch) {
  auto [place, is_new] = kernels_.try_emplace(key_of(launch.source));
  LoadedKernel& kernel = place->second;
  may_have_persisting_lines_ = may_have_persisting_lines_ || launch.source.user_source != nullptr;
  if (kernel.host_code) return kernel;
  if (is_new || kernel.function == nullptr) {
    const BuiltKernel built = builder_.build(arch_, launch);
    if (!built.report.error.empty()) {
      if (launch.call) throw PointAbort(Disposition::compile_error, built.report.error);
      throw PointAbort(Disposition::compile_error, "point.not_compiled", "{} does not compile: {}", built.report.kernel,
                       first_error_line(built.report.error));
    }
    kernel.digest = built.report.digest;
    if (launch.call) {
      if (launch.source.user_source->kind == UserSource::Kind::library)
        kernel.library = std::make_unique<LibraryKernel>(launch.source.user_source->file);
      kernel.host_code = true;
      return kernel;
    }
    try {
      kernel.module = load_module(cuda_, built.cubin);
    } catch (const DriverError& error) {
      if (error.code() == CUDA_ERROR_OUT_OF_MEMORY) throw;
      if (launch.source.user_source) {
        throw PointAbort(Disposition::compile_error, "point.own_module_refused", "The driver (CUDA {}) rejected {}: {}",
                         driver_api_version(cuda_), launch.source.file, error.what());
      }
      throw PointAbort(Disposition::compile_error, "point.cubin_refused",
                       "The driver (CUDA {}) rejected the cubin that NVRTC {} compiled for {}: {}",
                       driver_api_version(cuda_), builder_.nvrtc_version(), arch_, error.what());
    }
    const CUresult found = cuda_.cuModuleGetFunction(&kernel.function, kernel.module.get(), built.symbol.c_str());
    if (launch.source.user_source && found == CUDA_ERROR_NOT_FOUND) {
      throw PointAbort(Disposition::compile_error, "point.no_entry",
                       "{} has no kernel '{}' (set \"entry\" to the symbol that cuobjdump --dump-elf-symbols lists)",
                       launch.source.file, launch.source.entry);
    }
    cuda_.check(found, "cuModuleGetFunction");
    kernel.registers = cuda_.attribute(CU_FUNC_ATTRIBUTE_NUM_REGS, kernel.function);
    kernel.static_shared_bytes = cuda_.attribute(CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, kernel.function);
    kernel.local_bytes = cuda_.attribute(CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, kernel.function);
  }
  constexpr unsigned portable_cluster = 8;
  if (launch.cluster[0] * launch.cluster[1] * launch.cluster[2] > portable_cluster) {
    cuda_.check(cuda_.cuFuncSetAttribute(kernel.function, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1),
                "cuFuncSetAttribute");
  }
  if (launch.dynamic_shared_bytes > kernel.allowed_shared_bytes) {  // required above 48 KiB
    const CUresult result = cuda_.cuFuncSetAttribute(kernel.function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                                     static_cast<int>(launch.dynamic_shared_bytes));
    if (result == CUDA_ERROR_INVALID_VALUE) {
      throw PointAbort(Disposition::infeasible, "point.shared_memory",
                       "Kernel {} needs {} bytes of dynamic and {} of static shared memory; the limit per block is {}.",
                       launch.name, launch.dynamic_shared_bytes, kernel.static_shared_bytes,
                       limits_.shared_bytes_per_block);
    }
    cuda_.check(result, "cuFuncSetAttribute");
    kernel.allowed_shared_bytes = launch.dynamic_shared_bytes;
  }
  return kernel;
}

void KernelRunner::wait(std::chrono::milliseconds limit) {
  cuda_.record(last_.get(), stream_);
  wait(last_.get(), limit);
}

void KernelRunner::wait(CUevent event, std::chrono::milliseconds limit, bool spin_wait) const {
  const auto begin = Clock::now();
  for (;;) {
    const CUresult state = cuda_.cuEventQuery(event);
    if (state == CUDA_SUCCESS) return;
    if (state != CUDA_ERROR_NOT_READY) cuda_.check(state, "cuEventQuery");
    const auto waited = Clock::now() - begin;
    if (waited > limit)
      throw LaunchTimeout(
          make_reason("point.launch_still_running", "A launch was still running after {} ms.", limit.count()));
    // Spin first, since most launches are short; sleep later.
    if (!spin_wait && waited > std::chrono::milliseconds(2))
      std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
}

void KernelRunner::launch_service(CUfunction function, unsigned blocks, unsigned threads, void** arguments) {
  cuda_.check(cuda_.cuLaunchKernel(function, blocks, 1, 1, threads, 1, 1, 0, stream_, arguments, nullptr),
              "cuLaunchKernel");
}

/// Launches a kernel that accesses the whole buffer.
void KernelRunner::sweep(CUfunction function, CUdeviceptr address, std::int64_t bytes) {
  long long length = bytes;
  void* arguments[] = {&address, &length};
  launch_service(function, static_cast<unsigned>(8 * limits_.sm_count), service_threads, arguments);
}

void KernelRunner::enqueue_l2_clear() {
  if (may_have_persisting_lines_) {
    sweep(displace_l2_, fill_buffer_.get(), fill_bytes_);
    sweep(discard_l2_, fill_buffer_.get(), fill_bytes_);
  }
  sweep(fill_l2_, fill_buffer_.get(), fill_bytes_);
  sweep(discard_l2_, fill_buffer_.get(), fill_bytes_);
}

void KernelRunner::enqueue_store_noise(CUdeviceptr noise, std::int64_t bytes) {
  sweep(fill_l2_, noise, bytes);
}

void KernelRunner::enqueue_write_back(CUdeviceptr noise) {
  sweep(read_noise_, noise, noise_bytes());
}

void KernelRunner::enqueue_delay(std::chrono::nanoseconds length) {
  long long nanoseconds = length.count();
  void* arguments[] = {&nanoseconds};
  launch_service(delay_, 1, 1, arguments);
}

void KernelRunner::enqueue_clock_stamp(bool behind) {
  CUdeviceptr stamps = stamps_.get() + (behind ? sizeof(ClockStamps) : 0);
  cuda_.fill(stamps, 0, sizeof(ClockStamps), stream_);
  void* arguments[] = {&stamps};
  launch_service(stamp_clocks_, static_cast<unsigned>(limits_.sm_count), 1, arguments);
}

double KernelRunner::stamped_clock_hz() const {
  const auto stamps = std::make_unique<std::array<ClockStamps, 2>>();
  cuda_.copy_to_host(stamps->data(), stamps_.get(), sizeof *stamps);
  std::vector<double> hz;
  for (std::size_t sm = 0; sm < max_sms; ++sm) {
    const auto& [cycles_before, ns_before] = (*stamps)[0][sm];
    const auto& [cycles, ns] = (*stamps)[1][sm];
    if (ns_before == 0 || ns <= ns_before || cycles <= cycles_before) continue;
    hz.push_back(1e9 * static_cast<double>(cycles - cycles_before) / static_cast<double>(ns - ns_before));
  }
  if (hz.empty()) return 0;
  const auto middle = hz.begin() + static_cast<std::ptrdiff_t>(hz.size() / 2);
  std::ranges::nth_element(hz, middle);
  return *middle;
}

void KernelRunner::enqueue_count_nonfinite(CUdeviceptr data, std::int64_t count, DType dtype, std::int64_t row_elements,
                                           CUdeviceptr result) {
  long long elements = count;
  long long row = row_elements;
  int infinity = dtype == DType::fp32 ? 0x7F80'0000 : dtype == DType::fp16 ? 0x7C00 : 0x7F80;
  void* arguments[] = {&data, &elements, &infinity, &row, &result};
  launch_service(count_nonfinite_, static_cast<unsigned>(8 * limits_.sm_count), service_threads, arguments);
}

}  // namespace attnscope::gpu
