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
#include "profiler/lesson/lesson_page.h"
#include "profiler/lesson/player.h"
#include "tests/kernels/programs.h"
#include "tests/profiler/points/fixtures.h"

namespace attnscope::analysis::lesson {
namespace {

TilePlayer make_player(const Algorithm& algorithm, const AttentionProblem& problem, const Config& config,
                       const PlayerOptions& options = {}) {
  return std::move(TilePlayer::make(algorithm, problem, config, test::h200(), options)).value();
}

std::size_t first_frame(const TilePlayer& player, std::size_t launch) {
  return static_cast<std::size_t>(std::ranges::find(player.frames(), launch, &Frame::launch) - player.frames().begin());
}

/// A feasible combination of algorithm, mask and pass.
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

TEST(TilePlayer, MatchesClosedFormAndSimulator) {
  std::set<std::string> algorithms;
  std::set<Pass> passes;
  for (const Played& each : everything()) {
    const TilePlayer player = make_player(*each.algorithm, each.problem, each.config);
    const std::string what = test::label(*each.algorithm, each.problem, each.config);
    ASSERT_FALSE(player.frames().empty()) << what;
    EXPECT_EQ(player.total().by_tensor, player.closed_form().by_tensor) << what;
    EXPECT_EQ(player.total().sm_l2(), each.algorithm->model(each.problem, each.config, test::h200()).traffic()) << what;
    EXPECT_LE(player.total().l2_hit_bytes + player.total().dram_read_bytes, player.total().sm_l2().total()) << what;
    double read = 0;
    double written = 0;
    for (const LaunchSimulation& launch : player.simulated()) {
      read += launch.dram_read_bytes;
      written += launch.dram_write_bytes;
    }
    EXPECT_EQ(static_cast<double>(player.total().dram_read_bytes), read) << what;
    EXPECT_EQ(static_cast<double>(player.total().dram_write_bytes), written) << what;
    // A mask may skip rows of K and V.
    const bool whole = each.problem.mask == Mask::none;
    EXPECT_GE(read + written, whole ? static_cast<double>(compulsory_traffic(each.problem).total()) : 0) << what;
    algorithms.insert(each.algorithm->name());
    passes.insert(each.problem.pass);
  }
  const auto of_one_gpu = [](const Algorithm* each) { return !each->facts().is_multi_gpu(); };
  EXPECT_EQ(std::ssize(algorithms), std::ranges::count_if(built_in_algorithms().algorithms(), of_one_gpu));
  EXPECT_EQ(passes.size(), 3U);
}

TEST(TilePlayer, StepsAreOrderedAndBytesAddUp) {
  for (const Played& each : everything()) {
    const TilePlayer player = make_player(*each.algorithm, each.problem, each.config);
    Tally sum;
    std::map<std::pair<std::size_t, std::int64_t>, std::int64_t> next;
    std::size_t launch = 0;
    for (const Frame& frame : player.frames()) {
      EXPECT_EQ(frame.step, (next[{frame.launch, frame.block}]++));
      EXPECT_TRUE(frame.launch == launch || frame.launch == launch + 1);
      launch = frame.launch;
      for (const FrameAccess& access : frame.accesses) {
        Traffic& traffic = sum.by_tensor.at(static_cast<std::size_t>(access.access.tensor));
        (access.access.access == Access::load ? traffic.l2_to_sm_bytes : traffic.sm_to_l2_bytes) +=
            access.access.moved_bytes();
      }
      ASSERT_EQ(frame.so_far.by_tensor, sum.by_tensor) << each.algorithm->name();
    }
    EXPECT_EQ(launch + 1, player.kernels().size());
    std::size_t at = 0;
    for (const Round& round : player.rounds()) {
      EXPECT_EQ(round.first, at);
      EXPECT_LT(round.first, round.last);
      EXPECT_EQ(player.frames()[round.last - 1].launch, round.launch);
      at = round.last;
    }
    EXPECT_EQ(at, player.frames().size());
  }
}

TEST(TilePlayer, ASmallerL2MissesMore) {
  int missing = 0;
  for (const Algorithm* algorithm : built_in_algorithms().algorithms()) {
    if (algorithm->facts().for_decoding) continue;
    const AttentionProblem p{.heads_q = 4, .heads_kv = 4, .n_q = 1024, .n_k = 1024, .d = 64};
    const Config config = algorithm->default_config(p, test::h200());
    const TilePlayer large = make_player(*algorithm, p, config);
    const TilePlayer small = make_player(*algorithm, p, config, {.l2_bytes = 64 << 10});
    // Blocks in lockstep share tiles even in a small L2.
    EXPECT_GE(small.total().dram_read_bytes, large.total().dram_read_bytes) << algorithm->name();
    missing += small.total().dram_read_bytes > large.total().dram_read_bytes ? 1 : 0;
    EXPECT_EQ(small.total().by_tensor, large.total().by_tensor) << algorithm->name();
    // Every loaded byte is either a hit or read from DRAM.
    EXPECT_GE(small.total().l2_hit_bytes + small.total().dram_read_bytes, small.total().sm_l2().l2_to_sm_bytes);
  }
  EXPECT_GT(missing, 0);
}

TEST(TilePlayer, WritesDirtyLinesOfEachLaunch) {
  // N 384, d 64, one head: S and P have 288 KiB each and are written before they are read, O has 48 KiB.
  const AttentionProblem p{.n_q = 384, .n_k = 384, .d = 64};
  const TilePlayer naive = make_player(*built_in_algorithms().find("naive"), p, {{.br = 128, .bc = 128}, {}});
  EXPECT_EQ(naive.total().dram_write_bytes, (288 + 288 + 48) << 10);
  EXPECT_EQ(naive.total().dram_read_bytes, (3 * 48 + 288 + 288) << 10);
  const std::size_t second = first_frame(naive, 1);
  EXPECT_EQ(naive.frames()[second - 2].so_far.dram_write_bytes, 0);
  EXPECT_EQ(naive.frames()[second - 1].so_far.dram_write_bytes, 288 << 10);
}

TEST(TilePlayer, RoundHasOneStepPerBlock) {
  // Four heads of FA2 with four blocks each, all resident: first Q, then K and V tile by tile.
  const AttentionProblem p{.heads_q = 4, .heads_kv = 4, .n_q = 256, .n_k = 256, .d = 64};
  const TilePlayer fa2 = make_player(*built_in_algorithms().find("fa2"), p, {{.br = 64, .bc = 64}, {}});
  ASSERT_FALSE(fa2.rounds().empty());
  for (const Round& round : fa2.rounds()) {
    EXPECT_EQ(round.last - round.first, 16U);
    for (std::size_t i = round.first; i < round.last; ++i)
      EXPECT_EQ(fa2.frames()[i].step, fa2.frames()[round.first].step);
  }
}

/// Returns the `br` x `bc` tiles with unmasked pairs.
std::set<std::pair<std::int64_t, std::int64_t>> unmasked_tiles(std::int64_t n, int br, int bc, bool causal) {
  std::set<std::pair<std::int64_t, std::int64_t>> left;
  for (std::int64_t q = 0; q < n; q += br) {
    for (std::int64_t k = 0; k < n; k += bc) {
      if (!causal || k <= q + br - 1) left.emplace(q / br, k / bc);
    }
  }
  return left;
}

TEST(TilePlayer, TouchesUnmaskedPairs) {
  constexpr std::int64_t n = 512;
  for (const char* name : {"naive", "fa1", "fa2"}) {
    const Algorithm& algorithm = *built_in_algorithms().find(name);
    for (const bool causal : {false, true}) {
      const AttentionProblem p{.mask = test::mask_of(causal ? "causal" : "full"), .n_q = n, .n_k = n, .d = 64};
      const TilePlayer player = make_player(algorithm, p, {{.br = 64, .bc = 64}, {}});
      const auto touched = player.touched_pairs();
      ASSERT_EQ(touched.size(), player.frames().size());
      // Naive attention computes all of S in its first kernel; the softmax kernel applies the mask.
      const bool whole = name == std::string_view("naive");
      const std::size_t scores = whole ? first_frame(player, 1) : touched.size();
      std::set<std::pair<std::int64_t, std::int64_t>> seen;
      for (std::size_t index = 0; index < scores; ++index) {
        if (const auto& pairs = touched[index]) seen.emplace(pairs->q / 64, pairs->k / 64);
      }
      EXPECT_EQ(seen, unmasked_tiles(n, 64, 64, causal && !whole)) << name << (causal ? " causal" : "");
    }
  }
}

TEST(TilePlayer, RejectsLongPrograms) {
  const Algorithm& first = *built_in_algorithms().algorithms().front();
  const AttentionProblem p{.n_q = 256, .n_k = 256, .d = 64};
  EXPECT_FALSE(TilePlayer::make(first, p, {{.br = 7, .bc = 7}, {}}, test::h200()).ok());
  const AttentionProblem huge{.batch = 64, .heads_q = 64, .heads_kv = 64, .n_q = 65536, .n_k = 65536, .d = 64};
  const auto refused = TilePlayer::make(first, huge, first.default_config(huge, test::h200()), test::h200());
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(text(refused.error()), ::testing::HasSubstr("steps"));
}

}  // namespace
}  // namespace attnscope::analysis::lesson
