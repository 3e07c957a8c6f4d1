// SPDX-License-Identifier: GPL-3.0-or-later
#include <gtest/gtest.h>

#include <QAction>
#include <QCheckBox>
#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QImage>
#include <QListWidget>
#include <QPushButton>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>
#include <QTextBrowser>
#include <QTextDocument>
#include <QToolButton>
#include <string_view>

#include "kernels/algorithm.h"
#include "profiler/metrics/metrics.h"
#include "tests/ui/fixtures.h"
#include "ui/main_window.h"
#include "ui/models/curve_series.h"
#include "ui/offscreen.h"
#include "ui/pages/io_curve_page.h"
#include "ui/pages/points_page.h"
#include "ui/pages/tile_heatmap_page.h"
#include "ui/panels/collect_panel.h"
#include "ui/panels/details_panel.h"
#include "ui/panels/runs_panel.h"

namespace attnscope::ui {
namespace {

class WindowTest : public testing::Test {
 protected:
  void SetUp() override {
    file = folder.filePath("sample.attnscope");
    fixtures::write_file(file,
                         {{"memory-wall", fixtures::memory_wall(), false}, {"tiles", fixtures::tile_sweep(), false}});
  }
  QTemporaryDir folder;
  QString file;
};

class IoPageTest : public WindowTest {
 protected:
  /// The page as a window of its own, on these files.
  void show(const QStringList& files) {
    page.resize(1000, 700);
    page.show();
    for (const QString& each : files) ASSERT_EQ(workspace.open_now(each), QString());
    QApplication::processEvents();
  }
  Workspace workspace;
  IoCurvePage page{workspace};
  IoPlot* plot = page.plot();
};

TEST_F(WindowTest, ShowsAFileOnEveryPage) {
  MainWindow window(false);
  window.resize(1280, 800);
  window.show();
  EXPECT_TRUE(window.io_page()->curves().empty());
  ASSERT_EQ(window.workspace().open_now(file), QString());
  EXPECT_FALSE(window.io_page()->curves().empty());
  EXPECT_TRUE(window.tiles_page()->has_grid());
  window.show_page(PageId::table);
  QApplication::processEvents();
  EXPECT_EQ(window.points_page()->table()->model()->rowCount(),
            static_cast<int>(window.workspace().visible_points().size()));
  EXPECT_EQ(window.banner_text(), QString());
}

TEST_F(WindowTest, ABadFileIsABannerAndNotADialog) {
  MainWindow window(false);
  QSignalSpy failed(&window.workspace(), &Workspace::open_failed);
  window.open_files({folder.filePath("nowhere.attnscope")});
  ASSERT_TRUE(failed.wait());
  window.show();
  EXPECT_TRUE(window.banner_text().contains("nowhere.attnscope"));
}

TEST_F(IoPageTest, HoverReadsEveryCurveAtTheNearestN) {
  ASSERT_NO_FATAL_FAILURE(show({file}));
  ASSERT_TRUE(plot->hover_at({plot->xAxis->coordToPixel(4096) + 3, 200}));
  ASSERT_NE(plot->hover_content(), nullptr);
  EXPECT_EQ(plot->hover_content()->title, QStringLiteral("N = 4096"));
  QString all;
  for (const HoverRow& row : plot->hover_content()->rows) all += row.label + '=' + row.value + '\n';
  EXPECT_TRUE(all.contains(QStringLiteral("FA2 · SM↔L2 · measured"))) << all.toStdString();
  EXPECT_TRUE(all.contains(QStringLiteral("1.001 × model"))) << all.toStdString();
  EXPECT_TRUE(all.contains(QStringLiteral("Compulsory minimum")));
  EXPECT_FALSE(all.contains(QStringLiteral("fit"))) << "a law is no reading";
  ASSERT_TRUE(plot->hover_at({plot->xAxis->coordToPixel(16384), 200}));
  ASSERT_EQ(plot->hover_content()->notes.size(), 2);
  EXPECT_TRUE(plot->hover_content()->notes[0].contains("132 GiB")) << "why the naive point is missing";
  EXPECT_TRUE(plot->hover_content()->notes[1].startsWith("Tiles: FA1 ")) << "said once for both levels of bytes";
  EXPECT_FALSE(plot->hover_at({2, 200}));
}

TEST_F(IoPageTest, ACrossSaysWhatHappened) {
  ASSERT_NO_FATAL_FAILURE(show({file}));
  QStringList legend;
  for (int i = 0; i < plot->plottableCount(); ++i) legend << plot->plottable(i)->name();
  EXPECT_TRUE(legend.contains(QStringLiteral("Naive · could not run:\nout-of-memory")))
      << legend.join('\n').toStdString();
  const QCPItemText* words = nullptr;
  for (int i = 0; i < plot->itemCount(); ++i) {
    const auto* text = qobject_cast<QCPItemText*>(plot->item(i));
    if (text != nullptr && text->text() == "out-of-memory") words = text;
  }
  ASSERT_NE(words, nullptr);
  EXPECT_EQ(words->position->key(), 16384);
  QSignalSpy selected(&page, &IoCurvePage::point_selected);
  QTest::mouseClick(plot, Qt::LeftButton, {}, words->position->pixelPosition().toPoint());
  ASSERT_EQ(selected.count(), 1);
  EXPECT_EQ(selected[0][0].value<ShownPoint>().record().disposition, Disposition::out_of_memory);
}

TEST_F(WindowTest, TheoryAtASingleLengthIsADash) {
  const QString single = folder.filePath("single.attnscope");
  fixtures::write_file(single, {{"quick", {fixtures::ok_point(fixtures::spec("fa2", 1024))}, false}});
  Workspace workspace;
  IoCurvePage page(workspace);
  ASSERT_EQ(workspace.open_now(single), QString());
  int theory = 0;
  for (const Curve& curve : page.curves().curves) theory += curve.kind == CurveKind::measured ? 0 : 1;
  ASSERT_GE(theory, 2) << "the model and the minimum";
  for (int i = 0; i < page.plot()->graphCount(); ++i) {
    const QCPGraph& graph = *page.plot()->graph(i);
    if (!graph.scatterStyle().isNone()) continue;
    --theory;
    ASSERT_EQ(graph.data()->size(), 2) << graph.name().toStdString();
    EXPECT_LT(graph.data()->at(0)->key, 1024);
    EXPECT_GT(graph.data()->at(1)->key, 1024);
    EXPECT_EQ(graph.data()->at(0)->value, graph.data()->at(1)->value);
  }
  EXPECT_EQ(theory, 0);
}

TEST_F(IoPageTest, ThrottledPointsAreMarked) {
  std::vector<PointRecord> records;
  for (const std::int64_t n : {1024, 2048, 4096}) {
    records.push_back(fixtures::ok_point(fixtures::spec("fa2", n)));
    records.back().clocks->throttled = n == 2048;
    records.back().clocks->throttle_reasons = n == 2048 ? 4 : 0;
  }
  const QString hot = folder.filePath("hot.attnscope");
  fixtures::write_file(hot, {{"quick", records, false}});
  ASSERT_NO_FATAL_FAILURE(show({hot}));
  const auto marked = [&] {  // N of the marks that are half emptied
    QList<double> lengths;
    for (int i = 0; i < plot->graphCount(); ++i) {
      if (plot->graph(i)->name() != "Clocks throttled") continue;
      for (const QCPGraphData& data : *plot->graph(i)->data()) lengths << data.key;
    }
    return lengths;
  };
  EXPECT_TRUE(marked().isEmpty()) << "bytes do not depend on clocks";
  for (const Ordinate ordinate : {Ordinate::time, Ordinate::rate}) {
    page.set_ordinate(ordinate);
    QApplication::processEvents();
    EXPECT_EQ(marked(), QList<double>{2048});
    ASSERT_TRUE(plot->hover_at({plot->xAxis->coordToPixel(2048), 200}));
    EXPECT_TRUE(plot->hover_content()->notes.contains("Clocks throttled (power cap): FA2"))
        << plot->hover_content()->notes.join('\n').toStdString();
    EXPECT_EQ(plot->hover_content()->rows[0].mark, SampleMark::half_disc);
    ASSERT_TRUE(plot->hover_at({plot->xAxis->coordToPixel(1024), 200}));
    EXPECT_FALSE(plot->hover_content()->notes.join(' ').contains("throttled"));
  }
}

TEST_F(IoPageTest, TimesAndRatesOfPeersHaveTheirAxes) {
  const QString peers = folder.filePath("peers.attnscope");
  fixtures::write_file(peers, {{"peers", fixtures::peers(), false, true}});
  ASSERT_NO_FATAL_FAILURE(show({file, peers}));
  EXPECT_EQ(plot->yAxis->label(), "Bytes moved, all heads");
  EXPECT_EQ(page.file_stem(), "io-d128-1x132");
  const auto visible_boxes = [&] {
    QStringList texts;
    for (const QCheckBox* box : page.findChildren<QCheckBox*>()) {
      if (box->isVisibleTo(&page)) texts << box->text();
    }
    return texts;
  };
  EXPECT_TRUE(visible_boxes().contains("Exact model"));

  page.set_ordinate(Ordinate::time);
  QApplication::processEvents();
  EXPECT_EQ(plot->yAxis->label(), "Time [ms], median and quartiles");
  EXPECT_EQ(plot->yAxis->scaleType(), QCPAxis::stLogarithmic);
  EXPECT_EQ(page.file_stem(), "time-d128-1x132");
  EXPECT_EQ(visible_boxes(), QStringList{"L2 limit"});
  ASSERT_TRUE(plot->hover_at({plot->xAxis->coordToPixel(4096), 200}));
  QString all;
  SampleMark mark = SampleMark::none;
  for (const HoverRow& row : plot->hover_content()->rows) {
    all += row.label + '=' + row.value + '\n';
    if (row.label == QStringLiteral("torch-flash · time · imported")) mark = row.mark;
  }
  // 4 N² d 132 operations at 420 TFLOP/s and 9 µs more.
  EXPECT_TRUE(all.contains(QStringLiteral("torch-flash · time · imported=2.71 ms (2.65 – 2.84)"))) << all.toStdString();
  EXPECT_EQ(mark, SampleMark::diamond) << "unlike a measured or a simulated one";

  page.set_ordinate(Ordinate::rate);
  QApplication::processEvents();
  EXPECT_EQ(plot->yAxis->label(), "Compute rate [TFLOP/s]");
  EXPECT_EQ(plot->yAxis->scaleType(), QCPAxis::stLinear);
  EXPECT_EQ(plot->yAxis->range().lower, 0);
  EXPECT_GT(plot->yAxis->range().upper, 560);
  page.set_ordinate(Ordinate::bytes);
  EXPECT_EQ(plot->yAxis->scaleType(), QCPAxis::stLogarithmic);
  EXPECT_GT(plot->yAxis->range().lower, 1e6);
}

TEST_F(WindowTest, ChipsOfForeignAlgorithmsComeAndGo) {
  const QString peers = folder.filePath("peers.attnscope");
  fixtures::write_file(peers, {{"peers", fixtures::peers(), false, true}});
  Workspace workspace;
  IoCurvePage page(workspace);
  ASSERT_EQ(workspace.open_now(file), QString());
  const auto chips = [&](bool enabled_only) {
    QStringList texts;
    for (const QToolButton* chip : page.findChildren<QToolButton*>()) {
      if (!chip->isHidden() && (chip->isEnabled() || !enabled_only)) texts << chip->text();
    }
    texts.sort();
    return texts;
  };
  // Our own are always offered, and can be pressed where they have points.
  QStringList ours;
  for (const Algorithm* algorithm : algorithms()) ours << short_title(algorithm->name());
  ours.sort();
  EXPECT_EQ(chips(false), ours);
  EXPECT_EQ(chips(true), (QStringList{"FA1", "FA2", "Naive"}));
  ASSERT_EQ(workspace.open_now(peers), QString());
  EXPECT_EQ(chips(false), ours + QStringList({"torch-cudnn", "torch-flash"}));
  EXPECT_EQ(chips(true), (QStringList{"FA1", "FA2", "Naive"})) << "imported times are no bytes";
  const auto tip = [&] {
    for (const QToolButton* chip : page.findChildren<QToolButton*>()) {
      if (chip->text() == "torch-flash") return chip->toolTip();
    }
    return QString();
  };
  EXPECT_TRUE(tip().contains("imported run has no bytes")) << tip().toStdString();
  page.set_ordinate(Ordinate::time);
  EXPECT_EQ(chips(true), (QStringList{"FA1", "FA2", "Naive", "torch-cudnn", "torch-flash"}));
  EXPECT_FALSE(tip().contains("has no")) << tip().toStdString();
  EXPECT_EQ(page.curves().curves.size(), 5U);
  for (QToolButton* chip : page.findChildren<QToolButton*>()) {
    if (chip->text() == "torch-flash") chip->setChecked(false);
  }
  EXPECT_EQ(page.curves().curves.size(), 4U);
  workspace.close(peers);
  EXPECT_EQ(chips(false), ours);
  EXPECT_EQ(chips(true), (QStringList{"FA1", "FA2", "Naive"}));
}

TEST_F(IoPageTest, DecodingHasItsOwnAxis) {
  const QString decode = folder.filePath("decode.attnscope");
  fixtures::write_file(decode, {{"decode", fixtures::decoding(), false}});
  ASSERT_NO_FATAL_FAILURE(show({file, decode}));
  EXPECT_EQ(plot->xAxis->label(), "Sequence length N (1k = 1024)");
  EXPECT_EQ(page.options(QStringLiteral("n_q")), (QStringList{"N", "1"}));
  page.choose(QStringLiteral("n_q"), QStringLiteral("1"));
  EXPECT_EQ(plot->xAxis->label(), "Keys n_k, with n_q = 1 (1k = 1024)");
  EXPECT_EQ(page.file_stem(), "io-d128-nq1-1x16");
  ASSERT_TRUE(plot->hover_at({plot->xAxis->coordToPixel(65536), 200}));
  EXPECT_EQ(plot->hover_content()->title, "n_k = 65,536, n_q = 1");
}

TEST_F(IoPageTest, ClickingAMarkSelectsItsPoint) {
  ASSERT_NO_FATAL_FAILURE(show({file}));
  QSignalSpy selected(&page, &IoCurvePage::point_selected);
  const Curve* curve = nullptr;
  for (const Curve& candidate : page.curves().curves) {
    if (candidate.algorithm == "naive" && candidate.kind == CurveKind::measured) curve = &candidate;
  }
  ASSERT_NE(curve, nullptr);
  const CurvePoint& point = curve->points[4];
  const QPoint pixel(static_cast<int>(plot->xAxis->coordToPixel(point.n)),
                     static_cast<int>(plot->yAxis->coordToPixel(point.value)));
  QTest::mouseClick(plot, Qt::LeftButton, {}, pixel);
  ASSERT_EQ(selected.count(), 1);
  EXPECT_EQ(selected[0][0].value<ShownPoint>().spec().algorithm, "naive");
  EXPECT_EQ(selected[0][0].value<ShownPoint>().spec().problem.n_k, static_cast<std::int64_t>(point.n));
}

TEST_F(WindowTest, ArrowKeysWalkThroughTheTiles) {
  Workspace workspace;
  TileHeatmapPage page(workspace);
  page.resize(900, 700);
  page.show();
  ASSERT_EQ(workspace.open_now(file), QString());
  QApplication::processEvents();
  HeatmapView* view = page.view();
  view->select(HeatmapGrid::Place{0, 0});
  QTest::keyClick(view, Qt::Key_Up);
  QTest::keyClick(view, Qt::Key_Right);
  EXPECT_EQ(view->selected(), (HeatmapGrid::Place{1, 1}));
  QTest::keyClick(view, Qt::Key_Down);
  QTest::keyClick(view, Qt::Key_Down);
  EXPECT_EQ(view->selected(), (HeatmapGrid::Place{0, 1})) << "stops at the edge";
  QTest::keyClick(view, Qt::Key_Home);
  EXPECT_EQ(view->selected(), view->grid().fastest);
}

TEST_F(WindowTest, TheLegendSaysWhatIsOutlined) {
  Workspace workspace;
  TileHeatmapPage page(workspace);
  page.resize(900, 700);
  ASSERT_EQ(workspace.open_now(file), QString());
  EXPECT_TRUE(page.view()->caption().contains("outlined: fastest, ")) << page.view()->caption().toStdString();
  EXPECT_FALSE(page.view()->caption().contains("dashed"));
  page.set_metric(metric_key::l2_sm_bytes);
  const HeatmapGrid& grid = page.view()->grid();
  ASSERT_TRUE(grid.best);
  ASSERT_TRUE(grid.fastest);
  ASSERT_NE(grid.best, grid.fastest);
  EXPECT_TRUE(page.view()->caption().contains(QStringLiteral("outlined: lowest SM↔L2 total, ")))
      << page.view()->caption().toStdString();
  EXPECT_TRUE(page.view()->caption().contains("dashed: fastest, ")) << page.view()->caption().toStdString();
  EXPECT_TRUE(
      page.view()->describe_cell(*grid.best).notes.contains(QStringLiteral("Of the tiles shown: lowest SM↔L2 total.")));
  EXPECT_TRUE(page.view()->describe_cell(*grid.fastest).notes.contains("The fastest tile shown."));
  EXPECT_EQ(page.view()->landmark(), *grid.best);
}

TEST_F(WindowTest, FiguresThatFindNoRoomAreHiddenAndTheLegendSaysSo) {
  HeatmapView view;
  std::vector<PointRecord> records = fixtures::tile_sweep();
  std::erase_if(records, [](const PointRecord& record) { return record.spec.algorithm != "fa2"; });
  view.set_grid(build_heatmap(fixtures::shown(records), metric_key::time_median_ns), {QStringLiteral("tiles"), {}},
                true);
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
  for (const auto& row : page.view()->grid().cells) {
    for (const HeatmapCell& cell : row) {
      if (!cell.value) continue;
      ++cells;
      EXPECT_EQ(cell.provenance, Provenance::measured);
    }
  }
  EXPECT_GT(cells, 100);
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
    view.set_grid(build_heatmap(fixtures::shown(records, origin == Provenance::simulated), metric_key::time_median_ns),
                  {QStringLiteral("tiles"), {}}, true);
    EXPECT_EQ(view.caption().contains(QStringLiteral("dotted frame: simulated")), origin == Provenance::simulated);
    EXPECT_EQ(view.caption().contains(QStringLiteral("dash-dotted frame: imported")), origin == Provenance::imported);
    images.push_back(view.grab(QRect(0, 0, 900, 400)).toImage());
  }
  EXPECT_NE(images[0], images[1]);
  EXPECT_NE(images[0], images[2]);
  EXPECT_NE(images[1], images[2]);
}

TEST_F(WindowTest, PassAndMaskBecomeAxes) {
  qputenv("ATTNSCOPE_COLLECTOR", "/bin/false");
  CollectPanel panel;
  panel.set_database(folder.filePath("c.attnscope"));
  for (const PresetInfo& preset : presets()) {
    panel.set_preset(QString::fromUtf8(preset.name.data(), static_cast<qsizetype>(preset.name.size())));
    EXPECT_EQ(panel.blocker(), QString()) << preset.name;
    EXPECT_TRUE(panel.request().axes.isEmpty());
  }
  panel.set_preset(QStringLiteral("memory-wall"));
  panel.set_pass(QStringLiteral("bwd"));
  panel.set_masks(QStringLiteral("causal window:256:0"));
  EXPECT_EQ(panel.blocker(), QString());
  EXPECT_EQ(panel.request().axes, (QStringList{"pass=bwd", "mask=[causal,window:256:0]"}));
  panel.set_masks(QStringLiteral("diagonal"));
  EXPECT_TRUE(panel.blocker().contains(QStringLiteral("diagonal"))) << panel.blocker().toStdString();
  qunsetenv("ATTNSCOPE_COLLECTOR");
}

TEST_F(WindowTest, SpaceTogglesTheRunUnderTheCursor) {
  Workspace workspace;
  RunsPanel panel(workspace);
  panel.show();
  ASSERT_EQ(workspace.open_now(file), QString());
  const std::size_t all = workspace.visible_points().size();
  panel.setCurrentIndex(panel.model()->index(0, 0));
  QTest::keyClick(&panel, Qt::Key_Space);
  EXPECT_EQ(workspace.visible_points().size(), all - fixtures::memory_wall().size());
  QTest::keyClick(&panel, Qt::Key_Space);
  EXPECT_EQ(workspace.visible_points().size(), all);
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
  const HoverContent content = page.view()->describe_cell({1, 1});
  ASSERT_FALSE(content.notes.isEmpty());
  EXPECT_TRUE(content.notes[0].contains("300 KiB"));
  EXPECT_TRUE(page.view()->describe_cell({0, 0}).notes.join(' ').contains("300 KiB") == false);
}

TEST_F(WindowTest, DetailsLabelEveryNumberWithItsOrigin) {
  const auto points = fixtures::shown({fixtures::ok_point(fixtures::spec("naive", 1024))});
  const QString html = describe_point_html(points[0], QPalette());
  for (const char* word : {"measured", "modelled", "derived", "Model L2 to SM", "shared memory", "Bound", "1.98 GHz",
                           "Kernel qk", "Kernel pv"}) {
    EXPECT_TRUE(html.contains(QString::fromUtf8(word))) << word;
  }
  for (const char* row : {"Largest error", "Bound", "RMS error", "SM clock", "Memory clock", "Temperature", "Power"}) {
    const qsizetype at = html.indexOf(QString::fromUtf8(row));
    ASSERT_GE(at, 0) << row;
    const QString rest = html.mid(at, html.indexOf(QStringLiteral("</tr>"), at) - at);
    EXPECT_TRUE(rest.contains(row == std::string_view("Bound") ? "modelled" : "measured")) << rest.toStdString();
  }
  PointRecord hot = fixtures::ok_point(fixtures::spec("fa2", 1024));
  hot.clocks->throttled = true;
  EXPECT_TRUE(describe_point_html(fixtures::shown({hot})[0], QPalette()).contains("Throttled"));
}

TEST_F(WindowTest, DetailsOfADecodingPointSayAllThatIsSet) {
  PointSpec spec = fixtures::decode_spec("fa2", 4096);
  PointRecord record = fixtures::ok_point(spec);
  record.spec.problem.page = 256;
  record.spec.problem.dropout = 0.25;
  record.spec.problem.deterministic = true;
  record.spec.tile.splits = 8;
  record.spec.tile.warps = 4;
  QTextDocument document;
  document.setHtml(describe_point_html(fixtures::shown({record})[0], QPalette()));
  const QString text = document.toPlainText();
  for (const char* words : {"n_q × n_k\n1 × 4096", "Pass\nfwd", "full, fp16", "Dropout\n0.25", "K/V page\n256 keys",
                            "Deterministic\nyes", "splits 8, warps 4"}) {
    EXPECT_TRUE(text.contains(QString::fromUtf8(words))) << words << "\n" << text.toStdString();
  }
}

TEST_F(WindowTest, DetailsOfAnImportedPointNameItsOrigin) {
  const QString html = describe_point_html(fixtures::shown(fixtures::peers())[0], QPalette());
  QTextDocument document;
  document.setHtml(html);
  const QString text = document.toPlainText();
  EXPECT_TRUE(text.startsWith("torch-flash\n")) << text.toStdString();
  EXPECT_TRUE(text.contains("not stated")) << "the tile";
  EXPECT_TRUE(text.contains("imported"));
  EXPECT_FALSE(text.contains("measured")) << text.toStdString();
  EXPECT_FALSE(text.contains("derived")) << text.toStdString();
  EXPECT_FALSE(text.contains("Samples"));
  EXPECT_FALSE(text.contains("Bytes")) << "no heading without a row";
}

TEST_F(WindowTest, PlotsAreWrittenWithoutAWindow) {
  QStringList written;
  ASSERT_EQ(write_plots({file}, folder.filePath("plots"), &written), QString());
  ASSERT_EQ(written.size(), 2 + 2 * 2 * 3) << written.join('\n').toStdString();
  for (const QString& path : written) {
    if (path.endsWith(".png")) {
      const QImage image(path);
      ASSERT_FALSE(image.isNull()) << path.toStdString();
      EXPECT_EQ(image.size(), QSize(2200, 1440));
      // Something is drawn: more than a few colours.
      QSet<QRgb> colors;
      for (int y = 0; y < image.height(); y += 7) {
        for (int x = 0; x < image.width(); x += 7) colors.insert(image.pixel(x, y));
      }
      EXPECT_GT(colors.size(), 8) << path.toStdString();
    } else {
      QFile svg(path);
      ASSERT_TRUE(svg.open(QIODevice::ReadOnly));
      EXPECT_TRUE(svg.readAll().contains("</svg>"));
    }
  }
}

TEST_F(WindowTest, EveryMaskAndPassHasItsPlot) {
  const QString all = folder.filePath("all.attnscope");
  const QString peers = folder.filePath("peers.attnscope");
  fixtures::write_file(all, {{"memory-wall", fixtures::memory_wall(), false},
                             {"backward", fixtures::backward(), false},
                             {"decode", fixtures::decoding(), false}});
  fixtures::write_file(peers, {{"peers", fixtures::peers(), false, true}});
  QStringList written;
  ASSERT_EQ(write_plots({all, peers}, folder.filePath("plots"), &written), QString());
  QStringList names;
  for (const QString& path : written) {
    if (path.endsWith(".png")) names << QFileInfo(path).fileName();
  }
  EXPECT_EQ(names,
            (QStringList{"io-d128-fwd-nqN-1x132.png", "tflops-d128-fwd-nqN-1x132.png", "io-d128-fwd-nq1-1x16.png",
                         "io-d128-bwd-full-1x132.png", "io-d128-bwd-causal-1x132.png"}));
  // A file of times alone still gives a plot.
  written.clear();
  ASSERT_EQ(write_plots({peers}, folder.filePath("peers"), &written), QString());
  ASSERT_EQ(written.size(), 4);
  EXPECT_TRUE(written[0].endsWith("time-d128-1x132.png")) << written[0].toStdString();
}

TEST_F(WindowTest, EveryProblemSplitsAndTileMapHasItsPlotUnderItsName) {
  std::vector<PointRecord> records;
  for (const std::int64_t n_k : {4096, 8192}) {
    for (const int splits : {0, 16}) {
      for (const std::int64_t page : {0, 256}) {
        PointSpec spec = fixtures::decode_spec("splitkv", n_k);
        spec.tile.splits = splits;
        spec.problem.page = page;
        records.push_back(fixtures::ok_point(spec));
      }
    }
    for (const auto& [heads, dropout] : {std::pair{16, 0.0}, std::pair{32, 0.0}, std::pair{32, 0.25}}) {
      PointSpec spec = fixtures::spec("fa2", n_k);
      spec.problem.heads_q = spec.problem.heads_kv = heads;
      spec.problem.dropout = dropout;
      records.push_back(fixtures::ok_point(spec));
    }
  }
  for (const int br : {32, 64}) {
    for (const int bc : {32, 64}) {  // a map, and no curve
      PointSpec spec = fixtures::spec("fa2", 2048, br, bc, 64);
      records.push_back(fixtures::ok_point(spec));
    }
  }
  const QString sweeps = folder.filePath("sweeps.attnscope");
  fixtures::write_file(sweeps, {{"custom", records, false}});
  QStringList written;
  ASSERT_EQ(write_plots({sweeps}, folder.filePath("sweeps"), &written), QString());
  QStringList names;
  for (const QString& path : written) {
    if (path.endsWith(".png")) names << QFileInfo(path).completeBaseName();
  }
  EXPECT_EQ(names, (QStringList{
                       "io-d128-nqN-1x16",
                       "io-d128-nqN-1x32-dropout0",
                       "io-d128-nqN-1x32-dropout0.25",
                       "io-d128-nq1-1x16-pagecontiguous-splitsauto",
                       "io-d128-nq1-1x16-pagecontiguous-splits16",
                       "io-d128-nq1-1x16-page256-splitsauto",
                       "io-d128-nq1-1x16-page256-splits16",
                       "tiles-fa2-n2048-d64-1x132-time_median_ns",
                       "tiles-fa2-n2048-d64-1x132-l2_sm_bytes",
                       "tiles-fa2-n2048-d64-1x132-dram_bytes",
                   }));
}

TEST_F(WindowTest, APlotThatCannotBeWrittenIsAnErrorAndTheOlderOneStays) {
  // What is written beside the picture first cannot be made in /proc, not even by root; nor can a folder be replaced.
  const QString blocked = folder.filePath("blocked");
  ASSERT_TRUE(QDir().mkpath(blocked + "/io-d128-1x132.png"));
  QStringList written;
  const QString error = write_plots({file}, blocked, &written);
  EXPECT_TRUE(error.contains("io-d128-1x132.png")) << error.toStdString();
  EXPECT_TRUE(written.isEmpty()) << written.join('\n').toStdString();
  EXPECT_TRUE(write_screenshot({file}, {QStringLiteral("/proc/version"), PageId::io}).contains("/proc/version"));

  MainWindow window(false);
  ASSERT_EQ(window.workspace().open_now(file), QString());
  for (const char* name : {"/proc/version", "/proc/new.png", "/proc/new.svg", "/proc/new.pdf"}) {
    window.show_banner({});
    window.save_plot(QString::fromUtf8(name));
    EXPECT_TRUE(window.banner_text().contains(name)) << window.banner_text().toStdString();
  }
  window.show_banner({});
  for (const char* name : {"plot.png", "plot.svg", "plot.pdf"}) {
    window.save_plot(folder.filePath(name));
    EXPECT_GT(QFileInfo(folder.filePath(name)).size(), 1000) << name;
  }
  EXPECT_EQ(window.banner_text(), QString());
}

TEST_F(WindowTest, TheTickedRunsOfAllFilesAreOneTable) {
  const QString other = folder.filePath("other.attnscope");
  fixtures::write_file(other, {{"quick", {fixtures::ok_point(fixtures::spec("fa2", 512))}, true}});
  MainWindow window(false);
  ASSERT_EQ(window.workspace().open_now(file), QString());
  ASSERT_EQ(window.workspace().open_now(other), QString());
  window.workspace().set_run_visible(1, false);  // the tile sweep
  const auto lines = [&] {
    const QString path = folder.filePath("table.csv");
    window.save_csv(path);
    QFile csv(path);
    EXPECT_TRUE(csv.open(QIODevice::ReadOnly));
    return QString::fromUtf8(csv.readAll()).split('\n', Qt::SkipEmptyParts);
  };
  const QStringList both = lines();
  EXPECT_EQ(window.banner_text(), QString());
  EXPECT_EQ(both.count(both.constFirst()), 1) << "one header";
  for (const QString& line : both) EXPECT_EQ(line.startsWith(both.constFirst().left(12)), &line == &both.constFirst());
  window.workspace().set_run_visible(2, false);
  const QStringList first = lines();
  EXPECT_EQ(both.size(), first.size() + 1) << "the other file's only point";
  EXPECT_TRUE(both.constLast().contains(",512,")) << both.constLast().toStdString();

  window.workspace().set_run_visible(0, false);
  window.save_csv(folder.filePath("none.csv"));
  EXPECT_TRUE(window.banner_text().contains("no run is ticked")) << window.banner_text().toStdString();
  EXPECT_FALSE(QFile::exists(folder.filePath("none.csv")));
  window.workspace().set_run_visible(0, true);
  window.save_csv(QStringLiteral("/proc/new.csv"));
  EXPECT_TRUE(window.banner_text().contains("/proc/new.csv")) << window.banner_text().toStdString();
}

TEST_F(WindowTest, ImportedPointsAreExportedAsSuch) {
  const QString peers = folder.filePath("peers.attnscope");
  fixtures::write_file(peers, {{"peers", fixtures::peers(), false, true}});
  MainWindow window(false);
  ASSERT_EQ(window.workspace().open_now(peers), QString());
  const QString path = folder.filePath("peers.csv");
  window.save_csv(path);
  QFile csv(path);
  ASSERT_TRUE(csv.open(QIODevice::ReadOnly)) << window.banner_text().toStdString();
  const QStringList lines = QString::fromUtf8(csv.readAll()).split('\n', Qt::SkipEmptyParts);
  ASSERT_EQ(lines.size(), 1 + 14);
  for (const QString& line : lines.mid(1)) {
    EXPECT_TRUE(line.startsWith("torch-")) << line.toStdString();
    EXPECT_TRUE(line.contains(",imported")) << line.toStdString();
  }
}

TEST_F(WindowTest, F1ExplainsWhyTilesWin) {
  MainWindow window(false);
  for (QAction* action : window.findChildren<QAction*>()) {
    if (action->shortcut() == QKeySequence(QKeySequence::HelpContents)) action->trigger();
  }
  const auto* text = window.findChild<QTextBrowser*>(QStringLiteral("explanation"));
  ASSERT_NE(text, nullptr);
  // Its figures are those of an H200.
  const double m = static_cast<double>(find_gpu("H200")->sram_elements(2));
  const QString said = text->toPlainText();
  for (const QString& figure :
       {QStringLiteral("%L1").arg(m, 0, 'f', 0), QStringLiteral("1/%1 for d 64").arg(m / 4096, 0, 'f', 0),
        QStringLiteral("1/%1 for d 128").arg(m / 16384, 0, 'f', 0),
        QStringLiteral("%1 times less for d 64").arg(m / (3 * 4096), 0, 'f', 0),
        QStringLiteral("%1 times for d 128").arg(m / (3 * 16384), 0, 'f', 1)}) {
    EXPECT_TRUE(said.contains(figure)) << figure.toStdString();
  }
  for (const char* heading : {"The backward pass", "Decoding"}) EXPECT_TRUE(said.contains(heading)) << heading;
}

TEST_F(WindowTest, PlotsOfABadFileAreAnError) {
  QStringList written;
  EXPECT_TRUE(write_plots({folder.filePath("nowhere.attnscope")}, folder.path(), &written).contains("nowhere"));
  EXPECT_TRUE(written.isEmpty());
}

TEST_F(WindowTest, BothThemesDrawTheirBackground) {
  for (const ThemeChoice theme : {ThemeChoice::light, ThemeChoice::dark}) {
    const QString path = folder.filePath(to_string(theme) + ".png");
    ASSERT_EQ(write_screenshot({file}, {path, PageId::io, {1280, 800}, theme}), QString());
    const QImage image(path);
    ASSERT_EQ(image.size(), QSize(1280, 800));
    EXPECT_EQ(image.pixelColor(image.width() - 30, 125).lightness() < 128, theme == ThemeChoice::dark);
  }
}

TEST(RecordedSample, FillsEveryPageWithMeasurements) {
  const QString sample = recorded_sample();
  if (sample.isEmpty()) GTEST_SKIP() << "assets/samples/h200.attnscope is not there";
  Workspace workspace;
  IoCurvePage io(workspace);
  TileHeatmapPage tiles(workspace);
  ASSERT_EQ(workspace.open_now(sample), QString());
  ASSERT_FALSE(io.curves().empty());
  for (const QString& d : {QStringLiteral("64"), QStringLiteral("128")}) {
    io.choose(QStringLiteral("d"), d);
    int measured = 0;
    for (const Curve& curve : io.curves().curves) {
      EXPECT_NE(curve.provenance, Provenance::simulated);
      if (curve.kind != CurveKind::measured) continue;
      ++measured;
      if (curve.quantity != Quantity::sm_l2) continue;
      // The judge: what the SMs moved meets the tile program.
      for (const CurvePoint& point : curve.points) {
        if (point.value < 64.0 * 1024 * 1024) continue;
        const auto ratio = evaluate(metric_key::l2_sm_over_model, point.source->record);
        ASSERT_TRUE(ratio);
        EXPECT_NEAR(ratio->value, 1, curve.algorithm == "naive" ? 0.03 : 0.01) << curve.algorithm << " " << point.n;
      }
    }
    EXPECT_EQ(measured, 6) << "three algorithms, DRAM and SM<->L2";
    ASSERT_FALSE(io.curves().failed.empty()) << "naive runs out of memory at the end of the memory wall";
    EXPECT_EQ(io.curves().failed[0].disposition, Disposition::out_of_memory);
  }
  ASSERT_TRUE(tiles.has_grid());
  EXPECT_EQ(tiles.options("Algorithm"), (QStringList{"fa1", "fa2"}));
  EXPECT_GE(tiles.view()->grid().br.size(), 12U);
  EXPECT_GE(tiles.view()->grid().bc.size(), 12U);
  EXPECT_TRUE(tiles.view()->grid().fastest);
}

TEST(CollectPanel, StartIsDisabledWithItsReason) {
  const QTemporaryDir folder;
  qputenv("ATTNSCOPE_COLLECTOR", "/bin/false");
  CollectPanel panel;
  panel.set_database(folder.filePath("new.attnscope"));
  panel.set_preset(QStringLiteral("quick"));
  EXPECT_EQ(panel.blocker(), QString());
  panel.set_axes(QStringLiteral("N=[1024,oops"));
  EXPECT_FALSE(panel.blocker().isEmpty());
  panel.set_axes(QStringLiteral("N=0"));
  EXPECT_FALSE(panel.blocker().isEmpty()) << "an axis that parses may still ask for what cannot be posed";
  panel.set_axes({});
  EXPECT_EQ(panel.blocker(), QString());
  panel.set_database(QStringLiteral("/dev/null/new.attnscope"));
  EXPECT_TRUE(panel.blocker().contains("/dev/null"));
  panel.set_database({});
  EXPECT_FALSE(panel.blocker().isEmpty());
  qputenv("ATTNSCOPE_COLLECTOR", "/nonexistent");
  panel.set_database(folder.filePath("new.attnscope"));
  EXPECT_TRUE(panel.blocker().contains("attnscope"));
  qunsetenv("ATTNSCOPE_COLLECTOR");
}

TEST(CollectPanel, LogLinesFollowTheTheme) {
  apply_theme(ThemeChoice::light);
  CollectPanel panel;
  PointEvent event;
  event.point = "fa2 fp16 batch 1 heads 16 N 512 d 64 tile 64x64";
  event.disposition = "crashed";
  emit panel.collector().point_done(event);
  const auto* log = panel.findChild<QListWidget*>();
  ASSERT_NE(log, nullptr);
  ASSERT_EQ(log->count(), 1);
  EXPECT_EQ(log->item(0)->foreground().color(), disposition_color(Disposition::crashed, false));
  apply_theme(ThemeChoice::dark);
  QApplication::processEvents();
  EXPECT_EQ(log->item(0)->foreground().color(), disposition_color(Disposition::crashed, true));
  apply_theme(ThemeChoice::light);
}

TEST(CollectPanel, AnUnfinishedRunIsContinuedWhenAsked) {
  CollectPanel panel;
  EXPECT_FALSE(panel.request().resume);
  panel.set_resume(true);
  EXPECT_TRUE(panel.request().resume);
}

TEST(CollectPanel, ReadsTheDeviceFromAPlan) {
  PlanEvent plan;
  plan.device_name = "NVIDIA H200";
  plan.counters = "not permitted";
  const auto device = parse_device(QByteArray::fromStdString(to_json_line(plan)) + "\n", 1);
  ASSERT_TRUE(device);
  EXPECT_EQ(device->argument, "1");
  EXPECT_EQ(device->name, "NVIDIA H200 (GPU 1)");
  EXPECT_EQ(device->note, "not permitted");
  plan.simulated = true;
  EXPECT_FALSE(parse_device(QByteArray::fromStdString(to_json_line(plan)), 0));
  EXPECT_FALSE(parse_device("attnscope: no such GPU", 0));
}

}  // namespace
}  // namespace attnscope::ui
