// SPDX-License-Identifier: Apache-2.0
// The Tr x Tc grid of tiles over the score matrix, and which of its tiles the mask leaves something of: what the
// FlashAttention kernels have in common.
#pragma once

#include <cstdint>

#include "kernels/attention.h"

namespace attnscope {

class TileGrid {
 public:
  /// Pre: invalid_reason(problem) is empty; br, bc > 0.
  TileGrid(const AttentionProblem& problem, const TileShape& tile);

  [[nodiscard]] std::int64_t q_tiles() const { return q_tiles_; }  ///< Tr = ceil(n_q / Br)
  [[nodiscard]] std::int64_t k_tiles() const { return k_tiles_; }  ///< Tc = ceil(n_k / Bc)
  [[nodiscard]] std::int64_t q_rows(std::int64_t i) const;         ///< rows of Q tile i inside the matrix
  [[nodiscard]] std::int64_t k_rows(std::int64_t j) const;         ///< rows of K tile j inside the matrix

  /// K tiles [0, k_tiles_seen(i)) hold a key that some row of Q tile i sees; 0 when all its rows are empty.
  [[nodiscard]] std::int64_t k_tiles_seen(std::int64_t i) const;
  /// Q tiles [first_q_tile(j), Tr) see something of K tile j. The last Q tile sees every key, so the range is never
  /// empty.
  [[nodiscard]] std::int64_t first_q_tile(std::int64_t j) const;

  /// Rows of the Q tiles that see any key: all but the first ones where a causal mask leaves rows empty.
  [[nodiscard]] std::int64_t query_rows_touched() const { return n_q_ - first_q_tile(0) * br_; }
  /// Sum of k_tiles_seen(i) over all i: the tiles that are computed. O(log) steps.
  [[nodiscard]] std::int64_t tiles_seen() const;
  /// Sum over all i of the rows of K tiles [0, k_tiles_seen(i)): how many rows of K all Q tiles read. O(log) steps.
  [[nodiscard]] std::int64_t key_rows_seen() const;
  /// Sum over all i of q_rows(i) * k_tiles_seen(i): how many rows of Q all K tiles read. O(log) steps.
  [[nodiscard]] std::int64_t query_rows_seen() const;

 private:
  /// The number of keys that the last row of Q tile i sees, if positive. Pre: causal, i < Tr - 1 (the last tile sees
  /// all n_k).
  [[nodiscard]] std::int64_t causal_end(std::int64_t i) const { return (i + 1) * br_ + n_k_ - n_q_; }

  bool causal_;
  std::int64_t n_q_;
  std::int64_t n_k_;
  std::int64_t br_;
  std::int64_t bc_;
  std::int64_t q_tiles_;
  std::int64_t k_tiles_;
};

}  // namespace attnscope
