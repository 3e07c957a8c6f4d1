// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/window/query_bar.h"

#include <gtest/gtest.h>

#include <QAbstractItemView>
#include <QFile>
#include <QSignalSpy>
#include <QStatusBar>
#include <QTest>
#include <set>

#include "messages/empty_page.h"
#include "messages/query.h"
#include "tests/ui/window_test.h"
#include "ui/pages/curves/io_curve_page.h"
#include "ui/pages/points/points_page.h"
#include "ui/pages/tiles/tile_heatmap_page.h"
#include "ui/text/qtext.h"

namespace attnscope::ui {
namespace {

class QueryBarTest : public OpenedWindowTest {
 protected:
  void SetUp() override {
    OpenedWindowTest::SetUp();
    window.resize(1280, 800);
    window.show();
    wait_until_idle();
  }
  QStringList candidates() const {
    QStringList all;
    const QAbstractItemModel& model = *bar.completer()->model();
    for (int row = 0; row < model.rowCount(); ++row) all << model.index(row, 0).data().toString();
    return all;
  }
  /// Text of the bar while another filter is being typed.
  QString still_active(const char* filter) {
    return qtext(msg::query::still_active{.filter = filter,
                                          .points = msg::query::shown{.all = window.workspace().checked_points(),
                                                                      .shown = window.workspace().visible()->size()}});
  }
  QueryBar& bar = window.query();
  QLineEdit& line = *bar.field();
};

TEST_F(QueryBarTest, IncompleteFilterKeepsTheChoices) {
  std::vector<PointRecord> causal;
  for (const std::int64_t n : {1024, 2048}) {
    PointRecord point = fixtures::memory_wall().front();
    point.spec.problem.n_q = point.spec.problem.n_k = n;
    point.spec.problem.mask = Mask::causal;
    causal.push_back(point);
  }
  const QString second = file + ".causal.attnscope";
  fixtures::write_file(second, {{"causal", causal, false}});
  ASSERT_EQ(window.workspace().open_blocking(second), QString());
  wait_until_idle();
  const IoCurvePage& page = page_of<IoCurvePage>(window);
  const QString before = page.file_stem();
  ASSERT_FALSE(before.contains("causal")) << before.toStdString();
  bar.set_text("causal");
  wait_until_idle();
  ASSERT_TRUE(page.file_stem().contains("causal")) << "all other points are hidden";
  bar.set_text("N>=1024");
  wait_until_idle();
  EXPECT_EQ(page.file_stem(), before);
  bar.set_text("causal");
  wait_until_idle();
  bar.set_text({});
  wait_until_idle();
  EXPECT_EQ(page.file_stem(), before);
}

TEST_F(QueryBarTest, AppliesToEveryPage) {
  const std::size_t all = window.workspace().visible()->size();
  EXPECT_EQ(bar.count(), qtext(points_text(all)));
  bar.set_text("algo:fa2 N<=4096");
  const auto left = window.workspace().visible();
  ASSERT_GT(left->size(), 0U);
  ASSERT_LT(left->size(), all);
  EXPECT_EQ(bar.count(), qtext(msg::query::shown{.all = all, .shown = left->size()}));
  for (Row row = 0; row < left->size(); ++row) {
    EXPECT_EQ(left->table().algorithm(row), "fa2");
    EXPECT_LE(left->table().n_k(row), 4096);
    EXPECT_GT(left->id(row), 0);
  }
  std::set<std::string> drawn;
  const CurveSet& curves = page_of<IoCurvePage>(window).curves();
  for (const Row row : drawn_rows(curves)) {
    drawn.insert(curves.table().algorithm(row));
    EXPECT_LE(curves.table().n_k(row), 4096);
  }
  EXPECT_EQ(drawn, std::set<std::string>{"fa2"});
  const HeatmapView& view = *page_of<TileHeatmapPage>(window).heatmap();
  ASSERT_FALSE(view.map().empty());
  for (const Row row : view.map().rows()) EXPECT_EQ(view.points().table().algorithm(row), "fa2");
  window.show_page(QStringLiteral("table"));
  wait_until_idle();
  EXPECT_EQ(page_of<PointsPage>(window).table()->model()->rowCount(), static_cast<int>(left->size()));
  // The status bar shows the same number.
  EXPECT_TRUE(window.statusBar()->findChildren<QLabel*>().last()->text().contains(QString::number(left->size())));

  bar.set_text({});
  EXPECT_EQ(window.workspace().visible()->size(), all);
  EXPECT_EQ(bar.count(), qtext(points_text(all)));
}

TEST_F(QueryBarTest, FilteredRowsReadTheRightRecords) {
  bar.set_text("algo:fa1");
  const auto left = window.workspace().visible();
  for (const Row row : {Row{0}, left->size() - 1}) {
    const PointRecord record = fixtures::record_of((*left)[row]);
    EXPECT_EQ(record.spec.algorithm, "fa1");
    EXPECT_EQ(record.spec, left->table().spec(row));
  }
}

TEST_F(QueryBarTest, ReportsErrorsAndKeepsTheLastFilter) {
  bar.set_text("algo:fa2");
  const std::size_t before = window.workspace().visible()->size();
  const QString active = still_active("algo:fa2");
  bar.set_text("algo:fa2 N>=");
  EXPECT_EQ(window.workspace().visible()->size(), before);
  EXPECT_TRUE(bar.error().contains("N>=")) << bar.error().toStdString();
  EXPECT_EQ(bar.count(), active);
  EXPECT_EQ(line.accessibleDescription(), bar.error());
  bar.set_text("algo:fa2 N>=1");
  EXPECT_EQ(bar.error(), QString());
  EXPECT_FALSE(bar.count().contains("algo:fa2")) << bar.count().toStdString();
}

TEST_F(QueryBarTest, ReturnKeyApplies) {
  bar.focus_field();
  QTest::keyClicks(&line, "algo:fa1");
  EXPECT_EQ(window.workspace().query(), QString());
  QTest::keyClick(&line, Qt::Key_Return);
  EXPECT_EQ(window.workspace().query(), "algo:fa1");
  QTest::keyClicks(&line, " N:512");
  EXPECT_EQ(bar.count(), still_active("algo:fa1"));
  bar.set_text("-naive");
  EXPECT_EQ(window.workspace().query(), "-naive");
  QTest::keyClick(&line, Qt::Key_Escape);
  EXPECT_EQ(window.workspace().query(), QString());
}

TEST_F(QueryBarTest, CompletesFieldsThenValues) {
  window.activateWindow();
  bar.focus_field();
  QTest::keyClicks(&line, "-causal alg");
  EXPECT_TRUE(bar.completer()->popup()->isVisible());
  EXPECT_EQ(candidates(), (QStringList{"algo:", "algorithm:"}));
  QTest::keyClick(bar.completer()->popup(), Qt::Key_Tab);
  EXPECT_EQ(line.text(), "-causal algo:");
  wait_until_idle();
  EXPECT_TRUE(bar.completer()->popup()->isVisible());
  EXPECT_EQ(candidates(), (QStringList{"fa1", "fa2", "naive"}));
  bar.completer()->popup()->setCurrentIndex(bar.completer()->popup()->model()->index(1, 0));
  QTest::keyClick(bar.completer()->popup(), Qt::Key_Return);
  EXPECT_EQ(line.text(), "-causal algo:fa2");
  EXPECT_EQ(window.workspace().query(), "-causal algo:fa2");
  EXPECT_FALSE(bar.completer()->popup()->isVisible());
}

TEST_F(QueryBarTest, EmptyPagesOfferToClearTheFilter) {
  bar.set_text("algo:splitkv");
  const QString all_filtered =
      qtext(msg::empty_page::all_filtered{.points = points_text(window.workspace().checked_points())});
  for (const char* id : {"io", "tiles", "table", "law"}) {
    window.show_page(QString::fromLatin1(id));
    wait_until_idle();
    const auto* words = window.page(QString::fromLatin1(id))->findChild<EmptyState*>();
    ASSERT_TRUE(words != nullptr && words->isVisible()) << id;
    EXPECT_TRUE(words->text().contains(all_filtered)) << id << words->text().toStdString();
    EXPECT_TRUE(words->text().contains("algo:splitkv")) << id;
  }
  emit window.page("law")->findChild<EmptyState*>()->linkActivated("clear");
  EXPECT_EQ(line.text(), QString());
  EXPECT_GT(window.workspace().visible()->size(), 0U);
  // A page that the filter leaves empty mentions the filter.
  bar.set_text("N:512");
  window.show_page("tiles");
  wait_until_idle();
  const QString words = window.page("tiles")->findChild<EmptyState*>()->text();
  EXPECT_TRUE(words.contains("href=\"clear\"")) << words.toStdString();
}

TEST_F(QueryBarTest, SharesTheRowOfTheTabsInALowWindow) {
  auto* tabs = window.findChild<QTabWidget*>();
  const auto top_of_page = [&] { return tabs->currentWidget()->mapTo(&window, QPoint(0, 0)).y(); };
  const auto in_row = [&] {
    const QRect row = QRect(tabs->mapTo(&window, QPoint(0, 0)), QSize(tabs->width(), tabs->tabBar()->height()));
    return row.contains(QRect(line.mapTo(&window, QPoint(0, 0)), line.size()));
  };
  const int top = top_of_page();
  EXPECT_FALSE(in_row());
  window.resize(1024, 600);
  wait_until_idle();
  EXPECT_LT(top_of_page(), top);
  EXPECT_TRUE(in_row());
  EXPECT_GE(line.width(), 100);
  bar.set_text(QStringLiteral("N<=512"));
  EXPECT_EQ(window.workspace().query(), QStringLiteral("N<=512"));
  window.resize(1280, 800);
  wait_until_idle();
  EXPECT_EQ(top_of_page(), top);
  EXPECT_FALSE(in_row());
  EXPECT_TRUE(line.isVisible());
}

TEST_F(QueryBarTest, PageStatesDoNotContainTheFilter) {
  bar.set_text("algo:fa2");
  for (const char* id : {"io", "tiles", "table"}) {
    const QByteArray state = QJsonDocument(window.page(QString::fromLatin1(id))->state()).toJson();
    EXPECT_FALSE(state.contains("algo:")) << state.toStdString();
  }
}

}  // namespace
}  // namespace attnscope::ui
