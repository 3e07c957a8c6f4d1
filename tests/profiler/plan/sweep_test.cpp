// SPDX-License-Identifier: Apache-2.0
#include "profiler/plan/sweep.h"
#include "kernels/common_knobs.h"
#include "profiler/plan/fields.h"
#include "profiler/plan/round_order.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <set>
#include <tuple>
#include <vector>

#include "kernels/model/io_model.h"
#include "kernels/registry.h"
#include "kernels/tile_table.h"
#include "messages/feature.h"
#include "tests/message_matchers.h"
#include "tests/profiler/points/fixtures.h"

namespace attnscope {
namespace {

using fixtures::h200;
using test::HasWords;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::string> values_of(std::string_view text) {
  const auto axis = parse_axis(text, built_in_algorithms());
  EXPECT_TRUE(axis.ok()) << text << ": " << (axis.ok() ? "" : attnscope::text(axis.error()));
  return axis.ok() ? axis->values : std::vector<std::string>{};
}

SweepRequest request_of(std::initializer_list<std::string_view> axes, std::vector<std::string> algorithms = {},
                        std::string preset = {}) {
  SweepRequest request{.preset = std::move(preset), .axes = {}, .algorithms = std::move(algorithms)};
  for (const std::string_view text : axes) request.axes.push_back(*parse_axis(text, built_in_algorithms()));
  return request;
}

std::vector<PointSpec> points_of(const SweepRequest& request, const DeviceLimits& limits = h200()) {
  const auto plan = make_plan(request, limits, built_in_algorithms());
  EXPECT_TRUE(plan.ok()) << (plan.ok() ? "" : text(plan.error()));
  return plan.ok() ? plan->points : std::vector<PointSpec>{};
}

std::string plan_error(const SweepRequest& request) {
  const auto plan = make_plan(request, h200(), built_in_algorithms());
  EXPECT_FALSE(plan.ok());
  return plan.ok() ? "" : text(plan.error());
}

/// Returns true if the algorithm supports the problem's shape on some device; decoding supports few queries.
bool takes(const Algorithm& algorithm, const AttentionProblem& problem) {
  const auto refusal = algorithm.refusal(problem, auto_config(algorithm, problem, h200()), h200());
  return !refusal || refusal->cause != Refusal::Cause::shape;
}

std::vector<const Algorithm*> supporting_algorithms(const AttentionProblem& problem) {
  std::vector<const Algorithm*> takers;
  std::ranges::copy_if(built_in_algorithms().algorithms(), std::back_inserter(takers),
                       [&](const Algorithm* algorithm) { return takes(*algorithm, problem); });
  return takers;
}

std::set<std::string> names_in(const std::vector<PointSpec>& points) {
  std::set<std::string> names;
  for (const PointSpec& point : points) names.insert(point.algorithm);
  return names;
}

bool refused(const PointSpec& point) {
  return built_in_algorithms().find(point.algorithm)->refusal(point.problem, point.config(), h200()).has_value();
}

TEST(ParseAxis, SingleValuesListsAndRanges) {
  EXPECT_THAT(values_of("d=64"), ElementsAre("64"));
  EXPECT_THAT(values_of("N=[1024,2048]"), ElementsAre("1024", "2048"));
  EXPECT_THAT(values_of("N = [ 1024 , 2048 ]"), ElementsAre("1024", "2048"));
  EXPECT_THAT(values_of("N=[1024:4096:1024]"), ElementsAre("1024", "2048", "3072", "4096"));
  EXPECT_THAT(values_of("br=[16:40:16]"), ElementsAre("16", "32"));
  EXPECT_THAT(values_of("batch=[1:3]"), ElementsAre("1", "2", "3"));
  EXPECT_THAT(values_of("mask=[full,causal]"), ElementsAre("full", "causal"));
}

TEST(ParseAxis, ProblemAndTileValues) {
  EXPECT_THAT(values_of("pass=[fwd,bwd,fwd+bwd]"), ElementsAre("fwd", "bwd", "fwd+bwd"));
  EXPECT_THAT(values_of("mask=[full, window:1024:0+lengths:300/512, blocks:128:stride4]"),
              ElementsAre("full", "window:1024:0+lengths:300/512", "blocks:128:stride4"));
  EXPECT_THAT(values_of("dropout=[0,0.1]"), ElementsAre("0", "0.1"));
  EXPECT_THAT(values_of("page=[0,16,256]"), ElementsAre("0", "16", "256"));
  EXPECT_THAT(values_of("page[pow2]=[4:8]"), ElementsAre("16", "32", "64", "128", "256"));
  EXPECT_THAT(values_of("deterministic=[no,yes]"), ElementsAre("no", "yes"));
  EXPECT_THAT(values_of("splits=[0,8]"), ElementsAre("0", "8"));
  EXPECT_THAT(values_of("tile=[auto,128x64]"), ElementsAre("auto", "128x64"));
}

TEST(ParseAxis, PowersOfTwo) {
  EXPECT_THAT(values_of("N[pow2]=[8,11]"), ElementsAre("256", "512", "1024", "2048"));
  EXPECT_THAT(values_of("N[pow2]=[8:11]"), ElementsAre("256", "512", "1024", "2048"));
  EXPECT_THAT(values_of("N[pow2]=[8:12:2]"), ElementsAre("256", "1024", "4096"));
  EXPECT_THAT(values_of("N[pow2]=[8,11,9]"), ElementsAre("256", "2048", "512"));
  EXPECT_THAT(values_of("N[pow2]=10"), ElementsAre("1024"));
}

TEST(ParseAxis, NamesAreCanonical) {
  EXPECT_EQ(parse_axis("n=1", built_in_algorithms())->name, "N");
  EXPECT_EQ(parse_axis("Br=16", built_in_algorithms())->name, "br");
  EXPECT_EQ(parse_axis("N_Q=16", built_in_algorithms())->name, "n_q");
}

TEST(ParseAxis, ErrorsNameTheTextAndTheProblem) {
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"N", "="},
      {"N=", ""},
      {"N=[]", ""},
      {"N=[1024", "]"},
      {"N=[1024,]", ""},
      {"N=abc", "abc"},
      {"N=1e3", "1e3"},
      {"N=10.5", "10.5"},
      {"N=0", "N 1 0"},
      {"d=-64", "d 1 -64"},
      {"N=99999999999999999999", "99999999999999999999"},
      {"N=[-9223372036854775808:9223372036854775807]", "2^64 4096"},
      {"N=[0:9223372036854775807]", "9223372036854775808"},
      {"N=999999999", "N 999999999 16777216"},
      {"N=[4096:1024:1024]", "4096 1024"},
      {"N[pow2]=[14,8]", "14 8"},
      {"N=[1:100:0]", "step 1 0"},
      {"N=[1:16777216]", "16777216 4096"},
      {"N=[1:2:3:4]", "[first:last:step]"},
      {"N[pow2]=[8:70]", "2^63"},
      {"N[pow2]=-1", "2^-1"},
      {"N[log]=[1,2]", "log pow2"},
      {"mask[pow2]=full", "[pow2] mask"},
      {"mask=diagonal", "diagonal"},
      {"dtype=[fp16,]", ""},
      {"algorithm=fa7", "fa7 naive fa1 fa2"},
      {"hedas=16", "hedas heads"},
      {"pass=sideways", "sideways fwd bwd fwd+bwd"},
      {"mask=window:-1:0", "left -1"},
      {"mask=window:5", "window:LEFT:RIGHT"},
      {"dropout=1.5", "dropout 0 1 1.5"},
      {"dropout=-0.1", "dropout -0.1"},
      {"dropout=some", "dropout some"},
      {"dropout[pow2]=1", "[pow2] dropout"},
      {"page=48", "page 16 2^24 48"},
      {"page=-16", "page 0 -16"},
      {"deterministic=maybe", "maybe yes no"},
      {"cache=unknown", "unknown cold warm"},
      {"splits=-1", "splits 0 -1"},
      {"stages=65", "stages 65"},
      {"tile=64", "64 auto BrxBc"},
      {"tile=64x0", "64x0"},
      {"temperature=3", "temperature dtype"},
  };
  for (const auto& [text, words] : cases) {
    const auto axis = parse_axis(text, built_in_algorithms());
    ASSERT_FALSE(axis.ok()) << text;
    EXPECT_THAT(attnscope::text(axis.error()), HasSubstr("'" + std::string(text) + "'")) << text;
    EXPECT_THAT(attnscope::text(axis.error()), HasWords(words)) << text;
  }
}

