// SPDX-License-Identifier: Apache-2.0
#include "profiler/metrics/combine.h"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <numeric>

#include "profiler/metrics/metrics.h"

namespace attnscope {

Combine combine_rule(std::string_view name, std::string_view unit) {
  if (const Metric* row = find_metric(name); row != nullptr && !row->counter.empty()) name = row->counter;
  const auto has_any = [&](std::initializer_list<std::string_view> parts) {
    return std::ranges::any_of(parts, [&](std::string_view part) { return name.find(part) != std::string_view::npos; });
  };
  constexpr std::array resources{metric_key::registers, metric_key::shared_bytes, metric_key::local_bytes};
  if (std::ranges::find(resources, name) != resources.end()) return Combine::maximum;
  const bool rate = unit == "percent" || unit.find('/') != std::string_view::npos;
  if (rate || has_any({".pct", ".ratio", ".max_rate", ".per_", ".peak_"})) return Combine::weighted_mean;
  if (unit == "byte" || unit == "cycle" || unit == "ns" || has_any({".sum"})) return Combine::sum;
  if (has_any({".max"})) return Combine::maximum;
  if (has_any({".min"})) return Combine::minimum;
  // An average over the SMs of something counted adds up over launches; of a number without a unit nobody can say.
  const bool counted = has_any({"__cycles_"}) || (unit != "1" && !unit.empty());
  return has_any({".avg"}) && counted ? Combine::sum : Combine::weighted_mean;
}

double combine(Combine rule, std::span<const double> values, std::span<const double> weights) {
  switch (rule) {
    case Combine::sum:
      return std::accumulate(values.begin(), values.end(), 0.0);
    case Combine::maximum:
      return *std::ranges::max_element(values);
    case Combine::minimum:
      return *std::ranges::min_element(values);
    case Combine::weighted_mean:
      break;
  }
  const double weight = std::accumulate(weights.begin(), weights.end(), 0.0);
  if (!(weight > 0)) return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
  return std::inner_product(values.begin(), values.end(), weights.begin(), 0.0) / weight;
}

}  // namespace attnscope
