// SPDX-License-Identifier: Apache-2.0
#include "profiler/predict/unit_utilization.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "messages/bound.h"
#include "messages/occupancy.h"
#include "profiler/metrics/model_metrics.h"
#include "profiler/plan/text.h"
#include "profiler/points/facets.h"
#include "profiler/predict/speed_of_light.h"

namespace attnscope::analysis {
namespace {

/// Metrics with a value, the largest first; ties in table order.
template <class Wanted>
std::vector<UnitUtilization> by_value(const Wanted& wanted, const PointRecord& point, std::string_view kernel) {
  std::vector<UnitUtilization> values;
  for (const Metric& metric : metrics_table()) {
    if (!wanted(metric)) continue;
    const auto value = evaluate(metric.key, point, kernel);
    if (value) values.push_back({.metric = &metric, .value = value->value, .provenance = value->provenance});
  }
  std::ranges::stable_sort(values, std::ranges::greater(), &UnitUtilization::value);
  return values;
}

/// A unit that can be the bottleneck: its counter, and the predicted unit, if any.
struct CountedUnit {
  std::string_view use;
  std::optional<GpuUnit> unit = std::nullopt;
};
constexpr std::array counted_units{
    CountedUnit{"tensor_utilization_pct", GpuUnit::tensor},
    CountedUnit{"xu_utilization_pct", GpuUnit::exponential},
    CountedUnit{"fma_utilization_pct"},
    CountedUnit{"alu_utilization_pct"},
    CountedUnit{"shared_utilization_pct", GpuUnit::shared_memory},
    CountedUnit{"l2_port_utilization_pct", GpuUnit::l2_port},
    CountedUnit{"dram_utilization_pct", GpuUnit::dram},
};

constexpr double bottleneck_threshold_pct = 100 * bottleneck_threshold;

/// Returns the factor from a unit's share of the kernel's cycles to its share of the kernel's time.
std::optional<double> time_over_cycles(std::string_view use, const PointRecord& point, std::string_view kernel) {
  if (!is_relative_to_kernel(point, kernel)) return std::nullopt;
  if (!find_metric(use)->is_share_of_cycles()) return 1;
  const auto cycles = evaluate(metric_key::sm_active_cycles, point, kernel);
  const auto ns = evaluate(metric_key::time_median_ns, point, kernel);
  if (!point.clocks || !(point.clocks->sm_clock_hz > 0) || !cycles || !ns) return std::nullopt;
  return cycles->value / (ns->value * 1e-9 * point.clocks->sm_clock_hz);
}

/// Counted utilization over the kernel's time; over its cycles if the clock is unknown.
std::optional<UnitUtilization> counted_value(std::string_view unit, const PointRecord& point, std::string_view kernel) {
  const auto use = evaluate(unit, point, kernel);
  if (!use) return std::nullopt;
  const auto factor = time_over_cycles(unit, point, kernel);
  return UnitUtilization{.metric = find_metric(unit),
                         .value = use->value * factor.value_or(1),
                         .provenance = factor.value_or(1) == 1 ? use->provenance : Provenance::derived,
                         .of_time = factor.has_value()};
}

/// A unit without a counter could be the bottleneck.
bool counts_all_units(const PointRecord& point, std::string_view kernel) {
  return std::ranges::all_of(counted_units,
                             [&](const CountedUnit& each) { return evaluate(each.use, point, kernel).has_value(); });
}

Message with_percent(const UnitUtilization& busiest, bool binds) {
  if (!binds) return display_text(busiest, binds);
  const std::string percent = fmt::format("{:.0f}", busiest.value);
  if (!busiest.of_time) return msg::bound::unit_at_cycles{.percent = percent, .unit = display_text(busiest, binds)};
  return msg::bound::unit_at{.percent = percent, .unit = display_text(busiest, binds)};
}

}  // namespace

bool is_relative_to_kernel(const PointRecord& point, std::string_view kernel) {
  const KernelRecord* record = point.kernel(kernel);
  if (record == nullptr) return false;
  if (point.provenance == Provenance::imported) return true;
  constexpr std::array scales{metric_key::sm_cycles, metric_key::sm_active_cycles, metric_key::counted_range_ns};
  return !record->samples_ns.empty() &&
         std::ranges::all_of(scales, [&](std::string_view key) { return record->metric(key).has_value(); });
}

std::optional<double> counted_utilization(GpuUnit unit, const PointRecord& point, std::string_view kernel) {
  const auto* counted = std::ranges::find(counted_units, std::optional(unit), &CountedUnit::unit);
  const auto use = evaluate(counted->use, point, kernel);
  const auto factor = time_over_cycles(counted->use, point, kernel);
  return use && factor ? std::optional(use->value * *factor) : std::nullopt;
}

std::vector<UnitUtilization> predicted_utilizations(const PointRecord& point, std::string_view kernel) {
  return by_value([](const Metric& metric) { return metric.predicted_utilization; }, point, kernel);
}

std::optional<BoundComparison> compare_bounds(const PointRecord& point, std::string_view kernel) {
  if (!counts_all_units(point, kernel)) return std::nullopt;
  BoundComparison both;
  // Utilization, by either source, of the unit that the other source names.
  double counted_for_predicted = 0;
  double predicted_for_counted = 0;
  for (const CountedUnit& each : counted_units) {
    const auto counted = counted_value(each.use, point, kernel);
    const auto predicted = each.unit ? evaluate(metric_of(*each.unit).key, point, kernel) : std::nullopt;
    const auto take = [&](UnitUtilization& busiest, const auto& use, bool of_time, double& other,
                          const auto& of_other) {
      if (!use || (busiest.metric != nullptr && use->value <= busiest.value)) return;
      busiest = {find_metric(each.use), use->value, use->provenance, of_time};
      other = of_other ? of_other->value : 0;
    };
    take(both.predicted, predicted, true, counted_for_predicted, counted);
    take(both.counted, counted, counted && counted->of_time, predicted_for_counted, predicted);
  }
  if (both.predicted.metric == nullptr) return std::nullopt;
  both.predicted_binds = both.predicted.value >= bottleneck_threshold_pct;
  both.counted_binds = both.counted.value >= bottleneck_threshold_pct;
  if (both.predicted_binds) {
    both.agree = counted_for_predicted >= std::max(both.counted.value, bottleneck_threshold_pct) - tie_tolerance_pct;
  } else {
    both.agree = !both.counted_binds || predicted_for_counted >= bottleneck_threshold_pct - tie_tolerance_pct;
  }
  return both;
}

Message display_text(const UnitUtilization& busiest, bool binds) {
  return binds ? busiest.metric->label() : Message(msg::bound::latency{});
}

Message display_text(const BoundComparison& both) {
  const Message predicted = with_percent(both.predicted, both.predicted_binds);
  const Message counted = with_percent(both.counted, both.counted_binds);
  if (both.agree) return msg::bound::agree{.counted = counted, .predicted = predicted};
  return msg::bound::differ{.counted = counted, .predicted = predicted};
}

std::optional<CountedBound> counted_bound(const PointRecord& point, std::string_view kernel) {
  if (!counts_all_units(point, kernel)) return std::nullopt;
  const UnitUtilization busiest = *busiest_unit(point, kernel);
  return CountedBound{.busiest = busiest, .binds = busiest.value >= bottleneck_threshold_pct};
}

std::string unit_text(const CountedBound& bound) {
  return lower_label(text(bound.busiest.metric->label()));
}

Message bottleneck_text(const PointRecord& point) {
  const std::optional<CountedBound> bound = counted_bound(point);
  if (!bound) return {};
  const std::string percent = fmt::format("{:.0f}", bound->busiest.value);
  const std::string unit = unit_text(*bound);
  const Message base = bound->busiest.of_time ? Message(msg::bound::of_time{}) : Message(msg::bound::of_cycles{});
  Message found = bound->binds ? Message(msg::bound::bottleneck{.base = base, .percent = percent, .unit = unit})
                               : Message(msg::bound::latency_bound{.base = base, .percent = percent, .unit = unit});
  const std::vector<UnitUtilization> stalls = top_stalls(point, "all", 1);
  if (stalls.empty()) return found;
  return msg::bound::with_stall{.bound = found, .stall = lower_label(text(stalls.front().metric->label()))};
}

Message display_text(const CountedBound& bound) {
  return msg::bound::counted_alone{.counted = with_percent(bound.busiest, bound.binds)};
}

std::vector<UnitUtilization> unit_utilizations(const PointRecord& point, std::string_view kernel) {
  std::vector<UnitUtilization> values;
  for (const Metric& metric : metrics_table()) {
    if (metric.why != CounterGroup::use) continue;
    if (const auto counted = counted_value(metric.key, point, kernel)) values.push_back(*counted);
  }
  std::ranges::stable_sort(values, std::ranges::greater(), &UnitUtilization::value);
  return values;
}

std::optional<UnitUtilization> busiest_unit(const PointRecord& point, std::string_view kernel) {
  std::optional<UnitUtilization> busiest;
  for (const CountedUnit& each : counted_units) {
    const auto counted = counted_value(each.use, point, kernel);
    if (counted && (!busiest || counted->value > busiest->value)) busiest = counted;
  }
  return busiest;
}

std::vector<UnitUtilization> top_stalls(const PointRecord& point, std::string_view kernel, std::size_t most) {
  std::vector<UnitUtilization> stalls =
      by_value([](const Metric& metric) { return metric.why == CounterGroup::stall; }, point, kernel);
  std::erase_if(stalls, [](const UnitUtilization& stall) { return !(stall.value > 0); });
  if (stalls.size() > most) stalls.resize(most);
  return stalls;
}

std::optional<LaunchOccupancy> launch_occupancy(const PointRecord& point, const DeviceLimits& limits) {
  constexpr int threads_per_warp = 32;
  if (point.kernels.size() != 1 || point.kernels.front().occupancy_limiter.empty()) return std::nullopt;
  const auto share = evaluate(metric_key::theoretical_occupancy_pct, point);
  if (!share || limits.max_threads_per_sm < threads_per_warp) return std::nullopt;
  const int most = limits.max_threads_per_sm / threads_per_warp;
  return LaunchOccupancy{.warps_per_sm = static_cast<int>(std::lround(share->value * most / 100)),
                         .max_warps_per_sm = most,
                         .limiter = point.kernels.front().occupancy_limiter};
}

Message limiter_title(std::string_view limiter) {
  if (limiter == "registers") return msg::occupancy::registers{};
  if (limiter == "shared memory") return msg::occupancy::shared_memory{};
  if (limiter == "threads") return msg::occupancy::threads{};
  if (limiter == "blocks") return msg::occupancy::blocks{};
  if (limiter == "grid") return msg::occupancy::grid{};
  return Message::verbatim(printable(limiter));
}

Message compare_occupancy(const NamedOccupancy& a, const NamedOccupancy& b) {
  const Message limit_a = limiter_title(a.occupancy.limiter);
  const Message limit_b = limiter_title(b.occupancy.limiter);
  const int warps = a.occupancy.warps_per_sm;
  if (a.occupancy.limiter == b.occupancy.limiter) {
    if (warps == b.occupancy.warps_per_sm) return msg::occupancy::both{.limiter = limit_a, .warps = warps};
    return msg::occupancy::one_limit{
        .limiter = limit_a, .tile_a = a.name, .tile_b = b.name, .warps_a = warps, .warps_b = b.occupancy.warps_per_sm};
  }
  return msg::occupancy::each{.limiter_a = limit_a,
                              .limiter_b = limit_b,
                              .tile_a = a.name,
                              .tile_b = b.name,
                              .warps_a = warps,
                              .warps_b = b.occupancy.warps_per_sm};
}

}  // namespace attnscope::analysis
