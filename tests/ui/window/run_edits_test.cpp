// SPDX-License-Identifier: GPL-3.0-or-later
// Runs are renamed, hidden and deleted from the window, by the real program as a child process.
#include <gtest/gtest.h>

#include <QFile>
#include <QFileInfo>
#include <QTest>
#include <QToolButton>
#include <memory>

#include "storage/run_store.h"
#include "tests/ui/window_test.h"
#include "ui/models/runs_model.h"
#include "ui/panels/runs_panel.h"
#include "ui/process/json_program.h"
#include "ui/runs/samples.h"

namespace attnscope::ui {
namespace {

class RunEditsTest : public WindowTest {
 protected:
  void SetUp() override {
    WindowTest::SetUp();
    qputenv("ATTNSCOPE_COLLECTOR", ATTNSCOPE_COMMAND_PROGRAM);
    ASSERT_EQ(window->workspace().open_blocking(file), QString());
    editor = window->findChild<RunEditor*>();
    ASSERT_NE(editor, nullptr);
  }
  void TearDown() override { qunsetenv("ATTNSCOPE_COLLECTOR"); }
  void wait() {
    ASSERT_TRUE(QTest::qWaitFor([this] { return !editor->is_running() && !window->workspace().is_loading(); }, 30'000));
    wait_until_idle();
  }
  void edit(const QStringList& words) {
    emit window->findChild<RunsPanel*>()->edit_requested(window->workspace().files().first(), words);
    wait();
  }
  [[nodiscard]] QStringList titles() {
    const QAbstractItemModel& model = *window->findChild<RunsPanel*>()->model();
    QStringList all;
    for (int row = 0; row < model.rowCount(); ++row) {
      all << model.index(row, 0).data(RunsModel::title_role).toString();
    }
    return all;
  }
  [[nodiscard]] QVariant row_data(int row, int role) {
    return window->findChild<RunsPanel*>()->model()->index(row, 0).data(role);
  }

  std::unique_ptr<MainWindow> window = std::make_unique<MainWindow>(false);
  RunEditor* editor = nullptr;
};

TEST_F(RunEditsTest, AreShownAtOnceAndDeletionCanBeUndone) {
  const std::size_t points = window->workspace().checked_points();
  window->workspace().set_run_visible(1, false);
  edit({"--run=1", "--name=before the fix", "--tag=base", "--note=why"});
  EXPECT_EQ(window->banner().text(), QString());
  EXPECT_EQ(titles(), (QStringList{"before the fix", "tiles"}));
  EXPECT_TRUE(row_data(0, RunsModel::detail_role).toString().startsWith(QStringLiteral("#base · ")));
  EXPECT_TRUE(row_data(0, Qt::ToolTipRole).toString().contains(QStringLiteral("why")));
  EXPECT_FALSE(window->workspace().runs()[1].visible) << "the selection is kept";
  window->workspace().set_run_visible(1, true);
  edit({"--run=2", "--hide"});
  EXPECT_FALSE(window->workspace().runs()[1].visible);
  edit({"--run=2", "--show"});
  EXPECT_TRUE(window->workspace().runs()[1].visible);
  edit({"--run=1", "--delete"});
  EXPECT_EQ(titles(), QStringList{"tiles"});
  EXPECT_LT(window->workspace().checked_points(), points);
  window->banner().findChild<QToolButton*>(QStringLiteral("action"))->click();
  wait();
  EXPECT_EQ(titles(), (QStringList{"before the fix", "tiles"}));
  EXPECT_EQ(window->workspace().checked_points(), points);
  EXPECT_EQ(window->banner().text(), QString());
}

TEST_F(RunEditsTest, DoNotChangeRecordedSamples) {
  const QString sample = sample_path();
  if (sample.isEmpty()) GTEST_SKIP() << "assets/samples/h200.attnscope is not there";
  ASSERT_EQ(window->workspace().open_blocking(sample), QString());
  QFile before(sample);
  ASSERT_TRUE(before.open(QIODevice::ReadOnly));
  const QByteArray bytes = before.readAll();
  emit window->findChild<RunsPanel*>()->edit_requested(sample, {"--run=1", "--name=mine"});
  wait();
  EXPECT_TRUE(window->banner().text().contains(sample));
  QFile after(sample);
  ASSERT_TRUE(after.open(QIODevice::ReadOnly));
  EXPECT_TRUE(after.readAll() == bytes);
}

TEST_F(RunEditsTest, ReportFailuresInTheBanner) {
  {
    const RunStore held = RunStore::open(file.toStdString(), RunStore::Mode::collect);
    edit({"--run=1", "--name=x"});
  }
  EXPECT_TRUE(window->banner().text().contains(QFileInfo(file).fileName())) << window->banner().text().toStdString();
  EXPECT_FALSE(window->banner().text().contains(QStringLiteral("error: ")));
  edit({"--run=1", "--name=x"});
  EXPECT_EQ(window->banner().text(), QString());
  EXPECT_EQ(titles().front(), QStringLiteral("x"));
}

TEST_F(RunEditsTest, AreAppliedBeforeTheWindowCloses) {
  emit window->findChild<RunsPanel*>()->edit_requested(file, {"--run=1", "--name=x"});
  emit window->findChild<RunsPanel*>()->edit_requested(file, {"--run=2", "--name=y"});
  window.reset();
  const std::vector<RunSummary> runs = RunStore::open(file.toStdString(), RunStore::Mode::read_only).runs();
  EXPECT_EQ(runs[0].annotations.name, "x");
  EXPECT_EQ(runs[1].annotations.name, "y");
}

TEST(RunWords, ConvertsTagsToArguments) {
  EXPECT_EQ(tag_arguments({"a", "b"}, QStringLiteral(" b, c  c")), (QStringList{"--tag=c", "--tag=c", "--untag=a"}));
  EXPECT_EQ(tag_arguments({"a"}, QStringLiteral("a")), QStringList());
  EXPECT_EQ(tag_arguments({"a"}, QString()), QStringList{"--untag=a"});
}

}  // namespace
}  // namespace attnscope::ui
