// SPDX-License-Identifier: Apache-2.0
#include "storage/exchange/import_columns.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "profiler/metrics/metrics.h"
#include "profiler/plan/fields.h"
#include "profiler/plan/text.h"
#include "storage/exchange/column_names.h"
#include "storage/exchange/import_spread.h"
#include "storage/exchange/import_values.h"

namespace attnscope::exchange {
namespace {

/// Columns that can be imported, besides fields, knobs, metrics and point facts.
constexpr std::array<std::string_view, 24> known_columns{"kernel",
                                                         "disposition",
                                                         "throttled",
                                                         "samples",
                                                         "device",
                                                         "run",
                                                         "point",
                                                         "time_ns",
                                                         "metrics",
                                                         "uid",
                                                         "simulated",
                                                         "planned_points",
                                                         "occupancy_limiter",
                                                         "provenance",
                                                         reason_column::words,
                                                         reason_column::code,
                                                         round_column::round,
                                                         round_column::samples,
                                                         long_column::run_uid,
                                                         long_column::plan_index,
                                                         partial_column::window,
                                                         partial_column::window_left,
                                                         partial_column::window_right,
                                                         partial_column::group};

/// Returns our column for a name of the file; nullopt if it has no meaning.
std::optional<ScaledColumn> resolve(const std::string& name, bool is_long, const Registry& registry) {
  if (metric_of(name) != nullptr) return ScaledColumn{name};
  const bool known = is_known_column(name, registry);
  // A counter name may end in a unit; it is not a suffix then.
  if (!is_long && (!known || is_counter_name(name))) {
    if (auto scaled = parse_scaled_column(name)) return scaled;
  }
  if (known) return ScaledColumn{name};
  return parse_synonym(name, registry);
}

/// Returns true for columns with the reason of a failed row, in files that also have a disposition.
bool is_note_name(std::string_view name) {
  const std::string low = lower_case(name);
  return low == "note" || low == "error" || low == "message" || low == "error_message";
}

}  // namespace

bool is_time_column(std::string_view name) {
  const Metric* metric = metric_of(name);
  return name == round_column::samples || name == time_column::mean || spread_unit(name) == "ns" ||
         std::ranges::find(time_columns, name) != time_columns.end() || (metric != nullptr && metric->unit == "ns");
}

bool is_measured(std::string_view name) {
  return is_time_column(name) || !spread_unit(name).empty() || metric_of(name) != nullptr || is_counter_name(name);
}

namespace {

bool is_number_column(std::string_view name, const Registry& registry) {
  const Field* field = find_field(name);
  const Knob* knob = registry.find_knob(name);
  if (field != nullptr) return field->type == FieldType::integer || field->type == FieldType::real;
  if (knob != nullptr) return knob->words.empty();
  return is_measured(name) || std::ranges::count(field_pairs(), name, &FieldPair::name) > 0 ||
         find_point_fact(name) != nullptr || name == partial_column::group || name == round_column::round;
}

/// Returns true for columns that state what follows from the problem.
bool is_derived(std::string_view name) {
  return name == partial_column::tokens || name == partial_column::hidden || name == partial_column::d_v;
}

/// Returns true for numbers of the problem. Another column with the same one is compared with it.
bool is_problem_number(std::string_view name) {
  const Field* field = find_field(name);
  return (field != nullptr && field->type == FieldType::integer) ||
         std::ranges::count(field_pairs(), name, &FieldPair::name) > 0;
}

/// Assigns columns in order of precedence: exact names, --map, synonyms, columns without a unit in their heading. A
/// target takes one column, or one per provider and pass.
class ColumnPlanner {
 public:
  ColumnPlanner(ColumnPlan& plan, std::span<const std::string> cells, bool is_long, const ImportRequest& request,
                ColumnList& columns)
      : plan_(plan), cells_(cells), is_long_(is_long), request_(request), columns_(columns) {
    plan.uses.resize(plan.names.size());
  }

