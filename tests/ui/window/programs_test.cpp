// SPDX-License-Identifier: GPL-3.0-or-later
// The programs as a user starts them: attnscope-gui without a display, and the window measuring with attnscope.
#include <SQLiteCpp/SQLiteCpp.h>
#include <gtest/gtest.h>

#include <QDir>
#include <QFile>
#include <QMessageBox>
#include <QProcess>
#include <QProcessEnvironment>
#include <QPushButton>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>
#include <algorithm>

#include "messages/window.h"
#include "tests/ui/window_test.h"
#include "ui/pages/curves/io_curve_page.h"
#include "ui/pages/explorer/explorer_page.h"
#include "ui/pages/explorer/point_measurer.h"
#include "ui/pages/tiles/tile_heatmap_page.h"
#include "ui/panels/collect_panel.h"
#include "ui/panels/runs_panel.h"
#include "ui/text/qtext.h"

namespace attnscope::ui {
namespace {

struct ProgramResult {
  int exit_code = -1;
  QString output;
  QString errors;
};

ProgramResult run_program(const QString& program, const QStringList& arguments, const QString& display = {}) {
  QProcess process;
  QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
  for (const char* name : {"DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"})
    environment.remove(QString::fromUtf8(name));
  if (!display.isEmpty()) environment.insert(QStringLiteral("DISPLAY"), display);
  process.setProcessEnvironment(environment);
  process.start(program, arguments);
  EXPECT_TRUE(process.waitForFinished(60'000));
  EXPECT_EQ(process.exitStatus(), QProcess::NormalExit);
  return {process.exitCode(), QString::fromUtf8(process.readAllStandardOutput()),
          QString::fromUtf8(process.readAllStandardError())};
}

ProgramResult run_gui(const QStringList& arguments) {
  return run_program(QStringLiteral(ATTNSCOPE_GUI_PROGRAM), arguments);
}

/// Checks the exit code and expects one line of errors. Returns `ended`.
ProgramResult expect_error(int exit_code, ProgramResult ended) {
  EXPECT_EQ(ended.exit_code, exit_code) << ended.errors.toStdString();
  EXPECT_EQ(ended.errors.count('\n'), 1) << ended.errors.toStdString();
  return ended;
}

TEST(GuiProgram, HelpAndVersionNeedNoDisplay) {
  const ProgramResult help = run_gui({QStringLiteral("--help")});
  EXPECT_EQ(help.exit_code, 0);
  EXPECT_TRUE(help.output.startsWith("Usage: attnscope-gui")) << help.output.toStdString();
  EXPECT_TRUE(help.output.contains("--plots")) << help.output.toStdString();
  EXPECT_FALSE(help.output.contains("--help-all")) << help.output.toStdString();
  const ProgramResult version = run_gui({QStringLiteral("--version")});
  EXPECT_EQ(version.exit_code, 0);
  EXPECT_TRUE(version.output.startsWith("attnscope-gui "));
}

TEST(GuiProgram, FailsIfOutputCannotBeWritten) {
  const ProgramResult ended =
      expect_error(1, run_program(QStringLiteral("/bin/sh"),
                                  {QStringLiteral("-c"), QStringLiteral("exec \"$@\" > /dev/full"),
                                   QStringLiteral("sh"), QStringLiteral(ATTNSCOPE_GUI_PROGRAM), "--version"}));
}

TEST(GuiProgram, UsageErrorHasExitCode2AndOneLine) {
  for (const QStringList& arguments :
       {QStringList{"--nonsense"}, QStringList{"--help-all"}, QStringList{"--screenshot", "x.png", "--page", "lesson"},
        QStringList{"--screenshot", "x.png", "--size", "huge"}, QStringList{"--screenshot", "x.png", "--theme", "pink"},
        QStringList{"--lesson", "--screenshot", "x.png"}, QStringList{"--lesson=nowhere"}, QStringList{"--lang", "fr"},
        QStringList{"--lesson", "--lang", "fr"}}) {
    const ProgramResult ended = expect_error(2, run_gui(arguments));
  }
}

TEST(GuiProgram, RejectsUnsupportedPictureFormats) {
  const QTemporaryDir folder;
  for (const char* name : {"a.xyz", "a.pdf"}) {
    const QString picture = folder.filePath(name);
    const ProgramResult ended = expect_error(1, run_gui({QStringLiteral("--screenshot"), picture}));
    EXPECT_TRUE(ended.errors.contains(picture) && ended.errors.contains(QStringLiteral(".png")))
        << ended.errors.toStdString();
    EXPECT_FALSE(QFile::exists(picture));
  }
}

TEST(GuiProgram, WithoutADisplaySuggestsOtherOptions) {
  const ProgramResult ended = run_gui({});
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_TRUE(ended.errors.contains("--plots"));
}

TEST(GuiProgram, WritesTheLessonWithoutABrowser) {
  const QTemporaryDir cache;
  // --lang is stored in the settings.
  const QByteArray before[] = {qgetenv("XDG_CACHE_HOME"), qgetenv("XDG_CONFIG_HOME")};
  qputenv("XDG_CACHE_HOME", cache.path().toUtf8());
  qputenv("XDG_CONFIG_HOME", cache.path().toUtf8());
  const ProgramResult ended = run_gui({QStringLiteral("--lesson"), QStringLiteral("5"), QStringLiteral("--lang=zh")});
  qputenv("XDG_CACHE_HOME", before[0]);
  qputenv("XDG_CONFIG_HOME", before[1]);
  const QString page = cache.filePath(QStringLiteral("attnscope/lesson/index.html"));
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_EQ(ended.output, page + QLatin1Char('\n'));
  EXPECT_TRUE(ended.errors.startsWith(QStringLiteral("error: ")) && ended.errors.contains(page))
      << ended.errors.toStdString();
  QFile file(page);
  ASSERT_TRUE(file.open(QIODevice::ReadOnly));
  const QByteArray text = file.readAll();
  EXPECT_TRUE(text.contains("<html lang=\"zh\">"));
  EXPECT_TRUE(text.contains("data-start=\"tiling\""));
  EXPECT_TRUE(
      text.contains("h200.attnscope, h200-law.attnscope, h200-tiles.attnscope, "
                    "h200-race.attnscope"))
      << "the recorded samples";
}

TEST(GuiProgram, PlotsNeedNoDisplayAndPrintTheirFiles) {
  const QTemporaryDir folder;
  const QString file = folder.filePath("a.attnscope");
  fixtures::write_file(file, {{"memory-wall", fixtures::memory_wall(), false}});
  // Also with a display that does not answer.
  const ProgramResult ended = run_program(QStringLiteral(ATTNSCOPE_GUI_PROGRAM),
                                          {file, "--plots", folder.filePath("plots")}, QStringLiteral(":9876"));
  EXPECT_EQ(ended.exit_code, 0) << ended.errors.toStdString();
  EXPECT_EQ(ended.errors, QString());
  const QStringList paths = ended.output.split('\n', Qt::SkipEmptyParts);
  ASSERT_EQ(paths.size(), 2 * 4) << "bytes at both levels, time and rate";
  for (const QString& path : paths) EXPECT_GT(QFileInfo(path).size(), 1000) << path.toStdString();
}

TEST(GuiProgram, KeepsTheOldPictureOnAWriteError) {
  const QTemporaryDir folder;
  const QString file = folder.filePath("a.attnscope");
  fixtures::write_file(file, {{"memory-wall", fixtures::memory_wall(), false}});
  const QString picture = folder.filePath("window.png");
  QFile older(picture);
  ASSERT_TRUE(older.open(QIODevice::WriteOnly));
  const QByteArray before("\x89PNG\r\n\x1a\n an older picture");
  older.write(before);
  older.close();
  // A screenshot is larger than 8 blocks of 512 bytes.
  const ProgramResult ended = expect_error(
      1, run_program(QStringLiteral("/bin/sh"),
                     {QStringLiteral("-c"), QStringLiteral("ulimit -f 8; exec \"$@\""), QStringLiteral("sh"),
                      QStringLiteral(ATTNSCOPE_GUI_PROGRAM), file, QStringLiteral("--screenshot"), picture}));
  EXPECT_TRUE(ended.errors.contains(picture)) << ended.errors.toStdString();
  ASSERT_TRUE(older.open(QIODevice::ReadOnly));
  EXPECT_EQ(older.readAll(), before);
  EXPECT_EQ(QDir(folder.path()).entryList({"window*"}, QDir::Files), QStringList{"window.png"}) << "no incomplete file";
}

TEST(GuiProgram, PlotsOfADamagedFileFailWithExitCode1) {
  const QTemporaryDir folder;
  const QString file = folder.filePath("damaged.attnscope");
  QFile damaged(file);
  ASSERT_TRUE(damaged.open(QIODevice::WriteOnly));
  damaged.write("this is no database, and long enough not to be taken for an empty one");
  damaged.close();
  const ProgramResult ended = expect_error(1, run_gui({file, "--plots", folder.filePath("plots")}));
  EXPECT_TRUE(ended.errors.contains("damaged.attnscope"));
}

TEST(GuiProgram, ScreenshotWarnsAboutADamagedFile) {
  const QTemporaryDir folder;
  const QString file = folder.filePath("a.attnscope");
  fixtures::write_file(file, {{"memory-wall", fixtures::memory_wall(), false}});
  {
    SQLite::Database database(file.toStdString(), SQLite::OPEN_READWRITE);
    ASSERT_EQ(database.exec("UPDATE points SET wall_seconds = wall_seconds + 1 WHERE plan_index = 3"), 1);
  }
  const QString picture = folder.filePath("window.png");
  const ProgramResult ended = expect_error(5, run_gui({file, "--screenshot", picture}));
  EXPECT_TRUE(ended.errors.contains(file)) << ended.errors.toStdString();
  EXPECT_TRUE(QFile::exists(picture));
  // The warning appears once for both kinds of pictures.
  const ProgramResult both = run_gui({file, "--screenshot", picture, "--plots", folder.filePath("plots")});
  EXPECT_EQ(both.exit_code, 5);
  EXPECT_EQ(both.errors, ended.errors);
}

/// While it exists, windows measure with this build's program.
struct BuildCollector {
  BuildCollector() { qputenv("ATTNSCOPE_COLLECTOR", ATTNSCOPE_COMMAND_PROGRAM); }
  ~BuildCollector() { qunsetenv("ATTNSCOPE_COLLECTOR"); }
  BuildCollector(const BuildCollector&) = delete;
  BuildCollector& operator=(const BuildCollector&) = delete;
};

/// The question whether to stop the measurement and quit.
QMessageBox* quit_question(MainWindow& window) {
  return window.findChild<QMessageBox*>(QStringLiteral("stop-and-quit"));
}

void answer(QMessageBox& question, QMessageBox::ButtonRole role) {
  for (QAbstractButton* button : question.buttons()) {
    if (question.buttonRole(button) == role) button->click();
  }
}

/// Starts a sweep that takes far longer than the test.
void start_long_sweep(MainWindow& window, const QTemporaryDir& folder) {
  window.show();
  CollectForm& form = window.findChild<CollectPanel*>()->form();
  form.set_preset(QStringLiteral("tiles"));
  form.set_axes(QStringLiteral("N=4096"));
  form.restore({{"file", folder.filePath("long.attnscope")}});
  QSignalSpy planned(&window.findChild<CollectPanel*>()->collector(), &CollectorProcess::planned);
  window.findChild<CollectPanel*>()->findChild<QPushButton*>(QStringLiteral("start"))->click();
  ASSERT_TRUE(planned.wait(60'000));
}

TEST(Window, CollectsOnTheSimulatedDeviceAndDrawsPoints) {
  const QTemporaryDir folder;
  const BuildCollector collector;
  MainWindow window(false);
  CollectPanel& panel = *window.findChild<CollectPanel*>();
  panel.form().set_preset(QStringLiteral("quick"));
  panel.form().set_axes(QStringLiteral("N=[256,512] d=64 algorithm=[fa1,fa2]"));
  panel.form().restore({{"file", folder.filePath("new/collected.attnscope")}});
  ASSERT_EQ(start_blocker(panel), QString());
  QSignalSpy finished(&panel.collector(), &CollectorProcess::finished);
  QSignalSpy failed(&panel.collector(), &CollectorProcess::failed);
  QStringList in_flight;
  QObject::connect(&panel.collector(), &CollectorProcess::point_started, [&](const StartedEvent&) {
    in_flight << panel.findChild<QLabel*>(QStringLiteral("current-point"))->text();
  });
  panel.findChild<QPushButton*>(QStringLiteral("start"))->click();
  EXPECT_FALSE(start_blocker(panel).isEmpty()) << "a second start is refused while one runs";
  ASSERT_TRUE(finished.wait(60'000)) << (failed.isEmpty() ? "" : failed[0][0].toString().toStdString());
  ASSERT_TRUE(QTest::qWaitFor([&] {
    return !window.workspace().runs().empty() &&
           window.workspace().runs()[0].info->summary.state == StoredRunState::complete;
  }));
  ASSERT_FALSE(in_flight.isEmpty());
  EXPECT_TRUE(in_flight[0].startsWith("fa1 N 256 d 64")) << in_flight[0].toStdString();
  EXPECT_EQ(panel.findChild<QLabel*>(QStringLiteral("current-point"))->text(), QString())
      << "no point is being measured";
  EXPECT_TRUE(window.workspace().runs()[0].info->summary.simulated);
  EXPECT_FALSE(page_of<IoCurvePage>(window).curves().empty());
  for (const Curve& curve : page_of<IoCurvePage>(window).curves().curves)
    EXPECT_NE(curve.provenance, Provenance::measured);
}

TEST(Window, SelectsAndShowsAFinishedSweep) {
  const QTemporaryDir folder;
  const QString others = folder.filePath("others.attnscope");
  std::vector<fixtures::TestRun> runs;
  for (int i = 0; i < 20; ++i) runs.push_back({"quick", {fixtures::ok_point(fixtures::spec("fa2", 512 + i))}, false});
  fixtures::write_file(others, runs);
  const BuildCollector collector;
  MainWindow window(false);
  window.resize(1024, 700);
  ASSERT_EQ(window.workspace().open_blocking(others), QString());
  window.show();
  wait_until_idle();
  RunsPanel& list = *window.findChild<RunsPanel*>();
  list.setCurrentIndex(list.model()->index(0, 0));
  CollectForm& form = window.findChild<CollectPanel*>()->form();
  form.set_preset(QStringLiteral("quick"));
  form.set_axes(QStringLiteral("N=256 d=64 algorithm=fa2"));
  form.restore({{"file", folder.filePath("new.attnscope")}});
  QSignalSpy finished(&window.findChild<CollectPanel*>()->collector(), &CollectorProcess::finished);
  window.findChild<CollectPanel*>()->findChild<QPushButton*>(QStringLiteral("start"))->click();
  ASSERT_TRUE(finished.wait(60'000));
  ASSERT_TRUE(QTest::qWaitFor([&] {
    return window.workspace().runs().size() == 21 &&
           window.workspace().runs()[20].info->summary.state == StoredRunState::complete;
  }));
  wait_until_idle();
  EXPECT_EQ(list.currentIndex().row(), 20);
  EXPECT_TRUE(list.viewport()->rect().contains(list.visualRect(list.model()->index(20, 0))));
}

TEST(Window, QuitDuringASweepAsksAndStopsIt) {
  const QTemporaryDir folder;
  const BuildCollector collector;
  MainWindow window(false);
  QSignalSpy cancelled(&window.findChild<CollectPanel*>()->collector(), &CollectorProcess::cancelled);
  ASSERT_NO_FATAL_FAILURE(start_long_sweep(window, folder));
  const auto answer_question = [&](QMessageBox::ButtonRole role) {
    QMessageBox* question = quit_question(window);
    ASSERT_NE(question, nullptr);
    EXPECT_EQ(question->informativeText(), qtext(msg::window::completed_points_kept{}));
    answer(*question, role);
  };
  EXPECT_FALSE(window.close());
  ASSERT_NO_FATAL_FAILURE(answer_question(QMessageBox::RejectRole));
  QApplication::sendPostedEvents(nullptr, QEvent::DeferredDelete);
  EXPECT_TRUE(window.isVisible());
  EXPECT_TRUE(window.findChild<CollectPanel*>()->is_running()) << "the sweep continues";
  EXPECT_FALSE(window.close());
  ASSERT_NO_FATAL_FAILURE(answer_question(QMessageBox::AcceptRole));
  ASSERT_TRUE(cancelled.count() == 1 || cancelled.wait(60'000));
  EXPECT_FALSE(window.findChild<CollectPanel*>()->is_running());
  EXPECT_FALSE(window.isVisible()) << "the window closes after the sweep";
  const FileContents contents = read_file(folder.filePath("long.attnscope"));
  ASSERT_EQ(contents.runs.size(), 1U) << contents.error.toStdString();
  EXPECT_EQ(contents.runs[0].state, StoredRunState::cancelled);
}

TEST(Window, QuitWithPendingPointsAsksFirst) {
  const QTemporaryDir folder;
  const BuildCollector collector;
  MainWindow window(false);
  window.show();
  window.show_page(QStringLiteral("explorer"));
  auto* page = qobject_cast<ExplorerPage*>(window.page(QStringLiteral("explorer")));
  ASSERT_NE(page, nullptr);
  PointMeasurer& measurer = page->measurement_card().measurer();
  measurer.set_database(folder.filePath("explored.attnscope"));
  ASSERT_TRUE(QTest::qWaitFor([&] { return page->findChild<QPushButton*>("measure")->isEnabled(); }, 60'000));
  page->findChild<QPushButton*>("around")->click();
  ASSERT_GT(measurer.open(), 0);
  EXPECT_FALSE(window.close());
  QMessageBox* question = quit_question(window);
  ASSERT_NE(question, nullptr);
  EXPECT_EQ(question->informativeText(), qtext(msg::window::measured_points_kept{}));
  EXPECT_FALSE(window.close()) << "asked already";
  EXPECT_EQ(window.findChildren<QMessageBox*>().size(), 1);
  answer(*question, QMessageBox::AcceptRole);
  EXPECT_FALSE(window.isVisible());
}

TEST_F(WindowTest, ShowsTheSweepAroundATileOnItsMap) {
  const BuildCollector collector;
  MainWindow window(false);
  window.show();
  window.open_files({file});  // The file already has a map.
  auto& map = page_of<TileHeatmapPage>(window);
  window.show_page(QStringLiteral("explorer"));
  auto& page = page_of<ExplorerPage>(window);
  PointMeasurer& measurer = page.measurement_card().measurer();
  const QString explored = folder.filePath("explored.attnscope");
  measurer.set_database(explored);
  auto* show = page.findChild<QPushButton*>("show-map");
  ASSERT_NE(show, nullptr);
  ASSERT_TRUE(QTest::qWaitFor([&] { return page.findChild<QPushButton*>("around")->isEnabled(); }, 60'000));
  EXPECT_FALSE(show->isEnabled()) << "no neighborhood was measured";
  page.findChild<QPushButton*>("around")->click();
  ASSERT_TRUE(QTest::qWaitFor([&] { return measurer.open() == 0; }, 60'000));
  ASSERT_TRUE(show->isEnabled());
  ASSERT_TRUE(QTest::qWaitFor(
      [&] {
        const auto points = window.workspace().visible();
        return std::ranges::count_if(points->table().rows(), [&](Row row) {
                 return points->run_of(row)->file == explored;
               }) == static_cast<std::ptrdiff_t>(measurer.points().size());
      },
      60'000));
  show->click();
  ASSERT_TRUE(map.isVisible());
  ASSERT_TRUE(map.has_map());
  const std::vector<Row> rows = map.heatmap()->map().rows();
  EXPECT_EQ(rows.size(), measurer.points().size());
  for (const Row row : rows) EXPECT_EQ(map.heatmap()->points().run_of(row)->file, explored);
}

}  // namespace
}  // namespace attnscope::ui
