// SPDX-License-Identifier: Apache-2.0
#include "profiler/measure/gpu/gpu_device.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <new>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "messages/counters.h"
#include "messages/gpu.h"
#include "messages/point.h"
#include "profiler/measure/gpu/ceiling_bench.h"
#include "profiler/measure/gpu/counting.h"
#include "profiler/measure/gpu/cuda_driver.h"
#include "profiler/measure/gpu/driver_start.h"
#include "profiler/measure/gpu/kernel_builder.h"
#include "profiler/measure/gpu/kernel_runner.h"
#include "profiler/measure/gpu/launch_values.h"
#include "profiler/measure/gpu/nvml.h"
#include "profiler/measure/gpu/nvrtc.h"
#include "profiler/measure/gpu/oracle.h"
#include "profiler/measure/gpu/timing.h"
#include "profiler/measure/gpu/workspace.h"
#include "profiler/measure/host_environment.h"
#include "profiler/metrics/metrics.h"
#include "profiler/metrics/model_metrics.h"
#include "profiler/plan/sweep.h"

namespace attnscope {
namespace {

using namespace gpu;  // NOLINT(google-build-using-namespace): this file is the device's
using Clock = std::chrono::steady_clock;

/// Points that are counted in one session: what a session costs by itself is then 2 ms a point on an H200.
constexpr std::size_t most_together = 16;

std::int64_t to_ms(std::chrono::milliseconds duration) {
  return duration.count();
}

/// Everything that lives in the device's context. Members are in the order in which they are made; a device that was
/// lost is never torn down, since every call into its context would wait for the launch that does not end.
struct Session {
  Session(const CudaApi& cuda_api, CUdevice device, std::unique_ptr<KernelBuilder> kernel_builder,
          const std::string& arch, const DeviceLimits& limits)
      : cuda(cuda_api),
        builder(std::move(kernel_builder)),
        context(cuda, device),
        stream(make_stream(cuda)),
        runner(cuda, *builder, arch, stream.get(), limits),
        workspace(cuda, runner),
        oracle(cuda, runner),
        begin(make_event(cuda)),
        end(make_event(cuda)) {}

  const CudaApi& cuda;
  std::unique_ptr<KernelBuilder> builder;
  Context context;
  Stream stream;
  KernelRunner runner;
  Workspace workspace;
  Oracle oracle;
  Event begin;
  Event end;
  std::optional<CounterCollector> counters;
};

/// Never destroyed: see Session.
std::vector<std::unique_ptr<Session>>& lost_sessions() {
  static auto& lost = *new std::vector<std::unique_ptr<Session>>;
  return lost;
}

class GpuDevice final : public Device {
 public:
  GpuDevice(CudaApi cuda, CUdevice device, DeviceInfo info, std::string arch, unsigned build_threads,
            std::unique_ptr<KernelBuilder> builder, const Registry& registry)
      : registry_(registry),
        cuda_(std::move(cuda)),
        info_(std::move(info)),
        arch_(std::move(arch)),
        build_threads_(build_threads) {
    session_ = std::make_unique<Session>(cuda_, device, std::move(builder), arch_, info_.limits);
    if (auto nvml = Nvml::open()) {
      nvml_ = std::move(nvml).value();
      nvml_->select(info_.uuid);
    }
  }
  GpuDevice(const GpuDevice&) = delete;
  GpuDevice& operator=(const GpuDevice&) = delete;
  ~GpuDevice() override {
    if (usable_) {
      cuda_.cuCtxSetCurrent(session_->context.get());  // perhaps another thread than the one that opened it
    } else {
      lost_sessions().push_back(std::move(session_));
    }
  }

