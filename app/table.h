// SPDX-License-Identifier: Apache-2.0
// Tables as aligned text, CSV and JSON.
#pragma once

#include <iosfwd>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "kernels/registry.h"
#include "profiler/metrics/point.h"
#include "profiler/points/table.h"

namespace attnscope {

using TableRows = std::vector<std::vector<std::string>>;

/// Builds a table of strings; an empty string is a missing value. A column without a title uses its key.
[[nodiscard]] analysis::Table text_table(std::vector<analysis::Column> columns, TableRows rows);
[[nodiscard]] analysis::Column number_column(std::string key);

/// Pads with spaces to a display width.
[[nodiscard]] std::string pad_to_width(const std::string& text, std::size_t width, bool right);

/// Drops "_bytes" from titles, for tables whose values contain their unit.
void strip_byte_suffixes(std::vector<analysis::Column>& columns);

void print_aligned(const analysis::Table&, std::ostream&);
void print_csv(const analysis::Table&, std::ostream&);
[[nodiscard]] nlohmann::ordered_json rows_of(const analysis::Table&);

/// Columns for all fields and knobs of a point, except algorithm and cache.
[[nodiscard]] std::vector<analysis::Column> point_columns(const Registry&);
/// Cells of these columns for one point.
[[nodiscard]] std::vector<std::string> point_cells(const PointSpec&, const Registry&);
/// Removes columns that have the field's default in every row (pass fwd, dropout 0, ...).
void drop_default_columns(analysis::Table&, const Registry&);

template <class T>
void append(std::vector<T>& to, const std::vector<T>& more) {
  to.insert(to.end(), more.begin(), more.end());
}

}  // namespace attnscope
