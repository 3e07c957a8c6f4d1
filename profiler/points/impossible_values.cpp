// SPDX-License-Identifier: Apache-2.0
#include "profiler/points/impossible_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <string_view>
#include <utility>

#include "kernels/model/attention.h"
#include "kernels/model/io_model.h"
#include "messages/stores.h"
#include "profiler/metrics/metrics.h"
#include "profiler/units/number_format.h"

namespace attnscope::analysis {
namespace {

constexpr double dram_tolerance = 1.05;

/// Replaces unknown limits by the largest of the known GPUs of this compute capability. If it is unknown, too, the GPU
/// may be one that this program does not know, so the largest limits of all are doubled.
DeviceLimits bounding_limits(const DeviceLimits& limits) {
  const bool any = limits.compute_major == 0;
  DeviceLimits bounding = limits;
  for (const DeviceLimits& gpu : known_gpus()) {
    const bool same = gpu.compute_major == limits.compute_major && gpu.compute_minor == limits.compute_minor;
    if (!any && !same) continue;
    const auto raise = [&](auto member) {
      if (limits.*member <= 0) bounding.*member = std::max(bounding.*member, gpu.*member * (any ? 2 : 1));
    };
    raise(&DeviceLimits::l2_bytes);
    raise(&DeviceLimits::dram_bytes_per_second);
    raise(&DeviceLimits::tensor_flops);
  }
  return bounding;
}

std::optional<ImpossibleValue> find_impossible(const KernelValues& all, const AttentionProblem& problem,
                                               const DeviceLimits& limits) {
  const auto value = [&](std::string_view key) -> double {
    const auto metric = evaluate(key, all);
    return metric ? metric->value : 0;
  };
  const DeviceLimits bounding = bounding_limits(limits);
  const double time = value(metric_key::time_median_ns);
  const double read_rate = time > 0 ? value(metric_key::dram_read_bytes) / time * 1e9 : 0;
  const double rate = std::max(value(metric_key::dram_bandwidth), read_rate / problem.gpus);  // writes may be unknown
  const double roof = bounding.dram_bytes_per_second;
  if (roof > 0 && rate > dram_tolerance * roof) return ImpossibleValue{BrokenLimit::dram_rate, rate, roof};
  // The metric counts nominal FLOPs; an algorithm that recomputes nothing executes fewer.
  const double tflops = value(metric_key::tflops) * least_pass_flops(problem) / pass_flops(problem);
  const double peak = bounding.tensor_flops * relative_throughput(problem.dtype) / 1e12;
  if (peak > 0 && tflops > peak) return ImpossibleValue{BrokenLimit::flop_rate, tflops, peak};
  if (bounding.l2_bytes <= 0) return std::nullopt;
  const Traffic least = compulsory_traffic(problem);
  const double l2 = static_cast<double>(bounding.l2_bytes) * problem.gpus;
  const double by_rate = value(metric_key::dram_bandwidth) * time / 1e9 * problem.gpus;
  const double total = value(metric_key::dram_bytes) > 0 ? value(metric_key::dram_bytes) : by_rate;
  for (const auto& [bytes, bound] :
       {std::pair{total, static_cast<double>(least.total()) - l2},
        std::pair{value(metric_key::dram_read_bytes), static_cast<double>(least.l2_to_sm_bytes) - l2}}) {
    if (bytes > 0 && bytes < bound) return ImpossibleValue{BrokenLimit::compulsory_bytes, bytes, bound};
  }
  return std::nullopt;
}

/// Nsight Compute's bytes per sector of global stores, in percent of 32 bytes and in bytes.
constexpr std::string_view fill_counter = "smsp__sass_average_data_bytes_per_sector_mem_global_op_st.pct";
constexpr std::array<std::pair<std::string_view, double>, 2> fill_counters{
    {{fill_counter, 100}, {"smsp__sass_average_data_bytes_per_sector_mem_global_op_st.ratio", 32}}};

std::optional<HalfFilledSectors> find_half_filled(const KernelValues& all, const AttentionProblem& problem) {
  const auto stored = evaluate(metric_key::sm_to_l2_bytes, all);
  if (!stored || is_simulated(stored->provenance)) return std::nullopt;
  const auto model = evaluate(metric_key::model_sm_to_l2_bytes, all);
  const double expected = model ? model->value : static_cast<double>(compulsory_traffic(problem).sm_to_l2_bytes);
  if (!(expected > 0)) return std::nullopt;
  HalfFilledSectors found{.ratio = stored->value / expected};
  if (std::abs(found.ratio - 2) > 0.1) return std::nullopt;
  for (const auto& [counter, full] : fill_counters) {
    const auto fill = evaluate(counter, all);
    if (!fill) continue;
    found.fill = fill->value / full;
    if (std::abs(*found.fill - 0.5) > 0.1) return std::nullopt;
    break;
  }
  return found;
}

}  // namespace

bool ImpossibleValue::is_likely_unit_error() const {
  constexpr double unit_step = 1000;
  return std::max(ratio(), 1 / ratio()) > unit_step / 10;
}

std::optional<ImpossibleValue> impossible_value(const PointRecord& point, const DeviceLimits& limits) {
  if (point.provenance != Provenance::imported) return std::nullopt;
  const std::unique_ptr<KernelValues> all = kernel_values(point);
  return all ? find_impossible(*all, point.spec.problem, limits) : std::nullopt;
}

std::optional<ImpossibleValue> impossible_value(const PointTable& table, Row row) {
  if (table.points().origin(row) != Provenance::imported) return std::nullopt;
  const std::optional<RowKernel> all = table.points().sum(row);
  return all ? find_impossible(*all, table.problem(row), table.run(row).limits) : std::nullopt;
}

Message describe(const ImpossibleValue& impossible, const DeviceLimits& limits) {
  const std::string hint = impossible.is_likely_unit_error() ? "; a unit off by 1,000 is likely" : "";
  if (impossible.limit == BrokenLimit::compulsory_bytes) {
    return make_message("impossible: {:.3g} MB of DRAM traffic; at least {:.3g} MB must pass even if the L2 is warm{}",
                        impossible.value / 1e6, impossible.bound / 1e6, hint);
  }
  const bool dram = impossible.limit == BrokenLimit::dram_rate;
  const bool known = (dram ? limits.dram_bytes_per_second : limits.tensor_flops) > 0;
  return make_message("impossible: {:.0f}% of the {} rate of {}{}", impossible.ratio() * 100, dram ? "DRAM" : "FLOP",
                      known ? limits.name : "any such GPU", hint);
}

std::optional<HalfFilledSectors> half_filled_sectors(const PointRecord& point) {
  const std::unique_ptr<KernelValues> all = kernel_values(point);
  return all ? find_half_filled(*all, point.spec.problem) : std::nullopt;
}

std::optional<HalfFilledSectors> half_filled_sectors(const PointTable& table, Row row) {
  const std::optional<RowKernel> all = table.points().sum(row);
  return all ? find_half_filled(*all, table.problem(row)) : std::nullopt;
}

Message describe(const HalfFilledSectors& found) {
  std::string ratio = fmt::format("{:.2f}", found.ratio);
  if (found.fill) return msg::stores::half_filled{.fill = text(Share(*found.fill)), .ratio = ratio};
  return msg::stores::maybe_half_filled{.counter = fill_counter, .ratio = ratio};
}

}  // namespace attnscope::analysis
