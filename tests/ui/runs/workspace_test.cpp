// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/runs/workspace.h"

#include <gtest/gtest.h>

#include <QFile>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>
#include <functional>

#include "tests/ui/fixtures.h"
#include "tests/ui/window_test.h"

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

TEST_F(WindowTest, ReadingCountsThePointsOfAllRuns) {
  ReadProgress progress;
  const FileContents contents = read_file(file, {}, &progress);
  const std::size_t points = fixtures::memory_wall().size() + fixtures::tile_sweep().size();
  EXPECT_EQ(progress.total.load(), points);
  EXPECT_EQ(progress.read.load(), points);
  EXPECT_EQ(contents.runs.size(), 2U);
}

TEST(Workspace, AFileThatMakesTooManyPointsIsRefused) {
  const QTemporaryDir folder;
  const QStringList files{folder.filePath("a.attnscope"), folder.filePath("b.attnscope"),
                          folder.filePath("c.attnscope")};
  for (const QString& file : files) fixtures::write_file(file, {{"quick", fixtures::memory_wall(), false}});
  Workspace workspace(nullptr, 50);
  QSignalSpy failed(&workspace, &Workspace::open_failed);
  // All are read before the first of them is there.
  for (const QString& file : files) workspace.open(file);
  ASSERT_TRUE(QTest::qWaitFor([&] { return !workspace.loading(); }));
  EXPECT_EQ(workspace.files(), files.mid(0, 2));
  ASSERT_EQ(failed.count(), 1);
  const QString error = failed[0][1].toString();
  EXPECT_TRUE(error.contains("c.attnscope has 21 points, but the window has room for 8")) << error.toStdString();
  EXPECT_TRUE(error.contains("attnscope edit " + files[2] + " --run N --delete")) << error.toStdString();
  workspace.close(files[0]);
  workspace.open(files[2]);
  ASSERT_TRUE(QTest::qWaitFor([&] { return !workspace.loading(); }));
  EXPECT_EQ(workspace.visible()->size(), 42U);
  // One that is refused before its points are read.
  const FileContents contents = read_file(files[0], {}, nullptr, 20);
  EXPECT_TRUE(contents.points.empty());
  EXPECT_TRUE(contents.error.contains("room for 20")) << contents.error.toStdString();
}

TEST(Workspace, AMissingOrDamagedFileIsNamedAndOthersStayOpen) {
  const QTemporaryDir folder;
  const QString good = folder.filePath("good.attnscope");
  fixtures::write_file(good, {{"quick", fixtures::memory_wall(), false}});
  const QString damaged = folder.filePath("damaged.attnscope");
  QFile file(damaged);
  ASSERT_TRUE(file.open(QIODevice::WriteOnly));
  file.write(QByteArray(4096, 'x'));
  file.close();

  Workspace workspace;
  ASSERT_EQ(workspace.open_now(good), QString());
  EXPECT_TRUE(workspace.open_now(damaged).contains("damaged.attnscope"));
  EXPECT_TRUE(workspace.open_now(folder.filePath("nowhere.attnscope")).contains("nowhere.attnscope"));
  EXPECT_EQ(workspace.files().size(), 1);
  EXPECT_EQ(workspace.visible()->size(), 21U);
}

TEST(Workspace, RunsOfOneTitleAreToldApartByWhatTheyHold) {
  const auto import_of = [](const AttentionProblem& problem) {
    return fixtures::RunOf{"import:PyTorch", {fixtures::imported_point("torch-flash", problem, 1e6)}, false, true};
  };
  AttentionProblem forward = fixtures::spec("fa2", 1024).problem;
  AttentionProblem backward = forward;
  backward.pass = Pass::bwd;
  const QTemporaryDir folder;
  const QString file = folder.filePath("a.attnscope");
  fixtures::write_file(file, {{"quick", fixtures::memory_wall(), false},
                              import_of(backward),
                              import_of(fixtures::decode_spec("fa2", 4096).problem),
                              import_of(forward)});
  Workspace workspace;
  ASSERT_EQ(workspace.open_now(file), QString());
  const auto titles = [&] {
    QStringList all;
    for (const LoadedRun& run : workspace.runs()) all << run.info->title;
    return all;
  };
  EXPECT_EQ(titles(), (QStringList{"quick", QStringLiteral("PyTorch · bwd"), QStringLiteral("PyTorch · fwd · n_q 1"),
                                   QStringLiteral("PyTorch · fwd")}));
  // What nothing tells apart is numbered.
  const QString again = folder.filePath("b.attnscope");
  fixtures::write_file(again, {{"quick", fixtures::memory_wall(), false}});
  ASSERT_EQ(workspace.open_now(again), QString());
  EXPECT_EQ(titles().constLast(), "quick (2)");
  workspace.close(file);
  EXPECT_EQ(titles(), QStringList{"quick"});
}

