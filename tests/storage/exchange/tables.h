// SPDX-License-Identifier: Apache-2.0
// Helpers for export and import tests.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "profiler/metrics/metrics.h"
#include "storage/exchange/import.h"

namespace attnscope::testing {

/// Parses RFC 4180, independent of the product's reader.
inline std::vector<std::vector<std::string>> parse_csv(const std::string& text) {
  std::vector<std::vector<std::string>> rows{{""}};
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    std::string& field = rows.back().back();
    if (quoted) {
      if (c != '"') {
        field += c;
      } else if (i + 1 < text.size() && text[i + 1] == '"') {
        field += text[++i];
      } else {
        quoted = false;
      }
    } else if (c == '"') {
      quoted = true;
    } else if (c == ',') {
      rows.back().emplace_back();
    } else if (c == '\n') {
      rows.push_back({""});
    } else {
      field += c;
    }
  }
  rows.pop_back();  // the empty row after the last newline
  return rows;
}

using NamedFields = std::map<std::string, std::string>;

/// Returns the rows below the header, by column name.
inline std::vector<NamedFields> named_rows(const std::string& text) {
  const auto rows = parse_csv(text);
  std::vector<NamedFields> named;
  for (std::size_t row = 1; row < rows.size(); ++row) {
    EXPECT_EQ(rows[row].size(), rows[0].size());
    NamedFields& fields = named.emplace_back();
    for (std::size_t i = 0; i < rows[row].size(); ++i) fields[rows[0][i]] = rows[row][i];
  }
  return named;
}

inline Import imported(std::string_view text, ImportFormat format = ImportFormat::csv,
                       const ImportRequest& request = {}) {
  Result<Import, Message> result = import_points(text, format, request);
  EXPECT_TRUE(result.ok()) << (result.ok() ? "" : attnscope::text(result.error()));
  return result.ok() ? std::move(result).value() : Import{};
}

inline double metric_value(const PointRecord& point, std::string_view key) {
  const auto value = evaluate(key, point);
  EXPECT_TRUE(value.has_value()) << key;
  return value ? value->value : -1;
}

inline std::string import_error(std::string_view text, ImportFormat format = ImportFormat::csv,
                                const ImportRequest& request = {}) {
  const Result<Import, Message> result = import_points(text, format, request);
  EXPECT_FALSE(result.ok()) << text;
  return result.ok() ? "" : attnscope::text(result.error());
}

}  // namespace attnscope::testing
