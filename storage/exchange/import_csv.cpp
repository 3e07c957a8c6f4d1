// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "profiler/metrics/metrics.h"
#include "profiler/plan/fields.h"
#include "profiler/plan/text.h"
#include "storage/exchange/column_names.h"
#include "storage/exchange/csv_reader.h"
#include "storage/exchange/import_rows.h"
#include "storage/exchange/import_spread.h"
#include "storage/exchange/import_values.h"

namespace attnscope::exchange {
namespace {

bool has_column(const CsvLine& header, std::string_view name) {
  return std::ranges::find(header.fields, name) != header.fields.end();
}

/// Returns an error unless the file and the request have all required fields.
Message missing_columns(const CsvLine& header, const ColumnPlan& plan, const ImportRequest& request) {
  const auto missing = missing_fields([&](std::string_view wanted) {
    const auto reads = [&](const ColumnUse& use) {
      const bool appended = use.kind == ColumnUse::Kind::algorithm && wanted == field_name::algorithm;
      return appended || (use.kind == ColumnUse::Kind::read && use.column.name == wanted);
    };
    const bool provider = wanted == field_name::algorithm && !plan.groups.front().provider.empty();
    return provider || std::ranges::any_of(plan.uses, reads) || request.gives(wanted);
  });
  if (missing.empty()) return {};
  std::vector<std::string> unknown;
  bool measured = has_column(header, long_column::metric);
  for (std::size_t i = 0; i < plan.uses.size(); ++i) {
    const ColumnUse& use = plan.uses[i];
    if (use.kind == ColumnUse::Kind::unknown) unknown.push_back(plan.names[i]);
    measured = measured || (use.kind == ColumnUse::Kind::read && is_measured(use.column.name));
  }
  Message wrong = missing_fields_message(missing);
  if (measured || unknown.empty()) return wrong;
  return make_message(
      "{}; no column has a time or rate with its unit: '{}' (give --map '{}=time_ms' or --map '{}=tflops')", wrong,
      fmt::join(unknown, "', '"), unknown.back(), unknown.back());
}

/// Throws if an option names a column that the file lacks.
void require_option_columns(const CsvLine& header, const ImportRequest& request) {
  const auto require = [&](std::string_view option, const std::string& column) {
    if (std::ranges::count(header.fields, column) > 0) return;
    const auto near = closest_matches(column, header.fields, 1);
    Message wrong = make_message("{} '{}': the file has no such column", option, column);
    if (!near.empty()) wrong = make_message("{} (did you mean '{}'?)", wrong, near.front());
    fail(std::move(wrong));
  };
  for (const std::string& column : request.ignore) require("--ignore", column);
  for (const ColumnMapping& mapping : request.map) require("--map", mapping.column);
}

void require_distinct(const CsvLine& header) {
  std::set<std::string_view> seen;
  constexpr std::size_t longest = 1000;
  for (const std::string& name : header.fields) {
    if (name.size() > longest) {
      fail(line_place(header.number), make_message("a column name has {} bytes (maximum: {})", name.size(), longest));
    }
    if (!name.empty() && !seen.insert(name).second) {
      fail(line_place(header.number), make_message("duplicate column '{}'", name));
    }
  }
}

/// Combines a table with one row per value into one row per point and kernel. Rows may be in any order.
class LongTableReader {
 public:
  LongTableReader(const ColumnPlan& plan, PointBuilder& builder) : plan_(plan), builder_(builder) {}

