// SPDX-License-Identifier: Apache-2.0
#include "storage/exchange/import_columns.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "kernels/registry.h"
#include "profiler/metrics/metrics.h"
#include "profiler/plan/text.h"
#include "storage/exchange/column_names.h"
#include "storage/exchange/import_text.h"

namespace attnscope::exchange {
namespace {

/// Columns that can be imported, besides fields, knobs, metrics and point facts.
constexpr std::string_view known_columns =
    "kernel disposition throttled samples device run point time_ns metrics uid simulated planned_points "
    "occupancy_limiter provenance reason reason_code round samples_ns run_uid plan_index window window_left "
    "window_right gqa_group head_dim_v";

/// Columns with the reason of a failed row, in files that also have a disposition.
constexpr std::string_view note_names = "note error message error_message";

bool is_number_column(std::string_view name) {
  const Field* field = find_field(name);
  const Knob* knob = known_algorithms().find_knob(name);
  if (field != nullptr) return field->type == FieldType::integer || field->type == FieldType::real;
  if (knob != nullptr) return knob->words.empty();
  return is_measured(name) || find_field_pair(name) != nullptr || find_point_fact(name) != nullptr ||
         name == partial_column::group || name == partial_column::d_v || name == round_column::round;
}

/// Assigns columns in order of precedence. A target takes one column, or one per provider and pass.
class ColumnPlanner {
 public:
  ColumnPlanner(ColumnPlan& plan, std::span<const std::string> cells, bool is_long, const ImportRequest& request,
                ColumnList& columns)
      : plan_(plan), cells_(cells), is_long_(is_long), request_(request), columns_(columns) {}

  void plan() {
    plan_.uses.resize(plan_.names.size());
    std::multimap<Precedence, std::pair<std::size_t, ScaledColumn>> candidates;
    for (std::size_t i = 0; i < plan_.names.size(); ++i) {
      auto [precedence, ours] = candidate(i);
      candidates.emplace(precedence, std::pair(i, std::move(ours)));
    }
    for (auto& [precedence, candidate] : candidates) {
      auto& [i, ours] = candidate;
      if (precedence == Precedence::mapped) {
        take_mapped(i);
      } else if (precedence == Precedence::spread) {
        take_spread(i, std::move(ours));
      } else if (precedence == Precedence::note) {
        if (is_taken("disposition")) take(i, ScaledColumn{std::string(reason_column::words)});
      } else if (precedence != Precedence::none) {
        take(i, ours);
      }
    }
    assign_groups();
  }

 private:
  using Kind = ColumnUse::Kind;
  using Target = std::tuple<std::string, std::string, std::string>;  ///< column, provider, pass
  enum class Precedence { exact, mapped, field, note, measured, without_unit, spread, none };

  [[nodiscard]] bool is_taken(std::string_view name) const { return taken_.contains({std::string(name), {}, {}}); }
  [[nodiscard]] static Target target(const ScaledColumn& ours) { return {ours.name, ours.provider, ours.pass}; }

  std::pair<Precedence, ScaledColumn> candidate(std::size_t i) {
    const std::string& name = plan_.names[i];
    if (std::ranges::count(request_.ignore, name) > 0) {
      plan_.uses[i].kind = Kind::ignored;
      columns_[name].left_out = "ignored on request";
      return {Precedence::none, {}};
    }
    if (request_.maps(name)) return {Precedence::mapped, {}};
    if (is_long_ && is_long_value_column(name)) {
      columns_[name].becomes = name;
      return {Precedence::exact, ScaledColumn{name}};
    }
    const auto ours = resolved(i);
    if (!ours) return {has_word(note_names, lower_case(name)) ? Precedence::note : Precedence::none, {}};
    const bool exact = ours->name == name && ours->scale == 1 && ours->skipped.empty() && ours->provider.empty() &&
                       !ours->unit_in_cells;
    return {exact                     ? Precedence::exact
            : ours->of_time           ? Precedence::spread
            : ours->unit_in_cells     ? Precedence::without_unit
            : is_measured(ours->name) ? Precedence::measured
                                      : Precedence::field,
            *ours};
  }

