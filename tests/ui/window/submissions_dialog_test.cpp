// SPDX-License-Identifier: GPL-3.0-or-later
// Submissions in the window, by the command line itself, beside programs that stand for Slurm's.
#include "ui/window/submissions_dialog.h"

#include <gtest/gtest.h>

#include <QComboBox>
#include <QDir>
#include <QJsonDocument>
#include <QJsonObject>
#include <QMessageBox>
#include <QPushButton>
#include <QSignalSpy>
#include <QTimer>

#include "tests/ui/window_test.h"

namespace attnscope::ui {
namespace {

class SubmissionsDialogTest : public WindowTest {
 protected:
  static constexpr int patience_ms = 60'000;

  void SetUp() override {
    WindowTest::SetUp();
    for (const char* name : {"PATH", "XDG_DATA_HOME"}) before_[name] = qgetenv(name);
    qputenv("ATTNSCOPE_COLLECTOR", ATTNSCOPE_COMMAND_PROGRAM);
    qputenv("XDG_DATA_HOME", folder.filePath("data").toUtf8());
    qputenv("PATH", folder.filePath("bin").toUtf8() + ':' + before_["PATH"]);
  }
  void TearDown() override {
    qunsetenv("ATTNSCOPE_COLLECTOR");
    for (const auto& [name, value] : before_) value.isNull() ? qunsetenv(name) : qputenv(name, value);
  }
  /// A command of Slurm's, as a script.
  void stand_in(const QString& name, const QByteArray& script) const {
    QDir(folder.path()).mkpath("bin");
    write("bin/" + name, "#!/bin/sh\n" + script + "\n");
    QFile::setPermissions(folder.filePath("bin/" + name), QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner);
  }
  void write(const QString& name, const QByteArray& text) const {
    QFile out(folder.filePath(name));
    ASSERT_TRUE(out.open(QIODevice::WriteOnly));
    out.write(text);
  }
  /// "run.attnscope" in two shards, of which the first is whole; as `submit` leaves it.
  [[nodiscard]] QString submitted(const QJsonArray& queued = {}) const {
    QDir(folder.path()).mkpath("run.attnscope.shards");
    const QString result = folder.filePath("run.attnscope");
    const QJsonObject state{{"version", 1},
                            {"output", result},
                            {"shards", 2},
                            {"hosts", QJsonArray()},
                            {"collect", QJsonArray()},
                            {"sbatch", QJsonArray()},
                            {"queued", queued},
                            {"submitted_at", "2000-01-02T03:04:05Z"}};
    write("run.attnscope.shards/submission.json", QJsonDocument(state).toJson());
    fixtures::write_file(result + ".shards/1.attnscope", {{"memory-wall", fixtures::memory_wall(), false}});
    return result;
  }
  /// Once it has been answered.
  template <class Ask>
  static void answered(SubmissionsDialog& dialog, const Ask& ask) {
    QSignalSpy refreshed(&dialog, &SubmissionsDialog::refreshed);
    ask();
    EXPECT_TRUE(refreshed.wait(patience_ms));
  }
  static QPushButton& button(const SubmissionsDialog& dialog, const char* name) {
    return *dialog.findChild<QPushButton*>(QLatin1String(name));
  }
  /// Of a part, or of a submission.
  static QString cell(const SubmissionsDialog& dialog, int row, const char* key) {
    return fixtures::cell_named(dialog.model(), row, key);
  }
  static void press(SubmissionsDialog& dialog, const char* name, QMessageBox::ButtonRole role) {
    button(dialog, name).click();
    // The last one: those before it go once the event loop has time.
    const auto boxes = dialog.findChildren<QMessageBox*>(QStringLiteral("ask-first"));
    ASSERT_FALSE(boxes.isEmpty());
    QMessageBox* const box = boxes.back();
    EXPECT_TRUE(box->text().contains("run.attnscope")) << box->text().toStdString();
    for (QAbstractButton* answer : box->buttons()) {
      if (box->buttonRole(answer) == role) return answer->click();
    }
  }

