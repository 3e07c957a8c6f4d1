// SPDX-License-Identifier: GPL-3.0-or-later
// Roofline page: drawing, table and choices.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <QLabel>
#include <QSignalSpy>
#include <QTest>
#include <algorithm>
#include <cmath>

#include "messages/empty_page.h"
#include "messages/roofline_page.h"
#include "profiler/roofline/roofline.h"
#include "tests/ui/window_test.h"
#include "ui/pages/roofline/roofline_page.h"
#include "ui/pages/roofline/roofline_set.h"
#include "ui/plots/plot_parts.h"
#include "ui/runs/samples.h"
#include "ui/text/format.h"
#include "ui/text/qtext.h"

namespace attnscope::ui {
namespace {

class RooflinePageTest : public ::testing::Test {
 protected:
  void SetUp() override {
    fixtures::write_file(file, {{"memory-wall", fixtures::memory_wall(), false}});
    page.resize(1200, 800);
  }
  void open() { ASSERT_EQ(workspace.open_blocking(file), QString()); }
  [[nodiscard]] analysis::Table table() const {
    return roofline_table(std::make_shared<const RooflineSet>(page.shown()));
  }
  /// Texts of a column, by its title; empty: none.
  [[nodiscard]] QStringList column(const Message& title) const {
    const analysis::Table rows = table();
    QStringList cells;
    for (const analysis::Column& column : rows.columns) {
      if (column.title != text(title)) continue;
      for (std::size_t row = 0; row < rows.rows; ++row) cells << to_qstring(column.cell(row).text);
    }
    return cells;
  }
  /// Line of a roof, by the start of its name.
  [[nodiscard]] const QCPGraph* line_of(const QString& words) const {
    for (int i = 0; i < page.plot()->graphCount(); ++i) {
      if (page.plot()->graph(i)->name().startsWith(words)) return page.plot()->graph(i);
    }
    return nullptr;
  }
  /// Returns whether a graph of markers has one at this position.
  [[nodiscard]] bool has_mark(double x, double y) const {
    for (int i = 0; i < page.plot()->graphCount(); ++i) {
      const QCPGraph& graph = *page.plot()->graph(i);
      if (graph.lineStyle() != QCPGraph::lsNone) continue;
      for (const QCPGraphData& data : *graph.data()) {
        if (std::abs(data.key / x - 1) < 1e-9 && std::abs(data.value / y - 1) < 1e-9) return true;
      }
    }
    return false;
  }
  QTemporaryDir folder;
  QString file = folder.filePath("wall.attnscope");
  Workspace workspace;
  RooflinePage page{workspace};
};

TEST_F(RooflinePageTest, ExplainsWhyNoPointRan) {
  std::vector<PointRecord> records;
  for (const std::int64_t n : {1024, 2048}) {
    PointSpec spec;
    spec.algorithm = "fa2";
    spec.problem.n_q = spec.problem.n_k = n;
    records.push_back(fixtures::failed_point(spec, Disposition::infeasible, "needs 300 KiB, 227 are <there>"));
  }
  const QString nothing = file + ".none.attnscope";
  fixtures::write_file(nothing, {{"too-large", records, false}});
  ASSERT_EQ(workspace.open_blocking(nothing), QString());
  EXPECT_FALSE(page.has_plot());
  EXPECT_TRUE(page.replacement_text().contains(qtext(msg::empty_page::no_result{.points = points_text(2)})))
      << page.replacement_text().toStdString();
  EXPECT_TRUE(page.replacement_text().contains("infeasible – needs 300 KiB, 227 are &lt;there&gt;"))
      << page.replacement_text().toStdString();
  EXPECT_FALSE(page.replacement_text().contains(qtext(msg::roofline_page::none_help{})));
}

TEST_F(RooflinePageTest, ShowsALinkRoofForLinkTraffic) {
  open();
  const Message link_intensity = msg::roofline_page::column_intensity{.level = msg::roofline_page::link{}};
  EXPECT_TRUE(column(link_intensity).empty());
  EXPECT_EQ(line_of(to_qstring(to_string(analysis::Bound::link))), nullptr);
  page.restore({{"level", "link"}});
  EXPECT_FALSE(page.has_plot());
  EXPECT_TRUE(page.replacement_text().contains(qtext(msg::roofline_page::none_of_links_help{})))
      << page.replacement_text().toStdString();
  std::vector<PointRecord> records = fixtures::memory_wall();
  for (PointRecord& record : records) {
    record.spec.problem.gpus = 2;
    for (KernelRecord& kernel : record.kernels) {
      if (kernel.kernel == "all") kernel.metrics.push_back({"link_bytes", 1e6, "byte", Provenance::modeled});
    }
  }
  const QString two = file + ".two.attnscope";
  fixtures::write_file(two, {{"two", records, false}});
  workspace.close(file);
  ASSERT_EQ(workspace.open_blocking(two), QString());
  ASSERT_TRUE(page.has_plot()) << page.replacement_text().toStdString();
  ASSERT_NE(line_of(to_qstring(to_string(analysis::Bound::link))), nullptr);
  EXPECT_FALSE(column(link_intensity).empty());
  const RooflinePoint& point = page.shown().report.series.front().points.front();
  EXPECT_TRUE(has_mark(point.nominal_flops / 5e5, point.flops_per_second() / 1e12)) << "each of two GPUs sends half";
}

TEST_F(RooflinePageTest, DrawsPointsAtIntensityAndRate) {
  EXPECT_FALSE(page.has_plot());
  open();
  ASSERT_TRUE(page.has_plot()) << page.replacement_text().toStdString();
  const RooflineReport& report = page.shown().report;
  ASSERT_EQ(report.series.size(), 3U) << "naive, FA1, FA2";
  for (const RooflineLevel level : {RooflineLevel::dram, RooflineLevel::sm_l2}) {
    page.restore({{"level", level == RooflineLevel::dram ? "dram" : "sm_l2"}});
    for (const RooflineSeries& series : page.shown().report.series) {
      for (const RooflinePoint& point : series.points) {
        EXPECT_TRUE(has_mark(*point.intensity(level), point.flops_per_second() / 1e12));
      }
    }
  }
  EXPECT_EQ(page.values().lines.size(),
            report.series[0].points.size() + report.series[1].points.size() + report.series[2].points.size());
  EXPECT_TRUE(column(msg::roofline_page::series{}).contains("FA2"));
}

TEST_F(RooflinePageTest, HeadlineNamesTheHighestRateOfTheTable) {
  open();
  const QStringList rates = column(msg::roofline_page::column_rate{});
  const QStringList series = column(msg::roofline_page::series{});
  const QStringList lengths = column(msg::roofline_page::column_n{});
  double highest = 0;
  for (const QString& rate : rates) highest = std::max(highest, rate.toDouble());
  const QString headline = page.plot()->headline();
  int named = 0;
  for (qsizetype row = 0; row < rates.size(); ++row) {
    if (rates[row].toDouble() < highest) continue;  // several rows may round to the highest rate
    if (headline.contains(series[row]) && headline.contains(lengths[row]) && headline.contains(rates[row])) ++named;
  }
  EXPECT_EQ(named, 1) << headline.toStdString();
}

TEST_F(RooflinePageTest, HeadlineDividesTheRateByTheRoof) {
  if (sample_path().isEmpty()) GTEST_SKIP() << "assets/samples/h200.attnscope is not there";
  ASSERT_EQ(workspace.open_blocking(sample_path()), QString());
  ASSERT_TRUE(page.has_plot());
  const RooflinePoint* highest = nullptr;
  for (const RooflineSeries& series : page.shown().report.series) {
    for (const RooflinePoint& point : series.points) {
      if (highest == nullptr || point.flops_per_second() > highest->flops_per_second()) highest = &point;
    }
  }
  ASSERT_NE(highest, nullptr);
  ASSERT_GT(highest->executed_ratio(), 1.01) << "executes more FLOPs than it counts";
  const analysis::Roof* roof = analysis::find_roof(page.shown().report.roofs, highest->shares.front().bound);
  ASSERT_NE(roof, nullptr);
  const QString percent = qtext(Share(highest->flops_per_second() / roof->rate));
  EXPECT_TRUE(page.plot()->headline().contains(percent)) << page.plot()->headline().toStdString();
}

TEST_F(RooflinePageTest, HoverShowsBoundsAndAClickOpensDetails) {
  open();
  page.show();
  wait_until_idle();
  const RooflineSeries& series = page.shown().report.series[2];
  const RooflinePoint& point = series.points.back();
  const QPointF at(page.plot()->xAxis->coordToPixel(*point.intensity(RooflineLevel::dram)),
                   page.plot()->yAxis->coordToPixel(point.flops_per_second() / 1e12));
  ASSERT_TRUE(page.plot()->hover_at(at));
  const HoverContent& content = *page.plot()->findChild<HoverOverlay*>()->content();
  EXPECT_TRUE(content.title.startsWith("FA2 · N ")) << content.title.toStdString();
  QStringList labels;
  for (const HoverRow& row : content.rows) labels << row.label;
  const auto has = [&](const Message& label) { return labels.contains(qtext(label)); };
  EXPECT_TRUE(has(msg::roofline_page::visible{.provenance = "derived"})) << labels.join("; ").toStdString();
  EXPECT_TRUE(has(msg::roofline_page::executed{}));
  EXPECT_TRUE(has(msg::roofline_page::intensity{.level = msg::roofline_page::dram{}}));
  EXPECT_TRUE(has(msg::roofline_page::intensity{.level = msg::roofline_page::sm_l2{}}));
  EXPECT_TRUE(has(msg::roofline_page::share{.bound = "exp2"}));
  EXPECT_TRUE(has(msg::roofline_page::share{.bound = "mma.sync"})) << "FA2 runs no wgmma";
  EXPECT_TRUE(content.notes.contains(qtext(msg::roofline_page::nearest_roof{
      .bound = bound_text(point).toStdString(), .percent = text(Share(point.roof_share()))})));
  EXPECT_FALSE(content.notes.contains(qtext(msg::roofline_page::upper_bound{})));

  QSignalSpy spy(&page, &Page::point_selected);
  QTest::mouseClick(page.plot(), Qt::LeftButton, Qt::NoModifier, at.toPoint());
  ASSERT_EQ(spy.count(), 1);
  EXPECT_EQ(spy.at(0).at(0).value<ShownPoint>().spec.algorithm, series.algorithm);
}

TEST_F(RooflinePageTest, CopiesRatesInBaseUnits) {
  open();
  const ShownValues values = page.values();
  const qsizetype column = values.keys.indexOf("rate [FLOP/s]");
  ASSERT_GE(column, 0) << values.keys.join(u' ').toStdString();
  ASSERT_FALSE(values.empty());
  const PointSpec spec = (*page.shown().points)[page.shown().report.series[0].points[0].row].spec;
  const auto& record = page.shown().report.series[0].points[0];
  EXPECT_NEAR(values.lines[0][column].toDouble(), forward_flops(spec.problem) / record.ns * 1e9, 1e6);
}

TEST_F(RooflinePageTest, RingsAndSelectsAPointOfAnotherPage) {
  open();
  const RooflinePoint point = page.shown().report.series[0].points[1];
  page.mark((*page.shown().points)[point.row]);
  page.refresh_if_outdated();
  EXPECT_TRUE(page.is_mark_shown());
  const auto ring = [&]() -> const QCPGraph* {
    for (int i = 0; i < page.plot()->graphCount(); ++i) {
      if (page.plot()->graph(i)->layer()->name() == selection_layer()) return page.plot()->graph(i);
    }
    return nullptr;
  };
  ASSERT_NE(ring(), nullptr);
  ASSERT_EQ(ring()->dataCount(), 1);
  EXPECT_DOUBLE_EQ(ring()->data()->at(0)->key, *point.intensity(RooflineLevel::dram));
  EXPECT_DOUBLE_EQ(ring()->data()->at(0)->value, point.flops_per_second() / 1e12);
  page.restore({{"level", "sm_l2"}});
  ASSERT_NE(ring(), nullptr) << "at the other level, too";
  EXPECT_DOUBLE_EQ(ring()->data()->at(0)->key, *point.intensity(RooflineLevel::sm_l2));
  ASSERT_TRUE(workspace.set_query(QStringLiteral("algo:nothing")).empty());
  page.refresh_if_outdated();
  EXPECT_EQ(ring(), nullptr);
  EXPECT_FALSE(page.is_mark_shown());
}

TEST_F(RooflinePageTest, CountsSkippedPoints) {
  std::vector<PointRecord> points = fixtures::memory_wall();
  const auto fa2 = std::ranges::find_if(points, [](const PointRecord& point) { return point.spec.algorithm == "fa2"; });
  ASSERT_NE(fa2, points.end());
  fa2->disposition = Disposition::no_counters;
  fa2->reason = Message::verbatim("no permission");
  std::erase_if(fa2->kernels.front().metrics, [](const MetricValue& value) { return value.unit == "byte"; });
  const QString path = folder.filePath("some.attnscope");
  fixtures::write_file(path, {{"memory-wall", points, false}});
  ASSERT_EQ(workspace.open_blocking(path), QString());
  ASSERT_TRUE(page.has_plot());
  const auto labels = page.findChildren<QLabel*>();
  const QString note = qtext(msg::roofline_page::not_shown{.bytes = 1, .time = 0});
  EXPECT_TRUE(std::ranges::any_of(labels, [&](const QLabel* label) { return label->text() == note; }));
}

TEST_F(RooflinePageTest, CountsPointsOfOtherDevices) {
  open();
  const auto has_note = [&](std::size_t points) {
    const QString note =
        qtext(msg::roofline_page::other_devices{.devices = "A100 80GB", .points = points_text(points)});
    return std::ranges::any_of(page.findChildren<QLabel*>(),
                               [&](const QLabel* label) { return label->text() == note; });
  };
  const QString path = folder.filePath("a100.attnscope");
  fixtures::write_file(path, {{"memory-wall", fixtures::memory_wall(), false, false, "A100"}});
  ASSERT_EQ(workspace.open_blocking(path), QString());
  std::size_t of_others = 0;
  for (const PointRecord& point : fixtures::memory_wall()) of_others += point.disposition == Disposition::ok ? 1 : 0;
  EXPECT_TRUE(has_note(of_others));
}

TEST_F(RooflinePageTest, RestoresSavedChoices) {
  open();
  page.restore({{"level", "sm_l2"}});
  RooflinePage other(workspace);
  other.restore(page.state());
  EXPECT_EQ(other.shown().level, RooflineLevel::sm_l2);
  EXPECT_EQ(other.state(), page.state());
  other.restore({{"level", 7}, {"device", QJsonArray()}});
  EXPECT_EQ(other.shown().level, RooflineLevel::sm_l2);
}

TEST_F(RooflinePageTest, NamesNoRoofForImpossibleValues) {
  const AttentionProblem problem{.heads_q = 32, .heads_kv = 32, .n_q = 4096, .n_k = 4096, .d = 128};
  PointRecord possible = fixtures::imported_point("possible", problem, 1e6);
  PointRecord impossible = fixtures::imported_point("impossible", problem, 1e6);
  for (auto* const point : {&possible, &impossible}) {
    const double bytes = point == &possible ? 2e9 : 1e12;  // 1 TB in 1 ms
    point->kernels.front().metrics.push_back(
        {std::string(metric_key::dram_bytes), bytes, "byte", Provenance::imported});
  }
  const QString path = folder.filePath("impossible.attnscope");
  fixtures::write_file(path, {{"import:peers", {possible, impossible}, false, true}});
  ASSERT_EQ(workspace.open_blocking(path), QString());
  const QString reason = qtext(msg::roofline_page::impossible{});
  EXPECT_THAT(column(msg::roofline_page::column_bound{}), ::testing::UnorderedElementsAre("DRAM", reason));
  EXPECT_TRUE(column(msg::roofline_page::column_executed{}).empty()) << "imported points have no closed form";
}

TEST_F(RooflinePageTest, TimesWithoutBytesHaveNoIntensity) {
  const QString path = folder.filePath("peers.attnscope");
  fixtures::write_file(path, {{"import:peers", fixtures::peers(), false, true}});
  ASSERT_EQ(workspace.open_blocking(path), QString());
  EXPECT_FALSE(page.has_plot());
  EXPECT_TRUE(page.replacement_text().contains(qtext(msg::roofline_page::none_help{})))
      << page.replacement_text().toStdString();
}

// Three runs of one algorithm, and one of another.
TEST_F(RooflinePageTest, NamesAndDashesEachRun) {
  std::vector<PointRecord> wall = fixtures::memory_wall();
  std::erase_if(wall, [](const PointRecord& point) { return point.spec.algorithm != "fa2"; });
  std::vector<PointRecord> first = fixtures::memory_wall();
  std::erase_if(first, [](const PointRecord& point) { return point.spec.algorithm == "fa1"; });
  const QString path = folder.filePath("runs.attnscope");
  fixtures::write_file(path, {{"a", first}, {"b", wall}, {"c", wall}});
  ASSERT_EQ(workspace.open_blocking(path), QString());
  page.refresh_if_outdated();
  const RooflineSet& set = page.shown();
  std::vector<const RooflineSeries*> fa2;
  for (const RooflineSeries& series : set.report.series) {
    if (series.algorithm == "fa2") fa2.push_back(&series);
    if (series.algorithm != "naive") continue;
    EXPECT_EQ(series_title(set, series), "Naive");
    EXPECT_FALSE(is_further_run(set, series));
  }
  ASSERT_EQ(fa2.size(), 3U);
  EXPECT_FALSE(is_further_run(set, *fa2[0]));
  EXPECT_TRUE(is_further_run(set, *fa2[1]) && is_further_run(set, *fa2[2]));
  for (const RooflineSeries* series : fa2) {
    const std::string run = set.points->run(series->run).title.toStdString();
    EXPECT_EQ(series_title(set, *series), qtext(msg::roofline_page::of_run{.run = run, .series = "FA2"}));
  }
}

}  // namespace
}  // namespace attnscope::ui
