// SPDX-License-Identifier: Apache-2.0
// Memory layout of a user kernel's tensors: in separate or shared buffers, with strides given as expressions.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/algorithm.h"
#include "kernels/user/expression.h"

namespace attnscope::user {

struct PlacementSpec {
  std::string tensor;                 ///< q, k, v, o, dout, dq, dk or dv
  std::string within;                 ///< name of the enclosing buffer; empty: a separate buffer
  std::optional<Expression> at;       ///< offset in the enclosing buffer in elements
  std::array<Expression, 3> strides;  ///< elements between batch entries, heads and rows
  /// Batch entries are concatenated; each has its unpadded number of rows.
  bool packed = false;
};

/// Named layouts: bhnd, bnhd, bn3hd (q, k and v in one buffer), thd (entries of different lengths, concatenated).
[[nodiscard]] const std::vector<std::string_view>& layout_names();
/// Tensor placements of a named layout. Pre: one of layout_names().
[[nodiscard]] std::vector<PlacementSpec> layout_placements(std::string_view word);
/// Condition that a named layout requires; empty if it has none.
[[nodiscard]] std::optional<Expression> layout_condition(std::string_view word);

/// Sets the placement of tensors in a plan's buffers; adds the enclosing buffers and the row offsets ("q_starts",
/// "k_starts": int32, batch + 1). Throws Message if a stride has no value or rows overlap.
void place_tensors(std::vector<BufferSpec>& buffers, const std::vector<PlacementSpec>&, const AttentionProblem&,
                   const Variables&);

}  // namespace attnscope::user
