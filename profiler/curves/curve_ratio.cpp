// SPDX-License-Identifier: Apache-2.0
#include "profiler/curves/curve_ratio.h"

#include <array>
#include <string>
#include <vector>

#include "profiler/compare/comparison.h"
#include "profiler/metrics/metrics.h"

namespace attnscope::analysis {

bool told_apart(const PointTable& table, const CurvePoint& worse, const CurvePoint& better, Quantity quantity) {
  if (quantity == Quantity::dram || quantity == Quantity::sm_l2) {
    return better.value > 0 && worse.value / better.value > (1 + dram_count_spread) / (1 - dram_count_spread);
  }
  const std::vector<Row> base{worse.row.value()};
  const std::vector<Row> other{better.row.value()};
  const std::array<std::string, 1> words{"problem"};
  const auto alignment = alignment_of(words, table, base, other);
  if (!alignment.ok()) return false;
  const ComparisonResult result = compare(
      table, {.base = base, .other = other, .alignment = *alignment, .margin = {}, .verdicts = {}, .conditions = {}});
  return result.count(Verdict::faster) == 1;
}

}  // namespace attnscope::analysis
