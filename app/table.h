// SPDX-License-Identifier: Apache-2.0
// Tables on the terminal and for other programs.
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

/// A table of these texts, a field a column; an empty one is an absent value. A column without a title has its key.
[[nodiscard]] analysis::Table text_table(std::vector<analysis::Column> columns, TableRows rows);
[[nodiscard]] analysis::Column number_column(std::string key);

/// With titles, as people read it.
void print_aligned(const analysis::Table&, std::ostream&);
/// With keys, as programs read it.
void print_csv(const analysis::Table&, std::ostream&);
/// An object a row.
[[nodiscard]] nlohmann::ordered_json rows_of(const analysis::Table&);

/// Columns that say which point a row is about: every field and knob but the algorithm and the state of the cache.
[[nodiscard]] std::vector<analysis::Column> point_columns(const Registry&);
/// A row's fields below them.
[[nodiscard]] std::vector<std::string> point_texts(const PointSpec&, const Registry&);
/// For people: drops those of the columns above that have the field's fallback in every row (pass fwd, dropout 0, ...).
void drop_defaults(analysis::Table&, const Registry&);

template <class T>
void append(std::vector<T>& to, const std::vector<T>& more) {
  to.insert(to.end(), more.begin(), more.end());
}

}  // namespace attnscope
