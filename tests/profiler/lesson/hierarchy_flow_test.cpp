// SPDX-License-Identifier: Apache-2.0
#include "profiler/lesson/hierarchy_flow.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <vector>

#include "kernels/registry.h"
#include "profiler/lesson/web.h"
#include "tests/profiler/points/fixtures.h"

namespace attnscope::analysis::lesson {
namespace {

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
