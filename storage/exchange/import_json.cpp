// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <type_traits>
#include <utility>

#include "kernels/files/json_check.h"
#include "storage/bounds.h"
#include "storage/exchange/column_names.h"
#include "storage/exchange/export.h"
#include "storage/exchange/foreign_tables.h"
#include "storage/exchange/import_rows.h"
#include "storage/exchange/import_values.h"

namespace attnscope::exchange {
namespace {

using Json = nlohmann::json;

MetricValue metric_from(const FileLocation& place, const std::string& name, const Json& value) {
  const Json* amount = &value;
  std::string unit;
  if (value.is_object()) {
    const auto found = value.find("value");
    if (found == value.end()) fail(place, "missing \"value\"");
    amount = &*found;
    const auto named = value.find("unit");
    if (named != value.end() && !named->is_string()) fail(place, "\"unit\" is not a string");
    if (named != value.end()) unit = named->get<std::string>();
  }
  if (!amount->is_number()) fail(place, "the value is not a number");
  return imported_value(place, name, amount->get<double>(), unit);
}

std::vector<MetricValue> metrics_from(const FileLocation& place, const Json& values) {
  if (!values.is_object()) fail(place.at(place_part::column, "metrics"), "not a JSON object");
  std::vector<MetricValue> metrics;
  for (const auto& [key, metric] : values.items()) {
    metrics.push_back(metric_from(place.at(place_part::column, key), key, metric));
  }
  return metrics;
}

std::vector<double> samples_from(const FileLocation& column, const Json& values) {
  if (!values.is_array()) fail(column, "not a JSON array");
  std::vector<double> samples;
  samples.reserve(values.size());
  for (const Json& sample : values) {
    const auto time = sample.is_number() ? checked(column, sample.get<double>()) : std::nullopt;
    if (!time) fail(column, "a sample is not a number");
    require_plausible(column, metric_key::time_median_ns, *time);
    samples.push_back(*time);
  }
  return samples;
}

std::vector<RoundRecord> rounds_from(const FileLocation& place, const Json& values) {
  const FileLocation column = place.at(place_part::column, "rounds");
  if (!values.is_array()) fail(column, "not a JSON array");
  std::vector<RoundRecord> rounds;
  rounds.reserve(values.size());
  std::set<int> numbers;
  for (const Json& value : values) {
    if (!value.is_object()) fail(column, "not a JSON object");
    RoundRecord& round = rounds.emplace_back();
    const auto number = value.find("round");
    if (number == value.end() || !number->is_number_unsigned() || number->get<std::uint64_t>() >= max_rounds) {
      fail(column, make_message("'round' must be an integer >= 0 and < {}", grouped(max_rounds)));
    }
    round.round = number->get<int>();
    if (!numbers.insert(round.round).second) fail(column, make_message("duplicate round {}", round.round));
    KernelRecord& kernel = round.kernels.emplace_back();
    if (const auto metrics = value.find("metrics"); metrics != value.end()) {
      kernel.metrics = metrics_from(place, *metrics);
    }
    if (const auto samples = value.find("samples_ns"); samples != value.end()) {
      kernel.samples_ns = samples_from(place.at(place_part::column, "samples_ns"), *samples);
    }
    const auto clock = value.find("sm_clock_hz");
    if (clock == value.end() || !clock->is_number()) continue;
    round.clocks.emplace().sm_clock_hz =
        checked(place.at(place_part::column, "sm_clock_hz"), clock->get<double>()).value_or(0);
    round.clocks->throttled = value.value("throttled", Json()) == true;
  }
  std::ranges::sort(rounds, {}, &RoundRecord::round);
  return rounds;
}

void note_metrics(const Json& metrics, ColumnList& columns) {
  for (const auto& [name, value] : metrics.items()) {
    ImportedColumn& column = columns[name];
    if (!column.example.empty()) continue;
    if (const Metric* metric = metric_of(name)) columns.keep(metric->key);
    if (value.is_object()) column.unit = value.value("unit", std::string());
    column.example = shorten_example(scalar_text(value.is_object() ? value["value"] : value));
  }
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

/// Returns the text of a value; an array of numbers is a list separated by spaces.
std::string cell_text(const Json& value) {
  if (value.is_null()) return {};
  const bool list = value.is_array() && !value.empty() &&
                    std::ranges::all_of(value, [](const Json& each) { return each.is_number(); });
  if (!list) return scalar_text(value);
  std::string text;
  for (const Json& each : value) text += (text.empty() ? "" : " ") + each.dump();
  return text;
}

/// Reads a point. `plan` is that of the preceding point, and is replaced if the members differ.
std::vector<ImportRow> rows_from(const Json& point, const FileLocation& place, PointBuilder& builder,
                                 ColumnPlan& plan) {
  if (!point.is_object()) fail(place, "not a JSON object");
  std::map<std::string, const Json*> members;
  flatten(point, {}, members);
  std::vector<std::string> names;
  std::vector<std::string> texts;
  for (const auto& [name, value] : members) {
    names.push_back(name);
    const bool own = name == "metrics" || name == "samples_ns" || name == "rounds";
    texts.push_back(own ? std::string() : cell_text(*value));
  }
  if (names != plan.names)
    plan = plan_columns(std::move(names), texts, false, false, builder.request(), builder.columns());
  for (std::size_t i = 0; i < texts.size(); ++i) {
    ImportedColumn& column = builder.columns()[plan.names[i]];
    const Json& value = *members.at(plan.names[i]);
    if (column.example.empty() && !value.is_null()) column.example = shorten_example(scalar_text(value));
    const ColumnUse& use = plan.uses[i];
    const bool list = use.column.name == time_column::time || use.column.name == round_column::samples;
    const bool single = texts[i].empty() || use.kind != ColumnUse::Kind::read || !value.is_structured();
    if (!single && !list) fail(place.at(place_part::column, plan.names[i]), "not a single value");
  }
  std::vector<ImportRow> rows = rows_of(plan, place, texts);
  for (ImportRow& row : rows) {
    const auto member = [&](const char* name) {
      const auto found = members.find(name);
      return found == members.end() || found->second->is_null() ? nullptr : found->second;
    };
    if (const Json* metrics = member("metrics")) {
      row.metrics = metrics_from(place, *metrics);
      note_metrics(*metrics, builder.columns());
    }
    if (const Json* samples = member("samples_ns")) row.samples_ns = samples_from(row.at("samples_ns"), *samples);
    if (const Json* rounds = member("rounds")) row.rounds = rounds_from(place, *rounds);
    read_samples(row);
  }
  return rows;
}

DeviceLimits limits_from(const Json& block, const FileLocation& place, DeviceLimits limits) {
  const auto read = [&]<class T>(const char* key, T& member) {
    const auto found = block.find(key);
    if (found == block.end() || !found->is_number()) return;
    const double value = found->get<double>();
    constexpr double most = std::is_same_v<T, int> ? 1 << 30 : std::is_same_v<T, double> ? 1e30 : 1e15;
    const bool whole = std::is_floating_point_v<T> || value == std::trunc(value);
    if (!whole || !(value >= 0 && value <= most)) {
      fail(place.at(place_part::member, key), make_message("{} is out of range", found->dump()));
    }
    member = static_cast<T>(value);
  };
  if (const auto found = block.find("compute_capability"); found != block.end() && found->is_string()) {
    const auto text = found->get<std::string>();
    const char* const end = text.data() + text.size();
    unsigned major = 0;
    unsigned minor = 0;
    constexpr unsigned most = 1000;
    const auto first = std::from_chars(text.data(), end, major);
    const bool dot = first.ec == std::errc() && first.ptr != end && *first.ptr == '.';
    const auto second = dot ? std::from_chars(first.ptr + 1, end, minor) : first;
    if (!dot || second.ec != std::errc() || second.ptr != end || major > most || minor > most) {
      fail(place.at(place_part::member, "compute_capability"),
           make_message("'{}' is not a compute capability such as 9.0", text));
    }
    limits.compute_major = static_cast<int>(major);
    limits.compute_minor = static_cast<int>(minor);
  }
  for_each_limit(limits, read);
  return limits;
}

void set_limits(const Json& blocks, std::span<ImportedDevice> devices) {
  std::size_t place = 0;
  for (const Json& block : blocks) {
    const FileLocation here{.whole = "devices[{}]", .number = place++};
    if (!block.is_object() || !block.contains("name") || !block["name"].is_string()) continue;
    for (ImportedDevice& device : devices) {
      if (device.info.limits.name == block["name"].get<std::string>()) {
        device.info.limits = limits_from(block, here, device.info.limits);
      }
    }
  }
}

}  // namespace

namespace {

/// Returns true for names that programs give to their list of results.
bool is_point_list(std::string_view key) {
  constexpr std::array<std::string_view, 6> names{"points", "results", "data", "rows", "records", "measurements"};
  return std::ranges::find(names, key) != names.end();
}

/// Converts points to rows while the document is parsed. The whole document as JSON values would take twenty times its
/// size.
class PointStream {
 public:
  explicit PointStream(PointBuilder& builder) : builder_(builder) {}