std::string list_of(std::string_view name, int count, std::string_view value) {
  std::string text = std::string(name) + "=[" + std::string(value);
  for (int i = 1; i < count; ++i) text.append(",").append(value);
  return text + "]";
}

TEST(ParseAxis, LimitsAreInclusive) {
  const std::tuple<std::string, std::size_t, std::string> accepted[] = {
      {"N=[1:4096]", 4096, "4096"},
      {"N=[1:8192:2]", 4096, "8191"},
      {list_of("N", 4096, "16"), 4096, "16"},
      {list_of("mask", 4096, "full"), 4096, "full"},
      {"N=[5:5]", 1, "5"},
      {"N=1", 1, "1"},
      {"N=16777216", 1, "16777216"},
      {"batch[pow2]=[0,1]", 2, "2"},
      {"batch[pow2]=0", 1, "1"},
      {"M=2097152", 1, "2097152"},
      {"tile=1x1", 1, "1x1"},
      {"tile=4096x4096", 1, "4096x4096"},
  };
  for (const auto& [text, count, last] : accepted) {
    const auto values = values_of(text);
    ASSERT_EQ(values.size(), count) << text.substr(0, 40);
    EXPECT_EQ(values.back(), last) << text.substr(0, 40);
  }
  for (const std::string& text :
       {std::string("N=[1:4097]"), std::string("N=[1:8193:2]"), list_of("N", 4097, "16"), list_of("mask", 4097, "full"),
        std::string("N=[5:4]"), std::string("N=16777217"), std::string("N[pow2]=63"), std::string("M=2097153"),
        std::string("M=0"), std::string("tile=0x16"), std::string("tile=16x0"), std::string("tile=4097x16"),
        std::string("tile=16x4097"), std::string("tile=16x16x")}) {
    EXPECT_FALSE(parse_axis(text, built_in_algorithms()).ok()) << text.substr(0, 40);
  }
}

