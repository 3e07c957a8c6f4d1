// SPDX-License-Identifier: Apache-2.0
// Fields of a filter query (point_query.h): point fields (profiler/plan/fields.h), knobs, metrics, and the extra fields
// listed in query_fields.cpp.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/messages/message.h"
#include "profiler/points/point_table.h"

namespace attnscope::analysis {

struct QueryValue {
  std::vector<std::string> texts;     ///< equivalent texts; the first is offered in completions
  std::optional<double> number = {};  ///< for comparisons; empty if the point has no number here
};

/// Reads a field from a point table, which must outlive it.
struct QueryColumn {
  /// Equal keys mean equal values; none for fields whose values rarely repeat.
  std::function<std::uint64_t(Row)> key;
  std::function<QueryValue(Row)> value;
};

struct QueryField {
  std::string name;                     ///< "d", "status"
  bool bare = false;                    ///< words without a field name are searched in its texts
  bool number = false;                  ///< supports comparisons
  bool whole = false;                   ///< a word matches the whole text, not a part of it
  std::vector<std::string> words = {};  ///< complete list of words, if finite; for numbers, accepted non-numbers
  bool metric = false;
  std::string_view unit = {};  ///< metrics table unit, see query_units()
  /// Returns why a word cannot be a value, if `words` is empty; none: any word is accepted.
  std::function<Message(std::string_view)> wrong = {};
  std::function<QueryColumn(const PointTable&)> of = {};
};

/// Suffix of a number in a query: "1.5ms" is 1.5 x 1e6 ns.
struct QueryUnit {
  std::string_view suffix;
  double factor = 1;
};
/// Accepted suffixes of a unit, ascending by factor; empty if there are none.
[[nodiscard]] const std::vector<QueryUnit>& query_units(std::string_view unit);

/// All fields for a table: its point fields, knobs of its algorithms and points, extra fields, and all metrics.
[[nodiscard]] std::vector<QueryField> query_fields(const PointTable&);
/// Finds a field case-insensitively, also by an alias ("algo", "time"). Returns nullptr for an unknown name.
[[nodiscard]] const QueryField* find_query_field(const std::vector<QueryField>&, std::string_view name);
/// Names of the fields, including aliases ("N", "algo").
[[nodiscard]] std::vector<std::string> query_names(const std::vector<QueryField>&);

}  // namespace attnscope::analysis
