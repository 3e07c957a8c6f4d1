// SPDX-License-Identifier: Apache-2.0
#include "storage/exchange/import.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <deque>
#include <nlohmann/json.hpp>

#include "messages/import_preview.h"
#include "profiler/plan/text.h"
#include "storage/exchange/column_names.h"
#include "storage/exchange/import_rows.h"

namespace attnscope::exchange {
namespace {

bool has_column(const CsvLine& header, std::string_view name) {
  return std::ranges::find(header.fields, name) != header.fields.end();
}

/// Returns an error unless the file and the request have all required fields.
Message missing_columns(const ColumnPlan& plan, const ImportRequest& request) {
  return missing_fields([&](std::string_view wanted) {
    const auto reads = [&](const ColumnUse& use) {
      const bool appended = use.kind == ColumnUse::Kind::algorithm && wanted == field_name::algorithm;
      return appended || (use.kind == ColumnUse::Kind::read && use.column.name == wanted);
    };
    const bool provider = wanted == field_name::algorithm && !plan.groups.front().provider.empty();
    return provider || std::ranges::any_of(plan.uses, reads) || request.gives(wanted);
  });
}

/// Throws if an option names a column that the file lacks, or the file has a column twice.
void require_valid_header(const CsvLine& header, const ImportRequest& request) {
  const auto require = [&](std::string_view option, const std::string& column) {
    if (has_column(header, column)) return;
    const auto near = closest_matches(column, header.fields, 1);
    fail(make_message("{} '{}': the file has no such column{}", option, column,
                      near.empty() ? "" : fmt::format(" (did you mean '{}'?)", near.front())));
  };
  for (const std::string& column : request.ignore) require("--ignore", column);
  for (const ColumnMapping& mapping : request.map) require("--map", mapping.column);
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
                         (is_long_value_column(use.column.name) || spread_in(use.column.name) != nullptr);
      if (!line.fields[i].empty() && !value) described.set(plan_, i, line.fields[i]);
    }
    builder_.note_unknown(described.unknown);
    described.unknown.clear();
    Point& point = point_of(described);
    ImportRow& row = row_of(point, described, line);
    const std::string text = field(line, long_column::value);
    if (text.empty()) return;  // row of a point without values
    const std::string name = field(line, long_column::metric);
    const std::string unit = field(line, long_column::unit);
    const auto at = [&](std::string_view column) { return line_place(line.number).at(column); };
    if (name.empty()) fail(at(long_column::metric), "a value without a metric name");
    require_valid_name(at(long_column::metric), "metric", name);
    const auto value = number(text);
    if (!value) fail(at(long_column::value), make_message("'{}' is not a number", text));
    const std::string metric = known_metric(name, unit);
    if (!seen_.emplace(&row, metric).second) {
      fail(line_place(line.number),
           make_message("duplicate value of {} for this point and kernel (if a column tells them apart, give --map "
                        "COLUMN=FIELD)",
                        metric));
    }
    builder_.columns()[metric].unit = unit;
    builder_.columns().add_example(metric, text);
    const PointFact* fact = find_point_fact(metric);
    if (fact != nullptr || spread_in(metric) != nullptr) {
      const double scale = scale_to(base_of(metric), unit, at(long_column::value));
      return row.set_text(metric, scale == 1 ? text : fmt::format("{}", *value * scale));
    }
    const bool is_time = metric == time_column::time || metric == metric_key::time_median_ns;
    MetricValue stored = imported_value(at(long_column::value),
                                        is_time ? std::string(metric_key::time_median_ns) : metric, *value, unit);
    if (find_metric(stored.name) == nullptr) return row.metrics.push_back(std::move(stored));
    row.set_text(metric == time_column::time ? metric : stored.name, fmt::format("{}", stored.value));
    if (!is_time) return;
    add_time_columns(row, line, unit);
    const auto stated = parse_provenance(field(line, long_column::provenance));
    if (stated.ok() && is_simulated(*stated)) point.simulated = *stated;
  }

  void give() {
    for (const Point& point : points_) {
      for (const auto& [name, of_point] : point.rows) {  // the whole point, with an empty kernel name, comes first
        ImportRow row = of_point;
        if (point.simulated) row.set_text(long_column::provenance, std::string(to_string(*point.simulated)));
        row.read_samples();
        builder_.add(std::move(row));
      }
    }
  }

