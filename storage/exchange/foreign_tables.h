// SPDX-License-Identifier: Apache-2.0
// Adapters that convert tables of other programs to the columns of import_table(). Internal to storage/exchange.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "storage/exchange/csv_reader.h"
#include "storage/exchange/import.h"

namespace attnscope::exchange {

/// Header names may have units. If a column is named "metric", rows are values (import_table()).
struct ForeignTable {
  CsvLine header;
  std::vector<CsvLine> rows;
  std::vector<Message> notes = {};
};

/// Output of `bench --json` or `bench --csv` of NVBench.
[[nodiscard]] ForeignTable read_nvbench(std::string_view text, const ImportRequest&);
/// Cache file of Kernel Tuner. Tunable parameters that are no fields become part of the algorithm's name.
[[nodiscard]] ForeignTable read_kernel_tuner(std::string_view text, const ImportRequest&);
/// CSV of nsight-python: one row per configuration and metric.
[[nodiscard]] ForeignTable read_nsight_python(std::string_view text, const ImportRequest&);
/// The first table of a Markdown document.
[[nodiscard]] ForeignTable read_markdown(std::string_view text, const ImportRequest&);
/// Returns true if a line separates the heading of a Markdown table from its rows.
[[nodiscard]] bool has_markdown_rule(std::string_view text);
/// A CSV table.
[[nodiscard]] ForeignTable read_csv(std::string_view text);

/// Parses a JSON document of another program. Throws ImportError if it is malformed, nested deeper than 32 levels or
/// larger than 64 MiB.
[[nodiscard]] nlohmann::json parse_foreign_json(std::string_view text);

/// Returns a string's text, or the JSON of any other value.
[[nodiscard]] std::string scalar_text(const nlohmann::json& value);

/// Renames the column to "algorithm" unless another column or the user names the algorithm.
void name_algorithm(ForeignTable&, std::string_view column, const ImportRequest&);

/// Returns the format of a CSV or Markdown table, or of a JSON document that is no export; nullopt for others.
[[nodiscard]] std::optional<ImportFormat> detect_foreign_format(std::string_view text);

}  // namespace attnscope::exchange
