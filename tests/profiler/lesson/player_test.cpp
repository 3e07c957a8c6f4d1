// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>
#include <vector>

#include "kernels/model/io_model.h"
#include "kernels/registry.h"
#include "profiler/lesson/hierarchy_flow.h"
#include "profiler/lesson/player.h"
#include "profiler/lesson/web.h"
#include "tests/kernels/programs.h"
#include "tests/profiler/points/fixtures.h"

namespace attnscope::analysis::lesson {
namespace {

TilePlayer player_of(const Algorithm& algorithm, const AttentionProblem& problem, const Config& config,
                     const PlayerOptions& options = {}) {
  return std::move(TilePlayer::make(algorithm, problem, config, test::h200(), options)).value();
}

/// Every algorithm, mask and pass that runs there.
struct Played {
  const Algorithm* algorithm;
  AttentionProblem problem;
  Config config;
};
std::vector<Played> everything() {
  std::vector<Played> all;
  for (const Algorithm* algorithm : built_in_algorithms().algorithms()) {
    for (const Pass pass : {Pass::fwd, Pass::bwd, Pass::fwd_bwd}) {
      for (const char* mask : {"full", "causal", "window:90:20", "lengths:100/300", "blocks:64:butterfly"}) {
        for (const std::int64_t n_q : {1, 300}) {
          AttentionProblem p{.pass = pass,
                             .mask = test::mask_of(mask),
                             .batch = 2,
                             .heads_q = 4,
                             .heads_kv = 2,
                             .n_q = n_q,
                             .n_k = 320,
                             .d = 64};
          const Config config = algorithm->default_config(p, test::h200());
          if (algorithm->refusal(p, config, test::h200())) continue;
          all.push_back({algorithm, p, config});
        }
      }
    }
  }
  return all;
}

TEST(TilePlayer, EndsAtTheClosedFormOfEveryAlgorithmMaskAndPass) {
  std::set<std::string> algorithms;
  std::set<Pass> passes;
  for (const Played& each : everything()) {
    const TilePlayer player = player_of(*each.algorithm, each.problem, each.config);
    const std::string what = test::label(*each.algorithm, each.problem, each.config);
    ASSERT_GT(player.frames(), 0U) << what;
    EXPECT_EQ(player.total().by_tensor, player.closed_form().by_tensor) << what;
    EXPECT_EQ(player.total().sm_l2(), each.algorithm->model(each.problem, each.config, test::h200()).traffic()) << what;
    EXPECT_EQ(player.frame(player.frames() - 1).so_far, player.total()) << what;
    EXPECT_LE(player.total().l2_hit_bytes + player.total().dram_read_bytes, player.total().sm_l2().total()) << what;
    algorithms.insert(each.algorithm->name());
    passes.insert(each.problem.pass);
  }
  const auto of_one_gpu = [](const Algorithm* each) { return !each->facts().shares_sequence(); };
  EXPECT_EQ(std::ssize(algorithms), std::ranges::count_if(built_in_algorithms().algorithms(), of_one_gpu));
  EXPECT_EQ(passes.size(), 3U);
}

TEST(TilePlayer, AnyFrameIsWhatSteppingThereGives) {
  for (const Played& each : everything()) {
    if (each.problem.n_q == 1 || each.problem.mask.padded()) continue;
    const TilePlayer player = player_of(*each.algorithm, each.problem, each.config);
    const TilePlayer scrubbed = player_of(*each.algorithm, each.problem, each.config);
    Tally sum;
    std::map<std::pair<std::size_t, std::int64_t>, std::int64_t> next;
    for (std::size_t index = 0; index < player.frames(); ++index) {
      const Frame frame = player.frame(index);
      EXPECT_EQ(frame.step, (next[{frame.launch, frame.block}]++)) << index;
      for (const FrameAccess& access : frame.accesses) {
        Traffic& traffic = sum.by_tensor.at(static_cast<std::size_t>(access.access.tensor));
        (access.access.access == Access::load ? traffic.l2_to_sm_bytes : traffic.sm_to_l2_bytes) +=
            access.access.moved_bytes();
      }
      ASSERT_EQ(frame.so_far.by_tensor, sum.by_tensor) << each.algorithm->name() << ' ' << index;
    }
    // From the end to the beginning, as somebody drags.
    for (std::size_t index = player.frames(); index-- > 0;) {
      if (index % 7 != 0) continue;
      const Frame back = scrubbed.frame(index);
      const Frame there = player.frame(index);
      EXPECT_EQ(back.so_far, there.so_far);
      ASSERT_EQ(back.on_chip.size(), there.on_chip.size());
      for (std::size_t part = 0; part < back.on_chip.size(); ++part) {
        EXPECT_EQ(back.on_chip[part].fill, there.on_chip[part].fill) << index;
      }
    }
  }
}

TEST(TilePlayer, MemoryOnChipFillsAndEmpties) {
  for (const Algorithm* algorithm : built_in_algorithms().algorithms()) {
    const AttentionProblem p{.n_q = algorithm->facts().decodes ? 1 : 1024, .n_k = 1024, .d = 64};
    const TilePlayer player = player_of(*algorithm, p, algorithm->default_config(p, test::h200()));
    bool held = false;
    for (std::size_t index = 0; index < player.frames(); ++index) {
      const Frame frame = player.frame(index);
      const auto& parts = player.kernels()[frame.launch].on_chip;
      ASSERT_EQ(frame.on_chip.size(), parts.size());
      for (std::size_t part = 0; part < parts.size(); ++part) {
        EXPECT_LE(frame.on_chip[part].fill.bytes, parts[part].bytes);
        held = held || frame.on_chip[part].fill.bytes > 0;
        EXPECT_FALSE(frame.on_chip[part].fill.bytes == 0 && frame.on_chip[part].tile) << index;
      }
    }
    EXPECT_TRUE(held) << algorithm->name();
  }
}

TEST(TilePlayer, ASmallerL2MissesMore) {
  int missing = 0;
  for (const Algorithm* algorithm : built_in_algorithms().algorithms()) {
    if (algorithm->facts().decodes) continue;
    const AttentionProblem p{.heads_q = 4, .heads_kv = 4, .n_q = 1024, .n_k = 1024, .d = 64};
    const Config config = algorithm->default_config(p, test::h200());
    const TilePlayer large = player_of(*algorithm, p, config);
    const TilePlayer small = player_of(*algorithm, p, config, {.l2_bytes = 64 << 10});
    // Blocks that go in step share what is in even a small one.
    EXPECT_GE(small.total().dram_read_bytes, large.total().dram_read_bytes) << algorithm->name();
    missing += small.total().dram_read_bytes > large.total().dram_read_bytes ? 1 : 0;
    EXPECT_EQ(small.total().by_tensor, large.total().by_tensor) << algorithm->name();
    // Every load is either found or fetched.
    EXPECT_GE(small.total().l2_hit_bytes + small.total().dram_read_bytes, small.total().sm_l2().l2_to_sm_bytes);
  }
  EXPECT_GT(missing, 0);
}

TEST(TilePlayer, WhatEachLaunchLeavesDirtyIsWritten) {
  // N 384, d 64, one head: S and P are 288 KiB each and are written before they are read, O is 48 KiB.
  const AttentionProblem p{.n_q = 384, .n_k = 384, .d = 64};
  const TilePlayer naive = player_of(*built_in_algorithms().find("naive"), p, {{.br = 128, .bc = 128}, {}});
  EXPECT_EQ(naive.total().dram_write_bytes, (288 + 288 + 48) << 10);
  EXPECT_EQ(naive.total().dram_read_bytes, (3 * 48 + 288 + 288) << 10);
  const std::size_t second = naive.frames_of(0).second;
  EXPECT_EQ(naive.frame(second - 2).so_far.dram_write_bytes, 0);
  EXPECT_EQ(naive.frame(second - 1).so_far.dram_write_bytes, 288 << 10);
  for (const Played& each : everything()) {
    const TilePlayer player = player_of(*each.algorithm, each.problem, each.config);
    double written = 0;
    for (const LaunchSimulation& launch : player.simulated()) written += launch.dram_write_bytes;
    EXPECT_EQ(static_cast<double>(player.total().dram_write_bytes), written)
        << test::label(*each.algorithm, each.problem, each.config);
  }
}

TEST(TilePlayer, DramEndsAtTheSimulatorsSettledCountAndNotBelowTheCompulsory) {
  for (const Played& each : everything()) {
    const std::string what = test::label(*each.algorithm, each.problem, each.config);
    const TilePlayer player = player_of(*each.algorithm, each.problem, each.config);
    double read = 0;
    for (const LaunchSimulation& launch : player.simulated()) read += launch.dram_read_bytes;
    EXPECT_EQ(static_cast<double>(player.total().dram_read_bytes), read) << what;
    // A mask may leave out rows of K and V.
    if (each.problem.mask != Mask::none) continue;
    const std::int64_t moved = player.total().dram_read_bytes + player.total().dram_write_bytes;
    EXPECT_GE(moved, compulsory_traffic(each.problem).total()) << what;
  }
}

TEST(TilePlayer, FramesOfKernelsFollowOneAnother) {
  for (const Played& each : everything()) {
    if (each.problem.pass != Pass::fwd_bwd || each.problem.n_q == 1) continue;
    const TilePlayer player = player_of(*each.algorithm, each.problem, each.config);
    std::size_t next = 0;
    for (std::size_t launch = 0; launch < player.kernels().size(); ++launch) {
      const auto [first, last] = player.frames_of(launch);
      EXPECT_EQ(first, next);
      EXPECT_LT(first, last);
      next = last;
    }
    EXPECT_EQ(next, player.frames());
  }
}

TEST(TilePlayer, InARoundEveryBlockAtWorkMakesOneStep) {
  // Four heads of FA2 have four blocks each, all resident: Q and a part of O first, then K and V, tile by tile.
  const AttentionProblem p{.heads_q = 4, .heads_kv = 4, .n_q = 256, .n_k = 256, .d = 64};
  const TilePlayer fa2 = player_of(*built_in_algorithms().find("fa2"), p, {{.br = 64, .bc = 64}, {}});
  ASSERT_FALSE(fa2.rounds().empty());
  for (const Round& round : fa2.rounds()) {
    EXPECT_EQ(round.last - round.first, 16U);
    for (std::size_t i = round.first; i < round.last; ++i) EXPECT_EQ(fa2.frame(i).step, fa2.frame(round.first).step);
  }
  for (const Played& each : everything()) {
    const TilePlayer player = player_of(*each.algorithm, each.problem, each.config);
    std::size_t next = 0;
    for (const Round& round : player.rounds()) {
      EXPECT_EQ(round.first, next);
      EXPECT_LT(round.first, round.last);
      EXPECT_EQ(player.frame(round.last - 1).launch, round.launch);
      next = round.last;
    }
    EXPECT_EQ(next, player.frames()) << test::label(*each.algorithm, each.problem, each.config);
  }
}

/// Tiles of `side` x `side` that an unmasked or causal program comes by, by what the mask means.
std::set<std::pair<std::int64_t, std::int64_t>> tiles_left(std::int64_t n, int br, int bc, bool causal) {
  std::set<std::pair<std::int64_t, std::int64_t>> left;
  for (std::int64_t q = 0; q < n; q += br) {
    for (std::int64_t k = 0; k < n; k += bc) {
      if (!causal || k <= q + br - 1) left.emplace(q / br, k / bc);
    }
  }
  return left;
}

TEST(TilePlayer, ComesByThePairsThatTheMaskLeaves) {
  constexpr std::int64_t n = 512;
  for (const char* name : {"naive", "fa1", "fa2"}) {
    const Algorithm& algorithm = *built_in_algorithms().find(name);
    for (const bool causal : {false, true}) {
      const AttentionProblem p{.mask = test::mask_of(causal ? "causal" : "full"), .n_q = n, .n_k = n, .d = 64};
      const TilePlayer player = player_of(algorithm, p, {{.br = 64, .bc = 64}, {}});
      const auto touched = player.touched_pairs();
      ASSERT_EQ(touched.size(), player.frames());
      // Of naive attention the kernel that makes S, all of it: its softmax works on rows and hides what it must.
      const bool whole = name == std::string_view("naive");
      const std::size_t scores = whole ? player.frames_of(0).second : player.frames();
      std::set<std::pair<std::int64_t, std::int64_t>> seen;
      for (std::size_t index = 0; index < scores; ++index) {
        if (const auto& pairs = touched[index]) seen.emplace(pairs->q / 64, pairs->k / 64);
      }
      EXPECT_EQ(seen, tiles_left(n, 64, 64, causal && !whole)) << name << (causal ? " causal" : "");
    }
  }
}

TEST(TilePlayer, RefusesInWords) {
  const Algorithm& first = *built_in_algorithms().algorithms().front();
  const AttentionProblem p{.n_q = 256, .n_k = 256, .d = 64};
  EXPECT_FALSE(TilePlayer::make(first, p, {{.br = 7, .bc = 7}, {}}, test::h200()).ok());
  const AttentionProblem huge{.batch = 64, .heads_q = 64, .heads_kv = 64, .n_q = 65536, .n_k = 65536, .d = 64};
  const auto refused = TilePlayer::make(first, huge, first.default_config(huge, test::h200()), test::h200());
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(text(refused.error()), ::testing::HasSubstr("steps: too long to step through"));
}

/// 1 TB/s at 500 ns and 4 TB/s at 250 ns: 500 kB and 1 MB in flight.
std::vector<Ceiling> round_ceilings() {
  return {{.name = "dram_read", .value = 1e12, .unit = "byte/s"},
          {.name = "latency_dram", .value = 500, .unit = "ns"},
          {.name = "l2_read", .value = 4e12, .unit = "byte/s"},
          {.name = "latency_l2", .value = 250, .unit = "ns"}};
}

constexpr auto dram = static_cast<std::size_t>(Rung::dram);
constexpr auto l2 = static_cast<std::size_t>(Rung::l2);
constexpr auto shared = static_cast<std::size_t>(Rung::shared);

TEST(HierarchyFlow, LoadsComeBackAfterTheirLatency) {
  const Hierarchy hierarchy = hierarchy_of(fixtures::h200(), round_ceilings());
  const HierarchyFlow flow = hierarchy_flow(hierarchy, 100);
  ASSERT_EQ(flow.frames.size(), 121U);
  EXPECT_DOUBLE_EQ(flow.frames.back().ns, 550);
  EXPECT_DOUBLE_EQ(flow.frame_ns, 550.0 / 120);
  EXPECT_DOUBLE_EQ(flow.stretch(60), 1e9 / (60 * 550.0 / 120));
  EXPECT_EQ(flow.frames.front().trips[dram], 0.0);
  EXPECT_DOUBLE_EQ(*flow.frames.back().trips[dram], 1.1);
  EXPECT_DOUBLE_EQ(*flow.frames.back().trips[l2], 2.2);
  EXPECT_FALSE(flow.frames.back().trips[shared]);  // nobody measured it
  EXPECT_DOUBLE_EQ(flow.frames.back().tensor_flops, hierarchy.tensor_flops.value * 550e-9);
}

TEST(HierarchyFlow, BytesUnderWayReachTheBandwidthByLittlesLaw) {
  const HierarchyFlow flow = hierarchy_flow(hierarchy_of(fixtures::h200(), round_ceilings()), 100);
  ASSERT_EQ(flow.loads.size(), 10U);
  EXPECT_EQ(flow.loads.front().bytes_per_sm, 128);
  EXPECT_EQ(flow.loads.back().bytes_per_sm, 65536);
  // 12,800 bytes in 500 ns are 25.6 GB/s.
  EXPECT_DOUBLE_EQ(flow.loads.front().rungs[dram]->bytes_per_second, 25.6e9);
  EXPECT_DOUBLE_EQ(flow.loads.front().rungs[dram]->share, 0.0256);
  EXPECT_FALSE(flow.loads.front().rungs[shared]);
  // 500 kB of 100 SMs are 5,000 bytes of each: 4 KiB are too few, 8 KiB enough.
  EXPECT_EQ(flow.loads[flow.first_load].bytes_per_sm, 4096);
  EXPECT_DOUBLE_EQ(flow.loads[5].rungs[dram]->share, 0.8192);
  EXPECT_DOUBLE_EQ(flow.loads[6].rungs[dram]->share, 1);
  EXPECT_DOUBLE_EQ(flow.loads[6].rungs[dram]->bytes_per_second, 1e12);
  EXPECT_DOUBLE_EQ(flow.loads[6].rungs[l2]->share, 0.8192);
}

TEST(HierarchyFlow, IsToOneScale) {
  const Hierarchy hierarchy = hierarchy_of(fixtures::h200(), round_ceilings());
  const HierarchyFlow flow = hierarchy_flow(hierarchy, 100);
  EXPECT_DOUBLE_EQ(flow.lanes[dram].square, 1);
  EXPECT_DOUBLE_EQ(flow.lanes[l2].square * flow.lanes[l2].square,
                   hierarchy.rungs[l2].bytes->value / hierarchy.rungs[dram].bytes->value);
  EXPECT_NEAR(std::pow(flow.lanes[l2].pipe / flow.lanes[dram].pipe, 2), 4, 1e-9);
  EXPECT_EQ(flow.lanes.back().square, 0);  // nobody says how much memory a host has
}

TEST(HierarchyFlow, WithoutLatenciesNothingMovesAndThePictureSaysSo) {
  const HierarchyFlow flow = hierarchy_flow(hierarchy_of(fixtures::h200()), 132);
  EXPECT_EQ(flow.frames.size(), 1U);
  EXPECT_TRUE(flow.loads.empty());
  EXPECT_EQ(flow.frame_ns, 0);
  EXPECT_GT(flow.lanes[dram].pipe, 0);
  EXPECT_EQ(clock_text(load_lesson("en"), flow, flow.frames.front()), load_lesson("en").word("no_latency"));
}

TEST(HierarchyFlow, TheBrowserHasTheSameFrames) {
  const PointTable none;
  const Evidence evidence{.points = none,
                          .rows = {},
                          .gpu = fixtures::h200(),
                          .ceilings = round_ceilings(),
                          .registry = built_in_algorithms()};
  const HierarchyFlow flow = hierarchy_flow(hierarchy_of(evidence.gpu, evidence.ceilings), evidence.gpu.sm_count);
  for (const std::string& language : lesson_languages()) {
    const LessonTexts texts = load_lesson(language);
    const nlohmann::json page = nlohmann::json::parse(flow_json(texts, evidence));
    ASSERT_EQ(page["frames"].size(), flow.frames.size());
    for (std::size_t i = 0; i < flow.frames.size(); ++i) {
      EXPECT_NEAR(page["frames"][i]["trips"][dram].get<double>(), *flow.frames[i].trips[dram], 1e-5);
      EXPECT_TRUE(page["frames"][i]["trips"][shared].is_null());
      EXPECT_EQ(page["frames"][i]["clock"], clock_text(texts, flow, flow.frames[i]));
    }
    EXPECT_DOUBLE_EQ(page["stretch"].get<double>(), 60 * flow.stretch(60));
    ASSERT_EQ(page["loads"].size(), flow.loads.size());
    EXPECT_NEAR(page["loads"][0]["rungs"][dram]["share"].get<double>(), flow.loads[0].rungs[dram]->share, 1e-7);
    EXPECT_EQ(page["first"], flow.first_load);
  }
  const LessonTexts en = load_lesson("en");
  EXPECT_EQ(trips_text(en, 2.2), "loads back, one after the other: 2");
  EXPECT_EQ(load_text(en, flow.loads[5]), "Bytes under way in each SM: 4 KiB");
}

}  // namespace
}  // namespace attnscope::analysis::lesson