  void add(const CsvLine& line) {
    ImportRow described{.place = line_place(line.number), .file_columns = &plan_.groups.front().file_columns};
    for (std::size_t i = 0; i < line.fields.size(); ++i) {
      const ColumnUse& use = plan_.uses[i];
      const bool value = use.kind == ColumnUse::Kind::read &&
                         (is_long_value_column(use.column.name) || !spread_unit(use.column.name).empty());
      if (!line.fields[i].empty() && !value) described.set(plan_, i, line.fields[i]);
    }
    builder_.note_unknown(described.unknown);
    described.unknown.clear();
    Point& point = point_of(described);
    const std::map<std::string, std::string> ignored = described.ignored;
    ImportRow& row = row_of(point, described, line);
    const std::string unit = field(line, long_column::unit);
    const std::string metric = known_metric(field(line, long_column::metric), unit);
    const std::string text = field(line, long_column::value);
    if (text.empty()) return;  // row of a point without values
    const auto at = [&](std::string_view column) { return line_place(line.number).at(place_part::column, column); };
    if (metric.empty()) fail(at(long_column::metric), "a value without a metric name");
    require_valid_name(at(long_column::metric), "metric", metric);
    const auto value = number(text);
    if (!value) fail(at(long_column::value), make_message("'{}' is not a number", text));
    require_first(row, metric, line.number, ignored);
    ImportedColumn& seen = builder_.columns()[metric];
    if (seen.example.empty()) seen = {.name = metric, .unit = unit, .example = shorten_example(text)};
    if (metric == "time_ns") {
      const std::string time(metric_key::time_median_ns);
      row.fields[metric] = fmt::format("{}", imported_value(at(long_column::value), time, *value, unit).value);
      add_time_columns(row, line, unit);
      return;
    }
    if (const PointFact* fact = find_point_fact(metric)) {
      const auto [base, scale] = base_unit(unit);
      const bool in_base_unit = unit.empty() || unit == fact->unit;
      if (!in_base_unit && base != fact->unit) {
        fail(at(long_column::value), make_message("the unit is '{}'; expected {}", unit, fact->unit));
      }
      row.fields[metric] = in_base_unit ? text : fmt::format("{}", *value * scale);
      return;
    }
    if (!spread_unit(metric).empty()) {
      row.fields[metric] = fmt::format("{}", *value * spread_scale(unit, spread_unit(metric), at(long_column::value)));
      return;
    }
    MetricValue stored = imported_value(at(long_column::value), metric, *value, unit);
    if (find_metric(stored.name) == nullptr) {
      row.metrics.push_back(std::move(stored));
      return;
    }
    row.fields[stored.name] = fmt::format("{}", stored.value);
    if (stored.name != metric_key::time_median_ns) return;
    add_time_columns(row, line, unit);
    const auto said = parse_provenance(field(line, long_column::provenance));
    if (said.ok() && is_simulated(*said)) point.simulated = *said;
  }

  void give() {
    for (const Point& point : points_) {
      for (const auto& [name, of_point] : point.rows) {  // the whole point, with an empty kernel name, comes first
        ImportRow row = of_point;
        if (point.simulated) row.fields[std::string(long_column::provenance)] = to_string(*point.simulated);
        read_samples(row);
        builder_.add(std::move(row));
      }
    }
  }

 private:
  struct Point {
    std::map<std::pair<std::string, std::string>, ImportRow> rows;  ///< keyed by round and kernel
    std::optional<Provenance> simulated = std::nullopt;             ///< provenance of its times, if simulated
  };

  /// Returns the factor to the base unit of a spread. An empty unit is the base unit.
  static double spread_scale(const std::string& text, std::string_view base, const FileLocation& place) {
    const auto unit = parse_unit(text);
    if (text.empty() || text == base) return 1;
    if (unit && unit->base == base) return unit->scale;
    if (unit && unit->base == "percent" && base == "1") return unit->scale / 100;
    fail(place, make_message("the unit is '{}'; expected {}", text, base));
  }

  /// Adds the columns that describe a row's time: samples, their number, quartiles and other spreads.
  void add_time_columns(ImportRow& row, const CsvLine& line, const std::string& unit) {
    for (const std::string_view column : {long_column::samples, round_column::samples}) {
      if (std::string its = field(line, column); !its.empty()) row.fields[std::string(column)] = std::move(its);
    }
    // Rows with the quartiles' own metrics take precedence; they have the same values.
    for (const auto& [column, key] :
         {std::pair{long_column::q1, metric_key::time_q1_ns}, std::pair{long_column::q3, metric_key::time_q3_ns}}) {
      const std::string text = field(line, column);
      if (text.empty()) continue;
      const FileLocation place = line_place(line.number).at(place_part::column, column);
      const auto quartile = number(text);
      if (!quartile) fail(place, make_message("'{}' is not a number", text));
      const MetricValue stored = imported_value(place, std::string(metric_key::time_median_ns), *quartile, unit);
      row.fields.try_emplace(std::string(key), fmt::format("{}", stored.value));
    }
    add_spread(row, line, unit);
  }

