// SPDX-License-Identifier: Apache-2.0
// Measures one point without its counters: prepares, runs, verifies and times it.
#include <algorithm>
#include <iterator>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "kernels/model/pipeline_model.h"
#include "profiler/measure/gpu/gpu_device_impl.h"
#include "profiler/measure/gpu/kernel_runner.h"
#include "profiler/measure/gpu/point_abort.h"
#include "profiler/metrics/metrics.h"
#include "profiler/metrics/model_metrics.h"

namespace attnscope::gpu {
namespace {

/// Returns true if utilization counters are requested; predicted utilizations are then recorded, too.
bool requests_utilization(const MeasureOptions& options) {
  return options.counters && std::ranges::any_of(options.extra_metrics, [](const std::string& counter) {
           const Metric* metric = find_counter(counter);
           return metric != nullptr && metric->why == CounterGroup::use;
         });
}

void predict_utilization(const Algorithm& algorithm, const DeviceLimits& limits, PointRecord& record) {
  const AttentionModel model = algorithm.model(record.spec.problem, record.spec.config(), limits);
  const std::vector<LaunchTime> times = predict_times(model, limits);
  add_predicted_utilization(kernel_record(record, "all"), busiest_gpu_launches(model.schedule, times),
                            Provenance::modeled);
  if (!has_several_launches(model.kernels)) return;
  auto time = times.begin();
  for (const KernelModel& kernel : model.kernels) {
    if (!kernel.setup)
      add_predicted_utilization(kernel_record(record, kernel.name), {&*time++, 1}, Provenance::modeled);
  }
}

/// Bytes of the buffers that kernels write.
std::int64_t output_bytes(const AttentionPlan& plan) {
  std::int64_t bytes = 0;
  for (const BufferSpec& buffer : plan.buffers) bytes += is_written(buffer.fill) ? buffer.bytes : 0;
  return bytes;
}

void set_result(PointRecord& record, Disposition disposition, Message reason) {
  record.disposition = disposition;
  record.reason = std::move(reason);
}

/// Expected time that limits a timing batch to one launch.
constexpr double single_launch_batch_ns = 1e9;

}  // namespace

PointRecord GpuDevice::measure(const PointSpec& spec, const MeasureOptions& options, const CancelToken& cancel) {
  waiting_ = 0;
  MeasurementResult point = measure_deferred(spec, options, cancel);
  PointRecord* const record = &point.record;
  if (point.counters_pending) (void)count({&record, 1}, options, cancel);
  return std::move(point.record);
}

Device::MeasurementResult GpuDevice::measure_deferred(const PointSpec& spec, const MeasureOptions& options,
                                                      const CancelToken& cancel) {
  const auto begin = Clock::now();
  MeasurementResult point;
  point.record.spec = spec;
  if (!usable_) {
    point.record.disposition = Disposition::crashed;
    point.record.reason = make_reason("point.device_lost_earlier", "The device was lost at an earlier point.");
    return point;
  }
  try {
    session_->context.make_current();
    session_->workspace.release_slots_from(waiting_);
    prepared_.erase(prepared_.lower_bound(waiting_), prepared_.end());  // release libraries' resources
    measure_phases(point.record, options, cancel);
    point.counters_pending = options.counters;
  } catch (...) {
    set_result_from_exception(point.record);
    if (usable_ && session_->group) session_->group->release();
    // The point may have overwritten its inputs or guard areas; do not share them.
    if (usable_ && session_->workspace.is_filled(waiting_)) session_->workspace.invalidate_inputs(waiting_);
  }
  point.record.wall_seconds = seconds_since(begin);
  if (point.counters_pending && waiting_ + 1 < max_session_points) ++waiting_;
  return point;
}

void GpuDevice::set_result_from_exception(PointRecord& record) {
  try {
    throw;
  } catch (const PointAbort& end) {
    set_result(record, end.disposition(), end.reason());
  } catch (const LaunchTimeout& timeout) {
    usable_ = false;
    set_result(record, Disposition::timeout, timeout.reason());
  } catch (const DriverError& error) {
    set_result_from_driver_error(error, record);
  } catch (const std::bad_alloc&) {
    set_result(record, Disposition::out_of_memory, make_reason("point.host_memory", "Out of host memory."));
  } catch (const std::exception& error) {
    set_result(record, Disposition::crashed, make_reason("point.failed", "{} [{}]", step_failure_, error.what()));
  }
}

void GpuDevice::set_result_from_driver_error(const DriverError& error, PointRecord& record) {
  // A fault is sticky and fails every later call; other errors affect one call only.
  const CUresult state = cuda_.cuStreamQuery(session_->stream.get());
  usable_ = state == CUDA_SUCCESS || state == CUDA_ERROR_NOT_READY;
  usable_ = usable_ && (!session_->group || session_->group->usable());
  switch (error.code()) {
    case CUDA_ERROR_OUT_OF_MEMORY:
      return set_result(record, Disposition::out_of_memory,
                        make_reason("point.driver_memory", "Out of device memory; {} bytes were free. [{}]",
                                    free_bytes(), error.what()));
    case CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES:
      return set_result(record, Disposition::infeasible,
                        make_reason("point.launch_resources",
                                    "A launch exceeds the registers or shared memory of a block. [{}]", error.what()));
    case CUDA_ERROR_LAUNCH_TIMEOUT:
      usable_ = false;
      return set_result(
          record, Disposition::timeout,
          make_reason("point.driver_timeout", "The driver stopped a launch that ran too long. [{}]", error.what()));
    case CUDA_ERROR_NO_DEVICE:
    case CUDA_ERROR_DEVICE_UNAVAILABLE:
    case CUDA_ERROR_DEINITIALIZED:
    case CUDA_ERROR_ECC_UNCORRECTABLE:
      usable_ = false;
      return set_result(record, Disposition::crashed,
                        make_reason("point.gpu_gone", "The GPU was lost. [{}]", error.what()));
    default:
      return set_result(record, Disposition::crashed,
                        make_reason("point.failed", "{} [{}]", step_failure_, error.what()));
  }
}

void GpuDevice::measure_phases(PointRecord& record, const MeasureOptions& options, const CancelToken& cancel) {
  const PointSpec& spec = record.spec;
  const auto throw_if_cancelled = [&](const char* step) {
    if (cancel.cancelled()) throw PointAbort(Disposition::cancelled, "point.cancelled", "Cancelled before {}.", step);
  };
  throw_if_cancelled("this point began");
  step_failure_ = make_reason("point.preparing_failed", "Preparing the point failed.");
  const Algorithm* algorithm = registry_.find(spec.algorithm);
  if (algorithm == nullptr) {
    throw PointAbort(Disposition::infeasible, "point.no_algorithm", "This build has no algorithm '{}'.",
                     spec.algorithm);
  }
  if (const auto refusal = algorithm->refusal(spec.problem, spec.config(), info_.limits)) {
    throw PointAbort(Disposition::infeasible, refusal->reason);
  }
  if (spec.problem.gpus > 1) group().open(spec.problem.gpus);  // before uploading inputs
  PreparedPoint& point = prepare_plan(waiting_, *algorithm, spec, options);
  record.manifest = session_->builder->statement_of(point.plan.sources, options.keep_sources);
  add_model_metrics(*algorithm, point.plan, spec.problem, record);
  if (requests_utilization(options) && !algorithm->facts().user_defined)
    predict_utilization(*algorithm, info_.limits, record);
  const std::vector<LoadedLaunch> loaded = load(point);
  add_launch_attributes(cuda_, info_.limits, loaded, record);
  session_->workspace.place(options.placement);
  session_->workspace.reserve(point.slot, point.plan, point.inputs, buffer_options(record, options));
  const auto add_memory = [&](std::int64_t own_bytes, Provenance provenance) {
    add_value(kernel_record(record, "all"), metric_key::memory_bytes,
              static_cast<double>(point.plan.buffer_bytes() + own_bytes), provenance);
  };
  const bool host_code = algorithm->facts().host_code;
  if (!host_code) add_memory(0, Provenance::modeled);
  fill(point, loaded, options);
  const bool user_defined = algorithm->facts().user_defined;
  const bool strict = user_defined && options.verify && !options.bare;
  if (strict) point.uploaded = digest(Oracle::Part::inputs, point, options);

  throw_if_cancelled("the first launch");
  const std::int64_t free_before = host_code ? free_device_bytes(cuda_) : 0;
  run_once(point.setup, options.timeout);
  if (!point.plan.schedule.empty()) share(record, point, options);
  run_once(point.before, options.timeout);
  // A profiler that replays launches delays those behind them; do not enqueue many.
  const double first_ns = options.bare ? single_launch_batch_ns : run_once(point.launches, options.timeout);
  if (!options.bare) run_once(point.after, options.timeout);
  if (host_code) {
    const std::int64_t launch_bytes = std::max<std::int64_t>(0, free_before - free_device_bytes(cuda_));
    std::int64_t peak = 0;  // that of a backward pass includes its forward pass
    for (const auto& call : point.calls) peak = std::max(peak, call->peak_bytes());
    // A function allocates its outputs itself.
    add_memory(peak > 0 ? peak - output_bytes(point.plan) : point.prepared_bytes + launch_bytes, Provenance::measured);
  }
  if (!point.calls.empty()) add_call_values(record, point);
  if (options.verify) verify(record, point, options);
  if (strict) {
    for (const auto flush : {GuardedBuffer::GuardSide::end, GuardedBuffer::GuardSide::begin}) {
      if (Message why = run_guarded(point, loaded, flush, options); !why.empty()) record.reason = std::move(why);
    }
  }

  throw_if_cancelled("timing");
  if (strict) repoison_outputs(point, options);
  time(record, point, options, cancel, first_ns);
  if (!point.plan.schedule.empty()) time_schedule(record, point, options, cancel);
  if (user_defined) check_after_timing(record, point, options);
  throw_if_cancelled("counting");
}

void GpuDevice::share(PointRecord& record, const PreparedPoint& point, const MeasureOptions& options) {
  step_failure_ = make_reason("point.sharing_crashed", "A launch or copy on several GPUs failed.");
  group().prepare(point.plan, point.others,
                  [&](const std::string& buffer) { return session_->workspace.address(point.slot, buffer); });
  record.others = group().uuids(record.spec.problem.gpus);
  group().distribute(options.timeout);
  (void)group().run(record.spec.cache, options.timeout);
  group().gather(options.timeout);
}

void GpuDevice::time_schedule(PointRecord& record, const PreparedPoint& point, const MeasureOptions& options,
                              const CancelToken& cancel) {
  step_failure_ = make_reason("point.sharing_crashed", "A launch or copy on several GPUs failed.");
  const auto begin = Clock::now();
  std::vector<ScheduleTimes> all;
  KernelRecord& whole = kernel_record(record, "all");
  whole.samples_ns.clear();
  for (int sample = 0; sample < options.max_samples; ++sample) {
    all.push_back(session_->group->run(record.spec.cache, options.timeout));
    whole.samples_ns.push_back(all.back().ns);
    if (cancel.cancelled() || Clock::now() - begin >= options.timeout) break;
    if (sample + 1 < options.min_samples) continue;
    if (const auto summary = summarize(whole.samples_ns); summary->relative_spread <= options.max_noise) break;
  }
  // Use the median run: its parts add up to its time, unlike the medians of the parts.
  const auto middle = all.begin() + static_cast<std::ptrdiff_t>((all.size() - 1) / 2);
  std::ranges::nth_element(all, middle, {}, &ScheduleTimes::ns);
  add_link_bytes(whole, point.plan.schedule.link_bytes(), Provenance::modeled);
  add_multi_gpu_times(whole, *middle, Provenance::measured);
  session_->group->release();
}

GpuDevice::PreparedPoint& GpuDevice::prepare_plan(std::size_t slot, const Algorithm& algorithm, const PointSpec& spec,
                                                  const MeasureOptions& options) {
  auto& place = prepared_[slot];
  AttentionPlan plan = algorithm.plan(spec.problem, spec.config(), info_.limits);
  // std::stable_partition, since clang 14 cannot use the subrange of gcc 12.
  const auto elsewhere = std::stable_partition(plan.buffers.begin(), plan.buffers.end(),
                                               [](const BufferSpec& each) { return each.gpu == 0; });
  std::vector<BufferSpec> others(std::make_move_iterator(elsewhere), std::make_move_iterator(plan.buffers.end()));
  plan.buffers.erase(elsewhere, plan.buffers.end());
  PlanMemory::Inputs inputs = inputs_of(spec, options, plan);
  place = std::make_unique<PreparedPoint>(PreparedPoint{
      .slot = slot, .spec = spec, .plan = std::move(plan), .others = std::move(others), .inputs = std::move(inputs)});
  return *place;
}

std::vector<LoadedLaunch> GpuDevice::load(const PreparedPoint& point) {
  std::vector<LoadedLaunch> loaded;
  for (const KernelLaunch& launch : point.plan.launches) loaded.push_back({&launch, &session_->runner.load(launch)});
  return loaded;
}

void GpuDevice::fill(PreparedPoint& point, const std::vector<LoadedLaunch>& loaded, const MeasureOptions& options) {
  session_->workspace.fill(point.slot, point.plan, point.inputs);
  session_->runner.wait(options.timeout);
  const bool libraries =
      std::ranges::any_of(loaded, [](const LoadedLaunch& each) { return each.launch->call != nullptr; });
  const std::int64_t free_before = libraries ? free_device_bytes(cuda_) : 0;
  for (const LoadedLaunch& each : loaded) {
    const auto address_of = [&](const std::string& buffer) { return session_->workspace.address(point.slot, buffer); };
    if (each.kernel->host_code && !each.kernel->library) {
      add_call(point, *each.launch, address_of, options);
      continue;
    }
    auto& repeated = point.launches.empty() ? point.before : point.after;
    auto& to = each.launch->repeated ? repeated : each.launch->setup ? point.setup : point.launches;
    to.push_back(prepared(point.plan, each, address_of, options));
  }
  if (!libraries) return;
  point.prepared_bytes = free_before - free_device_bytes(cuda_);
  for (const auto* launches : point.all()) {
    for (const PreparedLaunch& launch : *launches) point.prepared_bytes -= launch.guard_bytes();
  }
  point.prepared_bytes = std::max<std::int64_t>(0, point.prepared_bytes);
  session_->workspace.fill(point.slot, point.plan, point.inputs);  // preparing may have run launches
  session_->runner.wait(options.timeout);
}

bool GpuDevice::counts_write_back(const PointRecord& record, const MeasureOptions& options) const {
  return options.counters && session_->counters && record.spec.cache == CacheState::cold;
}

double GpuDevice::run_once(std::vector<PreparedLaunch>& launches, std::chrono::milliseconds timeout) {
  const CUstream stream = session_->stream.get();
  double total = 0;
  for (PreparedLaunch& launch : launches) {
    step_failure_ = make_reason("point.kernel_crashed", "Kernel {} crashed.", launch.name());
    cuda_.record(session_->begin.get(), stream);
    launch.enqueue(cuda_, stream);
    cuda_.record(session_->end.get(), stream);
    try {
      session_->runner.wait(session_->end.get(), timeout);
    } catch (const LaunchTimeout&) {
      throw LaunchTimeout(make_reason("point.kernel_still_running", "Kernel {} was still running after {} ms.",
                                      launch.name(), timeout.count()));
    }
    total += cuda_.elapsed_ns(session_->begin.get(), session_->end.get());
  }
  return total;
}

void GpuDevice::enqueue(std::vector<PreparedLaunch>& launches) {
  for (PreparedLaunch& launch : launches) launch.enqueue(cuda_, session_->stream.get());
}

void GpuDevice::run_back_to_back(PreparedPoint& point, std::chrono::milliseconds timeout) {
  step_failure_ = make_reason("point.second_run_crashed", "A kernel crashed in the second run.");
  for (auto* launches : {&point.before, &point.launches, &point.after}) enqueue(*launches);
  session_->runner.wait(timeout);
}

CheckResult GpuDevice::judge(PointRecord& record, const PreparedPoint& point, const PlanMemory::Inputs& inputs,
                             const MeasureOptions& options) {
  const std::string& reference = registry_.find(record.spec.algorithm)->facts().reference;
  step_failure_ = make_reason("point.checking_failed", "Checking the output failed.");
  CheckResult result = session_->oracle.judge(reference, run_of(point, inputs, options));
  const double share = result.max_abs_error * record.error_bound.value_or(1);  // keep the run nearest to its bound
  if (!record.max_abs_error || share >= *record.max_abs_error * result.bound) {
    record.max_abs_error = result.max_abs_error;
    record.error_bound = result.bound;
    record.rms_error = result.rms_error;
  }
  return result;
}

void GpuDevice::verify(PointRecord& record, PreparedPoint& point, const MeasureOptions& options) {
  const AttentionPlan& plan = point.plan;
  const AttentionProblem& problem = record.spec.problem;
  const auto judged = [&] { return judge(record, point, point.inputs, options); };
  check_inputs(point, options);
  if (const CheckResult result = judged(); !result.pass)
    throw PointAbort(Disposition::incorrect, explain_wrong_result(record, point, options, result.reason));
  const bool early = std::ranges::any_of(plan.launches, &KernelLaunch::starts_early);
  if (problem.pass == Pass::fwd && !early) return;
  // Gradients are accumulated with atomics. A second run must reset them, and give identical bits if determinism is
  // requested.
  const KernelOutput first = session_->oracle.last_outputs();
  if (early) {
    // A dependent launch must not find results of the first run.
    session_->workspace.fill(point.slot, plan, point.inputs);
    run_once(point.setup, options.timeout);
  }
  run_back_to_back(point, options.timeout);
  if (const CheckResult result = judged(); !result.pass) {
    throw PointAbort(Disposition::incorrect, "point.run_again", "Second run: {}", result.reason);
  }
  if (problem.deterministic && first != session_->oracle.last_outputs()) {
    throw PointAbort(Disposition::incorrect, "point.other_bits",
                     "A second run gave different bits although deterministic results were requested.");
  }
}

void GpuDevice::time(PointRecord& record, PreparedPoint& point, const MeasureOptions& options,
                     const CancelToken& cancel, double first_ns) {
  std::vector<PreparedLaunch>& launches = point.launches;
  step_failure_ = make_reason("point.timing_crashed", "A kernel crashed during timing.");
  const auto read_clocks = [&] {
    const auto reading = nvml_ ? nvml_->read() : std::nullopt;
    if (!reading) return;
    const std::uint64_t reasons = record.clocks ? record.clocks->throttle_reasons : 0;
    record.clocks = reading;
    record.clocks->throttle_reasons |= reasons;  // one throttled batch marks the point
    record.clocks->throttled = indicates_throttling(record.clocks->throttle_reasons);
  };
  TimingRequest request{.cache = record.spec.cache,
                        .min_samples = options.min_samples,
                        .max_samples = options.max_samples,
                        .max_noise = options.max_noise,
                        .each = !options.bare,
                        .timeout = options.timeout,
                        .spin = options.spin,
                        .clock = !options.bare,
                        .parts = point.parts,
                        .expected_ns = first_ns};
  if (!point.before.empty()) request.before = [&] { enqueue(point.before); };
  // Persisting L2 lines survive clearing. GPUs without persisting lines return an error, which is ignored.
  (void)cuda_.cuCtxResetPersistingL2Cache();
  LaunchSamples samples = time_launches(session_->runner, launches, request, cancel, read_clocks);
  kernel_record(record, "all").samples_ns = std::move(samples.plan);
  if (record.clocks && samples.sm_clock_hz > 0) record.clocks->sm_clock_hz = samples.sm_clock_hz;
  const std::vector<PreparedLaunch>& parts = point.parts.empty() ? launches : point.parts;
  const bool once = std::ranges::all_of(parts, [](const PreparedLaunch& launch) { return launch.runs() == 1; });
  if ((parts.size() < 2 && once) || options.bare) return;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    kernel_record(record, parts[i].name()).samples_ns = std::move(samples.launches[i]);
  }
}

}  // namespace attnscope::gpu
