// SPDX-License-Identifier: Apache-2.0
// Tile programs and closed forms of the split-KV kernels.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>

#include "kernels/common_knobs.h"
#include "kernels/model/attention.h"
#include "kernels/model/integer.h"
#include "kernels/model/kernel_model.h"
#include "kernels/model/tile_program.h"
#include "kernels/splitkv/splitkv_shape.h"

namespace attnscope::splitkv {

inline constexpr std::int64_t table_entry_bytes = 4;

/// Query rows packed into the Q tile of a K/V head's block: all rows that share the head, contiguous in memory.
[[nodiscard]] std::int64_t packed_rows(const AttentionProblem&);

/// One problem divided into splits; shared by the programs and closed forms of both launches.
class SplitGrid {
 public:
  SplitGrid(const AttentionProblem& problem, int splits)
      : p_(problem),
        splits_(splits),
        rows_(packed_rows(problem)),
        lse_rows_(splitkv::lse_rows(static_cast<int>(rows_))),
        pages_(problem.page > 0 ? ceil_div(problem.n_k, problem.page) : 0) {}

  [[nodiscard]] const AttentionProblem& problem() const { return p_; }
  [[nodiscard]] int splits() const { return splits_; }
  [[nodiscard]] std::int64_t rows() const { return rows_; }
  /// Rows of partial LSE, padded to whole sectors.
  [[nodiscard]] std::int64_t lse_rows() const { return lse_rows_; }

  /// Index of the partial result of a split of a K/V head.
  [[nodiscard]] std::int64_t part_index(std::int64_t split, std::int64_t kv) const { return kv * splits_ + split; }

  [[nodiscard]] KeyRange keys(std::int64_t kv, std::int64_t split) const {
    const auto [first, last] =
        split_keys(static_cast<int>(key_length(p_, kv / p_.heads_kv)), static_cast<int>(split), splits_);
    return {first, std::max(first, last)};
  }
  /// Number of leading splits with keys, for the K/V heads of a batch entry.
  [[nodiscard]] std::int64_t used_splits(std::int64_t entry) const {
    return nonempty_split_count(static_cast<int>(key_length(p_, entry)), splits_);
  }
  /// Number of non-empty splits, summed over all K/V heads.
  [[nodiscard]] std::int64_t total_used_splits() const {
    if (!p_.mask.padded()) return p_.kv_instances() * used_splits(0);
    std::int64_t sum = 0;
    for (std::int64_t entry = 0; entry < p_.batch; ++entry) sum += p_.heads_kv * used_splits(entry);
    return sum;
  }

  /// Sectors of the block table [batch, pages] with the pages of `keys`. Pre: paged, keys not empty.
  [[nodiscard]] KeyRange table_sectors(std::int64_t kv, const KeyRange& keys) const {
    const std::int64_t row = kv / p_.heads_kv * pages_;
    const std::int64_t each = sector_bytes / table_entry_bytes;
    return {(row + keys.first / p_.page) / each, (row + (keys.last - 1) / p_.page) / each + 1};
  }
  /// End of the keys from `first` that one window of the block table covers. Pre: paged.
  [[nodiscard]] std::int64_t window_end(std::int64_t kv, std::int64_t first) const {
    const std::int64_t row = kv / p_.heads_kv * pages_;
    const std::int64_t next = round_up(row + first / p_.page + 1, table_window) - row;
    return next * p_.page;
  }

 private:
  AttentionProblem p_;
  int splits_;
  std::int64_t rows_;
  std::int64_t lse_rows_;
  std::int64_t pages_;
};

[[nodiscard]] std::int64_t combine_blocks(const SplitGrid&);

[[nodiscard]] std::shared_ptr<const TileProgram> partial_program(const SplitGrid&, const TileShape&);
[[nodiscard]] std::shared_ptr<const TileProgram> combine_program(const SplitGrid&);

[[nodiscard]] std::vector<OperandTraffic> partial_traffic(const SplitGrid&);
[[nodiscard]] std::vector<OperandTraffic> combine_traffic(const SplitGrid&);

[[nodiscard]] KernelWork partial_work(const SplitGrid&, const TileShape&);
[[nodiscard]] KernelWork combine_work(const SplitGrid&);

}  // namespace attnscope::splitkv
