// SPDX-License-Identifier: Apache-2.0
#include "profiler/measure/simulated_device.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "kernels/algorithm.h"
#include "kernels/model/gpu_values.h"
#include "kernels/model/pipeline_model.h"
#include "profiler/measure/device.h"
#include "profiler/metrics/metrics.h"
#include "profiler/metrics/model_metrics.h"
#include "profiler/plan/text.h"
#include "profiler/simulator/l2_cache.h"
#include "profiler/simulator/traffic_simulation.h"
#include "profiler/units/number_format.h"

namespace attnscope {
namespace {

/// Value of a counter in the metrics table, if the simulator provides it.
std::optional<double> simulated_counter(const LaunchSimulation& launch, std::string_view key) {
  if (key == metric_key::dram_read_bytes) return launch.dram_read_bytes;
  if (key == metric_key::dram_write_bytes) return launch.dram_write_bytes;
  if (key == metric_key::l2_to_sm_bytes) return static_cast<double>(launch.traffic.l2_to_sm_bytes);
  if (key == metric_key::sm_to_l2_bytes) return static_cast<double>(launch.traffic.sm_to_l2_bytes);
  if (key == metric_key::achieved_occupancy_pct) return launch.achieved_warps_pct;
  return std::nullopt;
}

Provenance provenance_of(const LaunchSimulation& launch) {
  return launch.complete ? Provenance::simulated : Provenance::extrapolated;
}

constexpr int max_simulated_gpus = 8;

bool is_simulated_counter(const Metric& metric) {
  return !metric.counter.empty() && simulated_counter({}, metric.key).has_value();
}

class SimulatedDevice final : public Device {
 public:
  SimulatedDevice(const DeviceLimits& limits, const Registry& registry, const MeasuredCeilings& measured, int unit)
      : registry_(registry), rates_(device_rates(limits, measured.ceilings)) {
    if (rates_.dram_measured || rates_.l2_measured) info_.rates_source = measured.from;
    info_.limits = limits;
    info_.simulated = true;
    info_.uuid = simulated_uuid(limits);
    if (unit > 0) {
      info_.uuid += fmt::format("#{}", unit);
      info_.ordinal = unit - 1;
    }
    if (const L2Behavior l2 = l2_behavior(limits); l2.inherited) info_.l2_source = l2.measured_on;
  }

  [[nodiscard]] const DeviceInfo& info() const override { return info_; }
  [[nodiscard]] const Registry& algorithms() const override { return registry_; }
  [[nodiscard]] Environment environment() const override { return host_environment(); }
  [[nodiscard]] CounterAvailability counters() const override { return {CounterState::available, {}, {}}; }
  [[nodiscard]] std::int64_t free_bytes() const override { return info_.limits.dram_bytes; }

  [[nodiscard]] std::vector<UnknownMetric> unknown_metrics(std::span<const std::string> names) const override {
    std::vector<std::string> known;
    for (const Metric& metric : metrics_table()) {
      if (is_simulated_counter(metric)) known.emplace_back(metric.counter);
    }
    std::vector<UnknownMetric> unknown;
    for (const std::string& name : names) {
      if (std::ranges::find(known, name) == known.end()) unknown.push_back({name, closest_matches(name, known)});
    }
    return unknown;
  }

  void prepare(std::span<const PointSpec>, const CancelToken&, const BuildProgress&) override {}

  [[nodiscard]] PointRecord measure(const PointSpec& spec, const MeasureOptions& options,
                                    const CancelToken& cancel) override {
    const auto start = std::chrono::steady_clock::now();
    PointRecord record;
    record.spec = spec;
    record.provenance = Provenance::simulated;
    record.kernels.emplace_back();
    simulate(record, options, cancel);
    record.wall_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return record;
  }

 private:
  static void fail(PointRecord& record, Disposition disposition, Message reason) {
    record.disposition = disposition;
    record.reason = std::move(reason);
  }

