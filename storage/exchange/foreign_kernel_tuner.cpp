// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "storage/exchange/foreign_tables.h"
#include "storage/exchange/import_columns.h"
#include "storage/exchange/import_values.h"

namespace attnscope::exchange {
namespace {

using Json = nlohmann::json;

/// Parses a cache, which lacks its closing braces while the tuner runs or after it was stopped.
Json parse_cache(std::string_view text) {
  if (Json::accept(text)) return parse_foreign_json(text);
  return parse_foreign_json(std::string(text.substr(0, text.find_last_not_of(", \t\r\n") + 1)) + "}}");
}

}  // namespace

ForeignTable read_kernel_tuner(std::string_view text, const ImportRequest& request) {
  const Json document = parse_cache(text);
  const auto keys = document.at("tune_params_keys").get<std::vector<std::string>>();
  ForeignTable table{.header = {.number = 1, .fields = {"device", "samples_ms", "time_ms"}}, .rows = {}};
  std::vector<std::string> variants;  // parameters that are no fields
  for (const std::string& key : keys) {
    const bool mapped = request.maps(key) || std::ranges::count(request.ignore, key) > 0;
    // Short names such as "bs" are block sizes here.
    const bool field = key.size() > 2 && is_recognized_column(key, *request.registry);
    (mapped || field ? table.header.fields : variants).push_back(key);
  }
  table.header.fields.emplace_back("algorithm");
  for (const auto& [name, result] : document.at("cache").items()) {
    CsvLine& row = table.rows.emplace_back(CsvLine{.number = table.rows.size() + 1, .fields = {}});
    const Json time = result.value("time", Json());
    row.fields.push_back(document.value("device_name", ""));
    std::string samples;
    for (const Json& each : result.value("times", Json::array())) samples += (samples.empty() ? "" : " ") + each.dump();
    // A failure is a text such as "CompilationFailedConfig", or a time of 1e20 in old files.
    constexpr double failed = 1e19;
    const bool timed = time.is_number() && time.get<double>() < failed;
    row.fields.push_back(timed ? samples : std::string());
    row.fields.push_back(!timed            ? (time.is_string() ? time.get<std::string>() : "failed")
                         : samples.empty() ? time.dump()
                                           : "");
    for (std::size_t i = 3; i + 1 < table.header.fields.size(); ++i) {
      row.fields.push_back(scalar_text(result.value(table.header.fields[i], Json(""))));
    }
    std::string algorithm = document.value("kernel_name", "kernel");
    for (const std::string& key : variants)
      algorithm += fmt::format(" {}={}", key, scalar_text(result.value(key, Json(""))));
    row.fields.push_back(std::move(algorithm));
  }
  if (!variants.empty()) {
    table.notes.push_back(
        make_message("tunable parameters are part of the algorithm's name: {}", fmt::join(variants, ", ")));
  }
  return table;
}

}  // namespace attnscope::exchange
