// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "storage/exchange/foreign_tables.h"
#include "storage/exchange/import_values.h"

namespace attnscope::exchange {
namespace {

using Json = nlohmann::json;

constexpr std::string_view mean_column = "GPU time mean [s]";
constexpr std::string_view deviation_column = "GPU time stddev [s]";
constexpr const char* skipped_state = "infeasible";  ///< disposition of a state that the benchmark skipped

/// Summaries, and the columns of their values.
constexpr std::array<std::pair<std::string_view, std::string_view>, 6> summary_columns{{
    {"nv/cold/time/gpu/mean", mean_column},
    {"nv/cold/time/gpu/median", "GPU time median [s]"},
    {"nv/cold/time/gpu/q1", "GPU time q1 [s]"},
    {"nv/cold/time/gpu/q3", "GPU time q3 [s]"},
    {"nv/cold/sample_size", "samples"},
    {"nv/cold/sm_clock_rate/mean", "sm_clock_hz"},
}};

/// Returns the value of a summary such as "nv/cold/time/gpu/mean"; nullopt if there is none.
std::optional<double> summary_value(const Json& state, std::string_view tag) {
  for (const Json& summary : state.value("summaries", Json::array())) {
    if (summary.value("tag", "") != tag) continue;
    for (const Json& datum : summary.value("data", Json::array())) {
      if (datum.value("name", "") != "value") continue;
      const Json& value = datum.at("value");
      return value.is_string() ? number(value.get<std::string>()) : value.get<double>();
    }
  }
  return std::nullopt;
}

/// Returns the columns of one state by name.
std::map<std::string, std::string> state_texts(const Json& state, const std::map<int, std::string>& devices) {
  std::map<std::string, std::string> texts;
  for (const Json& axis : state.value("axis_values", Json::array())) {
    const Json& value = axis.at("value");
    texts[axis.at("name").get<std::string>()] = value.is_string() ? value.get<std::string>() : value.dump();
  }
  if (const auto device = devices.find(state.value("device", -1)); device != devices.end()) {
    texts["device"] = device->second;
  }
  if (state.value("is_skipped", false)) {
    texts["disposition"] = skipped_state;
    texts["reason"] = state.value("skip_reason", "");
    return texts;
  }
  for (const auto& [tag, column] : summary_columns) {
    const auto value = summary_value(state, tag);
    if (value && std::isfinite(*value)) texts[std::string(column)] = fmt::format("{}", *value);
  }
  const auto mean = summary_value(state, summary_columns.front().first);
  const auto noise = summary_value(state, "nv/cold/time/gpu/stdev/relative");
  if (mean && noise && std::isfinite(*mean * *noise)) {
    texts[std::string(deviation_column)] = fmt::format("{}", *noise * *mean);
  }
  return texts;
}

ForeignTable read_json(std::string_view text) {
  const Json document = parse_foreign_json(text);
  std::map<int, std::string> devices;
  for (const Json& device : document.value("devices", Json::array())) {
    devices[device.at("id").get<int>()] = device.at("name").get<std::string>();
  }
  std::vector<std::map<std::string, std::string>> states;
  ForeignTable table{.header = {.number = 1, .fields = {"Benchmark"}}, .rows = {}};
  for (const Json& benchmark : document.at("benchmarks")) {
    for (const Json& state : benchmark.value("states", Json::array())) {
      auto& texts = states.emplace_back(state_texts(state, devices));
      texts["Benchmark"] = benchmark.at("name").get<std::string>();
      for (const auto& [name, value] : texts) {
        if (std::ranges::count(table.header.fields, name) == 0) table.header.fields.push_back(name);
      }
    }
  }
  for (std::size_t i = 0; i < states.size(); ++i) {
    CsvLine& row = table.rows.emplace_back(CsvLine{.number = i + 1, .fields = {}});
    for (const std::string& name : table.header.fields) row.fields.push_back(states[i][name]);
  }
  return table;
}

/// Keeps the axes and the GPU times of a CSV table, whose columns "Noise" and "Samples" occur twice.
ForeignTable read_table(std::string_view text) {
  const ForeignTable source = read_csv(text);
  const std::vector<std::string>& names = source.header.fields;
  const auto skipped = static_cast<std::size_t>(std::ranges::find(names, "Skipped") - names.begin());
  const auto gpu = static_cast<std::size_t>(std::ranges::find(names, "GPU Time (sec)") - names.begin());
  if (gpu >= names.size()) fail(line_place(source.header.number), "missing column 'GPU Time (sec)'");
  std::vector<std::pair<std::string, std::size_t>> kept;
  for (std::size_t i = 0; i < std::min(skipped, gpu); ++i) {
    if (names[i] != "Device") kept.emplace_back(names[i], i);  // a number
  }
  if (const auto samples = std::ranges::find(names, "Samples"); samples != names.end())
    kept.emplace_back("samples", samples - names.begin());
  kept.emplace_back(mean_column, gpu);
  const bool has_noise = gpu + 1 < names.size() && names[gpu + 1] == "Noise";
  ForeignTable table{.header = {.number = source.header.number, .fields = {}}, .rows = {}};
  for (const auto& [name, column] : kept) table.header.fields.push_back(name);
  if (has_noise) table.header.fields.emplace_back(deviation_column);
  if (skipped < names.size()) table.header.fields.emplace_back("disposition");
  for (const CsvLine& line : source.rows) {
    require_field_count(source.header, line);
    CsvLine& row = table.rows.emplace_back(CsvLine{.number = line.number, .fields = {}});
    for (const auto& [name, column] : kept) row.fields.push_back(line.fields[column]);
    const auto mean = number(line.fields[gpu]);
    const auto percent = has_noise ? number(line.fields[gpu + 1]) : std::nullopt;
    const bool spread = mean && percent && std::isfinite(*mean * *percent);
    if (has_noise) row.fields.push_back(spread ? fmt::format("{}", *mean * *percent / 100) : std::string());
    if (skipped < names.size()) row.fields.emplace_back(line.fields[skipped].starts_with('Y') ? skipped_state : "");
  }
  return table;
}

}  // namespace

ForeignTable read_nvbench(std::string_view text, const ImportRequest& request) {
  ForeignTable table = text.find_first_not_of(" \t\r\n") == text.find('{') ? read_json(text) : read_table(text);
  name_algorithm(table, "Benchmark", request);
  return table;
}

}  // namespace attnscope::exchange
