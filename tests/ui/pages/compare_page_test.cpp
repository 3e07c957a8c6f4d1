// SPDX-License-Identifier: GPL-3.0-or-later
// Compare page: head, strip chart and table.
#include <gtest/gtest.h>

#include <QAbstractItemModelTester>
#include <QApplication>
#include <QClipboard>
#include <QFileInfo>
#include <QLabel>
#include <QSignalSpy>
#include <QTest>
#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "messages/compare.h"
#include "messages/compare_page.h"
#include "messages/difference.h"
#include "tests/ui/window_test.h"
#include "ui/pages/compare/compare_page.h"
#include "ui/pages/curves/io_curve_page.h"
#include "ui/pages/points/points_page.h"
#include "ui/pages/tiles/tile_heatmap_page.h"
#include "ui/panels/details_panel.h"
#include "ui/plots/heatmap_view.h"
#include "ui/text/qtext.h"

namespace attnscope::ui {
namespace {

/// A point whose samples all have the same time.
PointRecord point_with_time(const PointSpec& spec, double ns, double dram_bytes = 4e6, bool simulated = false) {
  PointRecord record;
  record.spec = spec;
  record.provenance = simulated ? Provenance::simulated : Provenance::measured;
  KernelRecord sum;
  sum.samples_ns = {ns, ns, ns};
  sum.metrics = {{"dram_read_bytes", dram_bytes * 0.75, "byte", record.provenance},
                 {"dram_write_bytes", dram_bytes * 0.25, "byte", record.provenance}};
  record.kernels.push_back(std::move(sum));
  return record;
}

/// FA2 at d 128 over N and Br: baseline times multiplied by `factors`.
std::vector<PointRecord> grid_of(const std::map<std::pair<std::int64_t, int>, double>& factors) {
  std::vector<PointRecord> points;
  for (const auto& [at, factor] : factors) {
    points.push_back(
        point_with_time(fixtures::spec("fa2", at.first, at.second), 1e3 * static_cast<double>(at.first) * factor));
  }
  return points;
}

const std::map<std::pair<std::int64_t, int>, double> unchanged_factors{
    {{1024, 64}, 1}, {{1024, 128}, 1}, {{2048, 64}, 1}, {{2048, 128}, 1}, {{4096, 64}, 1}, {{4096, 128}, 1}};

class ComparePageTest : public ::testing::Test {
 protected:
  void open(const std::vector<fixtures::TestRun>& runs) {
    const QString path = folder.filePath("sides.attnscope");
    fixtures::write_file(path, runs);
    ASSERT_EQ(workspace.open_blocking(path), QString());
    page.resize(1100, 700);
    page.show();
    page.wait_until_idle();
    wait_until_idle();
  }
  /// Opens two runs; the second has these factors and one more point.
  void open_two_runs(const std::map<std::pair<std::int64_t, int>, double>& factors) {
    std::vector<PointRecord> after = grid_of(factors);
    after.push_back(point_with_time(fixtures::spec("fa2", 8192, 64), 1e6));
    open({{"before", grid_of(unchanged_factors)}, {"after", after}});
  }
  [[nodiscard]] QStringList column(const QString& key) const {
    const QAbstractItemModel& rows = *page.table()->model();
    const int place = page.model().find_column_index(key);
    QStringList texts;
    for (int row = 0; place >= 0 && row < rows.rowCount(); ++row) texts << rows.index(row, place).data().toString();
    return texts;
  }
  /// Line above the table: what all shown rows have in common.
  [[nodiscard]] QString common() const { return page.findChild<QLabel*>("common")->text(); }
  /// Shown answer; its counts are those of the verdicts.
  void expect_answer(const std::map<analysis::Verdict, std::size_t>& counts, std::size_t left_out) const {
    const analysis::ComparisonView& view = page.shown().view();
    for (const auto& [verdict, count] : counts) EXPECT_EQ(view.count(verdict), count) << static_cast<int>(verdict);
    EXPECT_EQ(view.left_out, left_out);
    EXPECT_EQ(page.summary().answer(), qtext(view.answer));
  }
  const QString not_compared = qtext(msg::compare::not_compared{});
  QTemporaryDir folder;
  Workspace workspace;
  ComparePage page{workspace};
};

const std::map<std::pair<std::int64_t, int>, double> changed_factors{
    {{1024, 64}, 1.3}, {{1024, 128}, 0.7}, {{2048, 64}, 1}, {{2048, 128}, 1.02}, {{4096, 64}, 1.6}, {{4096, 128}, 0.9}};

TEST_F(ComparePageTest, TableShowsRegressionsFirst) {
  const QAbstractItemModelTester tester(page.table()->model());
  open_two_runs(changed_factors);
  ASSERT_EQ(page.replacement_text(), QString());
  EXPECT_EQ(page.comparison()->base_name(), "before") << "the older run";
  EXPECT_EQ(column("verdict"),
            (QStringList{"SLOWER", "SLOWER", "FASTER", "FASTER", "UNDECIDED", "UNDECIDED", not_compared}));
  EXPECT_EQ(column("n").mid(0, 4), (QStringList{"4096", "1024", "1024", "4096"})) << "the largest change first";
  EXPECT_EQ(column("tile").mid(0, 4), (QStringList{"64x64", "64x64", "128x64", "128x64"}));
  EXPECT_EQ(page.model().find_column_index("d"), -1) << "all points have one d";
  EXPECT_TRUE(column("ratio").front().startsWith("1.600 [")) << column("ratio").front().toStdString();
  EXPECT_EQ(column("baseline_ns").front(), "4.096 ms");
  EXPECT_EQ(column("candidate_ns").front(), "6.554 ms");
  EXPECT_EQ(column("note").last(), qtext(msg::compare::not_in_baseline{}));
  EXPECT_EQ(column("note").at(4), QString()) << "no column of commands";
  const QString why = page.table()->model()->index(4, 0).data(Qt::ToolTipRole).toString();
  EXPECT_TRUE(why.contains("attnscope collect --rounds ")) << why.toStdString();
  expect_answer({{analysis::Verdict::faster, 2},
                 {analysis::Verdict::slower, 2},
                 {analysis::Verdict::same, 0},
                 {analysis::Verdict::ambiguous, 2}},
                1);
  EXPECT_EQ(page.summary().differences(), qtext(msg::compare::nothing_differs{}));
  EXPECT_EQ(common(), qtext(page.shown().common()));
  EXPECT_TRUE(common().contains("d 128") && common().contains("rounds 1")) << common().toStdString();
  EXPECT_FALSE(common().contains("N ")) << "it varies";
  EXPECT_EQ(page.model().find_column_index("ratio"), 1) << "the second column, before all settings";
  EXPECT_TRUE(page.summary().folded());
  EXPECT_TRUE(page.summary().details().contains(qtext(msg::compare::floor_percent{.fewest = 3, .rows = 6})))
      << page.summary().details().toStdString();
}

TEST_F(ComparePageTest, SortsMissingRatiosLast) {
  open_two_runs(changed_factors);
  page.table()->sortByColumn(page.model().find_column_index("ratio"), Qt::DescendingOrder);
  EXPECT_TRUE(column("ratio").front().startsWith("1.600"));
  EXPECT_EQ(column("verdict").last(), not_compared);
  page.table()->sortByColumn(page.model().find_column_index("ratio"), Qt::AscendingOrder);
  EXPECT_TRUE(column("ratio").front().startsWith("0.700"));
  EXPECT_EQ(column("verdict").last(), not_compared);
  EXPECT_EQ(page.state()["sorted_by"], "ratio");
}

TEST_F(ComparePageTest, SelectedRowShowsTheCandidate) {
  open_two_runs(changed_factors);
  QSignalSpy selected(&page, &Page::point_selected);
  page.table()->selectRow(0);
  ASSERT_EQ(selected.size(), 1);
  const auto other = selected.takeFirst().front().value<ShownPoint>();
  EXPECT_EQ(other.run->summary.preset, "after");
  EXPECT_EQ(other.spec.problem.n_k, 4096);
}

TEST_F(ComparePageTest, UsesTheMarginAndTheLastRequest) {
  open_two_runs(changed_factors);
  page.restore({{"margin", 20}});
  page.restore({{"margin", 45}});
  page.wait_until_idle();
  EXPECT_DOUBLE_EQ(page.comparison()->view.margin, 0.45);
  EXPECT_EQ(column("verdict").count("SLOWER"), 1) << "only 1.6 exceeds the margin";
  EXPECT_TRUE(page.is_up_to_date());
}

TEST_F(ComparePageTest, ComparesEachCandidateWithTheBaseline) {
  auto slower = unchanged_factors;
  for (auto& [at, factor] : slower) factor = 1.5;
  open({{"a", grid_of(unchanged_factors)}, {"b", grid_of(slower)}, {"c", grid_of(changed_factors)}});
  ASSERT_EQ(page.comparison()->view.sides.size(), 2U);
  EXPECT_EQ(column("verdict").size(), 12);
  EXPECT_EQ(column("side").count("b"), 6);
  EXPECT_LT(page.model().find_column_index("side"), page.model().find_column_index("ratio"));
  EXPECT_TRUE(page.summary().details().contains(qtext(msg::compare::floor_percent{.fewest = 3, .rows = 12})))
      << page.summary().details().toStdString();
  page.restore({{"candidate", "c"}});
  EXPECT_TRUE(page.summary().details().contains(qtext(msg::compare::floor_percent{.fewest = 3, .rows = 6})))
      << page.summary().details().toStdString();
  EXPECT_EQ(column("verdict").size(), 6);
  EXPECT_EQ(page.model().find_column_index("side"), -1);
  page.restore({{"baseline", "b"}});
  page.wait_until_idle();
  EXPECT_EQ(page.comparison()->base_name(), "b");
  const QStringList ratios = column("ratio");
  EXPECT_TRUE(std::ranges::any_of(ratios, [](const QString& text) { return text.startsWith("1.067 ["); }))
      << ratios.join(' ').toStdString();
}

TEST_F(ComparePageTest, OmitsSidesWithoutCommonPoints) {
  open({{"a", grid_of(unchanged_factors)},
        {"b", grid_of(changed_factors)},
        {"explored", {point_with_time(fixtures::spec("fa2", 512, 64), 1e6)}}});
  page.restore({{"by", "run"}});
  page.wait_until_idle();
  ASSERT_EQ(page.comparison()->view.sides.size(), 1U);
  EXPECT_EQ(page.comparison()->name_of(0), "b");
  EXPECT_EQ(page.comparison()->base_name(), "a");
  EXPECT_FALSE(page.summary().answer().contains("explored")) << page.summary().answer().toStdString();
  EXPECT_EQ(column("verdict").size(), 6);
}

TEST_F(ComparePageTest, SidesCanBeAlgorithmsOrGpusOfOneRun) {
  std::vector<PointRecord> points;
  for (const std::int64_t n : {1024, 2048}) {
    points.push_back(point_with_time(fixtures::spec("fa1", n), 3e6));
    points.push_back(point_with_time(fixtures::spec("fa2", n), 1e6));
  }
  open({{"one", points}});
  ASSERT_EQ(page.replacement_text(), QString());
  EXPECT_EQ(page.comparison()->axis().key, "algorithm");
  EXPECT_EQ(page.comparison()->base_name(), "FA1");
  EXPECT_EQ(column("verdict"), (QStringList{"FASTER", "FASTER"}));
  EXPECT_EQ(page.model().find_column_index("algorithm"), -1) << "the sides are algorithms";
  page.restore({{"by", "n"}});
  page.wait_until_idle();
  EXPECT_EQ(page.comparison()->axis().values, (std::vector<QString>{"1024", "2048"}));
  EXPECT_EQ(column("verdict").size(), 2);
}

TEST_F(ComparePageTest, ShowsDifferencesFirst) {
  std::vector<PointRecord> simulated;
  for (const auto& [at, factor] : unchanged_factors) {
    simulated.push_back(point_with_time(fixtures::spec("fa2", at.first, at.second),
                                        1e3 * static_cast<double>(at.first) * 1.4, 4e6, true));
  }
  open({{"real", grid_of(unchanged_factors)}, {"model", simulated, true}});
  EXPECT_EQ(page.comparison()->base_name(), "real");
  expect_answer({{analysis::Verdict::faster, 0}, {analysis::Verdict::slower, 6}}, 0);
  const Message change =
      msg::difference::change{.base = "measured", .name = msg::difference::values{}, .other = "simulated"};
  EXPECT_TRUE(qtext(page.comparison()->view.differences).contains(qtext(change)));
  EXPECT_EQ(page.summary().differences(), qtext(page.comparison()->view.differences));
}

TEST_F(ComparePageTest, ComparesBestTilesOfTwoGpus) {
  auto one_tile = unchanged_factors;
  std::erase_if(one_tile, [](const auto& entry) { return entry.first.second == 128; });
  for (auto& [at, factor] : one_tile) factor = 0.5;
  auto faster_large = unchanged_factors;
  for (auto& [at, factor] : faster_large) factor = at.second == 128 ? 0.8 : 1;
  open({{"before", grid_of(faster_large)}, {"after", grid_of(one_tile), false, false, "H100"}});
  const auto tiles = [&] { return page.comparison()->view.sides.front()->alignment.tiles; };
  EXPECT_EQ(tiles(), analysis::ComparedTiles::best);
  EXPECT_EQ(column("n").size(), 3);
  EXPECT_TRUE(qtext(page.shown().common()).contains("128x64 → 64x64")) << text(page.shown().common());
  EXPECT_TRUE(column("ratio").front().startsWith("0.625 [")) << column("ratio").front().toStdString();
  EXPECT_TRUE(qtext(page.shown().common()).contains(qtext(msg::compare::best_of{.base = 2, .other = 1})));
  EXPECT_TRUE(page.summary().details().contains(qtext(msg::compare::unequal_choice{.most = 2, .rows = 3})));
  page.restore({{"tiles", "equal"}});
  page.wait_until_idle();
  EXPECT_EQ(tiles(), analysis::ComparedTiles::equal);
  EXPECT_TRUE(column("ratio").front().startsWith("0.500 [")) << column("ratio").front().toStdString();
  EXPECT_EQ(column("verdict").count(not_compared), 3) << "the second tile of the baseline";
  const QJsonObject state = page.state();
  EXPECT_EQ(state["tiles"], "equal");
  ComparePage again(workspace);
  again.restore(state);
  again.show();
  again.wait_until_idle();
  EXPECT_EQ(again.comparison()->view.sides.front()->alignment.tiles, analysis::ComparedTiles::equal);
}

TEST_F(ComparePageTest, NamesChangedKernels) {
  const auto recorded = [](const char* digest) {
    std::vector<PointRecord> points = grid_of(unchanged_factors);
    for (PointRecord& point : points) point.kernels.front().launch.emplace().digest = digest;
    return points;
  };
  const QString changed = qtext(msg::compare::changed_kernels{.algorithms = "FA2"});
  open({{"before", recorded("abc")}, {"again", recorded("abc")}});
  ASSERT_NE(page.comparison(), nullptr);
  EXPECT_FALSE(page.summary().details().contains(changed)) << page.summary().details().toStdString();
  open({{"after", recorded("abd")}});
  EXPECT_TRUE(page.summary().details().contains(changed)) << page.summary().details().toStdString();
}

// Two GPUs with no tile in common still are the sides.
TEST_F(ComparePageTest, SidesMatchWithoutCommonTile) {
  open({{"before", {point_with_time(fixtures::spec("fa2", 1024, 128), 1e6)}},
        {"after", {point_with_time(fixtures::spec("fa2", 1024, 64), 5e5)}, false, false, "H100"}});
  EXPECT_EQ(page.comparison()->axis().key, "run");
  EXPECT_EQ(column("verdict"), (QStringList{"FASTER"}));
  EXPECT_TRUE(qtext(page.shown().common()).contains("128x64 → 64x64")) << text(page.shown().common());
}

/// Ratios drawn as markers or as interval bars in a row of the plot.
std::set<double> marks_in(const RatioPlot& plot, double row) {
  std::set<double> ratios;
  for (int i = 0; i < plot.graphCount(); ++i) {
    if (plot.graph(i)->scatterStyle().isNone()) continue;
    for (const QCPGraphData& data : *plot.graph(i)->data()) {
      if (std::abs(data.value - row) < 0.5) ratios.insert(data.key);
    }
  }
  return ratios;
}
int bars_in(RatioPlot& plot) {
  int bars = 0;
  for (int i = 0; i < plot.plottableCount(); ++i) {
    if (auto* of = qobject_cast<QCPErrorBars*>(plot.plottable(i))) bars += static_cast<int>(of->data()->size());
  }
  return bars;
}

TEST_F(ComparePageTest, PlotGroupsRatiosByAlgorithmAndD) {
  auto two_widths = grid_of(changed_factors);
  for (PointRecord& record : grid_of(unchanged_factors)) {
    record.spec.problem.d = 64;
    two_widths.push_back(std::move(record));
  }
  auto before = grid_of(unchanged_factors);
  for (PointRecord& record : grid_of(unchanged_factors)) {
    record.spec.problem.d = 64;
    before.push_back(std::move(record));
  }
  open({{"before", before}, {"after", two_widths}});
  RatioPlot& plot = *page.plot();
  ASSERT_TRUE(page.has_plot());
  EXPECT_EQ(plot.groups(), (QStringList{"FA2 d 64", "FA2 d 128"}));
  EXPECT_EQ(marks_in(plot, 0), std::set<double>{1});
  const std::set<double> changed = marks_in(plot, 1);
  ASSERT_EQ(changed.size(), 6U);
  EXPECT_NEAR(*changed.begin(), 0.7, 1e-9);
  EXPECT_NEAR(*changed.rbegin(), 1.6, 1e-9);
  EXPECT_EQ(bars_in(plot), 4) << "two FASTER, two SLOWER";
  // A ratio r of one round has the interval r / 1.05 to r * 1.05; each bar is that of its point.
  for (int i = 0; i < plot.plottableCount(); ++i) {
    const auto* of = qobject_cast<QCPErrorBars*>(plot.plottable(i));
    if (of == nullptr) continue;
    for (int bar = 0; bar < of->data()->size(); ++bar) {
      EXPECT_NEAR((*of->data())[bar].errorPlus, 0.05 * of->dataPlottable()->interface1D()->dataMainKey(bar), 1e-9);
    }
  }
  // Half and twice the time are equally far from 1.
  EXPECT_NEAR(plot.xAxis->range().lower * plot.xAxis->range().upper, 1, 1e-9);
  EXPECT_GT(plot.xAxis->range().upper, 1.6 * 1.05) << "room for the interval";

  plot.replot();
  const QPointF at(plot.xAxis->coordToPixel(1.6), plot.yAxis->coordToPixel(1));
  ASSERT_TRUE(plot.hover_at(at));
  const HoverContent& read = *plot.findChild<HoverOverlay*>()->content();
  ASSERT_EQ(read.rows.size(), 3U);
  EXPECT_EQ(read.rows[0].value, "4.10 ms");
  EXPECT_EQ(read.rows[1].value, "6.55 ms");
  EXPECT_TRUE(read.rows[2].value.startsWith("1.600 ["));
  EXPECT_EQ(read.notes.front(), "SLOWER");
  QSignalSpy selected(&page, &Page::point_selected);
  QTest::mouseClick(&plot, Qt::LeftButton, Qt::NoModifier, at.toPoint());
  ASSERT_GE(selected.size(), 1);
  EXPECT_EQ(selected.front().front().value<ShownPoint>().run->summary.preset, "after");

  const QString file = folder.filePath(page.file_stem() + ".svg");
  EXPECT_EQ(save_picture(file, {900, 600}, page.picture()), QString());
  EXPECT_GT(QFileInfo(file).size(), 2000);
}

TEST_F(ComparePageTest, MarksOfARowDoNotOverlap) {
  open({{"before", grid_of(unchanged_factors)}, {"after", grid_of(unchanged_factors)}});
  RatioPlot& plot = *page.plot();
  ASSERT_EQ(plot.groups().size(), 1);
  std::map<double, int> marks;  // y: number of marks, all at ratio 1
  for (int i = 0; i < plot.graphCount(); ++i) {
    if (plot.graph(i)->scatterStyle().isNone()) continue;
    for (const QCPGraphData& data : *plot.graph(i)->data()) ++marks[data.value];
  }
  EXPECT_EQ(marks.size(), 5U) << "as many lanes as there are";
}

TEST_F(ComparePageTest, VerdictsAndPlotRowsFilterTheTable) {
  auto before = grid_of(unchanged_factors);
  auto after = grid_of(changed_factors);
  for (const bool is_after : {false, true}) {
    for (PointRecord record : grid_of(unchanged_factors)) {
      record.spec.problem.d = 64;
      (is_after ? after : before).push_back(std::move(record));
    }
  }
  open({{"before", before}, {"after", after}});
  const auto button = [&](const QString& key) { return page.findChild<QToolButton*>(key); };
  EXPECT_EQ(button("slower")->text(), "SLOWER 2");
  EXPECT_FALSE(button("same")->isEnabled()) << "no row";
  EXPECT_EQ(column("verdict").size(), 12);
  button("slower")->click();
  EXPECT_EQ(column("verdict"), (QStringList{"SLOWER", "SLOWER"}));
  EXPECT_TRUE(common().startsWith(qtext(msg::compare_page::filtered{.all = 12, .filter = "SLOWER", .rows = 2})));
  EXPECT_TRUE(common().contains("d 128")) << common().toStdString();
  EXPECT_EQ(marks_in(*page.plot(), 0), std::set<double>{1}) << "the plot keeps all rows";
  button("slower")->click();
  EXPECT_EQ(column("verdict").size(), 12);

  RatioPlot& plot = *page.plot();
  plot.replot();
  const QPoint label(4, static_cast<int>(plot.yAxis->coordToPixel(0)));
  QTest::mouseClick(&plot, Qt::LeftButton, Qt::NoModifier, label);
  EXPECT_EQ(page.filter(), (RowFilter{.verdict = {}, .group = "FA2 d 64"}));
  EXPECT_EQ(column("verdict").size(), 6);
  EXPECT_TRUE(common().contains("d 64")) << common().toStdString();
  QTest::keyClick(page.table(), Qt::Key_Escape);
  EXPECT_TRUE(page.filter().empty());
  EXPECT_EQ(column("verdict").size(), 12);
}

TEST_F(ComparePageTest, CopiesTheCommandThatDecides) {
  open_two_runs(changed_factors);
  const std::string& command = page.comparison()->view.command;
  ASSERT_FALSE(command.empty());
  page.summary().copy_button()->click();
  EXPECT_EQ(QApplication::clipboard()->text().toStdString(), command);
}

TEST_F(ComparePageTest, RestoresChoices) {
  open_two_runs(changed_factors);
  page.restore({{"by", "run"}});
  page.restore({{"baseline", "after"}});
  page.restore({{"margin", 2.5}});
  page.wait_until_idle();
  const QJsonObject state = page.state();
  ComparePage again(workspace);
  again.restore(state);
  again.show();
  again.wait_until_idle();
  ASSERT_NE(again.comparison(), nullptr);
  EXPECT_EQ(again.comparison()->base_name(), "after");
  EXPECT_DOUBLE_EQ(again.comparison()->view.margin, 0.025);
  EXPECT_EQ(again.state(), state);
}

TEST_F(ComparePageTest, EscapesFileNames) {
  open({{"<b>one</b>", grid_of(unchanged_factors)}, {"<img src=x>", grid_of(changed_factors)}});
  ASSERT_EQ(page.replacement_text(), QString());
  for (const QLabel* label : page.findChildren<QLabel*>()) {
    if (label->text().contains("<img")) {
      EXPECT_EQ(label->textFormat(), Qt::PlainText);
    }
  }
  EXPECT_TRUE(page.comparison()->axis().side_named("<b>one</b>").has_value());
}

TEST_F(ComparePageTest, UsesTheWindowFilter) {
  open_two_runs(changed_factors);
  ASSERT_EQ(workspace.set_query("N:4096").id, std::string());
  page.wait_until_idle();
  EXPECT_EQ(column("verdict"), (QStringList{"SLOWER", "FASTER"}));
}

/// Positions of selection rings.
std::vector<std::pair<double, double>> rings_in(QCustomPlot& plot) {
  std::vector<std::pair<double, double>> rings;
  for (int i = 0; i < plot.graphCount(); ++i) {
    if (plot.graph(i)->layer()->name() != selection_layer()) continue;
    for (const QCPGraphData& data : *plot.graph(i)->data()) rings.emplace_back(data.key, data.value);
  }
  return rings;
}

TEST_F(ComparePageTest, MarksTheSelectedPointOnAllPages) {
  const QString path = folder.filePath("linked.attnscope");
  fixtures::write_file(path, {{"before", grid_of(unchanged_factors)}, {"after", grid_of(changed_factors)}});
  MainWindow window(false);
  window.resize(1280, 800);
  window.show();
  ASSERT_EQ(window.workspace().open_blocking(path), QString());
  window.show_page(QStringLiteral("compare"));
  auto& compare = page_of<ComparePage>(window);
  compare.wait_until_idle();
  wait_until_idle();
  const auto row_of = [&](const QString& n, const QString& tile) {
    const QAbstractItemModel& rows = *compare.table()->model();
    for (int row = 0; row < rows.rowCount(); ++row) {
      const auto text = [&](const char* key) {
        return rows.index(row, compare.model().find_column_index(QLatin1String(key))).data().toString();
      };
      if (text("n") == n && text("tile") == tile) return row;
    }
    return -1;
  };
  compare.table()->selectRow(row_of("4096", "128x64"));
  ASSERT_TRUE(window.findChild<DetailsPanel*>()->point());
  const ShownPoint chosen = *window.findChild<DetailsPanel*>()->point();
  EXPECT_EQ(chosen.run->summary.preset, "after");

  window.show_page(QStringLiteral("table"));
  auto& table = page_of<PointsPage>(window);
  table.wait_until_idle();
  EXPECT_EQ(table.table()->selectionModel()->selectedRows().size(), 1);
  EXPECT_EQ(to_tsv(table.table()->selected_values()).count("4096"), 1)
      << to_tsv(table.table()->selected_values()).toStdString();
  ASSERT_TRUE(window.findChild<DetailsPanel*>()->point());
  EXPECT_EQ(window.findChild<DetailsPanel*>()->point()->id, chosen.id);
  EXPECT_EQ(window.findChild<DetailsPanel*>()->point()->run->summary.preset, "after");

  window.show_page(QStringLiteral("tiles"));
  auto& tiles = page_of<TileHeatmapPage>(window);
  tiles.restore({{"rows", "n"}, {"columns", "br"}});
  ASSERT_TRUE(tiles.has_map());
  ASSERT_TRUE(tiles.heatmap()->selected());
  EXPECT_EQ(tiles.heatmap()->point_at(*tiles.heatmap()->selected()).id, chosen.id);

  window.show_page(QStringLiteral("io"));
  auto& curves = page_of<IoCurvePage>(window);
  EXPECT_TRUE(curves.is_mark_shown());
  EXPECT_EQ(rings_in(*curves.plot()), (std::vector<std::pair<double, double>>{{4096, 4e6}}));

  const PointSet& all = *curves.curves().points;
  for (const Row row : all.table().rows()) {
    const ShownPoint point = all[row];
    if (point.run->summary.preset != "after" || point.spec.problem.n_k != 1024 || point.spec.tile.br != 128) continue;
    emit curves.plot()->point_clicked(point);
  }
  window.show_page(QStringLiteral("compare"));
  EXPECT_EQ(compare.table()->currentIndex().row(), row_of("1024", "128x64"));
  window.show_page(QStringLiteral("tiles"));
  ASSERT_TRUE(tiles.heatmap()->selected());
  EXPECT_EQ(tiles.heatmap()->point_at(*tiles.heatmap()->selected()).spec.problem.n_k, 1024);
}

}  // namespace
}  // namespace attnscope::ui
