// SPDX-License-Identifier: Apache-2.0
#include "kernels/common_knobs.h"
#include "kernels/registry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "kernels/algorithm_parts.h"
#include "kernels/device/quantize_shape.h"
#include "kernels/embedded_sources.h"
#include "kernels/model/io_model.h"
#include "tests/kernels/facts_only_algorithm.h"
#include "tests/kernels/programs.h"
#include "tests/message_matchers.h"

namespace attnscope {
namespace {

using test::h200;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const Algorithm& algorithm(std::string_view name) {
  return *built_in_algorithms().find(name);
}

constexpr AttentionProblem square{.heads_q = 4, .heads_kv = 4, .n_q = 4096, .n_k = 4096, .d = 128};

TEST(Registry, FollowsPublicationOrder) {
  std::vector<std::string> names;
  for (const Algorithm* a : built_in_algorithms().algorithms()) names.emplace_back(a->name());
  EXPECT_THAT(names, ElementsAre("naive", "fa1", "fa2", "splitkv", "fa3", "linattn", "ring", "allgather", "ulysses"));
  EXPECT_EQ(built_in_algorithms().find("fa9"), nullptr);
  EXPECT_EQ(built_in_algorithms().find(""), nullptr);
}

TEST(Registry, FactsAreComplete) {
  for (const Algorithm* a : built_in_algorithms().algorithms()) {
    EXPECT_FALSE(a->facts().title.empty()) << a->name();
    EXPECT_THAT(std::string(a->facts().source), HasSubstr("arXiv")) << a->name();
    EXPECT_FALSE(a->facts().tile_meaning.empty()) << a->name();
    EXPECT_THAT(a->facts().head_dims, Contains(64)) << a->name();
    EXPECT_THAT(a->facts().head_dims, Contains(128)) << a->name();
    EXPECT_TRUE(std::ranges::is_sorted(a->facts().head_dims)) << a->name();
  }
}

TEST(Registry, RejectsUnknownReferences) {
  const auto refused = [](Facts facts) {
    try {
      Registry().add(std::make_unique<test::FactsOnlyAlgorithm>(std::move(facts)));
    } catch (const std::invalid_argument& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  Facts facts = algorithm("fa2").facts();
  EXPECT_EQ(refused(facts), "");
  facts.reference = "taste";
  EXPECT_THAT(refused(facts), test::HasWords("fa2 taste"));
}

TEST(Registry, EarlyStartIsTriggeredAndAwaited) {
  const auto contains_text = [](const KernelLaunch& launch, std::string_view call) {
    const auto found =
        std::ranges::find(embedded_sources(), std::string_view(launch.source.file), &EmbeddedSource::path);
    return found != embedded_sources().end() && found->text.find(call) != std::string_view::npos;
  };
  int early = 0;
  for (const Algorithm* a : built_in_algorithms().algorithms()) {
    for (const Pass pass : {Pass::fwd, Pass::bwd, Pass::fwd_bwd}) {
      AttentionProblem p{.pass = pass, .heads_q = 4, .heads_kv = 4, .n_q = 4, .n_k = 4096, .d = 128};
      const Tiling tile = tiling_from(a->default_config(p, h200()));
      if (a->refusal(p, tile, h200())) continue;
      const AttentionPlan plan = a->plan(p, tile, h200());
      for (std::size_t i = 0; i < plan.launches.size(); ++i) {
        if (!plan.launches[i].starts_early) continue;
        ++early;
        // Otherwise a launch would overlap the setup that prepares its inputs.
        ASSERT_TRUE(i > 0 && plan.launches[i].setup == plan.launches[i - 1].setup) << a->name();
        EXPECT_TRUE(contains_text(plan.launches[i], "wait_for_previous_launch()")) << a->name();
        EXPECT_TRUE(contains_text(plan.launches[i - 1], "allow_next_launch()")) << a->name();
      }
    }
  }
  EXPECT_GT(early, 0);
}

TEST(ModelRow, TrafficSideDividesTraffic) {
  for (const Algorithm* a : built_in_algorithms().algorithms()) {
    if (a->facts().for_decoding) continue;  // decoding is tested in splitkv_test.cpp
    // Halves each tile side: the closed form must agree with traffic_side().
    const auto bytes = [&](const AttentionProblem& p, int extent) {
      return static_cast<double>(a->plan(p, Tiling{.br = extent, .bc = extent}, h200()).traffic().total());
    };
    const bool has_tiles = a->facts().in_group(Group::tile_maps) || a->facts().is_multi_gpu();
    EXPECT_EQ(bytes(square, 64) / bytes(square, 128) > 1.8, has_tiles) << a->name();
  }
}

TEST(ModelRow, MatchesPaperCounts) {
  struct Count {
    Pass pass;
    std::int64_t bytes;
  };
  // For 4 heads of 2-byte elements, N 4096, d 128: N² is 16,777,216 elements, Nd 524,288. Standard attention of
  // FlashAttention (arXiv 2205.14135v2), Algorithm 0: Q, K in, S out; S in, P out; P, V in, O out: 69,206,016 elements
  // per head. Algorithm 3: P, dO in, dV out; dO, V in, dP out; P, dP in, dS out; dS, K in, dQ out; dS, Q in, dK out:
  // 121,634,816.
  for (const auto& [pass, bytes] :
       {Count{Pass::fwd, 553'648'128}, Count{Pass::bwd, 973'078'528}, Count{Pass::fwd_bwd, 1'526'726'656}}) {
    AttentionProblem p = square;
    p.pass = pass;
    EXPECT_EQ(standard_attention_bytes(p), bytes) << to_string(pass);
  }
  // FlashAttention as counted for Fig. 2 (middle): 4096 keys are 41 tiles of 100; 124 Nd forward (65,011,712 elements
  // per head), 168 Nd backward (88,080,384).
  for (const auto& [pass, bytes] :
       {Count{Pass::fwd, 520'093'696}, Count{Pass::bwd, 704'643'072}, Count{Pass::fwd_bwd, 1'224'736'768}}) {
    AttentionProblem p = square;
    p.pass = pass;
    EXPECT_EQ(flash_paper_bytes(p, 100), bytes) << to_string(pass);
  }
}

TEST(ModelRow, WorkingSets) {
  const Tiling tile{.br = 64, .bc = 64};
  const AttentionProblem many{.heads_q = 500, .heads_kv = 500, .n_q = 1001, .n_k = 1001, .d = 64};
  // Rows of S are padded to 8 elements.
  EXPECT_EQ(algorithm("naive").working_set_bytes(many, tile, h200()), 500LL * 1001 * 1008 * 2);
  EXPECT_EQ(algorithm("fa2").working_set_bytes(many, tile, h200()), 0);
  EXPECT_EQ(algorithm("fa3").working_set_bytes(many, tile, h200()), 0);
  // Eight warps with about 180 registers per thread: the 65,536 registers of an SM hold one block, its shared memory
  // would hold five.
  EXPECT_EQ(algorithm("fa1").working_set_bytes(many, tile, h200()), 132LL * 1001 * 392);
  // Backward with four warps of 16 x 16 cells and narrow rows: registers and shared memory allow seven blocks per SM,
  // so all 500 heads run at once.
  AttentionProblem narrow = many;
  narrow.pass = Pass::bwd;
  narrow.d = 16;
  const Tiling small{.br = 16, .bc = 16};
  EXPECT_EQ(algorithm("fa1").working_set_bytes(narrow, small, h200()), 500LL * 1001 * (3 * 16 * 2 + 18 * 4));
}

TEST(Plan, LaunchesMatchProgramsSourcesAndBuffers) {
  for (const Algorithm* a : built_in_algorithms().algorithms()) {
    for (const AttentionProblem& p : test::irregular_problems()) {
      for (const Tiling& tile : test::irregular_tiles()) {
        if (test::refused(*a, p, tile)) continue;
        const AttentionPlan plan = a->plan(p, tile, h200());
        std::set<std::string> buffers;
        for (const BufferSpec& buffer : plan.buffers) {
          EXPECT_GT(buffer.bytes, 0);
          EXPECT_TRUE(buffers.insert(buffer.name).second) << buffer.name;
        }
        std::set<std::string> names;
        for (const KernelLaunch& launch : plan.launches) {
          EXPECT_TRUE(names.insert(launch.name).second) << launch.name;
          EXPECT_EQ(launch.grid[0], launch.program->blocks());
          EXPECT_EQ(launch.block[0] % 32, 0U);
          for (const Argument& argument : launch.arguments) {
            if (const auto* buffer = std::get_if<BufferArgument>(&argument)) {
              EXPECT_TRUE(buffer->name.empty() || buffers.contains(buffer->name)) << buffer->name;
            }
          }
        }
      }
    }
  }
}

TEST(Plan, EntriesAreInTheEmbeddedSources) {
  for (const Algorithm* a : built_in_algorithms().algorithms()) {
    for (const KernelLaunch& launch : a->plan(square, a->default_config(square, h200()), h200()).launches) {
      const auto sources = embedded_sources();
      const auto found = std::ranges::find(sources, launch.source.file, &EmbeddedSource::path);
      ASSERT_NE(found, sources.end()) << launch.source.file;
      EXPECT_THAT(std::string(found->text), HasSubstr(launch.source.entry + "("));
    }
  }
}

/// A problem, its launches' integer arguments by parameter name, and the null pointers.
struct ArgumentCase {
  AttentionProblem problem;
  std::map<std::string, std::int64_t> integers;
  std::set<std::string> null;
};

void expect_arguments(const KernelLaunch& launch, const std::set<std::string>& buffers, const ArgumentCase& expected) {
  SCOPED_TRACE(launch.source.entry);
  const std::vector<std::string> declared = test::parameter_names(launch.source);
  ASSERT_EQ(declared.size(), launch.arguments.size());
  for (std::size_t i = 0; i < declared.size(); ++i) {
    const Argument& argument = launch.arguments[i];
    const std::string name = declared[i].substr(declared[i].front() == '*' ? 1 : 0);
    SCOPED_TRACE(name);
    if (const auto* map = std::get_if<TensorMapArgument>(&argument)) {
      EXPECT_EQ(map->buffer, name);
    } else if (const auto* buffer = std::get_if<BufferArgument>(&argument)) {
      EXPECT_EQ(declared[i].front(), '*');
      EXPECT_EQ(buffer->name, expected.null.contains(name) ? "" : name);
      EXPECT_TRUE(buffer->name.empty() || buffers.contains(name));
    } else if (const auto* real = std::get_if<float>(&argument)) {
      ASSERT_TRUE(name == "scale" || name == "factor");
      // dropout in standard attention is tested in naive_test.cpp
      if (name == "scale" || expected.problem.dropout == 0) {
        EXPECT_FLOAT_EQ(*real, name == "scale" ? 0.125F : 1.0F);
      }
    } else {
      ASSERT_TRUE(expected.integers.contains(name));
      EXPECT_EQ(std::get<std::int32_t>(argument), expected.integers.at(name));
    }
  }
}

TEST(Plan, ArgumentsMatchTheKernelsParameters) {
  std::map<std::string, std::int64_t> integers{
      {"instances", 12}, {"group", 3},           {"n_q", 100}, {"n_k", 37},  {"stride", 48},
      {"row_warps", 1},  {"heads_q", 6},         {"left", -1}, {"right", 0}, {"mask_block", 0},
      {"keep", 256},     {"seed", dropout_seed}, {"states", 0}};
  AttentionProblem p{.mask = Mask::causal, .batch = 2, .heads_q = 6, .heads_kv = 2, .n_q = 100, .n_k = 37, .d = 64};
  std::vector<ArgumentCase> cases{{p, integers, {"key_lengths", "block_mask", "q_scales", "k_scales", "v_scales"}}};
  p.pass = Pass::bwd;
  p.mask = test::mask_of("window:5:inf+lengths:ramp+blocks:64:butterfly");
  p.dropout = 0.25;
  integers["left"] = 5, integers["right"] = -1, integers["mask_block"] = 64, integers["keep"] = 192;
  cases.push_back({p, integers, {"turns"}});
  p.deterministic = true;
  cases.push_back({p, integers, {}});
  for (const ArgumentCase& each : cases) {
    for (const Algorithm* a : built_in_algorithms().algorithms()) {
      if (each.problem.pass == Pass::bwd && a->name() == "naive") continue;  // tested in naive_test.cpp
      if (a->refusal(each.problem, Tiling{.br = 64, .bc = 64}, h200())) continue;
      const AttentionPlan plan = a->plan(each.problem, Tiling{.br = 64, .bc = 64}, h200());
      std::set<std::string> buffers;
      for (const BufferSpec& buffer : plan.buffers) buffers.insert(buffer.name);
      for (const KernelLaunch& launch : plan.launches) expect_arguments(launch, buffers, each);
    }
  }
}

TEST(Plan, SourcesDoNotDependOnTheProblemsSize) {
  for (const Algorithm* a : built_in_algorithms().algorithms()) {
    AttentionProblem other = square;
    other.batch = 3, other.n_q = 100, other.n_k = 9000, other.heads_q = 8;
    const Tiling tile{.br = 64, .bc = 32};
    if (test::refused(*a, square, tile)) continue;
    const AttentionPlan one = a->plan(square, tile, h200());
    const AttentionPlan two = a->plan(other, tile, h200());
    for (std::size_t i = 0; i < one.launches.size(); ++i) EXPECT_EQ(one.launches[i].source, two.launches[i].source);
  }
}

TEST(Plan, DefinesMatchConfiguration) {
  const AttentionProblem p{.dtype = DType::bf16, .mask = Mask::causal, .n_q = 64, .n_k = 64, .d = 128};
  const Tiling tile{.br = 64, .bc = 32, .raster = Raster::heads_fastest};
  EXPECT_THAT(algorithm("fa2").plan(p, tile, h200()).launches[0].source.defines,
              ElementsAre("ATTN_BF16=1", "ATTN_D=128", "ATTN_BR=64", "ATTN_BC=32", "ATTN_MASK=1", "ATTN_DROPOUT=0",
                          "ATTN_HEADS_FASTEST=1"));
  // The softmax kernel does not depend on tile and d.
  EXPECT_THAT(algorithm("naive").plan(p, tile, h200()).launches[1].source.defines,
              ElementsAre("ATTN_BF16=1", "ATTN_MASK=1", "ATTN_DROPOUT=0"));
}

TEST(Plan, Buffers) {
  const AttentionProblem p{.heads_q = 4, .heads_kv = 2, .n_q = 10, .n_k = 20, .d = 64};
  const auto bytes = [&](std::string_view name) {
    std::map<std::string, std::int64_t> sizes;
    for (const BufferSpec& b : algorithm(name).plan(p, Tiling{.br = 16, .bc = 16}, h200()).buffers)
      sizes[b.name] = b.bytes;
    return sizes;
  };
  const std::int64_t q = 4L * 10 * 64 * 2;
  const std::int64_t kv = 2L * 20 * 64 * 2;
  const std::int64_t scores = 4L * 10 * 32 * 2;  // rows padded to 32 columns
  EXPECT_THAT(bytes("fa2"), ElementsAre(std::pair("k", kv), std::pair("lse", 160), std::pair("o", q), std::pair("q", q),
                                        std::pair("v", kv)));
  EXPECT_THAT(bytes("fa1"), ElementsAre(std::pair("k", kv), std::pair("l", 160), std::pair("m", 160), std::pair("o", q),
                                        std::pair("o_acc", 2 * q), std::pair("q", q), std::pair("v", kv)));
  EXPECT_THAT(bytes("naive"), ElementsAre(std::pair("k", kv), std::pair("o", q), std::pair("p", scores),
                                          std::pair("q", q), std::pair("s", scores), std::pair("v", kv)));
  EXPECT_EQ(algorithm("fa2").plan(p, Tiling{.br = 16, .bc = 16}, h200()).buffer_bytes(), 2 * q + 2 * kv + 160);
}

TEST(Traffic, Fa2DependsOnBrAndFa1OnBc) {
  const auto total = [](std::string_view name, int br, int bc) {
    return algorithm(name).plan(square, Tiling{.br = br, .bc = bc}, h200()).traffic();
  };
  EXPECT_EQ(total("fa2", 64, 16), total("fa2", 64, 128));
  EXPECT_GT(total("fa2", 64, 64).total(), total("fa2", 128, 64).total());
  EXPECT_EQ(total("fa1", 16, 64), total("fa1", 128, 64));
  EXPECT_GT(total("fa1", 64, 64).total(), total("fa1", 64, 128).total());
}

TEST(Traffic, MatchesPaperFormulas) {
  // Elements per head: FA2 2 n_q d + Tr 2 n_k d, plus n_q fp32; FA1 2 n_k d + Tc (3 n_q d + 4 n_q) with its fp32 state;
  // naive at least 4 N^2 + 4 N d, with operands reread per GEMM tile.
  constexpr std::int64_t n = 4096;
  constexpr std::int64_t d = 128;
  constexpr std::int64_t heads = 4;
  const Traffic fa2 = algorithm("fa2").plan(square, Tiling{.br = 128, .bc = 64}, h200()).traffic();
  EXPECT_EQ(fa2.l2_to_sm_bytes, heads * 2 * (n * d + 64 * n * d));
  EXPECT_EQ(fa2.sm_to_l2_bytes, heads * (2 * n * d + 4 * n));
  const Traffic fa1 = algorithm("fa1").plan(square, Tiling{.br = 64, .bc = 128}, h200()).traffic();
  EXPECT_EQ(fa1.l2_to_sm_bytes, heads * (4 * n * d + 32 * (2 * n * d + 4 * n * d + 8 * n)));
  EXPECT_EQ(fa1.sm_to_l2_bytes, heads * (128 * n * d + 264 * n + 2 * n * d));
  const AttentionPlan naive = algorithm("naive").plan(square, Tiling{.br = 128, .bc = 64}, h200());
  ASSERT_EQ(naive.launches.size(), 3U);
  EXPECT_EQ(naive.launches[0].traffic, (Traffic{heads * 2 * (64 + 32) * n * d, heads * 2 * n * n}));
  EXPECT_EQ(naive.launches[1].traffic, (Traffic{heads * 2 * n * n, heads * 2 * n * n}));
  EXPECT_EQ(naive.launches[2].traffic, (Traffic{heads * 2 * (n * n + 32 * n * d), heads * 2 * n * d}));
  // A single tile has compulsory bytes plus LSE; naive then has the paper's 4 N^2 + 4 N d.
  const AttentionProblem small{.n_q = 256, .n_k = 256, .d = 64};
  const Tiling whole{.br = 256, .bc = 256};
  EXPECT_EQ(algorithm("fa2").plan(small, whole, h200()).traffic().total(), compulsory_traffic(small).total() + 1024);
  EXPECT_EQ(algorithm("naive").plan(small, whole, h200()).traffic().total(), standard_attention_bytes(small));
}

TEST(Plan, EstimatesRegisters) {
  for (const Algorithm* a : built_in_algorithms().algorithms()) {
    if (test::refused(*a, square, {.br = 128, .bc = 64})) continue;
    const AttentionPlan plan = a->plan(square, Tiling{.br = 128, .bc = 64}, h200());
    for (const KernelLaunch& launch : plan.launches) {
      EXPECT_GT(launch.registers_per_thread, 32) << launch.source.entry;
      EXPECT_LE(launch.registers_per_thread, 255) << launch.source.entry;
    }
  }
}

TEST(DefaultTile, H200DefaultsAreMeasuredOrPaperRule) {
  const auto tile = [](std::string_view name, std::int64_t n, std::int64_t d) {
    AttentionProblem p = square;
    p.n_q = p.n_k = n;
    p.d = d;
    return describe(algorithm(name).default_config(p, h200()));
  };
  EXPECT_EQ(tile("fa2", 4096, 32), "128x128");
  EXPECT_EQ(tile("fa2", 256, 64), "128x64");
  EXPECT_EQ(tile("fa2", 4096, 128), "128x64");
  EXPECT_EQ(tile("fa2", 4096, 256), "64x64");
  EXPECT_EQ(tile("fa3", 4096, 32), "192x128");
  EXPECT_EQ(tile("fa3", 256, 64), "192x128");
  EXPECT_EQ(tile("fa3", 4096, 64), "192x128");
  EXPECT_EQ(tile("fa3", 4096, 128), "128x128");
  EXPECT_EQ(tile("fa3", 4096, 96), "192x96");
  EXPECT_EQ(tile("fa3", 4096, 256), "128x80");
  EXPECT_EQ(tile("fa1", 4096, 64), "64x448");
  EXPECT_EQ(tile("fa1", 4096, 128), "128x224");
  EXPECT_EQ(tile("naive", 4096, 128), "128x128");
  AttentionProblem p = square;
  p.d = 64;
  EXPECT_EQ(describe(algorithm("fa2").default_config(p, *find_gpu("a100"))), "128x64");
}

TEST(Fa2, UsesOneKernelForAllGpus) {
  const Algorithm& fa2 = algorithm("fa2");
  for (const Pass pass : {Pass::fwd, Pass::bwd, Pass::fwd_bwd}) {
    for (const std::int64_t d : {64, 128}) {
      const AttentionProblem p{.pass = pass, .heads_q = 4, .heads_kv = 4, .n_q = 4096, .n_k = 4096, .d = d};
      const Tiling tile{.br = 64, .bc = 128};
      const AttentionPlan ampere = fa2.plan(p, tile, *find_gpu("a100"));
      const AttentionPlan hopper = fa2.plan(p, tile, h200());
      ASSERT_EQ(ampere.launches.size(), hopper.launches.size());
      for (std::size_t i = 0; i < ampere.launches.size(); ++i) {
        EXPECT_EQ(ampere.launches[i].source, hopper.launches[i].source);
        EXPECT_TRUE(hopper.launches[i].source.file.starts_with("fa2/fa2_")) << hopper.launches[i].source.file;
        EXPECT_EQ(ampere.launches[i].block, hopper.launches[i].block);
        EXPECT_EQ(ampere.launches[i].dynamic_shared_bytes, hopper.launches[i].dynamic_shared_bytes);
        EXPECT_EQ(ampere.launches[i].traffic, hopper.launches[i].traffic);
      }
    }
  }
}

TEST(Fa2, WarpsDefaultToTheTile) {
  const Algorithm& fa2 = algorithm("fa2");
  const AttentionProblem p{.n_q = 512, .n_k = 512, .d = 64};
  const auto launch = [&](int warps) {
    return fa2.plan(p, Tiling{.br = 128, .bc = 64, .warps = warps}, h200()).launches.front();
  };
  // The default is the same kernel; other values add a macro and change the block size.
  EXPECT_EQ(launch(4).source, launch(0).source);
  EXPECT_EQ(launch(0).block[0], 128U);
  EXPECT_EQ(launch(8).block[0], 256U);
  EXPECT_EQ(launch(8).source.defines.back(), "ATTN_WARPS=8");
}

TEST(Fa3, MovesFa2BytesPlusTileCounter) {
  AttentionProblem p = square;
  const Tiling tile{.br = 128, .bc = 128};
  for (const char* mask : {"full", "causal", "window:64:64+lengths:ramp+blocks:128:random50"}) {
    for (const Raster raster : {Raster::q_fastest, Raster::heads_fastest}) {
      p.mask = parse_mask(mask).value();
      Tiling ordered = tile;
      ordered.raster = raster;
      const KernelLaunch fa2 = algorithm("fa2").plan(p, ordered, h200()).launches.front();
      const KernelLaunch fa3 = algorithm("fa3").plan(p, ordered, h200()).launches.front();
      EXPECT_EQ(fa3.source.file, "fa3/fa3_forward.cuh");
      EXPECT_EQ(fa3.source.entry, "attn_fa3_forward");
      EXPECT_EQ(fa3.source.defines, fa2.source.defines);
      EXPECT_EQ(fa3.block[0], 384U);  // two consumer warpgroups, one producer
      // Q, double-buffered K and V, O, barriers.
      EXPECT_EQ(fa3.dynamic_shared_bytes, 2 * 128 * (128 + 4 * 128 + 128) + 64 + 64);
      EXPECT_EQ(fa3.grid, fa2.grid);
      EXPECT_EQ(fa3.launched_grid()[0], std::min(fa3.grid[0], 132U));
      Traffic taken = fa2.traffic;
      taken += {.l2_to_sm_bytes = 32 * fa3.blocks(), .sm_to_l2_bytes = 32 * fa3.blocks()};
      if (!p.mask.padded()) {
        EXPECT_EQ(fa3.traffic, taken);
      }
      EXPECT_GE(fa3.traffic.l2_to_sm_bytes, taken.l2_to_sm_bytes);  // padded tiles load whole boxes
      EXPECT_EQ(std::ssize(test::all_accesses(*fa3.program)),
                std::ssize(test::all_accesses(*fa2.program)) + 2 * fa3.blocks());
    }
  }
}

TEST(Fa3, EveryHeadDimensionHasAFeasibleTile) {
  const Algorithm& fa3 = algorithm("fa3");
  for (const int d : fa3.facts().head_dims) {
    for (const char* mask : {"full", "causal", "window:64:64+lengths:ramp+blocks:128:random50"}) {
      for (const double dropout : {0.0, 0.1}) {
        const AttentionProblem p{
            .mask = parse_mask(mask).value(), .n_q = 4096, .n_k = 4096, .d = d, .dropout = dropout};
        EXPECT_FALSE(fa3.refusal(p, fa3.default_config(p, h200()), h200())) << describe(p);
      }
    }
  }
  // Panels of 16 columns if no larger one divides d: no padding on chip or between panels.
  const AttentionProblem p{.n_q = 4096, .n_k = 4096, .d = 80};
  const KernelLaunch launch = fa3.plan(p, Tiling{.br = 128, .bc = 64}, h200()).launches.front();
  EXPECT_EQ(launch.dynamic_shared_bytes, 2 * 80 * (128 + 4 * 64 + 128) + 64 + 64);
  EXPECT_EQ(launch.traffic, (Traffic{2 * 80 * (4096 + 2 * 32 * 4096) + 32 * 32, (2 * 80 + 4) * 4096 + 32 * 32}));
  const auto& keys = std::get<TensorMapArgument>(launch.arguments.at(1));
  EXPECT_EQ(keys.box, (std::vector<std::int64_t>{16, 64, 1}));
  EXPECT_EQ(keys.swizzle_bytes, 32);
}

TEST(Fa3, RaggedBoxesMoveWhole) {
  // Counted on an H100: 16 row tiles of one Q box and 8 key tiles each, 1000 rows.
  const AttentionProblem p{.batch = 2, .heads_q = 16, .heads_kv = 16, .n_q = 1000, .n_k = 1000, .d = 64};
  const KernelLaunch launch = algorithm("fa3").plan(p, Tiling{.br = 64, .bc = 128}, h200()).launches.front();
  EXPECT_EQ(launch.traffic, (Traffic{138'428'416, 4'240'384}));
  EXPECT_EQ(launch.traffic, walk(*launch.program));
}

TEST(Fa3, StagesDefaultToTheTile) {
  const Algorithm& fa3 = algorithm("fa3");
  const AttentionProblem p{.n_q = 512, .n_k = 512, .d = 64};
  const auto launch = [&](int stages) {
    const Tiling tile{.br = 128, .bc = 64, .stages = stages};
    EXPECT_FALSE(fa3.refusal(p, tile, h200()));
    return fa3.plan(p, tile, h200()).launches.front();
  };
  EXPECT_EQ(launch(2).source, launch(0).source);
  EXPECT_EQ(launch(3).source.defines.back(), "ATTN_STAGES=3");
  EXPECT_EQ(launch(3).dynamic_shared_bytes, 2 * 64 * (128 + 6 * 64 + 128) + 96 + 64);
  EXPECT_EQ(launch(1).source.defines.back(), "ATTN_STAGES=1");
}

TEST(ScaleExponent, LeavesTheLargestMagnitudeInRange) {
  const auto of = [](float value) { return scale_exponent(std::bit_cast<unsigned>(value)); };
  EXPECT_EQ(of(448), 0);
  EXPECT_EQ(of(std::nextafter(448.0F, 500.0F)), 1);
  EXPECT_EQ(of(224), -1);
  EXPECT_EQ(of(1), -8);
  EXPECT_EQ(of(0), -100);
}

TEST(Fa3, QuantizationIsSetupOrMeasured) {
  const AttentionProblem p{
      .dtype = DType::fp8, .batch = 2, .heads_q = 4, .heads_kv = 2, .n_q = 512, .n_k = 1000, .d = 128};
  const Algorithm& fa3 = algorithm("fa3");
  Config config = fa3.default_config(p, h200());
  const auto measured = [&] {
    std::vector<std::string> names;
    for (const KernelLaunch& launch : fa3.plan(p, config, h200()).launches) {
      if (!launch.setup) names.push_back(launch.name);
    }
    return names;
  };
  EXPECT_THAT(measured(), testing::ElementsAre("fwd"));
  EXPECT_EQ(fa3.plan(p, config, h200()).quantized, (Quantization{.query_rows = 64, .keys = 128}));
  config.knobs.set(knob::quantising, std::string(knob::measured));
  config.knobs.set(knob::rotation, std::string(knob::hadamard));
  EXPECT_THAT(measured(), testing::ElementsAre("quantise Q", "quantise K", "transpose V", "fwd"));
  const AttentionPlan plan = fa3.plan(p, config, h200());
  EXPECT_TRUE(plan.quantized->rotated);
  // Reads 16 bits and writes 8 bits per element; transposed V has 1024 keys. One sector per block for the scale.
  const std::int64_t q = 2 * 4 * 512 * 128;
  const std::int64_t k = 2 * 2 * 1000 * 128;
  EXPECT_EQ(plan.launches[0].traffic, (Traffic{2 * q, q + 2 * 4 * 8 * 32}));
  EXPECT_EQ(plan.launches[1].traffic, (Traffic{2 * k, k + 2 * 2 * 8 * 32}));
  EXPECT_EQ(plan.launches[2].traffic, (Traffic{2 * k, 2 * 2 * 1024 * 128 + 2 * 2 * 8 * 32}));
  const auto bytes = [&](std::string_view name) {
    return std::ranges::find(plan.buffers, name, &BufferSpec::name)->bytes;
  };
  EXPECT_EQ(bytes("k8"), k);
  EXPECT_EQ(bytes("v8"), 2 * 2 * 1024 * 128);
  // Four row tiles for each of eight heads: Q once, eight K and V tiles each in whole boxes, scales and the counter.
  EXPECT_EQ(plan.launches[3].traffic.l2_to_sm_bytes, q + 8 * 4 * (8 * 2 * 128 * 128 + 8 * 2 * 32 + 2 * 32 + 32));
}

TEST(Fa1, TeamsFitSharedMemory) {
  const Algorithm& fa1 = algorithm("fa1");
  const AttentionProblem p{.n_q = 512, .n_k = 512, .d = 64};
  const auto on = [&](const Tiling& tile) { return fa1.plan(p, tile, h200()).launches.front(); };
  DeviceLimits smaller = h200();
  smaller.shared_bytes_per_block = 120 << 10;  // fits the tile but no second team
  const KernelLaunch one = fa1.plan(p, Tiling{.br = 64, .bc = 448}, smaller).launches.front();
  const KernelLaunch two = on({.br = 64, .bc = 448});
  EXPECT_EQ(one.block[0], 128U);
  EXPECT_EQ(two.block[0], 256U);
  EXPECT_EQ(two.source.defines.back(), "ATTN_TEAMS=2");
  EXPECT_EQ(two.dynamic_shared_bytes, one.dynamic_shared_bytes + 64 * 64 * 2);
  EXPECT_EQ(two.traffic, one.traffic);
  EXPECT_EQ(on({.br = 16, .bc = 448}).block[0], 256U);
  EXPECT_EQ(on({.br = 128, .bc = 64}).source.defines.back(), "ATTN_DROPOUT=0");
  // 227 KiB hold 7 Q tiles of 16 rows in addition to K and V, but not 8.
  EXPECT_EQ(on({.br = 16, .bc = 848}).source.defines.back(), "ATTN_TEAMS=7");
  EXPECT_FALSE(fa1.refusal(p, Tiling{.br = 64, .bc = 864}, h200()));
  EXPECT_EQ(on({.br = 64, .bc = 864}).block[0], 128U);
}

TEST(ShrinkToFit, HalvesTheColumnsOfASquareFirst) {
  const auto shrink = [](const TileShape& tile) {
    return shrink_to_fit(tile, [](const TileShape& some) { return some.br * some.bc <= 8192; });
  };
  EXPECT_EQ(shrink({.br = 128, .bc = 128}), (TileShape{.br = 128, .bc = 64}));
  EXPECT_EQ(shrink({.br = 256, .bc = 64}), (TileShape{.br = 128, .bc = 64})) << "the longer side";
}

TEST(DefaultTile, DividesTheMaskBlockSize) {
  for (const char* name : {"fa1", "fa2"}) {
    for (const int block : {16, 48, 64, 96, 128, 192, 256, 1024}) {
      for (const int d : {32, 64, 128, 256}) {
        AttentionProblem p{.n_q = 2048, .n_k = 2048, .d = d};
        p.mask = parse_mask("blocks:" + std::to_string(block) + ":butterfly").value();
        for (const char* gpu : {"h200", "a100"}) {
          const Config config = algorithm(name).default_config(p, *find_gpu(gpu));
          EXPECT_FALSE(algorithm(name).refusal(p, config, *find_gpu(gpu))) << describe(p) << " " << describe(config);
          EXPECT_EQ(block % config.tile.br + block % config.tile.bc, 0) << describe(p) << " " << describe(config);
        }
      }
    }
  }
  AttentionProblem p{.n_q = 2048, .n_k = 2048, .d = 64};
  p.mask = parse_mask("blocks:128:butterfly").value();
  EXPECT_EQ(describe(algorithm("fa2").default_config(p, h200())), "128x64");
  EXPECT_EQ(describe(algorithm("fa3").default_config(p, h200())), "128x128");
}

TEST(DefaultTile, IsFeasibleOnKnownGpusIfAnyTileIs) {
  for (const Algorithm* a : built_in_algorithms().algorithms()) {
    for (const int d : a->facts().head_dims) {
      for (const DeviceLimits& gpu : known_gpus()) {
        for (const std::int64_t n : {1, 4096}) {
          const AttentionProblem p{.n_q = n, .n_k = n, .d = d};
          if (n > 1 && a->facts().for_decoding) continue;
          const Tiling tile = tiling_from(a->default_config(p, gpu));
          const auto refused = a->refusal(p, tile, gpu);
          if (!refused) continue;
          if (refused->cause == Refusal::Cause::architecture) {  // kernels for compute capability 9.0 only
            EXPECT_NE(gpu.compute_major, 9) << a->name() << " d " << d;
            continue;
          }
          // If the default tile is infeasible, the smallest tile must be infeasible, too.
          EXPECT_TRUE(a->refusal(p, Tiling{.br = 16, .bc = 16}, gpu).has_value())
              << a->name() << " d " << d << " on " << gpu.name << ": " << refused->reason;
          EXPECT_GT(d, 128) << a->name() << " on " << gpu.name << ": " << refused->reason;
        }
      }
    }
  }
}

}  // namespace
}  // namespace attnscope