  std::map<const char*, QByteArray> before_;
};

TEST_F(SubmissionsDialogTest, WithoutAnyItSaysWhatASubmissionIs) {
  SubmissionsDialog dialog;
  answered(dialog, [&] { dialog.show(); });
  EXPECT_EQ(dialog.model().rowCount(), 0);
  EXPECT_EQ(dialog.state(), QString());
  QString words;
  for (const QLabel* label : dialog.findChildren<QLabel*>()) words += label->isVisible() ? label->text() : QString();
  EXPECT_TRUE(words.contains("attnscope submit --shards N -o FILE")) << words.toStdString();
  for (const char* name : {"open-result", "resubmit", "cancel"}) EXPECT_FALSE(button(dialog, name).isEnabled());
}

TEST_F(SubmissionsDialogTest, ShowsThePartsOfTheOneBesideAnOpenFileAndOpensWhatWasMerged) {
  const QString result = submitted();
  MainWindow window(false);
  ASSERT_EQ(window.workspace().open_now(file), QString());
  for (QAction* action : window.findChildren<QAction*>()) {
    if (action->text() == "S&ubmissions…") action->trigger();
  }
  auto& dialog = *window.findChild<SubmissionsDialog*>();
  answered(dialog, [] {});
  ASSERT_EQ(dialog.model().rowCount(), 3);
  EXPECT_EQ(cell(dialog, 0, "shard"), "1/2");
  EXPECT_EQ(cell(dialog, 0, "state"), "complete");
  EXPECT_EQ(cell(dialog, 0, "points"), QString::number(fixtures::memory_wall().size()));
  EXPECT_EQ(cell(dialog, 1, "state"), "missing");
  EXPECT_EQ(cell(dialog, 2, "shard"), "merge");
  EXPECT_EQ(dialog.model().column_named("job"), -1) << "nothing was queued";
  EXPECT_FALSE(dialog.findChild<QTimer*>(QStringLiteral("jobs-again"))->isActive()) << "nothing changes by itself";
  EXPECT_FALSE(button(dialog, "cancel").isEnabled());
  EXPECT_FALSE(button(dialog, "open-result").isEnabled());

  fixtures::write_file(result, {{"memory-wall", fixtures::memory_wall(), false}});
  answered(dialog, [&] { button(dialog, "refresh").click(); });
  EXPECT_EQ(cell(dialog, 2, "state"), "complete");
  QSignalSpy opened(&window.workspace(), &Workspace::opened);
  button(dialog, "open-result").click();
  ASSERT_TRUE(opened.wait(patience_ms));
  EXPECT_EQ(opened[0][0].toString(), result);
}

TEST_F(SubmissionsDialogTest, QueuesWhatIsMissingAndCancelsWhatIsQueuedOnceItIsConfirmed) {
  stand_in("sbatch", "echo \"$@\" >> '" + folder.path().toUtf8() + "/asked'; echo 41");
  stand_in("squeue", "[ -e '" + folder.path().toUtf8() + "/asked' ] && echo '41|2|PENDING||Priority'; exit 0");
  stand_in("sacct", "exit 0");
  stand_in("scancel", "echo scancel \"$@\" >> '" + folder.path().toUtf8() + "/asked'");
  SubmissionsDialog dialog;
  dialog.choose(submitted() + ".shards");
  answered(dialog, [&] { dialog.show(); });
  press(dialog, "resubmit", QMessageBox::RejectRole);
  EXPECT_FALSE(QFile::exists(folder.filePath("asked")));
  answered(dialog, [&] { press(dialog, "resubmit", QMessageBox::AcceptRole); });
  EXPECT_TRUE(dialog.state().startsWith("shards 2 are queued again as job 41")) << dialog.state().toStdString();
  EXPECT_EQ(cell(dialog, 1, "state"), "pending");
  EXPECT_EQ(cell(dialog, 1, "job"), "41_2");
  EXPECT_EQ(cell(dialog, 1, "note"), "Priority");
  EXPECT_TRUE(dialog.findChild<QTimer*>(QStringLiteral("jobs-again"))->isActive());
  answered(dialog, [&] { press(dialog, "cancel", QMessageBox::AcceptRole); });
  EXPECT_EQ(dialog.state(), "cancelled: 41");
  QFile asked(folder.filePath("asked"));
  ASSERT_TRUE(asked.open(QIODevice::ReadOnly));
  const QByteArray words = asked.readAll();
  EXPECT_TRUE(words.startsWith("--parsable --array=2 ")) << words.toStdString();
  EXPECT_TRUE(words.endsWith("scancel 41\n")) << words.toStdString();
  dialog.hide();
  EXPECT_FALSE(dialog.findChild<QTimer*>(QStringLiteral("jobs-again"))->isActive());
}

TEST_F(SubmissionsDialogTest, WhatIsWrongIsOneLine) {
  SubmissionsDialog dialog;
  answered(dialog, [&] { dialog.choose(folder.path()); });
  EXPECT_TRUE(dialog.state().contains("is no submission")) << dialog.state().toStdString();
  EXPECT_FALSE(dialog.state().contains('\n'));
  // A queue that is silent leaves what the files say.
  stand_in("squeue", "echo 'no route to the controller' >&2; exit 1");
  answered(dialog, [&] { dialog.choose(submitted({QJsonObject{{"array", "41"}, {"merge", "42"}}})); });
  EXPECT_TRUE(dialog.state().contains("no route to the controller")) << dialog.state().toStdString();
  EXPECT_EQ(cell(dialog, 0, "state"), "complete");
  qputenv("ATTNSCOPE_COLLECTOR", "/nonexistent");
  answered(dialog, [&] { dialog.refresh(); });
  EXPECT_TRUE(dialog.state().contains("not found beside this one")) << dialog.state().toStdString();
  EXPECT_EQ(cell(dialog, 0, "state"), "complete") << "what was known stays";
}

}  // namespace
}  // namespace attnscope::ui
