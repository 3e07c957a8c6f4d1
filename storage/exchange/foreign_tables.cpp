// SPDX-License-Identifier: Apache-2.0
// Converts tables of other programs to the columns of import_table().
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "storage/exchange/import_rows.h"

namespace attnscope::exchange {
namespace {

using Json = nlohmann::json;

constexpr const char* skipped_state = "infeasible";  ///< disposition of a state that NVBench skipped
constexpr std::string_view noise_column = "GPU noise (%)";
constexpr std::string_view mean_column = "GPU time mean [s]";

std::size_t index_of(const std::vector<std::string>& names, std::string_view name) {
  return static_cast<std::size_t>(std::ranges::find(names, name) - names.begin());
}

/// Renames the column to "algorithm" unless another column or the user names the algorithm.
void name_algorithm(ForeignTable& table, std::string_view column, const ImportRequest& request) {
  std::vector<std::string>& names = table.header.fields;
  const bool given =
      request.gives("algorithm") || std::ranges::count(request.map, "algorithm", &ColumnMapping::field) > 0;
  const bool other = std::ranges::any_of(names, [&](const std::string& name) {
    const auto ours = resolve(name);
    return name != column && ours && ours->name == "algorithm";
  });
  if (!given && !other) std::ranges::replace(names, column, "algorithm");
}

ForeignTable read_csv(std::string_view text) {
  CsvReader lines = CsvReader::of_table(text);
  std::optional<CsvLine> header = lines.next();
  if (!header) fail("the file is empty");
  ForeignTable table{.header = std::move(*header)};
  while (std::optional<CsvLine> line = lines.next()) {
    require_field_count(table.header, *line);
    table.rows.push_back(std::move(*line));
  }
  return table;
}

/// Keeps these columns of a table, with new names.
void select_columns(ForeignTable& table, const std::vector<std::pair<std::size_t, std::string>>& columns) {
  const auto select = [&](std::vector<std::string>& fields) {
    std::vector<std::string> kept;
    kept.reserve(columns.size());
    for (const auto& [column, name] : columns) kept.push_back(std::move(fields[column]));
    fields = std::move(kept);
  };
  for (CsvLine& row : table.rows) select(row.fields);
  table.header.fields.clear();
  for (const auto& [column, name] : columns) table.header.fields.push_back(name);
}

/// Summaries of NVBench, the columns of their values, and a factor.
struct Summary {
  std::string_view tag;
  std::string_view column;
  double scale = 1;
};
constexpr std::array summaries{
    Summary{"nv/cold/time/gpu/mean", mean_column},
    Summary{"nv/cold/time/gpu/median", "GPU time median [s]"},
    Summary{"nv/cold/time/gpu/q1", "GPU time q1 [s]"},
    Summary{"nv/cold/time/gpu/q3", "GPU time q3 [s]"},
    Summary{"nv/cold/time/gpu/stdev/relative", noise_column, 100},
    Summary{"nv/cold/sample_size", "samples"},
    Summary{"nv/cold/sm_clock_rate/mean", "sm_clock_hz"},
};

/// Returns the columns of one state by name.
std::map<std::string, std::string> state_texts(const Json& state) {
  std::map<std::string, std::string> texts;
  for (const Json& axis : state.value("axis_values", Json::array())) {
    texts[axis.at("name").get<std::string>()] = scalar_text(axis.at("value"));
  }
  if (state.value("is_skipped", false)) {
    texts["disposition"] = skipped_state;
    texts["reason"] = state.value("skip_reason", "");
    return texts;
  }
  for (const Json& summary : state.value("summaries", Json::array())) {
    const auto* const known = std::ranges::find(summaries, summary.value("tag", ""), &Summary::tag);
    if (known == summaries.end()) continue;
    for (const Json& datum : summary.value("data", Json::array())) {
      if (datum.value("name", "") != "value") continue;
      const auto value = number(scalar_text(datum.at("value")));
      if (value && std::isfinite(*value)) texts[std::string(known->column)] = fmt::format("{}", *value * known->scale);
    }
  }
  return texts;
}

/// Output of `bench --json` of NVBench.
ForeignTable read_nvbench_json(std::string_view text) {
  const Json document = parse_json(text);
  std::map<int, std::string> devices;
  for (const Json& device : document.value("devices", Json::array())) {
    devices[device.at("id").get<int>()] = device.at("name").get<std::string>();
  }
  std::vector<std::map<std::string, std::string>> states;
  ForeignTable table{.header = {.number = 1, .fields = {"Benchmark"}}};
  for (const Json& benchmark : document.at("benchmarks")) {
    for (const Json& state : benchmark.value("states", Json::array())) {
      auto& texts = states.emplace_back(state_texts(state));
      texts["Benchmark"] = benchmark.at("name").get<std::string>();
      if (const auto device = devices.find(state.value("device", -1)); device != devices.end()) {
        texts["device"] = device->second;
      }
      for (const auto& [name, value] : texts) {
        if (std::ranges::count(table.header.fields, name) == 0) table.header.fields.push_back(name);
      }
    }
  }
  for (auto& texts : states) {
    CsvLine& row = table.rows.emplace_back(CsvLine{.number = table.rows.size() + 1, .fields = {}});
    for (const std::string& name : table.header.fields) row.fields.push_back(texts[name]);
  }
  return table;
}

/// Output of `bench --csv` of NVBench, whose columns "Noise" and "Samples" occur twice. Keeps the axes and GPU times.
ForeignTable read_nvbench_csv(std::string_view text) {
  ForeignTable table = read_csv(text);
  const std::vector<std::string> names = table.header.fields;
  const std::size_t skipped = index_of(names, "Skipped");
  const std::size_t gpu = index_of(names, "GPU Time (sec)");
  if (gpu == names.size()) fail(line_place(table.header.number), "missing column 'GPU Time (sec)'");
  std::vector<std::pair<std::size_t, std::string>> kept;
  for (std::size_t i = 0; i < std::min(skipped, gpu); ++i) {
    if (names[i] != "Device") kept.emplace_back(i, names[i]);  // a number
  }
  if (const std::size_t samples = index_of(names, "Samples"); samples < names.size())
    kept.emplace_back(samples, "samples");
  kept.emplace_back(gpu, mean_column);
  if (gpu + 1 < names.size() && names[gpu + 1] == "Noise") kept.emplace_back(gpu + 1, noise_column);
  if (skipped < names.size()) kept.emplace_back(skipped, "disposition");
  select_columns(table, kept);
  for (CsvLine& row : table.rows) {
    if (skipped < names.size()) row.fields.back() = row.fields.back().starts_with('Y') ? skipped_state : "";
  }
  return table;
}

/// Cache file of Kernel Tuner, which lacks its closing braces while the tuner runs or after it was stopped. Tunable
/// parameters that are no fields become part of the algorithm's name.
ForeignTable read_kernel_tuner(std::string_view text, const ImportRequest& request) {
  const bool closed = Json::accept(text);
  const Json document =
      closed ? parse_json(text) : parse_json(std::string(text.substr(0, text.find_last_not_of(", \t\r\n") + 1)) + "}}");
  ForeignTable table{.header = {.number = 1, .fields = {"device", "samples_ms", "time_ms", "algorithm"}}};
  std::vector<std::string> fields;
  std::vector<std::string> variants;  // parameters that are no fields
  for (const std::string& key : document.at("tune_params_keys").get<std::vector<std::string>>()) {
    const bool mapped = request.maps(key) || std::ranges::count(request.ignore, key) > 0;
    // Short names such as "bs" are block sizes here.
    (mapped || (key.size() > 2 && resolve(key)) ? fields : variants).push_back(key);
  }
  table.header.fields.insert(table.header.fields.end(), fields.begin(), fields.end());
  for (const auto& [name, result] : document.at("cache").items()) {
    const Json time = result.value("time", Json());
    std::string samples;
    for (const Json& each : result.value("times", Json::array())) samples += (samples.empty() ? "" : " ") + each.dump();
    // A failure is a text such as "CompilationFailedConfig", or a time of 1e20 in old files.
    constexpr double failed = 1e19;
    const bool timed = time.is_number() && time.get<double>() < failed;
    std::string algorithm = document.value("kernel_name", "kernel");
    const auto parameter = [&, &values = result](const std::string& key) {
      return scalar_text(values.value(key, Json("")));
    };
    for (const std::string& key : variants) algorithm += fmt::format(" {}={}", key, parameter(key));
    CsvLine& row = table.rows.emplace_back(CsvLine{.number = table.rows.size() + 1, .fields = {}});
    row.fields = {document.value("device_name", ""), timed ? samples : "",
                  timed              ? (samples.empty() ? time.dump() : "")
                  : time.is_string() ? time.get<std::string>()
                                     : "failed",
                  std::move(algorithm)};
    for (const std::string& key : fields) row.fields.push_back(parameter(key));
  }
  if (!variants.empty()) {
    table.notes.push_back(
        make_message("tunable parameters are part of the algorithm's name: {}", fmt::join(variants, ", ")));
  }
  return table;
}

/// CSV of nsight-python: one row per configuration and metric.
ForeignTable read_nsight_python(std::string_view text) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 7> renamed{{{"Metric", "metric"},
                                                                                  {"AvgValue", "value"},
                                                                                  {"Unit", "unit"},
                                                                                  {"StdDev", "stddev"},
                                                                                  {"NumRuns", "samples"},
                                                                                  {"Kernel", "kernel"},
                                                                                  {"GPU", "device"}}};
  constexpr std::string_view dropped =
      "MinValue MaxValue CI95_Lower CI95_Upper RelativeStdDevPct StableMeasurement Host ComputeClock MemoryClock "
      "Normalized";
  ForeignTable table = read_csv(text);
  const std::vector<std::string> names = table.header.fields;
  if (index_of(names, "Metric") == names.size()) fail(line_place(table.header.number), "missing column 'Metric'");
  std::vector<std::string> clocks;
  for (const CsvLine& line : table.rows) {
    const auto text_of = [&](std::string_view name) {
      const std::size_t found = index_of(names, name);
      return found < names.size() ? line.fields[found] : std::string();
    };
    const std::string baseline = text_of("Normalized");
    if (!is_missing(baseline) && baseline != "False") {
      fail(line_place(line.number),
           make_message("the values are ratios to {} (write the table without normalize_against)", baseline));
    }
    clocks.push_back(text_of("Metric") == "gpu__time_duration.sum" ? text_of("ComputeClock") : "");
  }
  std::vector<std::pair<std::size_t, std::string>> kept;
  for (const auto& [theirs, ours] : renamed) {
    if (const std::size_t i = index_of(names, theirs); i < names.size()) kept.emplace_back(i, ours);
  }
  for (std::size_t i = 0; i < names.size(); ++i) {
    const bool known = std::ranges::count(renamed, names[i], [](const auto& each) { return each.first; }) > 0;
    if (!known && !names[i].empty() && !has_word(dropped, names[i])) kept.emplace_back(i, names[i]);
  }
  select_columns(table, kept);
  const std::size_t value = index_of(table.header.fields, "value");
  const std::size_t unit = index_of(table.header.fields, "unit");
  const std::size_t rows = table.rows.size();
  for (std::size_t i = 0; i < rows; ++i) {
    std::string& metric = table.rows[i].fields[0];
    if (metric == "gpu__time_duration.sum") metric = metric_key::time_median_ns;
    if (is_missing(clocks[i]) || unit == table.header.fields.size()) continue;
    CsvLine of_clock = table.rows[i];
    of_clock.fields[0] = "sm_clock_hz";
    of_clock.fields[value] = clocks[i];
    of_clock.fields[unit] = "MHz";
    table.rows.push_back(std::move(of_clock));
  }
  table.notes.emplace_back("times are means");
  return table;
}

/// Returns the cells of "| a | b |" or "a | b", without spaces and emphasis ("**1.5**", "`flash`"); empty if the line
/// has no '|'.
std::vector<std::string> markdown_cells(std::string_view line) {
  const auto trimmed = [](std::string_view cell) {
    constexpr std::string_view ends = " \t\r*`";
    const std::size_t first = std::min(cell.find_first_not_of(ends), cell.size());
    return std::string(cell.substr(first, cell.find_last_not_of(ends) + 1 - first));
  };
  std::vector<std::string> all;
  std::string cell;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '\\' && i + 1 < line.size() && line[i + 1] == '|') {
      cell += line[++i];
    } else if (line[i] == '|') {
      all.push_back(trimmed(cell));
      cell.clear();
    } else {
      cell += line[i];
    }
  }
  if (all.empty()) return {};
  if (all.front().empty() && line[line.find_first_not_of(" \t")] == '|') all.erase(all.begin());
  if (std::string last = trimmed(cell); !last.empty()) all.push_back(std::move(last));
  return all;
}

