// SPDX-License-Identifier: GPL-3.0-or-later
#include <SQLiteCpp/SQLiteCpp.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <QFile>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>
#include <functional>

#include "messages/fact.h"
#include "messages/run_list.h"
#include "profiler/files/file_system.h"
#include "tests/ui/fixtures.h"
#include "tests/ui/window_test.h"
#include "ui/panels/details_panel.h"
#include "ui/runs/point_record_reader.h"
#include "ui/runs/point_set.h"
#include "ui/runs/workspace.h"
#include "ui/text/qtext.h"

namespace attnscope::ui {
namespace {

TEST(Workspace, OpensInTheBackground) {
  const QTemporaryDir folder;
  const QString file = folder.filePath("a.attnscope");
  fixtures::write_file(file, {{"quick", fixtures::memory_wall(), false}});
  Workspace workspace;
  QSignalSpy opened(&workspace, &Workspace::opened);
  workspace.open(file);
  EXPECT_TRUE(workspace.runs().empty()) << "open() does not wait";
  ASSERT_TRUE(opened.wait());
  ASSERT_EQ(workspace.runs().size(), 1U);
  EXPECT_EQ(workspace.runs()[0].points.size(), 21U);
  EXPECT_EQ(workspace.visible()->size(), 21U);
}

TEST(Workspace, RejectsFilesWithTooManyPoints) {
  const QTemporaryDir folder;
  const QStringList files{folder.filePath("a.attnscope"), folder.filePath("b.attnscope"),
                          folder.filePath("c.attnscope")};
  for (const QString& file : files) fixtures::write_file(file, {{"quick", fixtures::memory_wall(), false}});
  Workspace workspace(nullptr, 42);
  QSignalSpy failed(&workspace, &Workspace::open_failed);
  // All files are read before the first is shown.
  for (const QString& file : files) workspace.open(file);
  ASSERT_TRUE(QTest::qWaitFor([&] { return !workspace.is_loading(); }));
  EXPECT_EQ(workspace.files(), files.mid(0, 2));
  ASSERT_EQ(failed.count(), 1);
  const QString error = failed[0][1].toString();
  EXPECT_TRUE(error.contains("c.attnscope") && error.contains("21") && error.contains("0")) << error.toStdString();
  EXPECT_TRUE(error.contains("attnscope edit " + files[2] + " --run N --delete")) << error.toStdString();
  workspace.close(files[0]);
  workspace.open(files[2]);
  ASSERT_TRUE(QTest::qWaitFor([&] { return !workspace.is_loading(); }));
  EXPECT_EQ(workspace.visible()->size(), 42U);
  // A file that is rejected before its points are read.
  const FileContents contents = read_file(files[0], {}, 20);
  EXPECT_TRUE(contents.points.empty());
  EXPECT_TRUE(contents.error.contains("20")) << contents.error.toStdString();
  EXPECT_EQ(read_file(files[0], {}, 21).error, QString());
}

TEST(Workspace, NamesALogOfAnotherFile) {
  const QTemporaryDir folder;
  const QString file = folder.filePath("a.attnscope");
  const QString other = folder.filePath("b.attnscope");
  fixtures::write_file(file, {{"quick", fixtures::memory_wall(), false}});
  fixtures::write_file(other, {{"quick", fixtures::memory_wall(), false}});
  {
    SQLite::Database old(other.toStdString(), SQLite::OPEN_READWRITE);
    old.exec("UPDATE points SET d = 32");
    ASSERT_TRUE(QFile::copy(other + "-wal", file + "-wal"));
  }
  Workspace workspace;
  QSignalSpy skipped(&workspace, &Workspace::rows_skipped);
  EXPECT_EQ(workspace.open_blocking(file), QString());
  EXPECT_EQ(workspace.visible()->size(), 21U);
  ASSERT_EQ(skipped.count(), 1);
  EXPECT_TRUE(skipped[0][1].toString().contains(file + "-wal")) << skipped[0][1].toString().toStdString();
}

TEST(Workspace, ReportsMissingAndDamagedFiles) {
  const QTemporaryDir folder;
  const QString good = folder.filePath("good.attnscope");
  fixtures::write_file(good, {{"quick", fixtures::memory_wall(), false}});
  const QString damaged = folder.filePath("damaged.attnscope");
  QFile file(damaged);
  ASSERT_TRUE(file.open(QIODevice::WriteOnly));
  file.write(QByteArray(4096, 'x'));
  file.close();

  Workspace workspace;
  ASSERT_EQ(workspace.open_blocking(good), QString());
  EXPECT_TRUE(workspace.open_blocking(damaged).contains("damaged.attnscope"));
  EXPECT_TRUE(workspace.open_blocking(folder.filePath("nowhere.attnscope")).contains("nowhere.attnscope"));
  EXPECT_EQ(workspace.files().size(), 1);
  EXPECT_EQ(workspace.visible()->size(), 21U);
}

TEST(Workspace, NumbersEqualTitles) {
  const QTemporaryDir folder;
  const QString file = folder.filePath("a.attnscope");
  const fixtures::TestRun quick{"quick", fixtures::memory_wall(), false};
  fixtures::write_file(file, {quick, quick, {"quick (2)", fixtures::tile_sweep(), false}});
  Workspace workspace;
  ASSERT_EQ(workspace.open_blocking(file), QString());
  QStringList titles;
  for (const LoadedRun& run : workspace.runs()) titles << run.info->title;
  EXPECT_EQ(titles, (QStringList{"quick", "quick (2)", "quick (2) (2)"}));
  const QString again = folder.filePath("b.attnscope");
  fixtures::write_file(again, {quick});
  ASSERT_EQ(workspace.open_blocking(again), QString());
  EXPECT_EQ(workspace.runs().back().info->title, "quick (3)");
  workspace.close(file);
  EXPECT_EQ(workspace.runs().back().info->title, "quick");
}

TEST(Workspace, AddsFoldersToEqualFileNames) {
  const QStringList paths{"/a/x/sweep.attnscope", "/b/x/sweep.attnscope", "/b/other.attnscope"};
  const auto names = distinct_file_names(paths);
  EXPECT_EQ(names.at(paths[0]), "a/x/sweep.attnscope");
  EXPECT_EQ(names.at(paths[1]), "b/x/sweep.attnscope");
  EXPECT_EQ(names.at(paths[2]), "other.attnscope");
  EXPECT_EQ(distinct_file_names({paths[0]}).at(paths[0]), "sweep.attnscope");
}

TEST(Workspace, FollowsAGrowingRun) {
  const QTemporaryDir folder;
  const QString file = folder.filePath("growing.attnscope");
  const auto records = fixtures::memory_wall();
  RunStore store = RunStore::open(file.toStdString(), RunStore::Mode::collect);
  RunHeader header;
  header.device = fixtures::device();
  header.preset = "quick";
  header.plan_hash = "h";
  header.planned_points = records.size();
  const std::int64_t run = store.begin_run(header);
  store.add_point(run, 0, records[0]);

  Workspace workspace;
  ASSERT_EQ(workspace.open_blocking(file), QString());
  EXPECT_EQ(workspace.visible()->size(), 1U);
  EXPECT_EQ(workspace.runs()[0].info->summary.state, StoredRunState::running);
  const std::int64_t first = workspace.visible()->id(0);

  QSignalSpy changed(&workspace, &Workspace::points_changed);
  store.add_point(run, 1, records[1]);
  store.add_point(run, 2, records[2]);
  ASSERT_TRUE(QTest::qWaitFor([&] { return workspace.visible()->size() == 3; }));
  EXPECT_EQ(workspace.visible()->id(0), first) << "points already shown stay";

  store.finish_run(run, StoredRunState::complete);
  workspace.stop_following(workspace.files()[0]);
  ASSERT_TRUE(QTest::qWaitFor([&] { return workspace.runs()[0].info->summary.state == StoredRunState::complete; }));
  EXPECT_EQ(workspace.runs()[0].points.size(), 3U);
}

TEST(Workspace, FollowsRoundsOfAGrowingRun) {
  const QTemporaryDir folder;
  const QString file = folder.filePath("growing.attnscope");
  const PointRecord record = fixtures::ok_point(fixtures::spec("fa2", 512));
  RunStore store = RunStore::open(file.toStdString(), RunStore::Mode::collect);
  RunHeader header;
  header.device = fixtures::device();
  header.preset = "quick";
  header.plan_hash = "h";
  header.planned_points = 1;
  header.rounds = 3;
  const std::int64_t run = store.begin_run(header);
  store.add_point(run, 0, record);

  Workspace workspace;
  ASSERT_EQ(workspace.open_blocking(file), QString());
  const auto rounds = [&] {
    return workspace.visible()->size() == 1 ? workspace.runs()[0].points.columns().rounds(0) : 0;
  };
  EXPECT_EQ(rounds(), 1U);
  store.add_round(run, 0, 1, record);
  ASSERT_TRUE(QTest::qWaitFor([&] { return rounds() == 2; }));
  store.add_round(run, 0, 2, record);
  store.finish_run(run, StoredRunState::complete);
  workspace.stop_following(workspace.files()[0]);
  ASSERT_TRUE(QTest::qWaitFor([&] { return rounds() == 3; })) << "also the last round";
  EXPECT_EQ(workspace.runs()[0].points.columns().size(), 1U) << "earlier reads are not kept";
}

TEST(Workspace, IgnoresCopiesOfRuns) {
  const QTemporaryDir folder;
  const QString first = folder.filePath("first.attnscope");
  const QString copy = folder.filePath("copy.attnscope");
  fixtures::write_file(first, {{"quick", fixtures::memory_wall(), false}});
  ASSERT_TRUE(QFile::copy(first, copy));
  const QString other = folder.filePath("other.attnscope");
  fixtures::write_file(other, {{"quick", fixtures::memory_wall(), false}});
  Workspace workspace;
  ASSERT_EQ(workspace.open_blocking(first), QString());
  ASSERT_EQ(workspace.open_blocking(copy), QString());
  const std::size_t points = fixtures::memory_wall().size();
  EXPECT_EQ(workspace.visible()->size(), points);
  EXPECT_EQ(workspace.runs()[1].info->title, qtext(msg::run_list::copy_of{.run = "quick"}));
  workspace.set_run_visible(0, false);
  EXPECT_EQ(workspace.visible()->size(), points) << "the copy is shown instead";
  workspace.set_run_visible(0, true);
  ASSERT_EQ(workspace.open_blocking(other), QString());
  EXPECT_EQ(workspace.visible()->size(), 2 * points) << "another recording of the same points";
}

using Counts = std::vector<std::size_t>;

Counts counts_of(const Workspace& workspace) {
  Counts counts;
  for (const LoadedRun& run : workspace.runs()) counts.push_back(run.size());
  return counts;
}

std::vector<bool> ticks_of(const Workspace& workspace) {
  std::vector<bool> ticks;
  for (const LoadedRun& run : workspace.runs()) ticks.push_back(run.visible);
  return ticks;
}

/// Edits the first run of a file like another program.
void edit(const QString& file, const std::function<void(RunEdit&)>& change) {
  RunEdit words;
  change(words);
  RunStore::open(file.toStdString(), RunStore::Mode::collect).edit({{1}}, words);
}

TEST_F(WindowTest, ShowsTwoEditsInARow) {
  Workspace workspace;
  ASSERT_EQ(workspace.open_blocking(file), QString());
  QSignalSpy changed(&workspace, &Workspace::runs_changed);
  QSignalSpy replaced(&workspace, &Workspace::file_replaced);
  edit(file, [](RunEdit& words) { words.deleted = true; });
  workspace.refresh(file);
  workspace.refresh(file);
  ASSERT_TRUE(QTest::qWaitFor([&] { return !workspace.is_loading(); }));
  EXPECT_EQ(changed.count(), 1) << "the second read finds no change";
  EXPECT_EQ(replaced.count(), 0);
  EXPECT_EQ(workspace.runs().size(), 1U);
}

TEST_F(WindowTest, ShowsEditsByAnotherProgram) {
  Workspace workspace;
  ASSERT_EQ(workspace.open_blocking(file), QString());
  const Counts before = counts_of(workspace);
  QSignalSpy replaced(&workspace, &Workspace::file_replaced);
  workspace.set_run_visible(1, false);
  edit(file, [](RunEdit& words) {
    words.name = "renamed";
    words.hidden = true;
  });
  workspace.follow(file);
  ASSERT_TRUE(QTest::qWaitFor([&] { return workspace.runs()[0].info->summary.annotations.name == "renamed"; }));
  EXPECT_EQ(ticks_of(workspace), (std::vector{false, false}));
  EXPECT_TRUE(workspace.visible()->empty());
  edit(file, [](RunEdit& words) { words.deleted = true; });
  ASSERT_TRUE(QTest::qWaitFor([&] { return counts_of(workspace) == Counts{before[1]}; }));
  edit(file, [](RunEdit& words) {
    words.hidden = false;
    words.deleted = false;
  });
  ASSERT_TRUE(QTest::qWaitFor([&] { return counts_of(workspace) == before; })) << "with its points";
  EXPECT_EQ(ticks_of(workspace), (std::vector{true, false}));
  EXPECT_EQ(replaced.count(), 0);
}

TEST_F(WindowTest, SavesChangedRunSelections) {
  edit(file, [](RunEdit& words) { words.hidden = true; });
  Workspace workspace;
  ASSERT_EQ(workspace.open_blocking(file), QString());
  EXPECT_EQ(ticks_of(workspace), (std::vector{false, true}));
  EXPECT_TRUE(workspace.checked_runs().empty());
  workspace.set_run_visible(0, true);
  workspace.set_run_visible(1, false);
  const Workspace::CheckedRuns by_hand = workspace.checked_runs();
  Workspace again;
  again.set_checked_runs(by_hand);
  ASSERT_EQ(again.open_blocking(file), QString());
  EXPECT_EQ(ticks_of(again), (std::vector{true, false}));
  EXPECT_EQ(again.checked_runs(), by_hand);
  again.set_checked_runs({});
  EXPECT_EQ(ticks_of(again), (std::vector{false, true}));
}

TEST(Workspace, ShowOnlyHidesOtherRuns) {
  const QTemporaryDir folder;
  const QString file = folder.filePath("b.attnscope");
  fixtures::write_file(file, {{"quick", fixtures::memory_wall(), false}, {"tiles", fixtures::tile_sweep(), false}});
  Workspace workspace;
  ASSERT_EQ(workspace.open_blocking(file), QString());
  workspace.show_only(0);
  const std::shared_ptr<const PointSet> shown = workspace.visible();
  for (Row row = 0; row < shown->size(); ++row) EXPECT_EQ(shown->run_of(row)->summary.preset, "quick");
  EXPECT_EQ(shown->size(), 21U);
}

class ReplacedFileTest : public WindowTest {
 protected:
  void SetUp() override {
    WindowTest::SetUp();  // Two runs, of 21 and more points.
    fixtures::write_file(other, {{"custom", {point(512), point(1024)}, false}});
  }
  static PointRecord point(std::int64_t n) { return fixtures::ok_point(fixtures::spec("fa2", n)); }
  /// Replaces the open file by another one.
  void replace() {
    ASSERT_TRUE(QFile::remove(file));
    ASSERT_TRUE(QFile::rename(other, file));
  }
  /// Overwrites the open file in place, like `cp`.
  void overwrite_file() {
    QFile from(other);
    QFile to(file);
    ASSERT_TRUE(from.open(QIODevice::ReadOnly));
    ASSERT_TRUE(to.open(QIODevice::WriteOnly | QIODevice::Truncate));
    to.write(from.readAll());
  }
  [[nodiscard]] std::vector<std::string> uids_there() const {
    std::vector<std::string> uids;
    for (const RunSummary& run : read_file(file).runs) uids.push_back(run.uid);
    return uids;
  }
  static std::vector<std::string> uids_in(const Workspace& workspace) {
    std::vector<std::string> uids;
    for (const LoadedRun& run : workspace.runs()) uids.push_back(run.info->summary.uid);
    return uids;
  }
  QString other = folder.filePath("other.attnscope");
};

TEST_F(ReplacedFileTest, IsReloadedIfFollowed) {
  Workspace workspace;
  ASSERT_EQ(workspace.open_blocking(file), QString());
  ASSERT_EQ(workspace.runs().size(), 2U);
  QSignalSpy replaced(&workspace, &Workspace::file_replaced);
  ASSERT_NO_FATAL_FAILURE(replace());
  {
    // A new sweep: its run has the id of the tile sweep in the old file.
    RunStore store = RunStore::open(file.toStdString(), RunStore::Mode::collect);
    RunHeader header;
    header.device = fixtures::device();
    header.preset = "quick";
    header.plan_hash = "h";
    header.planned_points = 1;
    const std::int64_t run = store.begin_run(header);
    store.add_point(run, 0, point(2048));
    store.finish_run(run, StoredRunState::complete);
  }
  workspace.follow(file);
  const std::vector<std::string> there = uids_there();
  ASSERT_EQ(there.size(), 2U);
  ASSERT_TRUE(QTest::qWaitFor([&] { return uids_in(workspace) == there; }));
  ASSERT_EQ(replaced.count(), 1);
  EXPECT_TRUE(replaced[0][1].toString().contains(file)) << replaced[0][1].toString().toStdString();
  EXPECT_EQ(workspace.runs()[0].points.size(), 2U);
  EXPECT_EQ(workspace.runs()[1].points.size(), 1U);
  EXPECT_EQ(workspace.visible()->size(), 3U) << "no point of the replaced file";
}

TEST_F(ReplacedFileTest, IsDetectedByItsRuns) {
  Workspace workspace;
  ASSERT_EQ(workspace.open_blocking(file), QString());
  const FileStamp before = file_stamp(file.toStdString());
  ASSERT_NO_FATAL_FAILURE(overwrite_file());
  ASSERT_TRUE(before.same_file(file_stamp(file.toStdString())));
  QSignalSpy replaced(&workspace, &Workspace::file_replaced);
  workspace.follow(file);
  const std::vector<std::string> there = uids_there();
  ASSERT_TRUE(QTest::qWaitFor([&] { return uids_in(workspace) == there; }));
  EXPECT_EQ(replaced.count(), 1);
  EXPECT_EQ(workspace.visible()->size(), 2U);
}

TEST_F(ReplacedFileTest, IsContinuedOnlyIfUnchanged) {
  const FileContents all = read_file(file);
  ASSERT_EQ(all.runs.size(), 2U);
  EXPECT_TRUE(all.whole);
  KnownFile known{.stamp = all.stamp};
  for (const RunSummary& run : all.runs) known.runs[run.id] = run;
  const FileContents news = read_file(file, known);
  EXPECT_FALSE(news.whole);
  EXPECT_TRUE(news.points.empty());
  KnownFile of_another = known;
  of_another.runs.begin()->second.uid = "another";
  EXPECT_TRUE(read_file(file, of_another).whole);
  of_another = known;
  ++of_another.stamp.inode;
  EXPECT_EQ(read_file(file, of_another).points.size(), 2U);
  of_another = known;
  of_another.runs[99] = {};
  EXPECT_TRUE(read_file(file, of_another).whole);
}

TEST_F(ReplacedFileTest, IsReloadedWhenAPointIsRead) {
  MainWindow window(false);
  window.resize(1280, 800);
  ASSERT_EQ(window.workspace().open_blocking(file), QString());
  const ShownPoint chosen = (*window.workspace().visible())[1];
  emit window.page(QStringLiteral("io"))->point_selected(chosen);
  ASSERT_TRUE(window.findChild<DetailsPanel*>()->point());
  ASSERT_NO_FATAL_FAILURE(replace());
  emit window.page(QStringLiteral("io"))->point_selected((*window.workspace().visible())[2]);
  ASSERT_TRUE(QTest::qWaitFor([&] { return uids_in(window.workspace()) == uids_there(); }));
  EXPECT_TRUE(window.banner().text().contains(file)) << window.banner().text().toStdString();
  EXPECT_FALSE(window.findChild<DetailsPanel*>()->point()) << "point of the replaced file";
  EXPECT_EQ(window.workspace().visible()->size(), 2U);
}

class PointRecordsTest : public WindowTest {
 protected:
  PointRecordsTest() {
    fixtures::write_file(path, {{"quick", fixtures::memory_wall(), false}});
    EXPECT_EQ(workspace.open_blocking(path), QString());
  }
  [[nodiscard]] ShownPoint point(Row row) const { return (*workspace.visible())[row]; }

