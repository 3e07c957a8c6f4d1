// SPDX-License-Identifier: Apache-2.0
// What a query (point_query.h) can ask of a point. Derived from the table of fields (profiler/plan/fields.h) and the
// knobs of the algorithms and of the points; what a point has beside them is a line of a table in query_fields.cpp.
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
  std::vector<std::string> texts;     ///< each of them is the value; the first is the one that is offered
  std::optional<double> number = {};  ///< what is compared; none where the point does not state it
};

/// A field of the points of one table, which has to outlive it.
struct QueryColumn {
  /// Equal for equal values alone; none where hardly any two points agree.
  std::function<std::uint64_t(Row)> key;
  std::function<QueryValue(Row)> value;
};

struct QueryField {
  std::string name;                     ///< "d", "status"
  bool bare = false;                    ///< a bare word of a query is looked for in it, as a part of its texts
  bool number = false;                  ///< can be compared
  std::vector<std::string> words = {};  ///< where there are no other: all of its words; of a number, words beside it
  bool metric = false;                  ///< of the metrics table
  std::string_view unit = {};  ///< that of the metrics table, which a number may be written with: query_units()
  /// Where `words` does not say: why the word cannot be a value; empty where it can. None: any word can.
  std::function<Message(std::string_view)> wrong = {};
  std::function<QueryColumn(const PointTable&)> of = {};
};

/// How a number of a unit of the metrics table may be written: "1.5ms" is 1.5 x 1e6 ns.
struct QueryUnit {
  std::string_view unit;
  std::string_view suffix;
  double factor = 1;  ///< in `unit`
};
/// Of the unit, ascending by factor; none for numbers that are written without.
[[nodiscard]] std::vector<QueryUnit> query_units(std::string_view unit);

/// Of this table's fields, of the knobs that its algorithms state and that its points have, the others, and each line
/// of the metrics table.
[[nodiscard]] std::vector<QueryField> query_fields(const PointTable&);
/// Upper and lower case count the same, as they do for axes, "algo" is "algorithm" and "time" the median; nullptr for
/// an unknown name.
[[nodiscard]] const QueryField* find_query_field(const std::vector<QueryField>&, std::string_view name);
/// What fields are called, other names of theirs ("N", "algo") among them.
[[nodiscard]] std::vector<std::string> query_names(const std::vector<QueryField>&);

}  // namespace attnscope::analysis
