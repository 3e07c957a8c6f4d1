// SPDX-License-Identifier: Apache-2.0
#include "storage/exchange/import_columns.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "profiler/metrics/metrics.h"
#include "profiler/plan/fields.h"
#include "profiler/plan/text.h"
#include "storage/exchange/column_names.h"
#include "storage/exchange/import_values.h"

namespace attnscope::exchange {
namespace {

/// Columns that can be imported, besides fields, knobs, metrics and point facts.
constexpr std::array<std::string_view, 21> known_columns{"kernel",
                                                         "disposition",
                                                         reason_column::words,
                                                         reason_column::code,
                                                         "provenance",
                                                         "throttled",
                                                         "samples",
                                                         "device",
                                                         "run",
                                                         "point",
                                                         "time_ns",
                                                         "metrics",
                                                         round_column::round,
                                                         round_column::samples,
                                                         "uid",
                                                         "simulated",
                                                         "planned_points",
                                                         "occupancy_limiter",
                                                         long_column::run_uid,
                                                         long_column::plan_index};
/// Returns our column for a name of the file; nullopt if it has no meaning.
std::optional<ScaledColumn> resolve(const std::string& name, bool is_long, const Registry& registry) {
  if (metric_of(name) != nullptr) return ScaledColumn{name};
  const bool known = is_known_column(name, registry);
  // A counter name may end in a unit; it is not a suffix then.
  if (!is_long && (!known || is_counter_name(name))) {
    if (auto scaled = parse_scaled_column(name, registry)) return scaled;
  }
  if (known) return ScaledColumn{name};
  return parse_synonym(name, registry);
}

/// Returns true for columns with the reason of a failed row, in files that also have a disposition.
bool is_note_name(std::string_view name) {
  const std::string low = lower_case(name);
  return low == "note" || low == "error" || low == "message" || low == "error_message";
}

/// Assigns columns in order of precedence: exact names, --map, synonyms. A target takes one column.
class ColumnPlanner {
 public:
  ColumnPlanner(std::span<const std::string> names, bool is_long, const ImportRequest& request, ColumnList& columns)
      : names_(names), is_long_(is_long), request_(request), columns_(columns), uses_(names.size()) {}

  std::vector<ColumnUse> plan() {
    for (std::size_t i = 0; i < names_.size(); ++i) take_exact(i);
    for (std::size_t i = 0; i < names_.size(); ++i) {
      const auto mapped = std::ranges::find(request_.map, names_[i], &ColumnMapping::column);
      if (!decided_.contains(i) && mapped != request_.map.end()) take_mapped(i, *mapped);
    }
    for (std::size_t i = 0; i < names_.size(); ++i) {
      if (decided_.contains(i)) continue;
      auto ours = resolved(names_[i]);
      if (!ours && taken_.contains("disposition") && is_note_name(names_[i])) {
        ours = ScaledColumn{std::string(reason_column::words)};
      }
      take(i, std::move(ours));
    }
    return std::move(uses_);
  }

 private:
  [[nodiscard]] std::optional<ScaledColumn> resolved(const std::string& name) const {
    return resolve(name, is_long_, *request_.registry);
  }

  void take_exact(std::size_t i) {
    const std::string& name = names_[i];
    if (std::ranges::count(request_.ignore, name) > 0) {
      decided_.insert(i);
      uses_[i].kind = ColumnUse::Kind::ignored;
      columns_[name].left_out = "ignored on request";
      return;
    }
    if (std::ranges::count(request_.map, name, &ColumnMapping::column) > 0) return;
    const bool value = is_long_ && is_long_value_column(name);
    const auto ours = value ? ScaledColumn{name} : resolved(name);
    if (!ours || ours->name != name || ours->scale != 1 || !ours->skipped.empty()) return;
    decided_.insert(i);
    uses_[i].column = {name};
    taken_.insert(name);
    if (value) columns_[name].becomes = name;
  }

