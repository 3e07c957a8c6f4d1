// SPDX-License-Identifier: Apache-2.0
// Simulation of programs whose every access is given, compared with a list of tiles and with values computed by hand.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "profiler/simulator/l2_cache.h"
#include "profiler/simulator/traffic_simulation.h"
#include "tests/profiler/points/fixtures.h"

namespace attnscope {
namespace {

using fixtures::h200;

constexpr std::int64_t tile_bytes = 64 * 64 * 4;  // one granule

/// Access to a 64 x 64 tile of fp32 values of matrix `instance`.
TileAccess tile_access(Access access, std::int64_t instance, std::int64_t row = 0, std::int64_t column = 0) {
  return {Tensor::o, access, instance, 64 * row, 64, 64 * column, 64, 4};
}

/// Accesses by block and step.
using Script = std::vector<std::vector<std::vector<TileAccess>>>;

class ScriptedProgram final : public TileProgram {
 public:
  explicit ScriptedProgram(Script script) : script_(std::move(script)) {}
  [[nodiscard]] std::int64_t blocks() const override { return std::ssize(script_); }
  [[nodiscard]] std::int64_t steps(std::int64_t block) const override {
    return std::ssize(script_[static_cast<std::size_t>(block)]);
  }
  void visit(std::int64_t block, std::int64_t step, std::vector<TileAccess>& out) const override {
    const auto& accesses = script_[static_cast<std::size_t>(block)][static_cast<std::size_t>(step)];
    out.insert(out.end(), accesses.begin(), accesses.end());
  }

 private:
  Script script_;
};

/// Launch of four warps per block; two blocks fit on an SM.
KernelLaunch scripted_launch(Script script) {
  KernelLaunch launch;
  launch.block = {128, 1, 1};
  launch.dynamic_shared_bytes = 100 * 1024;
  launch.registers_per_thread = 64;
  launch.grid = {static_cast<std::uint32_t>(script.size()), 1, 1};
  launch.program = std::make_shared<const ScriptedProgram>(std::move(script));
  launch.traffic = walk(*launch.program);
  return launch;
}

/// A GPU whose L2 holds this many tiles in one set.
DeviceLimits gpu_of(int sms, std::int64_t l2_tiles) {
  DeviceLimits gpu = h200();
  gpu.sm_count = sms;
  gpu.l2_bytes =
      static_cast<std::int64_t>(static_cast<double>(l2_tiles * tile_bytes) / l2_behavior(gpu).effective_share) + 1;
  return gpu;
}

TEST(Simulation, ReductionsReadAndWriteL2) {
  AttentionPlan plan;
  plan.launches = {scripted_launch(Script(3, {{tile_access(Access::reduce, 0)}}))};
  EXPECT_EQ(plan.launches[0].traffic, (Traffic{.l2_to_sm_bytes = 0, .sm_to_l2_bytes = 3 * tile_bytes}));
  const auto results = simulate_traffic(plan, h200(), {}, CancelToken{});
  ASSERT_TRUE(results.has_value());
  EXPECT_EQ(results->front().traffic, plan.launches[0].traffic);
  EXPECT_EQ(results->front().dram_read_bytes, tile_bytes);
  EXPECT_EQ(results->front().dram_write_bytes, tile_bytes);
}

/// Reference L2: a list of whole tiles, most recently used first.
class TileList {
 public:
  struct Bytes {
    std::int64_t read = 0;
    std::int64_t written = 0;
  };
  explicit TileList(std::size_t tiles) : tiles_(tiles) {}

  Bytes access(const TileAccess& access) {
    const auto same = [&](const Held& held) {
      return held.tile.instance == access.instance && held.tile.row == access.row && held.tile.col == access.col;
    };
    Bytes bytes;
    const auto found = std::ranges::find_if(held_, same);
    Held now = found == held_.end() ? Held{access, false} : *found;
    if (found != held_.end()) {
      held_.erase(found);
    } else if (access.access != Access::store) {
      bytes.read = tile_bytes;
    }
    now.dirty |= access.access != Access::load;
    held_.insert(held_.begin(), now);
    if (held_.size() > tiles_) {
      bytes.written = held_.back().dirty ? tile_bytes : 0;
      held_.pop_back();
    }
    return bytes;
  }
  [[nodiscard]] std::int64_t dirty_bytes() const { return tile_bytes * std::ranges::count(held_, true, &Held::dirty); }
  void clean() {
    for (Held& held : held_) held.dirty = false;
  }

