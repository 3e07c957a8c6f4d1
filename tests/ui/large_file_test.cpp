// SPDX-License-Identifier: GPL-3.0-or-later
// Files with more points than are kept in memory.
#include <gtest/gtest.h>

#include <SQLiteCpp/SQLiteCpp.h>

#include <QAbstractItemModelTester>
#include <QFile>
#include <QLabel>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>
#include <algorithm>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "messages/query.h"
#include "profiler/metrics/metrics.h"
#include "tests/ui/fixtures.h"
#include "ui/export_table.h"
#include "ui/models/points_order.h"
#include "ui/models/points_table_model.h"
#include "ui/pages/points_page.h"
#include "ui/query_bar.h"
#include "ui/said.h"
#include "ui/workspace.h"

namespace attnscope::ui {
namespace {

using Ids = std::vector<std::int64_t>;

class LargeFile : public testing::Test {
 protected:
  /// Points take a while to be made up: once.
  static const QByteArray& content() {
    static const QByteArray bytes = [] {
      const QTemporaryDir made;
      const QString path = made.filePath(QStringLiteral("large.attnscope"));
      std::vector<PointRecord> wall = fixtures::memory_wall();
      wall[3].clocks.emplace();
      wall[3].clocks->throttled = true;
      wall[3].clocks->throttle_reasons = 4;
      fixtures::write_file(path, {{"quick", wall, false}, {"tiles", fixtures::tile_sweep(), false}});
      QFile in(path);
      return in.open(QIODevice::ReadOnly) ? in.readAll() : QByteArray();
    }();
    return bytes;
  }

  void SetUp() override {
    file = folder.filePath(QStringLiteral("large.attnscope"));
    QFile out(file);
    ASSERT_TRUE(out.open(QIODevice::WriteOnly) && out.write(content()) == content().size());
    out.close();
    ASSERT_EQ(whole.open_now(file), QString());
    all = whole.visible()->size();
    ASSERT_GT(all, 2 * most);
    part.set_most_loaded(most);
  }

  void open() {
    part.open(file);
    settle();
  }
  void settle() {
    ASSERT_TRUE(QTest::qWaitFor([this] { return !part.loading() && !part.selecting(); }));
  }
  void filter(const QString& words) {
    ASSERT_TRUE(part.set_query(words).empty());
    ASSERT_TRUE(whole.set_query(words).empty());
    settle();
  }
  static Ids ids_of(const PointSet& points) {
    Ids ids;
    for (Row row = 0; row < points.size(); ++row) ids.push_back(points.id(row));
    std::ranges::sort(ids);
    return ids;
  }
  [[nodiscard]] Ids listed() const {
    Ids ids;
    for (const Row row : part.listing()->rows) ids.push_back(part.listing()->points->id(row));
    std::ranges::sort(ids);
    return ids;
  }
  /// What a file that is read whole shows.
  [[nodiscard]] Ids fitting() const { return ids_of(*whole.visible()); }
  [[nodiscard]] Ids latest() const {
    Ids ids = fitting();
    if (ids.size() > most) ids.erase(ids.begin(), ids.end() - most);
    return ids;
  }