  void simulate(PointRecord& record, const MeasureOptions& options, const CancelToken& cancel) const {
    const PointSpec& spec = record.spec;
    const Algorithm* algorithm = registry_.find(spec.algorithm);
    if (algorithm == nullptr) {
      return fail(record, Disposition::infeasible,
                  make_reason("point.no_algorithm", "This build has no algorithm '{}'.", spec.algorithm));
    }
    if (algorithm->facts().user_defined) {
      return fail(
          record, Disposition::infeasible,
          make_reason("point.not_simulated",
                      "{} is a user-defined kernel and cannot be simulated (measure it on a GPU)", spec.algorithm));
    }
    if (spec.problem.gpus > max_simulated_gpus) {
      return fail(record, Disposition::infeasible,
                  make_reason("point.too_few_gpus", "Needs {} GPUs; this machine has {}.", spec.problem.gpus,
                              max_simulated_gpus));
    }
    if (const auto refusal = algorithm->refusal(spec.problem, spec.config(), info_.limits)) {
      return fail(record, Disposition::infeasible, refusal->reason);
    }
    const AttentionPlan plan = algorithm->plan(spec.problem, spec.config(), info_.limits);
    add_model_metrics(*algorithm, plan, spec.problem, record);
    if (plan.buffer_bytes() > free_bytes()) {
      return fail(record, Disposition::out_of_memory,
                  make_reason("point.buffers_memory", "The buffers need {} of device memory; {} are free.",
                              text(Capacity(plan.buffer_bytes())), text(Capacity(free_bytes()))));
    }
    const auto simulations = simulate_traffic(plan, info_.limits, {.cache = spec.cache}, cancel);
    if (!simulations)
      return fail(record, Disposition::cancelled,
                  make_reason("point.cancelled_simulating", "Cancelled during simulation."));

    add(kernel_record(record, "all"), metric_key::memory_bytes, static_cast<double>(plan.buffer_bytes()),
        Provenance::modeled);
    const bool several = has_several_launches(plan.launches);
    const std::vector<LaunchTime> times = launch_times(loads_of(plan, *simulations, false), rates_);
    // Also predict all launches in sequence, where L2 is cold only before the first.
    const std::vector<LaunchTime> together = several ? launch_times(loads_of(plan, *simulations, true), rates_) : times;
    LaunchSimulation sum;
    double sum_ns = 0;
    double warps_pct_ns = 0;
    std::size_t next = 0;
    for (const KernelLaunch& launch : plan.launches) {
      if (launch.setup) continue;
      const LaunchSimulation& simulation = (*simulations)[next];
      const std::span<const LaunchTime> time(&times[next], 1);
      ++next;
      const auto runs = static_cast<double>(launch.runs);
      sum.dram_read_bytes += runs * simulation.dram_read_bytes;
      sum.dram_write_bytes += runs * simulation.dram_write_bytes;
      sum.traffic += launch.runs * simulation.traffic;
      sum_ns += runs * time.front().ns;
      warps_pct_ns += runs * (simulation.achieved_warps_pct * time.front().ns);
      sum.complete = sum.complete && simulation.complete;
      KernelRecord& kernel = kernel_record(record, several ? launch.name : "all");
      kernel.complete = simulation.complete;
      add_launch(kernel, launch, simulation.occupancy);
      if (!several) continue;
      add_counters(kernel, simulation, options);
      add_times(kernel, time.front().ns, time, provenance_of(simulation));
    }
    sum.achieved_warps_pct = sum_ns > 0 ? warps_pct_ns / sum_ns : 0;
    const Provenance played = provenance_of(sum);
    KernelRecord& all = kernel_record(record, "all");
    all.complete = sum.complete;
    add_counters(all, sum, options);
    const auto spin_ns = static_cast<double>(options.spin.count());
    if (plan.schedule.empty()) return add_times(all, point_ns(together) + spin_ns, together, played);
    add_link_bytes(all, plan.schedule.link_bytes(), Provenance::simulated);
    const ScheduleTimes sharing = schedule_times(plan.schedule, times, rates_);
    add_times(all, sharing.ns + spin_ns, busiest_gpu_launches(plan.schedule, times), played, &sharing);
  }

  /// Adds predicted times and utilization if they are validated for this GPU.
  void add_times(KernelRecord& kernel, double ns, std::span<const LaunchTime> launches, Provenance provenance,
                 const ScheduleTimes* sharing = nullptr) const {
    if (rates_.validated_on.empty()) return;
    kernel.samples_ns = {ns};
    if (sharing != nullptr) add_multi_gpu_times(kernel, *sharing, provenance);
    add_predicted_utilization(kernel, launches, provenance);
  }

  /// `together`: each launch follows the previous one; else each starts with its own cold L2.
  [[nodiscard]] std::vector<LaunchLoad> loads_of(const AttentionPlan& plan,
                                                 std::span<const LaunchSimulation> simulations, bool together) const {
    std::vector<LaunchLoad> loads;
    for (const KernelLaunch& launch : plan.launches) {
      if (launch.setup) continue;
      const LaunchSimulation& simulation = simulations[loads.size()];
      loads.push_back(launch_load(
          launch, info_.limits,
          together ? simulation.dram_in_plan_bytes : simulation.dram_read_bytes + simulation.dram_write_bytes));
    }
    return loads;
  }

  static void add(KernelRecord& kernel, std::string_view key, double value,
                  Provenance provenance = Provenance::simulated) {
    kernel.metrics.push_back({std::string(key), value, std::string(find_metric(key)->unit), provenance});
  }

  static void add_launch(KernelRecord& kernel, const KernelLaunch& launch, const Occupancy& occupancy) {
    add(kernel, metric_key::theoretical_occupancy_pct, occupancy.warps_pct);
    kernel.occupancy_limiter = occupancy.limiter;
    if (launch.registers_per_thread > 0) add(kernel, metric_key::registers, launch.registers_per_thread);
    add(kernel, metric_key::shared_bytes, static_cast<double>(launch.dynamic_shared_bytes));
  }

  static void add_counters(KernelRecord& kernel, const LaunchSimulation& values, const MeasureOptions& options) {
    if (!options.counters) return;
    for (const Metric& metric : metrics_table()) {
      if (!is_simulated_counter(metric)) continue;
      // SM<->L2 bytes are exact even if the launch was simulated only partially.
      const bool exact = metric.key == metric_key::l2_to_sm_bytes || metric.key == metric_key::sm_to_l2_bytes;
      add(kernel, metric.key, *simulated_counter(values, metric.key),
          exact ? Provenance::simulated : provenance_of(values));
      const bool asked = std::ranges::find(options.extra_metrics, metric.counter) != options.extra_metrics.end();
      if (!asked) continue;
      kernel.metrics.push_back(kernel.metrics.back());
      kernel.metrics.back().name = metric.counter;
    }
  }

  const Registry& registry_;
  DeviceRates rates_;
  DeviceInfo info_;
};

}  // namespace

std::string simulated_uuid(const DeviceLimits& limits) {
  std::string uuid = "SIM-" + limits.name;
  // A hypothetical GPU gets another UUID when one of its values changes.
  if (limits.custom_rates.tensor_flops > 0) uuid += " " + gpu_values_digest(limits);
  std::ranges::replace(uuid, ' ', '-');
  return uuid;
}

std::unique_ptr<Device> make_simulated_device(const DeviceLimits& limits, const Registry& registry,
                                              const MeasuredCeilings& measured, int unit) {
  return std::make_unique<SimulatedDevice>(limits, registry, measured, unit);
}

}  // namespace attnscope
