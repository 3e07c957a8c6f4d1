// SPDX-License-Identifier: Apache-2.0
#include "profiler/analysis/unit_use.h"

#include <algorithm>

namespace attnscope::analysis {
namespace {

/// Those with a value, the largest first; of equal ones the first in the table.
std::vector<UnitUse> by_value(Why why, const PointRecord& point, std::string_view kernel) {
  std::vector<UnitUse> values;
  for (const Metric& metric : metrics_table()) {
    if (metric.why != why) continue;
    const auto value = evaluate(metric.key, point, kernel);
    if (value) values.push_back({&metric, value->value, value->provenance});
  }
  std::ranges::stable_sort(values, std::ranges::greater(), &UnitUse::value);
  return values;
}

}  // namespace

std::vector<UnitUse> unit_uses(const PointRecord& point, std::string_view kernel) {
  return by_value(Why::use, point, kernel);
}

std::optional<UnitUse> named_bound(const PointRecord& point, std::string_view kernel) {
  const std::vector<UnitUse> uses = unit_uses(point, kernel);
  return uses.empty() ? std::nullopt : std::optional(uses.front());
}

std::vector<UnitUse> longest_stalls(const PointRecord& point, std::string_view kernel, std::size_t most) {
  std::vector<UnitUse> stalls = by_value(Why::stall, point, kernel);
  std::erase_if(stalls, [](const UnitUse& stall) { return !(stall.value > 0); });
  if (stalls.size() > most) stalls.resize(most);
  return stalls;
}

}  // namespace attnscope::analysis
