// SPDX-License-Identifier: Apache-2.0
#include "kernels/block_orders.h"

#include <algorithm>
#include <limits>
#include <span>
#include <utility>

#include "kernels/model/integer.h"

namespace attnscope {
namespace {

struct EntryHeads {
  std::size_t entry = 0;
  std::int64_t heads = 0;

  bool operator==(const EntryHeads&) const = default;
};

bool is_uniform(const HeadTileLaunch& launch) {
  const BlockRun* first = nullptr;
  for (const std::vector<BlockRun>& tiles : launch.tiles) {
    for (const BlockRun& run : tiles) {
      if (first == nullptr) first = &run;
      if (!run.has_equal_cost(*first)) return false;
    }
  }
  return true;
}

struct Sums {
  std::int64_t blocks = 0;
  double steps = 0;
  double rounds = 0;
  double mask_reads = 0;

  void add(const BlockRun& run, std::int64_t times) {
    const auto all = static_cast<double>(run.blocks * times);
    blocks += run.blocks * times;
    steps += all * run.steps;
    rounds += all * run.rounds;
    mask_reads += all * run.mask_reads;
  }
  [[nodiscard]] BlockRun mean() const {
    const auto all = static_cast<double>(blocks);
    return {.blocks = blocks, .steps = steps / all, .rounds = rounds / all, .mask_reads = mask_reads / all};
  }
};

class TileIterator {
 public:
  TileIterator(std::span<const BlockRun> runs, bool last_tile_first) : runs_(runs), last_first_(last_tile_first) {}

  [[nodiscard]] bool empty() const { return runs_.empty(); }
  /// Takes up to `most` tiles of the current run.
  [[nodiscard]] BlockRun take(std::int64_t most) {
    BlockRun run = last_first_ ? runs_.back() : runs_.front();
    const std::int64_t tiles = std::min(most, run.blocks - taken_);
    taken_ += tiles;
    if (taken_ == run.blocks) {
      taken_ = 0;
      runs_ = last_first_ ? runs_.first(runs_.size() - 1) : runs_.subspan(1);
    }
    run.blocks = tiles;
    return run;
  }

 private:
  std::span<const BlockRun> runs_;
  bool last_first_;
  std::int64_t taken_ = 0;
};

/// Blocks of these heads, tile by tile. The first `skipped` tiles are added to `before` instead.
std::vector<BlockRun> interleave_tiles(const HeadTileLaunch& launch, std::span<const EntryHeads> heads,
                                       std::int64_t skipped, Sums& before) {
  // All entries have the same number of tiles, but their runs differ.
  std::vector<TileIterator> left;
  left.reserve(heads.size());
  for (const EntryHeads& each : heads) {
    left.emplace_back(launch.tiles[each.entry], launch.last_tile_first);
    for (std::int64_t tiles = 0; tiles < skipped;) {
      const BlockRun run = left.back().take(skipped - tiles);
      tiles += run.blocks;
      before.add(run, each.heads);
    }
  }
  std::vector<BlockRun> runs;
  runs.reserve(launch.tiles[heads.front().entry].size() * heads.size());
  while (!left.front().empty()) {
    for (std::size_t i = 0; i < heads.size(); ++i) {
      // A single entry takes a whole run of tiles at once.
      BlockRun run = left[i].take(heads.size() == 1 ? std::numeric_limits<std::int64_t>::max() : 1);
      run.blocks *= heads[i].heads;
      append(runs, run);
    }
  }
  return runs;
}

/// Heads [first, end), grouped by batch entry.
std::vector<EntryHeads> heads_by_entry(std::int64_t first, std::int64_t end, std::int64_t heads_per_entry) {
  std::vector<EntryHeads> heads;
  for (std::int64_t at = first; at < end;) {
    const std::int64_t until = std::min(end, (at / heads_per_entry + 1) * heads_per_entry);
    heads.push_back({.entry = static_cast<std::size_t>(at / heads_per_entry), .heads = until - at});
    at = until;
  }
  return heads;
}

}  // namespace

BlockOrder make_block_order(HeadTileLaunch launch, std::span<const std::vector<TileRun>> by_entry,
                            const std::function<BlockRun(const TileRun&)>& block_of) {
  for (const std::vector<TileRun>& entry_runs : by_entry) {
    std::vector<BlockRun>& tiles = launch.tiles.emplace_back();
    tiles.reserve(entry_runs.size());
    for (const TileRun& run : entry_runs) {
      BlockRun blocks = block_of(run);
      blocks.blocks = run.tiles;
      append(tiles, blocks);
    }
  }
  return make_block_order(launch);
}

BlockOrder make_block_order(const HeadTileLaunch& launch) {
  if (is_uniform(launch)) return {};
  const std::int64_t heads_per_entry = launch.heads / std::ssize(launch.tiles);
  const std::int64_t most =
      launch.raster == Raster::heads_fastest ? launch.heads : std::min(launch.heads_per_group, launch.heads);
  std::int64_t tiles = 0;
  for (const BlockRun& run : launch.tiles.front()) tiles += run.blocks;

  // From the end: an incomplete group of heads comes first (head_block()).
  BlockOrder order;
  Sums before;
  std::vector<EntryHeads> behind;
  std::int64_t end = launch.heads;
  for (std::int64_t listed = 0; end > 0 && listed < min_listed_blocks;) {
    const std::int64_t first = std::max<std::int64_t>(0, end - most);
    std::vector<EntryHeads> heads = heads_by_entry(first, end, heads_per_entry);
    const std::int64_t skipped = std::max<std::int64_t>(0, tiles - ceil_div(min_listed_blocks, end - first));
    if (heads == behind) {
      ++order.back().times;
    } else {
      order.push_back({.times = 1, .runs = interleave_tiles(launch, heads, skipped, before)});
      behind = std::move(heads);
    }
    listed += (end - first) * (tiles - skipped);
    end = first;
  }
  for (const EntryHeads& each : heads_by_entry(0, end, heads_per_entry)) {
    for (const BlockRun& run : launch.tiles[each.entry]) before.add(run, each.heads);
  }
  if (before.blocks > 0) order.push_back({.times = 1, .runs = {before.mean()}});
  std::ranges::reverse(order);
  return order;
}

}  // namespace attnscope
