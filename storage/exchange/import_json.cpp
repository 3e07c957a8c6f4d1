// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "kernels/files/json_check.h"
#include "storage/exchange/column_names.h"
#include "storage/exchange/export.h"
#include "storage/exchange/import_rows.h"

namespace attnscope::exchange {
namespace {

using Json = nlohmann::json;

/// Returns a member that is neither missing nor null; null otherwise.
const Json* member_of(const Json& object, const char* name) {
  const auto found = object.find(name);
  return found == object.end() || found->is_null() ? nullptr : &*found;
}

/// Reads {"dram_read_bytes": 5} or {"dram_read_bytes": {"value": 5, "unit": "Mbyte"}}.
std::vector<MetricValue> metrics_from(const FileLocation& place, const Json& values) {
  if (!values.is_object()) fail(place.at("metrics"), "not a JSON object");
  std::vector<MetricValue> metrics;
  for (const auto& [name, metric] : values.items()) {
    const Json amount = metric.is_object() ? metric.value("value", Json()) : metric;
    if (!amount.is_number()) fail(place.at(name), "the value is not a number");
    const Json unit = metric.is_object() ? metric.value("unit", Json("")) : Json("");
    if (!unit.is_string()) fail(place.at(name), "\"unit\" is not a string");
    metrics.push_back(imported_value(place.at(name), name, amount.get<double>(), unit.get<std::string>()));
  }
  return metrics;
}

/// Members of a point by name; those of nested objects by their own name, or by both if it is taken.
void flatten(const Json& object, const std::string& outer, std::map<std::string, const Json*>& members) {
  for (const auto& [name, value] : object.items()) {
    const bool taken = !outer.empty() && members.contains(name);
    const std::string key = taken ? fmt::format("{}.{}", outer, name) : name;
    if (value.is_object() && name != "metrics") {
      flatten(value, key, members);
    } else {
      members[key] = &value;
    }
  }
}

/// Returns the text of a value; an array is a list separated by spaces.
std::string cell_text(const Json& value) {
  if (value.is_null()) return {};
  if (!value.is_array()) return scalar_text(value);
  std::string text;
  for (const Json& each : value) text += (text.empty() ? "" : " ") + each.dump();
  return text;
}

/// Returns the rows of a round of `row`, which has the whole point.
ImportRow round_from(const Json& round, ImportRow row) {
  const FileLocation place = row.at("rounds");
  const Json* number = round.is_object() ? member_of(round, "round") : nullptr;
  if (number == nullptr) fail(place, "a round is not a JSON object with a number \"round\"");
  std::erase_if(row.fields, [](const auto& field) {
    return is_measured(field.first) || find_point_fact(field.first) != nullptr || field.first == long_column::samples;
  });
  for (const char* name : {"round", "sm_clock_hz", "throttled", "samples_ns"}) {
    if (const Json* value = member_of(round, name)) row.set_text(name, cell_text(*value));
  }
  row.metrics = metrics_from(row.place, round.value("metrics", Json::object()));
  return row;
}

/// Reads a point. `plan` is that of the preceding point, and is replaced if the members differ.
void add_point(const Json& point, const FileLocation& place, PointBuilder& builder, ColumnPlan& plan) {
  if (!point.is_object()) fail(place, "not a JSON object");
  std::map<std::string, const Json*> members;
  flatten(point, {}, members);
  const Json* metrics = member_of(point, "metrics");
  const Json* rounds = member_of(point, "rounds");
  members.erase("rounds");
  std::vector<std::string> names;
  std::vector<std::string> texts;
  for (const auto& [name, value] : members) {
    names.push_back(name);
    texts.push_back(value == metrics ? std::string() : cell_text(*value));
    if (!value->is_null()) builder.columns().add_example(name, scalar_text(*value));
  }
  if (names != plan.names) plan = plan_columns(std::move(names), texts, false, builder.request(), builder.columns());
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const ColumnUse& use = plan.uses[i];
    const bool list = use.column.name == time_column::time || use.column.name == round_column::samples;
    if (use.kind == ColumnUse::Kind::read && !list && members.at(plan.names[i])->is_array())
      fail(place.at(plan.names[i]), "not a single value");
  }
  for (ImportRow& row : rows_of(plan, place, texts)) {
    std::vector<ImportRow> rows{row};
    for (const Json& round : rounds != nullptr ? *rounds : Json::array()) rows.push_back(round_from(round, row));
    if (metrics != nullptr) rows.front().metrics = metrics_from(place, *metrics);
    for (ImportRow& each : rows) {
      each.read_samples();
      builder.add(std::move(each));
    }
  }
  if (metrics == nullptr) return;
  for (const auto& [name, value] : metrics->items()) {
    builder.columns().add_example(name, scalar_text(value.is_object() ? value["value"] : value));
    if (value.is_object()) builder.columns()[name].unit = value.value("unit", std::string());
  }
}

/// Returns the text with Python's NaN, Infinity and -Infinity as null, and JSON lines as one array.
std::string standard_json(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  const std::size_t end = first == std::string_view::npos ? first : text.find('\n', first);
  const bool lines =
      end != std::string_view::npos && text[first] == '{' && Json::accept(text.substr(first, end - first));
  std::string json = lines ? "[" : "";
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"') quoted = !quoted;
    if (quoted && c == '\\' && i + 1 < text.size()) json += text[i++];
    for (const std::string_view word : {"NaN", "Infinity", "-Infinity"}) {
      if (quoted || !text.substr(i).starts_with(word)) continue;
      json += "null";
      i += word.size();
    }
    if (i >= text.size()) break;
    const bool next_line = lines && text[i] == '\n' && text.find_first_not_of(" \t\r\n", i) != std::string_view::npos;
    json += next_line && !quoted ? ",\n" : std::string(1, text[i]);
  }
  return lines ? json + "]" : json;
}