TEST(Workspace, RunsOfOneTitleAreToldApartByAlgorithmAndPage) {
  const auto import_of = [](const char* algorithm, std::int64_t page) {
    AttentionProblem problem = fixtures::decode_spec("fa2", 4096).problem;
    problem.page = page;
    return fixtures::RunOf{"import:PyTorch", {fixtures::imported_point(algorithm, problem, 1e6)}, false, true};
  };
  const QTemporaryDir folder;
  const QString file = folder.filePath("a.attnscope");
  fixtures::write_file(file, {import_of("torch-flash", 0), import_of("torch-cudnn", 0), import_of("torch-cudnn", 256)});
  Workspace workspace;
  ASSERT_EQ(workspace.open_now(file), QString());
  QStringList titles;
  for (const LoadedRun& run : workspace.runs()) titles << run.info->title;
  EXPECT_EQ(titles, (QStringList{QStringLiteral("PyTorch · torch-flash"), QStringLiteral("PyTorch · torch-cudnn"),
                                 QStringLiteral("PyTorch · torch-cudnn · page 256")}));
}

TEST(Workspace, FilesOfOneNameTakeTheFoldersThatSetThemApart) {
  const QStringList paths{"/a/x/sweep.attnscope", "/b/x/sweep.attnscope", "/b/other.attnscope"};
  const auto names = distinct_file_names(paths);
  EXPECT_EQ(names.at(paths[0]), "a/x/sweep.attnscope");
  EXPECT_EQ(names.at(paths[1]), "b/x/sweep.attnscope");
  EXPECT_EQ(names.at(paths[2]), "other.attnscope");
  EXPECT_EQ(distinct_file_names({paths[0]}).at(paths[0]), "sweep.attnscope");
}

TEST(Workspace, LongNamesKeepWhatTellsThemApart) {
  const QStringList names{"sweep-h200-1-cold.attnscope", "sweep-h200-1-warm.attnscope", "sweep-h200-11-cold.attnscope",
                          "other-11-cold.attnscope"};
  EXPECT_EQ(brief_name(names[0], names), "…1-cold.attnscope");
  EXPECT_EQ(brief_name(names[1], names), "…warm.attnscope");
  EXPECT_EQ(brief_name(names[2], names), "sweep-h200-11-…");
  EXPECT_EQ(brief_name(names[3], names), "other-…");
  EXPECT_EQ(brief_name(names[0], {names[0]}), names[0]) << "nothing to tell it from";
}

