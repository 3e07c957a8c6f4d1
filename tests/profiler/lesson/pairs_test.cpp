// SPDX-License-Identifier: Apache-2.0
#include "profiler/lesson/pairs.h"

#include <gtest/gtest.h>

#include <cmath>

#include "kernels/model/attention.h"
#include "profiler/metrics/metrics.h"
#include "tests/profiler/points/fixtures.h"

namespace attnscope::analysis::lesson {
namespace {

PointRecord timed(const PointSpec& spec, double ns) {
  PointRecord record = fixtures::ok_point(spec);
  for (KernelRecord& kernel : record.kernels) {
    kernel.samples_ns.assign(3, ns);
    std::erase_if(kernel.metrics, [](const MetricValue& m) { return m.name == metric_key::time_median_ns; });
  }
  return record;
}

TEST(Pairs, NTwiceAsLargeWithTheSameTile) {
  const PointTable table =
      fixtures::Points({fixtures::ok_point(fixtures::spec("fa2", 8192)),
                        fixtures::ok_point(fixtures::spec("fa2", 16384)),
                        fixtures::ok_point(fixtures::spec("fa2", 32768, 64)),
                        fixtures::failed_point(fixtures::spec("fa2", 512), Disposition::infeasible, "no")})
          .table();
  const auto pairs = doubled_pairs(table, table.rows(), Doubled::n, metric_key::l2_sm_bytes);
  ASSERT_EQ(pairs.size(), 1U);
  EXPECT_EQ(pairs[0].from, 0U);
  EXPECT_EQ(pairs[0].to, 1U);
  EXPECT_NEAR(pairs[0].ratio(), 4, 0.1);
  ASSERT_TRUE(pairs[0].model_ratio);
  EXPECT_NEAR(*pairs[0].model_ratio, pairs[0].ratio(), 1e-6);
}

TEST(Pairs, TheTellingPairIsTheLongestOfWhichTheTheoremSpeaks) {
  // M = 4 d Bc: Bc 512 is within N d from N 2048 on.
  const PointTable table =
      fixtures::Points(
          {fixtures::ok_point(fixtures::spec("fa1", 256, 32, 512)),
           fixtures::ok_point(fixtures::spec("fa1", 512, 32, 512)),
           fixtures::ok_point(fixtures::spec("fa1", 2048, 32, 512)),
           fixtures::ok_point(fixtures::spec("fa1", 4096, 32, 512)),
           fixtures::ok_point(fixtures::spec("fa1", 8192, 32, 512)),
           fixtures::ok_point(fixtures::spec("fa2", 256, 128)), fixtures::ok_point(fixtures::spec("fa2", 512, 128)),
           fixtures::ok_point(fixtures::spec("naive", 512)), fixtures::ok_point(fixtures::spec("naive", 1024))})
          .table();
  EXPECT_FALSE(within_theorem(table, 1));
  EXPECT_TRUE(within_theorem(table, 2));
  const auto pairs = doubled_pairs(table, table.rows(), Doubled::n, metric_key::l2_sm_bytes);
  ASSERT_EQ(pairs.size(), 5U);
  const auto telling = telling_pairs(table, pairs);
  ASSERT_EQ(telling.size(), 3U);
  EXPECT_EQ(telling[0].from, 3U);  // 4096 to 8192
  EXPECT_NEAR(telling[0].ratio(), 4, 0.15);
  EXPECT_EQ(telling[1].from, 5U);  // none is within: the longest there is
  EXPECT_FALSE(within_theorem(table, telling[1].from));
  EXPECT_EQ(telling[2].from, 7U);  // S in memory: of N^2 whatever the tile
  EXPECT_TRUE(within_theorem(table, telling[2].from));
}

TEST(Pairs, BcTwiceAsLargeChangesTheLoopThatDividesByIt) {
  const PointTable table = fixtures::Points({fixtures::ok_point(fixtures::spec("fa1", 4096, 64, 64)),
                                             fixtures::ok_point(fixtures::spec("fa1", 4096, 64, 128)),
                                             fixtures::ok_point(fixtures::spec("fa2", 4096, 64, 64)),
                                             fixtures::ok_point(fixtures::spec("fa2", 4096, 64, 128))})
                               .table();
  const auto pairs = doubled_pairs(table, table.rows(), Doubled::bc, metric_key::l2_sm_bytes);
  ASSERT_EQ(pairs.size(), 2U);
  EXPECT_NEAR(pairs[0].ratio(), 0.5, 0.05);
  EXPECT_NEAR(pairs[1].ratio(), 1, 0.01);
}

TEST(Pairs, MIsTheRulesAndWithItNAndDStay) {
  // fa1 is divided by Bc, fa2 by Br: Bc 128 at d 64 is M 4 x 64 x 128.
  const PointTable table = fixtures::Points({fixtures::ok_point(fixtures::spec("fa1", 4096, 64, 128, 64)),
                                             fixtures::ok_point(fixtures::spec("fa1", 4096, 64, 256, 64)),
                                             fixtures::ok_point(fixtures::spec("fa1", 4096, 32, 256, 64))})
                               .table();
  const auto pairs = doubled_pairs(table, table.rows(), Doubled::m, metric_key::l2_sm_bytes);
  ASSERT_EQ(pairs.size(), 1U);
  EXPECT_NEAR(pairs[0].ratio(), 0.5, 0.05);
}

TEST(Pairs, CrossoverLiesBetweenTwoMeasuredPoints) {
  std::vector<PointRecord> records;
  for (const auto& [n, slow, fast] :
       {std::tuple{512, 100.0, 200.0}, {1024, 400.0, 400.0 * 2}, {2048, 1600.0, 800.0}, {4096, 6400.0, 1600.0}}) {
    records.push_back(timed(fixtures::spec("naive", n), slow));
    records.push_back(timed(fixtures::spec("fa2", n), fast));
  }
  const PointTable table = fixtures::Points(records).table();
  const auto found = crossovers(table, table.rows(), "naive", "fa2");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].pairs.size(), 4U);
  ASSERT_TRUE(found[0].n);
  // Ratio 2 at 1024, 1/2 at 2048: half way in the logarithms.
  EXPECT_NEAR(*found[0].n, 1024 * std::sqrt(2.0), 1e-6);
  EXPECT_FALSE(found[0].from_the_first);
  EXPECT_FALSE(found[0].never);
  const auto other = crossovers(table, table.rows(), "fa2", "fa2");
  ASSERT_EQ(other.size(), 1U);
  EXPECT_TRUE(other[0].never);