/// Returns the document, or its array under a name that programs give to their list of results; null if there is none.
const Json* point_list(const Json& document) {
  if (document.is_array()) return &document;
  if (!document.is_object()) return nullptr;
  for (const char* name : {"points", "results", "data", "rows", "records", "measurements"}) {
    const auto found = document.find(name);
    if (found != document.end() && found->is_array()) return &*found;
  }
  return nullptr;
}

}  // namespace

std::string scalar_text(const Json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

Json parse_json(std::string_view text) {
  constexpr std::size_t max_bytes = std::size_t{64} << 20U;
  if (text.size() > max_bytes) fail("the JSON document is larger than 64 MiB (import it in parts)");
  try {
    return parse_checked_json<Json>(text);
  } catch (const Message& why) {
    fail(why);
  } catch (const Json::exception& error) {  // also out_of_range, for 1e999
    std::string why = error.what();         // "[json.exception.parse_error.101] parse error at line 3, column 5: ..."
    if (const std::size_t at = why.find("] "); at != std::string::npos) why.erase(0, at + 2);
    fail(make_message("invalid JSON: {}", why));
  }
}

Import import_json(std::string_view text, const ImportRequest& request) {
  const Json document = parse_json(standard_json(text));
  if (document.is_object() && document.value("format", Json()) == export_format &&
      document.value("version", Json()) != json_version) {
    fail(make_message("export version {} is not supported (this attnscope supports {})",
                      document.value("version", Json()).dump(), json_version));
  }
  const Json* const points = point_list(document);
  if (points == nullptr)
    fail("no list of points: expected an array of objects, or an object with an array \"points\" or \"results\"");
  PointBuilder builder(request);
  ColumnPlan plan;
  std::size_t index = 0;
  for (const Json& point : *points) add_point(point, {.whole = "points[{}]", .number = index++}, builder, plan);
  Import import = builder.finish();
  if (document.contains("ceilings")) {
    import.notes.emplace_back(
        make_message("Skipped ceiling sets: {} (`attnscope merge` copies ceilings from .attnscope files).",
                     document["ceilings"].size()));
  }
  return import;
}

}  // namespace attnscope::exchange
