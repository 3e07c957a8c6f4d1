// SPDX-License-Identifier: GPL-3.0-or-later
// Files with more points than are kept in memory.
#include <gtest/gtest.h>

#include <SQLiteCpp/SQLiteCpp.h>

#include <QAbstractItemModelTester>
#include <QDeadlineTimer>
#include <QFile>
#include <QLabel>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>
#include <algorithm>
#include <chrono>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "messages/query.h"
#include "profiler/analysis/point_query.h"
#include "profiler/metrics/metrics.h"
#include "tests/ui/fixtures.h"
#include "ui/models/points_order.h"
#include "ui/models/points_table_model.h"
#include "ui/pages/points_page.h"
#include "ui/runs/workspace.h"
#include "ui/text/qtext.h"
#include "ui/window/export_table.h"
#include "ui/window/query_bar.h"

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

TEST_F(LargeFile, ASelectionThatFailsEndsInALineThatSaysSo) {
  PointsPage page(part);
  QueryBar bar(part);
  page.show();
  open();
  ASSERT_TRUE(QFile::rename(file, file + QStringLiteral(".away")));
  ASSERT_TRUE(part.set_query(QStringLiteral("run:quick")).empty());
  settle();
  EXPECT_TRUE(part.selection_error().contains(file)) << part.selection_error().toStdString();
  // None of the points that are in memory is of that run.
  EXPECT_EQ(bar.findChild<QLabel*>()->text(), QStringLiteral("0 of %1 points loaded").arg(all));
  QString words;
  for (const QLabel* label : page.findChildren<QLabel*>()) {
    if (label->isVisible()) words += label->text() + QLatin1Char('\n');
  }
  EXPECT_TRUE(words.contains(QStringLiteral("could not be looked through"))) << words.toStdString();
  EXPECT_FALSE(words.contains(QStringLiteral("Looking through"))) << words.toStdString();

  ASSERT_TRUE(QFile::rename(file + QStringLiteral(".away"), file));
  filter(QStringLiteral("run:quick N>0"));
  EXPECT_EQ(part.selection_error(), QString());
  EXPECT_EQ(listed(), fitting());
}

class LargeFileOfMyOwn : public LargeFile {
 protected:
  void SetUp() override {
    file = folder.filePath(QStringLiteral("mine.attnscope"));
    part.set_most_loaded(most);
    header.device = fixtures::device();
    header.preset = "quick";
    header.plan_hash = "h";
  }
  /// FA2 at N 64, 128, ...
  static PointRecord point(std::size_t nth) {
    return fixtures::ok_point(fixtures::spec("fa2", 64 * (static_cast<std::int64_t>(nth) + 1)));
  }
  static std::vector<PointRecord> points(std::size_t count) {
    std::vector<PointRecord> all_of_them;
    for (std::size_t i = 0; i < count; ++i) all_of_them.push_back(point(i));
    return all_of_them;
  }
  void write(const std::vector<PointRecord>& records) {
    const std::int64_t run = begin(records);
    collector->finish_run(run, StoredRunState::complete);
    collector.reset();
  }
  /// A run that goes on, as long as `collector` has the file.
  std::int64_t begin(const std::vector<PointRecord>& records) {
    collector = RunStore::open(file.toStdString(), RunStore::Mode::collect);
    header.planned_points = records.size();
    const std::int64_t run = collector->begin_run(header);
    for (std::size_t i = 0; i < records.size(); ++i) collector->add_point(run, i, records[i]);
    return run;
  }
  void open_both() {
    ASSERT_EQ(whole.open_now(file), QString());
    open();
    ASSERT_TRUE(part.large());
  }
  RunHeader header;
  std::optional<RunStore> collector;
};

TEST_F(LargeFileOfMyOwn, ADeviceIsCalledTheSameWhicheverPointsAreInMemory) {
  header.device.uuid = "GPU-aaaaaaaa-1";
  write(points(15));
  header.device.uuid = "GPU-bbbbbbbb-2";
  header.preset = "tiles";
  write(points(12));
  ASSERT_NO_FATAL_FAILURE(open_both());
  for (const char* words : {"device:\"H200 (aaaaaaaa)\"", "device:\"H200 (aaaaaaaa)\" time>0",
                            "-device:\"H200 (bbbbbbbb)\"", "device:\"H200 (bbbbbbbb)\" time>0"}) {
    filter(QString::fromLatin1(words));
    ASSERT_NE(part.listing(), nullptr) << words;
    EXPECT_FALSE(fitting().empty()) << words;
    EXPECT_EQ(listed(), fitting()) << words;
    EXPECT_EQ(ids_of(*part.visible()), latest()) << words;
  }
}

