// SPDX-License-Identifier: Apache-2.0
#include "profiler/compare/compared_values.h"

#include <array>
#include <utility>

namespace attnscope::analysis {
namespace {

/// Returns whether the counter was read on a GPU; only such counts vary between runs.
bool is_gpu_counter(Provenance provenance) {
  return provenance == Provenance::measured || provenance == Provenance::derived || provenance == Provenance::imported;
}

Provenance of_ratio(Provenance own) {
  return own == Provenance::measured ? Provenance::derived : own;
}

/// Returns whether the metric itself is a ratio of bytes that is 1 if both agree.
bool is_ratio(std::string_view metric) {
  return metric == metric_key::l2_sm_over_model || metric == metric_key::dram_over_compulsory;
}

}  // namespace

std::string_view to_string(Comparison comparison) {
  static constexpr std::array<std::string_view, 3> names{"value", "best", "model"};
  return names.at(static_cast<std::size_t>(comparison));
}

bool ValueSelection::is_centered_at_one() const {
  return as == Comparison::none ? is_ratio(metric) : as == Comparison::over_model;
}

bool has_values(Disposition disposition) {
  return disposition == Disposition::ok || disposition == Disposition::no_counters;
}

ComparedValues::ComparedValues(const PointTable& table, ValueSelection shown)
    : table_(table),
      shown_(std::move(shown)),
      metric_(find_metric(shown_.metric)),
      values_(table.values(shown_.metric)),
      times_(table.values(metric_key::time_median_ns)),
      first_quartiles_(table.values(metric_key::time_q1_ns)),
      third_quartiles_(table.values(metric_key::time_q3_ns)),
      modelled_(table) {}

std::optional<ComparedValue> ComparedValues::own_value(Row row) const {
  if (!has_values(table_.disposition(row)) || !values_.has(row)) return std::nullopt;
  const double value = values_.value(row);
  ComparedValue own{.value = value, .low = value, .high = value, .provenance = values_.provenance(row)};
  if (table_.points().rounds(row) > 1) {
    if (const auto scatter = quartiles_over_rounds(shown_.metric, *table_.points().sum(row))) {
      own.low = scatter->q1;
      own.high = scatter->q3;
      return own;
    }
  }
  if (metric_ != nullptr && metric_->count_spread > 0 && is_gpu_counter(own.provenance)) {
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

std::optional<ComparedValue> ComparedValues::at(Row row) {
  std::optional<ComparedValue> own = own_value(row);
  if (!own || shown_.as != Comparison::over_model) return own;
  const std::optional<double> model = modelled_.at(row, shown_.metric);
  // Write-back bytes may be zero or negative, so the ratio may be undefined.
  if (!model || own->value <= 0 || *model <= 0) return std::nullopt;
  return ComparedValue{.value = own->value / *model,
                       .low = own->low / *model,
                       .high = own->high / *model,
                       .provenance = of_ratio(own->provenance),
                       .over = *model};
}

}  // namespace attnscope::analysis