/// Calls f for each line's cells until it returns false.
template <class F>
void each_markdown_line(std::string_view text, F&& f) {
  std::size_t number = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    if (!f(CsvLine{.number = ++number, .fields = markdown_cells(text.substr(at, end - at))})) return;
    at = end + 1;
  }
}

/// Returns true for the line between the heading of a Markdown table and its rows.
bool is_markdown_rule(const std::vector<std::string>& row) {
  return !row.empty() && std::ranges::all_of(row, [](const std::string& cell) {
    return !cell.empty() && cell.find_first_not_of(":-") == std::string::npos;
  });
}

/// Renames columns that NVBench names twice: "Noise" of the GPU and CPU time, and the batch's "Samples". Removes the
/// "x" of its counts: "499x".
void rename_nvbench_columns(ForeignTable& table) {
  std::vector<std::string>& names = table.header.fields;
  const std::vector<std::string> before = names;
  for (std::size_t i = 1; i < names.size(); ++i) {
    if (std::ranges::count(before, before[i]) < 2) continue;
    if (before[i] == "Noise") names[i] = before[i - 1].starts_with("GPU") ? noise_column : "CPU noise (%)";
    if (before[i] == "Samples" && index_of(before, "Samples") < i) names[i] = "Batch Samples";
  }
  const std::size_t samples = index_of(names, "Samples");
  for (CsvLine& row : table.rows) {
    if (samples < row.fields.size() && row.fields[samples].ends_with('x')) row.fields[samples].pop_back();
  }
}

