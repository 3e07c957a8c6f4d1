// SPDX-License-Identifier: Apache-2.0
// A small table of text, for the terminal and for other programs.
#pragma once

#include <iosfwd>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "kernels/registry.h"
#include "profiler/metrics/point.h"
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

/// Columns that say which point a row is about: every field and knob but the algorithm and the state of the cache.
[[nodiscard]] std::vector<TableColumn> point_columns(const Registry&);
/// A row's fields below them.
[[nodiscard]] std::vector<std::string> point_texts(const PointSpec&, const Registry&);

/// For people: without those of the columns above that say in every row what goes without saying (pass fwd, dropout 0,
/// ...).
[[nodiscard]] Table without_defaults(const Table&, const Registry&);

template <class T>
void append(std::vector<T>& to, const std::vector<T>& more) {
  to.insert(to.end(), more.begin(), more.end());
}

}  // namespace attnscope