TEST_F(LargeFileOfMyOwn, WordsThatOnlyOtherPointsHaveAreKnown) {
  std::vector<PointRecord> records = points(30);
  records[2].spec.knobs.set("mystery", std::int64_t{7});
  records[3].spec.algorithm = "naive";
  write(records);
  ASSERT_NO_FATAL_FAILURE(open_both());
  ASSERT_NE(part.all_settings(), nullptr);
  const auto completed = [&](const std::string& text) {
    return analysis::complete(text, text.size(), part.ticked()->table(), &part.all_settings()->table()).texts;
  };
  EXPECT_EQ(completed("myst"), std::vector<std::string>{"mystery:"});
  EXPECT_EQ(completed("mystery:"), std::vector<std::string>{"7"});
  EXPECT_EQ(completed("algo:nai"), std::vector<std::string>{"naive"});
  EXPECT_EQ(completed("time_med"), std::vector<std::string>{"time_median_ns>"}) << "of those that are in memory";
  filter(QStringLiteral("mystery:7"));
  EXPECT_EQ(listed(), Ids{3});
  EXPECT_EQ(ids_of(*part.visible()), Ids{3});
  filter(QStringLiteral("-mystery:7 N<=256"));
  EXPECT_EQ(listed(), (Ids{1, 2, 4}));
}

TEST_F(LargeFileOfMyOwn, WhatLaterRoundsSayOfAPointIsListed) {
  header.rounds = 2;
  const std::int64_t run = begin(points(20));
  open();
  filter(QStringLiteral("status:throttled"));
  EXPECT_EQ(listed(), Ids());
  PointRecord slowed = point(1);
  slowed.clocks.emplace();
  slowed.clocks->throttled = true;
  slowed.clocks->throttle_reasons = 4;
  collector->add_round(run, 1, 1, slowed);
  collector->finish_run(run, StoredRunState::complete);
  part.stop_following(file);
  settle();
  ASSERT_NE(part.listing(), nullptr);
  EXPECT_EQ(listed(), Ids{2});
  EXPECT_EQ(ids_of(*part.visible()), Ids{2});
}

// What the reader was asked for was of the points that were in memory then.
TEST_F(LargeFileOfMyOwn, RoundsThatComeWhilePointsAreChosenAreThoseOfThePointsThatWereChosen) {
  header.rounds = 2;
  const std::int64_t run = begin(points(40));
  open();
  ASSERT_TRUE(part.set_query(QStringLiteral("N<=640")).empty());
  // Nothing is taken meanwhile; a selection that fails never gets there.
  const QDeadlineTimer patience(std::chrono::minutes(2));
  while (part.selected_share() != QStringLiteral("100%") && !patience.hasExpired()) std::this_thread::yield();
  ASSERT_EQ(part.selected_share(), QStringLiteral("100%"));
  for (std::size_t i = 0; i < 40; ++i) collector->add_round(run, i, 1, point(i));
  collector->finish_run(run, StoredRunState::complete);
  part.stop_following(file);
  settle();
  ASSERT_EQ(whole.open_now(file), QString());
  ASSERT_TRUE(whole.set_query(QStringLiteral("N<=640")).empty());
  EXPECT_EQ(ids_of(*part.visible()), fitting());
  const analysis::PointColumns& drawn = part.visible()->table().points();
  for (Row row = 0; row < part.visible()->size(); ++row) EXPECT_EQ(drawn.rounds(row), 2U) << row;
}

