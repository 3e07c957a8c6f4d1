// SPDX-License-Identifier: Apache-2.0
// A small table of text, for the terminal and for other programs.
#pragma once

#include <iosfwd>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "profiler/points/table.h"

namespace attnscope {

struct TableColumn {
  std::string name;
  bool number = false;  ///< aligned to the right; a bare number in JSON
};

struct Table {
  std::vector<TableColumn> columns;
  std::vector<std::vector<std::string>> rows;  ///< one field a column; an empty one is an absent value
};

/// A result: people read its columns' titles, programs their keys.
[[nodiscard]] Table table_of(const analysis::Table&, bool people);

void print_aligned(const Table&, std::ostream&);
void print_csv(const Table&, std::ostream&);
/// An object a row.
[[nodiscard]] nlohmann::ordered_json rows_of(const Table&);

}  // namespace attnscope
