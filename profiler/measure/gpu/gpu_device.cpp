// SPDX-License-Identifier: Apache-2.0
#include "profiler/measure/gpu/gpu_device.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "messages/ceiling.h"
#include "profiler/measure/device.h"
#include "profiler/measure/gpu/ceilings/ceiling_loads.h"
#include "profiler/measure/gpu/driver/cuda_driver.h"
#include "profiler/measure/gpu/gpu_device_impl.h"

namespace attnscope {
namespace gpu {
namespace {

/// Objects of lost devices; never destroyed, see Session.
std::vector<std::shared_ptr<void>>& leaked_objects() {
  static auto& lost = *new std::vector<std::shared_ptr<void>>;
  return lost;
}

}  // namespace

GpuDevice::GpuDevice(CudaApi cuda, CUdevice device, DeviceInfo info, std::string arch,
                     std::unique_ptr<KernelBuilder> builder, const Registry& registry)
    : registry_(registry), cuda_(std::move(cuda)), info_(std::move(info)), arch_(std::move(arch)) {
  session_ = std::make_unique<Session>(cuda_, device, std::move(builder), arch_, info_.limits);
  if (auto nvml = Nvml::open()) {
    nvml_ = std::move(nvml).value();
    nvml_->select(info_.uuid);
  }
}

GpuDevice::~GpuDevice() {
  if (usable_) {
    cuda_.cuCtxSetCurrent(session_->context.get());  // possibly on another thread than the constructor's
  } else {
    leaked_objects().push_back(std::move(session_));
    leaked_objects().push_back(std::make_shared<decltype(prepared_)>(std::move(prepared_)));
  }
}

void GpuDevice::prepare_counters(CUdevice device) {
  auto cupti = CuptiApi::load();
  if (!cupti) {
    counter_state_ = {
        CounterState::not_installed, cupti.error(),
        make_reason("counters.install_cupti", "Install CUPTI of CUDA 13, or set ATTNSCOPE_CUPTI_LIBRARY to its path.")};
    return;
  }
  cupti_ = std::move(cupti).value();
  try {
    session_->counters.emplace(*cupti_, session_->context.get(), device, info_.limits.compute_major);
    counter_state_ = {CounterState::available, {}, {}};
  } catch (const CuptiError& error) {
    counter_state_ = explain(error, *cupti_, driver_api_version(cuda_));
  }
}

Environment GpuDevice::environment() const {
  Environment environment = host_environment();
  environment.cuda_driver_api = driver_api_version(cuda_);
  environment.nvrtc_version = session_->builder->nvrtc_version();
  if (cupti_) environment.cupti_version = cupti_->version;
  if (nvml_) {
    environment.driver_version = nvml_->driver_version();
    environment.nvml_version = nvml_->nvml_version();
  }
  return environment;
}

std::vector<Device::UnknownMetric> GpuDevice::unknown_metrics(std::span<const std::string> names) const {
  std::vector<UnknownMetric> unknown;
  if (!session_->counters) return unknown;  // counters() reports why
  const CounterHost& host = session_->counters->host();
  try {
    for (const std::string& name : names) {
      if (!host.has_metric(name)) unknown.push_back({name, host.similar_names(name)});
    }
  } catch (const CuptiError&) {
    unknown.clear();  // metric names unknown
  }
  return unknown;
}

void GpuDevice::prepare(std::span<const PointSpec> points, const CancelToken& cancel, const BuildProgress& progress) {
  std::vector<KernelLaunch> launches;
  for (const PointSpec& point : points) {
    if (cancel.cancelled()) return;
    const Algorithm* algorithm = registry_.find(point.algorithm);
    if (algorithm == nullptr || algorithm->refusal(point.problem, point.config(), info_.limits)) continue;
    std::ranges::move(algorithm->plan(point.problem, point.config(), info_.limits).launches,
                      std::back_inserter(launches));
  }
  (void)session_->builder->build_all(arch_, launches, 0, cancel, progress);
}

std::int64_t GpuDevice::free_bytes() const {
  std::size_t free = 0;
  std::size_t total = 0;
  if (!usable_ || cuda_.cuMemGetInfo(&free, &total) != CUDA_SUCCESS) return 0;
  return static_cast<std::int64_t>(free) + session_->workspace.allocated_bytes();
}

Result<CeilingSet, CeilingFailure> GpuDevice::ceilings(const CeilingOptions& options, const CancelToken& cancel,
                                                       const CeilingProgress& progress) {
  if (!usable_) return Failure{CeilingFailure{.reason = "The device was lost earlier."}};
  step_failure_ = "Preparing the measurement of ceilings failed.";
  const CeilingKind* load = nullptr;
  try {
    session_->context.make_current();
    CeilingSet set = measure_ceilings({.runner = session_->runner,
                                       .builder = *session_->builder,
                                       .limits = info_.limits,
                                       .arch = arch_,
                                       .nvml = nvml_.get(),
                                       .counters = session_->counters ? &*session_->counters : nullptr,
                                       .no_counters = no_counters_reason()},
                                      options, cancel, progress, load);
    add_link_ceilings(set, options);
    return set;
  } catch (...) {
    if (load != nullptr) step_failure_ = make_message("{} could not be measured.", load->label());
    PointRecord ended;
    set_result_from_exception(ended);
    if (load != nullptr && ended.disposition == Disposition::timeout) {
      ended.reason = make_message("{} could not be measured: {}", load->label(), ended.reason);
    }
    return Failure{CeilingFailure{ended.disposition == Disposition::cancelled, ended.reason}};
  }
}

void GpuDevice::add_link_ceilings(CeilingSet& set, const CeilingOptions& options) {
  constexpr std::chrono::milliseconds limit(15'000);
  try {
    group().open(2);
    for (Ceiling& link : group().links(options.rounds, limit)) set.ceilings.push_back(std::move(link));
  } catch (const PointAbort&) {
    return;  // only one GPU of this kind
  } catch (const DriverError& error) {
    // Keep the ceilings measured so far if the other GPU is busy or lost.
    set.remarks.emplace_back(
        make_message("{}: one of its benchmarks failed: {}", msg::ceiling::peer_copy{}, error.what()));
    usable_ = group().usable();
  }
}

GpuGroup& GpuDevice::group() {
  if (!session_->group) {
    session_->group.emplace(cuda_, *session_->builder, arch_, info_.limits,
                            GpuGroup::First{.device = session_->device,
                                            .context = session_->context,
                                            .stream = session_->stream.get(),
                                            .runner = session_->runner});
  }
  return *session_->group;
}

Message GpuDevice::no_counters_reason() const {
  return counter_state_.reason.empty()
             ? make_reason("counters.not_prepared", "Counters were not enabled for this device.")
             : counter_state_.reason;
}

}  // namespace gpu

using namespace gpu;  // NOLINT(google-build-using-namespace): this file is the device's

Result<std::unique_ptr<Device>, GpuError> open_gpu_device(const GpuOptions& wanted, const Registry& registry) {
  GpuOptions options = wanted;
  if (!options.uuid.empty()) {
    const auto gpus = list_gpus();
    if (!gpus) return Failure{gpus.error()};
    const auto found = std::ranges::find(*gpus, options.uuid, &GpuSummary::uuid);
    if (found == gpus->end()) {
      return Failure{
          GpuError{make_reason("gpu.no_uuid", "{} is not one of the {} visible GPUs.", options.uuid, gpus->size()),
                   "Check nvidia-smi and CUDA_VISIBLE_DEVICES; the GPU may need a reset or a reboot."}};
    }
    options.ordinal = found->ordinal;
  }
  auto cuda = start_driver();
  if (!cuda) return Failure{cuda.error()};
  auto builder = KernelBuilder::open();
  if (!builder) return Failure{builder.error()};
  try {
    int count = 0;
    cuda->check(cuda->cuDeviceGetCount(&count), "cuDeviceGetCount");
    if (options.ordinal < 0 || options.ordinal >= count) {
      return Failure{
          GpuError{make_reason("gpu.no_ordinal", "GPU {} does not exist; visible GPUs: {}.", options.ordinal, count),
                   "GPUs are numbered from 0."}};
    }
    CUdevice device = 0;
    cuda->check(cuda->cuDeviceGet(&device, options.ordinal), "cuDeviceGet");
    DeviceInfo info{.uuid = device_uuid(*cuda, device),
                    .simulated = false,
                    .ordinal = options.ordinal,
                    .limits = device_limits(*cuda, device)};
    if (info.limits.compute_major < 8) {
      return Failure{
          GpuError{make_reason("gpu.capability", "{} has compute capability {}.{}; 8.0 or newer is required.",
                               info.limits.name, info.limits.compute_major, info.limits.compute_minor),
                   {}}};
    }
    std::string arch = arch_for(info.limits.compute_major, info.limits.compute_minor);
    if (Message why = (*builder)->unsupported_reason(arch); !why.empty()) {
      return Failure{GpuError{std::move(why), {}}};
    }
    auto gpu = std::make_unique<GpuDevice>(std::move(cuda).value(), device, std::move(info), std::move(arch),
                                           std::move(builder).value(), registry);
    if (options.counters) gpu->prepare_counters(device);
    return std::unique_ptr<Device>(std::move(gpu));
  } catch (const DriverError& error) {
    return Failure{GpuError{make_reason("gpu.unusable", "GPU {} cannot be used: {}.", options.ordinal, error.what()),
                            error.code() == CUDA_ERROR_OUT_OF_MEMORY
                                ? make_reason("gpu.memory_taken", "Other processes use its memory.")
                                : Message()}};
  } catch (const PointAbort& end) {
    return Failure{GpuError{end.reason(), {}}};
  }
}

}  // namespace attnscope
