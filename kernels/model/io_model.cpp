// SPDX-License-Identifier: Apache-2.0
#include "kernels/model/io_model.h"

#include <algorithm>
#include <memory>

#include "kernels/model/block_pattern.h"
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

using RowRange = KeyRange;

/// Rows of one side: row x interacts with the rows [x + low, x + high] of the other side, if those exist.
struct Band {
  std::int64_t rows = 0;
  std::int64_t other_rows = 0;
  std::int64_t low = 0;
  std::int64_t high = 0;

  /// Rows of [first, last) that interact with a row of [other_first, other_last), as [first, last).
  [[nodiscard]] RowRange partners(std::int64_t first, std::int64_t last, std::int64_t other_first,
                                  std::int64_t other_last) const {
    const std::int64_t from = std::clamp(other_first - high, first, last);
    return {.first = from, .last = std::clamp(other_last - low, from, last)};
  }
};

/// Rows of a band that interact with any row through a block mask. `visible(line, first, last)`: number of visible
/// squares [first, last) of a line of squares.
template <class Visible>
std::int64_t count_partners(const Band& band, std::int64_t size, const Visible& visible) {
  std::int64_t count = 0;
  for (std::int64_t x = 0; x < band.rows; x += size) {
    const std::int64_t end = std::min(x + size, band.rows);
    const std::int64_t line = x / size;
    const std::int64_t first = std::clamp<std::int64_t>(x + band.low, 0, band.other_rows) / size;
    const std::int64_t last = ceil_div(std::clamp<std::int64_t>(end + band.high, 0, band.other_rows), size);
    // Whole squares interact with every row of the line, others with the first or the last rows.
    const auto range = [&](std::int64_t j) {
      return band.partners(x, end, j * size, std::min((j + 1) * size, band.other_rows));
    };
    const auto is_whole = [&](std::int64_t j) { return range(j) == RowRange{.first = x, .last = end}; };
    std::int64_t whole_first = first;
    while (whole_first < last && !is_whole(whole_first)) ++whole_first;
    std::int64_t whole_last = last;
    while (whole_last > whole_first && !is_whole(whole_last - 1)) --whole_last;
    if (visible(line, whole_first, whole_last) > 0) {
      count += end - x;
      continue;
    }
    std::int64_t counted = x;
    for (std::int64_t j = first; j < last; ++j) {
      if (j == whole_first) j = whole_last;
      if (j == last || visible(line, j, j + 1) == 0) continue;
      const RowRange rows = range(j);
      count += std::max<std::int64_t>(rows.last - std::max(rows.first, counted), 0);
      counted = std::max(counted, rows.last);
    }
  }
  return count;
}

}  // namespace

SeenCounts count_seen(const AttentionProblem& p) {
  SeenCounts seen;
  std::shared_ptr<const BlockPattern> pattern;
  const std::int64_t size = p.mask.block_size;
  if (p.mask.has_block_mask()) pattern = BlockPattern::of(p.mask, ceil_div(p.n_q, size), ceil_div(p.n_k, size));
  for (const auto& [length, entries] : length_counts(p)) {
    if (length == 0) continue;
    const std::int64_t far = p.n_q + p.n_k;
    const std::int64_t low = p.mask.left == Mask::unlimited ? -far : length - p.n_q - p.mask.left;
    const std::int64_t high = p.mask.right == Mask::unlimited ? far : length - p.n_q + p.mask.right;
    const Band queries{.rows = p.n_q, .other_rows = length, .low = low, .high = high};
    const Band keys{.rows = length, .other_rows = p.n_q, .low = -high, .high = -low};
    const auto count = [&](const Band& band, auto counts_in_line) {
      if (!pattern) {
        const RowRange all = band.partners(0, band.rows, 0, band.other_rows);
        return all.last - all.first;
      }
      return count_partners(band, size, [&](std::int64_t line, std::int64_t first, std::int64_t last) {
        return ((*pattern).*counts_in_line)(line, first, last);
      });
    };
    seen.queries += entries * count(queries, &BlockPattern::count_in_row);
    seen.keys += entries * count(keys, &BlockPattern::count_in_column);
  }
  return seen;
}

namespace {

/// Bytes of all rows of Q and of K, as inputs and as outputs.
struct RowBytes {
  explicit RowBytes(const AttentionProblem& p)
      : q_in(p.instances() * p.n_q * p.d * bytes_per_element(p.dtype)),
        q_out(p.instances() * p.n_q * p.d * output_bytes(p.dtype)),
        k_in(p.kv_instances() * p.n_k * p.d * bytes_per_element(p.dtype)),
        k_out(p.kv_instances() * p.n_k * p.d * output_bytes(p.dtype)) {}
  std::int64_t q_in;
  std::int64_t q_out;
  std::int64_t k_in;
  std::int64_t k_out;
};

}  // namespace

Traffic compulsory_traffic(const AttentionProblem& p) {
  const RowBytes all(p);
  const SeenCounts seen = count_seen(p);
  const std::int64_t q = p.heads_q * seen.queries * p.d * bytes_per_element(p.dtype);
  const std::int64_t o = p.heads_q * seen.queries * p.d * output_bytes(p.dtype);
  const std::int64_t kv = 2 * p.heads_kv * seen.keys * p.d * bytes_per_element(p.dtype);
  const Traffic forward{.l2_to_sm_bytes = q + kv, .sm_to_l2_bytes = all.q_out};
  const Traffic backward{.l2_to_sm_bytes = 2 * q + o + kv, .sm_to_l2_bytes = all.q_out + 2 * all.k_out};
  // The passes share Q, K, V and O.
  const Traffic both{.l2_to_sm_bytes = 2 * q + kv, .sm_to_l2_bytes = 2 * all.q_out + 2 * all.k_out};
  return p.pass == Pass::fwd_bwd ? both : over_pass(p.pass, forward, backward);
}

std::int64_t standard_attention_bytes(const AttentionProblem& p) {
  const RowBytes rows(p);
  const std::int64_t scores = p.instances() * p.n_q * p.n_k * bytes_per_element(p.dtype);
  return over_pass(p.pass, 4 * scores + rows.q_in + rows.q_out + 2 * rows.k_in,
                   7 * scores + 3 * rows.q_in + rows.q_out + 2 * (rows.k_in + rows.k_out));
}

std::int64_t flash_paper_bytes(const AttentionProblem& p, int bc) {
  const RowBytes rows(p);
  const std::int64_t tc = ceil_div(p.n_k, bc);
  return over_pass(p.pass, tc * rows.q_in + (2 * tc - 1) * rows.q_out + 2 * rows.k_in,
                   2 * tc * (rows.q_in + rows.q_out) + 2 * (rows.k_in + rows.k_out));
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