  /// Returns our column for a name; for a name without a meaning and cells such as "1.2 ms", a provider's time.
  [[nodiscard]] std::optional<ScaledColumn> resolved(std::size_t i) const {
    const std::string& name = plan_.names[i];
    if (auto ours = resolve(name)) return ours;
    const auto cell = !is_long_ && i < cells_.size() ? parse_cell(cells_[i]) : std::nullopt;
    if (!cell || !cell->unit) return std::nullopt;
    if (cell->unit->base != "ns" && cell->unit->base != "Tflop/s") return std::nullopt;
    return ScaledColumn{.name = std::string(cell->unit->base == "ns" ? time_column::time : metric_key::tflops),
                        .unit_in_cells = true,
                        .provider = name};
  }

  void take_mapped(std::size_t i) {
    const ColumnMapping& mapping = *std::ranges::find(request_.map, plan_.names[i], &ColumnMapping::column);
    const auto refuse = [&](Message why) { fail(make_message("--map {}={}: {}", mapping.column, mapping.field, why)); };
    auto ours = resolve(mapping.field);
    if (!ours || !ours->skipped.empty() || !ours->provider.empty()) {
      refuse(make_message("'{}' is not a field, knob, metric or counter (see `attnscope help axes`)", mapping.field));
    }
    if (ours->of_time && ours->unit.empty() && base_of(ours->name) != "1") {
      refuse(make_message("a spread needs its unit, such as {}_ms", mapping.field));
    }
    // Several columns mapped to one time or rate are those of providers.
    const auto mapped = std::ranges::count(request_.map, mapping.field, &ColumnMapping::field);
    if (is_measured(ours->name) && mapped > 1) ours->provider = plan_.names[i];
    const bool taken = taken_.contains(target(*ours));
    if (ours->name == field_name::algorithm && (taken || request_.gives(ours->name))) {
      plan_.uses[i].kind = Kind::algorithm;
      columns_[plan_.names[i]].becomes = field_name::algorithm;
    } else if (taken) {
      refuse(make_message("the file has another column for {} (ignore that one with --ignore)", ours->name));
    } else {
      take(i, *ours);
    }
  }

  [[nodiscard]] bool has_algorithm() const {
    return request_.gives(field_name::algorithm) || is_taken(field_name::algorithm) ||
           std::ranges::count(plan_.uses, Kind::algorithm, &ColumnUse::kind) > 0;
  }

  /// Leaves the column unknown if its target is taken.
  void take(std::size_t i, const ScaledColumn& ours) {
    ColumnUse& use = plan_.uses[i];
    const bool other_algorithm = !ours.provider.empty() && has_algorithm();
    const bool other_pass = !ours.pass.empty() && (request_.gives("pass") || is_taken("pass"));
    const bool other_row = is_long_ && (!ours.provider.empty() || !ours.pass.empty() || ours.unit_in_cells);
    const std::string& name = plan_.names[i];
    if (!ours.skipped.empty()) {
      use.kind = Kind::skipped;
      columns_[name].left_out = ours.skipped;
    } else if (!other_algorithm && !other_pass && !other_row && taken_.insert(target(ours)).second) {
      use = {.kind = Kind::read, .column = ours, .is_number = is_number_column(ours.name)};
      if (ours.name != name || !ours.unit.empty()) columns_.map_column(name, ours);
    }
  }