TEST(MakePlan, ACurveHasOneTileUnlessTileIsAuto) {
  const Algorithm& fa3 = *built_in_algorithms().find("fa3");
  const auto at = [](std::int64_t n) {
    return AttentionProblem{.heads_q = 16, .heads_kv = 16, .n_q = n, .n_k = n, .d = 128};
  };
  const Config of_short = auto_config(fa3, at(512), h200());
  const Config of_long = auto_config(fa3, at(16'384), h200());
  ASSERT_NE(of_short, of_long);
  const auto curve = points_of(request_of({"d=128", "N=[512,16384]"}, {"fa3"}));
  ASSERT_EQ(curve.size(), 2U);
  EXPECT_EQ(curve[0].config(), of_long);
  EXPECT_EQ(curve[1].config(), of_long);
  const auto each = points_of(request_of({"d=128", "N=[512,16384]", "tile=auto"}, {"fa3"}));
  ASSERT_EQ(each.size(), 2U);
  EXPECT_EQ(each[0].config(), of_short);
  EXPECT_EQ(each[1].config(), of_long);
  // Splits depend on the cache length and hardly affect the traffic.
  const auto decode = points_of(request_of({"n_q=1", "n_k=[256,131072]", "heads_q=16", "heads_kv=2"}, {"splitkv"}));
  ASSERT_EQ(decode.size(), 2U);
  EXPECT_LT(decode[0].knobs.number(knob::splits), decode[1].knobs.number(knob::splits));
}

TEST(MakePlan, FreeAxesFillInTheRest) {
  const auto points = points_of(request_of({"N=2048"}));
  const AttentionProblem expected{.heads_q = 16, .heads_kv = 16, .n_q = 2048, .n_k = 2048, .d = 64};
  const auto takers = supporting_algorithms(expected);
  ASSERT_EQ(points.size(), takers.size());
  for (std::size_t i = 0; i < points.size(); ++i) {
    EXPECT_EQ(points[i].algorithm, takers[i]->name());
    EXPECT_EQ(points[i].problem, expected);
    EXPECT_EQ(points[i].tile, auto_config(*takers[i], expected, h200()));
    EXPECT_EQ(points[i].cache, CacheState::cold);
  }
}

TEST(MakePlan, AdjacentPointsShareInputs) {
  const auto points = points_of(request_of({"br=[64,128]", "N=[256,512]", "bc=64"}, {"fa1", "fa2"}));
  std::vector<std::string> order;
  order.reserve(points.size());
  for (const PointSpec& point : points) {
    order.push_back(point.algorithm + " " + std::to_string(point.problem.n_q) + " " + std::to_string(point.tile.br));
  }
  EXPECT_THAT(order, ElementsAre("fa1 256 64", "fa1 256 128", "fa2 256 64", "fa2 256 128", "fa1 512 64", "fa1 512 128",
                                 "fa2 512 64", "fa2 512 128"));
}

TEST(MakePlan, AxesOverridePresets) {
  const auto points = points_of(request_of({"heads_kv=2", "n_k=1024"}, {"fa2"}, "paper"));
  ASSERT_EQ(points.size(), 1U);
  EXPECT_EQ(points[0].problem.heads_q, 16);
  EXPECT_EQ(points[0].problem.heads_kv, 2);
  EXPECT_EQ(points[0].problem.n_q, 1024);
  EXPECT_EQ(points[0].problem.n_k, 1024);
}

TEST(MakePlan, ConflictingAxesAreAnError) {
  EXPECT_THAT(plan_error(request_of({"N=[1024,512]", "d=64", "n=[2048,4096]"})), HasWords("N N=[1024,4096]"));
  EXPECT_THAT(plan_error(request_of({"mask=full", "mask=causal"})), HasSubstr("mask=[full,causal]"));
  EXPECT_THAT(plan_error(request_of({"N=512", "n_k=1024"})), HasWords("N n_k"));
  EXPECT_THAT(plan_error(request_of({"n_q=512", "N=1024"})), HasWords("N n_q n_k"));
  EXPECT_THAT(plan_error(request_of({"heads_q=8", "heads=4"})), HasWords("heads heads_q heads_kv"));
}

TEST(MakePlan, MemoryAxisSetsTheTileByThePapersRule) {
  const auto points = points_of(request_of({"N=4096", "d=64", "M=[16384,114688]"}, {"naive", "fa1", "fa2"}));
  std::map<std::string, std::vector<TileShape>> tiles;
  for (const PointSpec& point : points) tiles[point.algorithm].push_back(point.tile);
  EXPECT_THAT(tiles["fa1"], ElementsAre(TileShape{.br = 64, .bc = 64}, TileShape{.br = 64, .bc = 448}));
  EXPECT_THAT(tiles["fa2"], ElementsAre(TileShape{.br = 64, .bc = 64}, TileShape{.br = 448, .bc = 64}));
  EXPECT_EQ(tiles["naive"].size(), 1U) << "M has no effect";
  // The backward pass of FA2 is key-stationary: its traffic is divided by Bc.
  const auto backward = points_of(request_of({"N=4096", "d=64", "pass=bwd", "M=32768"}, {"fa2"}));
  ASSERT_EQ(backward.size(), 1U);
  EXPECT_EQ(backward[0].tile, (TileShape{.br = 64, .bc = 128}));
}

TEST(MakePlan, MemoryAndTileAxesReplaceEachOther) {
  EXPECT_THAT(plan_error(request_of({"M=16384", "tile=64x64"})), HasWords("M tile"));
  EXPECT_THAT(plan_error(request_of({"br=64", "M=16384"})), HasWords("M br bc"));
  EXPECT_THAT(plan_error(request_of({"M=16384", "bc=64"})), HasWords("M br bc"));
  for (const PointSpec& point : points_of(request_of({"tile=64x32"}, {"fa1"}, "law"))) {
    EXPECT_EQ(point.tile, (TileShape{.br = 64, .bc = 32}));
  }
  for (const PointSpec& point : points_of(request_of({"bc=32"}, {"fa1"}, "law"))) EXPECT_EQ(point.tile.bc, 32);
  const auto map = points_of(request_of({"M=[8192,32768]"}, {"fa1"}, "tiles"));
  ASSERT_EQ(map.size(), 2U);
  EXPECT_EQ(map[1].tile, (TileShape{.br = 64, .bc = 64}));
}

TEST(MakePlan, BothLengthsAndBothHeadCountsCanBeSet) {
  auto points = points_of(request_of({"heads_q=8", "heads_kv=2", "n_q=512", "n_k=1024"}, {"fa2"}));
  ASSERT_EQ(points.size(), 1U);
  EXPECT_EQ(points[0].problem.heads_q, 8);
  EXPECT_EQ(points[0].problem.heads_kv, 2);
  EXPECT_EQ(points[0].problem.n_q, 512);
  EXPECT_EQ(points[0].problem.n_k, 1024);
}

TEST(MakePlan, NonNumericAxes) {
  const auto points = points_of(request_of({"dtype=bf16", "mask=causal", "raster=heads_fastest", "algorithm=fa2"}));
  ASSERT_EQ(points.size(), 1U);
  EXPECT_EQ(points[0].problem.dtype, DType::bf16);
  EXPECT_EQ(points[0].problem.mask, Mask::causal);
  EXPECT_EQ(points[0].knobs.named_value(knob::raster), "heads_fastest");
}

TEST(Sweep, KnobAppliesToTheAlgorithmsThatHaveIt) {
  const auto request = [](std::vector<std::string> algorithms) {
    return request_of({"splits=[2,4]", "n_q=1", "n_k=4096", "d=128"}, std::move(algorithms));
  };
  const std::vector<PointSpec> both = points_of(request({"splitkv", "fa2"}));
  ASSERT_EQ(both.size(), 3U);
  EXPECT_EQ(std::ranges::count(both, "fa2", &PointSpec::algorithm), 1) << "once, without the knob";
  for (const PointSpec& point : both)
    EXPECT_EQ(point.knobs.find(knob::splits) != nullptr, point.algorithm == "splitkv") << point.algorithm;
  EXPECT_THAT(plan_error(request({"fa2"})), HasWords("fa2 knob splits"));
}

TEST(MakePlan, EveryAxisReachesItsField) {
  const auto points =
      points_of(request_of({"pass=[bwd,fwd+bwd]", "mask=[window:64:3+lengths:ramp,blocks:64:butterfly]",
                            "dropout=[0.1,0.25]", "page=[32,64]", "deterministic=[yes,no]", "splits=[4,5]",
                            "warps=[8,9]", "stages=[2,3]", "tile=[32x48,16x16]", "batch=2"},
                           {"fa2"}));
  ASSERT_EQ(points.size(), 512U);
  const PointSpec expected{.algorithm = "fa2",
                           .problem = {.pass = Pass::bwd,
                                       .mask = *parse_mask("window:64:3+lengths:ramp"),
                                       .batch = 2,
                                       .heads_q = 16,
                                       .heads_kv = 16,
                                       .n_q = 1024,
                                       .n_k = 1024,
                                       .d = 64,
                                       .dropout = 0.1,
                                       .page = 32,
                                       .deterministic = true},
                           .tile = {.br = 32, .bc = 48},
                           .knobs = {{knob::splits, 4}, {knob::warps, 8}, {knob::stages, 2}},
                           .cache = CacheState::cold};
  EXPECT_EQ(points.front(), expected);
  EXPECT_EQ(points.back().problem.pass, Pass::fwd_bwd);
  EXPECT_FALSE(points.back().problem.deterministic);
  EXPECT_EQ(points.back().knobs.number(knob::stages), 3);
}

// Line format of version 0.1, from which plan hashes of its runs were computed.
TEST(PlanHash, CanonicalTextIsThatOfVersion01) {
  PointSpec spec{.algorithm = "fa2", .problem = {.heads_q = 16, .heads_kv = 4, .n_q = 1024, .n_k = 2048, .d = 128}};
  spec.tile = {.br = 128, .bc = 64};
  EXPECT_EQ(canonical_text(spec), "fa2 fp16 fwd none 1 16 4 1024 2048 128 128 64 q_fastest cold");
  spec.problem.dropout = 0.1;
  spec.problem.page = 64;
  spec.problem.deterministic = true;
  spec.knobs = {{knob::raster, "heads_fastest"}, {knob::splits, 4}, {knob::warps, 8}, {knob::stages, 2}};
  spec.cache = CacheState::warm;
  EXPECT_EQ(
      canonical_text(spec),
      "fa2 fp16 fwd none 1 16 4 1024 2048 128 128 64 heads_fastest warm dropout 0.1 page 64 deterministic splits 4 "
      "warps 8 stages 2");
  const SweepPlan plan{.preset = "custom", .description = {}, .points = {spec}};
  EXPECT_NE(plan_hash(plan, "counters true verify true "), plan_hash(plan, "counters false verify true "));
}

// Frozen: --resume finds an unfinished run by its plan hash. A changed preset has a new hash, so old runs cannot be
// resumed; this test makes that visible.
TEST(PlanHash, PresetHashesAreFrozen) {
  struct Known {
    std::string_view preset;
    std::string_view h200;
    std::string_view a100;
  };
  constexpr auto known = std::to_array<Known>({
      {"quick", "a8e085169f6b16ef", "fab7bbbf347ec778"},
      {"memory-wall", "4117d8c5ecf1e198", "2a3f0aab3496da5b"},
      {"tiles", "d530498bcd8b1e4b", "422cacab2baf2aa7"},
      {"paper", "068f1093c9937ec6", "6e25daf71f8e3c0a"},
      {"backward", "ef92cb77be38dae9", "67bdbb6c734d93ff"},
      {"masks", "0a45cc4bbf774a0e", "cb3acfd7ff23daac"},
      {"decode", "ca680d967ebfdb0a", "a573b5de766cb535"},
      {"law", "f2e9a18ea32732f8", "f2e9a18ea32732f8"},
  });
  ASSERT_EQ(known.size() + 2, presets().size()) << "linear and gpus are newer than the recorded runs";
  for (const Known& one : known) {
    const SweepRequest request{.preset = std::string(one.preset), .axes = {}, .algorithms = {}};
    for (const auto& [gpu, hash] : {std::pair("h200", one.h200), std::pair("a100", one.a100)}) {
      const auto plan = make_plan(request, *find_gpu(gpu), built_in_algorithms());
      ASSERT_TRUE(plan.ok()) << one.preset;
      EXPECT_EQ(plan_hash(*plan, ""), hash) << one.preset << ' ' << gpu;
    }
  }
}

TEST(MakePlan, AutoTileIsTheDefault) {
  const auto automatic = points_of(request_of({"tile=auto", "N=2048"}, {"fa2"}));
  EXPECT_EQ(automatic, points_of(request_of({"N=2048"}, {"fa2"})));
  const auto both = points_of(request_of({"tile=[auto,16x16]"}, {"fa2"}));
  ASSERT_EQ(both.size(), 2U);
  EXPECT_EQ(both[1].tile.br, 16);
  for (const PointSpec& point : points_of(request_of({"tile=auto"}, {"fa1"}, "tiles"))) {
    EXPECT_EQ(point.tile, auto_config(*built_in_algorithms().find("fa1"), point.problem, h200()))
        << "replaces the preset's tile axes";
  }
}

TEST(MakePlan, UnsupportedValuesArePointsUnlessNoAlgorithmSupportsThem) {
  EXPECT_THAT(plan_error(request_of({"splits=4"}, {"fa1"})), HasWords("fa1 splits"));
  EXPECT_THAT(plan_error(request_of({"page=64"}, {"fa1"})), HasWords("fa1 " + text(msg::feature::paged_kv{})));
  const auto listed = points_of(request_of({"splits=[0,4]"}, {"fa1"}));
  ASSERT_EQ(listed.size(), 2U);
  EXPECT_FALSE(built_in_algorithms().find("fa1")->refusal(listed[0].problem, listed[0].tile, h200()).has_value());
  EXPECT_TRUE(built_in_algorithms().find("fa1")->refusal(listed[1].problem, listed[1].config(), h200()).has_value());
  EXPECT_EQ(listed[1].tile.br, listed[0].tile.br) << "no smaller tile helps";
}

TEST(MakePlan, UnnamedAlgorithmsAreDroppedIfUnsupported) {
  EXPECT_THAT(names_in(points_of(request_of({}, {}, "quick"))), ElementsAre("fa1", "fa2", "fa3", "naive"));
  // If named in the request or on an axis, its points stay and end as infeasible.
  const auto named = points_of(request_of({}, {"splitkv"}, "quick"));
  EXPECT_EQ(named.size(), 10U) << "two d, five N, not in the tile grid";
  EXPECT_THAT(names_in(named), ElementsAre("splitkv"));
  EXPECT_TRUE(std::ranges::all_of(named, refused));
  EXPECT_EQ(points_of(request_of({"algorithm=splitkv"}, {}, "quick")), named);
  const auto beside = points_of(request_of({}, {"fa2", "splitkv"}, "quick"));
  EXPECT_EQ(std::ranges::count(beside, "splitkv", &PointSpec::algorithm), std::ssize(named));
  // One supported shape keeps all points of the algorithm; gaps in its curve remain visible.
  std::map<std::int64_t, bool> infeasible;
  for (const PointSpec& point : points_of(request_of({"n_q=[1,2048]", "n_k=4096"}))) {
    if (point.algorithm == "splitkv") infeasible[point.problem.n_q] = refused(point);
  }
  EXPECT_EQ(infeasible, (std::map<std::int64_t, bool>{{1, false}, {2048, true}}));
  // Too little device memory is not an unsupported shape.
  const auto large = points_of(request_of({"br=256", "bc=256", "d=256"}));
  EXPECT_EQ(std::ranges::count(large, "fa2", &PointSpec::algorithm), 1);
  EXPECT_TRUE(std::ranges::all_of(large, [](const PointSpec& p) { return p.algorithm != "fa2" || refused(p); }));
  // Algorithms for other GPUs are dropped, too; if named, every point is infeasible.
  const auto on_ampere = [](const SweepRequest& request) {
    return make_plan(request, *find_gpu("a100"), built_in_algorithms()).value().points;
  };
  EXPECT_THAT(names_in(on_ampere(request_of({}, {}, "quick"))), ElementsAre("fa1", "fa2", "naive"));
  for (const PointSpec& point : on_ampere(request_of({"N=[512,1024]"}, {"fa3"}))) {
    const auto refusal = built_in_algorithms().find("fa3")->refusal(point.problem, point.config(), *find_gpu("a100"));
    ASSERT_TRUE(refusal) << describe(point);
    EXPECT_EQ(refusal->cause, Refusal::Cause::architecture) << refusal->reason;
  }
  // If no algorithm supports the shape, all points stay infeasible.
  const auto nobody = points_of(request_of({"d=[72,88]"}));
  EXPECT_EQ(nobody.size(), 2 * built_in_algorithms().algorithms().size());
  EXPECT_TRUE(std::ranges::all_of(nobody, refused));
}

TEST(MakePlan, CacheStateAppliesToEveryPoint) {
  SweepRequest request = request_of({"N=[256,512]"});
  request.cache = CacheState::warm;
  for (const PointSpec& point : points_of(request)) EXPECT_EQ(point.cache, CacheState::warm);
}

TEST(MakePlan, AnUnsetTileSideShrinksToFit) {
  const auto points = points_of(request_of({"bc=256", "d=256"}, {"fa2"}));
  ASSERT_EQ(points.size(), 1U);
  EXPECT_EQ(points[0].tile.bc, 256);
  const auto wide = points_of(request_of({"bc=128", "d=256"}, {"fa2"}));
  ASSERT_EQ(wide.size(), 1U);
  EXPECT_EQ(wide[0].tile.bc, 128);
  EXPECT_FALSE(built_in_algorithms().find("fa2")->refusal(wide[0].problem, wide[0].tile, h200()).has_value());
}

TEST(MakePlan, AnUnsetTileSideIsKeptIfNoneFits) {
  // 256 rows of O with d 256 fill all registers.
  const auto points = points_of(request_of({"br=256", "d=256"}, {"fa2"}));
  ASSERT_EQ(points.size(), 1U);
  EXPECT_TRUE(refused(points[0]));
  EXPECT_EQ(points[0].tile.br, 256);
  EXPECT_EQ(points[0].tile.bc, 64) << "the side of the default tile, 64x64";
}

TEST(RoundOrder, TwoPointsChangePlaces) {
  std::set<std::vector<std::size_t>> orders;
  for (int round = 0; round < 40; ++round) orders.insert(round_order(2, round, {.count = 40, .seed = 7}));
  EXPECT_EQ(orders, (std::set<std::vector<std::size_t>>{{0, 1}, {1, 0}}));
}

TEST(MakePlan, UnsupportedSingleValuesAreErrors) {
  EXPECT_THAT(plan_error(request_of({"d=72"})), HasWords("d 72 64"));
  EXPECT_THAT(plan_error(request_of({"br=24"}, {"fa2"})), HasSubstr("24"));
  EXPECT_THAT(plan_error(request_of({"bc=24"}, {"fa1"}, "tiles")), HasSubstr("24"));
}

TEST(MakePlan, UnsupportedValuesInAListAreInfeasiblePoints) {
  EXPECT_EQ(points_of(request_of({"br=[24,64]", "bc=64"}, {"fa2"})).size(), 2U);
  EXPECT_EQ(points_of(request_of({"d=[64,72]"}, {"fa2"})).size(), 2U);
}

TEST(MakePlan, ATileTooLargeForThisDeviceIsAPoint) {
  const auto points = points_of(request_of({"br=256", "bc=256", "d=256"}, {"fa2"}));
  ASSERT_EQ(points.size(), 1U);
  EXPECT_TRUE(built_in_algorithms().find("fa2")->refusal(points[0].problem, points[0].tile, h200()).has_value());
}

TEST(MakePlan, InvalidProblemsAreErrors) {
  EXPECT_THAT(plan_error(request_of({"heads_q=12", "heads_kv=8"})), HasWords("heads_q 12 heads_kv 8"));
  EXPECT_THAT(plan_error(request_of({"mask=[full,lengths:512/2048]", "batch=2"})), HasWords("2048 n_k 1024"));
  EXPECT_THAT(plan_error(request_of({"mask=lengths:512/300"})), HasWords("2 1"));
  EXPECT_THAT(plan_error(request_of({"tile=64x64", "bc=32"})), HasWords("tile br bc"));
  EXPECT_THAT(plan_error(request_of({}, {"fa9"})), HasWords("fa9"));
  EXPECT_THAT(plan_error(request_of({}, {}, "qiuck")), HasWords("qiuck quick"));
  EXPECT_THAT(plan_error(request_of({}, {}, "everything")),
              HasWords("everything quick memory-wall tiles paper backward masks decode law"));
  EXPECT_THAT(plan_error(request_of({"N=[1:4000]", "d=[1:4000]"})), HasWords("100000"));
}

TEST(Presets, HaveNamesAndDescriptions) {
  std::vector<std::string_view> names;
  for (const Preset& preset : presets()) {
    names.push_back(preset.name);
    EXPECT_FALSE(preset.description.empty());
    const auto plan = make_plan(request_of({}, {}, std::string(preset.name)), h200(), built_in_algorithms());
    ASSERT_TRUE(plan.ok()) << preset.name << ": " << plan.error();
    EXPECT_EQ(plan->preset, preset.name);
    EXPECT_EQ(plan->description, preset.description);
  }
  EXPECT_THAT(names, ElementsAre("quick", "memory-wall", "tiles", "paper", "backward", "masks", "decode", "law",
                                 "linear", "gpus"));
}

TEST(Presets, MemoryWallExceedsH200Memory) {
  const auto points = points_of(request_of({}, {}, "memory-wall"));
  std::set<std::int64_t> lengths;
  std::set<std::int64_t> dims;
  bool beyond = false;
  for (const PointSpec& point : points) {
    lengths.insert(point.problem.n_q);
    dims.insert(point.problem.d);
    EXPECT_GE(point.problem.instances(), 132);
    beyond = beyond || required_memory_bytes(point, h200(), built_in_algorithms()) > h200().dram_bytes;
  }
  EXPECT_THAT(lengths, ElementsAre(256, 512, 1024, 2048, 4096, 8192, 16384));
  EXPECT_THAT(dims, ElementsAre(64, 128));
  EXPECT_TRUE(beyond);
}

TEST(Presets, PaperPresetIsFigure2) {
  AttentionProblem problem{.batch = 64, .heads_q = 16, .heads_kv = 16, .n_q = 1024, .n_k = 1024, .d = 64};
  std::set<int> forward_bc;
  std::vector<std::string> both;
  for (const PointSpec& point : points_of(request_of({}, {}, "paper"))) {
    problem.pass = point.problem.pass;
    EXPECT_EQ(point.problem, problem);
    if (point.problem.pass == Pass::fwd_bwd) both.push_back(point.algorithm);
    if (point.problem.pass != Pass::fwd) continue;
    EXPECT_EQ(point.algorithm, "fa1");
    forward_bc.insert(point.tile.bc);
    EXPECT_FALSE(
        built_in_algorithms().find(point.algorithm)->refusal(point.problem, point.config(), h200()).has_value())
        << describe(point);
  }
  EXPECT_THAT(both, ElementsAre("naive", "fa1", "fa2", "fa3"));
  EXPECT_THAT(forward_bc, ElementsAre(64, 128, 256, 512));
}

TEST(Presets, AxesAndAlgorithmsOverrideThePreset) {
  for (const PointSpec& point : points_of(request_of({"N=512"}, {"fa2"}, "memory-wall"))) {
    EXPECT_EQ(point.algorithm, "fa2");
    EXPECT_EQ(point.problem.n_q, 512);
  }
  const auto tiles = points_of(request_of({"N=512"}, {"naive", "fa2"}, "quick"));
  EXPECT_EQ(std::ranges::count(tiles, "naive", &PointSpec::algorithm), 2);
}

TEST(Presets, LawVariesNDAndM) {
  std::map<std::string, std::array<std::set<std::int64_t>, 3>> varied;
  for (const PointSpec& point : points_of(request_of({}, {}, "law"))) {
    const TileSide side = built_in_algorithms().find(point.algorithm)->facts().traffic_side(Pass::fwd);
    const auto m = memory_of_tile(point.tile, point.problem.d, side);
    ASSERT_TRUE(m.has_value()) << describe(point);
    auto& [lengths, dims, memories] = varied[point.algorithm];
    lengths.insert(point.problem.n_k);
    dims.insert(point.problem.d);
    memories.insert(*m);
  }
  for (const Algorithm* algorithm : built_in_algorithms().algorithms()) {
    EXPECT_EQ(varied.contains(algorithm->name()), algorithm->facts().in_group(Group::law)) << algorithm->name();
  }
  for (const auto& [name, axes] : varied) {
    EXPECT_THAT(axes[0], ElementsAre(3072, 6144, 12288)) << name;
    EXPECT_THAT(axes[1], ElementsAre(32, 64, 128)) << name;
    EXPECT_THAT(axes[2], ElementsAre(8192, 16384, 32768, 65536, 114688)) << name;
  }
}

// Compares with O(N²) algorithms on the same problems, and covers its own law over N, d and M.
TEST(Presets, LinearHasCurvesAndLaw) {
  std::map<std::string, std::set<std::string>> problems;
  std::set<std::int64_t> memories;
  for (const PointSpec& point : points_of(request_of({}, {}, "linear"))) {
    if (point.problem.heads_q == 32) {
      problems[point.algorithm].insert(describe(point.problem));
      continue;
    }
    const Facts& facts = built_in_algorithms().find(point.algorithm)->facts();
    EXPECT_EQ(point.algorithm, "linattn");
    memories.insert(memory_of_tile(point.tile, point.problem.d, facts.traffic_side(Pass::fwd)).value());
    EXPECT_FALSE(refused(point)) << describe(point);
  }
  EXPECT_THAT(memories, ElementsAre(65536, 90112, 114688));
  ASSERT_EQ(problems.size(), 3U);
  EXPECT_EQ(problems["linattn"].size(), 24U);
  EXPECT_EQ(problems["naive"], problems["linattn"]);
  EXPECT_EQ(problems["fa2"], problems["linattn"]);
}

TEST(Presets, PointsAreUnique) {
  for (const Preset& preset : presets()) {
    std::set<std::string> seen;
    for (const PointSpec& point : points_of(request_of({}, {}, std::string(preset.name)))) {
      EXPECT_TRUE(seen.insert(describe(point)).second) << describe(point);
    }
  }
}

TEST(Describe, DiffersForEveryField) {
  const PointSpec plain{.algorithm = "fa2", .problem = {}, .tile = {.br = 64, .bc = 64}};
  for (const Field& field : point_fields()) {
    PointSpec other = plain;
    for (const char* text : {"96", "64", "0.25", "yes", "bf16", "bwd", "causal", "warm", "fa1", "zigzag"}) {
      if (field_text(field, other) == field_text(field, plain)) static_cast<void>(set_field(field, other, text));
    }
    ASSERT_NE(field_text(field, other), field_text(field, plain)) << field.name;
    EXPECT_NE(describe(other), describe(plain)) << field.name;
  }
  PointSpec finely = plain;
  finely.problem.dropout = 0.1234567;
  PointSpec more_finely = plain;
  more_finely.problem.dropout = 0.1234568;
  EXPECT_NE(describe(finely), describe(more_finely));
}

TEST(Describe, FormatIsStable) {
  PointSpec spec{.algorithm = "fa2",
                 .problem = {.dtype = DType::bf16,
                             .pass = Pass::bwd,
                             .mask = Mask::causal,
                             .batch = 2,
                             .heads_q = 8,
                             .heads_kv = 2,
                             .n_q = 512,
                             .n_k = 1024,
                             .d = 128,
                             .dropout = 0.1,
                             .page = 64,
                             .deterministic = true},
                 .tile = {.br = 64, .bc = 128},
                 .knobs = {{knob::splits, 4}, {knob::raster, std::string(knob::heads_fastest)}},
                 .cache = CacheState::warm};
  EXPECT_EQ(describe(spec),
            "fa2 bf16 bwd causal batch 2 heads 8/2 N 512x1024 d 128 dropout 0.1 page 64 deterministic tile 64x128 "
            "heads_fastest splits 4 warm");
}

TEST(MemoryNeed, CountsEveryBuffer) {
  PointSpec spec{.algorithm = "naive",
                 .problem = {.heads_q = 132, .heads_kv = 132, .n_q = 16384, .n_k = 16384, .d = 64},
                 .tile = {.br = 64, .bc = 64}};
  const std::int64_t matrix = std::int64_t{132} * 16384 * 16384 * 2;  // 66 GiB; S and P have this size
  const std::int64_t rows = std::int64_t{132} * 16384 * 64 * 2;
  EXPECT_EQ(required_memory_bytes(spec, h200(), built_in_algorithms()), 2 * matrix + 4 * rows);
  spec.tile.br = 24;
  EXPECT_EQ(required_memory_bytes(spec, h200(), built_in_algorithms()), 0);
  spec.algorithm = "fa9";
  EXPECT_EQ(required_memory_bytes(spec, h200(), built_in_algorithms()), 0);
}

// A dry run evaluates every point, up to 100,000.
TEST(MemoryNeed, NeedsNoTileProgram) {
  AttentionProblem p{.pass = Pass::fwd, .batch = 2, .heads_q = 4, .heads_kv = 4, .n_q = 100, .n_k = 300, .d = 64};
  for (const Algorithm* algorithm : built_in_algorithms().algorithms()) {
    if (algorithm->facts().for_decoding) p.n_q = 1;
    for (const Pass pass : {Pass::fwd, Pass::bwd, Pass::fwd_bwd}) {
      p.pass = pass;
      const Config config = algorithm->default_config(p, h200());
      if (algorithm->refusal(p, config, h200())) continue;
      const PointSpec spec{.algorithm = algorithm->name(), .problem = p, .tile = config.tile, .knobs = config.knobs};
      EXPECT_EQ(required_memory_bytes(spec, h200(), built_in_algorithms()),
                algorithm->plan(p, config, h200()).buffer_bytes())
          << describe(spec);
    }
  }
}

}  // namespace
}  // namespace attnscope
