// SPDX-License-Identifier: Apache-2.0
#include "storage/exchange/foreign_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "kernels/files/json_check.h"
#include "storage/exchange/import_columns.h"
#include "storage/exchange/import_values.h"

namespace attnscope::exchange {

void name_algorithm(ForeignTable& table, std::string_view column, const ImportRequest& request) {
  const auto place = std::ranges::find(table.header.fields, column);
  if (place == table.header.fields.end()) return;
  const bool given =
      request.gives("algorithm") || std::ranges::count(request.map, "algorithm", &ColumnMapping::field) > 0;
  const bool other = std::ranges::any_of(table.header.fields, [&](const std::string& name) {
    const auto synonym = parse_synonym(name, *request.registry);
    return name != column && (name == "algorithm" || (synonym && synonym->name == "algorithm"));
  });
  if (!given && !other) *place = "algorithm";
}

std::string scalar_text(const nlohmann::json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

nlohmann::json parse_foreign_json(std::string_view text) {
  constexpr std::size_t max_bytes = std::size_t{64} << 20U;
  if (text.size() > max_bytes) fail("the JSON document is larger than 64 MiB (import it in parts)");
  try {
    return parse_checked_json<nlohmann::json>(text);
  } catch (const Message& why) {
    fail(why);
  } catch (const nlohmann::json::parse_error& error) {
    fail(make_message("invalid JSON at byte {}", error.byte));
  } catch (const nlohmann::json::out_of_range&) {
    fail("invalid JSON: a number is out of range");
  }
}

ForeignTable read_csv(std::string_view text) {
  CsvReader lines = table_reader(text);
  std::optional<CsvLine> header = lines.next();
  if (!header) fail("the file is empty");
  ForeignTable table{.header = std::move(*header), .rows = {}};
  while (std::optional<CsvLine> line = lines.next()) table.rows.push_back(std::move(*line));
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
  if (has_markdown_rule(start)) return ImportFormat::markdown;
  std::vector<std::string> header;
  try {
    CsvReader lines = table_reader(start);
    if (auto line = lines.next()) header = std::move(line->fields);
  } catch (const ImportError&) {
    return std::nullopt;  // the reader of the format reports it
  }
  const auto named = [&](std::string_view name) { return std::ranges::count(header, name) > 0; };
  if (named("AvgValue") && named("Metric")) return ImportFormat::nsight_python;
  if (named("GPU Time (sec)") && named("Benchmark")) return ImportFormat::nvbench;
  ColumnList columns;
  if (!plan_columns(header, {}, false, false, {}, columns).groups.front().provider.empty())
    return ImportFormat::providers;
  return std::nullopt;
}

}  // namespace attnscope::exchange
