// SPDX-License-Identifier: Apache-2.0
// What the recorded trial of N^2 d^2 / M says: 44 points of FA1 and 42 of FA2, counted on an H200.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "profiler/curves/law_exponents.h"
#include "storage/run_store.h"

namespace attnscope {
namespace {

using analysis::LawFamily;
using analysis::LawLevel;

class LawSample : public ::testing::Test {
 protected:
  void SetUp() override {
    const RunStore store = RunStore::open(ATTNSCOPE_LAW_SAMPLE, RunStore::Mode::read_only);
    const std::vector<RunSummary> runs = store.runs();
    ASSERT_EQ(runs.size(), 1U);
    analysis::PointTableBuilder builder;
    builder.add_run({.device_id = runs[0].device_uuid,
                     .device_name = runs[0].device_name,
                     .title = runs[0].preset,
                     .label = {},
                     .started_at = runs[0].started_at,
                     .provenance = runs[0].provenance,
                     .limits = runs[0].limits});
    for (const StoredPoint& point : store.points()) builder.add(0, point.record);
    table = std::move(builder).finish();
    report = analysis::fit_law_exponents(table, table.rows());
    ASSERT_EQ(report.families.size(), 4U);
  }
  [[nodiscard]] const LawFamily& family(const std::string& algorithm, LawLevel level) const {
    return *std::ranges::find_if(
        report.families, [&](const LawFamily& each) { return each.algorithm == algorithm && each.level == level; });
  }

  analysis::PointTable table;
  analysis::LawReport report;
};

TEST_F(LawSample, BytesBetweenSmAndL2AreTheClosedFormsAtEveryPoint) {
  for (const char* algorithm : {"fa1", "fa2"}) {
    const LawFamily& counted = family(algorithm, LawLevel::sm_l2);
    ASSERT_FALSE(counted.refusal.has_value()) << text(refusal_words(counted));
    EXPECT_EQ(counted.provenance, Provenance::derived);
    for (const analysis::LawPoint& point : counted.points) {
      EXPECT_NEAR(point.bytes / *point.model_bytes, 1, 1e-3) << describe(table.spec(point.row));
    }
    for (std::size_t k = 0; k < law_variables; ++k) {
      EXPECT_NEAR(counted.fit->exponents[k], counted.closed_form->exponents[k], 1e-3) << algorithm;
    }
  }
}

TEST_F(LawSample, SettledDramBytesOfFa1FollowTheLawToo) {
  const LawFamily& counted = family("fa1", LawLevel::dram);
  ASSERT_FALSE(counted.refusal.has_value()) << text(refusal_words(counted));
  EXPECT_EQ(counted.points.size(), 44U);
  EXPECT_EQ(counted.cached, 0U);
  for (std::size_t k = 0; k < law_variables; ++k) {
    EXPECT_TRUE(counted.fit->intervals[k].contains(counted.closed_form->exponents[k])) << k;
    EXPECT_NEAR(counted.fit->exponents[k], counted.law.exponents[k], 0.05);
  }
  // Bytes over a factor of 1,800 fall onto one band.
  EXPECT_GT(counted.bytes_range, 1500);
  EXPECT_LT(counted.band.high / counted.band.low, 1.2);
}

TEST_F(LawSample, DramSeesNoLawOfMWhereTheL2ServesWhatFa2ReadsAgain) {
  const LawFamily& counted = family("fa2", LawLevel::dram);
  EXPECT_FALSE(counted.cycles);
  ASSERT_FALSE(counted.refusal.has_value()) << text(refusal_words(counted));
  EXPECT_NEAR(counted.fit->exponents[0], 1, 0.03);
  EXPECT_NEAR(counted.fit->exponents[1], 1, 0.03);
  EXPECT_NEAR(counted.fit->exponents[2], 0, 0.01);
}

}  // namespace
}  // namespace attnscope