  /// Takes the spread of the time, or rate, of the same provider and pass. Leaves it unknown if a provider has none.
  void take_spread(std::size_t i, ScaledColumn ours) {
    if (is_long_) {
      if (ours.name == metric_key::time_q1_ns) ours.name = long_column::q1;
      if (ours.name == metric_key::time_q3_ns) ours.name = long_column::q3;
      return take(i, ours);
    }
    constexpr std::array<std::string_view, 5> times{time_column::time, metric_key::time_median_ns, time_column::mean,
                                                    "gpu__time_duration.sum", metric_key::tflops};
    for (const std::string_view name : times) {
      const auto time = std::ranges::find_if(plan_.uses, [&](const ColumnUse& use) {
        return use.kind == Kind::read && target(use.column) == Target{name, ours.provider, ours.pass};
      });
      if (time == plan_.uses.end()) continue;
      const bool states_unit = base_of(ours.name) == "1" || !ours.unit.empty();
      const bool rate = name == metric_key::tflops && !states_unit;
      if (rate && spread_in(ours.name) == nullptr) continue;
      if (rate) ours.name = std::string(rate_spread) + ours.name;
      if (!states_unit) {
        ours.unit = time->column.unit;
        ours.scale = time->column.scale;
        ours.unit_in_cells = time->column.unit_in_cells;
      }
      return take(i, ours);
    }
    if (!ours.provider.empty()) return;
    ours.skipped = "no time to which it belongs";
    take(i, ours);
  }

  /// Values that belong to no provider or pass while others do are unknown.
  void assign_groups() {
    for (ColumnUse& use : plan_.uses) {
      const ScaledColumn& column = use.column;
      if (use.kind != Kind::read || (column.provider.empty() && column.pass.empty())) continue;
      auto found = std::ranges::find_if(plan_.groups, [&](const ColumnGroup& each) {
        return each.provider == column.provider && each.pass == column.pass;
      });
      if (found == plan_.groups.end()) {
        found = plan_.groups.insert(found, ColumnGroup{.provider = column.provider, .pass = column.pass});
        if (!request_.gives("dtype") && !is_taken("dtype")) found->dtype = dtype_in(column.provider);
      }
      use.group = static_cast<std::size_t>(found - plan_.groups.begin()) + 1;
    }
    const bool has_groups = !plan_.groups.empty();
    if (!has_groups) plan_.groups.emplace_back();
    for (std::size_t i = 0; i < plan_.uses.size(); ++i) {
      ColumnUse& use = plan_.uses[i];
      const std::string& ours = use.column.name;
      if (use.kind == Kind::read && has_groups && use.group == 0 &&
          (is_measured(ours) || find_point_fact(ours) != nullptr)) {
        use.kind = Kind::unknown;
      }
      if (use.kind != Kind::read || ours == plan_.names[i]) continue;
      for (std::size_t g = 0; g < plan_.groups.size(); ++g) {
        if (use.group == 0 || use.group == g + 1) plan_.groups[g].file_columns[ours] = plan_.names[i];
      }
    }
  }

