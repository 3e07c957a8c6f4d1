// SPDX-License-Identifier: Apache-2.0
#include "kernels/model/attention.h"
#include "kernels/common_knobs.h"
#include "kernels/model/law.h"
#include "tests/kernels/tiling.h"
#include "tests/message_matchers.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <tuple>

namespace attnscope {
namespace {

using test::HasWords;
using test::IsReason;

TEST(Words, RoundTripAndListAcceptedNames) {
  for (const DType v : {DType::fp16, DType::bf16, DType::fp8, DType::fp32})
    EXPECT_EQ(parse_dtype(to_string(v)).value(), v);
  for (const Mask& v : {Mask::none, Mask::causal}) EXPECT_EQ(parse_mask(to_string(v)).value(), v);
  for (const Pass v : {Pass::fwd, Pass::bwd, Pass::fwd_bwd}) EXPECT_EQ(parse_pass(to_string(v)).value(), v);
  EXPECT_THAT(text(parse_dtype("fp4").error()), HasWords("dtype fp4 fp16 bf16 fp8 fp32"));
  EXPECT_THAT(text(parse_pass("backward").error()), HasWords("pass backward fwd bwd fwd+bwd"));
  EXPECT_THAT(parse_knob(raster_knob(), "").error(), IsReason("refusal.knob_value", "raster q_fastest heads_fastest"));
}

TEST(UnmaskedPairs, CausalIsBottomRightAligned) {
  AttentionProblem p{.mask = Mask::causal, .n_q = 2, .n_k = 5};  // 11110 / 11111
  EXPECT_EQ(unmasked_pairs(p), 9);
  p.n_q = 5, p.n_k = 2;  // three empty rows, then 10 / 11
  EXPECT_EQ(unmasked_pairs(p), 3);
  p.n_q = p.n_k = 4;
  p.batch = 3, p.heads_q = 2;
  EXPECT_EQ(unmasked_pairs(p), 6 * 10);
  p.mask = Mask::none;
  EXPECT_EQ(unmasked_pairs(p), 6 * 16);
}

TEST(UnmaskedPairs, MatchesCounting) {
  for (std::int64_t n_q = 1; n_q < 9; ++n_q) {
    for (std::int64_t n_k = 1; n_k < 9; ++n_k) {
      std::int64_t count = 0;
      for (std::int64_t i = 0; i < n_q; ++i) {
        for (std::int64_t j = 0; j < n_k; ++j) count += j <= i + n_k - n_q ? 1 : 0;
      }
      EXPECT_EQ(unmasked_pairs({.mask = Mask::causal, .n_q = n_q, .n_k = n_k}), count) << n_q << " x " << n_k;
    }
  }
}

TEST(ForwardFlops, Is4dPerPair) {
  EXPECT_DOUBLE_EQ(forward_flops({.batch = 64, .heads_q = 16, .heads_kv = 16, .n_q = 1024, .n_k = 1024, .d = 64}),
                   4.0 * 64 * 1024 * 1024 * 1024);
}

TEST(PassFlops, BackwardIs2Point5Forward) {
  AttentionProblem p{.heads_q = 4, .n_q = 100, .n_k = 200, .d = 64};
  const double forward = forward_flops(p);
  EXPECT_DOUBLE_EQ(pass_flops(p), forward);
  p.pass = Pass::bwd;
  EXPECT_DOUBLE_EQ(pass_flops(p), 2.5 * forward);
  p.pass = Pass::fwd_bwd;
  EXPECT_DOUBLE_EQ(pass_flops(p), 3.5 * forward);
}

// The forward pass takes 4 d FLOPs for each of 80,000 pairs.
TEST(LeastPassFlops, BackwardIsTwiceForward) {
  AttentionProblem p{.heads_q = 4, .n_q = 100, .n_k = 200, .d = 64};
  EXPECT_DOUBLE_EQ(least_pass_flops(p), 20'480'000);
  p.pass = Pass::bwd;
  EXPECT_DOUBLE_EQ(least_pass_flops(p), 40'960'000);
  p.pass = Pass::fwd_bwd;
  EXPECT_DOUBLE_EQ(least_pass_flops(p), 61'440'000);
}

TEST(Dropout, KeepsFractionOf256) {
  const auto keep = [](double dropout) { return dropout_keep_count({.dropout = dropout}); };
  EXPECT_EQ(keep(0), 256);
  EXPECT_EQ(keep(0.5), 128);
  EXPECT_EQ(keep(0.1), 230);
  EXPECT_EQ(keep(0.001), 256);
  EXPECT_EQ(keep(0.999), 1);
}

TEST(Describe, OneLine) {
  EXPECT_EQ(describe(AttentionProblem{
                .mask = Mask::causal, .heads_q = 16, .heads_kv = 16, .n_q = 4096, .n_k = 4096, .d = 128}),
            "fp16 causal batch 1 heads 16 N 4096 d 128");
  EXPECT_EQ(describe(AttentionProblem{.dtype = DType::bf16, .heads_q = 8, .heads_kv = 2, .n_q = 1, .n_k = 512}),
            "bf16 batch 1 heads 8/2 N 1x512 d 64");
  EXPECT_EQ(describe(AttentionProblem{.pass = Pass::bwd,
                                      .mask = parse_mask("window:64:0").value(),
                                      .n_q = 4,
                                      .n_k = 4,
                                      .dropout = 0.1,
                                      .page = 64,
                                      .deterministic = true}),
            "fp16 bwd window:64:0 batch 1 heads 1 N 4 d 64 dropout 0.1 page 64 deterministic");
  AttentionProblem shared{.n_q = 4, .n_k = 4, .page = 16};
  for (const auto& [gpus, order, words] : {std::tuple(1, GpuOrder::striped, " striped"),
                                           {2, GpuOrder::contiguous, " on 2 GPUs"},
                                           {4, GpuOrder::zigzag, " on 4 GPUs zigzag"}}) {
    shared.gpus = gpus;
    shared.gpu_order = order;
    EXPECT_EQ(describe(shared), std::string("fp16 batch 1 heads 1 N 4 d 64 page 16") + words);
  }
  EXPECT_EQ(describe(Tiling{.br = 128, .bc = 64}), "128x64");
  EXPECT_EQ(describe(Tiling{.br = 128, .bc = 64, .splits = 8, .warps = 4, .stages = 2}),
            "128x64 splits 8 stages 2 warps 4");
  EXPECT_EQ(describe(Tiling{.br = 128, .bc = 64, .raster = Raster::heads_fastest}), "128x64 heads_fastest");
}

TEST(InvalidReason, NamesWhatIsWrong) {
  EXPECT_TRUE(invalid_reason({}).empty());
  EXPECT_THAT(invalid_reason({.n_q = 0}), IsReason("problem.at_least_one", "n_q 0"));
  EXPECT_THAT(invalid_reason({.batch = -2}), IsReason("problem.at_least_one", "batch -2"));
  EXPECT_THAT(invalid_reason({.heads_q = 6, .heads_kv = 4}), IsReason("problem.head_groups", "heads_q 6 heads_kv 4"));
  const auto with = [](const char* mask, std::int64_t batch) {
    return invalid_reason({.mask = parse_mask(mask).value(), .batch = batch, .n_q = 8, .n_k = 100});
  };
  EXPECT_TRUE(with("lengths:100/0/7", 3).empty());
  EXPECT_THAT(with("lengths:100/0/7", 2), IsReason("problem.length_count", "3 2"));
  EXPECT_THAT(with("lengths:5", 2), IsReason("problem.length_count", "1 2"));
  EXPECT_THAT(with("lengths:5/101", 2), IsReason("problem.length_beyond", "101 100"));
  for (const double dropout : {-0.1, 1.0, 1.5, std::numeric_limits<double>::quiet_NaN()}) {
    EXPECT_THAT(invalid_reason({.dropout = dropout}), IsReason("problem.dropout_range", fmt::format("{}", dropout)));
  }
  EXPECT_TRUE(invalid_reason({.dropout = 0.9}).empty());
  EXPECT_THAT(invalid_reason({.dropout = 0.001}), IsReason("problem.dropout_rounds", "0.001 0/256"));
  EXPECT_THAT(invalid_reason({.dropout = 0.999}), IsReason("problem.dropout_rounds", "0.999 256/256"));
  for (const double dropout : {1 / 256.0, 0.5, 255 / 256.0}) EXPECT_TRUE(invalid_reason({.dropout = dropout}).empty());
  for (const std::int64_t page : {-16, 1, 8, 24, 48, 100, 1 << 25}) {
    EXPECT_THAT(invalid_reason({.page = page}), IsReason("problem.page", "16 2^24")) << page;
  }
  for (const std::int64_t page : {0, 16, 64, 4096, 1 << 24})
    EXPECT_TRUE(invalid_reason({.page = page}).empty()) << page;
  AttentionProblem shared;
  for (const auto& [gpus, valid] : {std::pair(0, false), {1, true}, {max_gpus, true}, {max_gpus + 1, false}}) {
    shared.gpus = gpus;
    EXPECT_EQ(invalid_reason(shared).empty(), valid) << gpus;
  }
  // 2^40 entries of one key: 2^46 elements, but 2^70 in pages of 2^24 keys.
  AttentionProblem paged{.batch = std::int64_t{1} << 40, .d = 1};
  EXPECT_TRUE(invalid_reason(paged).empty());
  paged.page = 1 << 24;
  EXPECT_THAT(invalid_reason(paged), IsReason("problem.too_large", "page"));
  const std::int64_t huge = std::int64_t{1} << 31;
  EXPECT_THAT(invalid_reason({.n_q = huge, .n_k = huge}), IsReason("problem.rows", "2147483648 2^28"));
  EXPECT_THAT(invalid_reason({.batch = std::numeric_limits<std::int64_t>::max()}),
              IsReason("problem.too_large", "9223372036854775807"));
  EXPECT_TRUE(invalid_reason({.heads_q = 132, .heads_kv = 132, .n_q = 1 << 20, .n_k = 1 << 20, .d = 128}).empty());
}

TEST(InvalidReason, LimitsWindowSides) {
  const auto with = [](std::int64_t left, std::int64_t right) {
    AttentionProblem p{.n_q = 8, .n_k = 8};
    p.mask.left = left, p.mask.right = right;
    return invalid_reason(p);
  };
  const std::int64_t most = std::int64_t{1} << 29;
  EXPECT_TRUE(with(most, most).empty());
  EXPECT_TRUE(with(Mask::unlimited, 0).empty());
  EXPECT_THAT(with(most + 1, 0), IsReason("problem.window_side", "left 536870913 2^29"));
  EXPECT_THAT(with(0, most + 1), IsReason("problem.window_side", "right 536870913 2^29"));
  EXPECT_THAT(with(std::int64_t{1} << 32, 0), IsReason("problem.window_side", "left 4294967296 2^29"));
  EXPECT_THAT(with(0, -2), IsReason("problem.window_side", "right -2 2^29"));
}

TEST(InvalidReason, RejectsHugeProblems) {
  const auto with = [](const char* mask, std::int64_t batch, std::int64_t n) {
    return invalid_reason({.mask = parse_mask(mask).value(), .batch = batch, .n_q = n, .n_k = n, .d = 1});
  };
  EXPECT_THAT(with("lengths:ramp", 500'000'000'000'000, 16),
              IsReason("problem.lengths_of_batch", "2^16 500000000000000"));
  EXPECT_TRUE(with("full", 500'000'000'000'000, 1).empty());
  EXPECT_TRUE(with("lengths:ramp", 1 << 16, 1 << 11).empty());
  EXPECT_THAT(with("lengths:ramp", 1 << 16, (1 << 11) + 1), IsReason("problem.rows_of_batch", "65536 2049 2^28"));
  EXPECT_TRUE(with("lengths:ramp+blocks:16:butterfly", 32, 1 << 17).empty());
  EXPECT_THAT(with("lengths:ramp+blocks:16:butterfly", 33, 1 << 17),
              IsReason("problem.squares_of_batch", "8192 131072 33"));
}

TEST(PowerLaw, CountsAllQueryHeads) {
  // 2 x 4 heads: 8 x 2 bytes x N^2 d^2 / M.
  AttentionProblem p{.batch = 2, .heads_q = 4, .heads_kv = 2, .n_q = 8, .n_k = 16, .d = 32};
  EXPECT_EQ(theorem_2().bytes(p, 64), 16.0 * 256 * 1024 / 64);
  EXPECT_EQ(at_length(p, 100).n_q, 8) << "a fixed number of queries";
  EXPECT_EQ(at_length(p, 100).n_k, 100);
  p.n_q = 32;  // more queries than keys
  EXPECT_EQ(fixed_query_count(p), 32);
  p.n_q = 16;
  EXPECT_EQ(at_length(p, 100).n_q, 100);
}

TEST(Knobs, KeepOrderAndDropDefaults) {
  const Knobs knobs{{"warps", std::int64_t{1}}, {"raster", std::string("heads_fastest")}, {"stages", std::int64_t{2}}};
  EXPECT_EQ(describe(knobs), " heads_fastest stages 2 warps 1");
  EXPECT_EQ(knobs.number("warps"), 1);
  Knobs reset = knobs;
  reset.set("stages", std::int64_t{0});
  EXPECT_EQ(describe(reset), " heads_fastest warps 1");
  EXPECT_EQ(reset, (Knobs{{"raster", std::string("heads_fastest")}, {"warps", std::int64_t{1}}}));
  Knob warps;
  warps.name = "warps";
  warps.largest = 8;
  EXPECT_EQ(parse_knob(warps, "1").value(), KnobValue(std::int64_t{1}));
  EXPECT_EQ(parse_knob(warps, "8").value(), KnobValue(std::int64_t{8}));
  EXPECT_FALSE(parse_knob(warps, "0").value());
  EXPECT_FALSE(parse_knob(raster_knob(), "q_fastest").value()) << "the default";
}

TEST(LengthCounts, MatchAllEntries) {
  for (const auto& [mask, batch, n_k] :
       {std::tuple{"lengths:ramp", 7, 100}, std::tuple{"lengths:ramp", 100, 7}, std::tuple{"lengths:ramp", 64, 64},
        std::tuple{"lengths:ramp", 1000, 999}, std::tuple{"lengths:5/0/5/9", 4, 9}, std::tuple{"full", 3, 5}}) {
    const AttentionProblem p{.mask = parse_mask(mask).value(), .batch = batch, .n_q = 3, .n_k = n_k};
    std::map<std::int64_t, std::int64_t> expected;
    for (std::int64_t entry = 0; entry < batch; ++entry) ++expected[key_length(p, entry)];
    std::map<std::int64_t, std::int64_t> counts;
    for (const auto& [length, entries] : length_counts(p)) EXPECT_TRUE(counts.emplace(length, entries).second);
    EXPECT_EQ(counts, expected) << mask << " " << batch << " " << n_k;
  }
}

TEST(UnmaskedPairs, CountsHugeBatches) {
  // Half of the keys plus one half: each length occurs equally often.
  const AttentionProblem p{
      .mask = parse_mask("lengths:ramp").value(), .batch = 4'000'000'000'000, .n_q = 3, .n_k = 1000};
  EXPECT_EQ(unmasked_pairs(p), 3 * 4'000'000'000 * (1000 * 1001 / 2));
}

TEST(InvalidReason, LengthsAreNotNegative) {
  AttentionProblem p{.n_q = 8, .n_k = 8};
  p.mask.lengths = Mask::Lengths::list;
  p.mask.length_list = {-1};
  EXPECT_THAT(invalid_reason(p), IsReason("problem.length_below_zero", "-1"));
}

TEST(InvalidReason, BlockMasksAreBounded) {
  const auto with = [](std::int64_t size, std::int64_t n) {
    AttentionProblem p{.n_q = n, .n_k = n};
    p.mask.blocks = Mask::Blocks::butterfly;
    p.mask.block_size = size;
    return invalid_reason(p);
  };
  for (const std::int64_t size : {-16, 0, 8, 24, (1 << 20) + 16}) {
    EXPECT_THAT(with(size, 64), IsReason("problem.block_size", fmt::format("16 2^20 {}", size)));
  }
  for (const std::int64_t size : {16, 48, 1 << 20}) EXPECT_TRUE(with(size, 64).empty()) << size;
  EXPECT_TRUE(with(128, 1 << 20).empty());
  EXPECT_THAT(with(128, (1 << 20) + 1), IsReason("problem.block_count", "8193 2^26"));
  AttentionProblem p{.n_q = 64, .n_k = 64};
  p.mask.blocks = Mask::Blocks::stride;
  p.mask.block_size = 16;
  EXPECT_THAT(invalid_reason(p), IsReason("problem.block_stride", "0"));
  p.mask.block_parameter = 1;
  EXPECT_TRUE(invalid_reason(p).empty());
}

}  // namespace
}  // namespace attnscope