 private:
  struct Point {
    std::map<std::pair<std::string, std::string>, ImportRow> rows;  ///< keyed by round and kernel
    std::optional<Provenance> simulated = std::nullopt;             ///< provenance of its times, if simulated
  };

  /// Adds the columns that describe a row's time: samples, their number, quartiles and other spreads. Spreads have the
  /// unit of the time unless they name one.
  void add_time_columns(ImportRow& row, const CsvLine& line, const std::string& unit) {
    for (std::size_t i = 0; i < plan_.uses.size(); ++i) {
      const std::string& text = line.fields[i];
      if (plan_.uses[i].kind != ColumnUse::Kind::read || text.empty()) continue;
      ScaledColumn column = plan_.uses[i].column;
      const bool q1 = column.name == long_column::q1;
      const FileLocation place = line_place(line.number).at(plan_.names[i]);
      if (column.name == long_column::samples || column.name == round_column::samples) {
        row.set_text(column.name, text);
      } else if (q1 || column.name == long_column::q3) {
        column.name = q1 ? metric_key::time_q1_ns : metric_key::time_q3_ns;
        const auto quartile = number(text);
        if (!quartile) fail(place, make_message("'{}' is not a number", text));
        // Rows with the quartiles' own metrics take precedence; they have the same values.
        row.fields.try_emplace(column.name,
                               fmt::format("{}", imported_value(place, column.name, *quartile, unit).value));
      } else if (spread_in(column.name) != nullptr) {
        ImportRow one{.place = line_place(line.number)};
        if (base_of(column.name) == "ns" && column.unit.empty()) column.scale = scale_to("ns", unit, place);
        one.set_number(column, text);
        row.fields.merge(one.fields);
      }
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
    const bool spread = name == metric_key::time_spread;
    if (is_known_column(name) && !spread) return name;
    auto ours = unit.empty() || spread ? std::nullopt : resolve(fmt::format("{} ({})", name, unit));
    if (!ours) ours = resolve(name);
    const bool fits =
        ours && ours->skipped.empty() && ours->provider.empty() && ours->pass.empty() && is_measured(ours->name);
    const bool no_unit = fits && ours->of_time && base_of(ours->name) == "ns" && ours->unit.empty();
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
    if (is_new && !kernel.empty()) row.set_text(long_column::kernel, kernel);
    if (is_new && !round.empty()) row.set_text(round_column::round, round);
    return row;
  }

  const ColumnPlan& plan_;
  PointBuilder& builder_;
  std::map<std::vector<std::string>, std::size_t> place_of_;
  std::deque<Point> points_;                                 ///< in the file's order
  std::set<std::pair<const ImportRow*, std::string>> seen_;  ///< rows and their metrics
};

/// Returns true for a row such as "Total" or "mean" among the others.
bool is_summary_row(const CsvLine& line) {
  const auto first = std::ranges::find_if(line.fields, [](const std::string& text) { return !text.empty(); });
  return first != line.fields.end() &&
         has_word("total totals sum mean average avg geomean overall", lower_case(*first));
}

}  // namespace

Import import_table(const CsvLine& header, const std::function<std::optional<CsvLine>()>& next,
                    const ImportRequest& request) {
  require_valid_header(header, request);
  const bool is_long = has_column(header, long_column::metric);
  if (is_long && !has_column(header, long_column::value)) {
    fail(line_place(header.number),
         "column 'metric' requires a column 'value' (see `attnscope export --format csv --long`)");
  }
  PointBuilder builder(request, is_long);
  for (const std::string& name : header.fields) (void)builder.columns()[name];
  std::optional<CsvLine> line = next();
  const ColumnPlan plan = plan_columns(header.fields, line ? line->fields : std::vector<std::string>(), is_long,
                                       request, builder.columns());
  const auto add_examples = [&] {
    for (std::size_t i = 0; i < std::min(header.fields.size(), line->fields.size()); ++i) {
      if (!line->fields[i].empty()) builder.columns().add_example(header.fields[i], line->fields[i]);
    }
  };
  if (Message missing = missing_columns(plan, request); !missing.empty()) {
    if (!request.columns_only) fail(line_place(header.number), std::move(missing));
    if (line) add_examples();
    std::set<std::string> stored;
    for (const ColumnUse& use : plan.uses) stored.insert(use.column.name);
    Import import;
    import.columns = builder.columns().take(stored);
    import.missing = std::move(missing);
    return import;
  }
  LongTableReader table(plan, builder);
  for (; line; line = next()) {
    if (request.cancellation_check) request.cancellation_check();
    if (!is_long && is_summary_row(*line)) {
      fail(line_place(line->number), "a row of totals or means (remove it)");
    }
    require_field_count(header, *line);
    add_examples();
    if (is_long) {
      table.add(*line);
      continue;
    }
    for (ImportRow& row : rows_of(plan, line_place(line->number), line->fields)) {
      row.read_samples();
      builder.add(std::move(row));
    }
  }
  table.give();
  return builder.finish();
}

