// SPDX-License-Identifier: Apache-2.0
#include "profiler/compare/compared_values.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "profiler/points/facets.h"

namespace attnscope::analysis {
namespace {

/// Whether a counter's value came of a GPU, whoever ran it: only there two counts differ.
bool counted_on_gpu(Provenance provenance) {
  return provenance == Provenance::measured || provenance == Provenance::derived || provenance == Provenance::imported;
}

/// What a ratio is: imported if a part is, else extrapolated, else simulated.
Provenance of_ratio(Provenance a, Provenance b) {
  if (a == Provenance::modelled && b == Provenance::modelled) return Provenance::modelled;
  for (const Provenance foreign : {Provenance::imported, Provenance::extrapolated, Provenance::simulated}) {
    if (a == foreign || b == foreign) return foreign;
  }
  return Provenance::derived;
}

/// Metrics that are ratios themselves, and are 1 where two counts of the same bytes agree.
bool is_ratio(std::string_view metric) {
  return metric == metric_key::l2_sm_over_model || metric == metric_key::dram_over_compulsory;
}

/// Equal for points that were asked for the same, wherever and whenever.
std::vector<std::uint64_t> configurations_of(const PointTable& table) {
  std::vector<FacetPtr> facets = map_facets(table.algorithms(), table_fields(table));
  std::erase_if(facets, [](const FacetPtr& facet) { return facet->key == device_facet_key; });
  facets.push_back(tile_facet());
  return combined_codes(table, facets);
}

}  // namespace

std::string_view to_string(Comparison comparison) {
  switch (comparison) {
    case Comparison::none:
      return "value";
    case Comparison::share_of_best:
      return "best";
    case Comparison::over_model:
      return "model";
    case Comparison::over_simulated:
      return "simulated";
    case Comparison::over_run:
      return "run";
  }
  return {};
}

bool Quantified::around_one() const {
  if (as == Comparison::none) return is_ratio(metric);
  return as != Comparison::share_of_best;
}

bool has_values(Disposition disposition) {
  return disposition == Disposition::ok || disposition == Disposition::no_counters;
}

ComparedValues::ComparedValues(const PointTable& table, Quantified shown)
    : table_(table),
      shown_(std::move(shown)),
      metric_(find_metric(shown_.metric)),
      values_(table.values(shown_.metric)),
      times_(table.values(metric_key::time_median_ns)),
      first_quartiles_(table.values(metric_key::time_q1_ns)),
      third_quartiles_(table.values(metric_key::time_q3_ns)),
      modelled_(table) {}

std::optional<Compared> ComparedValues::plain(Row row) const {
  if (!has_values(table_.disposition(row)) || !values_.has(row)) return std::nullopt;
  const double value = values_.value(row);
  Compared own{.value = value, .low = value, .high = value, .provenance = values_.provenance(row)};
  if (table_.points().rounds(row) > 1) {
    if (const auto scatter = quartiles_over_rounds(shown_.metric, *table_.points().sum(row))) {
      own.low = scatter->q1;
      own.high = scatter->q3;
      return own;
    }
  }
  if (metric_ != nullptr && metric_->count_spread > 0 && counted_on_gpu(own.provenance)) {
    const double half = metric_->count_spread / 2 * value;
    own.low = value - half;
    own.high = value + half;
    return own;
  }
  const auto time = times_.at(row);
  if (metric_ == nullptr || !time || !first_quartiles_.has(row) || !third_quartiles_.has(row)) return own;
  if (const auto scatter =
          quartiles(*metric_, value, *time, {first_quartiles_.value(row), third_quartiles_.value(row)})) {
    own.low = scatter->q1;
    own.high = scatter->q3;
  }
  return own;
}

void ComparedValues::find_references() {
  configurations_ = configurations_of(table_);
  references_.emplace();
  for (Row row = 0; row < table_.size(); ++row) {
    if (table_.run_index(row) != shown_.run || !plain(row)) continue;
    references_->insert_or_assign(key_of(row), row);  // the last one measured
  }
}

ComparedValues::Key ComparedValues::key_of(Row row) const {
  const bool of_device = shown_.as == Comparison::over_simulated;
  return {configurations_[row], of_device ? std::string_view(table_.run(row).device_name) : std::string_view()};
}

std::optional<Compared> ComparedValues::reference_of(Row row) {
  if (shown_.as == Comparison::over_model) {
    const auto value = modelled_.at(row, shown_.metric);
    if (!value) return std::nullopt;
    return Compared{.value = *value, .low = *value, .high = *value, .provenance = Provenance::modelled};
  }
  if (!references_) find_references();
  const auto found = references_->find(key_of(row));
  return found == references_->end() ? std::nullopt : plain(found->second);
}

std::optional<Compared> ComparedValues::at(Row row) {
  std::optional<Compared> own = plain(row);
  if (!own || shown_.as == Comparison::none || shown_.as == Comparison::share_of_best) return own;
  const std::optional<Compared> other = reference_of(row);
  // A ratio needs two amounts; a write-back may come out as nothing, or less.
  if (!other || own->value <= 0 || other->low <= 0) return std::nullopt;
  return Compared{.value = own->value / other->value,
                  .low = own->low / other->high,
                  .high = own->high / other->low,
                  .provenance = of_ratio(own->provenance, other->provenance),
                  .over = other->value};
}

Counterparts counterparts_of(const PointTable& table, std::span<const Row> rows) {
  Counterparts found;
  if (rows.empty()) return found;
  const std::vector<std::uint64_t> configurations = configurations_of(table);
  std::set<std::uint64_t> known;
  std::set<std::pair<std::uint64_t, std::string_view>> of_device;
  std::set<RunIndex> own;
  for (const Row row : rows) {
    known.insert(configurations[row]);
    own.insert(table.run_index(row));
    const Run& run = table.run(row);
    if (!is_simulated(run.provenance)) of_device.emplace(configurations[row], run.device_name);
  }
  std::set<RunIndex> others;
  for (Row row = 0; row < table.size(); ++row) {
    if (!known.contains(configurations[row]) || !has_values(table.disposition(row))) continue;
    const RunIndex run = table.run_index(row);
    if (own.size() > 1 || !own.contains(run)) others.insert(run);
    const Run& of = table.runs()[run];
    if (!is_simulated(of.provenance) || !of_device.contains({configurations[row], of.device_name})) continue;
    if (!found.simulated || newer(table, run, *found.simulated)) found.simulated = run;
  }
  found.runs.assign(others.begin(), others.end());
  return found;
}

}  // namespace attnscope::analysis