  void plan() {
    const auto each = [&](const auto& take) {
      for (std::size_t i = 0; i < plan_.names.size(); ++i) {
        if (!decided_.contains(i)) take(i);
      }
    };
    each([&](std::size_t i) { take_exact(i); });
    each([&](std::size_t i) { take_mapped(i); });
    std::map<std::size_t, ScaledColumn> found;
    each([&](std::size_t i) {
      if (auto ours = resolved(i)) found.emplace(i, std::move(*ours));
    });
    const auto fields_first = [&](bool field, bool unit_in_cells) {
      each([&](std::size_t i) {
        const auto ours = found.find(i);
        if (ours == found.end() || ours->second.unit_in_cells != unit_in_cells || ours->second.of_time) return;
        if (field != is_measured(ours->second.name)) take(i, ours->second);
      });
    };
    fields_first(true, false);
    each([&](std::size_t i) {
      const bool note = taken_.contains({"disposition", {}, {}}) && is_note_name(plan_.names[i]);
      if (note) take(i, ScaledColumn{std::string(reason_column::words)});
    });
    has_algorithm_ = has_algorithm();
    fields_first(false, false);
    fields_first(false, true);
    each([&](std::size_t i) {
      if (const auto ours = found.find(i); ours != found.end() && ours->second.of_time) take_spread(i, ours->second);
    });
    each([&](std::size_t i) { plan_.uses[i].kind = ColumnUse::Kind::unknown; });
    skip_single_bounds();
    assign_groups();
  }

 private:
  using Kind = ColumnUse::Kind;
  using Target = std::tuple<std::string, std::string, std::string>;  ///< column, provider, pass

  [[nodiscard]] bool has_algorithm() const {
    const auto appended = [](const ColumnUse& use) { return use.kind == Kind::algorithm; };
    return request_.gives(field_name::algorithm) || taken_.contains({std::string(field_name::algorithm), {}, {}}) ||
           std::ranges::any_of(plan_.uses, appended);
  }

  /// Returns our column for a name; for a name without a meaning and cells such as "1.2 ms", a provider's time.
  [[nodiscard]] std::optional<ScaledColumn> resolved(std::size_t i) const {
    const std::string& name = plan_.names[i];
    if (auto ours = resolve(name, is_long_, *request_.registry)) return ours;
    if (is_long_ || i >= cells_.size()) return std::nullopt;
    const auto cell = parse_cell(cells_[i], plan_.decimal_comma);
    const bool timed = cell && cell->unit && cell->unit->base == "ns";
    const bool rate = cell && cell->unit && cell->unit->base == "Tflop/s";
    if (!timed && !rate) return std::nullopt;
    return ScaledColumn{
        .name = std::string(timed ? time_column::time : metric_key::tflops), .unit_in_cells = true, .provider = name};
  }

  void take_exact(std::size_t i) {
    const std::string& name = plan_.names[i];
    if (std::ranges::count(request_.ignore, name) > 0) {
      decided_.insert(i);
      plan_.uses[i].kind = Kind::ignored;
      columns_[name].left_out = "ignored on request";
      return;
    }
    if (request_.maps(name)) return;
    const bool value = is_long_ && is_long_value_column(name);
    const auto ours = value ? ScaledColumn{name} : resolve(name, is_long_, *request_.registry);
    if (!ours || ours->name != name || ours->scale != 1 || !ours->skipped.empty()) return;
    if (!ours->provider.empty() || ours->unit_in_cells || is_derived(name)) return;
    read(i, *ours);
    taken_.insert({name, {}, {}});
    if (value) columns_[name].becomes = name;
  }

