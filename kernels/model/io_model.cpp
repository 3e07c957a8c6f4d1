// SPDX-License-Identifier: Apache-2.0
#include "kernels/model/io_model.h"

#include <algorithm>

#include "kernels/model/integer.h"

namespace attnscope {
namespace {

/// Granularity of tile sides: the matrix instruction.
constexpr std::int64_t matrix_step = 16;
/// Maximum tile side, as on the tile axes.
constexpr std::int64_t most_rows = 4096;

template <class Count>
Count over_pass(Pass pass, Count forward, const Count& backward) {
  if (pass == Pass::bwd) return backward;
  if (pass == Pass::fwd_bwd) forward += backward;
  return forward;
}

/// Query rows that see a key, and keys that a row sees, through window and lengths: per head, over the batch.
struct SeenCounts {
  std::int64_t queries = 0;
  std::int64_t keys = 0;
};

SeenCounts count_seen(const AttentionProblem& p) {
  SeenCounts seen;
  for (const auto& [length, entries] : length_counts(p)) {
    if (length == 0) continue;
    // The window moves by one key per row and ends with the last key: only the first rows can see no key, and the keys
    // seen by all rows are contiguous.
    const bool bounded = p.mask.right != Mask::unlimited;
    const std::int64_t rows_without_keys =
        bounded ? std::clamp<std::int64_t>(p.n_q - length - p.mask.right, 0, p.n_q) : 0;
    seen.queries += entries * (p.n_q - rows_without_keys);
    seen.keys +=
        entries * (visible_keys_for_length(p, length, p.n_q - 1).last - visible_keys_for_length(p, length, 0).first);
  }
  return seen;
}

}  // namespace

Traffic compulsory_traffic(const AttentionProblem& p) {
  const std::int64_t row = p.d * bytes_per_element(p.dtype);
  const std::int64_t q = p.instances() * p.n_q * p.d * output_bytes(p.dtype);
  const std::int64_t kv = p.kv_instances() * p.n_k * row;
  const SeenCounts seen = count_seen(p);
  const std::int64_t visible_q_bytes = p.heads_q * seen.queries * row;
  const std::int64_t visible_kv_bytes = p.heads_kv * seen.keys * row;
  const Traffic forward{.l2_to_sm_bytes = visible_q_bytes + 2 * visible_kv_bytes, .sm_to_l2_bytes = q};
  // O, dO, Q and K, V once; dQ, dK, dV once.
  const Traffic backward{.l2_to_sm_bytes = 3 * visible_q_bytes + 2 * visible_kv_bytes, .sm_to_l2_bytes = q + 2 * kv};
  // Q, K, V and O are shared by the passes and need not be read again.
  const Traffic both{.l2_to_sm_bytes = 2 * visible_q_bytes + 2 * visible_kv_bytes, .sm_to_l2_bytes = 2 * q + 2 * kv};
  return p.pass == Pass::fwd_bwd ? both : over_pass(p.pass, forward, backward);
}

std::int64_t standard_attention_bytes(const AttentionProblem& p) {
  const std::int64_t scores = p.n_q * p.n_k;
  const std::int64_t rows = (p.n_q + p.n_k) * p.d;
  return p.instances() * over_pass(p.pass, 4 * scores + 2 * rows, 7 * scores + 4 * rows) * bytes_per_element(p.dtype);
}

std::int64_t flash_paper_bytes(const AttentionProblem& p, int bc) {
  const std::int64_t tc = ceil_div(p.n_k, bc);
  return p.instances() * over_pass(p.pass, 3 * tc + 1, 4 * tc + 4) * p.n_q * p.d * bytes_per_element(p.dtype);
}

double n2d2_over_m_bytes(const AttentionProblem& p, std::int64_t m_elements) {
  const double heads_bytes = static_cast<double>(p.instances()) * bytes_per_element(p.dtype);
  const double n2 = static_cast<double>(p.n_q) * static_cast<double>(p.n_k);
  const double d2 = static_cast<double>(p.d) * static_cast<double>(p.d);
  return heads_bytes * n2 * d2 / static_cast<double>(m_elements);
}

PaperTile paper_tile(std::int64_t m_elements, std::int64_t d) {
  const std::int64_t bc = ceil_div(m_elements, 4 * d);
  return {.br = std::min(bc, d), .bc = bc};
}

TileShape tile_of_memory(std::int64_t m_elements, std::int64_t d, TileSide divides) {
  const PaperTile rule = paper_tile(m_elements, d);
  const auto round_to_step = [](std::int64_t rows) {
    return static_cast<int>(std::clamp<std::int64_t>(rows / matrix_step * matrix_step, matrix_step, most_rows));
  };
  const TileShape first{.br = round_to_step(rule.br), .bc = round_to_step(rule.bc)};
  return divides == TileSide::br ? TileShape{.br = first.bc, .bc = first.br} : first;
}

std::optional<std::int64_t> memory_of_tile(const TileShape& tile, std::int64_t d, TileSide divides) {
  if (divides == TileSide::none || tile.br < 1 || tile.bc < 1 || d < 1) return std::nullopt;
  const std::int64_t m = 4 * d * (divides == TileSide::br ? tile.br : tile.bc);
  return tile_of_memory(m, d, divides) == tile ? std::optional(m) : std::nullopt;
}

}  // namespace attnscope
