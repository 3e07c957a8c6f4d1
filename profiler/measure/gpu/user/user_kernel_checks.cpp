// SPDX-License-Identifier: Apache-2.0
// Additional checks of user-defined kernels. Built-in kernels are covered by the verification cases, compute-sanitizer
// and one check before timing; checking each of their points again would dominate a sweep. On an H100, checking fa2
// takes 15.6 ms at N 1024 and 4.9 ms at 4096; everything else without counters takes 6.1 and 21 ms.
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "kernels/model/device_rates.h"
#include "kernels/user/user_kernel.h"
#include "profiler/measure/gpu/gpu_device_impl.h"
#include "profiler/measure/gpu/point_abort.h"
#include "profiler/measure/gpu/user/library_kernel.h"
#include "profiler/metrics/metrics.h"
#include "profiler/metrics/model_metrics.h"
#include "profiler/units/number_format.h"

namespace attnscope::gpu {
namespace {

/// Slack below the compulsory bytes, in addition to the counter spread: bytes that profiling itself writes and that are
/// subtracted. Of the 1214 cold points of the recorded samples (H100, H200), the lowest has 1.0006 times its compulsory
/// bytes.
constexpr double byte_slack = 20'480;

/// Calls `visit` with each buffer that the launch takes.
template <class Visit>
void for_each_buffer(const AttentionPlan& plan, const KernelLaunch& launch, Visit visit) {
  const auto take = [&](const std::string& name) {
    if (const BufferSpec* buffer = find_buffer(plan.buffers, name)) visit(*buffer);
  };
  for (const Argument& each : launch.arguments) {
    if (const auto* plain = std::get_if<BufferArgument>(&each)) take(plain->name);
    if (const auto* map = std::get_if<TensorMapArgument>(&each)) take(map->buffer);
    const auto* structure = std::get_if<StructArgument>(&each);
    if (structure == nullptr) continue;
    for (const PlainArgument& member : structure->members) {
      if (const auto* plain = std::get_if<BufferArgument>(&member)) take(plain->name);
    }
  }
}

/// Bytes of the matrices that unmeasured launches take, other than fills.
std::int64_t converted_bytes(const AttentionPlan& plan, const AttentionProblem& p) {
  std::set<std::string_view> taken;
  for (const KernelLaunch& launch : plan.launches) {
    if (!launch.repeated || launch.source.entry == user::fill_words_entry) continue;
    for_each_buffer(plan, launch, [&](const BufferSpec& buffer) { taken.insert(buffer.name); });
  }
  std::int64_t bytes = 0;
  for (const std::string_view name : {"q", "o", "dout", "dq", "k", "v", "dk", "dv"}) {
    const BufferSpec* const buffer = find_buffer(plan.buffers, name);
    if (buffer == nullptr || (!taken.contains(name) && !taken.contains(buffer->place.within))) continue;
    const bool of_keys = name.back() == 'k' || name.back() == 'v';
    bytes += (of_keys ? p.kv_instances() * p.n_k : p.instances() * p.n_q) * p.d * bytes_per_element(p.dtype);
  }
  return bytes;
}

/// Longest time of the launches that convert buffers at half of the DRAM rate.
double conversion_limit_ns(const AttentionPlan& plan, const DeviceLimits& device) {
  constexpr double constant_ns = 20e3;
  constexpr double launch_ns = 5e3;
  double bytes = 0;
  double limit = constant_ns;
  for (const KernelLaunch& launch : plan.launches) {
    if (!launch.repeated) continue;
    limit += launch_ns;
    for_each_buffer(plan, launch, [&](const BufferSpec& buffer) {
      bytes += static_cast<double>(enclosing_buffer(plan.buffers, buffer).bytes);
    });
  }
  return limit + 2e9 * bytes / device_rates(device).dram_bytes_per_second;
}

}  // namespace

bool GpuDevice::is_user_defined(const PointSpec& spec) const {
  const Algorithm* algorithm = registry_.find(spec.algorithm);
  return algorithm != nullptr && algorithm->facts().user_defined;
}

PlanMemory::Inputs GpuDevice::inputs_of(const PointSpec& spec, const MeasureOptions& options,
                                        const AttentionPlan& plan) const {
  const std::uint64_t round = is_user_defined(spec) ? options.placement : 0;
  return PlanMemory::inputs_of(spec.problem, options.input_kind, options.seed + round, plan);
}

PlanMemory::BufferOptions GpuDevice::buffer_options(const PointRecord& record, const MeasureOptions& options) const {
  return {.noise = counts_write_back(record, options), .front_guard = is_user_defined(record.spec)};
}

std::vector<Oracle::Digest> GpuDevice::digest(Oracle::Part part, const PreparedPoint& point,
                                              const MeasureOptions& options) {
  return session_->oracle.digest(part, run_of(point, point.inputs, options));
}

void GpuDevice::check_inputs(const PreparedPoint& point, const MeasureOptions& options) {
  if (point.uploaded.empty()) return;
  const auto now = digest(Oracle::Part::inputs, point, options);
  const auto [changed, as_uploaded] = std::ranges::mismatch(now, point.uploaded);
  if (changed == now.end()) return;
  throw PointAbort(Disposition::incorrect, "point.input_changed", "The kernel writes to its input {}.",
                   changed->buffer);
}

Message GpuDevice::run_guarded(const PreparedPoint& point, const std::vector<LoadedLaunch>& loaded,
                               GuardedBuffer::GuardSide flush, const MeasureOptions& options) {
  const CUstream stream = session_->stream.get();
  auto& guarded = session_->guarded;
  auto& launches = session_->guarded_launches;
  const auto clear = [&] {
    launches.clear();
    guarded.clear();
  };
  clear();
  step_failure_ = make_reason("point.preparing_failed", "Preparing the point failed.");
  int can_map = 0;
  cuda_.check(
      cuda_.cuDeviceGetAttribute(&can_map, CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, session_->device),
      "cuDeviceGetAttribute");
  std::int64_t needed = 0;
  for (const BufferSpec& buffer : point.plan.buffers) {
    if (can_map != 0 && !buffer.place.is_view())
      needed += GuardedBuffer::mapped_bytes(cuda_, session_->device, buffer.bytes);
  }
  // Some virtual GPUs cannot map memory, and a point may leave no room for guard pages. Guard areas are checked in any
  // case.
  if (can_map == 0)
    return make_reason("point.no_guard_pages",
                       "Checked without guard pages, which this GPU cannot map: stray reads may be undetected.");
  if (needed > free_device_bytes(cuda_))
    return make_reason("point.no_room_for_guard_pages",
                       "Checked without guard pages for lack of device memory: stray reads may be undetected.");
  for (const BufferSpec& buffer : point.plan.buffers) {
    if (buffer.place.is_view()) continue;
    const auto [place, is_new] = guarded.try_emplace(buffer.name, cuda_, session_->device, stream, buffer.bytes, flush);
    if (!is_new || buffer.fill == BufferFill::poison) continue;
    cuda_.copy_on_device(place->second.address(), session_->workspace.address(point.slot, buffer.name),
                         static_cast<std::size_t>(buffer.bytes), stream);
  }
  session_->runner.wait(options.timeout);
  step_failure_ = flush == GuardedBuffer::GuardSide::end
                      ? make_reason("point.beyond_end", "A kernel reads or writes beyond the end of a buffer.")
                      : make_reason("point.in_front", "A kernel reads or writes before the start of a buffer.");
  const auto address_of = [&](const std::string& name) {
    const BufferSpec& buffer = *find_buffer(point.plan.buffers, name);
    return guarded.at(enclosing_buffer(point.plan.buffers, buffer).name).address() +
           static_cast<CUdeviceptr>(buffer.place.offset);
  };
  for (const LoadedLaunch& each : loaded) launches.push_back(prepared(point.plan, each, address_of, options));
  enqueue(launches);
  session_->runner.wait(options.timeout);
  clear();
  return {};
}

void GpuDevice::repoison_outputs(PreparedPoint& point, const MeasureOptions& options) {
  session_->workspace.fill(point.slot, point.plan, point.inputs);
  run_once(point.setup, options.timeout);
}

void GpuDevice::check_late_work(const PointRecord& record, PreparedPoint& point, const MeasureOptions& options) {
  const auto time = summarize(record.kernel("all")->samples_ns);
  if (!time) return;
  // Repeat short launches, so that late work adds up. Late work is reported if it exceeds what waiting for an idle GPU
  // resolves by a tenth of the launches' time; correct libraries stay below (12 us of 1 ms on an H100).
  constexpr double max_late_share = 0.1;
  constexpr double most_launches = 100;
  const double launches = std::clamp(std::ceil(1e6 / time->median), 1.0, most_launches);
  const PendingWork pending = pending_work(
      session_->runner,
      [&] {
        for (int i = 0; i < static_cast<int>(launches); ++i) enqueue(point.launches);
      },
      options.timeout);
  if (pending.ns <= pending.resolution_ns + max_late_share * launches * time->median) return;
  throw PointAbort(Disposition::incorrect, "point.late_work",
                   "Work continues for {} ns after the last launch, untimed on another stream.",
                   std::llround(pending.ns));
}

void GpuDevice::check_leak(const PointRecord& record, PreparedPoint& point, const MeasureOptions& options) {
  constexpr double most = 100;
  constexpr double most_ns = 2e9;  // for all launches together
  const auto time = summarize(record.kernel("all")->samples_ns);
  const int launches = static_cast<int>(std::clamp(most_ns / std::max(1.0, time ? time->median : 1.0), 1.0, most));
  const auto grown = [&] {
    const std::int64_t before = free_device_bytes(cuda_);
    for (int i = 0; i < launches; ++i) enqueue(point.launches);
    session_->runner.wait(launches * options.timeout);
    return before - free_device_bytes(cuda_);
  };
  // Other processes may allocate, too, but rarely twice in a row.
  if (grown() <= 0) return;
  if (const std::int64_t bytes = grown(); bytes > 0) {
    throw PointAbort(Disposition::incorrect, "point.leak", "{} launches leaked {} bytes of device memory.", launches,
                     bytes);
  }
}

void GpuDevice::check_skipped_work(const PointRecord& record, PreparedPoint& point, const MeasureOptions& options) {
  const auto timed = summarize(record.kernel("all")->samples_ns);
  if (!timed) return;
  // Cold samples are not faster than warm ones. The pause hides the host's launch time.
  constexpr double max_slowdown = 1.3;
  constexpr double slack_ns = 10e3;
  const CUstream stream = session_->stream.get();
  const auto time_of = [&](std::vector<PreparedLaunch>& launches) {
    if (launches.empty()) return 0.0;
    session_->runner.enqueue_delay(std::chrono::milliseconds(5));
    cuda_.record(session_->begin.get(), stream);
    enqueue(launches);
    cuda_.record(session_->end.get(), stream);
    session_->runner.wait(session_->end.get(), options.timeout);
    return cuda_.elapsed_ns(session_->begin.get(), session_->end.get());
  };
  double fastest = std::numeric_limits<double>::infinity();
  double unmeasured = fastest;
  for (int i = 0; i < 3; ++i) {
    repoison_outputs(point, options);
    session_->runner.wait(options.timeout);
    const double before = time_of(point.before);
    fastest = std::min(fastest, time_of(point.launches));
    unmeasured = std::min(unmeasured, before + time_of(point.after));
  }
  const bool converts = std::ranges::any_of(point.plan.launches, &KernelLaunch::repeated);
  if (converts && unmeasured > std::max(conversion_limit_ns(point.plan, info_.limits), timed->median / 2)) {
    throw PointAbort(Disposition::incorrect, "point.unmeasured_work",
                     "Launches with \"measured\": false take {}, longer than a conversion; measured ones take {}.",
                     text(Nanoseconds(unmeasured)), text(Nanoseconds(timed->median)));
  }
  if (fastest <= max_slowdown * timed->median + slack_ns) return;
  throw PointAbort(Disposition::incorrect, "point.work_left_out",
                   "Launches take {} with unwritten outputs, but {} when timed: timed launches skip work.",
                   text(Nanoseconds(fastest)), text(Nanoseconds(timed->median)));
}

PreparedLaunch GpuDevice::prepared(const AttentionPlan& plan, const LoadedLaunch& loaded,
                                   const BufferResolver& address_of, const MeasureOptions& options) {
  const auto& [launch, kernel] = loaded;
  if (!kernel->host_code) return {cuda_, *launch, *kernel, address_of};
  if (!kernel->library) return prepare_call(plan, *launch, address_of, options)->complete(*launch);
  return {*launch, std::make_unique<PreparedLibrary>(host_place(), *kernel->library, plan, *launch->call, address_of,
                                                     options.timeout)};
}

HostPlace GpuDevice::host_place() const {
  return {.cuda = cuda_, .context = session_->context, .stream = session_->stream.get(), .ordinal = info_.ordinal};
}

std::shared_ptr<PythonCall> GpuDevice::prepare_call(const AttentionPlan& plan, const KernelLaunch& launch,
                                                    const BufferResolver& address_of, const MeasureOptions& options) {
  step_failure_ = make_reason("point.function_crashed", "Preparing {}() crashed.", launch.source.entry);
  return PythonCall::prepare(host_place(), launch, plan, address_of, options.timeout);
}

void GpuDevice::add_call(PreparedPoint& point, const KernelLaunch& launch, const BufferResolver& address_of,
                         const MeasureOptions& options) {
  const std::shared_ptr<PythonCall> call = prepare_call(point.plan, launch, address_of, options);
  if (launch.setup) {
    point.setup.push_back(call->complete(launch));
    return;
  }
  point.setup.push_back(call->reset(launch));
  point.launches.push_back(call->measured(launch));
  point.after.push_back(call->copy(launch));
  point.calls.push_back(call);
  point.parts.clear();
  point.sequence.clear();
  if (point.calls.size() > 1) return;  // their records are those of their launches
  point.parts = call->parts(launch);
  if (options.counters && point.spec.cache == CacheState::cold) point.sequence = call->sequence(launch);
}

void GpuDevice::add_call_values(PointRecord& record, const PreparedPoint& point) const {
  KernelRecord& all = kernel_record(record, "all");
  const attnscope_python_plan& result = point.calls.back()->result();
  double host_ns = 0;
  bool is_tile_known = result.br > 0 && result.bc > 0;
  for (const auto& call : point.calls) {
    const attnscope_python_plan& each = call->result();
    host_ns = each.host_ns > 0 && host_ns >= 0 ? host_ns + each.host_ns : -1;
    is_tile_known = is_tile_known && each.br == result.br && each.bc == result.bc;
    if (record.reason.empty()) record.reason = call->note();
  }
  if (host_ns > 0) add_value(all, metric_key::host_call_ns, host_ns);
  if (record.spec.problem.pass != Pass::fwd && result.saved_bytes >= 0)
    add_value(all, metric_key::saved_bytes, static_cast<double>(result.saved_bytes));
  if (is_tile_known) add_tuned_tile(record, {.br = static_cast<int>(result.br), .bc = static_cast<int>(result.bc)});
  if (point.calls.size() == 1) add_graph_attributes(cuda_, info_.limits, point.calls.front()->kernels(), record);
}

void GpuDevice::add_tuned_tile(PointRecord& record, const TileShape& tile) const {
  KernelRecord& all = kernel_record(record, "all");
  add_value(all, metric_key::tuned_br, tile.br);
  add_value(all, metric_key::tuned_bc, tile.bc);
  Config tuned = record.spec.config();
  tuned.tile = tile;
  const Algorithm& algorithm = *registry_.find(record.spec.algorithm);
  try {
    const Traffic law = algorithm.plan(record.spec.problem, tuned, info_.limits).traffic();
    if (law.total() > 0) add_model_traffic(all, law);
  } catch (const Message& reason) {  // the law does not apply to this tile
    if (record.reason.empty()) record.reason = reason;
  }
}

Message GpuDevice::explain_wrong_result(PointRecord& record, PreparedPoint& point, const MeasureOptions& options,
                                        const Message& reason) {
  if (std::ranges::none_of(point.calls, &PythonCall::is_captured)) return reason;
  session_->workspace.fill(point.slot, point.plan, point.inputs);
  run_once(point.setup, options.timeout);
  for (const auto& call : point.calls) call->call_function();
  cuda_.check(cuda_.cuCtxSynchronize(), "cuCtxSynchronize");
  if (!judge(record, point, point.inputs, options).pass) return reason;
  return make_reason("point.work_not_captured",
                     "{}() returns the right result, but the launches in its stream do not compute it: it works on "
                     "another stream or keeps results of earlier calls. [{}]",
                     point.plan.launches.back().source.entry, reason);
}

void GpuDevice::check_after_timing(PointRecord& record, PreparedPoint& point, const MeasureOptions& options) {
  const auto incorrect = [](const Message& reason) { throw PointAbort(Disposition::incorrect, reason); };
  if (const Message stray = session_->workspace.stray_write(point.slot, point.plan); !stray.empty()) incorrect(stray);
  for (const auto* launches : point.all()) {
    for (const PreparedLaunch& launch : *launches) {
      if (const Message stray = launch.stray_write(); !stray.empty()) incorrect(stray);
    }
  }
  if (point.uploaded.empty()) return;
  check_inputs(point, options);
  // Launches were last timed separately; a launch that accumulates into a cleared buffer has accumulated repeatedly.
  if (point.launches.size() > 1 || !point.after.empty()) run_back_to_back(point, options.timeout);
  if (const CheckResult result = judge(record, point, point.inputs, options); !result.pass) {
    incorrect(make_reason("point.after_timing", "After timing: {}", result.reason));
  }
  const auto timed = digest(Oracle::Part::outputs, point, options);
  const auto is_host_code = [](const KernelLaunch& launch) { return launch.call != nullptr; };
  // A captured call cannot do anything outside its graph.
  const bool captured = !point.calls.empty() && std::ranges::all_of(point.calls, &PythonCall::is_captured);
  const bool host_code = std::ranges::any_of(point.plan.launches, is_host_code) && !captured;
  const auto enqueue_once = [&] { enqueue(point.launches); };
  if (host_code) {
    check_late_work(record, point, options);
    check_leak(record, point, options);
  }
  check_skipped_work(record, point, options);
  // Use the same addresses: a kernel that caches results would key them by address.
  PlanMemory::Inputs others = point.inputs;
  others.seed = ~others.seed;  // differs from the seed of any round
  session_->workspace.fill(point.slot, point.plan, others);
  run_once(point.setup, options.timeout);
  session_->runner.wait(options.timeout);
  const auto sample_outputs = [&] { return session_->workspace.sample_outputs(point.slot, point.plan); };
  const auto written = [&, before = sample_outputs()] { return sample_outputs() != before; };
  if (host_code && writes_early(session_->runner, enqueue_once, written, options.timeout))
    incorrect(make_reason(
        "point.other_stream",
        "Output is written before the given stream reaches the launch: the work runs untimed on another stream."));
  run_back_to_back(point, options.timeout);
  if (const CheckResult result = judge(record, point, others, options); !result.pass) {
    if (digest(Oracle::Part::outputs, point, options) == timed)
      incorrect(
          make_reason("point.stale_output",
                      "The output belongs to earlier inputs: the kernel does not compute it from the current ones."));
    incorrect(make_reason("point.with_other_inputs", "With other inputs: {}", result.reason));
  }
  if (options.counters) repoison_outputs(point, options);  // restore the timed state
}

Message GpuDevice::implausible_bytes_reason(const PointRecord& record) const {
  if (!is_user_defined(record.spec)) return {};
  const auto counted = evaluate(metric_key::dram_settled_bytes, record);  // cold starts only
  const auto compulsory = evaluate(metric_key::model_compulsory_bytes, record);
  if (!counted || !compulsory) return {};
  // Unmeasured launches may convert matrices: measured ones then move fewer of their bytes, such as 8 of 16 bits.
  const PointSpec& spec = record.spec;
  const AttentionPlan plan = registry_.find(spec.algorithm)->plan(spec.problem, spec.config(), info_.limits);
  const double saved = spec.problem.dtype == DType::fp32 ? 0.75 : 0.5;
  const double required =
      (1 - dram_count_spread) * compulsory->value - saved * static_cast<double>(converted_bytes(plan, spec.problem));
  if (counted->value >= required - byte_slack) return {};
  return make_reason("point.too_few_bytes",
                     "With a cold cache, DRAM traffic is {} bytes; inputs and outputs require at least {}.",
                     std::int64_t(counted->value), std::int64_t(required));
}

}  // namespace attnscope::gpu
