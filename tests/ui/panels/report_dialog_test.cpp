// SPDX-License-Identifier: GPL-3.0-or-later
// Reports from the window: what is chosen is what is written, by the program's own library.
#include <gtest/gtest.h>

#include <QCheckBox>
#include <QComboBox>
#include <QDir>
#include <QFile>
#include <QLineEdit>
#include <QListWidget>
#include <QProcess>
#include <QPushButton>
#include <QTest>

#include "profiler/report/report.h"
#include "tests/ui/window_test.h"
#include "ui/panels/report_dialog.h"
#include "ui/process/save_file.h"

namespace attnscope::ui {
namespace {

class ReportDialogTest : public WindowTest {
 protected:
  void SetUp() override {
    WindowTest::SetUp();
    ASSERT_EQ(window.workspace().open_now(file), QString());
    window.show();
    open_dialog();
  }
  void open_dialog() {
    for (QAction* action : window.findChildren<QAction*>()) {
      if (action->shortcut() == QKeySequence(QStringLiteral("Ctrl+R"))) action->trigger();
    }
    settle();
    dialog = window.findChild<ReportDialog*>();
    ASSERT_NE(dialog, nullptr);
    dialog->open_with([this](const QString& path) {
      opened << path;
      return opens;
    });
    proposed = field("report-file")->text();
    field("report-file")->setText(target());
  }
  template <class Widget>
  Widget* part(const char* name) {
    return dialog->findChild<Widget*>(QString::fromLatin1(name));
  }
  QLineEdit* field(const char* name) { return part<QLineEdit>(name); }
  [[nodiscard]] QString target() const { return folder.filePath(QStringLiteral("out.html")); }
  QString written() {
    QTest::mouseClick(part<QPushButton>("report-write"), Qt::LeftButton);
    EXPECT_TRUE(QTest::qWaitFor([&] { return !dialog->busy(); }, 60'000));
    settle();
    return dialog->state();
  }
  static QByteArray content_of(const QString& path) {
    QFile read(path);
    return read.open(QIODevice::ReadOnly) ? read.readAll() : QByteArray();
  }
  void tick_only(QListWidget& list, int row) {
    for (int i = 0; i < list.count(); ++i) list.item(i)->setCheckState(i == row ? Qt::Checked : Qt::Unchecked);
  }

  MainWindow window{false};
  ReportDialog* dialog = nullptr;
  QStringList opened;
  bool opens = true;
  QString proposed;
};

TEST_F(ReportDialogTest, ProposesAFolderThatExists) {
  const QByteArray home = qgetenv("HOME");
  qputenv("HOME", folder.path().toUtf8());
  EXPECT_EQ(usual_place(QStringLiteral("a.html")), folder.filePath("a.html")) << "there is none for documents";
  ASSERT_TRUE(QDir(folder.path()).mkdir("Documents"));
  EXPECT_EQ(usual_place(QStringLiteral("a.html")), folder.filePath("Documents/a.html"));
  qputenv("HOME", home);
  EXPECT_EQ(proposed, usual_place(QStringLiteral("attnscope-report.html")));
  EXPECT_TRUE(QFileInfo(proposed).dir().exists());
}

TEST_F(ReportDialogTest, WritesWhatTheProgramWritesAndOpensIt) {
  EXPECT_EQ(part<QListWidget>("report-runs")->count(), 2);
  EXPECT_EQ(part<QListWidget>("report-sections")->count(), static_cast<int>(report::section_keys().size()));
  EXPECT_TRUE(written().startsWith("Written: ")) << dialog->state().toStdString();
  EXPECT_EQ(opened, QStringList{target()});
  const QString own = folder.filePath(QStringLiteral("own.html"));
  QProcess program;
  program.start(QStringLiteral(ATTNSCOPE_COMMAND_PROGRAM), {"report", file, "-o", own});
  ASSERT_TRUE(program.waitForFinished(60'000));
  EXPECT_EQ(program.exitCode(), 0) << program.readAllStandardError().toStdString();
  EXPECT_FALSE(content_of(own).isEmpty());
  EXPECT_EQ(content_of(own), content_of(target()));
}

TEST_F(ReportDialogTest, TakesTheTickedRunsSectionsAndTheTitle) {
  tick_only(*part<QListWidget>("report-runs"), 1);
  tick_only(*part<QListWidget>("report-sections"), 0);
  field("report-title")->setText("<b>Mine</b>");
  part<QCheckBox>("report-opens")->setChecked(false);
  EXPECT_TRUE(written().startsWith("Written: ")) << dialog->state().toStdString();
  EXPECT_TRUE(opened.isEmpty());
  const QByteArray page = content_of(target());
  EXPECT_TRUE(page.contains("<h1>&lt;b&gt;Mine&lt;/b&gt;</h1>"));
  EXPECT_EQ(page.count("<section "), 1);
  EXPECT_TRUE(page.contains("Runs: 1.")) << "of the two of the file";
}

TEST_F(ReportDialogTest, HoldsRunsToABaseline) {
  const QString later = folder.filePath(QStringLiteral("later.attnscope"));
  fixtures::write_file(later, {{"memory-wall", fixtures::memory_wall(), false}});
  ASSERT_EQ(window.workspace().open_now(later), QString());
  dialog->close();
  settle();
  open_dialog();
  ASSERT_EQ(part<QListWidget>("report-runs")->count(), 3);
  auto* baseline = part<QComboBox>("report-baseline");
  ASSERT_EQ(baseline->count(), 4);
  baseline->setCurrentIndex(1);
  EXPECT_TRUE(written().startsWith("Written: ")) << dialog->state().toStdString();
  const QByteArray page = content_of(target());
  EXPECT_TRUE(page.contains("<section id=\"comparison\""));
  EXPECT_TRUE(page.contains("against sample.attnscope 1 (memory-wall)"));
}

TEST_F(ReportDialogTest, WhatIsMissingOrCannotBeIsOneLineAndNothingIsWritten) {
  const auto refused = [&](const char* why) {
    const QString state = written();
    EXPECT_TRUE(state.contains(QLatin1String(why))) << state.toStdString();
    EXPECT_FALSE(state.contains('\n'));
    EXPECT_FALSE(QFile::exists(target()));
  };
  auto* runs = part<QListWidget>("report-runs");
  tick_only(*runs, -1);
  refused("Tick a run");
  part<QComboBox>("report-baseline")->setCurrentIndex(1);
  refused("another run beside the baseline");
  part<QComboBox>("report-baseline")->setCurrentIndex(0);
  tick_only(*runs, 0);
  field("report-file")->setText("");
  refused("Say where it goes");
  field("report-file")->setText(folder.filePath("out.pdf"));
  refused(".html or .md");
  field("report-file")->setText(file);
  refused("holds measurements");
  field("report-file")->setText(folder.filePath("nowhere/out.html"));
  refused("nowhere/out.html (there is no such folder)");
  field("report-file")->setText(target());
  tick_only(*part<QListWidget>("report-sections"), -1);
  refused("Tick a section");
}

TEST_F(ReportDialogTest, AsksBeforeItReplaces) {
  QFile there(target());
  ASSERT_TRUE(there.open(QIODevice::WriteOnly));
  there.write("mine");
  there.close();
  EXPECT_TRUE(written().contains("Write once more to replace it"));
  EXPECT_EQ(content_of(target()), "mine");
  EXPECT_TRUE(written().startsWith("Written: "));
  EXPECT_TRUE(content_of(target()).startsWith("<!DOCTYPE html>"));
}

TEST_F(ReportDialogTest, ABrowserThatCannotBeStartedIsSaid) {
  opens = false;
  EXPECT_TRUE(written().contains("no browser could be started"));
  EXPECT_TRUE(QFile::exists(target()));
}

TEST_F(ReportDialogTest, NamesOfAFileStayText) {
  const QString hostile = folder.filePath(QStringLiteral("<img src=x>.attnscope"));
  fixtures::write_file(hostile, {{"<b>bold</b>\n\x1b[2J", fixtures::memory_wall(), false}});
  ASSERT_EQ(window.workspace().open_now(hostile), QString());
  dialog->close();
  settle();
  open_dialog();
  const QListWidgetItem* item = part<QListWidget>("report-runs")->item(2);
  ASSERT_NE(item, nullptr);
  EXPECT_TRUE(item->text().contains("<b>bold</b>"));
  EXPECT_FALSE(item->text().contains('\n'));
  EXPECT_FALSE(item->text().contains(QChar(0x1b)));
  EXPECT_TRUE(written().startsWith("Written: ")) << dialog->state().toStdString();
  const QByteArray page = content_of(target());
  EXPECT_FALSE(page.contains("<img"));
  EXPECT_FALSE(page.contains("<b>bold"));
}

}  // namespace
}  // namespace attnscope::ui
