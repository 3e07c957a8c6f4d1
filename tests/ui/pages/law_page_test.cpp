// SPDX-License-Identifier: GPL-3.0-or-later
// Law page for N^2 d^2 / M: plot and table.
#include <gtest/gtest.h>

#include <QAbstractItemModelTester>
#include <QFileInfo>
#include <QHeaderView>
#include <QSignalSpy>
#include <QTest>
#include <algorithm>

#include "kernels/model/io_model.h"
#include "messages/empty_page.h"
#include "messages/law.h"
#include "profiler/files/recorded_samples.h"
#include "tests/ui/window_test.h"
#include "ui/pages/law/law_page.h"
#include "ui/plots/plot_parts.h"
#include "ui/runs/samples.h"

namespace attnscope::ui {
namespace {

/// FA1 and FA2 with tiles by the paper's rule; SM-L2 bytes are 1.001 x the closed form.
std::vector<PointRecord> law_points(std::initializer_list<std::int64_t> dims, bool simulated = false) {
  std::vector<PointRecord> points;
  for (const auto& [name, side] : {std::pair{"fa1", TileSide::bc}, std::pair{"fa2", TileSide::br}}) {
    for (const std::int64_t n : {3072, 6144}) {
      for (const std::int64_t d : dims) {
        for (const std::int64_t m : {8192, 16384, 32768}) {
          const TileShape tile = tile_of_memory(m, d, side);
          points.push_back(fixtures::ok_point(fixtures::spec(name, n, tile.br, tile.bc, d), simulated));
        }
      }
    }
  }
  return points;
}

class LawPageTest : public ::testing::Test {
 protected:
  QString written(const std::vector<fixtures::TestRun>& runs) {
    const QString path = folder.filePath("law.attnscope");
    fixtures::write_file(path, runs);
    return path;
  }
  QTemporaryDir folder;
};

QString cell(const LawPage& page, int row, const char* key) {
  return fixtures::cell_named(*page.table()->model(), row, key);
}

/// All drawn markers.
std::vector<QPointF> marks_in(const LawPlot& plot, const QCPAxisRect* panel) {
  std::vector<QPointF> marks;
  for (int i = 0; i < plot.graphCount(); ++i) {
    const QCPGraph& graph = *plot.graph(i);
    const QCPAxis* axis = graph.keyAxis();
    const QCPScatterStyle::ScatterShape shape = graph.scatterStyle().shape();
    if (axis == nullptr || axis->axisRect() != panel) continue;
    if (shape == QCPScatterStyle::ssNone) continue;
    for (const QCPGraphData& data : *graph.data()) marks.emplace_back(data.key, data.value);
  }
  return marks;
}

TEST_F(LawPageTest, TableShowsFittedTheoremAndModelExponents) {
  Workspace workspace;
  LawPage page(workspace);
  const QAbstractItemModelTester tester(page.table()->model());
  EXPECT_FALSE(page.has_plot());
  ASSERT_EQ(workspace.open_blocking(written({{"law", law_points({32, 64}), false}})), QString());
  ASSERT_TRUE(page.has_plot()) << page.replacement_text().toStdString();
  ASSERT_EQ(page.laws().families.size(), 2U) << "SM-L2 bytes only";
  ASSERT_EQ(page.table()->model()->rowCount(), 5);
  EXPECT_EQ(cell(page, 0, "N"), "2");
  EXPECT_EQ(cell(page, 0, "M"), "-1");
  EXPECT_EQ(cell(page, 1, "series"), "FA1 · SM↔L2");
  EXPECT_TRUE(cell(page, 1, "source").startsWith("derived · law")) << "from measured bytes";
  EXPECT_EQ(cell(page, 1, "points"), "12");
  // A constant factor does not change the exponents.
  for (const char* column : {"N", "d", "M"}) {
    EXPECT_EQ(cell(page, 1, column).section(QLatin1Char(' '), 0, 0), cell(page, 2, column)) << column;
  }
  EXPECT_EQ(cell(page, 2, "source"), "modeled");
  EXPECT_EQ(cell(page, 3, "series"), "FA2 · SM↔L2");
  const QString headline = dynamic_cast<LawPlot*>(page.view())->headline();
  const auto& fit = *page.laws().families[0].reported_fit();
  for (const auto& [k, variable] : {std::pair(0U, "N"), std::pair(1U, "d"), std::pair(2U, "M")}) {
    EXPECT_NEAR(cell(page, 1, variable).section(QLatin1Char(' '), 0, 0).toDouble(), fit.exponents.at(k), 1e-3);
    EXPECT_TRUE(
        headline.contains(QStringLiteral("%1^%2").arg(QLatin1String(variable), format_number(fit.exponents.at(k)))))
        << headline.toStdString();
  }
}

TEST_F(LawPageTest, RingsAPointSelectedOnAnotherPage) {
  Workspace workspace;
  LawPage page(workspace);
  ASSERT_EQ(workspace.open_blocking(written({{"law", law_points({32, 64}), false}})), QString());
  // A copy: a refresh of the page replaces the points.
  const analysis::LawPoint point = page.laws().families[0].points[3];
  const LawPlot& plot = *dynamic_cast<LawPlot*>(page.view());
  const auto rings = [&] {
    std::vector<QPointF> places;
    for (int i = 0; i < plot.graphCount(); ++i) {
      const QCPGraph& graph = *plot.graph(i);
      if (graph.layer()->name() != selection_layer()) continue;
      for (const QCPGraphData& data : *graph.data()) places.emplace_back(data.key, data.value);
    }
    return places;
  };
  page.mark((*page.laws().points)[point.row]);
  page.refresh_if_outdated();
  EXPECT_TRUE(page.is_mark_shown());
  const std::vector<QPointF> ringed = rings();
  ASSERT_EQ(ringed.size(), 3U) << "in each panel";
  for (std::size_t k = 0; k < 3; ++k) {
    EXPECT_EQ(ringed[k], QPointF(point.at.at(k), point.bytes)) << k;
  }
}

TEST_F(LawPageTest, DrawsEveryPointInEveryPanel) {
  Workspace workspace;
  LawPage page(workspace);
  ASSERT_EQ(workspace.open_blocking(written({{"law", law_points({32, 64}), false}})), QString());
  page.resize(1000, 700);
  ASSERT_EQ(page.plot()->panels().size(), 3U);
  for (const QCPAxisRect* panel : page.plot()->panels()) {
    std::vector<QPointF> marks = marks_in(*page.plot(), panel);
    ASSERT_EQ(marks.size(), 24U);
    std::vector<double> drawn;
    for (const QPointF& mark : marks) drawn.push_back(mark.y());
    std::vector<double> expected;
    for (const LawFamily& family : page.laws().families) {
      for (const analysis::LawPoint& point : family.points) expected.push_back(point.bytes);
    }
    std::ranges::sort(drawn);
    std::ranges::sort(expected);
    EXPECT_EQ(drawn, expected);
  }
}

TEST_F(LawPageTest, HoverShowsThePointAndAClickSelectsIt) {
  Workspace workspace;
  LawPage page(workspace);
  ASSERT_EQ(workspace.open_blocking(written({{"law", law_points({32, 64}, true), true}})), QString());
  page.resize(1000, 700);
  page.show();
  wait_until_idle();
  LawPlot& plot = *page.plot();
  plot.replot();
  const QCPAxisRect* panel = plot.panels().front();
  const QPointF first = marks_in(plot, panel).front();
  const QPointF pixel(panel->axis(QCPAxis::atBottom)->coordToPixel(first.x()),
                      panel->axis(QCPAxis::atLeft)->coordToPixel(first.y()));
  ASSERT_TRUE(plot.hover_at(pixel));
  const HoverContent& read = *plot.findChild<HoverOverlay*>()->content();
  EXPECT_TRUE(read.title.startsWith("FA1 · N ")) << read.title.toStdString();
  EXPECT_TRUE(read.rows.front().label.contains("simulated")) << read.rows.front().label.toStdString();
  EXPECT_EQ(read.rows.front().sample, (Sample{SampleKind::hollow, style::identity_of("fa1")}));
  EXPECT_TRUE(read.notes.join(QLatin1Char(' ')).contains(" 32 × ")) << read.notes.join(QLatin1Char(' ')).toStdString();
  EXPECT_TRUE(read.notes.join(QLatin1Char(' ')).contains("law · H200"));
  QSignalSpy clicked(&page, &Page::point_selected);
  QTest::mouseClick(&plot, Qt::LeftButton, Qt::NoModifier, pixel.toPoint());
  ASSERT_EQ(clicked.count(), 1);
  EXPECT_EQ(clicked[0][0].value<ShownPoint>().spec.problem.d, 32);
  EXPECT_FALSE(plot.hover_at({1, 1}));
}

TEST_F(LawPageTest, PrefersProblemsWithAFit) {
  Workspace workspace;
  LawPage page(workspace);
  std::vector<PointRecord> few = law_points({64});
  for (PointRecord& point : few) point.spec.problem.heads_q = point.spec.problem.heads_kv = 64;
  const QString quick = folder.filePath("quick.attnscope");
  fixtures::write_file(quick, {{"quick", few, false}});
  ASSERT_EQ(workspace.open_blocking(quick), QString());
  EXPECT_TRUE(page.laws().families.front().refusal);
  EXPECT_TRUE(cell(page, 1, "note").startsWith(text_before_arguments(msg::law::no_fit{.reason = "|"})));
  ASSERT_EQ(workspace.open_blocking(written({{"law", law_points({32, 64}), false}})), QString());
  EXPECT_EQ(page.laws().families.front().points.size(), 12U);
  // A fit, or a choice of the user, is kept when points are added.
  const QString later = folder.filePath("later.attnscope");
  fixtures::write_file(later, {{"later", law_points({32, 64, 128, 256}), false}});
  const QStringList heads = page.options(QStringLiteral("heads"));
  const auto of_the_few = std::ranges::find_if(heads, [](const QString& id) { return id.contains(u"64"); });
  ASSERT_NE(of_the_few, heads.end()) << heads.join(u' ').toStdString();
  page.choose(QStringLiteral("heads"), *of_the_few);
  const std::size_t chosen = page.laws().families.front().points.size();
  ASSERT_EQ(chosen, 6U) << "chosen by the user";
  ASSERT_EQ(workspace.open_blocking(later), QString());
  EXPECT_EQ(page.laws().families.front().points.size(), chosen);
}

TEST_F(LawPageTest, WritesPicturesNamedByTheirChoices) {
  Workspace workspace;
  LawPage page(workspace);
  ASSERT_EQ(workspace.open_blocking(written({{"law", law_points({32, 64}), false}})), QString());
  EXPECT_TRUE(page.file_stem().startsWith("law-sm_l2-")) << page.file_stem().toStdString();
  for (const char* ending : {".png", ".svg", ".pdf"}) {
    const QString path = folder.filePath(page.file_stem() + QLatin1String(ending));
    EXPECT_EQ(save_picture(path, {1000, 600}, page.picture()), QString());
    EXPECT_GT(QFileInfo(path).size(), 2000);
  }
}

TEST_F(LawPageTest, OffersARecordedSampleWithoutAFit) {
  const QString sample = find_sample(attnscope::law_sample);
  if (sample.isEmpty()) GTEST_SKIP() << "assets/samples/h200-law.attnscope is not there";
  Workspace workspace;
  LawPage page(workspace);
  page.show();
  ASSERT_EQ(workspace.open_blocking(written({{"memory-wall", fixtures::memory_wall(), false}})), QString());
  wait_until_idle();
  ASSERT_TRUE(page.replacement_text().contains(qtext(msg::empty_page::open_sample{.sample = attnscope::law_sample})))
      << page.replacement_text().toStdString();
  emit page.findChild<EmptyState*>()->linkActivated(sample);
  EXPECT_TRUE(QTest::qWaitFor([&] { return page.has_plot(); }));
  EXPECT_TRUE(workspace.files().contains(sample));
}

}  // namespace
}  // namespace attnscope::ui
