// SPDX-License-Identifier: Apache-2.0
// Filter query for points in one line: `algo:fa2 d:128 N>=4096 status:ok -naive`. Terms are separated by spaces; all
// must match:
//
//   field:value,value   any of the values: d:64,128 mask:causal device:H200. '=' works like ':'. A value matches the
//                       whole text or a part delimited by space, comma or colon (mask:window, device:A100). Presets
//                       match as a whole, because the label of an import may contain the name of a preset.
//   field>=number       also > < <= =; for number fields (N, d, br, warps, ...) and all metrics by key: time<1ms
//                       dram_bytes>1e9 l2_sm_bytes<=64MiB achieved_occupancy_pct>50
//   causal              substring of algorithm, pass, mask, type, status, provenance or reason
//   -term               negates the term
//
// Case-insensitive. Quote values with spaces. Whole numbers accept the suffixes k (1024) and M (1024^2), metrics their
// units (query_units()). Points without the metric match no comparison.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/messages/message.h"
#include "kernels/model/result.h"
#include "profiler/points/point_table.h"

namespace attnscope::analysis {

/// Maximum query length in bytes.
inline constexpr std::size_t longest_query = 2000;

class PointQuery {
 public:
  /// Matches all points.
  PointQuery() = default;

  /// Parses a query with the fields of query_fields(table). The error names the term, the problem and the fix.
  [[nodiscard]] static Result<PointQuery, Message> parse(std::string_view text, const PointTable& table);

  /// Returns true if the query has no terms, so that every point matches.
  [[nodiscard]] bool empty() const { return terms_.empty(); }
  /// Matching rows, ascending. A field that this table lacks matches no point.
  [[nodiscard]] std::vector<Row> rows(const PointTable& table) const;

  struct Term {
    bool negated = false;
    std::string_view op = ":";  ///< ':' (also for '='), "<", "<=", ">" or ">="
    std::string field = {};     ///< canonical name of query_fields(); empty: a bare word
    std::vector<std::string> words = {};
    std::vector<double> numbers = {};  ///< one of these for ':' and '=', else one number
  };

 private:
  std::vector<Term> terms_;
};

/// Completions of the term at the cursor.
struct QueryCompletion {
  std::size_t begin = 0;  ///< byte range to replace
  std::size_t end = 0;
  bool begun = false;                   ///< text of the term precedes the cursor
  std::vector<std::string> texts = {};  ///< replacements: "d:", "fa2", "\"NVIDIA H200\""
};
/// Completes field names, and after a field its values in the table; at most `most`. `cursor` is a byte offset.
[[nodiscard]] QueryCompletion complete(std::string_view text, std::size_t cursor, const PointTable& table,
                                       std::size_t most = 50);

}  // namespace attnscope::analysis