  void take_mapped(std::size_t i, const ColumnMapping& mapping) {
    auto ours = resolved(mapping.field);
    if (!ours || !ours->skipped.empty()) {
      fail(make_message("--map {}={}: '{}' is not a field, knob, metric or counter (see `attnscope help axes`)",
                        mapping.column, mapping.field, mapping.field));
    }
    const bool is_given = std::ranges::count(request_.given, ours->name, &GivenField::field) > 0;
    if (ours->name == field_name::algorithm && (taken_.contains(ours->name) || is_given)) {
      decided_.insert(i);
      uses_[i].kind = ColumnUse::Kind::algorithm;
      columns_[names_[i]].becomes = field_name::algorithm;
    } else if (taken_.contains(ours->name)) {
      fail(make_message("--map {}={}: the file has another column for {} (ignore that one with --ignore)",
                        mapping.column, mapping.field, ours->name));
    } else {
      take(i, std::move(ours));
    }
  }

  void take(std::size_t i, std::optional<ScaledColumn> ours) {
    decided_.insert(i);
    ColumnUse& use = uses_[i];
    if (ours && !ours->skipped.empty()) {
      use.kind = ColumnUse::Kind::skipped;
      columns_[names_[i]].left_out = ours->skipped;
    } else if (ours && taken_.insert(ours->name).second) {
      columns_.map_column(names_[i], use.column = *ours);
    } else {
      use.kind = ColumnUse::Kind::unknown;
    }
  }

