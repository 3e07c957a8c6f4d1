// SPDX-License-Identifier: Apache-2.0
#include "profiler/analysis/unit_use.h"

#include <algorithm>
#include <array>

#include "messages/bound.h"
#include "profiler/metrics/model_metrics.h"

namespace attnscope::analysis {
namespace {

/// Those with a value, the largest first; of equal ones the first in the table.
template <class Wanted>
std::vector<UnitUse> by_value(const Wanted& wanted, const PointRecord& point, std::string_view kernel) {
  std::vector<UnitUse> values;
  for (const Metric& metric : metrics_table()) {
    if (!wanted(metric)) continue;
    const auto value = evaluate(metric.key, point, kernel);
    if (value) values.push_back({&metric, value->value, value->provenance});
  }
  std::ranges::stable_sort(values, std::ranges::greater(), &UnitUse::value);
  return values;
}

std::vector<UnitUse> by_value(Why why, const PointRecord& point, std::string_view kernel) {
  return by_value([why](const Metric& metric) { return metric.why == why; }, point, kernel);
}

/// A term of the model, and a unit whose counter shows it; the first of a term gives it its name.
struct ShownBy {
  std::string_view term;
  std::string_view use;
};
constexpr std::array shown_by{
    ShownBy{"time_tensor_ns", "use_tensor_pct"}, ShownBy{"time_exponential_ns", "use_xu_pct"},
    ShownBy{"time_fp32_ns", "use_fma_pct"},      ShownBy{"time_fp32_ns", "use_alu_pct"},
    ShownBy{"time_shared_ns", "use_shared_pct"}, ShownBy{"time_l2_port_ns", "use_l2_to_sm_pct"},
    ShownBy{"time_l2_ns", "use_l2_pct"},         ShownBy{"time_l2_ns", "use_l2_to_sm_pct"},
    ShownBy{"time_dram_ns", "use_dram_pct"},
};

Message name_of(const Metric& term) {
  const auto* unit = std::ranges::find(shown_by, term.key, &ShownBy::term);
  if (unit != shown_by.end()) return find_metric(unit->use)->label();
  return term.key == "time_launch_ns" ? Message(say::bound::launch{}) : Message(say::bound::latency{});
}

bool stands_for_a_unit(const Metric& term) {
  return std::ranges::find(shown_by, term.key, &ShownBy::term) != shown_by.end();
}

}  // namespace

bool uses_are_of_kernel(const PointRecord& point, std::string_view kernel) {
  const KernelRecord* record = point.kernel(kernel);
  if (record == nullptr) return false;
  if (point.provenance == Provenance::imported) return true;
  constexpr std::array scales{metric_key::sm_cycles, metric_key::sm_active_cycles, metric_key::counted_range_ns};
  return !record->samples_ns.empty() &&
         std::ranges::all_of(scales, [&](std::string_view key) { return record->metric(key).has_value(); });
}

std::vector<UnitUse> time_terms(const PointRecord& point, std::string_view kernel) {
  std::vector<UnitUse> terms = by_value([](const Metric& metric) { return metric.time_term; }, point, kernel);
  std::erase_if(terms, [](const UnitUse& term) { return !(term.value > 0); });
  return terms;
}

std::optional<PredictedBound> predicted_bound(const PointRecord& point, std::string_view kernel) {
  const std::vector<UnitUse> terms = time_terms(point, kernel);
  if (terms.empty()) return std::nullopt;
  return PredictedBound{.term = terms.front(),
                        .name = name_of(*terms.front().metric),
                        .factor = terms.size() > 1 ? terms[0].value / terms[1].value : 1};
}

std::optional<BoundComparison> compare_bounds(const PointRecord& point, std::string_view kernel) {
  const auto predicted = predicted_bound(point, kernel);
  const auto measured = named_bound(point, kernel);
  if (!predicted || !measured) return std::nullopt;
  const Metric& term = *predicted->term.metric;
  const bool same = std::ranges::any_of(
      shown_by, [&](const ShownBy& each) { return each.term == term.key && each.use == measured->metric->key; });
  return BoundComparison{.predicted = *predicted,
                         .measured = *measured,
                         .agree = stands_for_a_unit(term) ? same : measured->value < busy_pct};
}

std::optional<UnitUse> use_beside(TimeTerm term, const PointRecord& point, std::string_view kernel) {
  const std::string_view key = metric_of(term).key;
  for (const UnitUse& use : unit_uses(point, kernel)) {
    const bool shows = std::ranges::any_of(
        shown_by, [&](const ShownBy& each) { return each.term == key && each.use == use.metric->key; });
    if (shows) return use;
  }
  return std::nullopt;
}

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