  /// Adds the columns of spreads, which have the unit of the row's time unless they name one.
  void add_spread(ImportRow& row, const CsvLine& line, const std::string& unit) {
    for (std::size_t i = 0; i < plan_.uses.size(); ++i) {
      const ColumnUse& use = plan_.uses[i];
      const std::string_view base = use.kind == ColumnUse::Kind::read ? spread_unit(use.column.name) : "";
      if (base.empty() || line.fields[i].empty()) continue;
      ImportRow one{.place = row.place};
      ColumnUse scaled = use;
      if (base == "ns" && use.column.unit.empty())
        scaled.column.scale = spread_scale(unit, base, row.place.at(place_part::column, plan_.names[i]));
      one.set_number(scaled.column, line.fields[i], plan_.decimal_comma);
      row.fields.merge(one.fields);
    }
  }

  [[nodiscard]] std::string field(const CsvLine& line, std::string_view name) const {
    const auto found = std::ranges::find_if(
        plan_.uses, [&](const ColumnUse& use) { return use.kind == ColumnUse::Kind::read && use.column.name == name; });
    return found == plan_.uses.end() ? std::string()
                                     : line.fields[static_cast<std::size_t>(found - plan_.uses.begin())];
  }

  /// Returns our metric for another program's name, such as "latency" with a unit of time; other names unchanged.
  [[nodiscard]] std::string known_metric(const std::string& name, const std::string& unit) {
    const Registry& registry = builder_.registry();
    if (is_known_column(name, registry) || name.empty()) return name;
    auto ours = parse_synonym(unit.empty() ? name : fmt::format("{} ({})", name, unit), registry);
    if (!ours) ours = parse_synonym(name, registry);
    const bool fits =
        ours && ours->skipped.empty() && ours->provider.empty() && ours->pass.empty() && is_measured(ours->name);
    const bool no_unit = fits && ours->of_time && spread_unit(ours->name) == "ns" && ours->unit.empty();
    if (fits && unit.empty() && (no_unit || ours->unit_in_cells || ours->scale != 1)) {
      fail(make_message("metric '{}' has no unit (add a column 'unit')", name));
    }
    if (!fits) builder_.note_metric(name);
    return fits ? ours->name : name;
  }

  /// Returns the point of a line. Lines belong to one point if all recognized columns about the point are equal.
  Point& point_of(const ImportRow& described) {
    std::vector<std::string> identity{described.algorithm_suffix};
    for (const auto& [name, text] : described.fields) {
      identity.push_back(name);
      identity.push_back(text);
    }
    const auto [place, is_new] = place_of_.try_emplace(std::move(identity), points_.size());
    if (is_new) points_.emplace_back();
    return points_[place->second];
  }

  ImportRow& row_of(Point& point, const ImportRow& described, const CsvLine& line) {
    std::string kernel = field(line, long_column::kernel);
    if (kernel == "all") kernel.clear();
    const std::string round = field(line, round_column::round);
    const auto [place, is_new] = point.rows.try_emplace({round, kernel}, described);
    ImportRow& row = place->second;
    if (!is_new) return row;
    if (!kernel.empty()) row.fields[std::string(long_column::kernel)] = kernel;
    if (!round.empty()) row.fields[std::string(round_column::round)] = round;
    return row;
  }

  /// Throws if the row has a value of the metric already.
  void require_first(const ImportRow& row, const std::string& metric, std::size_t line,
                     const std::map<std::string, std::string>& ignored) {
    const auto [before, is_new] = seen_[&row].try_emplace(metric, line, ignored);
    if (is_new) return;
    Message wrong =
        make_message("duplicate value of {} for this point and kernel, after line {}", metric, before->second.first);
    std::vector<std::string> columns;
    for (std::size_t i = 0; i < plan_.names.size(); ++i) {
      const ColumnUse::Kind kind = plan_.uses[i].kind;
      const bool lost =
          kind == ColumnUse::Kind::unknown || (kind == ColumnUse::Kind::ignored && ignored != before->second.second);
      if (lost) columns.push_back(fmt::format("--map '{}=FIELD'", plan_.names[i]));
    }
    if (!columns.empty())
      wrong = make_message("{} (if a column tells them apart, give {})", wrong, fmt::join(columns, " or "));
    fail(line_place(line), std::move(wrong));
  }