  /// Callback of Json::parse(); returns whether the parsed value is kept in the document.
  bool operator()(int depth, Json::parse_event_t event, Json& parsed) {
    using Event = Json::parse_event_t;
    if (const Message error = check_(depth, event, parsed); !error.empty()) {
      if (inside_) fail(FileLocation{.whole = "points[{}]", .number = index_}, error);
      fail(error);
    }
    if (event == Event::key && depth == 1) key_ = parsed.get<std::string>();
    if (inside_ && depth == inside_depth_) return element(event, parsed);
    const bool opens = event == Event::array_start && (depth == 0 || (depth == 1 && is_point_list(key_)));
    if (opens && !inside_) {
      inside_ = found_ = true;
      inside_depth_ = depth + 1;
    } else if (event == Event::array_end && inside_ && depth == inside_depth_ - 1) {
      inside_ = false;
      key_.clear();
    }
    return true;
  }
  /// Returns true if the document has a list of points.
  [[nodiscard]] bool found() const { return found_; }

 private:
  bool element(Json::parse_event_t event, const Json& parsed) {
    using Event = Json::parse_event_t;
    if (event == Event::object_start) return true;
    const FileLocation place{.whole = "points[{}]", .number = index_};
    if (event != Event::object_end) fail(place, "not a JSON object");
    for (ImportRow& row : rows_from(parsed, place, builder_, plan_)) builder_.add(std::move(row));
    ++index_;
    return false;
  }

