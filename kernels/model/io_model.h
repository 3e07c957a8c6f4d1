// SPDX-License-Identifier: Apache-2.0
// Theoretical traffic that does not depend on a kernel. In bytes unless the name has `elements`.
#pragma once

#include <cstdint>
#include <optional>

#include "kernels/model/attention.h"
#include "kernels/model/knobs.h"
#include "kernels/model/tile_program.h"

namespace attnscope {

/// Query rows that see a key, and keys that a row sees: per head, over the batch.
struct SeenCounts {
  std::int64_t queries = 0;
  std::int64_t keys = 0;
};
[[nodiscard]] SeenCounts count_seen(const AttentionProblem&);

/// Compulsory bytes: each input read once, each output written once. Forward: Q, K, V in, O out (K and V once per K/V
/// head). Backward: Q, K, V, O and dO in, dQ, dK and dV out. Both: Q, K, V and dO in, O, dQ, dK and dV out. A row of an
/// input counts if the mask lets a query see a key of it; outputs count whole (rows that see nothing are written as
/// zeros). Q, K, V and dO have bytes_per_element(), O and gradients output_bytes(): 1 and 2 for fp8.
[[nodiscard]] Traffic compulsory_traffic(const AttentionProblem&);

// Counts of the FlashAttention paper (arXiv 2205.14135v2), generalized from N = n_q = n_k and H heads to n_q, n_k, H_q
// query heads and H_kv K/V heads. K, V, dK and dV count once per K/V head. Masks are ignored.

/// HBM traffic of standard attention, Theta(Nd + N^2) by Theorem 2. Elements: H_q (4 n_q n_k + 2 n_q d) + H_kv 2 n_k d,
/// which is 4 N^2 + 4 N d; backward, by Algorithm 3: H_q (7 n_q n_k + 4 n_q d) + H_kv 4 n_k d.
[[nodiscard]] std::int64_t standard_attention_bytes(const AttentionProblem&);

/// FlashAttention traffic as counted for Fig. 2, with Tc = ceil(n_k / bc) K/V tiles. Forward: each tile reads Q, reads
/// O (except the first tile) and writes O. Elements: H_q (3 Tc - 1) n_q d + H_kv 2 n_k d, in the paper (3 Tc + 1) N d.
/// Backward: each tile reads Q and dO and updates dQ: H_q 4 Tc n_q d + H_kv 4 n_k d, in the paper (4 Tc + 4) N d.
/// A kernel with one block per query head instead reads K and V once per query head.
[[nodiscard]] std::int64_t flash_paper_bytes(const AttentionProblem&, int bc);

/// N^2 d^2 / M in bytes over all heads, without the constant (Theorem 2, d <= M <= N d). `m_elements`: M in elements.
[[nodiscard]] double n2d2_over_m_bytes(const AttentionProblem&, std::int64_t m_elements);

/// Tile rule of the paper (Algorithm 1, line 1): Bc = ceil(M / 4d), Br = min(Bc, d), unrounded.
struct PaperTile {
  std::int64_t br = 0;
  std::int64_t bc = 0;
};
[[nodiscard]] PaperTile paper_tile(std::int64_t m_elements, std::int64_t d);

/// Tile rule for both loop orders, as kernels use it: ceil(M / 4d) on the side by which the traffic is divided (FA1:
/// Bc, FA2: Br), at most d on the other. Both are rounded down to multiples of 16 (the matrix instruction), at least
/// 16. Pre: `divides` is br or bc; M and d are at least 1.
[[nodiscard]] TileShape tile_of_memory(std::int64_t m_elements, std::int64_t d, TileSide divides);

/// M in elements for a tile of the rule: 4 d times the side `divides`, the smallest M with this tile if M/4d is a
/// multiple of 16. Empty for other tiles and for TileSide::none.
[[nodiscard]] std::optional<std::int64_t> memory_of_tile(const TileShape&, std::int64_t d, TileSide divides);

}  // namespace attnscope