TEST(Workspace, FollowsARunThatGrows) {
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
  ASSERT_EQ(workspace.open_now(file), QString());
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

TEST(Workspace, FollowsTheRoundsOfARunThatGrows) {
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
  ASSERT_EQ(workspace.open_now(file), QString());
  const auto rounds = [&] {
    return workspace.visible()->size() == 1 ? workspace.runs()[0].points.columns().rounds(0) : 0;
  };
  EXPECT_EQ(rounds(), 1U);
  store.add_round(run, 0, 1, record);
  ASSERT_TRUE(QTest::qWaitFor([&] { return rounds() == 2; }));
  store.add_round(run, 0, 2, record);
  store.finish_run(run, StoredRunState::complete);
  workspace.stop_following(workspace.files()[0]);
  ASSERT_TRUE(QTest::qWaitFor([&] { return rounds() == 3; })) << "those of its end as well";
  EXPECT_EQ(workspace.runs()[0].points.columns().size(), 1U) << "nothing of earlier reads is held";
}

TEST(Workspace, ACopyOfARunIsNotASeriesOfItsOwn) {
  const QTemporaryDir folder;
  const QString first = folder.filePath("first.attnscope");
  const QString copy = folder.filePath("copy.attnscope");
  fixtures::write_file(first, {{"quick", fixtures::memory_wall(), false}});
  ASSERT_TRUE(QFile::copy(first, copy));
  const QString other = folder.filePath("other.attnscope");
  fixtures::write_file(other, {{"quick", fixtures::memory_wall(), false}});
  Workspace workspace;
  ASSERT_EQ(workspace.open_now(first), QString());
  ASSERT_EQ(workspace.open_now(copy), QString());
  const std::size_t points = fixtures::memory_wall().size();
  EXPECT_EQ(workspace.visible()->size(), points);
  EXPECT_EQ(workspace.runs()[1].info->title, "copy of quick");
  workspace.set_run_visible(0, false);
  EXPECT_EQ(workspace.visible()->size(), points) << "the copy stands for it";
  workspace.set_run_visible(0, true);
  ASSERT_EQ(workspace.open_now(other), QString());
  EXPECT_EQ(workspace.visible()->size(), 2 * points) << "the same values, measured again";
}

using Counts = std::vector<std::size_t>;

/// The points of each run.
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

/// The first run of a file, as another program does it.
void edit(const QString& file, const std::function<void(RunEdit&)>& say) {
  RunEdit words;
  say(words);
  RunStore::open(file.toStdString(), RunStore::Mode::collect).edit({{1}}, words);
}

TEST_F(WindowTest, EachOfTwoEditsThatFollowEachOtherIsShown) {
  Workspace workspace;
  ASSERT_EQ(workspace.open_now(file), QString());
  QSignalSpy changed(&workspace, &Workspace::runs_changed);
  QSignalSpy replaced(&workspace, &Workspace::file_replaced);
  edit(file, [](RunEdit& words) { words.deleted = true; });
  workspace.read_edited(file);
  workspace.read_edited(file);
  ASSERT_TRUE(QTest::qWaitFor([&] { return !workspace.loading(); }));
  EXPECT_EQ(changed.count(), 2);
  EXPECT_EQ(replaced.count(), 0);
  EXPECT_EQ(workspace.runs().size(), 1U);
}

TEST_F(WindowTest, WhatAnotherProgramEditsIsShownAndIsNoOtherFile) {
  Workspace workspace;
  ASSERT_EQ(workspace.open_now(file), QString());
  const Counts before = counts_of(workspace);
  QSignalSpy replaced(&workspace, &Workspace::file_replaced);
  workspace.set_run_visible(1, false);
  edit(file, [](RunEdit& words) {
    words.name = "renamed";
    words.hidden = true;
  });
  workspace.follow(file);
  ASSERT_TRUE(QTest::qWaitFor([&] { return workspace.runs()[0].info->summary.words.name == "renamed"; }));
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

TEST_F(WindowTest, TicksAreKeptWhereTheyAreNotWhatTheRunsSay) {
  edit(file, [](RunEdit& words) { words.hidden = true; });
  Workspace workspace;
  ASSERT_EQ(workspace.open_now(file), QString());
  EXPECT_EQ(ticks_of(workspace), (std::vector{false, true}));
  EXPECT_TRUE(workspace.ticks().empty());
  workspace.set_run_visible(0, true);
  workspace.set_run_visible(1, false);
  const Workspace::Ticks by_hand = workspace.ticks();
  Workspace again;
  again.set_ticks(by_hand);
  ASSERT_EQ(again.open_now(file), QString());
  EXPECT_EQ(ticks_of(again), (std::vector{true, false}));
  EXPECT_EQ(again.ticks(), by_hand);
  again.set_ticks({});
  EXPECT_EQ(ticks_of(again), (std::vector{false, true}));
}

TEST(Workspace, ShowOnlyHidesTheOthers) {
  const QTemporaryDir folder;
  const QString file = folder.filePath("b.attnscope");
  fixtures::write_file(file, {{"quick", fixtures::memory_wall(), false}, {"tiles", fixtures::tile_sweep(), false}});
  Workspace workspace;
  ASSERT_EQ(workspace.open_now(file), QString());
  workspace.show_only(0);
  const std::shared_ptr<const PointSet> shown = workspace.visible();
  for (Row row = 0; row < shown->size(); ++row) EXPECT_EQ(shown->run_of(row)->summary.preset, "quick");
  EXPECT_EQ(shown->size(), 21U);
}

}  // namespace
}  // namespace attnscope::ui