 private:
  struct Held {
    TileAccess tile;
    bool dirty = false;
  };
  std::size_t tiles_;
  std::vector<Held> held_;
};

struct PlayedLaunch {
  TileList::Bytes bytes;
  double blocks_per_busy_sm = 0;
};

/// Plays a launch round by round: the first blocks occupy two slots per SM, and a finished block makes room for the
/// next one, which starts in the next round.
PlayedLaunch play_launch(const TileProgram& program, std::int64_t sms, TileList& l2) {
  PlayedLaunch played;
  std::vector<std::pair<std::int64_t, std::int64_t>> slots;  // block and step
  std::int64_t next = 0;
  while (next < std::min(program.blocks(), 2 * sms)) slots.emplace_back(next++, 0);
  double slot_rounds = 0;
  double sm_rounds = 0;
  while (!slots.empty()) {
    slot_rounds += static_cast<double>(slots.size());
    sm_rounds += static_cast<double>(std::min<std::int64_t>(std::ssize(slots), sms));
    std::vector<std::pair<std::int64_t, std::int64_t>> kept;
    for (const auto& [block, step] : slots) {
      std::vector<TileAccess> accesses;
      program.visit(block, step, accesses);
      for (const TileAccess& access : accesses) {
        const auto [read, written] = l2.access(access);
        played.bytes.read += read;
        played.bytes.written += written;
      }
      if (step + 1 < program.steps(block)) {
        kept.emplace_back(block, step + 1);
      } else if (next < program.blocks()) {
        kept.emplace_back(next++, 0);
      }
    }
    slots = std::move(kept);
  }
  played.blocks_per_busy_sm = slot_rounds / sm_rounds;
  return played;
}

AttentionPlan random_plan(std::mt19937_64& random) {
  const auto below = [&](std::uint64_t count) { return static_cast<std::int64_t>(random() % count); };
  AttentionPlan plan;
  for (int launch = 0; launch < 4; ++launch) {
    Script script(static_cast<std::size_t>(1 + below(9)));
    for (auto& steps : script) {
      steps.resize(static_cast<std::size_t>(1 + below(6)));
      for (auto& accesses : steps) {
        for (std::int64_t count = 1 + below(3); count > 0; --count) {
          const Access access = std::array{Access::load, Access::load, Access::store, Access::reduce}.at(random() % 4);
          accesses.push_back(tile_access(access, below(3), below(2), below(2)));
        }
      }
    }
    plan.launches.push_back(scripted_launch(std::move(script)));
  }
  plan.launches[0].setup = true;
  return plan;
}

TEST(Simulation, MatchesAReferenceOnRandomPrograms) {
  std::mt19937_64 random(57);
  for (int trial = 0; trial < 60; ++trial) {
    const std::int64_t sms = 1 + trial % 3;
    const std::int64_t l2_tiles = 2 + trial % 9;
    const DeviceLimits gpu = gpu_of(static_cast<int>(sms), l2_tiles);
    const AttentionPlan plan = random_plan(random);
    for (const CacheState cache : {CacheState::cold, CacheState::warm}) {
      SCOPED_TRACE(fmt::format("trial {} {}", trial, to_string(cache)));
      const auto results = simulate_traffic(plan, gpu, {.cache = cache}, CancelToken{});
      ASSERT_TRUE(results.has_value());
      ASSERT_EQ(results->size(), 3U);
      TileList kept(static_cast<std::size_t>(l2_tiles));  // across launches
      if (cache == CacheState::warm) {
        for (std::size_t i = 1; i < 4; ++i) play_launch(*plan.launches[i].program, sms, kept);
      }
      for (std::size_t i = 1; i < 4; ++i) {
        const PlayedLaunch in_plan = play_launch(*plan.launches[i].program, sms, kept);
        TileList empty(static_cast<std::size_t>(l2_tiles));
        const PlayedLaunch alone = play_launch(*plan.launches[i].program, sms, empty);
        const bool warm = cache == CacheState::warm;
        const PlayedLaunch& counted = warm ? in_plan : alone;
        const auto flush = static_cast<double>(warm ? 0 : empty.dirty_bytes());
        const LaunchSimulation& result = (*results)[i - 1];
        EXPECT_EQ(result.dram_read_bytes, counted.bytes.read);
        EXPECT_EQ(result.dram_write_bytes, static_cast<double>(counted.bytes.written) + flush);
        EXPECT_EQ(result.dram_in_plan_bytes,
                  static_cast<double>(in_plan.bytes.read + in_plan.bytes.written) + (i == 3 ? flush : 0));
        EXPECT_NEAR(result.achieved_warps_pct, 6.25 * counted.blocks_per_busy_sm, 1e-9) << "4 of 64 warps per block";
        EXPECT_EQ(result.traffic, plan.launches[i].traffic);
      }
    }
    if (::testing::Test::HasFailure()) return;
  }
}

// Overlapping rectangles in an L2 that holds everything: each cell of 4 x 8 values is read at most once and written
// once.
TEST(Simulation, OverlappingAccessesShareCells) {
  constexpr std::int64_t cell_bytes = 4 * 8 * 2;
  std::mt19937_64 random(5);
  const auto below = [&](std::int64_t count) {
    return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(count));
  };
  std::set<std::array<std::int64_t, 4>> resident;
  std::set<std::array<std::int64_t, 4>> stored;
  std::int64_t read = 0;
  Script script(1);
  for (int i = 0; i < 150; ++i) {
    const bool store = below(3) == 0;
    const Tensor tensor = below(2) == 0 ? Tensor::q : Tensor::k;
    const std::int64_t instance = below(3);
    const std::int64_t row = below(40);
    const std::int64_t column = below(12);
    const std::int64_t rows = 1 + below(40 - row);
    const std::int64_t columns = 1 + below(12 - column);
    script[0].push_back(
        {{tensor, store ? Access::store : Access::load, instance, 4 * row, 4 * rows, 8 * column, 8 * columns, 2}});
    for (std::int64_t r = row; r < row + rows; ++r) {
      for (std::int64_t c = column; c < column + columns; ++c) {
        const std::array cell{static_cast<std::int64_t>(tensor), instance, r, c};
        if (resident.insert(cell).second && !store) read += cell_bytes;
        if (store) stored.insert(cell);
      }
    }
  }
  AttentionPlan plan;
  plan.launches = {scripted_launch(std::move(script))};
  const LaunchSimulation result = simulate_traffic(plan, h200(), {}, CancelToken{})->front();
  EXPECT_EQ(result.dram_read_bytes, read);
  EXPECT_EQ(result.dram_write_bytes, cell_bytes * std::ssize(stored));
}

// The first 10 of 41 steps load a new tile each; then each even step stores a new tile, and each odd step loads the
// same one. An L2 of four tiles evicts one stored tile in each of the steps 16, 18 and 20.
TEST(Simulation, TheRestIsExtrapolatedFromTheSecondHalf) {
  Script script(1);
  for (std::int64_t step = 0; step < 41; ++step) {
    const bool store = step >= 10 && step % 2 == 0;
    script[0].push_back({tile_access(store ? Access::store : Access::load, step >= 10 && !store ? 99 : step)});
  }
  AttentionPlan plan;
  plan.launches = {scripted_launch(script), scripted_launch(script)};
  for (KernelLaunch& launch : plan.launches) launch.work.distinct_bytes = 60.0 * tile_bytes;
  const auto results = simulate_traffic(plan, gpu_of(1, 4), {.max_touches = 20}, CancelToken{});
  ASSERT_TRUE(results.has_value());
  // Simulated: 21 steps, 11 of them in the second half, which read one tile and write three.
  const double read = 11 + 20 / 11.0;
  const double written = 3 + 20 * 3 / 11.0;
  const double flushed = 3;
  const double unseen = 60 - read - written - flushed;
  for (const LaunchSimulation& result : *results) {
    EXPECT_FALSE(result.complete);
    EXPECT_EQ(result.traffic, plan.launches[0].traffic);
    EXPECT_NEAR(result.dram_write_bytes / tile_bytes, written + flushed, 1e-9);
    EXPECT_NEAR(result.dram_read_bytes / tile_bytes, read + unseen, 1e-9);
  }
  EXPECT_NEAR((*results)[0].dram_in_plan_bytes / tile_bytes, read + written + unseen, 1e-9)
      << "no flush before the end";
  // The second launch evicts what the first left: three tiles in its first steps.
  EXPECT_NEAR((*results)[1].dram_in_plan_bytes / tile_bytes, read + written + 3 + flushed, 1e-9);
  for (const auto& [most, complete] : {std::pair(41, true), std::pair(39, false)}) {
    EXPECT_EQ(simulate_traffic(plan, gpu_of(1, 4), {.max_touches = most}, CancelToken{})->front().complete, complete);
  }
}

TEST(L2Behavior, IsInheritedByOtherGpus) {
  EXPECT_FALSE(l2_behavior(h200()).inherited);
  for (const char* gpu : {"H100", "A100", "B200"}) {
    EXPECT_TRUE(l2_behavior(*find_gpu(gpu)).inherited) << gpu;
    EXPECT_EQ(l2_behavior(*find_gpu(gpu)).measured_on, "NVIDIA H200") << gpu;
  }
}

}  // namespace
}  // namespace attnscope
