// SPDX-License-Identifier: Apache-2.0
// Standard attention beyond the full forward pass: masks, dropout, backward pass, rows that exceed a block.
#include "kernels/common_knobs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/algorithm_parts.h"
#include "kernels/model/io_model.h"
#include "kernels/naive/naive_shape.h"
#include "kernels/registry.h"
#include "tests/kernels/programs.h"

namespace attnscope {
namespace {

using test::h200;
using test::mask_of;
using ::testing::ElementsAre;
using ::testing::IsSupersetOf;

const Algorithm& naive_attention = *built_in_algorithms().find("naive");

const KernelLaunch& launch(const AttentionPlan& plan, std::string_view name) {
  return *std::ranges::find(plan.launches, name, &KernelLaunch::name);
}

std::vector<std::string> names(const AttentionPlan& plan) {
  std::vector<std::string> all;
  for (const KernelLaunch& l : plan.launches) all.push_back(l.name);
  return all;
}

/// Both passes with ragged shapes, GQA, every kind of mask, and rows that exceed one block.
std::vector<AttentionProblem> problems() {
  std::vector<AttentionProblem> all;
  for (const char* words : {"full", "causal", "window:30:20", "lengths:ramp", "blocks:16:random30",
                            "window:100:0+lengths:ramp+blocks:48:butterfly"}) {
    for (const auto& [n_q, n_k] : {std::pair{1, 1}, std::pair{113, 203}, std::pair{239, 1}, std::pair{64, 128}}) {
      for (const Pass pass : {Pass::bwd, Pass::fwd_bwd}) {
        all.push_back({.pass = pass,
                       .mask = mask_of(words),
                       .batch = 2,
                       .heads_q = 6,
                       .heads_kv = 2,
                       .n_q = n_q,
                       .n_k = n_k,
                       .d = n_q == 113 ? 80 : 64,
                       .dropout = n_q == 64 ? 0.1 : 0.0});
      }
    }
  }
  for (const std::int64_t n_k : {32'768, 32'769, 65'536, 65'537, 140'000}) {
    all.push_back({.pass = Pass::fwd_bwd, .heads_q = 4, .heads_kv = 2, .n_q = 3, .n_k = n_k, .d = 16});
  }
  return all;
}

const std::vector<Tiling> irregular_tilings{
    {.br = 128, .bc = 128}, {.br = 16, .bc = 48, .raster = Raster::heads_fastest}, {.br = 48, .bc = 112}};

TEST(Naive, ClosedFormsMatchPrograms) {
  for (const AttentionProblem& p : problems()) {
    for (const Tiling& tile : irregular_tilings) {
      for (const KernelLaunch& l : naive_attention.plan(p, tile, h200()).launches) {
        ASSERT_EQ(l.traffic, walk(*l.program)) << describe(p) << " " << describe(tile) << " " << l.name;
      }
    }
  }
}

struct Matrix {
  std::int64_t instances;
  std::int64_t rows;
  std::int64_t cols;

  [[nodiscard]] std::int64_t elements() const { return instances * rows * cols; }
};

Matrix matrix_of(Tensor tensor, const AttentionProblem& p) {
  switch (tensor) {
    case Tensor::k:
    case Tensor::v:
    case Tensor::dk:
    case Tensor::dv:
      return {p.kv_instances(), p.n_k, p.d};
    case Tensor::s:
    case Tensor::p:
    case Tensor::dp:
    case Tensor::ds:
      return {p.instances(), p.n_q, naive::row_stride(p.n_k)};
    default:
      return {p.instances(), p.n_q, p.d};
  }
}

TEST(Naive, LaunchesWriteOnceAndReadAllInputs) {
  const std::map<std::string, Tensor> written{{"qk", Tensor::s},  {"softmax", Tensor::p}, {"pv", Tensor::o},
                                              {"dv", Tensor::dv}, {"dp", Tensor::dp},     {"ds", Tensor::ds},
                                              {"dq", Tensor::dq}, {"dk", Tensor::dk}};
  const std::set<Tensor> scores{Tensor::p, Tensor::ds};
  for (const AttentionProblem& p : problems()) {
    for (const Tiling& tile : irregular_tilings) {
      SCOPED_TRACE(describe(p) + " " + describe(tile));
      for (const KernelLaunch& l : naive_attention.plan(p, tile, h200()).launches) {
        SCOPED_TRACE(l.name);
        std::map<Tensor, std::int64_t> stored;
        std::map<Tensor, std::int64_t> loaded;
        for (const TileAccess& a : test::all_accesses(*l.program)) {
          const Matrix extent = matrix_of(a.tensor, p);
          ASSERT_TRUE(a.instance >= 0 && a.instance < extent.instances);
          ASSERT_TRUE(a.row >= 0 && a.rows > 0 && a.row + a.rows <= extent.rows) << to_string(a.tensor);
          ASSERT_TRUE(a.col >= 0 && a.cols > 0 && a.col + a.cols <= extent.cols) << to_string(a.tensor);
          (a.access == Access::store ? stored : loaded)[a.tensor] += a.rows * a.cols;
        }
        ASSERT_EQ(stored.size(), 1U);
        EXPECT_EQ(stored.begin()->first, written.at(l.name));
        EXPECT_EQ(stored.begin()->second, matrix_of(stored.begin()->first, p).elements());
        for (const auto& [tensor, elements] : loaded) {
          EXPECT_GE(elements, matrix_of(tensor, p).elements()) << to_string(tensor);
          const bool product = l.name != "softmax" && l.name != "ds";
          if (!product || !scores.contains(tensor)) continue;
          EXPECT_EQ(elements, matrix_of(tensor, p).elements()) << to_string(tensor);
        }
      }
    }
  }
}

TEST(Naive, MaskAndDropoutSaveNoTraffic) {
  AttentionProblem p{.pass = Pass::fwd_bwd, .batch = 2, .heads_q = 2, .heads_kv = 1, .n_q = 100, .n_k = 300};
  const Traffic full = naive_attention.plan(p, {}, h200()).traffic();
  for (const char* words : {"causal", "window:10:10", "lengths:7/0", "blocks:16:butterfly"}) {
    p.mask = mask_of(words);
    EXPECT_EQ(naive_attention.plan(p, {}, h200()).traffic(), full) << words;
  }
  p.dropout = 0.25;
  EXPECT_EQ(naive_attention.plan(p, {}, h200()).traffic(), full);
}

TEST(Naive, SingleTileMatchesPaperCount) {
  AttentionProblem p{.n_q = 256, .n_k = 256, .d = 64};
  const Tiling whole{.br = 256, .bc = 256};
  for (const Pass pass : {Pass::fwd, Pass::bwd, Pass::fwd_bwd}) {
    p.pass = pass;
    EXPECT_EQ(naive_attention.plan(p, whole, h200()).traffic().total(), standard_attention_bytes(p)) << to_string(pass);
  }
}

TEST(Naive, LongRowsAreReadTwice) {
  const auto traffic = [](std::int64_t n_k, std::string_view name) {
    const AttentionProblem p{.pass = Pass::fwd_bwd, .heads_q = 2, .heads_kv = 1, .n_q = 3, .n_k = n_k, .d = 64};
    return launch(naive_attention.plan(p, {}, h200()), name).traffic;
  };
  const auto matrix = [](std::int64_t n_k) { return 2 * 3 * n_k * 2; };
  EXPECT_EQ(traffic(65'536, "softmax"), (Traffic{matrix(65'536), matrix(65'536)}));
  EXPECT_EQ(traffic(65'552, "softmax"), (Traffic{2 * matrix(65'552), matrix(65'552)}));
  EXPECT_EQ(traffic(32'768, "ds"), (Traffic{2 * matrix(32'768), matrix(32'768)}));
  EXPECT_EQ(traffic(32'784, "ds"), (Traffic{4 * matrix(32'784), matrix(32'784)}));
}

TEST(Naive, BackwardHasUnmeasuredForward) {
  AttentionProblem p{.pass = Pass::bwd, .heads_q = 2, .heads_kv = 1, .n_q = 100, .n_k = 200, .d = 64};
  const AttentionPlan backward = naive_attention.plan(p, {}, h200());
  p.pass = Pass::fwd_bwd;
  const AttentionPlan both = naive_attention.plan(p, {}, h200());
  p.pass = Pass::fwd;
  const AttentionPlan forward = naive_attention.plan(p, {}, h200());
  EXPECT_THAT(names(forward), ElementsAre("qk", "softmax", "pv"));
  EXPECT_THAT(names(both), ElementsAre("qk", "softmax", "pv", "dv", "dp", "ds", "dq", "dk"));
  EXPECT_EQ(names(backward), names(both));
  for (const KernelLaunch& l : backward.launches) {
    EXPECT_EQ(l.setup, l.name == "qk" || l.name == "softmax" || l.name == "pv") << l.name;
  }
  EXPECT_TRUE(std::ranges::none_of(both.launches, &KernelLaunch::setup));
  Traffic sum = forward.traffic();
  sum += backward.traffic();
  EXPECT_EQ(both.traffic(), sum);
}

TEST(Naive, KeepsTwoScoreMatrices) {
  AttentionProblem p{.heads_q = 2, .heads_kv = 1, .n_q = 100, .n_k = 200, .d = 64};
  const std::int64_t scores = 2 * 100 * 208 * 2;
  for (const Pass pass : {Pass::fwd, Pass::bwd, Pass::fwd_bwd}) {
    p.pass = pass;
    const AttentionPlan plan = naive_attention.plan(p, {}, h200());
    EXPECT_EQ(std::ranges::count(plan.buffers, scores, &BufferSpec::bytes), 2) << to_string(pass);
    std::vector<std::string> buffers;
    for (const BufferSpec& b : plan.buffers) buffers.push_back(b.name);
    if (pass == Pass::fwd) continue;
    EXPECT_THAT(buffers, IsSupersetOf({"dout", "dq", "dk", "dv"}));
  }
}

TEST(Naive, ProductsShareTheirKernels) {
  AttentionProblem p{.pass = Pass::bwd, .n_q = 100, .n_k = 200, .d = 64};
  const Tiling tile{.br = 64, .bc = 32};
  const AttentionPlan plan = naive_attention.plan(p, tile, h200());
  EXPECT_EQ(launch(plan, "dp").source, launch(plan, "qk").source);
  EXPECT_EQ(launch(plan, "dq").source, launch(plan, "pv").source);
  EXPECT_EQ(launch(plan, "dk").source, launch(plan, "dv").source);
  // With dropout the signs of P mark dropped entries; in dS they are ordinary signs.
  p.dropout = 0.5;
  const AttentionPlan dropping = naive_attention.plan(p, tile, h200());
  EXPECT_THAT(launch(dropping, "pv").source.defines, IsSupersetOf({"ATTN_DROPOUT=1"}));
  EXPECT_THAT(launch(dropping, "dv").source.defines, IsSupersetOf({"ATTN_DROPOUT=1"}));
  EXPECT_EQ(launch(dropping, "dq").source, launch(plan, "dq").source);
  EXPECT_EQ(launch(dropping, "dk").source, launch(plan, "dk").source);
}

std::map<std::string, Argument> passed(const KernelLaunch& l) {
  const std::vector<std::string> declared = test::parameter_names(l.source);
  std::map<std::string, Argument> result;
  EXPECT_EQ(declared.size(), l.arguments.size()) << l.source.entry;
  for (std::size_t i = 0; i < std::min(declared.size(), l.arguments.size()); ++i) {
    EXPECT_EQ(std::holds_alternative<BufferArgument>(l.arguments[i]), declared[i].front() == '*') << declared[i];
    result[declared[i]] = l.arguments[i];
  }
  return result;
}

TEST(Naive, ArgumentsMatchKernelParameters) {
  for (const std::int64_t n_k : {203, 70'000}) {
    const AttentionProblem p{.pass = Pass::fwd_bwd,
                             .mask = mask_of("window:9:4+lengths:ramp+blocks:32:butterfly"),
                             .batch = 2,
                             .heads_q = 6,
                             .heads_kv = 2,
                             .n_q = 113,
                             .n_k = n_k,
                             .d = 64,
                             .dropout = 0.5};
    const std::map<std::string, std::int32_t> integers{{"instances", 12},
                                                       {"kv_instances", 4},
                                                       {"group", 3},
                                                       {"n_q", 113},
                                                       {"n_k", static_cast<std::int32_t>(n_k)},
                                                       {"stride", n_k == 203 ? 208 : 70'000},
                                                       {"row_warps", 1},
                                                       {"heads_q", 6},
                                                       {"left", 9},
                                                       {"right", 4},
                                                       {"mask_block", 32},
                                                       {"keep", 128},
                                                       {"seed", dropout_seed}};
    const std::map<std::string, float> factors{{"qk", 0.125F}, {"dp", 1.0F},   {"pv", 2.0F},  {"dv", 2.0F},
                                               {"ds", 2.0F},   {"dq", 0.125F}, {"dk", 0.125F}};
    const AttentionPlan plan = naive_attention.plan(p, {}, h200());
    std::set<std::string> buffers;
    for (const BufferSpec& b : plan.buffers) buffers.insert(b.name);
    for (const KernelLaunch& l : plan.launches) {
      SCOPED_TRACE(l.source.entry);
      for (const auto& [name, argument] : passed(l)) {
        if (const auto* integer = std::get_if<std::int32_t>(&argument)) {
          EXPECT_EQ(*integer, integers.at(name)) << name;
        } else if (const auto* real = std::get_if<float>(&argument)) {
          EXPECT_FLOAT_EQ(*real, factors.at(l.name)) << l.name;
        } else {
          EXPECT_TRUE(buffers.contains(std::get<BufferArgument>(argument).name)) << name;
        }
      }
    }
    EXPECT_EQ(launch(plan, "softmax").source.entry, n_k == 203 ? "attn_naive_softmax" : "attn_naive_softmax_long");
    EXPECT_EQ(launch(plan, "ds").source.entry, n_k == 203 ? "attn_naive_ds" : "attn_naive_ds_long");
  }
}

TEST(Naive, DecodingUsesSmallTile) {
  AttentionProblem p{.heads_q = 16, .heads_kv = 2, .n_q = 1, .n_k = 131'072, .d = 128};
  EXPECT_EQ(describe(naive_attention.default_config(p, h200())), "16x128");
  p.n_q = 17;
  EXPECT_EQ(describe(naive_attention.default_config(p, h200())), "128x128");
}

TEST(NaiveShape, StagesFitExchangedAccumulators) {
  for (const int d : naive_attention.facts().head_dims) {
    for (int br = 16; br <= 256; br += 16) {
      const int warps = naive::pv_column_warps(br, d);
      EXPECT_LE(4LL * (warps - 1) * br * d, naive::pv_shared_bytes(br, d, 2)) << br << " " << d;
      EXPECT_EQ(naive::pv_step / 16 % warps, 0);
    }
  }
}

}  // namespace
}  // namespace attnscope
