// SPDX-License-Identifier: GPL-3.0-or-later
// Runs that are named, hidden, deleted and merged from the window, by the real program as its child.
#include <gtest/gtest.h>

#include <QAction>
#include <QFile>
#include <QFileInfo>
#include <QLineEdit>
#include <QMenuBar>
#include <QSignalSpy>
#include <QTest>
#include <algorithm>

#include "storage/run_store.h"
#include "tests/ui/window_test.h"
#include "ui/models/runs_model.h"
#include "ui/pages/explorer/explorer_page.h"
#include "ui/panels/runs_panel.h"
#include "ui/process/run_editor.h"
#include "ui/runs/file_contents.h"
#include "ui/runs/samples.h"
#include "ui/window/run_edits.h"

namespace attnscope::ui {
namespace {

class RunEditsTest : public WindowTest {
 protected:
  void SetUp() override {
    WindowTest::SetUp();
    qputenv("ATTNSCOPE_COLLECTOR", ATTNSCOPE_COMMAND_PROGRAM);
    ASSERT_EQ(window.workspace().open_now(file), QString());
    edits = window.findChild<RunEdits*>();
    ASSERT_NE(edits, nullptr);
  }
  void TearDown() override { qunsetenv("ATTNSCOPE_COLLECTOR"); }
  void wait() {
    ASSERT_TRUE(QTest::qWaitFor([this] { return !edits->running() && !window.workspace().loading(); }, 30'000));
    settle();
  }
  void edit(const QStringList& words) {
    emit window.runs_panel()->edit_wanted(window.workspace().files().first(), words);
    wait();
  }
  void press(const char* shortcut) {
    const QKeySequence keys{QString::fromLatin1(shortcut)};
    for (QAction* action : window.menuBar()->findChildren<QAction*>()) {
      if (action->shortcut() == keys) action->trigger();
    }
    wait();
  }
  [[nodiscard]] QStringList titles() {
    const QAbstractItemModel& model = *window.runs_panel()->model();
    QStringList all;
    for (int row = 0; row < model.rowCount(); ++row) {
      all << model.index(row, 0).data(RunsModel::title_role).toString();
    }
    return all;
  }
  [[nodiscard]] QVariant said(int row, int role) { return window.runs_panel()->model()->index(row, 0).data(role); }

  MainWindow window{false};
  RunEdits* edits = nullptr;
};

TEST_F(RunEditsTest, AreSeenAtOnceAndUndoneByTheMenu) {
  const std::size_t points = window.workspace().ticked_points();
  window.workspace().set_run_visible(1, false);
  edit({"--run=1", "--name=before the fix", "--tag=base", "--note=why"});
  EXPECT_EQ(window.banner().text(), QString());
  EXPECT_EQ(titles(), (QStringList{"before the fix", "tiles"}));
  EXPECT_TRUE(said(0, RunsModel::detail_role).toString().startsWith(QStringLiteral("#base · ")));
  EXPECT_TRUE(said(0, Qt::ToolTipRole).toString().contains(QStringLiteral("why")));
  EXPECT_FALSE(window.workspace().runs()[1].visible) << "ticks stay";
  window.workspace().set_run_visible(1, true);

  edit({"--run=2", "--hide"});
  EXPECT_FALSE(window.workspace().runs()[1].visible);
  press("Ctrl+Z");
  EXPECT_TRUE(window.workspace().runs()[1].visible);
  press("Ctrl+Shift+Z");
  EXPECT_FALSE(window.workspace().runs()[1].visible);
  press("Ctrl+Z");

  edit({"--run=1", "--delete"});
  EXPECT_EQ(titles(), QStringList{"tiles"});
  EXPECT_LT(window.workspace().ticked_points(), points);
  press("Ctrl+Z");
  EXPECT_EQ(titles(), (QStringList{"before the fix", "tiles"}));
  EXPECT_EQ(window.workspace().ticked_points(), points);
  press("Ctrl+Z");
  EXPECT_EQ(titles(), (QStringList{"memory-wall", "tiles"}));
  EXPECT_EQ(window.banner().text(), QString());
  press("Ctrl+Z");
  EXPECT_EQ(titles(), (QStringList{"memory-wall", "tiles"})) << "there is no further step";
  press("Ctrl+Shift+Z");
  EXPECT_EQ(titles(), (QStringList{"before the fix", "tiles"}));
  EXPECT_TRUE(said(0, Qt::ToolTipRole).toString().contains(QStringLiteral("why")));
}

TEST_F(RunEditsTest, LeaveARecordedSampleAsItIs) {
  const QString sample = recorded_sample();
  if (sample.isEmpty()) GTEST_SKIP() << "assets/samples/h200.attnscope is not there";
  ASSERT_EQ(window.workspace().open_now(sample), QString());
  QFile before(sample);
  ASSERT_TRUE(before.open(QIODevice::ReadOnly));
  const QByteArray bytes = before.readAll();
  emit window.runs_panel()->edit_wanted(sample, {"--run=1", "--name=mine"});
  wait();
  EXPECT_TRUE(window.banner().text().contains(QStringLiteral("stays as it was recorded")));
  QFile after(sample);
  ASSERT_TRUE(after.open(QIODevice::ReadOnly));
  EXPECT_TRUE(after.readAll() == bytes);
}

TEST_F(RunEditsTest, ThatFailSaySoInTheBanner) {
  {
    const RunStore held = RunStore::open(file.toStdString(), RunStore::Mode::collect);
    edit({"--run=1", "--name=x"});
  }
  EXPECT_TRUE(window.banner().text().contains(QStringLiteral("is being written by another")))
      << window.banner().text().toStdString();
  EXPECT_FALSE(window.banner().text().contains(QStringLiteral("attnscope: ")));
  edit({"--run=1", "--name=x"});
  EXPECT_EQ(window.banner().text(), QString());
  EXPECT_EQ(titles().front(), QStringLiteral("x"));
}

TEST_F(RunEditsTest, AreUndoneInTheFilesThatTheyChanged) {
  const QString other = folder.filePath("other.attnscope");
  fixtures::write_file(other, {{"quick", fixtures::memory_wall(), false}});
  ASSERT_EQ(window.workspace().open_now(other), QString());
  const auto ask = [this](const QString& of, const QStringList& words) {
    emit window.runs_panel()->edit_wanted(of, words);
    wait();
  };
  ask(file, {"--run=1", "--name=first"});
  ask(other, {"--run=1", "--show"});
  press("Ctrl+Z");
  EXPECT_EQ(titles().front(), QStringLiteral("memory-wall"))
      << "the other one was shown before: nothing was done to it";
  EXPECT_EQ(window.banner().text(), QString());

  ask(file, {"--run=1", "--name=first"});
  ask(other, {"--run=1", "--name=second"});
  {
    const RunStore held = RunStore::open(other.toStdString(), RunStore::Mode::collect);
    press("Ctrl+Z");
    EXPECT_NE(window.banner().text(), QString());
  }
  press("Ctrl+Z");
  EXPECT_EQ(titles(), (QStringList{"first", "tiles", "quick"})) << "tried again";
  window.workspace().close(other);
  press("Ctrl+Shift+Z");
  EXPECT_EQ(titles(), (QStringList{"first", "tiles"})) << "steps of a closed file are forgotten";
  press("Ctrl+Z");
  EXPECT_EQ(titles().front(), QStringLiteral("memory-wall"));
}

TEST_F(RunEditsTest, AreMadeBeforeTheWindowCloses) {
  window.show();
  emit window.runs_panel()->edit_wanted(file, {"--run=1", "--name=x"});
  emit window.runs_panel()->edit_wanted(file, {"--run=2", "--name=y"});
  EXPECT_FALSE(window.close());
  ASSERT_TRUE(QTest::qWaitFor([this] { return !window.isVisible(); }, 30'000));
  const std::vector<RunSummary> runs = RunStore::open(file.toStdString(), RunStore::Mode::read_only).runs();
  EXPECT_EQ(runs[0].words.name, "x");
  EXPECT_EQ(runs[1].words.name, "y");
}

TEST_F(RunEditsTest, RunsAreMergedIntoANewFileAlone) {
  RunEditor editor;
  QSignalSpy done(&editor, &RunEditor::done);
  QSignalSpy failed(&editor, &RunEditor::failed);
  const QString target = folder.filePath("merged.attnscope");
  editor.merge(target, {file});
  editor.merge(target, {file});
  ASSERT_TRUE(QTest::qWaitFor([&] { return !editor.running(); }, 30'000));
  EXPECT_EQ(done.count(), 1);
  EXPECT_EQ(read_file(target).runs.size(), 2U);
  ASSERT_EQ(failed.count(), 1);
  EXPECT_TRUE(failed[0][2].toString().contains(target)) << failed[0][2].toString().toStdString();
}

TEST_F(RunEditsTest, TextFieldsAndTheExplorerKeepTheirOwnUndo) {
  window.show();
  edit({"--run=1", "--name=x"});
  window.show_page(QStringLiteral("explorer"));
  auto& explorer = page_of<ExplorerPage>(window);
  explorer.edit(QStringLiteral("n_q"), QStringLiteral("512"), -1);
  ASSERT_EQ(explorer.undo_stack().index(), 1);
  window.activateWindow();
  explorer.setFocus();
  QTest::keyClick(&explorer, Qt::Key_Z, Qt::ControlModifier);
  wait();
  EXPECT_EQ(explorer.undo_stack().index(), 0);
  EXPECT_EQ(titles().front(), QStringLiteral("x")) << "the run's name stays";
  auto* field = window.findChild<QLineEdit*>();
  ASSERT_NE(field, nullptr);
  QKeyEvent override(QEvent::ShortcutOverride, Qt::Key_Z, Qt::ControlModifier);
  override.ignore();
  QApplication::sendEvent(field, &override);
  EXPECT_TRUE(override.isAccepted()) << "the menu does not take the key from it";
}

TEST(RunWords, AnEditIsTakenBackByTheWordsOfBefore) {
  const RunWords before{.name = "old", .note = {}, .tags = {"a"}};
  EXPECT_EQ(words_back({"--run=1", "--name=new=er", "--note=why", "--tag=b", "--untag=a", "--hide"}, before),
            (QStringList{"--run=1", "--name=old", "--no-note", "--untag=b", "--tag=a", "--show"}));
  EXPECT_EQ(words_back({"--run=7", "--no-name", "--show", "--delete"}, before),
            (QStringList{"--run=7", "--name=old", "--hide", "--restore"}));
}

TEST(RunWords, TagsOfALineBecomeWordsOfTheCommand) {
  EXPECT_EQ(words_for_tags({"a", "b"}, QStringLiteral(" b, c  c")), (QStringList{"--tag=c", "--tag=c", "--untag=a"}));
  EXPECT_EQ(words_for_tags({"a"}, QStringLiteral("a")), QStringList());
  EXPECT_EQ(words_for_tags({"a"}, QString()), QStringList{"--untag=a"});
}

}  // namespace
}  // namespace attnscope::ui
