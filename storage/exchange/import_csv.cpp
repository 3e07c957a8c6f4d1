// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <utility>

#include "profiler/metrics/metrics.h"
#include "profiler/plan/fields.h"
#include "profiler/plan/text.h"
#include "storage/exchange/column_names.h"
#include "storage/exchange/csv_reader.h"
#include "storage/exchange/import_rows.h"
#include "storage/exchange/import_values.h"

namespace attnscope::exchange {
namespace {

/// Throws unless the header has all required fields.
void require_columns(const CsvLine& header) {
  if (header.fields.size() == 1)
    fail(line_place(header.number), "only one column found (columns are separated by comma, semicolon or tab)");
  const auto is_there = [&](std::string_view wanted) {
    return std::ranges::find(header.fields, wanted) != header.fields.end();
  };
  for (const Field& field : point_fields()) {
    if (!field.fallback.empty() || field.optional_in_imports || field.role == FieldRole::tile) continue;
    const FieldPair* wide = field_pair_of(field.name);
    if (is_there(field.name) || (wide != nullptr && is_there(wide->name))) continue;
    const auto near = closest_matches(field.name, header.fields, 1);
    Message missing = make_message("missing column '{}'", field.name);
    if (wide != nullptr) missing = make_message("missing column '{}' (or '{}')", field.name, wide->name);
    if (!near.empty()) missing = make_message("{} (rename column '{}'?)", missing, near.front());
    fail(line_place(header.number), std::move(missing));
  }
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

bool has_column(const CsvLine& header, std::string_view name) {
  return std::ranges::find(header.fields, name) != header.fields.end();
}

bool is_value_column(std::string_view column) {
  return std::ranges::find(long_column::value_columns, column) != long_column::value_columns.end();
}

/// Returns one or several numbers, multiplied by `scale`.
std::string scaled(const Place& place, const std::string& field, double scale) {
  if (scale == 1) return field;
  std::vector<double> values;
  std::istringstream words(field);
  for (std::string word; words >> word;) {
    const auto value = number(word);
    if (!value && word.find(',') != std::string::npos)
      fail(place, make_message("'{}' is not a number (use a decimal point and no thousands separators)", word));
    if (!value) fail(place, make_message("'{}' is not a number", word));
    values.push_back(*value * scale);
  }
  return fmt::format("{}", fmt::join(values, " "));
}

std::vector<ScaledColumn> read_columns(const CsvLine& header, bool is_long, const Registry& registry,
                                       PointBuilder& builder) {
  std::vector<ScaledColumn> all;
  std::set<std::string> taken(header.fields.begin(), header.fields.end());
  for (const std::string& name : header.fields) {
    ImportedColumn& column = builder.columns()[name];
    ScaledColumn& ours = all.emplace_back(ScaledColumn{name});
    if (is_long && is_value_column(name)) {
      column.becomes = name;
    } else if (metric_of(name) == nullptr) {
      const bool known = is_known_column(name, registry);
      // A counter name may end in a unit; it is not a suffix then.
      const auto ceiling_value_text =
          is_long || (known && !is_counter_name(name)) ? std::nullopt : parse_scaled_column(name, registry);
      if (!ceiling_value_text && known) continue;
      if (ceiling_value_text && taken.insert(ceiling_value_text->name).second) {
        builder.columns().read_as(name, ours = *ceiling_value_text);
      } else {
        builder.ignore(name);
      }
    }
  }
  return all;
}

/// Reads the samples of a row, separated by spaces. Their number reveals lists that a spreadsheet truncated.
void read_samples(ImportRow& row) {
  const auto field = row.fields.find(round_column::samples);
  if (field == row.fields.end()) return;
  const Place place = row.at(round_column::samples);
  std::istringstream words(field->second);
  for (std::string word; words >> word;) {
    const auto time = checked(place, number(word));
    if (!time) fail(place, "a sample is not a number");
    require_plausible(place, metric_key::time_median_ns, *time);
    row.samples_ns.push_back(*time);
  }
  const auto said = row.integer("samples");
  if (said && *said != static_cast<std::int64_t>(row.samples_ns.size())) {
    fail(place,
         make_message("{} samples found, but column 'samples' has {}", grouped(row.samples_ns.size()), grouped(*said)));
  }
  row.fields.erase(field);
}

/// Combines a table with one row per value into one row per point and kernel. Rows may be in any order.
class LongTableReader {
 public:
  LongTableReader(const CsvLine& header, PointBuilder& builder) : header_(header), builder_(builder) {}

  void add(const CsvLine& line) {
    Point& point = point_of(line);
    ImportRow& row = row_of(point, line);
    const std::string metric = field(line, long_column::metric);
    const std::string text = field(line, long_column::value);
    if (text.empty()) return;  // row of a point without values
    const auto at = [&](std::string_view column) { return line_place(line.number).at(place_part::column, column); };
    if (metric.empty()) fail(at(long_column::metric), "a value without a metric name");
    require_valid_name(at(long_column::metric), "metric", metric);
    const auto value = number(text);
    if (!value) fail(at(long_column::value), make_message("'{}' is not a number", text));
    if (!seen_[&row].insert(metric).second) {
      fail(line_place(line.number), make_message("duplicate value of {} for this point and kernel", metric));
    }
    const std::string unit = field(line, long_column::unit);
    ImportedColumn& seen = builder_.columns()[metric];
    if (seen.example.empty()) seen = {.name = metric, .unit = unit, .example = shorten_example(text)};
    if (metric == "time_ns") {
      const std::string time(metric_key::time_median_ns);
      row.fields[metric] = fmt::format("{}", imported_value(at(long_column::value), time, *value, unit).value);
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
    MetricValue stored = imported_value(at(long_column::value), metric, *value, unit);
    if (find_metric(stored.name) == nullptr) {
      row.metrics.push_back(std::move(stored));
      return;
    }
    row.fields[stored.name] = fmt::format("{}", stored.value);
    if (stored.name != metric_key::time_median_ns) return;
    const auto said = parse_provenance(field(line, long_column::provenance));
    if (said.ok() && is_simulated(*said)) point.simulated = *said;
    for (const std::string_view column : {long_column::samples, round_column::samples}) {
      if (std::string its = field(line, column); !its.empty()) row.fields[std::string(column)] = std::move(its);
    }
    // Rows with the quartiles' own metrics take precedence; they have the same values.
    for (const auto& [column, key] :
         {std::pair{long_column::q1, metric_key::time_q1_ns}, std::pair{long_column::q3, metric_key::time_q3_ns}}) {
      const std::string quartile_text = field(line, column);
      if (quartile_text.empty()) continue;
      const auto quartile = number(quartile_text);
      if (!quartile) fail(at(column), make_message("'{}' is not a number", quartile_text));
      const MetricValue stored_form = imported_value(at(column), metric, *quartile, unit);
      row.fields.try_emplace(std::string(key), fmt::format("{}", stored_form.value));
    }
  }

  void give() {
    for (const Point& point : points_) {
      for (const auto& [name, of_point] : point.rows) {  // the whole point, with an empty kernel name, comes first
        ImportRow row = of_point;
        if (point.simulated) row.fields[std::string(long_column::provenance)] = to_string(*point.simulated);
        read_samples(row);
        builder_.add(row);
      }
    }
  }

 private:
  struct Point {
    std::map<std::pair<std::string, std::string>, ImportRow> rows;  ///< keyed by round and kernel
    std::optional<Provenance> simulated = std::nullopt;             ///< provenance of its times, if simulated
  };

  [[nodiscard]] std::string field(const CsvLine& line, std::string_view name) const {
    const auto found = std::ranges::find(header_.fields, name);
    return found == header_.fields.end() ? std::string()
                                         : line.fields[static_cast<std::size_t>(found - header_.fields.begin())];
  }

  /// Returns the point of a line. Lines belong to one point if all columns about the point are equal.
  Point& point_of(const CsvLine& line) {
    std::vector<std::string> said;
    for (std::size_t i = 0; i < header_.fields.size(); ++i) {
      if (!is_value_column(header_.fields[i])) said.push_back(line.fields[i]);
    }
    const auto [place, is_new] = place_of_.try_emplace(std::move(said), points_.size());
    if (is_new) points_.emplace_back();
    return points_[place->second];
  }

  ImportRow& row_of(Point& point, const CsvLine& line) {
    std::string kernel = field(line, long_column::kernel);
    if (kernel == "all") kernel.clear();
    const std::string round = field(line, round_column::round);
    const auto [place, is_new] = point.rows.try_emplace({round, kernel}, ImportRow{.place = line_place(line.number)});
    ImportRow& row = place->second;
    if (!is_new) return row;
    for (std::size_t i = 0; i < header_.fields.size(); ++i) {
      if (!is_value_column(header_.fields[i]) && !line.fields[i].empty())
        row.fields[header_.fields[i]] = line.fields[i];
    }
    if (!kernel.empty()) row.fields[std::string(long_column::kernel)] = kernel;
    if (!round.empty()) row.fields[std::string(round_column::round)] = round;
    return row;
  }

  const CsvLine& header_;
  PointBuilder& builder_;
  std::map<std::vector<std::string>, std::size_t> place_of_;
  std::deque<Point> points_;                                ///< in the file's order
  std::map<const ImportRow*, std::set<std::string>> seen_;  ///< metric names
};

}  // namespace

Import import_csv(std::string_view text, const ImportRequest& request) {
  CsvReader lines(text, 1, detect_separator(text));
  const std::optional<CsvLine> first = lines.next();
  if (!first) fail("the file is empty");
  const CsvLine& header = *first;
  require_distinct(header);
  const bool is_long = has_column(header, long_column::metric);
  if (is_long && !has_column(header, long_column::value)) {
    fail(line_place(header.number),
         "column 'metric' requires a column 'value' (see `attnscope export --format csv --long`)");
  }
  require_columns(header);
  PointBuilder builder(request);
  const std::vector<ScaledColumn> columns = read_columns(header, is_long, *request.registry, builder);
  LongTableReader table(header, builder);
  std::map<std::string, std::string, std::less<>> file_columns;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (columns[i].name != header.fields[i]) file_columns[columns[i].name] = header.fields[i];
  }
  std::set<std::size_t> unseen;
  for (std::size_t i = 0; i < header.fields.size(); ++i) unseen.insert(unseen.end(), i);
  while (std::optional<CsvLine> line = lines.next()) {
    if (request.cancellation_check) request.cancellation_check();
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
    ImportRow row{.place = line_place(line->number)};
    row.file_columns = &file_columns;
    for (std::size_t i = 0; i < line->fields.size(); ++i) {
      if (line->fields[i].empty()) continue;
      const Place place = row.at(columns[i].name);
      row.fields[columns[i].name] = scaled(place, line->fields[i], columns[i].scale);
    }
    read_samples(row);
    builder.add(row);
  }
  table.give();
  return builder.take();
}

}  // namespace attnscope::exchange