  const ColumnPlan& plan_;
  PointBuilder& builder_;
  std::map<std::vector<std::string>, std::size_t> place_of_;
  std::deque<Point> points_;  ///< in the file's order
  /// Line and ignored texts of each metric.
  std::map<const ImportRow*, std::map<std::string, std::pair<std::size_t, std::map<std::string, std::string>>>> seen_;
};

/// Returns true for a row such as "Total" or "mean" below the others.
bool is_summary_row(const CsvLine& line) {
  constexpr std::array<std::string_view, 8> words{"total",   "totals", "sum",     "mean",
                                                  "average", "avg",    "geomean", "overall"};
  const auto first = std::ranges::find_if(line.fields, [](const std::string& text) { return !text.empty(); });
  return first != line.fields.end() && std::ranges::find(words, lower_case(*first)) != words.end();
}

}  // namespace

Import import_table(const CsvLine& header, const std::function<std::optional<CsvLine>()>& next,
                    const ImportRequest& request, bool decimal_comma) {
  require_distinct(header);
  require_option_columns(header, request);
  const bool is_long = has_column(header, long_column::metric);
  if (is_long && !has_column(header, long_column::value)) {
    fail(line_place(header.number),
         "column 'metric' requires a column 'value' (see `attnscope export --format csv --long`)");
  }
  PointBuilder builder(request);
  for (const std::string& name : header.fields) (void)builder.columns()[name];
  std::optional<CsvLine> line = next();
  const ColumnPlan plan = plan_columns(header.fields, line ? line->fields : std::vector<std::string>(), is_long,
                                       decimal_comma, request, builder.columns());
  if (Message missing = missing_columns(header, plan, request); !missing.empty()) {
    if (!request.columns_only) fail(line_place(header.number), std::move(missing));
    for (const ColumnUse& use : plan.uses) builder.columns().keep(use.column.name);
    for (std::size_t i = 0; line && i < std::min(header.fields.size(), line->fields.size()); ++i)
      builder.columns()[header.fields[i]].example = shorten_example(line->fields[i]);
    Import columns_only{
        .devices = {}, .columns = builder.columns().take(builder.registry()), .ignored = {}, .notes = {}};
    columns_only.missing = std::move(missing);
    return columns_only;
  }
  if (is_long) builder.set_long_table();
  LongTableReader table(plan, builder);
  std::set<std::size_t> unseen;
  for (std::size_t i = 0; i < header.fields.size(); ++i) unseen.insert(unseen.end(), i);
  std::size_t summary = 0;  // line of the last row of totals
  for (; line; line = next()) {
    if (request.cancellation_check) request.cancellation_check();
    if (!is_long && is_summary_row(*line)) {
      summary = line->number;
      builder.skip_summary(summary);
      continue;
    }
    if (summary > 0) fail(line_place(summary), "a row of totals or means between others (remove it)");
    require_field_count(header, *line);
    std::erase_if(unseen, [&](std::size_t i) {
      const std::string& value = line->fields[i];
      if (!value.empty()) builder.columns()[header.fields[i]].example = shorten_example(value);
      return !value.empty();
    });
    if (is_long) {
      table.add(*line);
      continue;
    }
    for (ImportRow& row : rows_of(plan, line_place(line->number), line->fields)) {
      read_samples(row);
      builder.add(std::move(row));
    }
  }
  table.give();
  return builder.finish();
}

Import import_csv(std::string_view text, const ImportRequest& request) {
  CsvReader lines = table_reader(text);
  const std::optional<CsvLine> header = lines.next();
  if (!header) fail("the file is empty");
  if (header->fields.size() == 1)
    fail(line_place(header->number), "only one column found (columns are separated by comma, semicolon or tab)");
  return import_table(
      *header, [&] { return lines.next(); }, request, has_decimal_comma(text, lines.separator()));
}

}  // namespace attnscope::exchange
