// SPDX-License-Identifier: GPL-3.0-or-later
#include <gtest/gtest.h>

#include <QImage>
#include <QPainter>
#include <QSet>
#include <QTest>
#include <map>
#include <memory>
#include <tuple>

#include "profiler/metrics/metrics.h"
#include "tests/ui/window_test.h"
#include "ui/pages/tile_heatmap_page.h"
#include "ui/plots/heatmap_words.h"
#include "ui/text/format.h"

namespace attnscope::ui {
namespace {

TEST_F(WindowTest, ArrowKeysWalkThroughTheTiles) {
  Workspace workspace;
  TileHeatmapPage page(workspace);
  page.resize(900, 700);
  page.show();
  ASSERT_EQ(workspace.open_now(file), QString());
  QApplication::processEvents();
  HeatmapView* view = page.heatmap();
  view->select(HeatmapGrid::Place{0, 0});
  QTest::keyClick(view, Qt::Key_Up);
  QTest::keyClick(view, Qt::Key_Right);
  EXPECT_EQ(view->selected(), (HeatmapGrid::Place{1, 1}));
  QTest::keyClick(view, Qt::Key_Down);
  QTest::keyClick(view, Qt::Key_Down);
  EXPECT_EQ(view->selected(), (HeatmapGrid::Place{0, 1})) << "stops at the edge";
  QTest::keyClick(view, Qt::Key_Home);
  EXPECT_EQ(view->selected(), view->grid().fastest.front());
}

TEST_F(WindowTest, TheLegendSaysWhatIsOutlined) {
  Workspace workspace;
  TileHeatmapPage page(workspace);
  page.resize(900, 700);
  ASSERT_EQ(workspace.open_now(file), QString());
  EXPECT_TRUE(page.heatmap()->caption().contains("solid frame: fastest, ")) << page.heatmap()->caption().toStdString();
  EXPECT_FALSE(page.heatmap()->caption().contains("dashed"));
  page.set_metric(metric_key::l2_sm_bytes);
  const HeatmapGrid& grid = page.heatmap()->grid();
  ASSERT_FALSE(grid.best.empty());
  ASSERT_FALSE(grid.fastest.empty());
  ASSERT_NE(grid.best, grid.fastest);
  EXPECT_TRUE(page.heatmap()->caption().contains(QStringLiteral("solid frame: lowest SM↔L2 total, ")))
      << page.heatmap()->caption().toStdString();
  EXPECT_TRUE(page.heatmap()->caption().contains("dashed frame: fastest, ")) << page.heatmap()->caption().toStdString();
  EXPECT_TRUE(page.heatmap()
                  ->describe_cell(grid.best.front())
                  .notes.contains(QStringLiteral("Of the tiles shown: lowest SM↔L2 total.")));
  EXPECT_TRUE(page.heatmap()->describe_cell(grid.fastest.front()).notes.contains("Of the tiles shown: fastest."));
  EXPECT_EQ(page.heatmap()->landmark(), grid.best.front());
}

/// FA2's tiles, which take so long by Bc.
HeatmapGrid timed_tiles(const std::map<int, double>& ms, Pass pass = Pass::fwd) {
  std::vector<PointRecord> records;
  for (const int br : {32, 64}) {
    for (const auto& [bc, each] : ms) {
      PointRecord& record = records.emplace_back(fixtures::ok_point(fixtures::spec("fa2", 2048, br, bc)));
      record.spec.problem.pass = pass;
      record.kernels.resize(1);
      record.kernels.front().samples_ns = std::vector<double>(3, each * 1e6 * (br == 32 ? 1 : 1.5));
    }
  }
  return fixtures::heatmap_of(fixtures::shown(records), metric_key::time_median_ns);
}

TEST_F(WindowTest, AMapSaysItsPass) {
  const std::map<int, double> ms{{32, 1}, {64, 2}};
  EXPECT_TRUE(heatmap_title(timed_tiles(ms)).of.contains(" · fwd · "))
      << heatmap_title(timed_tiles(ms)).of.toStdString();
  const QString backward = heatmap_title(timed_tiles(ms, Pass::bwd)).of;
  EXPECT_EQ(backward.count("bwd"), 1) << backward.toStdString();
}

TEST_F(WindowTest, TheSentenceOfAMapNamesNoTileForSeveral) {
  EXPECT_TRUE(map_sentence(timed_tiles({{32, 1}, {64, 2}})).endsWith(" at Br 64 × Bc 64"));
  const QString alike = map_sentence(timed_tiles({{32, 1}, {64, 2}, {128, 2}}));
  EXPECT_TRUE(alike.endsWith(" at Br 64 × Bc 64 and 1 alike")) << alike.toStdString();
}

TEST_F(WindowTest, FiguresThatFindNoRoomAreHiddenAndTheLegendSaysSo) {
  HeatmapView view;
  std::vector<PointRecord> records = fixtures::tile_sweep();
  std::erase_if(records, [](const PointRecord& record) { return record.spec.algorithm != "fa2"; });
  view.set_grid(fixtures::heatmap_of(fixtures::shown(records), metric_key::time_median_ns),
                {QStringLiteral("tiles"), {}}, true);
  view.resize(1000, 700);
  EXPECT_FALSE(view.caption().contains("numbers hidden")) << view.caption().toStdString();
  view.resize(330, 270);
  EXPECT_TRUE(view.caption().contains("numbers hidden")) << view.caption().toStdString();
}

TEST_F(WindowTest, OneHeatmapNeverMixesSimulatedWithMeasured) {
  std::vector<PointRecord> simulated = fixtures::tile_sweep();
  std::erase_if(simulated, [](const PointRecord& record) { return record.disposition != Disposition::ok; });
  for (PointRecord& record : simulated) record = fixtures::ok_point(record.spec, true);
  const QString other = folder.filePath("simulated.attnscope");
  fixtures::write_file(other, {{"tiles", simulated, true}});
  Workspace workspace;
  TileHeatmapPage page(workspace);
  ASSERT_EQ(workspace.open_now(file), QString());
  ASSERT_EQ(workspace.open_now(other), QString());
  ASSERT_TRUE(page.has_grid());
  int cells = 0;
  for (const auto& row : page.heatmap()->grid().cells) {
    for (const HeatmapCell& cell : row) {
      if (!cell.value) continue;
      ++cells;
      EXPECT_EQ(cell.provenance, Provenance::measured);
    }
  }
  EXPECT_GT(cells, 100);
}

/// A tile whose samples lie around `nanoseconds`, half of them within `half_spread` of it.
PointRecord timed(int br, int bc, double nanoseconds, double half_spread) {
  PointRecord record = fixtures::ok_point(fixtures::spec("fa2", 1024, br, bc));
  record.kernels[0].samples_ns = {nanoseconds - half_spread, nanoseconds - half_spread, nanoseconds,
                                  nanoseconds + half_spread, nanoseconds + half_spread};
  return record;
}

TEST_F(WindowTest, AMapOfSeveralKernelsSaysWhichCellIsWhich) {
  // `other`: the tile that another kernel ran.
  const auto set_up = [](HeatmapView& view, std::optional<std::size_t> other) {
    std::vector<PointRecord> records{timed(64, 64, 1e6, 10), timed(64, 128, 2e6, 10), timed(128, 64, 3e6, 10),
                                     timed(128, 128, 4e6, 10)};
    for (std::size_t i = 0; i < records.size(); ++i) {
      records[i].kernels[0].launch = LaunchRecord{.kernel = "fwd",
                                                  .source_file = i == other ? "their/other.cuh" : "their/one.cuh",
                                                  .entry = i == other ? "attn_other" : "attn_one",
                                                  .defines = {},
                                                  .digest = {}};
    }
    view.resize(700, 500);
    view.set_grid(fixtures::heatmap_of(fixtures::shown(records), metric_key::time_median_ns), {}, true);
  };
  HeatmapView one;
  set_up(one, {});
  EXPECT_FALSE(one.caption().contains("kernel")) << one.caption().toStdString();
  EXPECT_FALSE(one.describe_cell({1, 1}).notes.join(' ').contains("Kernel"));

  HeatmapView several;
  set_up(several, 3);
  for (const PlotTarget target : {PlotTarget::screen, PlotTarget::file}) {
    EXPECT_TRUE(several.caption(target).contains(
        QStringLiteral("kernels: unmarked attn_one (their/one.cuh) (3 tiles), ◣ attn_other (their/other.cuh) (1)")))
        << several.caption(target).toStdString();
  }
  EXPECT_TRUE(several.describe_cell({1, 1}).notes.contains(QStringLiteral("◣ Kernel: attn_other (their/other.cuh).")));
  EXPECT_TRUE(several.describe_cell({0, 1}).notes.contains(QStringLiteral("Kernel: attn_one (their/one.cuh).")));

  // Pictures differ in the corners of the two cells alone, between which the mark moves.
  const auto picture = [](const HeatmapView& view) {
    QImage image(700, 500, QImage::Format_RGB32);
    QPainter painter(&image);
    view.render_grid(painter, image.rect());
    return image;
  };
  HeatmapView moved;
  set_up(moved, 0);
  const QImage first = picture(several);
  const QImage second = picture(moved);
  int changed = 0;
  for (int y = 0; y < first.height(); ++y) {
    for (int x = 0; x < first.width(); ++x) changed += first.pixel(x, y) != second.pixel(x, y) ? 1 : 0;
  }
  EXPECT_GT(changed, 20);
  EXPECT_LT(changed, 2 * 7 * 7);
}

TEST_F(WindowTest, TimesWithinTheirSpreadHaveOneColourAndTheLegendSaysSo) {
  const auto colours = [](double step) {
    HeatmapView view;
    view.resize(700, 500);
    view.set_grid(fixtures::heatmap_of(
                      fixtures::shown({timed(64, 64, 1e6, 2e4), timed(64, 128, 1e6 + step, 2e4),
                                       timed(128, 64, 1e6 + 2 * step, 2e4), timed(128, 128, 1e6 + 3 * step, 2e4)}),
                      metric_key::time_median_ns),
                  {}, true);
    const QImage image = view.grab().toImage();
    QSet<QRgb> found;
    for (int row = 0; row < 2; ++row) {
      for (int column = 0; column < 2; ++column) {
        const QRectF cell = view.cell_rect({row, column});
        found.insert(image.pixel(cell.topLeft().toPoint() + QPoint(8, 8)));
      }
    }
    return std::pair(found.size(), view.caption());
  };
  const auto [one, flat] = colours(1e4);
  EXPECT_EQ(one, 1);
  EXPECT_TRUE(flat.contains(QStringLiteral("the values differ by less than they scatter (40 µs)")))
      << flat.toStdString();
  EXPECT_TRUE(flat.contains(QStringLiteral("one colour: all "))) << flat.toStdString();
  EXPECT_FALSE(flat.contains("solid frame")) << "none is known to be better: " << flat.toStdString();
  const auto [four, apart] = colours(1e5);
  EXPECT_EQ(four, 4);
  EXPECT_FALSE(apart.contains("one colour"));
}

TEST_F(WindowTest, TheFastestIsOutlinedWithWhatLiesWithinItsInterval) {
  HeatmapView view;
  view.resize(700, 500);
  view.set_grid(fixtures::heatmap_of(fixtures::shown({timed(64, 64, 1e6, 2e4), timed(64, 128, 1.015e6, 1e3),
                                                      timed(128, 64, 1.025e6, 2e4), timed(128, 128, 1.5e6, 2e4)}),
                                     metric_key::time_median_ns),
                {}, true);
  EXPECT_TRUE(
      view.caption().contains(QStringLiteral("solid frame: fastest, 64\u00A0×\u00A064 and 1 within its interval")))
      << view.caption().toStdString();
  const auto notes = [&](int row, int column) { return view.describe_cell({row, column}).notes.join('\n'); };
  EXPECT_TRUE(notes(0, 0).contains("Of the tiles shown: fastest.")) << notes(0, 0).toStdString();
  EXPECT_TRUE(notes(0, 1).contains("Within the interval of the fastest tile shown.")) << notes(0, 1).toStdString();
  EXPECT_FALSE(notes(1, 0).contains("fastest")) << notes(1, 0).toStdString();
}

TEST_F(WindowTest, ACellsReadOutIsOfOneRunAndTheLegendNamesTheHiddenOne) {
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
  ASSERT_EQ(workspace.open_now(two), QString());
  const HeatmapGrid& grid = page.heatmap()->grid();
  ASSERT_FALSE(grid.empty());
  EXPECT_TRUE(page.heatmap()->caption().contains("run: tiles (2); hidden, with the same tiles: tiles"))
      << page.heatmap()->caption().toStdString();
  for (const HeatmapGrid::Place place : {HeatmapGrid::Place{0, 0}, HeatmapGrid::Place{1, 1}}) {
    // The time is the newer run's, and the TFLOP/s beside it are of that very time.
    const PointRecord source = fixtures::record_of(grid.source(place));
    const double time = evaluate(metric_key::time_median_ns, source)->value;
    EXPECT_DOUBLE_EQ(*grid.at(place).value, time);
    const HoverContent read = page.heatmap()->describe_cell(place);
    ASSERT_GE(read.rows.size(), 2U);
    EXPECT_EQ(read.rows[0].value, format_metric(*evaluate(metric_key::time_median_ns, source)));
    EXPECT_EQ(read.rows[1].value, format_metric(*evaluate(metric_key::tflops, source)));
  }
  EXPECT_DOUBLE_EQ(*grid.at({0, 0}).value, 1.5 * summarize(records[0].kernels[0].samples_ns)->median);
}

TEST_F(WindowTest, CellsThatWereNotMeasuredHereHaveFrames) {
  std::vector<PointRecord> records = fixtures::tile_sweep();
  std::erase_if(records, [](const PointRecord& record) {
    return record.spec.algorithm != "fa2" || record.disposition != Disposition::ok;
  });
  std::vector<QImage> images;
  for (const Provenance origin : {Provenance::measured, Provenance::simulated, Provenance::imported}) {
    for (PointRecord& record : records) {
      record.provenance = origin;
      for (KernelRecord& kernel : record.kernels) {
        for (MetricValue& metric : kernel.metrics) metric.provenance = origin;
      }
    }
    HeatmapView view;
    view.resize(900, 700);
    view.set_grid(
        fixtures::heatmap_of(fixtures::shown(records, origin == Provenance::simulated), metric_key::time_median_ns),
        {QStringLiteral("tiles"), {}}, true);
    EXPECT_EQ(view.caption().contains(QStringLiteral("dotted frame: simulated")), origin == Provenance::simulated);
    EXPECT_EQ(view.caption().contains(QStringLiteral("dash-dotted frame: imported")), origin == Provenance::imported);
    images.push_back(view.grab(QRect(0, 0, 900, 400)).toImage());
  }
  EXPECT_NE(images[0], images[1]);
  EXPECT_NE(images[0], images[2]);
  EXPECT_NE(images[1], images[2]);
}

TEST_F(WindowTest, AnInfeasibleCellSaysWhy) {
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
  ASSERT_EQ(workspace.open_now(small), QString());
  ASSERT_TRUE(page.has_grid());
  const HoverContent content = page.heatmap()->describe_cell({1, 1});
  ASSERT_FALSE(content.notes.isEmpty());
  EXPECT_TRUE(content.notes[0].contains("300 KiB"));
  EXPECT_TRUE(page.heatmap()->describe_cell({0, 0}).notes.join(' ').contains("300 KiB") == false);
}

TEST_F(WindowTest, ALargerGridElsewhereLeavesTheMapThatIsLookedAt) {
  std::vector<PointRecord> few;
  for (const int br : {32, 64}) {
    for (const int bc : {32, 64}) few.push_back(fixtures::ok_point(fixtures::spec("fa1", 2048, br, bc, 64)));
  }
  const QString small = folder.filePath("small.attnscope");
  fixtures::write_file(small, {{"tiles", few, false}});
  Workspace workspace;
  TileHeatmapPage page(workspace);
  ASSERT_EQ(workspace.open_now(small), QString());
  const QString before = page.heatmap()->title().of;
  ASSERT_EQ(page.heatmap()->grid().collected, 4);
  ASSERT_EQ(workspace.open_now(file), QString());
  EXPECT_EQ(page.heatmap()->title().of, before);
  EXPECT_EQ(page.heatmap()->grid().collected, 4);
  EXPECT_TRUE(page.options(QStringLiteral("Algorithm")).contains("fa2")) << "the others can be chosen";
  workspace.close(small);
  EXPECT_GT(page.heatmap()->grid().collected, 4) << "what is gone cannot be looked at";
}

/// The lengths of runs along a line of pixels: of those that are the background, and of the others.
struct Runs {
  std::vector<int> gaps;
  std::vector<int> cells;
};
Runs runs_along(const std::vector<QRgb>& line, QRgb background) {
  Runs runs;
  std::size_t begin = 0;
  for (std::size_t i = 1; i <= line.size(); ++i) {
    const bool here = line[begin] == background;
    if (i < line.size() && (line[i] == background) == here) continue;
    (here ? runs.gaps : runs.cells).push_back(static_cast<int>(i - begin));
    begin = i;
  }
  return runs;
}

TEST_F(WindowTest, SeamsBetweenCellsAreAlike) {
  std::vector<PointRecord> records;
  for (int br = 16; br <= 112; br += 16) {
    for (int bc = 16; bc <= 176; bc += 16) {
      records.push_back(fixtures::ok_point(fixtures::spec("fa2", 2048, br, bc, 64)));
    }
  }
  HeatmapView view;
  HeatmapGrid grid = fixtures::heatmap_of(fixtures::shown(records), metric_key::time_median_ns);
  grid.best.clear();  // outlines lie over seams
  grid.plateau.clear();
  grid.fastest.clear();
  view.set_grid(grid, {}, true);
  const QRgb background = plot_colors(view.palette()).background.rgb();
  for (const double scale : {1.0, 1.25, 1.5, 2.0}) {
    for (const QSize& size : {QSize(701, 503), QSize(738, 541), QSize(1003, 777)}) {
      QImage image(size * scale, QImage::Format_RGB32);
      image.setDevicePixelRatio(scale);
      view.resize(size);
      QPainter painter(&image);
      view.render_grid(painter, QRectF(QPointF(0, 0), QSizeF(size)), 1 / scale);
      painter.end();
      const QPointF corner = view.cell_rect({static_cast<int>(grid.y.size()) - 1, 0}).topLeft();
      // Along the upper edge of the first row of cells, where no figure stands, and down the left edge of a column.
      const int y = static_cast<int>((corner.y() + 3) * scale);
      const int x = static_cast<int>((corner.x() + 3) * scale);
      std::vector<QRgb> across;
      for (int i = static_cast<int>(corner.x() * scale); i < image.width(); ++i) across.push_back(image.pixel(i, y));
      std::vector<QRgb> down;
      for (int i = static_cast<int>(corner.y() * scale); i < image.height(); ++i) down.push_back(image.pixel(x, i));
      for (const auto& [line, cells] : {std::pair{across, grid.x.size()}, std::pair{down, grid.y.size()}}) {
        const Runs runs = runs_along(line, background);
        ASSERT_GE(runs.cells.size(), cells) << scale;
        ASSERT_GE(runs.gaps.size(), cells - 1);
        for (std::size_t i = 0; i < cells; ++i) EXPECT_EQ(runs.cells[i], runs.cells[0]) << scale << " cell " << i;
        for (std::size_t i = 0; i + 1 < cells; ++i) EXPECT_EQ(runs.gaps[i], runs.gaps[0]) << scale << " seam " << i;
      }
    }
  }
}

/// Pixels of the paper's mark, inside the cells and outside.
std::pair<int, int> mark_pixels(const HeatmapView& view) {
  QImage image(view.size(), QImage::Format_RGB32);
  QPainter painter(&image);
  view.render_grid(painter, view.rect());
  painter.end();
  const int rows = static_cast<int>(view.grid().y.size());
  const int columns = static_cast<int>(view.grid().x.size());
  const QRectF cells = view.cell_rect({rows - 1, 0}) | view.cell_rect({0, columns - 1});
  int inside = 0;
  int outside = 0;
  for (int y = 0; y < image.height(); ++y) {
    for (int x = 0; x < image.width(); ++x) {
      const QColor color(image.pixel(x, y));
      if (color.hsvSaturation() < 180 || std::abs(color.hsvHue() - 324) > 6) continue;  // a magenta that viridis lacks
      ++(cells.contains(QPointF(x + 0.5, y + 0.5)) ? inside : outside);
    }
  }
  return {inside, outside};
}

TEST_F(WindowTest, ThePapersMarkHidesNoValueAndIsOnlyWhereItsRuleHolds) {
  const auto view_of = [](const char* algorithm, const std::vector<int>& extents) {
    std::vector<PointRecord> records;
    for (const int br : extents) {
      for (const int bc : extents) records.push_back(fixtures::ok_point(fixtures::spec(algorithm, 4096, br, bc)));
    }
    auto view = std::make_unique<HeatmapView>();
    view->resize(900, 700);
    view->set_grid(fixtures::heatmap_of(fixtures::shown(records), metric_key::time_median_ns), {}, true);
    return view;
  };
  // On an H200 the rule gives 227 keys and 128 queries at d 128.
  const auto on_it = view_of("fa1", {64, 128, 227, 256});
  ASSERT_TRUE(on_it->grid().paper);
  EXPECT_TRUE(on_it->grid().paper->inside);
  EXPECT_TRUE(on_it->caption().contains("the paper's tile"));
  EXPECT_FALSE(on_it->caption().contains("beyond"));
  auto [inside, outside] = mark_pixels(*on_it);
  EXPECT_EQ(inside, 0) << "no value is hidden";
  EXPECT_GT(outside, 40) << "a mark on each axis";

  const auto beyond = view_of("fa1", {16, 32, 64});
  ASSERT_TRUE(beyond->grid().paper);
  EXPECT_FALSE(beyond->grid().paper->inside);
  EXPECT_TRUE(beyond->caption().contains("beyond this grid")) << beyond->caption().toStdString();
  std::tie(inside, outside) = mark_pixels(*beyond);
  EXPECT_EQ(inside, 0) << "what lies beyond is not drawn within";
  EXPECT_GT(outside, 40);

  for (const char* other : {"fa2", "naive"}) {
    const auto view = view_of(other, {64, 128, 227, 256});
    EXPECT_FALSE(view->grid().paper) << other;
    EXPECT_FALSE(view->caption().contains("paper")) << other;
    EXPECT_EQ(mark_pixels(*view), std::pair(0, 0)) << other;
  }
}

}  // namespace
}  // namespace attnscope::ui
