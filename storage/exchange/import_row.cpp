// SPDX-License-Identifier: Apache-2.0
// Texts of one record as fields of the program.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <sstream>
#include <utility>

#include "profiler/metrics/metrics.h"
#include "profiler/plan/fields.h"
#include "profiler/plan/text.h"
#include "profiler/units/number_format.h"
#include "storage/exchange/column_names.h"
#include "storage/exchange/import_rows.h"
#include "storage/exchange/import_spread.h"

namespace attnscope::exchange {
namespace {

/// Returns the unit in which a column's values are stored.
std::string base_of(std::string_view name) {
  if (is_time_column(name)) return "ns";
  if (!spread_unit(name).empty()) return std::string(spread_unit(name));
  const Metric* metric = metric_of(name);
  const PointFact* fact = find_point_fact(name);
  return std::string(metric != nullptr ? metric->unit : fact != nullptr ? fact->unit : std::string_view("1"));
}

}  // namespace

const std::string* ImportRow::find(std::string_view name) const {
  const auto found = fields.find(name);
  return found == fields.end() ? nullptr : &found->second;
}

std::string ImportRow::text(std::string_view name) const {
  const std::string* field = find(name);
  return field != nullptr ? *field : std::string();
}

void ImportRow::set(const ColumnPlan& plan, std::size_t column, const std::string& text) {
  const ColumnUse& use = plan.uses[column];
  const std::string& name = plan.names[column];
  switch (use.kind) {
    case ColumnUse::Kind::read:
      if (!use.is_number && !is_missing(text)) fields[use.column.name] = text;
      if (use.is_number) set_number(use.column, text, plan.decimal_comma);
      return;
    case ColumnUse::Kind::stated:
      stated[name] = {use.column.name, text};
      return;
    case ColumnUse::Kind::unknown:
      unknown[name] = text;
      return;
    case ColumnUse::Kind::ignored:
      ignored[name] = text;
      return;
    case ColumnUse::Kind::algorithm:
      algorithm_suffix += fmt::format(" {}={}", name, text);
      return;
    case ColumnUse::Kind::skipped:
      return;
  }
}

void ImportRow::set_number(const ScaledColumn& ours, const std::string& text, bool decimal_comma) {
  if (is_missing(text)) return;
  const FileLocation where = at(ours.name);
  const auto cell = parse_cell(text, decimal_comma);
  if (!cell) {
    const bool endless = !spread_unit(ours.name).empty() && lower_case(text).starts_with("inf");
    if (endless) return;  // the deviation of one sample
    const bool failed = parse_disposition(normalized_value("disposition", text)).ok();
    const bool measured = is_time_column(ours.name) || ours.name == metric_key::tflops;
    fields[failed && measured ? "disposition" : ours.name] = text;
    return;
  }
  if (ours.unit_in_cells && !cell->unit) {
    fail(where, make_message("'{}' has no unit (name it with --map '{}=time_ms')", text, column(ours.name)));
  }
  double scale = ours.scale;
  const std::string base = base_of(ours.name);
  if (cell->unit && base == "1" && cell->unit->base == "percent") {
    scale = cell->unit->scale / 100;
  } else if (cell->unit) {
    if (cell->unit->base != base) fail(where, make_message("the unit is '{}'; expected {}", cell->unit_text, base));
    scale = cell->unit->scale;
  }
  if (base == "1" && ours.of_time && ours.unit.empty() && !cell->unit && cell->values.front() > 1) {
    fail(where, make_message("'{}' is a fraction above 1 (if it is in percent, give --map '{}=stddev_pct')", text,
                             column(ours.name)));
  }
  std::vector<double> values = cell->values;
  for (double& value : values) value *= scale;
  const bool samples = values.size() > 1 && ours.name == time_column::time;
  const bool plain = scale == 1 && !decimal_comma && number(text).has_value();
  fields[samples ? std::string(round_column::samples) : ours.name] =
      plain ? text : fmt::format("{}", fmt::join(values, " "));
  if (cell->deviation && is_time_column(ours.name)) {
    fields.try_emplace(std::string(cell->relative ? spread_column::relative_deviation : spread_column::deviation),
                       fmt::format("{}", *cell->deviation * (cell->relative ? 1 : scale)));
  }
}

std::vector<ImportRow> rows_of(const ColumnPlan& plan, const FileLocation& place, std::span<const std::string> texts) {
  std::vector<ImportRow> rows;
  rows.reserve(plan.groups.size());
  for (std::size_t g = 0; g < plan.groups.size(); ++g) {
    const ColumnGroup& group = plan.groups[g];
    ImportRow& row = rows.emplace_back(ImportRow{.place = place, .file_columns = &group.file_columns});
    for (std::size_t i = 0; i < texts.size(); ++i) {
      const bool here = plan.uses[i].group == 0 || plan.uses[i].group == g + 1;
      if (here && !texts[i].empty()) row.set(plan, i, texts[i]);
    }
    if (!group.provider.empty()) row.fields[std::string(field_name::algorithm)] = group.provider;
    if (!group.pass.empty()) row.fields["pass"] = group.pass;
    if (!group.dtype.empty()) row.fields["dtype"] = group.dtype;
  }
  return rows;
}

bool ImportRow::is_own() const {
  return find(long_column::run_uid) != nullptr || find(long_column::plan_index) != nullptr;
}

std::optional<double> ImportRow::real(std::string_view name) const {
  const std::string* field = find(name);
  if (field == nullptr) return std::nullopt;
  const auto value = number(*field);
  if (!value && field->find(',') != std::string::npos)
    fail(at(name), make_message("'{}' is not a number (use a decimal point and no thousands separators)", *field));
  if (!value) fail(at(name), make_message("'{}' is not a number", *field));
  return value;
}

std::optional<std::int64_t> ImportRow::integer(std::string_view name) const {
  const auto value = real(name);
  if (!value) return std::nullopt;
  constexpr double largest = 1e15;
  if (*value != std::trunc(*value) || std::abs(*value) > largest) {
    fail(at(name), make_message("'{}' is not an integer", *find(name)));
  }
  return static_cast<std::int64_t>(*value);
}

std::optional<bool> ImportRow::flag(std::string_view name) const {
  const std::string* field = find(name);
  if (field == nullptr) return std::nullopt;
  if (const auto flag = parse_flag(*field)) return flag;
  fail(at(name), make_message("'{}' is neither true nor false", *field));
}

void read_samples(ImportRow& row) {
  const auto field = row.fields.find(round_column::samples);
  if (field == row.fields.end()) return;
  const FileLocation place = row.at(round_column::samples);
  std::istringstream words(field->second);
  for (std::string word; words >> word;) {
    const auto time = checked(place, number(word));
    if (!time) fail(place, "a sample is not a number");
    require_plausible(place, metric_key::time_median_ns, *time);
    row.samples_ns.push_back(*time);
  }
  const auto stated = row.integer("samples");
  if (stated && *stated != static_cast<std::int64_t>(row.samples_ns.size())) {
    fail(place, make_message("{} samples found, but column 'samples' has {}", grouped(row.samples_ns.size()),
                             grouped(*stated)));
  }
  row.fields.erase(field);
}

std::string_view ImportRow::column(std::string_view name) const {
  if (file_columns != nullptr) {
    if (const auto theirs = file_columns->find(name); theirs != file_columns->end()) return theirs->second;
  }
  return name;
}

FileLocation ImportRow::at(std::string_view name) const {
  return place.at(place_part::column, column(name));
}

void apply_window(ImportRow& row) {
  std::array<std::int64_t, 2> sides{Mask::unlimited, Mask::unlimited};
  std::string_view column = partial_column::window;
  if (const std::string* text = row.find(column)) {
    const auto cell = parse_cell(*text, false);
    const bool none = is_missing(*text) || (cell && cell->values.size() == 1 && cell->values.front() <= 0);
    if (!none && (!cell || cell->values.size() != 2)) {
      fail(row.at(column), make_message("'{}' does not have two sides (ignore the column and state the mask with -a "
                                        "mask=window:LEFT:RIGHT)",
                                        *text));
    }
    for (std::size_t i = 0; !none && i < sides.size(); ++i) sides.at(i) = static_cast<std::int64_t>(cell->values[i]);
  }
  for (const auto& [name, side] :
       {std::pair{partial_column::window_left, 0U}, std::pair{partial_column::window_right, 1U}}) {
    if (const auto value = row.integer(name)) sides.at(side) = *value;
    if (row.find(name) != nullptr) column = name;
  }
  std::string& mask = row.fields["mask"];
  if (sides.at(0) >= 0 || sides.at(1) >= 0) {
    if (!mask.empty() && mask != "full" && mask != "causal") {
      fail(row.at(column), make_message("a window and mask {} (ignore one of them)", mask));
    }
    const bool causal = mask == "causal" || sides.at(1) == 0;
    const auto text = [](std::int64_t side) { return side < 0 ? std::string("inf") : std::to_string(side); };
    mask = causal && sides.at(0) < 0 ? "causal"
                                     : fmt::format("window:{}:{}", text(sides.at(0)), causal ? "0" : text(sides.at(1)));
  }
  if (mask.empty()) row.fields.erase("mask");
}

void apply_group(ImportRow& row) {
  const auto group = row.integer(partial_column::group);
  const FieldPair& heads = *field_pair_of("heads_q");
  if (!group || row.find(heads.second) != nullptr) return;
  auto count = row.integer(heads.first);
  if (!count) count = row.integer(heads.name);
  if (!count) return;  // spec_of() reports it
  if (*group < 1 || *count % *group != 0) {
    fail(row.at(partial_column::group), make_message("{} does not divide {} heads", *group, *count));
  }
  row.fields[std::string(heads.second)] = std::to_string(*count / *group);
}

void require_stated(const ImportRow& row, const PointSpec& spec) {
  const AttentionProblem& p = spec.problem;
  for (const auto& [column, stated] : row.stated) {
    const auto& [name, text] = stated;
    std::vector<std::int64_t> follows;
    if (name == partial_column::tokens) follows = {p.batch * p.n_q, p.batch * p.n_k};
    if (name == partial_column::hidden) follows = {p.heads_q * p.d, p.d};
    if (name == partial_column::d_v) follows = {p.d};
    const FieldPair* pair = nullptr;
    for (const FieldPair& each : field_pairs()) pair = each.name == name ? &each : pair;
    for (const std::string_view field :
         {pair ? pair->first : std::string_view(name), pair ? pair->second : std::string_view()}) {
      if (const Field* found = find_field(field)) follows.push_back(std::get<std::int64_t>(found->get(spec)));
    }
    if (follows.size() == 2 && follows[0] == follows[1]) {
      follows.pop_back();
    }
    const auto cell = parse_cell(text, false);
    const auto equals = [&](std::int64_t value) {
      return cell && cell->values == std::vector{static_cast<double>(value)};
    };
    if (is_missing(text) || follows.empty() || std::ranges::any_of(follows, equals)) continue;
    fail(row.place.at(place_part::column, column),
         make_message("'{}' contradicts {}, which follows from the other columns (correct one of them, or give --map "
                      "'{}=algorithm' to keep it in the name)",
                      text, fmt::join(follows, " or "), column));
  }
}

}  // namespace attnscope::exchange
