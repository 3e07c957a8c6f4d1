// SPDX-License-Identifier: GPL-3.0-or-later
#include <gtest/gtest.h>

#include <QImage>
#include <QPainter>
#include <QTest>
#include <tuple>

#include "messages/tile_map.h"
#include "profiler/metrics/metrics.h"
#include "tests/ui/window_test.h"
#include "ui/pages/tiles/tile_heatmap_page.h"
#include "ui/plots/heatmap_text.h"
#include "ui/text/format.h"
#include "ui/text/qtext.h"

namespace attnscope::ui {
namespace {

TEST_F(WindowTest, ArrowKeysMoveAndEnterSelectsTiles) {
  Workspace workspace;
  TileHeatmapPage page(workspace);
  page.resize(900, 700);
  page.show();
  ASSERT_EQ(workspace.open_blocking(file), QString());
  QApplication::processEvents();
  HeatmapView* view = page.heatmap();
  view->select(TileMap::Place{0, 0});
  QTest::keyClick(view, Qt::Key_Up);
  QTest::keyClick(view, Qt::Key_Right);
  EXPECT_EQ(view->cursor(), (TileMap::Place{1, 1}));
  EXPECT_EQ(view->accessibleDescription(), display_text(view->describe_cell({1, 1})));
  EXPECT_EQ(view->selected(), (TileMap::Place{0, 0})) << "only Enter selects";
  QTest::keyClick(view, Qt::Key_Return);
  EXPECT_EQ(view->selected(), (TileMap::Place{1, 1}));
  QTest::keyClick(view, Qt::Key_Down);
  QTest::keyClick(view, Qt::Key_Down);
  EXPECT_EQ(view->cursor(), (TileMap::Place{0, 1})) << "stops at the edge";
  QTest::keyClick(view, Qt::Key_Home);
  QTest::keyClick(view, Qt::Key_Space);
  EXPECT_EQ(view->selected(), view->map().fastest.front());
}

TEST_F(WindowTest, HeatmapDoesNotMixSimulatedAndMeasured) {
  std::vector<PointRecord> simulated = fixtures::tile_sweep();
  std::erase_if(simulated, [](const PointRecord& record) { return record.disposition != Disposition::ok; });
  for (PointRecord& record : simulated) record = fixtures::ok_point(record.spec, true);
  const QString other = folder.filePath("simulated.attnscope");
  fixtures::write_file(other, {{"tiles", simulated, true}});
  Workspace workspace;
  TileHeatmapPage page(workspace);
  ASSERT_EQ(workspace.open_blocking(file), QString());
  ASSERT_EQ(workspace.open_blocking(other), QString());
  ASSERT_TRUE(page.has_map());
  int cells = 0;
  for (const auto& row : page.heatmap()->map().cells) {
    for (const TileCell& cell : row) {
      if (!cell.value) continue;
      ++cells;
      EXPECT_EQ(cell.provenance, Provenance::measured);
    }
  }
  EXPECT_GT(cells, 100);
}

/// A tile with samples around `nanoseconds`; the quartiles differ from it by `half_spread`.
PointRecord timed(int br, int bc, double nanoseconds, double half_spread) {
  PointRecord record = fixtures::ok_point(fixtures::spec("fa2", 1024, br, bc));
  record.kernels[0].samples_ns = {nanoseconds - half_spread, nanoseconds - half_spread, nanoseconds,
                                  nanoseconds + half_spread, nanoseconds + half_spread};
  return record;
}

TEST_F(WindowTest, CellReadOutNamesItsRun) {
  std::vector<PointRecord> records;
  for (const int br : {64, 128}) {
    for (const int bc : {64, 128}) records.push_back(timed(br, bc, 1e6 + 1e5 * br + 1e4 * bc, 1e3));
  }
  std::vector<PointRecord> slowed = records;
  for (PointRecord& record : slowed) {
    for (double& sample : record.kernels[0].samples_ns) sample *= 1.5;
  }
  const QString two = folder.filePath("two.attnscope");
  fixtures::write_file(two, {{"tiles", records, false}, {"tiles", slowed, false}});
  Workspace workspace;
  TileHeatmapPage page(workspace);
  page.resize(900, 700);
  ASSERT_EQ(workspace.open_blocking(two), QString());
  const TileMap& map = page.heatmap()->map();
  ASSERT_FALSE(map.empty());
  EXPECT_TRUE(
      caption_of(*page.heatmap()).contains(qtext(msg::tile_map::hidden_runs{.hidden = "tiles", .runs = "tiles (2)"})))
      << caption_of(*page.heatmap()).toStdString();
  for (const TileMap::Place place : {TileMap::Place{0, 0}, TileMap::Place{1, 1}}) {
    // The time is that of the newer run, and TFLOP/s is computed from it.
    const PointRecord source = fixtures::record_of(page.heatmap()->point_at(place));
    const double time = evaluate(metric_key::time_median_ns, source)->value;
    EXPECT_DOUBLE_EQ(*map.at(place).value, time);
    const HoverContent read = page.heatmap()->describe_cell(place);
    ASSERT_GE(read.rows.size(), 3U);
    EXPECT_EQ(read.rows[0].value, format_metric(*evaluate(metric_key::time_median_ns, source)));
    EXPECT_EQ(read.rows[2].value, format_metric(*evaluate(metric_key::tflops, source)));
  }
  EXPECT_DOUBLE_EQ(*map.at({0, 0}).value, 1.5 * summarize(records[0].kernels[0].samples_ns)->median);
}

TEST_F(WindowTest, InfeasibleCellsShowTheReason) {
  std::vector<PointRecord> records;
  for (const int br : {16, 32}) {
    for (const int bc : {16, 32}) records.push_back(fixtures::ok_point(fixtures::spec("fa2", 1024, br, bc)));
  }
  records[3] =
      fixtures::failed_point(records[3].spec, Disposition::infeasible, "needs 300 KiB of shared memory, 227 are there");
  const QString small = folder.filePath("small.attnscope");
  fixtures::write_file(small, {{"tiles", records, false}});
  Workspace workspace;
  TileHeatmapPage page(workspace);
  ASSERT_EQ(workspace.open_blocking(small), QString());
  ASSERT_TRUE(page.has_map());
  const HoverContent content = page.heatmap()->describe_cell({1, 1});
  ASSERT_FALSE(content.notes.isEmpty());
  EXPECT_TRUE(content.notes[0].contains("300 KiB"));
  EXPECT_TRUE(page.heatmap()->describe_cell({0, 0}).notes.join(' ').contains("300 KiB") == false);
}

TEST_F(WindowTest, KeepsTheMapWhenALargerOneIsAdded) {
  std::vector<PointRecord> few;
  for (const int br : {32, 64}) {
    for (const int bc : {32, 64}) few.push_back(fixtures::ok_point(fixtures::spec("fa1", 2048, br, bc, 64)));
  }
  const QString small = folder.filePath("small.attnscope");
  fixtures::write_file(small, {{"tiles", few, false}});
  Workspace workspace;
  TileHeatmapPage page(workspace);
  ASSERT_EQ(workspace.open_blocking(small), QString());
  const QString before = page.heatmap()->title().of;
  ASSERT_EQ(page.heatmap()->map().collected, 4);
  ASSERT_EQ(workspace.open_blocking(file), QString());
  EXPECT_EQ(page.heatmap()->title().of, before);
  EXPECT_EQ(page.heatmap()->map().collected, 4);
  EXPECT_TRUE(page.options(QStringLiteral("algorithm")).contains("fa2")) << "can be chosen";
  workspace.close(small);
  EXPECT_GT(page.heatmap()->map().collected, 4) << "the closed map is replaced";
}

}  // namespace
}  // namespace attnscope::ui