  void take_mapped(std::size_t i) {
    const auto found = std::ranges::find(request_.map, plan_.names[i], &ColumnMapping::column);
    if (found == request_.map.end()) return;
    const ColumnMapping& mapping = *found;
    auto ours = resolve(mapping.field, is_long_, *request_.registry);
    if (!ours || !ours->skipped.empty() || !ours->provider.empty()) {
      fail(make_message("--map {}={}: '{}' is not a field, knob, metric or counter (see `attnscope help axes`)",
                        mapping.column, mapping.field, mapping.field));
    }
    if (ours->of_time && ours->unit.empty() && spread_unit(ours->name) != "1") {
      fail(make_message("--map {}={}: a spread needs its unit, such as {}_ms", mapping.column, mapping.field,
                        mapping.field));
    }
    // Several columns mapped to one time or rate are those of providers.
    const auto same = [&](const ColumnMapping& other) { return other.field == mapping.field; };
    if (is_measured(ours->name) && std::ranges::count_if(request_.map, same) > 1) ours->provider = plan_.names[i];
    if (ours->name == field_name::algorithm && (taken_.contains(target(*ours)) || request_.gives(ours->name))) {
      decided_.insert(i);
      plan_.uses[i].kind = Kind::algorithm;
      columns_[plan_.names[i]].becomes = field_name::algorithm;
    } else if (taken_.contains(target(*ours))) {
      fail(make_message("--map {}={}: the file has another column for {} (ignore that one with --ignore)",
                        mapping.column, mapping.field, ours->name));
    } else {
      take(i, *ours);
    }
  }

  [[nodiscard]] static Target target(const ScaledColumn& ours) { return {ours.name, ours.provider, ours.pass}; }

  void read(std::size_t i, const ScaledColumn& ours) {
    decided_.insert(i);
    plan_.uses[i].column = ours;
    plan_.uses[i].is_number = is_number_column(ours.name, *request_.registry);
  }

  /// Leaves the column undecided if its target is taken.
  void take(std::size_t i, const ScaledColumn& ours) {
    ColumnUse& use = plan_.uses[i];
    const bool other_algorithm = !ours.provider.empty() && has_algorithm_;
    const bool other_pass = !ours.pass.empty() && (request_.gives("pass") || taken_.contains({"pass", {}, {}}));
    const bool other_row = is_long_ && (!ours.provider.empty() || !ours.pass.empty() || ours.unit_in_cells);
    const std::string& name = plan_.names[i];
    if (!ours.skipped.empty()) {
      decided_.insert(i);
      use.kind = Kind::skipped;
      columns_[name].left_out = ours.skipped;
    } else if (is_derived(ours.name) ||
               (is_problem_number(ours.name) && taken_.contains(target(ours)) && name.size() > 1)) {
      read(i, ours);
      use.kind = Kind::stated;
      columns_[name].left_out = "compared with the problem";
    } else if (!other_algorithm && !other_pass && !other_row && taken_.insert(target(ours)).second) {
      read(i, ours);
      columns_.map_column(name, ours);
    }
  }

  /// Takes the spread of the time, or rate, of the same provider and pass. Leaves it undecided if a provider has none.
  void take_spread(std::size_t i, ScaledColumn ours) {
    if (is_long_) {
      if (ours.name == metric_key::time_q1_ns) ours.name = long_column::q1;
      if (ours.name == metric_key::time_q3_ns) ours.name = long_column::q3;
      return take(i, ours);
    }
    constexpr std::array<std::string_view, 5> times{time_column::time, metric_key::time_median_ns, time_column::mean,
                                                    "gpu__time_duration.sum", metric_key::tflops};
    const auto column_of = [&](std::string_view name) {
      return std::ranges::find_if(plan_.uses, [&](const ColumnUse& use) {
        const ScaledColumn& column = use.column;
        return use.kind == Kind::read && column.name == name && column.provider == ours.provider &&
               column.pass == ours.pass;
      });
    };
    for (const std::string_view name : times) {
      const auto time = column_of(name);
      if (time == plan_.uses.end()) continue;
      const bool rate = name == metric_key::tflops;
      if (rate && ours.unit.empty() && !spread_of_rate(ours.name).empty()) ours.name = spread_of_rate(ours.name);
      if (spread_unit(ours.name) == "1" || !ours.unit.empty()) return take(i, ours);
      if (rate != (spread_unit(ours.name) == "Tflop/s")) continue;
      ours.unit = time->column.unit;
      ours.scale = time->column.scale;
      ours.unit_in_cells = time->column.unit_in_cells;
      return take(i, ours);
    }
    if (!ours.provider.empty()) return;
    ours.skipped = "no time to which it belongs";
    take(i, ours);
  }

