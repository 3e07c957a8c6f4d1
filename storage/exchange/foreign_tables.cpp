// SPDX-License-Identifier: Apache-2.0
#include "storage/exchange/foreign_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "storage/exchange/import_columns.h"
#include "storage/exchange/import_values.h"

namespace attnscope::exchange {
namespace {

struct ProviderColumn {
  std::size_t place = 0;
  std::string provider;
  ScaledColumn measurement;

  /// Returns the value in the program's unit; a text that is no number unchanged.
  [[nodiscard]] std::string value(const CsvLine& line) const {
    const std::string& text = line.fields[place];
    const auto amount = number(text);
    return amount ? fmt::format("{}", *amount * measurement.scale) : text;
  }
};

/// Parses "Triton [FP16] (TFLOPS)"; nullopt for columns without a provider and a unit.
std::optional<ProviderColumn> parse_provider_column(std::size_t place, const std::string& name,
                                                    const Registry& registry) {
  const bool bracket = name.ends_with(')') || name.ends_with(']');
  const std::size_t at = name.find_last_of("([");
  if (!bracket || at == std::string::npos || at == 0 || is_recognized_column(name, registry)) return std::nullopt;
  const std::string unit = name.substr(at + 1, name.size() - at - 2);
  std::string provider = name.substr(0, at);
  provider.erase(provider.find_last_not_of(' ') + 1);
  const auto rate = parse_synonym(unit, registry);
  const auto time = parse_synonym("time " + unit, registry);
  const bool is_rate = rate && rate->name == metric_key::tflops && rate->skipped.empty();
  const bool is_time = time && time->name == time_column::time;
  if (provider.empty() || (!is_rate && !is_time)) return std::nullopt;
  return ProviderColumn{place, std::move(provider), is_rate ? *rate : *time};
}

std::vector<ProviderColumn> provider_columns(std::span<const std::string> header, const ImportRequest& request) {
  std::vector<ProviderColumn> providers;
  for (std::size_t i = 0; i < header.size(); ++i) {
    const bool decided = std::ranges::count(request.ignore, header[i]) > 0 ||
                         std::ranges::count(request.map, header[i], &ColumnMapping::column) > 0;
    auto column = decided ? std::nullopt : parse_provider_column(i, header[i], *request.registry);
    if (column) providers.push_back(std::move(*column));
  }
  return providers;
}

}  // namespace

bool has_provider_columns(std::span<const std::string> header, const ImportRequest& request) {
  return !provider_columns(header, request).empty();
}

ForeignTable split_providers(ForeignTable table, const ImportRequest& request) {
  const std::vector<ProviderColumn> providers = provider_columns(table.header.fields, request);
  if (providers.empty()) return table;
  ForeignTable split{.header = {.number = table.header.number, .fields = {}}, .rows = {}, .notes = table.notes};
  std::vector<std::size_t> shared;
  for (std::size_t i = 0; i < table.header.fields.size(); ++i) {
    if (std::ranges::count(providers, i, &ProviderColumn::place) == 0) shared.push_back(i);
  }
  std::vector<std::string>& names = split.header.fields;
  for (const std::size_t i : shared) names.push_back(table.header.fields[i]);
  names.emplace_back("algorithm");
  for (const ProviderColumn& provider : providers) {
    if (std::ranges::count(names, provider.measurement.name) == 0) names.push_back(provider.measurement.name);
  }
  for (const CsvLine& line : table.rows) {
    require_field_count(table.header, line);
    for (const ProviderColumn& provider : providers) {
      CsvLine& row = split.rows.emplace_back(CsvLine{.number = line.number, .fields = {}});
      for (const std::size_t i : shared) row.fields.push_back(line.fields[i]);
      row.fields.push_back(provider.provider);
      for (std::size_t i = row.fields.size(); i < names.size(); ++i) {
        const bool is_value = names[i] == provider.measurement.name;
        row.fields.push_back(is_value ? provider.value(line) : std::string());
      }
    }
  }
  return split;
}

void name_algorithm(ForeignTable& table, std::string_view column, const ImportRequest& request) {
  const auto place = std::ranges::find(table.header.fields, column);
  if (place == table.header.fields.end()) return;
  const bool given = std::ranges::count(request.given, "algorithm", &GivenField::field) > 0 ||
                     std::ranges::count(request.map, "algorithm", &ColumnMapping::field) > 0;
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
  static constexpr int max_depth = 32;
  constexpr std::size_t max_bytes = std::size_t{64} << 20U;
  if (text.size() > max_bytes) fail("the JSON document is larger than 64 MiB (import it in parts)");
  const auto limit = [](int depth, nlohmann::json::parse_event_t /*event*/, nlohmann::json& /*parsed*/) {
    if (depth > max_depth) fail(make_message("JSON nested deeper than {} levels", max_depth));
    return true;
  };
  try {
    return nlohmann::json::parse(text, limit);
  } catch (const nlohmann::json::parse_error& error) {
    fail(make_message("invalid JSON at byte {}", error.byte));
  } catch (const nlohmann::json::out_of_range&) {
    fail("invalid JSON: a number is out of range");
  }
}

ForeignTable read_csv(std::string_view text) {
  CsvReader lines(text, 1, detect_separator(text));
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
  std::vector<std::string> header;
  try {
    CsvReader lines(start, 1, detect_separator(text));
    if (auto line = lines.next()) header = std::move(line->fields);
  } catch (const ImportError&) {
    return std::nullopt;  // the reader of the format reports it
  }
  const auto named = [&](std::string_view name) { return std::ranges::count(header, name) > 0; };
  if (named("AvgValue") && named("Metric")) return ImportFormat::nsight_python;
  if (named("GPU Time (sec)") && named("Benchmark")) return ImportFormat::nvbench;
  if (has("|---") || has("| ---") || has("|:--") || has("| :--")) return ImportFormat::markdown;
  if (has_provider_columns(header, {})) return ImportFormat::providers;
  return std::nullopt;
}

}  // namespace attnscope::exchange