  static constexpr int max_depth = 16;

  PointBuilder& builder_;
  ColumnPlan plan_;
  JsonCheck check_{max_depth};
  std::string key_;  ///< last top-level key
  bool inside_ = false;
  bool found_ = false;
  int inside_depth_ = 0;
  std::size_t index_ = 0;
};

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
    if (!quoted && (c == 'N' || c == 'I' || c == '-')) {
      std::string_view rest = text.substr(i);
      if (rest.starts_with("-I")) rest.remove_prefix(1);
      for (const std::string_view word : {"NaN", "Infinity"}) {
        if (!rest.starts_with(word)) continue;
        i += word.size() + (c == '-' ? 1 : 0);
        json += "null";
        break;
      }
      if (i >= text.size()) break;
    }
    const bool next_line = lines && text[i] == '\n' && text.find_first_not_of(" \t\r\n", i) != std::string_view::npos;
    json += next_line && !quoted ? ",\n" : std::string(1, text[i]);
  }
  return lines ? json + "]" : json;
}

Json parse(std::string_view text, PointStream& stream) {
  try {
    return Json::parse(text, std::ref(stream));
  } catch (const Json::exception& error) {  // also out_of_range, for 1e999
    std::string why = error.what();         // "[json.exception.parse_error.101] parse error at line 3, column 5: ..."
    if (const std::size_t at = why.find("] "); at != std::string::npos) why.erase(0, at + 2);
    fail(make_message("invalid JSON: {}", why));
  }
}

}  // namespace

Import import_json(std::string_view text, const ImportRequest& request) {
  PointBuilder builder(request);
  PointStream stream(builder);
  const Json document = parse(standard_json(text), stream);
  if (document.is_object() && document.value("format", Json()) == export_format &&
      document.value("version", Json()) != json_version) {
    fail(make_message("export version {} is not supported (this attnscope supports {})",
                      document.value("version", Json()).dump(), json_version));
  }
  if (!stream.found())
    fail("no list of points: expected an array of objects, or an object with an array \"points\" or \"results\"");

  if (document.is_object() && document.contains("devices") && document["devices"].is_array()) {
    set_limits(document["devices"], builder.devices());
  }
  Import import = builder.finish();
  if (document.is_object() && document.contains("ceilings")) {
    import.notes.emplace_back(
        make_message("Skipped ceiling sets: {} (`attnscope merge` copies ceilings from .attnscope files).",
                     document["ceilings"].size()));
  }
  return import;
}

}  // namespace attnscope::exchange
