// SPDX-License-Identifier: GPL-3.0-or-later
// Dialogs for import and reports.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <QAbstractItemModel>
#include <QCheckBox>
#include <QComboBox>
#include <QDialogButtonBox>
#include <QDir>
#include <QDropEvent>
#include <QFile>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QMimeData>
#include <QPlainTextEdit>
#include <QProcess>
#include <QPushButton>
#include <QTableView>
#include <QTest>
#include <QUrl>
#include <QWindow>
#include <fstream>

#include "messages/import_dialog.h"
#include "messages/report_dialog.h"
#include "profiler/metrics/metrics.h"
#include "storage/exchange/export.h"
#include "tests/ui/window_test.h"
#include "ui/panels/import_dialog.h"
#include "ui/panels/report_dialog.h"
#include "ui/process/save_file.h"
#include "ui/runs/samples.h"
#include "ui/text/qtext.h"

namespace attnscope::ui {
namespace {

constexpr const char* ncu_table =
    "==PROF== Connected\n\"ID\",\"Kernel Name\",\"CC\",\"Stream\",\"dram__bytes_read.sum\",\"gpu__time_duration.sum\"\n"
    "\"\",\"\",\"\",\"\",\"Mbyte\",\"msecond\"\n\"0\",\"flash_fwd\",\"9.0\",\"7\",\"12.5\",\"1.5\"\n";

std::vector<double> medians(const QString& file) {
  std::vector<double> all;
  for (const StoredPoint& point : RunStore::open(file.toStdString(), RunStore::Mode::read_only).points()) {
    if (const auto median = evaluate(metric_key::time_median_ns, point.record)) all.push_back(median->value);
  }
  return all;
}

class ImportDialogTest : public WindowTest {
 protected:
  void SetUp() override {
    WindowTest::SetUp();
    qputenv("ATTNSCOPE_COLLECTOR", ATTNSCOPE_COMMAND_PROGRAM);
    qputenv("XDG_DATA_HOME", folder.path().toUtf8());
    window.show();
  }
  void TearDown() override {
    qunsetenv("ATTNSCOPE_COLLECTOR");
    qunsetenv("XDG_DATA_HOME");
  }
  [[nodiscard]] QString write(const char* name, const QByteArray& text) const {
    QFile out(folder.filePath(QString::fromLatin1(name)));
    EXPECT_TRUE(out.open(QIODevice::WriteOnly));
    out.write(text);
    return out.fileName();
  }
  void drop(const QStringList& files) {
    QMimeData data;
    QList<QUrl> urls;
    for (const QString& each : files) urls << QUrl::fromLocalFile(each);
    data.setUrls(urls);
    const QPoint middle = window.rect().center();
    QDragEnterEvent enter(middle, Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
    QApplication::sendEvent(window.windowHandle(), &enter);
    EXPECT_TRUE(enter.isAccepted());
    QDropEvent event(middle, Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
    QApplication::sendEvent(window.windowHandle(), &event);
    dialog = window.findChild<ImportDialog*>();
    wait();
  }
  void wait() {
    ASSERT_TRUE(QTest::qWaitFor(
        [this] { return (dialog == nullptr || !dialog->is_busy()) && !window.workspace().is_loading(); }, 60'000));
    wait_until_idle();
  }
  template <class Widget>
  Widget* part(const char* name) {
    return dialog->findChild<Widget*>(QString::fromLatin1(name));
  }
  QPushButton* button() { return dialog->findChild<QPushButton*>(QStringLiteral("import-do")); }
  QString words() { return part<QPlainTextEdit>("import-words")->toPlainText(); }
  void type(const char* field, const char* text) {
    part<QLineEdit>(field)->setText(QString::fromLatin1(text));
    wait();
  }
  /// Target, unit and the reason why a column is skipped.
  QStringList import_outcome(const QString& column) {
    const QAbstractItemModel& model = *part<QTableView>("import-columns")->model();
    for (int row = 0; row < model.rowCount(); ++row) {
      if (model.index(row, 0).data().toString() != column) continue;
      QStringList cells_of_column;
      for (const int cell : {2, 4, 5}) cells_of_column << model.index(row, cell).data().toString();
      return cells_of_column;
    }
    return {};
  }
  /// Returns whether the column is skipped, with a reason.
  bool is_skipped(const QString& column) {
    const QStringList outcome = import_outcome(column);
    return outcome.size() == 3 && outcome[0].isEmpty() && outcome[1].isEmpty() && !outcome[2].isEmpty();
  }
  QString import_into(const QString& target) {
    dialog->findChild<QLineEdit*>(QStringLiteral("import-into"))->setText(target);
    const QPointer<ImportDialog> before = dialog;
    QTest::mouseClick(button(), Qt::LeftButton);
    EXPECT_TRUE(QTest::qWaitFor([&] { return before.isNull() || !before->is_busy(); }, 60'000));
    wait_until_idle();
    dialog = before;
    EXPECT_TRUE(QTest::qWaitFor([this] { return !window.workspace().is_loading(); }, 60'000));
    return target;
  }

  MainWindow window{false};
  QPointer<ImportDialog> dialog;
};

TEST_F(ImportDialogTest, ImportsExportedTables) {
  const RunStore store = RunStore::open(file.toStdString(), RunStore::Mode::read_only);
  const QString csv = folder.filePath("out.csv");
  const QString json = folder.filePath("out.json");
  std::ofstream csv_stream(csv.toStdString());
  export_csv(store, {}, csv_stream);
  csv_stream.close();
  std::ofstream json_stream(json.toStdString());
  export_json(store, {}, json_stream);
  json_stream.close();
  for (const QString& table : {csv, json}) {
    drop({table});
    ASSERT_NE(dialog, nullptr);
    const Message format = table == csv ? Message(msg::import_dialog::csv{}) : msg::import_dialog::json{};
    EXPECT_TRUE(words().startsWith(qtext(format))) << words().toStdString();
    EXPECT_EQ(import_outcome("n_q"), (QStringList{"n_q", "", ""}));
    EXPECT_EQ(import_outcome("samples_ns"), (QStringList{"time_median_ns", "ns", ""}));
    EXPECT_TRUE(is_skipped("tflops"));
    EXPECT_TRUE(part<QLineEdit>("import--map")->isVisible());
    EXPECT_FALSE(part<QLineEdit>("import--repeats")->isVisible());
    const QString target = import_into(table + QStringLiteral(".attnscope"));
    EXPECT_EQ(dialog, nullptr) << "closed after the import";
    EXPECT_EQ(medians(target), medians(file));
    EXPECT_TRUE(window.workspace().files().contains(target));
    window.workspace().close(target);
  }
}

TEST_F(ImportDialogTest, AddsSettingsToAnNcuTable) {
  drop({write("peer.csv", ncu_table)});
  ASSERT_NE(dialog, nullptr);
  EXPECT_TRUE(words().startsWith(qtext(msg::import_dialog::ncu{}))) << words().toStdString();
  for (const Message& label : {Message(msg::import_dialog::algorithm{}), Message(msg::import_dialog::problem{})})
    EXPECT_TRUE(words().contains(QStringLiteral("“%1”").arg(qtext(label)))) << words().toStdString();
  EXPECT_EQ(import_outcome("dram__bytes_read.sum"), (QStringList{"dram_read_bytes", "byte", ""}));
  EXPECT_TRUE(is_skipped("Stream"));
  EXPECT_FALSE(button()->isEnabled());
  type("import--algorithm", "torch-flash");
  type("import--axis", "N=4096 d=12x");
  EXPECT_TRUE(words().contains("12x")) << words().toStdString();
  EXPECT_FALSE(button()->isEnabled());
  type("import--axis", "N=4096  d=128 heads=16");
  type("import--device-name", "H200");
  EXPECT_TRUE(words().contains("H200")) << words().toStdString();
  const QString target = import_into(folder.filePath("peer"));
  EXPECT_EQ(dialog, nullptr);
  EXPECT_EQ(medians(target + ".attnscope"), std::vector<double>{1.5e6});
  EXPECT_EQ(
      RunStore::open(target.toStdString() + ".attnscope", RunStore::Mode::read_only).points()[0].record.spec.problem.d,
      128);
}

TEST_F(ImportDialogTest, ShowsTheColumnsOfATableThatLacksFields) {
  drop({write("providers.csv", "T,Triton (ms),cuDNN (ms)\n1024,0.5,0.25\n2048,2,1\n")});
  ASSERT_NE(dialog, nullptr);
  EXPECT_TRUE(words().startsWith(qtext(msg::import_dialog::csv{}))) << words().toStdString();
  EXPECT_FALSE(words().contains("--")) << "options of the command line: " << words().toStdString();
  for (const char* missing : {"N=VALUE", "heads=VALUE", "d=VALUE"}) EXPECT_TRUE(words().contains(missing)) << missing;
  EXPECT_EQ(part<QTableView>("import-columns")->model()->rowCount(), 3);
  EXPECT_FALSE(button()->isEnabled());
  type("import--map", "T=N");
  EXPECT_EQ(import_outcome("T"), (QStringList{"n_q, n_k", "", ""}));
  type("import--axis", "heads=16 d=128");
  EXPECT_TRUE(button()->isEnabled()) << words().toStdString();
}

TEST_F(ImportDialogTest, ReportsInvalidTablesInOneLine) {
  const QString pipe = folder.filePath("pipe.csv");
  ASSERT_EQ(::mkfifo(pipe.toUtf8().constData(), 0600), 0);
  const std::pair<QString, QString> cases[] = {
      {write("twice.csv", "algorithm,N,heads,d,time_ns,time_ns\nfa2,64,1,64,1,2\n"), "'time_ns'"},
      {write("binary.csv", QByteArray("a\0b", 3)), "byte 2"},
      {pipe, qtext(msg::import_dialog::no_regular_file{.file = pipe.toStdString()})}};
  for (const auto& [table, why] : cases) {
    drop({table});
    ASSERT_NE(dialog, nullptr);
    EXPECT_TRUE(words().contains(why)) << words().toStdString();
    EXPECT_FALSE(words().contains("error: "));
    EXPECT_EQ(part<QTableView>("import-columns")->model()->rowCount(), 0);
    EXPECT_FALSE(button()->isEnabled());
    delete dialog;
  }
}

TEST_F(ImportDialogTest, ImportsSeveralTablesIntoOneFile) {
  const QString first = write("first.csv", "algorithm,N,heads,d,note,time_ns\nfa2,64,1,64,hm,1000\nfa2,128,1,64,hm,\n");
  const QString second = write("second.csv", "algorithm,N,heads,d,time_ns\nfa2,64,1,64,2000\n");
  drop({file, first, second});
  EXPECT_EQ(window.workspace().files(), QStringList{file}) << "the file with measurements is opened";
  ASSERT_NE(dialog, nullptr);
  EXPECT_TRUE(words().contains("\n1 ")) << "one row has no number: " << words().toStdString();
  EXPECT_TRUE(is_skipped("note"));
  // If another program writes to the target, no data is lost.
  const std::vector<double> before = medians(file);
  {
    const RunStore held = RunStore::open(file.toStdString(), RunStore::Mode::collect);
    import_into(file);
    ASSERT_NE(dialog, nullptr);
    const QString state = part<QLabel>("import-state")->text();
    EXPECT_TRUE(state.contains(QFileInfo(file).fileName())) << state.toStdString();
  }
  EXPECT_EQ(medians(file), before);
  import_into(file);
  dialog = window.findChild<ImportDialog*>();
  ASSERT_NE(dialog, nullptr) << "the next table";
  wait();
  import_into(file);
  EXPECT_EQ(window.findChild<ImportDialog*>(), nullptr);
  std::vector<double> wanted = before;
  wanted.insert(wanted.end(), {1000, 2000});
  EXPECT_EQ(medians(file), wanted);
}

TEST_F(ImportDialogTest, CancelStopsAnImport) {
  // The real program, except that an import never ends.
  QFile script(folder.filePath("slow"));
  ASSERT_TRUE(script.open(QIODevice::WriteOnly));
  script.write(QByteArrayLiteral("#!/bin/sh\ncase \"$*\" in *--preview*) exec " ATTNSCOPE_COMMAND_PROGRAM
                                 " \"$@\";; esac\nexec sleep 3600\n"));
  script.close();
  ASSERT_TRUE(script.setPermissions(QFile::ReadOwner | QFile::ExeOwner));
  qputenv("ATTNSCOPE_COLLECTOR", QFile::encodeName(script.fileName()));
  drop({write("good.csv", "algorithm,N,heads,d,time_ns\nfa2,64,1,64,1000\n")});
  ASSERT_NE(dialog, nullptr);
  part<QLineEdit>("import-into")->setText(folder.filePath("into.attnscope"));
  QTest::mouseClick(button(), Qt::LeftButton);
  EXPECT_TRUE(dialog->is_busy());
  QTest::mouseClick(dialog->findChild<QDialogButtonBox*>()->button(QDialogButtonBox::Cancel), Qt::LeftButton);
  ASSERT_TRUE(QTest::qWaitFor([&] { return !dialog->is_busy(); }, 60'000));
  EXPECT_FALSE(QFile::exists(folder.filePath("into.attnscope")));
  EXPECT_TRUE(button()->isEnabled()) << "it can be imported again";
}

TEST_F(ImportDialogTest, DoesNotImportIntoARecordedSample) {
  drop({write("good.csv", "algorithm,N,heads,d,time_ns\nfa2,64,1,64,1000\n")});
  ASSERT_NE(dialog, nullptr);
  const QString usual = dialog->findChild<QLineEdit*>(QStringLiteral("import-into"))->text();
  EXPECT_TRUE(usual.startsWith(folder.path())) << usual.toStdString();
  EXPECT_FALSE(QFile::exists(usual));
  if (const QString sample = sample_path(); !sample.isEmpty()) {
    QFile bytes(sample);
    const qint64 size = bytes.size();
    import_into(sample);
    ASSERT_NE(dialog, nullptr);
    EXPECT_TRUE(dialog->findChild<QLabel*>(QStringLiteral("import-state"))->text().contains(sample));
    EXPECT_EQ(bytes.size(), size);
  }
  EXPECT_EQ(medians(import_into(usual)), std::vector<double>{1000});
  EXPECT_TRUE(window.workspace().files().contains(usual));
}

class ReportDialogTest : public WindowTest {
 protected:
  void SetUp() override {
    WindowTest::SetUp();
    ASSERT_EQ(window.workspace().open_blocking(file), QString());
    window.show();
    open_dialog();
  }
  void open_dialog() {
    for (QAction* action : window.findChildren<QAction*>()) {
      if (action->shortcut() == QKeySequence(QStringLiteral("Ctrl+R"))) action->trigger();
    }
    wait_until_idle();
    dialog = window.findChild<ReportDialog*>();
    ASSERT_NE(dialog, nullptr);
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
    EXPECT_TRUE(QTest::qWaitFor([&] { return !dialog->is_busy(); }, 60'000));
    wait_until_idle();
    return part<QLabel>("report-state")->text();
  }
  [[nodiscard]] QString written_text() const {
    return qtext(msg::report_dialog::written{.file = target().toStdString()});
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
  std::optional<UrlReceiver> browser{std::in_place};
  QString proposed;
};

TEST_F(ReportDialogTest, ProposesAnExistingFolder) {
  const QByteArray home = qgetenv("HOME");
  qputenv("HOME", folder.path().toUtf8());
  EXPECT_EQ(default_path(QStringLiteral("a.html")), folder.filePath("a.html")) << "without a documents folder";
  ASSERT_TRUE(QDir(folder.path()).mkdir("Documents"));
  EXPECT_EQ(default_path(QStringLiteral("a.html")), folder.filePath("Documents/a.html"));
  qputenv("HOME", home);
  EXPECT_EQ(proposed, default_path(QStringLiteral("attnscope-report.html")));
  EXPECT_TRUE(QFileInfo(proposed).dir().exists());
}

TEST_F(ReportDialogTest, WritesTheSameReportAsTheCommand) {
  EXPECT_EQ(part<QListWidget>("report-runs")->count(), 2);
  EXPECT_EQ(written(), written_text());
  EXPECT_EQ(browser->asked, QList<QUrl>{QUrl::fromLocalFile(target())});
  const QString own = folder.filePath(QStringLiteral("own.html"));
  QProcess program;
  program.start(QStringLiteral(ATTNSCOPE_COMMAND_PROGRAM), {"report", file, "-o", own});
  ASSERT_TRUE(program.waitForFinished(60'000));
  EXPECT_EQ(program.exitCode(), 0) << program.readAllStandardError().toStdString();
  EXPECT_FALSE(content_of(own).isEmpty());
  EXPECT_EQ(content_of(own), content_of(target()));
}

TEST_F(ReportDialogTest, UsesSelectedRunsAndTitle) {
  tick_only(*part<QListWidget>("report-runs"), 1);
  field("report-title")->setText("<b>Mine</b>");
  part<QCheckBox>("report-opens")->setChecked(false);
  EXPECT_EQ(written(), written_text());
  EXPECT_TRUE(browser->asked.isEmpty());
  const QByteArray page = content_of(target());
  EXPECT_TRUE(page.contains("<h1>&lt;b&gt;Mine&lt;/b&gt;</h1>"));
  EXPECT_TRUE(page.contains("--preset tiles"));
  EXPECT_FALSE(page.contains("--preset memory-wall")) << "the run is not selected";
}

TEST_F(ReportDialogTest, ComparesRunsWithABaseline) {
  const QString later = folder.filePath(QStringLiteral("later.attnscope"));
  fixtures::write_file(later, {{"memory-wall", fixtures::memory_wall(), false}});
  ASSERT_EQ(window.workspace().open_blocking(later), QString());
  dialog->close();
  wait_until_idle();
  open_dialog();
  ASSERT_EQ(part<QListWidget>("report-runs")->count(), 3);
  auto* baseline = part<QComboBox>("report-baseline");
  ASSERT_EQ(baseline->count(), 4);
  baseline->setCurrentIndex(1);
  EXPECT_EQ(written(), written_text());
  const QByteArray page = content_of(target());
  EXPECT_TRUE(page.contains("<table id=\"verdicts\""));
  EXPECT_TRUE(page.contains("sample.attnscope 1 (memory-wall)"));
}

TEST_F(ReportDialogTest, ReportsInvalidInputInOneLine) {
  const auto refused = [&](const QString& why) {
    const QString state = written();
    EXPECT_TRUE(state.contains(why)) << state.toStdString();
    EXPECT_FALSE(state.contains('\n'));
    EXPECT_FALSE(QFile::exists(target()));
  };
  auto* runs = part<QListWidget>("report-runs");
  tick_only(*runs, -1);
  refused(qtext(msg::report_dialog::no_run_selected{}));
  part<QComboBox>("report-baseline")->setCurrentIndex(1);
  refused(qtext(msg::report_dialog::baseline_alone{}));
  part<QComboBox>("report-baseline")->setCurrentIndex(0);
  tick_only(*runs, 0);
  field("report-file")->setText("");
  refused(qtext(msg::report_dialog::no_file{}));
  field("report-file")->setText(folder.filePath("out.pdf"));
  refused(".html");
  field("report-file")->setText(file);
  refused(file);
  field("report-file")->setText(folder.filePath("nowhere/out.html"));
  refused("nowhere");
}

TEST_F(ReportDialogTest, AsksBeforeReplacingAFile) {
  QFile there(target());
  ASSERT_TRUE(there.open(QIODevice::WriteOnly));
  there.write("mine");
  there.close();
  EXPECT_EQ(written(), qtext(msg::report_dialog::replaces{.file = target().toStdString()}));
  EXPECT_EQ(content_of(target()), "mine");
  EXPECT_EQ(written(), written_text());
  EXPECT_TRUE(content_of(target()).startsWith("<!DOCTYPE html>"));
}

TEST_F(ReportDialogTest, ReportsThatNoBrowserStarted) {
  browser.reset();  // the platform of the tests has none
  EXPECT_EQ(written(), qtext(msg::report_dialog::not_opened{.file = target().toStdString()}));
  EXPECT_TRUE(QFile::exists(target()));
}

TEST_F(ReportDialogTest, EscapesNamesFromFiles) {
  const QString hostile = folder.filePath(QStringLiteral("<img src=x>.attnscope"));
  fixtures::write_file(hostile, {{"<b>bold</b>\n\x1b[2J", fixtures::memory_wall(), false}});
  ASSERT_EQ(window.workspace().open_blocking(hostile), QString());
  dialog->close();
  wait_until_idle();
  open_dialog();
  const QListWidgetItem* item = part<QListWidget>("report-runs")->item(2);
  ASSERT_NE(item, nullptr);
  EXPECT_TRUE(item->text().contains("<b>bold</b>"));
  EXPECT_FALSE(item->text().contains('\n'));
  EXPECT_FALSE(item->text().contains(QChar(0x1b)));
  EXPECT_EQ(written(), written_text());
  const QByteArray page = content_of(target());
  EXPECT_FALSE(page.contains("<img"));
  EXPECT_FALSE(page.contains("<b>bold"));
}

}  // namespace
}  // namespace attnscope::ui