  std::span<const std::string> names_;
  bool is_long_;
  const ImportRequest& request_;
  ColumnList& columns_;
  std::vector<ColumnUse> uses_;
  std::set<std::size_t> decided_;
  std::set<std::string> taken_;  ///< targets
};

}  // namespace

bool is_known_column(std::string_view name, const Registry& registry) {
  return std::ranges::find(known_columns, name) != known_columns.end() || find_field(name) != nullptr ||
         std::ranges::count(field_pairs(), name, &FieldPair::name) > 0 || registry.find_knob(name) != nullptr ||
         find_point_fact(name) != nullptr || metric_of(name) != nullptr || is_counter_name(name);
}

std::optional<ScaledColumn> parse_scaled_column(std::string_view name, const Registry& registry) {
  const bool bracket = name.ends_with(']') || name.ends_with(')');
  const std::size_t at = name.find_last_of(bracket ? "[(" : "_");
  if (at == std::string_view::npos || at == 0) return std::nullopt;
  std::string_view unit = name.substr(at + 1);
  if (bracket) unit.remove_suffix(1);
  std::string stem(name.substr(0, at));
  stem.erase(stem.find_last_not_of(' ') + 1);
  const auto [base, scale] = base_unit(unit);
  if (stem.ends_with("_" + base)) return std::nullopt;  // ambiguous: the name ends in the base unit, too
  const Metric* metric = metric_of(stem);
  if (metric != nullptr && metric->unit == base && metric->scale == 1)
    return ScaledColumn{stem, std::string(unit), scale};
  if (base == "ns" && stem == time_columns.back()) return ScaledColumn{stem, std::string(unit), scale};
  if (stem == "duration" || stem == "latency") stem = "time";
  stem += "_ns";
  if (base != "ns" || is_counter_name(stem) || !is_known_column(stem, registry)) return std::nullopt;
  return ScaledColumn{std::move(stem), std::string(unit), scale};
}

bool is_recognized_column(const std::string& name, const Registry& registry) {
  return resolve(name, false, registry).has_value();
}

std::string shorten_example(std::string_view text) {
  return printable(shortened(text));
}

ImportedColumn& ColumnList::operator[](std::string_view name) {
  constexpr std::size_t most = 4096;
  if (const auto known = place_.find(name); known != place_.end()) return columns_[known->second];
  if (columns_.size() == most) return overflow_ = {};
  place_.emplace(name, columns_.size());
  return columns_.emplace_back(ImportedColumn{.name = std::string(name)});
}

void ColumnList::map_column(std::string_view name, const ScaledColumn& ours) {
  (*this)[name].unit = ours.unit;
  read_as_.emplace(name, ours.name);
}

void ColumnList::describe(ImportedColumn& column, const Registry& registry) const {
  const auto becomes = [&](std::string_view key, const Message& title, std::string_view unit = {}) {
    column.becomes = key;
    column.title = text(title);
    column.kept_in = unit;
  };
  const auto as = read_as_.find(column.name);
  const std::string_view name = as == read_as_.end() ? column.name : as->second;
  const auto wide = std::ranges::find(field_pairs(), name, &FieldPair::name);
  const bool time = name == round_column::samples || name == time_column::mean ||
                    std::ranges::find(time_columns, name) != time_columns.end();
  const bool shared = name.starts_with("launch__shared_mem_per_block_");
  const Metric* metric = time     ? find_metric(metric_key::time_median_ns)
                         : shared ? find_metric(metric_key::shared_bytes)
                                  : metric_of(name);
  if (const Field* field = find_field(name)) {
    becomes(name, field->label ? field->label() : Message());
  } else if (wide != field_pairs().end()) {
    becomes(fmt::format("{}, {}", wide->first, wide->second), {});
    if (!kept_.contains(name))
      column.left_out = make_message("replaced by columns {} and {}", wide->first, wide->second);
  } else if (name == time_column::deviation) {
    becomes(fmt::format("{}, {}", metric_key::time_q1_ns, metric_key::time_q3_ns), {}, "ns");
  } else if (const PointFact* fact = find_point_fact(name)) {
    becomes(name, fact->label(), fact->unit);
  } else if (metric != nullptr) {
    becomes(metric->key, Message::verbatim(metric_title(metric->key)), metric->unit);
    if (!time && !shared && !kept_.contains(metric->key)) column.left_out = "derived from other columns";
  } else if (is_counter_name(name)) {
    becomes(name, {}, column.unit.empty() ? "1" : base_unit(column.unit).first);
  } else if (is_known_column(name, registry)) {
    becomes(name, {});
  } else {
    column.left_out = "not a field, knob, metric or counter";
  }
}

std::vector<ImportedColumn> ColumnList::take(const Registry& registry) {
  for (ImportedColumn& column : columns_) {
    if (column.becomes.empty() && column.left_out.empty()) describe(column, registry);
    if (column.example.empty()) column.left_out = "no values";
    if (!column.left_out.empty()) column.becomes = column.title = column.kept_in = {};
  }
  return std::move(columns_);
}

bool is_long_value_column(std::string_view column) {
  return std::ranges::find(long_column::value_columns, column) != long_column::value_columns.end();
}

ColumnPlan plan_columns(std::vector<std::string> names, bool is_long, const ImportRequest& request,
                        ColumnList& columns) {
  std::vector<ColumnUse> uses = ColumnPlanner(names, is_long, request, columns).plan();
  ColumnPlan plan{.names = std::move(names), .uses = std::move(uses), .file_columns = {}};
  for (std::size_t i = 0; i < plan.names.size(); ++i) {
    const ColumnUse& use = plan.uses[i];
    const bool is_read = use.kind == ColumnUse::Kind::read && use.column.name != plan.names[i];
    if (is_read) plan.file_columns[use.column.name] = plan.names[i];
  }
  return plan;
}

std::vector<std::string> missing_fields(const std::function<bool(std::string_view)>& has) {
  std::vector<std::string> missing;
  for (const Field& field : point_fields()) {
    if (!field.fallback.empty() || field.optional_in_imports || field.role == FieldRole::tile) continue;
    const FieldPair* pair = field_pair_of(field.name);
    if (has(field.name) || (pair != nullptr && has(pair->name))) continue;
    const bool both = pair != nullptr && !has(pair->first == field.name ? pair->second : pair->first);
    std::string name(both ? pair->name : field.name);
    if (missing.empty() || missing.back() != name) missing.push_back(std::move(name));
  }
  return missing;
}

Message missing_fields_message(std::span<const std::string> missing, bool columns) {
  std::vector<std::string> options;
  for (const std::string& name : missing) {
    options.push_back(name == field_name::algorithm ? "--algorithm NAME" : fmt::format("-a {}=VALUE", name));
  }
  return make_message("missing {} ({}give {})", fmt::join(missing, ", "),
                      columns ? "rename a column with --map COLUMN=FIELD, or " : "", fmt::join(options, " "));
}

}  // namespace attnscope::exchange
