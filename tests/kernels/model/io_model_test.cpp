// SPDX-License-Identifier: Apache-2.0
// Published values; FlashAttention is arXiv 2205.14135v2.
#include "kernels/model/io_model.h"
#include "kernels/registry.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <utility>

#include "kernels/fa2/fa2_shape.h"
#include "kernels/model/device_limits.h"

namespace attnscope {
namespace {

/// Attention of GPT-2 medium, as in FlashAttention, Fig. 2.
constexpr AttentionProblem fig2{.batch = 64, .heads_q = 16, .heads_kv = 16, .n_q = 1024, .n_k = 1024, .d = 64};
constexpr std::int64_t mib = 1024L * 1024;

TEST(IoModel, Fig2MiddleForwardBytes) {
  EXPECT_NEAR(static_cast<double>(flash_paper_bytes(fig2, 64)), 6.58e9, 0.005e9);
  EXPECT_NEAR(static_cast<double>(flash_paper_bytes(fig2, 128)), 3.36e9, 0.005e9);
  EXPECT_NEAR(static_cast<double>(flash_paper_bytes(fig2, 256)), 1.74e9, 0.005e9);
  EXPECT_NEAR(static_cast<double>(flash_paper_bytes(fig2, 512)), 0.94e9, 0.005e9);
  EXPECT_EQ(flash_paper_bytes(fig2, 256), 13LL * 1024 * 64 * 2 * 1024);
  EXPECT_EQ(flash_paper_bytes(fig2, 1000), flash_paper_bytes(fig2, 512)) << "a ragged last tile counts as a full tile";
}

TEST(IoModel, Fig2LeftForwardAndBackwardBytes) {
  // Backward by the paper: 4 Tc + 4 for flash; standard attention adds 14 N^2 + 8 Nd to the forward pass.
  const std::int64_t nd = fig2.instances() * fig2.n_q * fig2.d * 2;
  EXPECT_NEAR(static_cast<double>(flash_paper_bytes(fig2, 256) + (4 * 4 + 4) * nd), 4.4e9, 0.05e9);
  const std::int64_t n2 = fig2.instances() * fig2.n_q * fig2.n_k * 2;
  EXPECT_NEAR(static_cast<double>(standard_attention_bytes(fig2) + 14 * n2 + 8 * nd), 40.3e9, 0.05e9);
}

TEST(IoModel, StandardAttentionForward) {
  // Batch x heads 1024, N 1024, d 64: 9.08 GB measured on an H200; 4 N^2 + 4 N d is 9.13 GB.
  EXPECT_NEAR(static_cast<double>(standard_attention_bytes(fig2)), 9.13e9, 0.005e9);
  // One fp16 head at N 8192: S and P have 128 MiB each, written once and read once.
  const AttentionProblem head{.n_q = 8192, .n_k = 8192, .d = 64};
  EXPECT_EQ(standard_attention_bytes(head) - 4L * 8192 * 64 * 2, 512 * mib);
  const AttentionProblem rectangular{.n_q = 10, .n_k = 7, .d = 16};
  EXPECT_EQ(standard_attention_bytes(rectangular), 2 * (4 * 70 + 2 * 17 * 16));
}

TEST(IoModel, Compulsory) {
  EXPECT_EQ(compulsory_traffic(fig2).total(), 4LL * 1024 * 1024 * 64 * 2) << "the FA2 measurement's 0.537 GB";
  const AttentionProblem grouped{.batch = 2, .heads_q = 8, .heads_kv = 2, .n_q = 3, .n_k = 5, .d = 64};
  EXPECT_EQ(compulsory_traffic(grouped).l2_to_sm_bytes, 2 * 64 * (16 * 3 + 2 * 4 * 5));
  EXPECT_EQ(compulsory_traffic(grouped).sm_to_l2_bytes, 2 * 64 * 16 * 3);
}

TEST(IoModel, CompulsoryExcludesUnseenRows) {
  for (const char* words :
       {"causal", "window:2:0", "window:0:3", "window:3:inf", "lengths:ramp", "causal+lengths:ramp", "lengths:0/7/1"}) {
    for (const auto& [n_q, n_k] : {std::pair{1, 9}, std::pair{12, 7}, std::pair{7, 7}, std::pair{5, 20}}) {
      AttentionProblem p{.mask = parse_mask(words).value(), .batch = 3, .heads_q = 4, .heads_kv = 2, .d = 16};
      p.n_q = n_q, p.n_k = n_k;
      std::int64_t queries = 0;
      std::int64_t keys = 0;
      for (std::int64_t entry = 0; entry < p.batch; ++entry) {
        std::set<std::int64_t> seen;
        for (std::int64_t row = 0; row < p.n_q; ++row) {
          const KeyRange range = visible_keys(p, entry, row);
          queries += range.first < range.last ? 1 : 0;
          for (std::int64_t key = range.first; key < range.last; ++key) seen.insert(key);
        }
        keys += std::ssize(seen);
      }
      SCOPED_TRACE(describe(p));
      constexpr std::int64_t row = 32;
      const Traffic forward{.l2_to_sm_bytes = (4 * queries + 2 * 2 * keys) * row, .sm_to_l2_bytes = 12 * p.n_q * row};
      EXPECT_EQ(compulsory_traffic(p), forward);
      p.pass = Pass::bwd;
      const Traffic backward{.l2_to_sm_bytes = (3 * 4 * queries + 2 * 2 * keys) * row,
                             .sm_to_l2_bytes = (12 * p.n_q + 2 * 6 * p.n_k) * row};
      EXPECT_EQ(compulsory_traffic(p), backward);
      p.pass = Pass::fwd_bwd;
      const Traffic both{.l2_to_sm_bytes = (2 * 4 * queries + 2 * 2 * keys) * row,
                         .sm_to_l2_bytes = (2 * 12 * p.n_q + 2 * 6 * p.n_k) * row};
      EXPECT_EQ(compulsory_traffic(p), both);
    }
  }
  // Row 0 of squares sees the squares 0, 1 and 2 of 4.
  const AttentionProblem blocks{.mask = parse_mask("blocks:16:butterfly").value(), .n_q = 16, .n_k = 64, .d = 64};
  EXPECT_EQ(compulsory_traffic(blocks), (Traffic{128 * (16 + 2 * 48), 128 * 16}));
}

TEST(IoModel, Fp8OutputsHave16Bits) {
  AttentionProblem p{.dtype = DType::fp8, .heads_q = 4, .heads_kv = 2, .n_q = 3, .n_k = 5, .d = 10};
  EXPECT_EQ(compulsory_traffic(p), (Traffic{120 + 2 * 100, 240}));
  EXPECT_EQ(flash_paper_bytes(p, 8), 120 + 240 + 2 * 100) << "one tile: compulsory";
  EXPECT_EQ(flash_paper_bytes(p, 4), 2 * 120 + 3 * 240 + 2 * 100);
  p.pass = Pass::bwd;
  EXPECT_EQ(compulsory_traffic(p), (Traffic{2 * 120 + 240 + 2 * 100, 240 + 2 * 200})) << "Q, dO; O; K, V";
}

TEST(IoModel, PaperCountsOfDecodingAndGroupedHeads) {
  // One query, 131,072 keys, 16 query heads, 2 K/V heads, d 128, tiles of 128 keys: K and V dominate.
  AttentionProblem p{.heads_q = 16, .heads_kv = 2, .n_q = 1, .n_k = 131'072, .d = 128};
  constexpr std::int64_t q = 16 * 128;
  constexpr std::int64_t k = 2 * 131'072 * 128;
  constexpr std::int64_t scores = 16 * 131'072;
  EXPECT_EQ(flash_paper_bytes(p, 128), 2 * ((3 * 1024 - 1) * q + 2 * k));
  EXPECT_EQ(standard_attention_bytes(p), 2 * (4 * scores + 2 * q + 2 * k));
  p.pass = Pass::bwd;
  EXPECT_EQ(flash_paper_bytes(p, 128), 2 * (4 * 1024 * q + 4 * k));
  EXPECT_EQ(standard_attention_bytes(p), 2 * (7 * scores + 4 * q + 4 * k));
}

TEST(IoModel, PaperTileOnAnH200) {
  const std::int64_t m = known_gpus().front().sram_elements(2);
  ASSERT_EQ(m, 116'224);
  EXPECT_EQ(paper_tile(m, 64).bc, 454);
  EXPECT_EQ(paper_tile(m, 64).br, 64);
  EXPECT_EQ(paper_tile(m, 128).bc, 227);
  EXPECT_EQ(paper_tile(m, 128).br, 128);
  // Q, K, V, O and S tiles of the literal rule: 82% of M at d 64, more than M at d 128.
  const auto share = [m](std::int64_t d) {
    const PaperTile tile = paper_tile(m, d);
    const std::int64_t elements = (2 * tile.br + 2 * tile.bc) * d + tile.br * tile.bc;
    return static_cast<double>(elements) / static_cast<double>(m);
  };
  EXPECT_NEAR(share(64), 0.82, 0.005);
  EXPECT_NEAR(share(128), 1.03, 0.005);
  EXPECT_EQ(paper_tile(1024, 64).bc, 4);
  EXPECT_EQ(paper_tile(1024, 64).br, 4);
}

TEST(IoModel, TileOfMemoryRoundsThePaperRule) {
  const std::int64_t m = known_gpus().front().sram_elements(2);
  EXPECT_EQ(tile_of_memory(m, 64, TileSide::bc), (TileShape{.br = 64, .bc = 448}));
  EXPECT_EQ(tile_of_memory(m, 128, TileSide::bc), (TileShape{.br = 128, .bc = 224}));
  EXPECT_EQ(tile_of_memory(m, 64, TileSide::br), (TileShape{.br = 448, .bc = 64}));
  EXPECT_EQ(tile_of_memory(8192, 128, TileSide::bc), (TileShape{.br = 16, .bc = 16}));
  EXPECT_EQ(tile_of_memory(1, 256, TileSide::br), (TileShape{.br = 16, .bc = 16})) << "one step at least";
  EXPECT_EQ(tile_of_memory(20'000, 72, TileSide::bc), (TileShape{.br = 64, .bc = 64})) << "70 and 70 rounded down";
}

TEST(IoModel, MemoryOfTileIsMinimal) {
  EXPECT_EQ(memory_of_tile({.br = 64, .bc = 448}, 64, TileSide::bc), 114'688);
  EXPECT_EQ(memory_of_tile({.br = 448, .bc = 64}, 64, TileSide::br), 114'688);
  EXPECT_EQ(memory_of_tile({.br = 448, .bc = 64}, 64, TileSide::bc), std::nullopt) << "only with TileSide::br";
  EXPECT_EQ(memory_of_tile({.br = 128, .bc = 64}, 128, TileSide::bc), std::nullopt);
  EXPECT_EQ(memory_of_tile({.br = 64, .bc = 64}, 64, TileSide::none), std::nullopt);
  EXPECT_EQ(memory_of_tile({.br = 0, .bc = 0}, 64, TileSide::bc), std::nullopt) << "of an import that does not say";
  for (const std::int64_t d : {32, 72, 128}) {
    for (std::int64_t m = 128 * d; m < 120'000; m += 999) {
      const TileShape tile = tile_of_memory(m, d, TileSide::bc);
      const auto least = memory_of_tile(tile, d, TileSide::bc);
      ASSERT_TRUE(least.has_value()) << m;
      EXPECT_LE(*least, m + 4 * d) << "ceil(M / 4d) may round a part up";
      EXPECT_EQ(tile_of_memory(*least, d, TileSide::bc), tile) << m;
      EXPECT_NE(tile_of_memory(*least - 4 * d, d, TileSide::bc), tile) << m;
    }
  }
}

TEST(IoModel, SharedMemoryBudgets) {
  EXPECT_EQ(fa2::shared_bytes(64, 64, 128, 2), 49'152);
  EXPECT_EQ(fa2::shared_bytes(128, 64, 128, 2), 65'536);
  EXPECT_EQ(fa2::shared_bytes(128, 128, 128, 2), 98'304);
}

TEST(IoModel, AsymptoteOfTheorem2) {
  // With Tc = 4dN/M and large N the paper's count approaches 12 N^2 d^2 / M.
  const AttentionProblem p{.heads_q = 2, .heads_kv = 2, .n_q = 1 << 20, .n_k = 1 << 20, .d = 64};
  const std::int64_t m = 65'536;
  const double ratio =
      static_cast<double>(flash_paper_bytes(p, static_cast<int>(paper_tile(m, 64).bc))) / n2d2_over_m_bytes(p, m);
  EXPECT_NEAR(ratio, 12.0, 0.01);
  EXPECT_DOUBLE_EQ(n2d2_over_m_bytes({.n_q = 8, .n_k = 4, .d = 2}, 16), 2.0 * 8 * 4 * 4 / 16);
}

TEST(IoModel, Fa1ExceedsL2) {
  // H200 (60 MiB L2): N at which 16 / 32 / 64 / 132 / 264 concurrent heads exceed L2.
  struct Row {
    std::int64_t heads;
    double n_d64;
    double n_d128;
  };
  for (const auto& [heads, n_d64, n_d128] : {Row{16, 10.0e3, 5.1e3}, Row{32, 5.0e3, 2.5e3}, Row{64, 2.5e3, 1.3e3},
                                             Row{132, 1.2e3, 0.6e3}, Row{264, 0.6e3, 0.3e3}}) {
    for (const std::int64_t d : {64, 128}) {
      const AttentionProblem p{.heads_q = 264, .heads_kv = 264, .n_q = 1000, .n_k = 1000, .d = d};
      DeviceLimits device = *find_gpu("h200");
      device.sm_count = static_cast<int>(heads);  // one block per SM
      const std::int64_t bytes =
          built_in_algorithms().find("fa1")->working_set_bytes(p, TileShape{.br = 64, .bc = 64}, device);
      EXPECT_NEAR(60.0 * mib * 1000 / static_cast<double>(bytes), d == 64 ? n_d64 : n_d128, 51)
          << heads << " heads, d " << d;
    }
  }
}

}  // namespace
}  // namespace attnscope