Import import_csv(std::string_view text, const ImportRequest& request) {
  CsvReader lines = CsvReader::of_table(text);
  const std::optional<CsvLine> header = lines.next();
  if (!header) fail("the file is empty");
  if (header->fields.size() == 1)
    fail(line_place(header->number), "only one column found (columns are separated by comma, semicolon or tab)");
  return import_table(
      *header, [&] { return lines.next(); }, request);
}

}  // namespace attnscope::exchange

namespace attnscope {

using namespace exchange;  // NOLINT(google-build-using-namespace): this file is part of it

bool ImportRequest::gives(std::string_view field) const {
  return std::ranges::count(given, field, &GivenField::field) > 0;
}

bool ImportRequest::maps(std::string_view column) const {
  return std::ranges::count(map, column, &ColumnMapping::column) > 0;
}

ImportFormat detect_import_format(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  const bool json = first != std::string_view::npos && (text[first] == '{' || text[first] == '[');
  if (!json && (find_ncu_table(text) != std::string_view::npos || is_ncu_text_report(text))) return ImportFormat::ncu;
  return detect_foreign_format(text).value_or(json ? ImportFormat::json : ImportFormat::csv);
}

Result<Import, Message> import_points(std::string_view text, ImportFormat format, const ImportRequest& request) {
  constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
  if (text.starts_with(byte_order_mark)) text.remove_prefix(byte_order_mark.size());
  try {
    if (const std::size_t at = first_invalid_utf8(text); at != std::string_view::npos) {
      const auto above = static_cast<std::size_t>(std::ranges::count(text.substr(0, at), '\n'));
      fail(line_place(above + 1),
           make_message("byte {} is not valid UTF-8 (save the file as UTF-8)", at - (text.rfind('\n', at) + 1) + 1));
    }
    if (format == ImportFormat::json) return import_json(text, request);
    if (format == ImportFormat::csv) return import_csv(text, request);
    if (format == ImportFormat::ncu) return import_ncu(text, request);
    ForeignTable table = read_foreign_table(text, format, request);
    auto row = table.rows.begin();
    const auto next = [&] { return row == table.rows.end() ? std::nullopt : std::optional(std::move(*row++)); };
    Import import = import_table(table.header, next, request);
    import.notes.insert(import.notes.begin(), table.notes.begin(), table.notes.end());
    return import;
  } catch (const ImportError& wrong) {
    return Failure{wrong.message()};
  } catch (const nlohmann::json::exception& error) {
    std::string why = error.what();  // "[json.exception.type_error.302] type must be ..."
    if (const std::size_t at = why.find("] "); at != std::string::npos) why.erase(0, at + 2);
    return Failure{make_message("a JSON value has the wrong type: {}", why)};
  }
}

analysis::Table imported_column_table(std::vector<ImportedColumn> columns) {
  analysis::TableBuilder<ImportedColumn> table(std::move(columns));
  const auto add = [&](const char* key, const Message& title, std::string ImportedColumn::*part) {
    table.add({.key = key, .title = text(title)}, [part](const ImportedColumn& each) { return printable(each.*part); });
  };
  add("column", msg::import_preview::column{}, &ImportedColumn::name);
  add("unit", msg::import_preview::unit{}, &ImportedColumn::unit);
  add("field", msg::import_preview::field{}, &ImportedColumn::becomes);
  add("title", msg::import_preview::name{}, &ImportedColumn::title);
  add("stored_unit", msg::import_preview::stored_unit{}, &ImportedColumn::kept_in);
  table.add(
      {.key = "skip_reason", .title = text(msg::import_preview::skip_reason{}), .kind = analysis::ColumnKind::sentence},
      [](const ImportedColumn& each) { return each.left_out; });
  add("example", msg::import_preview::example{}, &ImportedColumn::example);
  return std::move(table).take();
}

}  // namespace attnscope
