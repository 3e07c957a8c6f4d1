// SPDX-License-Identifier: Apache-2.0
// Which points are shown, in one line: `algo:fa2 d:128 N>=4096 status:ok -naive`. Words separated by spaces, all of
// which must hold:
//
//   field:value,value   any of these values: d:64,128 mask:causal device:H200. Also with '='. A word is the whole
//   value,
//                       or one of the words it is made of (mask:window, device:A100)
//   field>=number       and > < <= =; of fields that are numbers (N, d, br, warps, ...), and of every metric, by
//   its
//                       key: time<1ms dram_bytes>1e9 l2_sm_bytes<=64MiB achieved_occupancy_pct>50
//   causal              any other word: part of the algorithm, pass, mask, type, status, origin or reason
//   -word               what the rest of the word says does not hold
//
// Upper and lower case count the same. A value with spaces stands in quotation marks. A whole number may end in k
// (1024) or M (1024^2), a metric's number in what it is measured in (query_units()); a point that does not have the
// metric fits no comparison.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/messages/message.h"
#include "kernels/model/result.h"
#include "profiler/points/point_table.h"

namespace attnscope::analysis {

/// In bytes; longer ones are refused.
inline constexpr std::size_t longest_query = 2000;

class PointQuery {
 public:
  /// All points.
  PointQuery() = default;

  /// Names are those of query_fields(table). The error names the word of the query, what is wrong with it and what to
  /// write instead.
  [[nodiscard]] static Result<PointQuery, Message> parse(std::string_view text, const PointTable& table);

  /// Whether it asks for nothing: every point fits.
  [[nodiscard]] bool empty() const { return terms_.empty(); }
  /// The rows that fit, ascending. A field that this table does not have is one that no point states.
  [[nodiscard]] std::vector<Row> rows(const PointTable& table) const;

  enum class Sign { is, less, at_most, greater, at_least };
  struct Term {
    bool negated = false;
    Sign sign = Sign::is;
    std::string field = {};               ///< as query_fields() calls it; empty: a bare word
    std::vector<std::string> words = {};  ///< in lower case
    std::vector<double> numbers = {};     ///< of these one
  };

 private:
  std::vector<Term> terms_;
};

/// What the word at the cursor can become.
struct QueryCompletion {
  std::size_t begin = 0;  ///< in bytes: what is replaced
  std::size_t end = 0;
  bool begun = false;                   ///< there is something of it to the left of the cursor
  std::vector<std::string> texts = {};  ///< "d:", "fa2", "\"NVIDIA H200\"": in its place
};
/// Names of fields, and behind a field the values that occur in the table; at most `most` of them. `cursor` in bytes.
[[nodiscard]] QueryCompletion complete(std::string_view text, std::size_t cursor, const PointTable& table,
                                       std::size_t most = 50);

}  // namespace attnscope::analysis
