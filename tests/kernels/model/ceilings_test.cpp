// SPDX-License-Identifier: Apache-2.0
#include "kernels/model/ceilings.h"

#include <gtest/gtest.h>

#include <cmath>

#include <algorithm>
#include <map>
#include <set>
#include <string>

namespace attnscope {
namespace {

std::map<std::string, double> datasheet(const char* gpu) {
  std::map<std::string, double> values;
  for (const Ceiling& ceiling : datasheet_ceilings(*find_gpu(gpu))) {
    EXPECT_EQ(ceiling.source, CeilingSource::datasheet);
    EXPECT_FALSE(ceiling.q1 || ceiling.q3);
    values[ceiling.name] = ceiling.value;
  }
  return values;
}

TEST(Ceilings, EachHasAKeyOfItsOwnALabelAndAUnit) {
  std::set<std::string_view> keys;
  for (const CeilingKind& kind : ceiling_kinds()) {
    EXPECT_TRUE(keys.insert(kind.key).second) << kind.key;
    EXPECT_FALSE(kind.label().empty()) << kind.key;
    EXPECT_FALSE(kind.unit.empty()) << kind.key;
    EXPECT_EQ(find_ceiling(kind.key), &kind);
  }
  EXPECT_EQ(find_ceiling("no_such"), nullptr);
}

// NVIDIA's datasheets: fp32 in TFLOP/s (67, 19.5, 82.6), DRAM in TB/s, dense fp16 in TFLOP/s.
TEST(Ceilings, DatasheetsFiguresAreThePublishedOnes) {
  const auto h200 = datasheet("H200");
  EXPECT_NEAR(h200.at("fma_fp32"), 67e12, 0.2e12);
  EXPECT_NEAR(h200.at("dram_copy"), 4.8e12, 1e9);
  EXPECT_NEAR(h200.at("wgmma_fp16"), 989.4e12, 1e9);
  EXPECT_EQ(h200.at("l2_private_capacity"), 60.0 * 1024 * 1024);
  EXPECT_FALSE(h200.contains("mma_fp16")) << "the peak is wgmma's";
  EXPECT_FALSE(h200.contains("l2_read")) << "no datasheet has it";
  EXPECT_FALSE(h200.contains("latency_dram"));
  const auto a100 = datasheet("A100");
  EXPECT_NEAR(a100.at("fma_fp32"), 19.5e12, 0.1e12);
  EXPECT_NEAR(a100.at("mma_bf16"), 312e12, 1e9);
  EXPECT_FALSE(a100.contains("wgmma_fp16"));
  EXPECT_FALSE(datasheet("B200").contains("mma_fp16")) << "another instruction's, too";
  EXPECT_NEAR(datasheet("RTX 4090").at("fma_fp32"), 82.6e12, 0.2e12);
}

TEST(Ceilings, ADeviceWhoseClockIsNotKnownHasNoFiguresThatStandOnIt) {
  DeviceLimits limits = *find_gpu("H200");
  limits.boost_hz = 0;
  for (const Ceiling& ceiling : datasheet_ceilings(limits)) {
    EXPECT_NE(ceiling.name, "fma_fp32");
    EXPECT_GT(ceiling.value, 0) << ceiling.name;
  }
}

TEST(Ceilings, LinesAreInTheTablesOrderWithClocksBesideTheirLoadsAndCurvesLast) {
  const auto ceiling = [](const char* name, double value, double argument = 0) {
    Ceiling made;
    made.name = name;
    made.value = value;
    made.argument = argument;
    return made;
  };
  std::vector<Ceiling> ceilings{ceiling("l2_private_miss", 0.5, 64), ceiling("latency_dram", 600),
                                ceiling("dram_copy_clock", 1.9e9),   ceiling("l2_private_miss", 0.1, 16),
                                ceiling("dram_copy", 4e12),          ceiling("of_a_later_program", 1)};
  ceilings[4].q1 = 3.9e12;
  ceilings[4].q3 = 4.1e12;
  const std::vector<CeilingLine> lines = ceiling_lines(ceilings);
  ASSERT_EQ(lines.size(), 4U);
  EXPECT_EQ(lines[0].ceiling, ceilings[4]);
  EXPECT_EQ(lines[0].kind, find_ceiling("dram_copy"));
  EXPECT_EQ(lines[0].clock_hz, 1.9e9);
  EXPECT_NEAR(relative_spread(lines[0].ceiling).value(), 0.025, 1e-12);
  EXPECT_EQ(lines[1].ceiling, ceilings[1]);
  EXPECT_FALSE(lines[1].clock_hz);
  EXPECT_FALSE(relative_spread(lines[1].ceiling)) << "not sampled";
  EXPECT_EQ(lines[2].ceiling.argument, 16);
  EXPECT_EQ(lines[3].ceiling.argument, 64);
}

TEST(Ceilings, HalfMissedLiesBetweenTheSizesBesideIt) {
  const auto curve = [](std::vector<std::pair<double, double>> points) {
    std::vector<Ceiling> ceilings;
    for (const auto& [bytes, share] : points) {
      ceilings.push_back({.name = "l2_shared_miss", .argument = bytes, .value = share, .unit = "1"});
    }
    return ceilings;
  };
  const auto half = half_missed(curve({{64, 1.0}, {16, 0.25}, {4, 0.0}, {32, 1.0}}));
  ASSERT_TRUE(half);
  EXPECT_NEAR(*half, 16 * std::cbrt(2), 1e-9) << "a third of the way from 16 to 32, as sizes grow";
  EXPECT_EQ(half_missed(curve({{4, 0.1}, {8, 0.5}, {16, 0.9}})), 8) << "just there";
  EXPECT_FALSE(half_missed(curve({{4, 0.1}, {8, 0.4}}))) << "never";
  EXPECT_FALSE(half_missed(curve({{4, 0.6}, {8, 0.9}}))) << "from the beginning";
  EXPECT_FALSE(half_missed({}));
}

}  // namespace
}  // namespace attnscope
