// SPDX-License-Identifier: Apache-2.0
// Split-KV decoding: closed form and program agree, each key is read once, and combine reads exactly what was written.
#include "kernels/common_knobs.h"
#include "kernels/registry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "kernels/algorithm_parts.h"
#include "kernels/embedded_sources.h"
#include "kernels/splitkv/splitkv_shape.h"
#include "tests/kernels/programs.h"

namespace attnscope {
namespace {

using test::h200;
using ::testing::Contains;
using ::testing::ElementsAre;

const Algorithm& splitkv_algorithm() {
  return *built_in_algorithms().find("splitkv");
}

Mask with_lengths(Mask mask, std::vector<std::int64_t> lengths) {
  mask.lengths = Mask::Lengths::list;
  mask.length_list = std::move(lengths);
  return mask;
}

/// Ragged sizes, a single key, more splits than keys allow, GQA, packed rows that are not a multiple of eight, empty
/// entries, pages, fp8.
std::vector<AttentionProblem> decode_problems() {
  std::vector<AttentionProblem> problems;
  for (const auto& [heads_q, heads_kv, n_q] :
       {std::tuple{1, 1, 1}, std::tuple{16, 2, 1}, std::tuple{3, 1, 5}, std::tuple{4, 2, 16}, std::tuple{8, 1, 8}}) {
    for (const std::int64_t n_k : {1, 17, 203, 1000}) {
      for (const std::int64_t page : {0, 16, 64}) {
        for (const Mask& mask : {Mask::none, Mask::causal, with_lengths(Mask::causal, {0, n_k / 2, n_k})}) {
          problems.push_back({.dtype = n_k == 203 ? DType::fp8 : DType::fp16,
                              .mask = mask,
                              .batch = 3,
                              .heads_q = heads_q,
                              .heads_kv = heads_kv,
                              .n_q = n_q,
                              .n_k = n_k,
                              .d = n_k % 3 == 0 ? 80 : 64,
                              .page = page});
        }
      }
    }
  }
  return problems;
}

/// First of the two measured launches; setup launches may come before.
const KernelLaunch& partial_of(const AttentionPlan& plan) {
  return plan.launches.end()[-2];
}
const KernelLaunch& combine_of(const AttentionPlan& plan) {
  return plan.launches.back();
}

std::vector<Tiling> decode_tiles(const AttentionProblem& p) {
  const int br = static_cast<int>((group_size(p) * p.n_q + 15) / 16 * 16);
  std::vector<Tiling> tiles;
  for (const auto& [bc, splits] :
       {std::pair{16, 1}, std::pair{64, 3}, std::pair{112, 7}, std::pair{128, 100}, std::pair{64, 0}}) {
    tiles.push_back({.br = br, .bc = bc, .splits = splits});
  }
  return tiles;
}

std::string tile_label(const AttentionProblem& p, const Tiling& tile) {
  return describe(p) + " tile " + describe(tile);
}

TEST(SplitKv, ClosedFormMatchesProgram) {
  std::vector<AttentionProblem> problems = decode_problems();
  // A split covers more than one window of the block table, which begins inside a sector.
  problems.push_back({.batch = 2, .n_q = 1, .n_k = 60'003, .d = 16, .page = 16});
  for (const AttentionProblem& p : problems) {
    for (const Tiling& tile : decode_tiles(p)) {
      ASSERT_FALSE(splitkv_algorithm().refusal(p, tile, h200())) << tile_label(p, tile);
      for (const KernelLaunch& launch : splitkv_algorithm().plan(p, tile, h200()).launches) {
        ASSERT_EQ(launch.traffic, walk(*launch.program)) << tile_label(p, tile) << " " << launch.name;
        ASSERT_EQ(launch.grid[0], launch.program->blocks());
      }
    }
  }
}

TEST(SplitKv, KeysOnceAndCombineReadsPartials) {
  const auto encode_cell = [](Tensor tensor, std::int64_t matrix, std::int64_t row, std::int64_t col) {
    EXPECT_TRUE(matrix < 1 << 16 && row < 1 << 16 && col < 1 << 12);
    return ((static_cast<std::int64_t>(tensor) << 16 | matrix) << 16 | row) << 8 | col / 16;
  };
  for (const AttentionProblem& p : decode_problems()) {
    if (p.n_k > 300) continue;
    for (const Tiling& tile : decode_tiles(p)) {
      SCOPED_TRACE(tile_label(p, tile));
      const AttentionPlan plan = splitkv_algorithm().plan(p, tile, h200());
      std::unordered_map<std::int64_t, int> touched;
      std::unordered_set<std::int64_t> written;
      const auto cells = [&](const TileAccess& a, const auto& each) {
        for (std::int64_t row = a.row; row < a.row + a.rows; ++row) {
          for (std::int64_t col = a.col; col < a.col + a.cols; col += 16)
            each(encode_cell(a.tensor, a.instance, row, col));
        }
      };
      std::map<Tensor, std::int64_t> elements;
      for (const TileAccess& a : test::all_accesses(*partial_of(plan).program)) {
        ASSERT_GT(a.rows, 0);
        cells(a, [&](std::int64_t cell) { ++touched[cell]; });
        ASSERT_EQ(a.access == Access::store, a.tensor == Tensor::o_part || a.tensor == Tensor::lse_part);
        if (a.access != Access::store) continue;
        cells(a, [&](std::int64_t cell) { ASSERT_TRUE(written.insert(cell).second); });
        elements[a.tensor] += a.bytes();
      }
      for (std::int64_t kv = 0; kv < p.kv_instances(); ++kv) {
        for (std::int64_t key = 0; key < p.n_k; ++key) {
          const int expected = key < key_length(p, kv / p.heads_kv) ? 1 : 0;
          for (const Tensor tensor : {Tensor::k, Tensor::v}) {
            const auto found = touched.find(encode_cell(tensor, kv, key, 0));
            ASSERT_EQ(found == touched.end() ? 0 : found->second, expected) << "key " << key;
          }
        }
      }
      // Every byte of the partial LSE is written, and only written bytes are read.
      const auto bytes_of = [&](std::string_view name) {
        return std::ranges::find(plan.buffers, name, &BufferSpec::name)->bytes;
      };
      EXPECT_EQ(elements[Tensor::lse_part], bytes_of("lse_part"));
      EXPECT_LE(elements[Tensor::o_part], bytes_of("o_part"));
      elements.clear();
      for (const TileAccess& a : test::all_accesses(*combine_of(plan).program)) {
        if (a.tensor == Tensor::key_lengths) continue;
        if (a.access == Access::load) {
          cells(a, [&](std::int64_t cell) { ASSERT_TRUE(written.contains(cell)); });
        } else {
          elements[a.tensor] += a.bytes();
        }
      }
      EXPECT_EQ(elements[Tensor::o], bytes_of("o"));
      EXPECT_EQ(elements[Tensor::lse], bytes_of("lse"));
    }
  }
}

TEST(SplitKv, SplitsAreBalancedAndTheLastOnesAreEmpty) {
  for (const int length : {0, 1, 16, 17, 1000, 4099}) {
    for (const int splits : {1, 3, 7, 64, 1000}) {
      int at = 0;
      int used = 0;
      for (int split = 0; split < splits; ++split) {
        const auto [first, last] = splitkv::split_keys(length, split, splits);
        if (first >= last) {
          EXPECT_EQ(at, length);
          continue;
        }
        EXPECT_EQ(first, at);
        EXPECT_EQ(first % splitkv::fragment, 0);
        EXPECT_LE(last - first, (length / splits / 16 + 2) * 16);
        at = last;
        ++used;
      }
      EXPECT_EQ(at, length);
      EXPECT_EQ(used, splitkv::nonempty_split_count(length, splits));
    }
  }
}

TEST(SplitKv, Fp8CacheIsBuiltInSetup) {
  AttentionProblem p{.dtype = DType::fp8, .heads_q = 16, .heads_kv = 2, .n_q = 1, .n_k = 65'536, .d = 128};
  const Tiling tile{.br = 16, .bc = 128, .splits = 66};
  const AttentionPlan plan = splitkv_algorithm().plan(p, tile, h200());
  const std::int64_t rows = 132LL * 8;
  EXPECT_EQ(partial_of(plan).traffic,
            (Traffic{2LL * 2 * 65'536 * 128 + rows * 256 + 132LL * 2 * 32, rows * (512 + 4)}));
  Traffic measured = partial_of(plan).traffic;
  measured += combine_of(plan).traffic;
  EXPECT_EQ(plan.traffic(), measured);
  ASSERT_EQ(plan.launches.size(), 4U);
  // 16 blocks of 4096 keys of each head reread the head and their own keys once.
  EXPECT_EQ(plan.launches[0].traffic, (Traffic{17LL * 2 * 65'536 * 256, 2LL * 65'536 * 128 + 2 * 32}));
  EXPECT_EQ(plan.quantized, (Quantization{.keys = 65'536, .weights = false}));
}

TEST(SplitKv, TrafficIsKeysPlusPartials) {
  const AttentionProblem p{.heads_q = 16, .heads_kv = 2, .n_q = 1, .n_k = 65'536, .d = 128};
  const AttentionPlan plan = splitkv_algorithm().plan(p, Tiling{.br = 16, .bc = 128, .splits = 66}, h200());
  // K and V once; for each of 132 blocks 8 rows: Q in, fp32 O and LSE out. Combine reads O once and LSE 8 times.
  const std::int64_t rows = 132LL * 8;
  EXPECT_EQ(plan.launches[0].traffic, (Traffic{2LL * 2 * 65'536 * 256 + rows * 256, rows * (512 + 4)}));
  EXPECT_EQ(plan.launches[1].traffic, (Traffic{rows * (512 + 8 * 4), 16 * (256 + 4)}));
  // Four times the keys give four times the bytes, except for those of the splits.
  AttentionProblem longer = p;
  longer.n_k *= 4;
  const Traffic four = splitkv_algorithm().plan(longer, Tiling{.br = 16, .bc = 128, .splits = 66}, h200()).traffic();
  EXPECT_EQ(four.l2_to_sm_bytes - plan.traffic().l2_to_sm_bytes, 3LL * 2 * 2 * 65'536 * 256);
  EXPECT_EQ(four.sm_to_l2_bytes, plan.traffic().sm_to_l2_bytes);
}

// K and V of 4096 keys, Q and O of one entry's 8 rows, O for each of 4 splits, LSE for 4 splits of both entries.
TEST(SplitKv, EntriesWithoutKeysReadNoQueries) {
  const AttentionProblem p{.mask = with_lengths(Mask::none, {0, 4096}),
                           .batch = 2,
                           .heads_q = 8,
                           .heads_kv = 1,
                           .n_q = 1,
                           .n_k = 4096,
                           .d = 64};
  const AttentionPlan plan = splitkv_algorithm().plan(p, Tiling{.br = 16, .bc = 128, .splits = 4}, h200());
  EXPECT_EQ(partial_of(plan).work.distinct_bytes, 2 * 4096 * 64 * 2 + 8 * 64 * 2 + 4 * 8 * 64 * 4 + 2 * 4 * 8 * 4);
}

TEST(SplitKv, BlockTableIsReadInWholeSectors) {
  // Entry 1's row of the table begins at index 3 of a sector of 8: pages 3 .. 5 are in one sector.
  const AttentionProblem p{.batch = 2, .n_q = 1, .n_k = 40, .d = 16, .page = 16};
  const AttentionProblem contiguous{.batch = 2, .n_q = 1, .n_k = 40, .d = 16};
  const auto reads = [](const AttentionProblem& problem, int splits) {
    const Tiling tile{.br = 16, .bc = 16, .splits = splits};
    return splitkv_algorithm().plan(problem, tile, h200()).launches[0].traffic.l2_to_sm_bytes;
  };
  EXPECT_EQ(reads(p, 1) - reads(contiguous, 1), 2 * 32);
  EXPECT_EQ(reads(p, 3) - reads(contiguous, 3), 6 * 32);
  // 9 pages from entry 9: entries 9 .. 17 are in two sectors; 0 .. 8 as well.
  AttentionProblem nine = p;
  nine.n_k = 9 * 16;
  AttentionProblem nine_contiguous = contiguous;
  nine_contiguous.n_k = 9 * 16;
  EXPECT_EQ(reads(nine, 1) - reads(nine_contiguous, 1), 4 * 32);
  // The table is a buffer; K and V are padded to whole pages.
  const AttentionPlan plan = splitkv_algorithm().plan(p, Tiling{.br = 16, .bc = 16, .splits = 1}, h200());
  const auto table = std::ranges::find(plan.buffers, "block_table", &BufferSpec::name);
  ASSERT_NE(table, plan.buffers.end());
  EXPECT_EQ(table->bytes, 6 * 4);
  EXPECT_EQ(std::ssize(table->contents->bytes()), 6 * 4);
  EXPECT_EQ(std::ranges::find(plan.buffers, "k", &BufferSpec::name)->bytes, 6 * 16 * 16 * 2);
}

TEST(SplitKv, DefaultTileFillsTheSms) {
  const auto tile = [](std::int64_t heads_q, std::int64_t heads_kv, std::int64_t n_q, std::int64_t n_k,
                       std::int64_t d) {
    const AttentionProblem p{.heads_q = heads_q, .heads_kv = heads_kv, .n_q = n_q, .n_k = n_k, .d = d};
    return tiling_from(splitkv_algorithm().default_config(p, h200()));
  };
  EXPECT_EQ(describe(tile(16, 2, 1, 65'536, 128)), "16x128 splits 66");
  EXPECT_EQ(describe(tile(16, 2, 1, 131'072, 128)), "16x128 splits 66");
  EXPECT_EQ(describe(tile(16, 2, 2, 65'536, 128)), "16x128 splits 66");
  EXPECT_EQ(describe(tile(16, 2, 4, 65'536, 128)), "32x128 splits 66");
  EXPECT_EQ(describe(tile(16, 2, 5, 65'536, 128)), "64x128 splits 66");
  EXPECT_EQ(describe(tile(1, 1, 1, 1 << 20, 64)), "16x128 splits 132");
  EXPECT_EQ(tile(16, 2, 1, 65'536, 256).bc, 64);
  EXPECT_EQ(tile(132, 132, 1, 65'536, 128).splits, 1);
  EXPECT_EQ(tile(1, 1, 1, 16, 64).splits, 1);
  EXPECT_LE(tile(1, 1, 1, 512, 64).splits, 32);  // at most one split per fragment
  for (const DeviceLimits& gpu : known_gpus()) {
    for (const int d : splitkv_algorithm().facts().head_dims) {
      for (const std::int64_t n_q : {1, 16}) {
        const AttentionProblem p{.heads_q = 4, .heads_kv = 1, .n_q = n_q, .n_k = 4096, .d = d, .page = 16};
        const Tiling choice = tiling_from(splitkv_algorithm().default_config(p, gpu));
        EXPECT_FALSE(splitkv_algorithm().refusal(p, choice, gpu)) << gpu.name << " " << tile_label(p, choice);
      }
    }
  }
}

TEST(Knobs, NumericRangeStartsAtZero) {
  for (const auto& [text, good] : {std::pair{"-1", false}, {"0", true}, {"64", true}, {"65", false}, {"6x", false}})
    EXPECT_EQ(parse_knob(stages_knob(), text).ok(), good) << text;
}

TEST(SplitKv, CombineStartsEarlyIfSupported) {
  const AttentionProblem p{.heads_q = 8, .heads_kv = 1, .n_q = 1, .n_k = 1000, .d = 128};
  for (const auto& [gpu, early] : {std::pair{"h200", true}, {"a100", false}, {"b200", true}}) {
    const AttentionPlan plan = splitkv_algorithm().plan(p, Tiling{.br = 16, .bc = 64}, *find_gpu(gpu));
    EXPECT_FALSE(plan.launches[0].starts_early);
    EXPECT_EQ(plan.launches[1].starts_early, early) << gpu;
  }
}

TEST(SplitKv, ArgumentsMatchTheKernelsParameters) {
  AttentionProblem p{.mask = with_lengths(Mask::causal, {7, 37}),
                     .batch = 2,
                     .heads_q = 6,
                     .heads_kv = 2,
                     .n_q = 5,
                     .n_k = 37,
                     .d = 64,
                     .page = 16};
  const std::map<std::string, std::int32_t> integers{
      {"instances", 12}, {"group", 3}, {"n_q", 5},   {"n_k", 37},       {"splits", 4}, {"page", 16},
      {"heads_q", 6},    {"left", -1}, {"right", 0}, {"mask_block", 0}, {"keep", 256}, {"seed", dropout_seed}};
  for (const DType dtype : {DType::fp16, DType::fp8}) {
    p.dtype = dtype;
    const AttentionPlan plan = splitkv_algorithm().plan(p, Tiling{.br = 16, .bc = 64, .splits = 4}, h200());
    for (const KernelLaunch& launch : {partial_of(plan), combine_of(plan)}) {
      SCOPED_TRACE(launch.source.entry);
      const std::vector<std::string> names = test::parameter_names(launch.source);
      ASSERT_EQ(names.size(), launch.arguments.size());
      for (std::size_t i = 0; i < names.size(); ++i) {
        const Argument& argument = launch.arguments[i];
        if (names[i].front() == '*') {
          std::string name = names[i].substr(1);
          if (name == "block_mask" || (dtype != DType::fp8 && name.ends_with("_scales"))) name.clear();
          if (dtype == DType::fp8 && (name == "k" || name == "v")) name += "8";
          ASSERT_TRUE(std::holds_alternative<BufferArgument>(argument)) << names[i];
          EXPECT_EQ(std::get<BufferArgument>(argument).name, name);
        } else if (names[i] == "scale") {
          EXPECT_FLOAT_EQ(std::get<float>(argument), 0.125F);
        } else {
          ASSERT_TRUE(integers.contains(names[i])) << names[i];
          EXPECT_EQ(std::get<std::int32_t>(argument), integers.at(names[i])) << names[i];
        }
      }
    }
  }
  const AttentionPlan plan = splitkv_algorithm().plan(p, Tiling{.br = 16, .bc = 64, .splits = 4}, h200());
  EXPECT_THAT(test::parameter_names(plan.launches[1].source),
              ElementsAre("*x", "*block_table", "*out", "*scales", "n", "page", "heads_kv"));
  std::vector<std::string> buffers;
  for (std::size_t i = 0; i < 4; ++i) buffers.push_back(std::get<BufferArgument>(plan.launches[1].arguments[i]).name);
  EXPECT_THAT(buffers, ElementsAre("v", "block_table", "v8", "v_scales"));
  EXPECT_EQ(std::get<std::int32_t>(plan.launches[1].arguments[4]), 37);
  EXPECT_EQ(std::get<std::int32_t>(plan.launches[1].arguments[5]), 16);
  EXPECT_EQ(std::get<std::int32_t>(plan.launches[1].arguments[6]), 2);
}

TEST(SplitKv, DevicePlansDifferOnlyInStagesAndEarlyStart) {
  const AttentionProblem p{.heads_q = 16, .heads_kv = 2, .n_q = 1, .n_k = 65'536, .d = 128};
  const Tiling tile{.br = 16, .bc = 128, .splits = 66};
  const AttentionPlan anywhere = splitkv_algorithm().plan(p, tile, *find_gpu("rtx-3090"));
  const AttentionPlan here = splitkv_algorithm().plan(p, tile, h200());
  ASSERT_EQ(here.launches.size(), 2U);
  EXPECT_EQ(here.launches[0].name, "partial");
  EXPECT_EQ(here.launches[1].name, "combine");
  EXPECT_THAT(here.launches[0].source.defines, ElementsAre("ATTN_BF16=0", "ATTN_D=128", "ATTN_BR=16", "ATTN_BC=128",
                                                           "ATTN_MASK=0", "ATTN_PAGED=0", "ATTN_STAGES=3"));
  EXPECT_THAT(anywhere.launches[0].source.defines, Contains("ATTN_STAGES=1"));
  EXPECT_EQ(here.launches[0].block[0], 256U);
  EXPECT_EQ(here.launches[0].dynamic_shared_bytes, 3 * 128 * 128 * 4 + 16 * 128 * 2 + 8 * 16 * 8);
  EXPECT_EQ(here.launches[1].source, anywhere.launches[1].source);
  EXPECT_EQ(here.traffic(), anywhere.traffic());
  EXPECT_EQ(here.buffer_bytes(), anywhere.buffer_bytes());
  EXPECT_FALSE(here.launches[0].starts_early);
  EXPECT_TRUE(here.launches[1].starts_early);
  EXPECT_FALSE(anywhere.launches[1].starts_early);
  DeviceLimits ampere = h200();
  ampere.compute_major = 8;
  EXPECT_FALSE(splitkv_algorithm().plan(p, tile, ampere).launches[1].starts_early);
  // The tile's knob has priority; the size of the problem is in no macro.
  Tiling two = tile;
  two.stages = 2;
  EXPECT_THAT(splitkv_algorithm().plan(p, two, h200()).launches[0].source.defines, Contains("ATTN_STAGES=2"));
  AttentionProblem other = p;
  other.n_k = 1000;
  other.n_q = 2;
  two.splits = 5;
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(splitkv_algorithm().plan(other, two, h200()).launches[i].source,
              splitkv_algorithm().plan(p, two, h200()).launches[i].source);
  }
}

}  // namespace
}  // namespace attnscope
