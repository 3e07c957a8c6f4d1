// SPDX-License-Identifier: Apache-2.0
#include "profiler/points/half_filled_sectors.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <memory>
#include <string_view>
#include <utility>

#include "kernels/model/io_model.h"
#include "messages/stores.h"
#include "profiler/metrics/metrics.h"
#include "profiler/units/number_format.h"

namespace attnscope::analysis {
namespace {

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