  /// Skips quantiles without their opposite.
  void skip_single_bounds() {
    for (std::size_t i = 0; i < plan_.uses.size(); ++i) {
      ColumnUse& use = plan_.uses[i];
      const std::string_view opposite = use.kind == Kind::read ? opposite_bound(use.column.name) : "";
      if (opposite.empty() || taken_.contains({std::string(opposite), use.column.provider, use.column.pass})) continue;
      use = {.kind = Kind::skipped};
      columns_[plan_.names[i]].left_out = "no metric holds this time";
    }
  }

  /// Values that belong to no provider or pass while others do are unknown.
  void assign_groups() {
    for (ColumnUse& use : plan_.uses) {
      const ScaledColumn& column = use.column;
      if (use.kind != Kind::read || (column.provider.empty() && column.pass.empty())) continue;
      const auto same = [&](const ColumnGroup& each) {
        return each.provider == column.provider && each.pass == column.pass;
      };
      auto found = std::ranges::find_if(plan_.groups, same);
      if (found == plan_.groups.end()) {
        found = plan_.groups.insert(found, ColumnGroup{.provider = column.provider, .pass = column.pass});
        if (!request_.gives("dtype") && !taken_.contains({"dtype", {}, {}})) found->dtype = dtype_in(column.provider);
      }
      use.group = static_cast<std::size_t>(found - plan_.groups.begin()) + 1;
    }
    if (plan_.groups.empty()) plan_.groups.emplace_back();
    const bool has_groups = !plan_.groups.front().provider.empty() || !plan_.groups.front().pass.empty();
    for (std::size_t i = 0; i < plan_.uses.size(); ++i) {
      ColumnUse& use = plan_.uses[i];
      if (use.kind != Kind::read) continue;
      const bool alone =
          use.group == 0 && (is_measured(use.column.name) || find_point_fact(use.column.name) != nullptr);
      if (has_groups && alone) use = {.kind = Kind::unknown};
      if (use.kind != Kind::read || use.column.name == plan_.names[i]) continue;
      for (std::size_t g = 0; g < plan_.groups.size(); ++g) {
        if (use.group == 0 || use.group == g + 1) plan_.groups[g].file_columns[use.column.name] = plan_.names[i];
      }
    }
  }

  ColumnPlan& plan_;
  std::span<const std::string> cells_;
  bool is_long_;
  const ImportRequest& request_;
  ColumnList& columns_;
  std::set<std::size_t> decided_;
  std::set<Target> taken_;
  bool has_algorithm_ = false;
};

}  // namespace

bool is_known_column(std::string_view name, const Registry& registry) {
  return std::ranges::find(known_columns, name) != known_columns.end() || find_field(name) != nullptr ||
         std::ranges::count(field_pairs(), name, &FieldPair::name) > 0 || registry.find_knob(name) != nullptr ||
         find_point_fact(name) != nullptr || metric_of(name) != nullptr || is_counter_name(name);
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
  const bool time = metric_of(name) == nullptr && is_time_column(name);
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
  } else if (name != metric_key::time_spread && !spread_unit(name).empty()) {
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

ColumnPlan plan_columns(std::vector<std::string> names, std::span<const std::string> cells, bool is_long,
                        bool decimal_comma, const ImportRequest& request, ColumnList& columns) {
  ColumnPlan plan{.names = std::move(names), .uses = {}, .groups = {}, .decimal_comma = decimal_comma};
  ColumnPlanner(plan, cells, is_long, request, columns).plan();
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
