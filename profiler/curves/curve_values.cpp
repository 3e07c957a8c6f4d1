// SPDX-License-Identifier: Apache-2.0
#include "profiler/curves/curve_values.h"

#include <array>
#include <string>
#include <vector>

#include "profiler/compare/comparison.h"
#include "profiler/metrics/metrics.h"

namespace attnscope::analysis {
namespace {

const ValueColumn& values_of(const PointTable& table, Quantity quantity) {
  return quantity == Quantity::dram ? table.dram_traffic() : table.values(metric_of(quantity));
}

}  // namespace

std::string_view metric_of(Quantity quantity) {
  switch (quantity) {
    case Quantity::dram:
      return metric_key::dram_bytes;
    case Quantity::sm_l2:
      return metric_key::l2_sm_bytes;
    case Quantity::time:
      return metric_key::time_median_ns;
    case Quantity::rate:
      return metric_key::tflops;
    case Quantity::metric:
      break;
  }
  return {};
}

std::string_view metric_of(const Curve& curve) {
  return curve.metric.empty() ? metric_of(curve.quantity) : std::string_view(curve.metric);
}

std::optional<Reading> read_value(const PointTable& table, Row row, Quantity quantity) {
  const Disposition disposition = table.disposition(row);
  const auto value = values_of(table, quantity).at(row);
  if (!value || *value <= 0) return {};
  const Provenance origin = values_of(table, quantity).provenance(row);
  if (quantity == Quantity::dram || quantity == Quantity::sm_l2) {
    // Do not plot the traffic of incorrect results; the table still lists it.
    if (disposition != Disposition::ok) return {};
    Reading counted{*value, *value, *value, origin};
    if (table.points().rounds(row) > 1) {
      const std::optional<RowKernel> sum = table.points().sum(row);
      const auto scatter =
          quantity == Quantity::dram ? traffic_over_rounds(*sum) : quartiles_over_rounds(metric_of(quantity), *sum);
      if (scatter) counted = {*value, scatter->q1, scatter->q3, origin};
    }
    return counted;
  }
  // Times do not need counters.
  if (disposition != Disposition::ok && disposition != Disposition::no_counters) return {};
  const auto time = table.values(metric_key::time_median_ns).at(row);
  if (!time || *time <= 0) return {};
  const double q1 = table.values(metric_key::time_q1_ns).at(row).value_or(*time);
  const double q3 = table.values(metric_key::time_q3_ns).at(row).value_or(*time);
  if (quantity == Quantity::time) return Reading{*time, q1, q3, origin};
  if (q1 <= 0 || q3 <= 0) return {};
  return Reading{*value, *value * *time / q3, *value * *time / q1, origin};
}

bool differs_significantly(const PointTable& table, const CurvePoint& worse, const CurvePoint& better,
                           Quantity quantity) {
  if (quantity == Quantity::dram || quantity == Quantity::sm_l2) {
    return better.value > 0 && worse.value / better.value > (1 + dram_count_spread) / (1 - dram_count_spread);
  }
  const std::vector<Row> base{worse.row.value()};
  const std::vector<Row> other{better.row.value()};
  const std::array<std::string, 1> words{"problem"};
  const auto alignment = parse_alignment(words, table, base, other);
  if (!alignment.ok()) return false;
  const ComparisonResult result = compare(table, {.base = base, .other = other, .alignment = *alignment});
  return result.count(Verdict::faster) == 1;
}

}  // namespace attnscope::analysis