  static constexpr std::size_t most = 10;
  const QTemporaryDir folder;
  QString file;
  Workspace whole;
  Workspace part;
  std::size_t all = 0;
};

TEST_F(LargeFile, TheLatestPointsAreInMemoryAndAllAreListed) {
  open();
  EXPECT_TRUE(part.large());
  EXPECT_FALSE(whole.large()) << "what waits reads all";
  EXPECT_EQ(part.ticked_points(), all);
  ASSERT_NE(part.listing(), nullptr);
  EXPECT_EQ(listed(), fitting());
  EXPECT_EQ(ids_of(*part.visible()), latest());
}

TEST_F(LargeFile, AFileThatIsNotLargerThanThatIsReadWhole) {
  part.set_most_loaded(all);
  open();
  EXPECT_FALSE(part.large());
  EXPECT_EQ(part.listing(), nullptr);
  EXPECT_EQ(ids_of(*part.visible()), fitting());
}

TEST_F(LargeFile, AFilterIsAskedOfAllPoints) {
  open();
  for (const char* words :
       {"fa2", "N>=1024 -naive", "status:throttled", "128x64", "run:quick", "n_q:256 -run:tiles", "from:measured",
        "time<1ms", "fa2 time>10us", "-time<1ms", "dram_bytes>1e6 run:quick", "algo:nothing"}) {
    filter(QString::fromLatin1(words));
    ASSERT_NE(part.listing(), nullptr) << words;
    EXPECT_EQ(listed(), fitting()) << words;
    // Of what was in memory before, more may fit than would be read.
    const Ids shown = ids_of(*part.visible());
    const Ids wanted = latest();
    EXPECT_TRUE(std::ranges::includes(shown, wanted)) << words;
    EXPECT_TRUE(std::ranges::includes(fitting(), shown)) << words;
    EXPECT_LE(shown.size(), most) << words;
  }
}

TEST_F(LargeFile, AHiddenRunIsNeitherListedNorShown) {
  open();
  part.set_run_visible(1, false);
  whole.set_run_visible(1, false);
  settle();
  EXPECT_EQ(listed(), fitting());
  EXPECT_EQ(ids_of(*part.visible()), latest());
}

TEST_F(LargeFile, OtherFilesStayInMemory) {
  const QString other = folder.filePath(QStringLiteral("small.attnscope"));
  fixtures::write_file(other, {{"other", {fixtures::memory_wall().front()}, true}});
  open();
  part.open(other);
  settle();
  ASSERT_EQ(whole.open_now(other), QString());
  EXPECT_EQ(part.ticked_points(), all + 1);
  EXPECT_EQ(listed(), fitting());
  EXPECT_EQ(part.visible()->size(), most + 1);
  filter(QStringLiteral("time>0 run:other"));
  EXPECT_EQ(listed(), fitting());
  EXPECT_EQ(listed().size(), 1U);
}

TEST_F(LargeFile, TheTableReadsWhatIsLookedAt) {
  open();
  PointsTableModel there;
  there.set_points(whole.visible());
  PointsTableModel model;
  const QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::Fatal);
  model.set_listing(part.listing());
  ASSERT_EQ(model.rowCount(), static_cast<int>(all));
  const int time = model.column_named(QStringLiteral("time"));
  EXPECT_EQ(model.index(0, time).data().toString(), QStringLiteral("…"));
  QSignalSpy arrived(&model, &QAbstractItemModel::dataChanged);
  model.pages().wait();
  EXPECT_FALSE(arrived.isEmpty());
  for (int row = 0; row < model.rowCount(); ++row) {
    const std::optional<Row> same = whole.visible()->row_of(model.point(row));
    ASSERT_TRUE(same.has_value());
    for (int column = 0; column < model.columnCount(); ++column) {
      (void)model.index(row, column).data();
      model.pages().wait();
      EXPECT_EQ(model.index(row, column).data(), there.index(static_cast<int>(*same), column).data())
          << row << ' ' << column;
    }
  }
}

TEST_F(LargeFile, ARowThatIsDamagedSaysSoWhereItsValuesWouldStand) {
  open();
  const PointSet& points = *part.listing()->points;
  const std::int64_t id = points.id(part.listing()->rows.front());
  {
    SQLite::Database database(file.toStdString(), SQLite::OPEN_READWRITE);
    database.exec(
        "UPDATE metric_values SET value = value + 1 WHERE kernel_id IN (SELECT id FROM kernels WHERE point_id = " +
        std::to_string(id) + ")");
  }
  PointsTableModel model;
  model.set_listing(part.listing());
  const int time = model.column_named(QStringLiteral("time"));
  (void)model.index(0, time).data();
  model.pages().wait();
  EXPECT_EQ(model.index(0, time).data().toString(), QStringLiteral("–"));
  EXPECT_FALSE(model.index(0, time).data(Qt::ToolTipRole).toString().isEmpty());
  EXPECT_NE(model.index(1, time).data().toString(), QStringLiteral("–"));
}

TEST_F(LargeFile, RowsAreOrderedByASettingButNotByAValue) {
  open();
  PointsTableModel model;
  PointsOrder order(model);
  model.set_listing(part.listing());
  const int n = model.column_named(QStringLiteral("n"));
  ASSERT_GE(n, 0);
  const auto lengths = [&] {
    std::vector<double> all_of_them;
    for (int row = 0; row < order.rowCount(); ++row) {
      all_of_them.push_back(order.index(row, n).data(PointsTableModel::sort_role).toDouble());
    }
    return all_of_them;
  };
  order.sort(n, Qt::AscendingOrder);
  EXPECT_TRUE(std::ranges::is_sorted(lengths()));
  order.sort(n, Qt::DescendingOrder);
  EXPECT_TRUE(std::ranges::is_sorted(lengths(), std::greater()));
  for (const int row : {0, 5, model.rowCount() - 1}) EXPECT_EQ(model.row_of(model.point(row)), row);
  ASSERT_NE(lengths().front(), lengths().back());
  QSignalSpy moved(&order, &PointsOrder::sort_column_moved);
  order.sort(model.column_named(QStringLiteral("time")), Qt::AscendingOrder);
  ASSERT_EQ(moved.count(), 1);
  EXPECT_EQ(moved[0][0].toInt(), n) << "the heading shows what holds";
  EXPECT_TRUE(std::ranges::is_sorted(lengths(), std::greater()));
  EXPECT_TRUE(model.pages().at(0).points == nullptr) << "comparing rows reads none";
}

TEST_F(LargeFile, AnOrderByAValueComesBackWhenAllIsInMemory) {
  open();
  PointsTableModel model;
  PointsOrder order(model);
  model.set_points(whole.visible());
  const int time = model.column_named(QStringLiteral("time"));
  order.sort(time, Qt::AscendingOrder);
  const QVariant fastest = order.index(0, time).data();
  QSignalSpy moved(&order, &PointsOrder::sort_column_moved);
  model.set_listing(part.listing());
  ASSERT_EQ(moved.count(), 1);
  EXPECT_EQ(moved[0][0].toInt(), -1) << "no heading says that the rows are ordered";
  model.set_points(whole.visible());
  ASSERT_EQ(moved.count(), 2);
  EXPECT_EQ(moved[1][0].toInt(), time);
  EXPECT_EQ(order.index(0, time).data(), fastest);
}

TEST_F(LargeFile, APointIsMarkedAmongThoseThatAreListedOnly) {
  PointsPage page(part);
  page.show();
  open();
  filter(QStringLiteral("run:tiles"));
  const Listing& listing = *part.listing();
  ASSERT_GT(listing.rows.size(), most);
  ASSERT_GT(listing.rows[2], Row{2}) << "rows of the table and of the points differ";
  const ShownPoint point = (*listing.points)[listing.rows[2]];
  ASSERT_FALSE(part.visible()->row_of(point)) << "its values are not in memory";
  page.mark(point);
  EXPECT_TRUE(page.shows_marked());
  EXPECT_EQ(page.table()->currentIndex().row(), 2);
}

TEST_F(LargeFile, TheWindowSaysHowManyAreLoaded) {
  PointsPage page(part);
  QueryBar bar(part);
  page.show();
  open();
  const auto* count = bar.findChild<QLabel*>();
  const std::string points = std::to_string(all);
  EXPECT_EQ(count->text(), QString::fromStdString(points + " points, 10 loaded"));
  EXPECT_TRUE(count->toolTip().contains(QStringLiteral("10")));
  EXPECT_EQ(page.table()->model()->rowCount(), static_cast<int>(all));
  bool said_so = false;
  for (const QLabel* label : page.findChildren<QLabel*>()) {
    said_so = said_so || (label->isVisible() && label->text().contains(QString::fromStdString(points)));
  }
  EXPECT_TRUE(said_so);
  const QString table = folder.filePath(QStringLiteral("t.csv"));
  const SavedTable saved = save_shown_points(part, table);
  EXPECT_EQ(saved.written.points, most);
  EXPECT_TRUE(saved.error.contains(QString::fromStdString(points))) << saved.error.toStdString();

  filter(QStringLiteral("status:throttled"));
  EXPECT_EQ(count->text(), QString::fromStdString("1 of " + points + " points"));
  EXPECT_EQ(page.table()->model()->rowCount(), 1);
  EXPECT_EQ(save_shown_points(part, table).error, QString());
  filter(QStringLiteral("algo:nothing"));
  EXPECT_EQ(count->text(), QString::fromStdString("0 of " + points + " points"));
}

TEST_F(LargeFile, PointsThatComeLaterAreListedAndInMemory) {
  open();
  fixtures::write_file(file, {{"later", {fixtures::memory_wall().front(), fixtures::memory_wall().back()}, false}});
  part.follow(file);
  ASSERT_TRUE(QTest::qWaitFor([this] { return part.ticked_points() == all + 2 && !part.selecting(); }));
  Workspace anew;
  ASSERT_EQ(anew.open_now(file), QString());
  EXPECT_EQ(listed(), ids_of(*anew.visible()));
  const Ids shown = ids_of(*part.visible());
  const Ids last = listed();
  EXPECT_TRUE(std::ranges::includes(shown, std::span(last).last(2)));
}

TEST_F(LargeFile, AFileThatVanishesIsSaidAndTheWindowGoesOn) {
  open();
  ASSERT_TRUE(QFile::remove(file));
  QSignalSpy said(&part, &Workspace::rows_skipped);
  ASSERT_TRUE(part.set_query(QStringLiteral("run:quick")).empty());
  settle();
  ASSERT_EQ(said.count(), 1);
  EXPECT_TRUE(said[0][1].toString().contains(QStringLiteral("large.attnscope")));
  EXPECT_EQ(part.runs().size(), 2U);
}

}  // namespace
}  // namespace attnscope::ui
