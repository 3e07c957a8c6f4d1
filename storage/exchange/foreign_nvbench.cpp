// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
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
  if (state.value("is_skipped", false)) return texts;
  const auto mean = summary_value(state, "nv/cold/time/gpu/mean");
  if (!mean) return texts;
  texts[std::string(mean_column)] = fmt::format("{}", *mean);
  if (const auto noise = summary_value(state, "nv/cold/time/gpu/stdev/relative")) {
    texts[std::string(deviation_column)] = fmt::format("{}", *noise * *mean);
  }
  if (const auto samples = summary_value(state, "nv/cold/sample_size")) {
    texts["samples"] = fmt::format("{}", *samples);
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
  for (const CsvLine& line : source.rows) {
    require_field_count(source.header, line);
    CsvLine& row = table.rows.emplace_back(CsvLine{.number = line.number, .fields = {}});
    for (const auto& [name, column] : kept) row.fields.push_back(line.fields[column]);
    if (!has_noise) continue;
    const auto mean = number(line.fields[gpu]);
    const auto percent = number(line.fields[gpu + 1]);
    row.fields.push_back(mean && percent ? fmt::format("{}", *mean * *percent / 100) : std::string());
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