  QTemporaryDir own;
  QString path = own.filePath(QStringLiteral("points.attnscope"));
  Workspace workspace;
  PointRecordReader records;
};

TEST_F(PointRecordsTest, ReadsFieldsWithoutColumns) {
  const std::vector<PointRecord> wanted = fixtures::memory_wall();
  for (const Row row : {0U, 6U, 20U}) {
    const PointRecordReader::ReadResult read = records.read(point(row));
    ASSERT_NE(read.record, nullptr) << read.error.toStdString();
    EXPECT_EQ(read.record->spec, wanted[row].spec);
    EXPECT_EQ(read.record->disposition, wanted[row].disposition);
    EXPECT_EQ(read.record->max_abs_error, wanted[row].max_abs_error);
    ASSERT_EQ(read.record->kernels.size(), wanted[row].kernels.size());
    for (std::size_t i = 0; i < wanted[row].kernels.size(); ++i) {
      EXPECT_EQ(read.record->kernels[i].kernel, wanted[row].kernels[i].kernel);
      EXPECT_EQ(read.record->kernels[i].samples_ns, wanted[row].kernels[i].samples_ns);
      EXPECT_THAT(read.record->kernels[i].metrics,
                  ::testing::UnorderedElementsAreArray(wanted[row].kernels[i].metrics));
    }
  }
}

TEST_F(PointRecordsTest, ReportsAMissingFile) {
  DetailsPanel panel;
  panel.show_point(point(0));
  const auto shown_text = [&] {
    QStringList all{panel.findChild<QTextBrowser*>()->toPlainText()};
    for (const QLabel* label : panel.findChildren<QLabel*>()) all << label->text();
    return all.join(QLatin1Char('\n'));
  };
  EXPECT_TRUE(shown_text().contains(qtext(msg::fact::max_abs_error{}))) << shown_text().toStdString();
  ASSERT_TRUE(QFile::remove(path));
  panel.show_point(point(1));
  const QString text = shown_text();
  EXPECT_TRUE(text.contains("N 512")) << "the selected point: " << text.toStdString();
  EXPECT_TRUE(text.contains(path)) << text.toStdString();
  EXPECT_EQ(workspace.visible()->size(), fixtures::memory_wall().size());
}

TEST_F(PointRecordsTest, DetectsAReplacedFile) {
  ASSERT_NE(records.read(point(0)).record, nullptr);
  const QString other = own.filePath(QStringLiteral("other.attnscope"));
  fixtures::write_file(other, {{"quick", fixtures::memory_wall(), false}});
  ASSERT_TRUE(QFile::remove(path));
  ASSERT_TRUE(QFile::rename(other, path));
  const PointRecordReader::ReadResult read = records.read(point(1));
  EXPECT_EQ(read.record, nullptr) << "equal values of another run";
  EXPECT_TRUE(read.error.contains(path)) << read.error.toStdString();
  EXPECT_FALSE(read.error.contains('\n'));
  workspace.close(path);
  ASSERT_EQ(workspace.open_blocking(path), QString());
  EXPECT_NE(records.read(point(1)).record, nullptr);
  EXPECT_NE(records.read(point(0)).record, nullptr);
}

TEST_F(PointRecordsTest, RejectsInvalidRecords) {
  {
    SQLite::Database database(path.toStdString(), SQLite::OPEN_READWRITE);
    ASSERT_EQ(database.exec("UPDATE points SET wall_seconds = -1 WHERE plan_index = 3"), 1);
  }
  EXPECT_EQ(records.read(point(3)).record, nullptr);
  EXPECT_NE(records.read(point(4)).record, nullptr);
}

StoredPoint stored(std::int64_t id, std::size_t place, const PointRecord& record) {
  return {.id = id, .run_id = 1, .index = place, .device_uuid = "GPU", .record = record};
}

TEST(RunPoints, KeepsPlanOrderAndReplacesOlderPoints) {
  const std::vector<PointRecord> wall = fixtures::memory_wall();
  RunPoints points;
  points.add(stored(1, 2, wall[2]));
  points.add(stored(2, 0, fixtures::failed_point(wall[0].spec, Disposition::cancelled, "")));
  points.add(stored(4, 1, wall[1]));
  points.add(stored(3, 0, wall[0]));
  ASSERT_EQ(points.size(), 3U);
  std::vector<std::int64_t> ids;
  for (const Row row : points.rows()) ids.push_back(points.id(row));
  EXPECT_THAT(ids, ::testing::ElementsAre(3, 4, 1));
  for (std::size_t i = 0; i < points.size(); ++i) {
    EXPECT_EQ(points.columns().spec(points.rows()[i]), wall[i].spec);
    EXPECT_EQ(points.columns().disposition(points.rows()[i]), Disposition::ok);
  }
}

TEST(RunPoints, DetectsContainedRuns) {
  const std::vector<PointRecord> wall = fixtures::memory_wall();
  RunPoints all;
  RunPoints some;
  for (std::size_t i = 0; i < wall.size(); ++i) {
    all.add(stored(static_cast<std::int64_t>(i) + 1, i, wall[i]));
    if (i % 2 == 0) some.add(stored(static_cast<std::int64_t>(i) + 50, i, wall[i]));
  }
  EXPECT_TRUE(some.is_subset_of(all)) << "under other ids";
  EXPECT_FALSE(all.is_subset_of(some));
  PointRecord slower = wall[1];
  for (double& sample : slower.kernels[0].samples_ns) sample *= 1.5;
  some.add(stored(99, 1, slower));
  EXPECT_FALSE(some.is_subset_of(all));
}

}  // namespace
}  // namespace attnscope::ui
