// SPDX-License-Identifier: Apache-2.0
// What the blocks of the tiled algorithms compute of one Q tile against one K/V tile, for their tile programs: in the
// papers' order, whatever executes it.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <vector>

#include "kernels/model/attention.h"
#include "kernels/model/kernel_model.h"
#include "kernels/model/tile_program.h"

namespace attnscope {

/// The parts of these indices; no_part is none.
[[nodiscard]] OnChipParts parts_of(std::initializer_list<std::uint8_t>);

/// Where a block of a forward pass keeps things, by the names that the layouts have in common; no_part for what has no
/// name.
struct ForwardParts {
  explicit ForwardParts(std::span<const OnChipPart>);

  std::uint8_t q;
  std::uint8_t k;
  std::uint8_t v;
  std::uint8_t s;
  std::uint8_t p;
  std::uint8_t o;
  std::uint8_t o_out;       ///< O / l on its way out: O itself, or a place of its own
  std::uint8_t statistics;  ///< m and l
};

/// O = 0, l = 0, m = -inf for `rows` rows.
void append_cleared(std::vector<Computation>&, const ForwardParts&, const AttentionProblem&, std::int64_t rows);
/// The online softmax of `rows` query rows over `keys` keys; `o_rows` rows of O, where several sums of one row are kept
/// beside one another; an element of P has `weight_bytes`. Of the operands, the block needs `last` no more.
void append_attention(std::vector<Computation>&, const ForwardParts&, const AttentionProblem&, int weight_bytes,
                      std::int64_t rows, std::int64_t keys, std::int64_t o_rows, OnChipParts last);
/// O = O / l.
void append_normalized(std::vector<Computation>&, const ForwardParts&, const AttentionProblem&, std::int64_t rows,
                       OnChipParts frees = {});

/// Where a block of a backward pass keeps things.
struct BackwardParts {
  explicit BackwardParts(std::span<const OnChipPart>);

  std::uint8_t q;
  std::uint8_t k;
  std::uint8_t v;
  std::uint8_t o;
  std::uint8_t dout;
  std::uint8_t statistics;  ///< LSE and D; or m and l, and D
  std::uint8_t s;
  std::uint8_t p;  ///< S's, where P replaces it
  std::uint8_t dp;
  std::uint8_t ds;
  std::uint8_t dq;
  std::uint8_t dk;
  std::uint8_t dv;
};

/// dK = 0, dV = 0 for `keys` keys.
void append_cleared(std::vector<Computation>&, const BackwardParts&, const AttentionProblem&, std::int64_t keys);
/// The gradients from `rows` query rows and `keys` keys; dQ of `dq_rows` rows. `from_o`: D is computed out of O and dO.
/// Q, dO, O and the statistics are needed no more after it; K and V neither if it is the `last` that they are for.
void append_gradients(std::vector<Computation>&, const BackwardParts&, const AttentionProblem&, std::int64_t rows,
                      std::int64_t keys, std::int64_t dq_rows, bool from_o, bool last);

}  // namespace attnscope