  ColumnPlan& plan_;
  std::span<const std::string> cells_;
  bool is_long_;
  const ImportRequest& request_;
  ColumnList& columns_;
  std::set<Target> taken_;
};

}  // namespace

bool is_known_column(std::string_view name) {
  return has_word(known_columns, name) || find_field(name) != nullptr || find_field_pair(name) != nullptr ||
         known_algorithms().find_knob(name) != nullptr || find_point_fact(name) != nullptr ||
         metric_of(name) != nullptr || is_counter_name(name);
}

const FieldPair* find_field_pair(std::string_view name) {
  const auto found = std::ranges::find(field_pairs(), name, &FieldPair::name);
  return found == field_pairs().end() ? nullptr : &*found;
}

std::string_view base_of(std::string_view name) {
  if (spread_in(name) != nullptr) {
    return name.starts_with(relative_spread) ? "1" : name.starts_with(rate_spread) ? "Tflop/s" : "ns";
  }
  const bool time = name == round_column::samples || name == time_column::mean ||
                    std::ranges::find(time_columns, name) != time_columns.end();
  if (time) return "ns";
  const Metric* metric = metric_of(name);
  const PointFact* fact = find_point_fact(name);
  return metric != nullptr ? metric->unit : fact != nullptr ? fact->unit : std::string_view("1");
}

bool is_measured(std::string_view name) {
  return spread_in(name) != nullptr || metric_of(name) != nullptr || is_counter_name(name) || base_of(name) == "ns";
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

void ColumnList::add_example(std::string_view name, std::string_view text) {
  ImportedColumn& column = (*this)[name];
  if (column.example.empty()) column.example = printable(shortened(text));
}

void ColumnList::describe(ImportedColumn& column, const std::set<std::string>& stored) const {
  const auto becomes = [&](std::string_view key, const Message& title, std::string_view unit = {}) {
    column.becomes = key;
    column.title = text(title);
    column.kept_in = unit;
  };
  const auto as = read_as_.find(column.name);
  const std::string_view name = as == read_as_.end() ? column.name : as->second;
  const auto has = [&](std::string_view field) {
    return place_.contains(field) ||
           std::ranges::any_of(read_as_, [&](const auto& each) { return each.second == field; });
  };
  const bool time = metric_of(name) == nullptr && base_of(name) == "ns";
  const bool shared = name.starts_with("launch__shared_mem_per_block_");
  const Metric* metric = time     ? find_metric(metric_key::time_median_ns)
                         : shared ? find_metric(metric_key::shared_bytes)
                                  : metric_of(name);
  if (const Field* field = find_field(name)) {
    becomes(name, field->label ? field->label() : Message());
  } else if (const FieldPair* pair = find_field_pair(name)) {
    becomes(fmt::format("{}, {}", pair->first, pair->second), {});
    if (has(pair->first) && has(pair->second))
      column.left_out = make_message("replaced by columns {} and {}", pair->first, pair->second);
  } else if (spread_in(name) != nullptr) {
    becomes(fmt::format("{}, {}", metric_key::time_q1_ns, metric_key::time_q3_ns), {}, "ns");
  } else if (const PointFact* fact = find_point_fact(name)) {
    becomes(name, fact->label(), fact->unit);
  } else if (metric != nullptr) {
    becomes(metric->key, Message::verbatim(metric_title(metric->key)), metric->unit);
    if (!time && !shared && !stored.contains(std::string(metric->key))) column.left_out = "derived from other columns";
  } else if (is_counter_name(name)) {
    becomes(name, {}, column.unit.empty() ? "1" : base_unit(column.unit).first);
  } else if (is_known_column(name)) {
    becomes(name, {});
  } else {
    column.left_out = "not a field, knob, metric or counter";
  }
}

std::vector<ImportedColumn> ColumnList::take(const std::set<std::string>& stored) {
  for (ImportedColumn& column : columns_) {
    if (column.becomes.empty() && column.left_out.empty()) describe(column, stored);
    if (column.example.empty()) column.left_out = "no values";
    if (!column.left_out.empty()) column.becomes = column.title = column.kept_in = {};
  }
  return std::move(columns_);
}

bool is_long_value_column(std::string_view column) {
  return std::ranges::find(long_column::value_columns, column) != long_column::value_columns.end();
}

ColumnPlan plan_columns(std::vector<std::string> names, std::span<const std::string> cells, bool is_long,
                        const ImportRequest& request, ColumnList& columns) {
  ColumnPlan plan{.names = std::move(names), .uses = {}, .groups = {}};
  ColumnPlanner(plan, cells, is_long, request, columns).plan();
  return plan;
}

Message missing_fields(const std::function<bool(std::string_view)>& has, bool columns) {
  std::vector<std::string> missing;
  std::vector<std::string> options;
  for (const Field& field : point_fields()) {
    if (!field.fallback.empty() || field.optional_in_imports || field.role == FieldRole::tile) continue;
    const FieldPair* pair = field_pair_of(field.name);
    if (has(field.name) || (pair != nullptr && has(pair->name))) continue;
    const bool both = pair != nullptr && !has(pair->first == field.name ? pair->second : pair->first);
    std::string name(both ? pair->name : field.name);
    if (!missing.empty() && missing.back() == name) continue;
    options.push_back(name == field_name::algorithm ? "--algorithm NAME" : fmt::format("-a {}=VALUE", name));
    missing.push_back(std::move(name));
  }
  if (missing.empty()) return {};
  return make_message("missing {} ({}give {})", fmt::join(missing, ", "),
                      columns ? "rename a column with --map COLUMN=FIELD, or " : "", fmt::join(options, " "));
}

}  // namespace attnscope::exchange
