// SPDX-License-Identifier: Apache-2.0
// The theory beside the measurement: counts that need no kernel of ours. All in bytes unless a name says elements.
#pragma once

#include <cstdint>
#include <optional>

#include "kernels/model/attention.h"
#include "kernels/model/knobs.h"
#include "kernels/model/tile_program.h"

namespace attnscope {

/// Each input read once, each output written once: Q, K, V in, O out (K and V once per K/V head); backward Q, K, V, O
/// and dO in, dQ, dK and dV out; both: Q, K, V and dO in, O, dQ, dK and dV out. Inputs are counted where window and
/// lengths let a query see a key, outputs whole (what sees nothing is written as zeros); what a block mask leaves out
/// is counted all the same.
[[nodiscard]] Traffic compulsory_traffic(const AttentionProblem&);

/// Standard attention's HBM traffic, (4 N^2 + 4 N d) elements a head; generalised to n_q != n_k as
/// 4 n_q n_k + 2 (n_q + n_k) d. FlashAttention (arXiv 2205.14135v2) Theorem 2 gives Theta(Nd + N^2). Backward, by its
/// Algorithm 3: 7 N^2 + 8 N d, generalised to 7 n_q n_k + 4 (n_q + n_k) d.
[[nodiscard]] std::int64_t standard_attention_bytes(const AttentionProblem&);

/// FlashAttention as the paper's Fig. 2 counts it: (3 Tc + 1) N d elements a head, Tc = ceil(n_k / bc); backward
/// (4 Tc + 4) N d.
[[nodiscard]] std::int64_t flash_paper_bytes(const AttentionProblem&, int bc);

/// N^2 d^2 / M in bytes over all heads, without its constant (Theorem 2, d <= M <= N d): `m_elements` is M in elements.
[[nodiscard]] double n2d2_over_m_bytes(const AttentionProblem&, std::int64_t m_elements);

/// The paper's tile rule (Algorithm 1, line 1): Bc = ceil(M / 4d), Br = min(Bc, d), unrounded.
struct PaperTile {
  std::int64_t br = 0;
  std::int64_t bc = 0;
};
[[nodiscard]] PaperTile paper_tile(std::int64_t m_elements, std::int64_t d);

/// The rule for either loop order, as kernels have it: ceil(M / 4d) on the side that the traffic is divided by (FA1:
/// Bc, FA2: Br), at most d on the other, both in whole steps of the matrix instruction, 16, rounded down, one at least.
/// Pre: the side is br or bc, M and d are at least 1.
[[nodiscard]] TileShape tile_of_memory(std::int64_t m_elements, std::int64_t d, TileSide divides);

/// M of a tile that the rule gives, in elements: 4 d times the side that the traffic is divided by, the least M that it
/// gives this tile for where M/4d is a whole step. Empty for other tiles, and where no side divides.
[[nodiscard]] std::optional<std::int64_t> memory_of_tile(const TileShape&, std::int64_t d, TileSide divides);

}  // namespace attnscope
