// SPDX-License-Identifier: Apache-2.0
#include "kernels/block_orders.h"

#include <algorithm>
#include <ranges>
#include <span>
#include <utility>

namespace attnscope {
namespace {

/// Of heads that go together, those of one batch entry.
struct HeadsOfEntry {
  std::size_t entry = 0;
  std::int64_t heads = 0;

  bool operator==(const HeadsOfEntry&) const = default;
};

bool alike(const HeadTiles& launch) {
  const BlockRun* first = nullptr;
  for (const std::vector<BlockRun>& tiles : launch.tiles) {
    for (const BlockRun& run : tiles) {
      if (first == nullptr) first = &run;
      if (run.steps != first->steps || run.rounds != first->rounds) return false;
    }
  }
  return true;
}

/// Tile by tile, of each tile those of all these heads.
std::vector<BlockRun> tile_by_tile(const HeadTiles& launch, std::span<const HeadsOfEntry> heads) {
  // How many tiles there are is the same in all entries, how they are told in runs is not.
  std::vector<std::span<const BlockRun>> left;
  for (const HeadsOfEntry& each : heads) left.emplace_back(launch.tiles[each.entry]);
  std::vector<std::int64_t> taken(heads.size(), 0);  // of the run that is at hand
  std::vector<BlockRun> runs;
  runs.reserve(left.front().size() * heads.size());
  while (!left.front().empty()) {
    for (std::size_t i = 0; i < heads.size(); ++i) {
      const BlockRun& at = launch.last_first ? left[i].back() : left[i].front();
      // One entry alone takes a whole run of tiles at once.
      const std::int64_t tiles = heads.size() == 1 ? at.blocks : 1;
      append(runs, {.blocks = tiles * heads[i].heads, .steps = at.steps, .rounds = at.rounds});
      taken[i] += tiles;
      if (taken[i] < at.blocks) continue;
      taken[i] = 0;
      left[i] = launch.last_first ? left[i].first(left[i].size() - 1) : left[i].subspan(1);
    }
  }
  return runs;
}

}  // namespace

BlockOrder order_of(const HeadTiles& launch) {
  BlockOrder order;
  if (alike(launch)) return order;
  const std::int64_t of_entry = launch.heads / std::ssize(launch.tiles);
  const std::int64_t most = launch.raster == Raster::heads_fastest ? launch.heads
                            : launch.last_first                    ? std::min(launch.in_turn, launch.heads)
                                                                   : 1;
  std::vector<HeadsOfEntry> before;
  // What does not divide goes first: row_block().
  for (std::int64_t head = 0, turn = launch.heads % most; head < launch.heads; head += turn, turn = most) {
    if (turn == 0) continue;
    std::vector<HeadsOfEntry> heads;
    for (std::int64_t at = head; at < head + turn;) {
      const std::int64_t end = std::min(head + turn, (at / of_entry + 1) * of_entry);
      heads.push_back({.entry = static_cast<std::size_t>(at / of_entry), .heads = end - at});
      at = end;
    }
    if (heads == before) {
      ++order.back().times;
    } else {
      order.push_back({.times = 1, .runs = tile_by_tile(launch, heads)});
      before = std::move(heads);
    }
  }
  return order;
}

}  // namespace attnscope
