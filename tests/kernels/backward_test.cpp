// SPDX-License-Identifier: Apache-2.0
// Backward passes of the FlashAttention algorithms. model_test.cpp compares closed forms with tile programs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "kernels/common_knobs.h"
#include "kernels/device/gradient_shape.h"
#include "kernels/fa3/fa3_backward_shape.h"
#include "kernels/registry.h"
#include "tests/kernels/programs.h"

namespace attnscope {
namespace {

using test::h200;
using test::label;
using ::testing::ElementsAre;

const std::vector<const Algorithm*>& flash() {
  static const std::vector<const Algorithm*> both{built_in_algorithms().find("fa1"), built_in_algorithms().find("fa2")};
  return both;
}

/// irregular_problems(), plus the same shapes with the other masks.
std::vector<AttentionProblem> backward_problems() {
  std::vector<AttentionProblem> problems = test::irregular_problems();
  std::erase_if(problems, [](const AttentionProblem& p) { return p.dtype == DType::fp8; });
  for (const char* words : {"window:20:7", "window:0:0", "window:inf:30", "lengths:ramp", "causal+lengths:ramp",
                            "blocks:128:random40", "window:90:0+blocks:128:butterfly+lengths:ramp"}) {
    for (const std::int64_t n_q : {1, 65, 239}) {
      for (const std::int64_t n_k : {1, 128, 257}) {
        problems.push_back(
            {.mask = test::mask_of(words), .batch = 2, .heads_q = 4, .heads_kv = 2, .n_q = n_q, .n_k = n_k, .d = 64});
      }
    }
  }
  for (AttentionProblem& p : problems) p.pass = Pass::bwd;
  return problems;
}

TEST(Backward, Fa3ClosedFormMatchesProgram) {
  const Algorithm& fa2 = *built_in_algorithms().find("fa2");
  const Algorithm& fa3 = *built_in_algorithms().find("fa3");
  for (const int d : {64, 128}) {
    const Tiling tile{.br = fa3_backward::query_rows(d), .bc = 128};
    for (const char* words : {"full", "causal", "window:20:7", "causal+lengths:ramp"}) {
      for (const std::int64_t group : {1, 3}) {
        for (const std::int64_t n_q : {1, 65, 128, 239, 300}) {
          for (const std::int64_t n_k : {1, 128, 257}) {
            const AttentionProblem p{.pass = n_k == 1 ? Pass::fwd_bwd : Pass::bwd,
                                     .mask = test::mask_of(words),
                                     .batch = 2,
                                     .heads_q = 2 * group,
                                     .heads_kv = 2,
                                     .n_q = n_q,
                                     .n_k = n_k,
                                     .d = d,
                                     .deterministic = group == 3};
            SCOPED_TRACE(label(fa3, p, tile));
            ASSERT_FALSE(fa3.refusal(p, tile, h200()));
            const AttentionPlan padded = fa3.plan(p, tile, h200());
            const AttentionPlan plain = fa2.plan(p, tile, h200());
            const std::int64_t rows = fa3_backward::row_tiles(n_q, tile.br) * tile.br;
            ASSERT_EQ(padded.launches.size(), 4U);
            EXPECT_EQ(padded.launches[1].source.file, "fa3/fa3_backward_rows.cuh");
            EXPECT_EQ(padded.launches[2].source.file, "fa3/fa3_backward.cuh");
            EXPECT_EQ(padded.launches[3].source.file, "fa3/fa3_backward_rows.cuh");
            std::map<Access, std::int64_t> accumulator_traffic;
            for (std::size_t i = 1; i < padded.launches.size(); ++i) {
              const KernelLaunch& launch = padded.launches[i];
              ASSERT_EQ(launch.traffic, walk(*launch.program)) << launch.name;
              EXPECT_EQ(launch.grid[0], launch.program->blocks()) << launch.name;
              // Differs from fa2 only in the accumulators' last tile, whole boxes of Q and dO, and the rows of D per
              // store.
              Traffic expected = plain.launches[i].traffic;
              for (const TileAccess& a : test::all_accesses(*plain.launches[i].program)) {
                if (a.access == Access::store && a.tensor == Tensor::delta) expected.sm_to_l2_bytes -= a.moved_bytes();
              }
              for (const TileAccess& a : test::all_accesses(*launch.program)) {
                if (a.access == Access::store && a.tensor == Tensor::delta) expected.sm_to_l2_bytes += a.moved_bytes();
                if (a.box_rows() > 0) expected.l2_to_sm_bytes += a.moved_bytes() - a.bytes();
                if (a.tensor != Tensor::dq_acc) continue;
                ASSERT_EQ(a.row % tile.br, 0);
                ASSERT_EQ(a.rows, tile.br);
                ASSERT_LE(a.row + a.rows, rows);
                accumulator_traffic[a.access] += a.bytes();
                const std::int64_t padding = std::max<std::int64_t>(0, a.row + a.rows - n_q) * d * 4;
                (a.access == Access::load ? expected.l2_to_sm_bytes : expected.sm_to_l2_bytes) += padding;
              }
              EXPECT_EQ(launch.traffic, expected) << launch.name;
            }
            // The whole buffer is cleared once and read once.
            const auto buffer = std::ranges::find(padded.buffers, "dq_acc", &BufferSpec::name);
            EXPECT_EQ(buffer->bytes, p.instances() * rows * d * 4);
            EXPECT_EQ(accumulator_traffic[Access::store], buffer->bytes);
            EXPECT_EQ(accumulator_traffic[Access::load], buffer->bytes);
          }
        }
      }
    }
  }
}

TEST(Backward, MatchesPaperFormulas) {
  // In elements, from FlashAttention-2 (arXiv 2307.08691), Algorithm 2, in three kernels as in its authors' code, and
  // FlashAttention (arXiv 2205.14135v2), Algorithm 4. FA2: pre 2 n_q d + n_q, main 4 n_k d + Tc (2 n_q d + n_q d in
  // fp32 + 2 n_q). FA1: 4 n_k d + Tc (5 n_q d + 2 n_q), with dQ in fp32, cleared first and written in 16 bits last.
  constexpr std::int64_t n = 4096;
  constexpr std::int64_t d = 128;
  constexpr std::int64_t heads = 4;
  constexpr std::int64_t tc = 32;
  const AttentionProblem p{.pass = Pass::bwd, .heads_q = heads, .heads_kv = heads, .n_q = n, .n_k = n, .d = d};
  const Tiling tile{.br = 64, .bc = 128};
  const AttentionPlan fa2 = built_in_algorithms().find("fa2")->plan(p, tile, h200());
  ASSERT_EQ(fa2.launches.size(), 4U);
  EXPECT_EQ(fa2.launches[1].traffic, (Traffic{heads * 4 * n * d, heads * (4 * n + 4 * n * d)}));
  EXPECT_EQ(fa2.launches[2].traffic,
            (Traffic{heads * (4 * n * d + tc * (4 * n * d + 8 * n)), heads * (4 * n * d + tc * 4 * n * d)}));
  EXPECT_EQ(fa2.launches[3].traffic, (Traffic{heads * 4 * n * d, heads * 2 * n * d}));
  const AttentionPlan fa1 = built_in_algorithms().find("fa1")->plan(p, tile, h200());
  ASSERT_EQ(fa1.launches.size(), 2U);
  EXPECT_EQ(fa1.launches[1].traffic,
            (Traffic{heads * (4 * n * d + tc * (10 * n * d + 8 * n)), heads * (tc * 4 * n * d + 6 * n * d)}));
}

TEST(Backward, AccessesStayInsideAndOutputsAreWrittenOnce) {
  for (const Algorithm* algorithm : flash()) {
    for (const AttentionProblem& p : backward_problems()) {
      const Tiling tile{.br = 64, .bc = 32};
      SCOPED_TRACE(label(*algorithm, p, tile));
      std::map<Tensor, std::int64_t> stored;
      for (const KernelLaunch& launch : algorithm->plan(p, tile, h200()).launches) {
        if (launch.setup) continue;
        for (const TileAccess& a : test::all_accesses(*launch.program)) {
          const bool of_keys =
              a.tensor == Tensor::k || a.tensor == Tensor::v || a.tensor == Tensor::dk || a.tensor == Tensor::dv;
          const bool of_rows =
              a.tensor == Tensor::l || a.tensor == Tensor::m || a.tensor == Tensor::lse || a.tensor == Tensor::delta;
          ASSERT_TRUE(a.instance >= 0 && a.instance < (of_keys ? p.kv_instances() : p.instances()));
          ASSERT_TRUE(a.row >= 0 && a.rows > 0 && a.row + a.rows <= (of_keys ? p.n_k : p.n_q)) << to_string(a.tensor);
          ASSERT_EQ(a.col, 0);
          ASSERT_EQ(a.cols, of_rows ? 1 : p.d);
          ASSERT_EQ(a.element_bytes, of_rows || a.tensor == Tensor::dq_acc ? 4 : 2) << to_string(a.tensor);
          ASSERT_TRUE(a.access != Access::reduce || a.tensor == Tensor::dq_acc);
          if (a.access == Access::store) stored[a.tensor] += a.rows;
        }
      }
      EXPECT_EQ(stored[Tensor::dq], p.instances() * p.n_q);
      EXPECT_EQ(stored[Tensor::dk], p.kv_instances() * p.n_k);
      EXPECT_EQ(stored[Tensor::dv], p.kv_instances() * p.n_k);
      EXPECT_EQ(stored[Tensor::delta], algorithm->name() == "fa2" ? p.instances() * p.n_q : 0);
    }
  }
}

TEST(Backward, PlansOfTheThreePasses) {
  const auto names = [](const AttentionPlan& plan, bool setup) {
    std::vector<std::string> all;
    for (const KernelLaunch& launch : plan.launches) {
      if (launch.setup == setup) all.push_back(launch.name);
    }
    return all;
  };
  AttentionProblem p{.heads_q = 4, .heads_kv = 2, .n_q = 500, .n_k = 300, .d = 64};
  const Tiling tile{.br = 64, .bc = 128};
  for (const Algorithm* algorithm : flash()) {
    const bool second = algorithm->name() == "fa2";
    p.pass = Pass::fwd;
    const AttentionPlan forward = algorithm->plan(p, tile, h200());
    p.pass = Pass::bwd;
    const AttentionPlan backward = algorithm->plan(p, tile, h200());
    p.pass = Pass::fwd_bwd;
    const AttentionPlan both = algorithm->plan(p, tile, h200());
    EXPECT_THAT(names(backward, true), ElementsAre("fwd"));
    EXPECT_TRUE(names(both, true).empty());
    if (second) {
      EXPECT_THAT(names(backward, false), ElementsAre("dot", "bwd", "convert"));
      EXPECT_THAT(names(both, false), ElementsAre("fwd", "dot", "bwd", "convert"));
    } else {
      EXPECT_THAT(names(backward, false), ElementsAre("bwd"));
      EXPECT_THAT(names(both, false), ElementsAre("fwd", "bwd"));
    }
    Traffic sum = forward.traffic();
    sum += backward.traffic();
    EXPECT_EQ(both.traffic(), sum);
    EXPECT_EQ(both.launches[0].source, forward.launches[0].source);
  }
}

TEST(Backward, DefaultTilesAreFeasibleOnKnownGpus) {
  for (const Algorithm* algorithm : flash()) {
    for (const int d : algorithm->facts().head_dims) {
      for (const DeviceLimits& gpu : known_gpus()) {
        for (const Pass pass : {Pass::bwd, Pass::fwd_bwd}) {
          const AttentionProblem p{.pass = pass, .n_q = 4096, .n_k = 4096, .d = d};
          const Tiling tile = tiling_from(algorithm->default_config(p, gpu));
          const auto refused = algorithm->refusal(p, tile, gpu);
          if (!refused) continue;
          EXPECT_TRUE(algorithm->refusal(p, Tiling{.br = 16, .bc = 16}, gpu).has_value())
              << label(*algorithm, p, tile) << " on " << gpu.name << ": " << refused->reason;
          EXPECT_GT(d, 128) << label(*algorithm, p, tile) << " on " << gpu.name << ": " << refused->reason;
        }
      }
    }
  }
  AttentionProblem p{.pass = Pass::bwd, .n_q = 4096, .n_k = 4096, .d = 64};
  EXPECT_EQ(describe(built_in_algorithms().find("fa2")->default_config(p, h200())), "128x128");
  EXPECT_EQ(describe(built_in_algorithms().find("fa1")->default_config(p, h200())), "64x256");
  p.d = 128;
  EXPECT_EQ(describe(built_in_algorithms().find("fa2")->default_config(p, h200())), "64x128");
  p.d = 32;
  EXPECT_EQ(describe(built_in_algorithms().find("fa2")->default_config(p, h200())), "128x256");
  EXPECT_EQ(describe(built_in_algorithms().find("fa2")->default_config(p, *find_gpu("a100"))), "128x128");
}

TEST(GradientShape, WarpsCoverTheMatrix) {
  for (const int warps : {4, 8}) {
    for (int rows = 16; rows <= 256; rows += 16) {
      for (int columns = 16; columns <= 256; columns += 16) {
        const gradient::WarpGrid grid = gradient::warp_grid(rows, columns, warps);
        EXPECT_EQ(grid.down * grid.across, warps);
        EXPECT_GE(grid.down * grid.rows * 16, rows);
        EXPECT_GE(grid.across * grid.columns * 16, columns);
      }
    }
  }
  EXPECT_EQ(gradient::warp_grid(128, 128, 8).cells(), 8);
  EXPECT_EQ(gradient::chunk_columns(64, 128, 128), 128);
  EXPECT_EQ(gradient::chunk_columns(128, 128, 64), 64);
}

}  // namespace
}  // namespace attnscope