/// What may happen to a file while its rows are looked at.
class UnreadableRows : public LargeFile {
 protected:
  void SetUp() override {
    LargeFile::SetUp();
    open();
    model.set_listing(part.listing());
    time = model.column_named(QStringLiteral("time"));
  }
  /// Of the first row, when all has been read.
  [[nodiscard]] QString shown() {
    (void)model.index(0, time).data();
    model.pages().wait();
    return model.index(0, time).data().toString();
  }
  void write_over(const QByteArray& bytes) {
    QFile to(file);
    ASSERT_TRUE(to.open(QIODevice::WriteOnly | QIODevice::Truncate));
    ASSERT_EQ(to.write(bytes), bytes.size());
  }
  PointsTableModel model;
  QSignalSpy failed{&model.pages(), &PointPages::failed};
  int time = 0;
};

TEST_F(UnreadableRows, AFileThatIsGoneIsReadAgainWhenItIsBack) {
  ASSERT_TRUE(QFile::rename(file, file + QStringLiteral(".away")));
  EXPECT_EQ(shown(), QStringLiteral("–"));
  ASSERT_EQ(failed.count(), 1);
  EXPECT_TRUE(failed[0][1].toString().contains(file));
  EXPECT_FALSE(failed[0][2].toBool());
  EXPECT_TRUE(model.index(0, time).data(Qt::ToolTipRole).toString().contains(file));
  ASSERT_TRUE(QFile::rename(file + QStringLiteral(".away"), file));
  model.pages().try_again();
  EXPECT_NE(shown(), QStringLiteral("–"));
  EXPECT_EQ(failed.count(), 1);
}

TEST_F(UnreadableRows, AFileThatWasCutOffIsSaid) {
  ASSERT_TRUE(QFile::resize(file, content().size() / 3));
  EXPECT_EQ(shown(), QStringLiteral("–"));
  ASSERT_GE(failed.count(), 1);
  EXPECT_TRUE(failed[0][1].toString().contains(file)) << failed[0][1].toString().toStdString();
}

TEST_F(UnreadableRows, AnotherFileInItsPlaceIsNotTakenForIt) {
  const QString other = folder.filePath(QStringLiteral("other.attnscope"));
  // The same points at the same places, of other runs; `cp` leaves the inode.
  fixtures::write_file(other, {{"quick", fixtures::memory_wall(), false}, {"tiles", fixtures::tile_sweep(), false}});
  QFile from(other);
  ASSERT_TRUE(from.open(QIODevice::ReadOnly));
  ASSERT_NO_FATAL_FAILURE(write_over(from.readAll()));
  EXPECT_EQ(shown(), QStringLiteral("–"));
  ASSERT_EQ(failed.count(), 1);
  EXPECT_TRUE(failed[0][2].toBool()) << "replaced";
}

TEST_F(UnreadableRows, AFileOfAnOlderSchemaInItsPlaceIsNotTakenForIt) {
  {
    SQLite::Database database(file.toStdString(), SQLite::OPEN_READWRITE);
    database.exec("PRAGMA user_version = 2");
  }
  EXPECT_EQ(shown(), QStringLiteral("–"));
  ASSERT_EQ(failed.count(), 1);
  EXPECT_FALSE(failed[0][1].toString().isEmpty());
}

TEST_F(UnreadableRows, TheTableReadsAnewWhatCameInTheFilesPlace) {
  PointsPage page(part);
  page.resize(900, 500);
  page.show();
  settle();
  const QString other = folder.filePath(QStringLiteral("other.attnscope"));
  fixtures::write_file(other, {{"quick", fixtures::memory_wall(), false}, {"tiles", fixtures::tile_sweep(), false}});
  QFile from(other);
  ASSERT_TRUE(from.open(QIODevice::ReadOnly));
  ASSERT_NO_FATAL_FAILURE(write_over(from.readAll()));
  const std::string before = part.runs()[0].info->summary.uid;
  QSignalSpy replaced(&part, &Workspace::file_replaced);
  auto& shown_there = dynamic_cast<PointsOrder&>(*page.table()->model());
  (void)shown_there.index(shown_there.rowCount() - 1, time).data();
  ASSERT_TRUE(QTest::qWaitFor(
      [&] { return replaced.count() == 1 && !part.loading() && !part.selecting() && part.runs().size() == 2; }));
  EXPECT_NE(part.runs()[0].info->summary.uid, before);
}

}  // namespace
}  // namespace attnscope::ui