  // Without counters times are as good; who is slower again at the longest N is ahead from none on.
  records.push_back(timed(fixtures::spec("naive", 8192), 100.0));
  records.push_back(timed(fixtures::spec("fa2", 8192), 130.0));
  for (PointRecord& record : records) record.disposition = Disposition::no_counters;
  const PointTable slower = fixtures::Points(records).table();
  const auto at_last = crossovers(slower, slower.rows(), "naive", "fa2");
  ASSERT_EQ(at_last.size(), 1U);
  EXPECT_TRUE(at_last[0].never);
  EXPECT_FALSE(at_last[0].n);
}

TEST(Pairs, PassesAndScores) {
  PointSpec forward = fixtures::spec("fa2", 1024);
  PointSpec backward = forward;
  backward.problem.pass = Pass::bwd;
  const PointTable table = fixtures::Points({timed(forward, 1000), timed(backward, 2500)}).table();
  const auto pairs = pairs_of_passes(table, table.rows(), Pass::fwd, Pass::bwd, metric_key::time_median_ns);
  ASSERT_EQ(pairs.size(), 1U);
  EXPECT_DOUBLE_EQ(pairs[0].ratio(), 2.5);
  EXPECT_FALSE(pairs[0].model_ratio);
  const auto times = score_times(table, table.rows());
  ASSERT_EQ(times.size(), 2U);
  EXPECT_DOUBLE_EQ(times[0].picoseconds, 1e6 / (1024.0 * 1024 * static_cast<double>(forward.problem.instances())));
  const auto found = residuals(table, table.rows());
  ASSERT_FALSE(found.empty());
  EXPECT_NEAR(found[0].relative(), 0.001, 1e-9);  // as the fixture makes it
}

TEST(Pairs, WordsOfWhatIsDoubled) {
  for (int i = 0; i < doubled_kinds; ++i) {
    const auto doubled = static_cast<Doubled>(i);
    EXPECT_EQ(doubled_of(to_string(doubled)), doubled);
  }
  EXPECT_FALSE(doubled_of("heads"));
}

}  // namespace
}  // namespace attnscope::analysis::lesson
