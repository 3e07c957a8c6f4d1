// SPDX-License-Identifier: GPL-3.0-or-later
// A file that another one replaces while it is open here: nothing of the first may stand under the second's name.
#include <gtest/gtest.h>

#include <QFile>
#include <QSignalSpy>
#include <QTest>
#include <sstream>

#include "profiler/files/file_system.h"
#include "storage/exchange/export.h"
#include "tests/ui/window_test.h"
#include "ui/panels/details_panel.h"

namespace attnscope::ui {
namespace {

class ReplacedFile : public WindowTest {
 protected:
  void SetUp() override {
    WindowTest::SetUp();  // two runs, of 21 and more points
    fixtures::write_file(other, {{"custom", {point(512), point(1024)}, false}});
  }
  static PointRecord point(std::int64_t n) { return fixtures::ok_point(fixtures::spec("fa2", n)); }
  /// Under the name of the file that is open.
  void replace() {
    ASSERT_TRUE(QFile::remove(file));
    ASSERT_TRUE(QFile::rename(other, file));
  }
  /// As `cp` does it: the file stays the same file.
  void write_over() {
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

TEST_F(ReplacedFile, IsReadAnewWhereItIsFollowed) {
  Workspace workspace;
  ASSERT_EQ(workspace.open_now(file), QString());
  ASSERT_EQ(workspace.runs().size(), 2U);
  QSignalSpy replaced(&workspace, &Workspace::file_replaced);
  ASSERT_NO_FATAL_FAILURE(replace());
  {
    // A sweep into it: its run is the second, as the tile sweep was of the file that is gone.
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
  EXPECT_EQ(workspace.visible()->size(), 3U) << "none of the file that is gone";
}

TEST_F(ReplacedFile, IsToldByItsRunsWhereItIsTheSameFile) {
  Workspace workspace;
  ASSERT_EQ(workspace.open_now(file), QString());
  const FileStamp before = stamp_of(file.toStdString());
  ASSERT_NO_FATAL_FAILURE(write_over());
  ASSERT_TRUE(before.same_file(stamp_of(file.toStdString())));
  QSignalSpy replaced(&workspace, &Workspace::file_replaced);
  workspace.follow(file);
  const std::vector<std::string> there = uids_there();
  ASSERT_TRUE(QTest::qWaitFor([&] { return uids_in(workspace) == there; }));
  EXPECT_EQ(replaced.count(), 1);
  EXPECT_EQ(workspace.visible()->size(), 2U);
}

TEST_F(ReplacedFile, IsReadOnOnlyWhereItIsWhatIsKnown) {
  const FileContents all = read_file(file);
  ASSERT_EQ(all.runs.size(), 2U);
  EXPECT_TRUE(all.whole);
  KnownFile known{.stamp = all.stamp};
  for (const RunSummary& run : all.runs) known.runs[run.id] = run.uid;
  for (const auto& [run, points] : all.points) known.last_point = std::max(known.last_point, points.last_id());
  const FileContents news = read_file(file, known);
  EXPECT_FALSE(news.whole);
  EXPECT_TRUE(news.points.empty());
  KnownFile of_another = known;
  of_another.runs.begin()->second = "another";
  EXPECT_TRUE(read_file(file, of_another).whole);
  of_another = known;
  ++of_another.stamp.inode;
  EXPECT_EQ(read_file(file, of_another).points.size(), 2U);
  of_another = known;
  of_another.runs[99] = "gone";
  EXPECT_TRUE(read_file(file, of_another).whole);
}

TEST_F(ReplacedFile, IsReadAnewWhereSomebodyLooksAtAPoint) {
  MainWindow window(false);
  window.resize(1280, 800);
  ASSERT_EQ(window.workspace().open_now(file), QString());
  const ShownPoint chosen = (*window.workspace().visible())[1];
  emit window.page(QStringLiteral("io"))->point_selected(chosen);
  ASSERT_TRUE(window.details()->point());
  ASSERT_NO_FATAL_FAILURE(replace());
  emit window.page(QStringLiteral("io"))->point_selected((*window.workspace().visible())[2]);
  ASSERT_TRUE(QTest::qWaitFor([&] { return uids_in(window.workspace()) == uids_there(); }));
  EXPECT_TRUE(window.banner().text().contains(file)) << window.banner().text().toStdString();
  EXPECT_TRUE(window.banner().text().contains("read anew")) << window.banner().text().toStdString();
  EXPECT_FALSE(window.details()->point()) << "of the file that is gone";
  EXPECT_EQ(window.workspace().visible()->size(), 2U);
}

TEST_F(ReplacedFile, IsNotExportedAsTheOneThatWasRead) {
  for (const bool same_file : {false, true}) {
    MainWindow window(false);
    ASSERT_EQ(window.workspace().open_now(file), QString());
    if (same_file) {
      fixtures::write_file(other, {{"custom", {point(4096)}, false}});
      ASSERT_NO_FATAL_FAILURE(write_over());
    } else {
      ASSERT_NO_FATAL_FAILURE(replace());
    }
    const QString path = folder.filePath(same_file ? "second.csv" : "first.csv");
    window.save_csv(path);
    EXPECT_FALSE(QFile::exists(path));
    EXPECT_TRUE(window.banner().text().contains("Nothing was written")) << window.banner().text().toStdString();
    ASSERT_TRUE(QTest::qWaitFor([&] { return uids_in(window.workspace()) == uids_there(); }));
    window.save_csv(path);
    QFile csv(path);
    ASSERT_TRUE(csv.open(QIODevice::ReadOnly)) << window.banner().text().toStdString();
    std::ostringstream wanted;
    export_csv(RunStore::open(file.toStdString(), RunStore::Mode::read_only), {}, wanted);
    EXPECT_EQ(csv.readAll().toStdString(), wanted.str());
  }
}

}  // namespace
}  // namespace attnscope::ui