/// The only table of a Markdown document.
ForeignTable read_markdown(std::string_view text) {
  ForeignTable table;
  CsvLine before;
  bool inside = false;
  each_markdown_line(text, [&](CsvLine line) {
    const bool found = !table.header.fields.empty();
    if (is_markdown_rule(line.fields)) {
      if (found) fail(line_place(line.number), "a second table follows the first (import each table separately)");
      if (before.fields.empty()) fail(line_place(line.number), "a table without a heading");
      table.header = std::move(before);
      inside = true;
    } else if (inside && !line.fields.empty()) {
      line.fields.resize(std::max(line.fields.size(), table.header.fields.size()));
      table.rows.push_back(line);
    } else {
      if (found && !inside && line.fields.size() > 1)
        fail(line_place(line.number), "rows follow below the table (remove the blank line above them)");
      inside = false;
    }
    before = std::move(line);
    return true;
  });
  if (table.header.fields.empty()) fail("no table found: no line of '---' between '|'");
  rename_nvbench_columns(table);
  return table;
}

}  // namespace

ForeignTable read_foreign_table(std::string_view text, ImportFormat format, const ImportRequest& request) {
  if (format == ImportFormat::kernel_tuner) return read_kernel_tuner(text, request);
  if (format == ImportFormat::markdown) return read_markdown(text);
  const bool json = text.find_first_not_of(" \t\r\n") == text.find('{');
  const bool nvbench = format == ImportFormat::nvbench;
  ForeignTable table = !nvbench ? read_nsight_python(text) : json ? read_nvbench_json(text) : read_nvbench_csv(text);
  name_algorithm(table, nvbench ? "Benchmark" : "Annotation", request);
  return table;
}

std::optional<ImportFormat> detect_foreign_format(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return std::nullopt;
  text.remove_prefix(first);
  constexpr std::size_t look = 1 << 16;  // keys of the document come early
  const std::string_view start = text.substr(0, look);
  const auto has = [&](std::string_view part) { return start.find(part) != std::string_view::npos; };
  if (text.front() == '{') {
    if (has("\"tune_params_keys\"")) return ImportFormat::kernel_tuner;
    if (has("\"benchmarks\"") && text.find("\"states\"") != std::string_view::npos) return ImportFormat::nvbench;
    return std::nullopt;
  }
  bool markdown = false;
  each_markdown_line(start, [&](const CsvLine& line) { return !(markdown = is_markdown_rule(line.fields)); });
  if (markdown) return ImportFormat::markdown;
  std::string_view header = text.substr(0, text.find('\n'));
  const auto named = [&](std::string_view name) { return header.find(name) != std::string_view::npos; };
  if (named("AvgValue") && named("Metric")) return ImportFormat::nsight_python;
  if (named("GPU Time (sec)") && named("Benchmark")) return ImportFormat::nvbench;
  return std::nullopt;
}

}  // namespace attnscope::exchange
