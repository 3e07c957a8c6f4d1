// SPDX-License-Identifier: Apache-2.0
#include "profiler/curves/paper_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "profiler/metrics/metrics.h"
#include "tests/profiler/points/fixtures.h"

namespace attnscope::analysis {
namespace {

using fixtures::Points;

PointRecord paper_point(const std::string& algorithm, Pass pass, int bc = 64) {
  PointSpec spec = fixtures::spec(algorithm, 1024, 64, bc, 64);
  spec.problem.batch = 64;
  spec.problem.heads_q = spec.problem.heads_kv = 16;
  PointRecord record = fixtures::ok_point(spec);
  record.spec.problem.pass = pass;
  return record;
}

const PaperRow* find(const std::vector<PaperRow>& rows, Row row, std::string_view quantity) {
  const auto found =
      std::ranges::find_if(rows, [&](const PaperRow& each) { return each.row == row && each.quantity == quantity; });
  return found == rows.end() ? nullptr : &*found;
}

TEST(PaperTable, AssignsPointsToFigures) {
  const std::vector<PointRecord> records{
      paper_point("naive", Pass::fwd_bwd), paper_point("fa1", Pass::fwd_bwd),
      paper_point("fa2", Pass::fwd_bwd),   paper_point("fa1", Pass::fwd, 128),
      paper_point("fa2", Pass::fwd, 128),  fixtures::ok_point(fixtures::spec("fa1", 1024)),
      paper_point("fa1", Pass::bwd, 128)};
  const Points points(records);
  const PointTable points_table = points.table();
  const PaperTable table = build_paper_table(points_table, points_table.rows());
  EXPECT_EQ(table.left.size(), 15U) << "five quantities of three points";
  EXPECT_EQ(table.middle.size(), 3U);
  EXPECT_THAT(table.left_out, testing::ElementsAre(4U, 5U, 6U))
      << "Fig. 2 middle varies FA1's block; another workload; a pass that no column has";
  ASSERT_NE(find(table.left, 0, "time"), nullptr);
  EXPECT_EQ(find(table.left, 0, "time")->paper, 41.7) << "standard attention";
  EXPECT_EQ(find(table.left, 1, "time")->paper, 7.3);
  EXPECT_EQ(find(table.left, 2, "DRAM")->paper, 4.4) << "FlashAttention's column";
  EXPECT_EQ(find(table.left, 0, "device memory")->paper, std::nullopt);
  EXPECT_EQ(find(table.middle, 3, "SM<->L2")->paper, 3.36) << "Bc 128";
}

TEST(PaperTable, ValuesHaveProvenance) {
  const Points points({paper_point("fa1", Pass::fwd, 256)});
  const PointTable points_table = points.table();
  const PaperTable table = build_paper_table(points_table, points_table.rows());
  const PaperRow* time = find(table.middle, 0, "time");
  ASSERT_NE(time, nullptr);
  const double milliseconds = evaluate(metric_key::time_median_ns, points.records()[0])->value * 1e-6;
  EXPECT_DOUBLE_EQ(*time->ours, milliseconds);
  EXPECT_EQ(time->provenance, Provenance::measured);
  EXPECT_DOUBLE_EQ(*time->ratio(), milliseconds / 3.3);
  EXPECT_EQ(time->figure, "2 middle");
}

TEST(PaperTable, CountsExecutedFlops) {
  // 1024 heads, N 1024, d 64. Forward: 4 N² d. Backward: 4 products of 2 N² d, 5 if S is recomputed.
  const Points points({paper_point("fa1", Pass::fwd_bwd), paper_point("naive", Pass::fwd_bwd)});
  const PointTable points_table = points.table();
  const PaperTable table = build_paper_table(points_table, points_table.rows());
  const PaperRow* products = find(table.left, 0, "executed FLOPs");
  ASSERT_NE(products, nullptr);
  EXPECT_NEAR(*products->ours, 1024 * 14.0 * 1024 * 1024 * 64 * 1e-9, 1);
  EXPECT_EQ(products->provenance, Provenance::modeled);
  EXPECT_EQ(products->paper, 75.2);
  const PaperRow* naive = find(table.left, 1, "executed FLOPs");
  ASSERT_NE(naive, nullptr);
  EXPECT_NEAR(*naive->ours, 1024 * 12.0 * 1024 * 1024 * 64 * 1e-9, 1);
  EXPECT_EQ(naive->paper, 66.6);
}

TEST(PaperTable, MissingValueHasNoRatio) {
  PointRecord failed = paper_point("naive", Pass::fwd_bwd);
  failed.disposition = Disposition::out_of_memory;
  failed.kernels.clear();
  const Points points({failed});
  const PointTable points_table = points.table();
  const PaperTable table = build_paper_table(points_table, points_table.rows());
  const PaperRow* time = find(table.left, 0, "time");
  ASSERT_NE(time, nullptr);
  EXPECT_FALSE(time->ours);
  EXPECT_FALSE(time->ratio());
}

}  // namespace
}  // namespace attnscope::analysis