  void prepare_counters(CUdevice device) {
    auto cupti = CuptiApi::load();
    if (!cupti) {
      counter_state_ = {CounterState::not_installed, cupti.error(), say::counters::install_cupti{}};
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

  [[nodiscard]] const DeviceInfo& info() const override { return info_; }
  [[nodiscard]] const Registry& algorithms() const override { return registry_; }
  [[nodiscard]] CounterAvailability counters() const override { return counter_state_; }
  [[nodiscard]] bool usable() const override { return usable_; }

  [[nodiscard]] Environment environment() const override {
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

  [[nodiscard]] std::vector<UnknownMetric> unknown_metrics(std::span<const std::string> names) const override {
    std::vector<UnknownMetric> unknown;
    if (!cupti_) return unknown;  // nothing to ask: counters() says that none will be collected
    const auto ask = [&](const CounterHost& host) {
      for (const std::string& name : names) {
        if (!host.knows(name)) unknown.push_back({name, host.near(name)});
      }
    };
    try {
      if (session_->counters) {
        ask(session_->counters->host());
      } else {
        ask(CounterHost(*cupti_, chip_of(info_.limits.compute_major, info_.limits.compute_minor)));
      }
    } catch (const CuptiError&) {
      unknown.clear();  // no list to judge by
    }
    return unknown;
  }

  void prepare(std::span<const PointSpec> points, const CancelToken& cancel, const BuildProgress& progress) override {
    std::vector<KernelLaunch> launches;
    for (const PointSpec& point : points) {
      if (cancel.cancelled()) return;
      const Algorithm* algorithm = registry_.find(point.algorithm);
      if (algorithm == nullptr || algorithm->refusal(point.problem, point.config(), info_.limits)) continue;
      std::ranges::move(algorithm->plan(point.problem, point.config(), info_.limits).launches,
                        std::back_inserter(launches));
    }
    (void)session_->builder->build_all(arch_, launches, build_threads_, cancel, progress);
  }

  [[nodiscard]] std::int64_t free_bytes() const override {
    std::size_t free = 0;
    std::size_t total = 0;
    if (!usable_ || cuda_.cuMemGetInfo(&free, &total) != CUDA_SUCCESS) return 0;
    return static_cast<std::int64_t>(free) + session_->workspace.held_bytes();
  }

  [[nodiscard]] PointRecord measure(const PointSpec& spec, const MeasureOptions& options,
                                    const CancelToken& cancel) override {
    waiting_ = 0;
    Uncounted point = measure_uncounted(spec, options, cancel);
    PointRecord* const record = &point.record;
    if (point.waits) (void)count({&record, 1}, options, cancel);
    return std::move(point.record);
  }

  [[nodiscard]] Uncounted measure_uncounted(const PointSpec& spec, const MeasureOptions& options,
                                            const CancelToken& cancel) override {
    const auto begin = Clock::now();
    Uncounted point;
    point.record.spec = spec;
    if (!usable_) {
      point.record.disposition = Disposition::crashed;
      point.record.reason = say::point::device_lost_earlier{};
      return point;
    }
    try {
      session_->context.make_current();
      measure_phases(point.record, options, cancel);
      point.waits = options.counters;
    } catch (...) {
      end_by_exception(point.record);
    }
    point.record.wall_seconds = seconds_since(begin);
    if (point.waits && waiting_ + 1 < most_together) ++waiting_;
    return point;
  }

  [[nodiscard]] bool counts_with(std::span<const PointSpec> waiting, const PointSpec& next) const override {
    if (!session_->counters || waiting.size() >= most_together) return false;
    std::int64_t bytes = memory_need_bytes(next, info_.limits, registry_);
    for (const PointSpec& spec : waiting) bytes += memory_need_bytes(spec, info_.limits, registry_);
    return bytes <= info_.limits.dram_bytes / 4;
  }

  [[nodiscard]] std::vector<bool> count(std::span<PointRecord* const> records, const MeasureOptions& options,
                                        const CancelToken& cancel) override {
    const auto begin = Clock::now();
    waiting_ = 0;
    Batch batch{.records = records,
                .options = options,
                .cancel = cancel,
                .whole = std::vector<bool>(records.size(), false),
                .alone = false};
    while (usable_ && batch.goes_on()) count_session(batch);
    for (PointRecord* record : records)
      record->wall_seconds += seconds_since(begin) / static_cast<double>(records.size());
    return batch.whole;
  }

  [[nodiscard]] Result<CeilingSet, CeilingFailure> ceilings(const CeilingOptions& options, const CancelToken& cancel,
                                                            const CeilingProgress& progress) override {
    if (!usable_) return Failure{CeilingFailure{.reason = say::point::device_lost_earlier{}}};
    current_work_ = say::point::timing_crashed{};
    try {
      session_->context.make_current();
      return CeilingBench({.runner = session_->runner,
                           .builder = *session_->builder,
                           .limits = info_.limits,
                           .arch = arch_,
                           .nvml = nvml_.get(),
                           .counters = session_->counters ? &*session_->counters : nullptr,
                           .no_counters = no_counters_reason()})
          .measure(options, cancel, progress);
    } catch (...) {
      PointRecord ended;
      end_by_exception(ended);
      return Failure{CeilingFailure{ended.disposition == Disposition::cancelled, ended.reason}};
    }
  }

 private:
  /// A point whose buffers are in a slot of the workspace, ready to run again.
  struct PreparedPoint {
    PointSpec spec;
    AttentionPlan plan;
    InputKind input_kind;
    std::uint64_t seed;
    std::vector<PreparedLaunch> setup;
    std::vector<PreparedLaunch> launches;
  };

  /// Points that wait for their counters; the slot of each is its place.
  struct Batch {
    std::span<PointRecord* const> records;
    const MeasureOptions& options;
    const CancelToken& cancel;
    std::vector<bool> whole;
    bool alone;  ///< each in a session of its own, after one of them all failed
    bool cancelled = false;

    [[nodiscard]] bool goes_on() const { return !cancelled && std::ranges::find(whole, false) != whole.end(); }
  };

  static double seconds_since(Clock::time_point begin) {
    return std::chrono::duration<double>(Clock::now() - begin).count();
  }

  /// Ends a point as the exception says that is being handled.
  void end_by_exception(PointRecord& record) {
    const auto end_as = [&](Disposition disposition, Message reason) {
      record.disposition = disposition;
      record.reason = std::move(reason);
    };
    try {
      throw;
    } catch (const PointEnd& end) {
      end_as(end.disposition(), end.reason());
    } catch (const LaunchTimeout& timeout) {
      usable_ = false;
      end_as(Disposition::timeout, timeout.reason());
    } catch (const DriverError& error) {
      end_after(error, end_as);
    } catch (const std::bad_alloc&) {
      end_as(Disposition::out_of_memory, say::point::host_memory{});
    } catch (const std::exception& error) {
      end_as(Disposition::crashed, say::point::failed{.work = current_work_, .error = error.what()});
    }
  }

  template <class EndAs>
  void end_after(const DriverError& error, const EndAs& end_as) {
    // A fault stays in the context and answers every later call; other errors concern one call only.
    const CUresult state = cuda_.cuStreamQuery(session_->stream.get());
    usable_ = state == CUDA_SUCCESS || state == CUDA_ERROR_NOT_READY;
    switch (error.code()) {
      case CUDA_ERROR_OUT_OF_MEMORY: {
        end_as(Disposition::out_of_memory, say::point::driver_memory{.free = free_bytes(), .error = error.what()});
        return;
      }
      case CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES:
        end_as(Disposition::infeasible, say::point::launch_resources{.error = error.what()});
        return;
      case CUDA_ERROR_LAUNCH_TIMEOUT:
        usable_ = false;
        end_as(Disposition::timeout, say::point::driver_timeout{.error = error.what()});
        return;
      case CUDA_ERROR_NO_DEVICE:
      case CUDA_ERROR_DEVICE_UNAVAILABLE:
      case CUDA_ERROR_DEINITIALIZED:
      case CUDA_ERROR_ECC_UNCORRECTABLE:
        usable_ = false;
        end_as(Disposition::crashed, say::point::gpu_gone{.error = error.what()});
        return;
      default:
        end_as(Disposition::crashed, say::point::failed{.work = current_work_, .error = error.what()});
    }
  }

  void measure_phases(PointRecord& record, const MeasureOptions& options, const CancelToken& cancel) {
    const PointSpec& spec = record.spec;
    const auto stop_if_cancelled = [&](const Message& reason) {
      if (cancel.cancelled()) throw PointEnd(Disposition::cancelled, reason);
    };
    stop_if_cancelled(say::point::cancelled_before_point{});
    current_work_ = say::point::preparing_failed{};
    const Algorithm* algorithm = registry_.find(spec.algorithm);
    if (algorithm == nullptr) {
      throw PointEnd(Disposition::infeasible, say::point::no_algorithm{.algorithm = spec.algorithm});
    }
    if (const auto refusal = algorithm->refusal(spec.problem, spec.config(), info_.limits)) {
      throw PointEnd(Disposition::infeasible, refusal->reason);
    }
    const std::size_t slot = waiting_;
    PreparedPoint& point = plan_in(slot, *algorithm, spec, options);
    add_model_metrics(point.plan, spec.problem, record);
    const std::vector<LoadedLaunch> loaded = load(point);
    add_launch_facts(cuda_, info_.limits, loaded, record);
    session_->workspace.reserve(slot, point.plan, counts_write_back(record, options));
    add_value(kernel_record(record, "all"), metric_key::memory_bytes, static_cast<double>(point.plan.buffer_bytes()),
              Provenance::modelled);
    fill(slot, point, loaded, options);

    stop_if_cancelled(say::point::cancelled_before_launch{});
    run_once(point.setup, options.timeout);
    const double first_ns = run_once(point.launches, options.timeout);
    if (options.verify) verify(record, slot, point, options);

    stop_if_cancelled(say::point::cancelled_before_timing{});
    time(record, point.launches, options, cancel, first_ns);
    stop_if_cancelled(say::point::cancelled_before_counting{});
  }

  PreparedPoint& plan_in(std::size_t slot, const Algorithm& algorithm, const PointSpec& spec,
                         const MeasureOptions& options) {
    auto& place = prepared_[slot];
    place =
        std::make_unique<PreparedPoint>(PreparedPoint{.spec = spec,
                                                      .plan = algorithm.plan(spec.problem, spec.config(), info_.limits),
                                                      .input_kind = options.input_kind,
                                                      .seed = options.seed,
                                                      .setup = {},
                                                      .launches = {}});
    return *place;
  }

  [[nodiscard]] std::vector<LoadedLaunch> load(const PreparedPoint& point) {
    std::vector<LoadedLaunch> loaded;
    for (const KernelLaunch& launch : point.plan.launches) loaded.push_back({&launch, &session_->runner.load(launch)});
    return loaded;
  }

  /// Fills the reserved slot, and makes the launches ready.
  void fill(std::size_t slot, PreparedPoint& point, const std::vector<LoadedLaunch>& loaded,
            const MeasureOptions& options) {
    session_->workspace.fill(slot, point.plan, point.spec.problem, point.input_kind, point.seed);
    for (const LoadedLaunch& each : loaded) {
      (each.launch->setup ? point.setup : point.launches)
          .emplace_back(*each.launch, *each.kernel,
                        [&](const std::string& buffer) { return session_->workspace.address(slot, buffer); });
    }
    session_->runner.wait(options.timeout);
  }

  /// A warm start finds what the run before left dirty: there what is written back is nobody's alone.
  [[nodiscard]] bool counts_write_back(const PointRecord& record, const MeasureOptions& options) const {
    return options.counters && session_->counters && record.spec.cache == CacheState::cold;
  }

  /// Runs launches once, one by one, so that a fault has a name. Returns their device time, roughly.
  double run_once(std::vector<PreparedLaunch>& launches, std::chrono::milliseconds timeout) {
    const CUstream stream = session_->stream.get();
    double total = 0;
    for (PreparedLaunch& launch : launches) {
      current_work_ = say::point::kernel_crashed{.kernel = launch.name()};
      cuda_.check(cuda_.cuEventRecord(session_->begin.get(), stream), "cuEventRecord");
      launch.enqueue(cuda_, stream);
      cuda_.check(cuda_.cuEventRecord(session_->end.get(), stream), "cuEventRecord");
      try {
        session_->runner.wait(session_->end.get(), timeout);
      } catch (const LaunchTimeout&) {
        throw LaunchTimeout(say::point::kernel_still_running{.kernel = launch.name(), .limit_ms = to_ms(timeout)});
      }
      float milliseconds = 0;
      cuda_.check(cuda_.elapsed_time(&milliseconds, session_->begin.get(), session_->end.get()), "cuEventElapsedTime");
      total += 1e6 * static_cast<double>(milliseconds);
    }
    return total;
  }

  /// Runs launches once, one behind the other as when they are timed: those that may start early do.
  void run_together(std::vector<PreparedLaunch>& launches, std::chrono::milliseconds timeout) {
    current_work_ = say::point::second_run_crashed{};
    for (PreparedLaunch& launch : launches) launch.enqueue(cuda_, session_->stream.get());
    session_->runner.wait(timeout);
  }

  void verify(PointRecord& record, std::size_t slot, PreparedPoint& point, const MeasureOptions& options) {
    const AttentionPlan& plan = point.plan;
    const AttentionProblem& problem = record.spec.problem;
    const auto judge = [&] {
      current_work_ = say::point::checking_failed{};
      CheckResult result = session_->oracle.judge(plan, problem, options.input_kind, options.seed,
                                                  SlotBuffers(session_->workspace, slot), options.timeout);
      const double share =
          result.max_abs_error * record.error_bound.value_or(1);  // the run nearest to its bound counts
      if (!record.max_abs_error || share >= *record.max_abs_error * result.bound) {
        record.max_abs_error = result.max_abs_error;
        record.error_bound = result.bound;
        record.rms_error = result.rms_error;
      }
      return result;
    };
    if (const CheckResult result = judge(); !result.pass) throw PointEnd(Disposition::incorrect, result.reason);
    const bool early = std::ranges::any_of(plan.launches, &KernelLaunch::starts_early);
    if (problem.pass == Pass::fwd && !early) return;
    // Gradients are added up in memory, from several blocks: a second run must start from zero again, and come to the
    // same bits where that was asked for.
    const KernelOutput first = session_->oracle.seen();
    if (early) {
      // A launch that does not wait must not find what the first run left.
      session_->workspace.fill(slot, plan, problem, options.input_kind, options.seed);
      run_once(point.setup, options.timeout);
    }
    run_together(point.launches, options.timeout);
    if (const CheckResult result = judge(); !result.pass) {
      throw PointEnd(Disposition::incorrect, say::point::run_again{.reason = result.reason});
    }
    if (problem.deterministic && first != session_->oracle.seen()) {
      throw PointEnd(Disposition::incorrect, say::point::other_bits{});
    }
  }

  void time(PointRecord& record, std::vector<PreparedLaunch>& launches, const MeasureOptions& options,
            const CancelToken& cancel, double first_ns) {
    current_work_ = say::point::timing_crashed{};
    const auto read_clocks = [&] {
      const auto reading = nvml_ ? nvml_->read() : std::nullopt;
      if (!reading) return;
      const std::uint64_t reasons = record.clocks ? record.clocks->throttle_reasons : 0;
      record.clocks = reading;
      record.clocks->throttle_reasons |= reasons;  // one slow batch marks the point
      record.clocks->throttled = slows_down(record.clocks->throttle_reasons);
    };
    const bool slow = options.slow_ns > 0 && first_ns > options.slow_ns;
    LaunchSamples samples = time_launches(session_->runner, launches,
                                          {.cache = record.spec.cache,
                                           .min_samples = slow ? 1 : options.min_samples,
                                           .max_samples = slow ? 1 : options.max_samples,
                                           .max_noise = options.max_noise,
                                           .timeout = options.timeout,
                                           .expected_ns = first_ns},
                                          cancel, read_clocks);
    kernel_record(record, "all").samples_ns = std::move(samples.plan);
    if (launches.size() < 2) return;
    for (std::size_t i = 0; i < launches.size(); ++i) {
      kernel_record(record, launches[i].name()).samples_ns = std::move(samples.launches[i]);
    }
  }

  /// One session of ranges over the points of the batch that are open: ends them, or one of them, or none where they
  /// have to be counted apart.
  void count_session(Batch& batch) {
    const std::vector<std::size_t> members = members_of_session(batch);
    if (members.empty()) return;
    std::vector<CountedPoint> points;
    for (const std::size_t i : members) {
      const PointRecord& record = *batch.records[i];
      points.push_back({.launches = prepared_.at(i)->launches, .cache = record.spec.cache, .write_back = {}});
      if (!counts_write_back(record, batch.options)) continue;
      points.back().write_back = [this] { session_->runner.enqueue_write_back(session_->workspace.noise()); };
    }
    const CountingRequest request{.extra_metrics = batch.options.extra_metrics, .limit = batch.options.timeout};
    CounterCollector& counters = *session_->counters;
    current_work_ = say::point::counting_crashed{};
    try {
      const auto counts = counters.collect(session_->runner, points, request, batch.cancel);
      for (std::size_t i = 0; i < members.size(); ++i) {
        add_counts(counts[i].metrics, points[i].launches, counts[i].values, *batch.records[members[i]]);
        batch.whole[members[i]] = true;
      }
    } catch (const CuptiError& error) {
      if (members.size() > 1) {  // which of them it was, CUPTI does not say
        batch.alone = true;
        return;
      }
      const CounterAvailability why = explain(error, *cupti_, driver_api_version(cuda_));
      finish(batch, members.front(), Disposition::no_counters, why.reason);
    } catch (...) {
      const auto& place = counters.place();
      if (!place && members.size() > 1) {
        batch.alone = true;
        return;
      }
      end_counted(batch, place ? members[place->point] : members.front(), place ? place->launch : std::string());
    }
  }

  /// The points that take part in the next session: those that are open and have their buffers side by side. Ends
  /// those that cannot be counted at all.
  [[nodiscard]] std::vector<std::size_t> members_of_session(Batch& batch) {
    std::vector<std::size_t> members;
    std::size_t ranges = CounterCollector::idle_ranges;
    for (std::size_t i = 0; i < batch.records.size() && usable_ && !batch.cancelled; ++i) {
      if (batch.whole[i]) continue;
      if (batch.alone && !members.empty()) break;
      if (!session_->counters) {
        finish(batch, i, Disposition::no_counters, no_counters_reason());
        continue;
      }
      if (batch.cancel.cancelled()) {
        finish(batch, i, Disposition::cancelled, say::point::cancelled_before_counting{});
        return {};
      }
      try {
        session_->context.make_current();
        if (!is_ready(i, *batch.records[i], batch.options)) make_ready(i, *batch.records[i], batch.options);
        const std::size_t more = CounterCollector::ranges_of(prepared_.at(i)->launches);
        if (!members.empty() && ranges + more > CounterCollector::most_ranges) break;
        ranges += more;
        members.push_back(i);
      } catch (...) {
        end_counted(batch, i, {});
      }
      // Those that gave up their memory to this one have theirs in another session.
      std::erase_if(members, [&](std::size_t member) { return !session_->workspace.holds(member); });
    }
    if (!usable_ || batch.cancelled) members.clear();
    return members;
  }

  [[nodiscard]] bool is_ready(std::size_t slot, const PointRecord& record, const MeasureOptions& options) const {
    const auto found = prepared_.find(slot);
    if (found == prepared_.end() || !session_->workspace.holds(slot)) return false;
    const PreparedPoint& point = *found->second;
    return point.spec == record.spec && point.input_kind == options.input_kind && point.seed == options.seed &&
           (!counts_write_back(record, options) || session_->workspace.holds_noise());
  }

  /// Lays a point out again as it was when it was timed: its slot had to make room.
  void make_ready(std::size_t slot, const PointRecord& record, const MeasureOptions& options) {
    current_work_ = say::point::preparing_failed{};
    PreparedPoint& point = plan_in(slot, *registry_.find(record.spec.algorithm), record.spec, options);
    const std::vector<LoadedLaunch> loaded = load(point);
    session_->workspace.reserve(slot, point.plan, counts_write_back(record, options));
    fill(slot, point, loaded, options);
    run_once(point.setup, options.timeout);
    run_once(point.launches, options.timeout);
  }

  static void finish(Batch& batch, std::size_t which, Disposition disposition, Message reason) {
    PointRecord& record = *batch.records[which];
    record.disposition = disposition;
    record.reason = std::move(reason);
    batch.whole[which] = true;
    batch.cancelled = batch.cancelled || disposition == Disposition::cancelled;
  }

  /// Ends a point by the exception that is being handled; `kernel`, unless empty, is what was counted.
  void end_counted(Batch& batch, std::size_t which, const std::string& kernel) {
    if (!kernel.empty()) current_work_ = say::point::counted_kernel_crashed{.kernel = kernel};
    PointRecord& record = *batch.records[which];
    end_by_exception(record);
    if (record.disposition == Disposition::timeout && !kernel.empty()) {
      record.reason =
          say::point::counted_kernel_still_running{.kernel = kernel, .limit_ms = to_ms(batch.options.timeout)};
    }
    finish(batch, which, record.disposition, record.reason);
  }

  [[nodiscard]] Message no_counters_reason() const {
    return counter_state_.reason.empty() ? Message(say::counters::not_prepared{}) : counter_state_.reason;
  }

  const Registry& registry_;
  CudaApi cuda_;
  DeviceInfo info_;
  std::string arch_;
  unsigned build_threads_;
  std::unique_ptr<Nvml> nvml_;
  std::optional<CuptiApi> cupti_;
  CounterAvailability counter_state_;
  std::unique_ptr<Session> session_;
  std::map<std::size_t, std::unique_ptr<PreparedPoint>> prepared_;  ///< by slot of the workspace
  std::size_t waiting_ = 0;  ///< points that wait for their counters, in the slots before this one
  Message current_work_;     ///< what a fault would have interrupted
  bool usable_ = true;
};

}  // namespace

Result<std::unique_ptr<Device>, GpuError> open_gpu_device(const GpuOptions& wanted, const Registry& registry) {
  GpuOptions options = wanted;
  if (!options.uuid.empty()) {
    const auto gpus = list_gpus();
    if (!gpus) return Failure{gpus.error()};
    const auto found = std::ranges::find(*gpus, options.uuid, &GpuListing::uuid);
    if (found == gpus->end()) {
      return Failure{GpuError{GpuError::Kind::bad_ordinal,
                              say::gpu::no_uuid{.uuid = options.uuid, .gpus = gpus->size()}, say::gpu::no_uuid_fix{}}};
    }
    options.ordinal = found->ordinal;
  }
  auto cuda = start_driver();
  if (!cuda) return Failure{cuda.error()};
  auto builder = KernelBuilder::open(options.cache_dir);
  if (!builder) return Failure{builder.error()};
  try {
    int count = 0;
    cuda->check(cuda->cuDeviceGetCount(&count), "cuDeviceGetCount");
    if (options.ordinal < 0 || options.ordinal >= count) {
      return Failure{GpuError{GpuError::Kind::bad_ordinal,
                              say::gpu::no_ordinal{.ordinal = options.ordinal, .gpus = count},
                              say::gpu::no_ordinal_fix{}}};
    }
    CUdevice device = 0;
    cuda->check(cuda->cuDeviceGet(&device, options.ordinal), "cuDeviceGet");
    DeviceInfo info{.uuid = device_uuid(*cuda, device),
                    .simulated = false,
                    .ordinal = options.ordinal,
                    .limits = device_limits(*cuda, device)};
    if (info.limits.compute_major < 8) {
      return Failure{GpuError{GpuError::Kind::unsupported,
                              say::gpu::capability{.device = info.limits.name,
                                                   .capability = fmt::format("{}.{}", info.limits.compute_major,
                                                                             info.limits.compute_minor)},
                              {}}};
    }
    std::string arch =
        options.arch.empty() ? arch_for(info.limits.compute_major, info.limits.compute_minor) : options.arch;
    if (Message why = (*builder)->refuses(arch); !why.empty()) {
      return Failure{GpuError{GpuError::Kind::unsupported, std::move(why), {}}};
    }
    auto gpu = std::make_unique<GpuDevice>(std::move(cuda).value(), device, std::move(info), std::move(arch),
                                           options.build_threads, std::move(builder).value(), registry);
    if (options.counters) gpu->prepare_counters(device);
    return std::unique_ptr<Device>(std::move(gpu));
  } catch (const DriverError& error) {
    return Failure{GpuError{GpuError::Kind::device_failed,
                            say::gpu::unusable{.ordinal = options.ordinal, .error = error.what()},
                            error.code() == CUDA_ERROR_OUT_OF_MEMORY ? Message(say::gpu::memory_taken{}) : Message()}};
  } catch (const PointEnd& end) {
    return Failure{GpuError{GpuError::Kind::device_failed, end.reason(), {}}};
  }
}

}  // namespace attnscope
