// SPDX-License-Identifier: Apache-2.0
// Where a user's kernel has its tensors: each in a buffer of its own or several in one, by strides that are
// expressions.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/algorithm.h"
#include "kernels/user/expression.h"

namespace attnscope::user {

struct PlaceStatement {
  std::string tensor;                 ///< q, k, v, o, dout, dq, dk or dv
  std::string within;                 ///< the buffer that it is part of; empty: one of its own
  std::optional<Expression> at;       ///< elements before it there
  std::array<Expression, 3> strides;  ///< elements, from one batch entry, head and row to the next
  /// Batch entries follow one another and have as many rows as they have keys that are no padding.
  bool packed = false;
};

/// Layouts that have a word: bhnd, bnhd, bn3hd (q, k and v in one), thd (entries of different lengths in one).
[[nodiscard]] const std::vector<std::string_view>& layout_words();
/// What a word says. Pre: one of layout_words().
[[nodiscard]] std::vector<PlaceStatement> places_of(std::string_view word);
/// The condition under which a word's places hold; nothing for words that always do.
[[nodiscard]] std::optional<Expression> condition_of(std::string_view word);

/// Places tensors in the buffers of a plan, and adds those that hold several and rows' starts ("q_starts", "k_starts":
/// int32, batch + 1). Throws Message where strides have no value, or lay rows upon one another.
void place_tensors(std::vector<BufferSpec>& buffers, const std::vector<PlaceStatement>&, const AttentionProblem&,
                   const Variables&);

}  // namespace attnscope::user
