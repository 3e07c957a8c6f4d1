// SPDX-License-Identifier: GPL-3.0-or-later
#include <SQLiteCpp/SQLiteCpp.h>
#include <gtest/gtest.h>

#include <QAbstractButton>
#include <QAction>
#include <QDir>
#include <QDockWidget>
#include <QFile>
#include <QJsonDocument>
#include <QLineEdit>
#include <QMenuBar>
#include <QRegularExpression>
#include <QSettings>
#include <QSignalSpy>
#include <QStatusBar>
#include <QTemporaryDir>
#include <QTest>
#include <QTextBrowser>
#include <QToolButton>
#include <QUrl>
#include <algorithm>
#include <new>

#include "kernels/algorithm.h"
#include "messages/empty_page.h"
#include "messages/language.h"
#include "messages/window.h"
#include "profiler/metrics/metrics.h"
#include "tests/ui/window_test.h"
#include "ui/models/curve_series.h"
#include "ui/pages/ceilings/ceilings_page.h"
#include "ui/pages/compare/compare_page.h"
#include "ui/pages/curves/io_curve_page.h"
#include "ui/pages/explorer/explorer_page.h"
#include "ui/pages/law/law_page.h"
#include "ui/pages/page.h"
#include "ui/pages/points/points_page.h"
#include "ui/pages/roofline/roofline_page.h"
#include "ui/pages/tiles/tile_heatmap_page.h"
#include "ui/panels/collect_panel.h"
#include "ui/panels/details_panel.h"
#include "ui/panels/runs_panel.h"
#include "ui/runs/samples.h"
#include "ui/text/format.h"
#include "ui/text/qtext.h"
#include "ui/widgets/elided_label.h"
#include "ui/window/application.h"
#include "ui/window/query_bar.h"
#include "ui/window/sample_banner.h"

namespace attnscope::ui {
namespace {

TEST_F(WindowTest, ShowsTheFileOnEveryPage) {
  MainWindow window(false);
  window.resize(1280, 800);
  window.show();
  EXPECT_TRUE(page_of<IoCurvePage>(window).curves().empty());
  ASSERT_EQ(window.workspace().open_blocking(file), QString());
  EXPECT_FALSE(page_of<IoCurvePage>(window).curves().empty());
  EXPECT_TRUE(page_of<TileHeatmapPage>(window).has_map());
  window.show_page(QStringLiteral("table"));
  QApplication::processEvents();
  EXPECT_EQ(page_of<PointsPage>(window).table()->model()->rowCount(),
            static_cast<int>(window.workspace().visible()->size()));
  EXPECT_EQ(window.banner().text(), QString());
}

TEST_F(OpenedWindowTest, SendsASelectedPointToTheExplorer) {
  window.resize(1280, 800);
  window.show();
  const auto explore = [&] { trigger(window, QKeySequence(QStringLiteral("Ctrl+Shift+X"))); };
  explore();
  EXPECT_NE(window.banner().text(), QString()) << "no point is selected";
  Page* const curves = window.page(QStringLiteral("io"));
  const ShownPoint point = (*window.workspace().visible())[3];
  emit curves->point_selected(point);
  window.findChild<DetailsPanel*>()->findChild<QPushButton*>(QStringLiteral("explore-point"))->click();
  QApplication::processEvents();
  const auto& page = page_of<ExplorerPage>(window);
  EXPECT_TRUE(page.isVisible());
  EXPECT_EQ(page.chosen_state().choices.point.spec.problem, point.spec.problem);
  EXPECT_EQ(page.chosen_state().choices.point.spec.tile, point.spec.tile);
  EXPECT_EQ(page.chosen_state().choices.point.spec.algorithm, point.spec.algorithm);
  EXPECT_EQ(page.chosen_state().choices.device, point.run->summary.device_name);
}

TEST_F(WindowTest, ReportsABadFileInTheBanner) {
  MainWindow window(false);
  QSignalSpy failed(&window.workspace(), &Workspace::open_failed);
  window.open_files({folder.filePath("nowhere.attnscope")});
  ASSERT_TRUE(failed.wait());
  window.show();
  EXPECT_TRUE(window.banner().text().contains("nowhere.attnscope"));
}

TEST_F(WindowTest, SpaceTogglesTheCurrentRun) {
  Workspace workspace;
  RunsPanel panel(workspace);
  panel.show();
  ASSERT_EQ(workspace.open_blocking(file), QString());
  const std::size_t all = workspace.visible()->size();
  panel.setCurrentIndex(panel.model()->index(0, 0));
  QTest::keyClick(&panel, Qt::Key_Space);
  EXPECT_EQ(workspace.visible()->size(), all - fixtures::memory_wall().size());
  QTest::keyClick(&panel, Qt::Key_Space);
  EXPECT_EQ(workspace.visible()->size(), all);
}

TEST(RecordedSample, HasMeasurementsForEveryPage) {
  const QString sample = sample_path();
  if (sample.isEmpty()) GTEST_SKIP() << "assets/samples/h200.attnscope is not there";
  Workspace workspace;
  IoCurvePage io(workspace);
  TileHeatmapPage tiles(workspace);
  ASSERT_EQ(workspace.open_blocking(sample), QString());
  ASSERT_FALSE(io.curves().empty());
  for (const QString& d : {QStringLiteral("64"), QStringLiteral("128")}) {
    io.choose(QStringLiteral("d"), d);
    int measured = 0;
    for (const char* level : {"sm_l2", "dram"}) {
      io.restore({{"level", level}});
      measured += static_cast<int>(std::ranges::count(io.curves().curves, CurveKind::measured, &Curve::kind));
    }
    EXPECT_EQ(measured, 8) << "four algorithms, DRAM and SM<->L2";
    io.restore({{"level", "sm_l2"}});
    for (const Curve& curve : io.curves().curves) {
      EXPECT_NE(curve.provenance, Provenance::simulated);
      if (curve.kind != CurveKind::measured) continue;
      // Check: the measured SM-L2 bytes agree with the tile program.
      for (const CurvePoint& point : curve.points) {
        if (point.value < 64.0 * 1024 * 1024) continue;
        const auto ratio = io.curves().table().values(metric_key::l2_sm_over_model).at(*point.row);
        ASSERT_TRUE(ratio);
        EXPECT_NEAR(*ratio, 1, curve.name.algorithm == "naive" ? 0.03 : 0.01) << curve.name.algorithm << " " << point.n;
      }
    }
    ASSERT_FALSE(io.curves().failed.empty()) << "naive runs out of memory at the end of the memory wall";
    EXPECT_EQ(io.curves().table().disposition(io.curves().failed[0].row), Disposition::out_of_memory);
  }
  ASSERT_TRUE(tiles.has_map());
  EXPECT_EQ(tiles.options("algorithm"), (QStringList{"fa1", "fa2", "fa3"}));
  EXPECT_GE(tiles.heatmap()->map().y.size(), 12U);
  EXPECT_GE(tiles.heatmap()->map().x.size(), 12U);
  EXPECT_FALSE(tiles.heatmap()->map().fastest.empty());
}

TEST_F(WindowTest, ReportsEveryBadFile) {
  MainWindow window(false);
  QSignalSpy failed(&window.workspace(), &Workspace::open_failed);
  window.open_files({folder.filePath("one.attnscope"), folder.filePath("two.attnscope")});
  ASSERT_TRUE(QTest::qWaitFor([&] { return failed.count() == 2; }));
  EXPECT_TRUE(window.banner().text().contains("one.attnscope")) << window.banner().text().toStdString();
  EXPECT_TRUE(window.banner().text().contains("two.attnscope")) << window.banner().text().toStdString();
  QSignalSpy opened(&window.workspace(), &Workspace::opened);
  window.open_files({file});
  ASSERT_TRUE(opened.wait());
  EXPECT_EQ(window.banner().text(), QString()) << "cleared after a file was opened";
  // Errors of other actions stay.
  window.save_plot_to(QStringLiteral("/proc/new.png"));
  window.open_files({file});
  EXPECT_TRUE(window.banner().text().contains("/proc/new.png"));
  window.save_plot_to(folder.filePath("new.png"));
  EXPECT_EQ(window.banner().text(), QString());
}

TEST_F(WindowTest, CountsDuplicatePointsOnce) {
  MainWindow window(false);
  const QString copy = folder.filePath("copy.attnscope");
  ASSERT_TRUE(QFile::copy(file, copy));
  ASSERT_EQ(window.workspace().open_blocking(file), QString());
  const std::size_t points = window.workspace().checked_points();
  const auto shows = [&](const Message& text) {
    return std::ranges::any_of(window.statusBar()->findChildren<QLabel*>(),
                               [&](const QLabel* label) { return label->text().contains(qtext(text)); });
  };
  const auto measured = [](std::size_t count) {
    return msg::window::points_of{.origin = title(Provenance::measured), .points = count};
  };
  EXPECT_TRUE(shows(measured(points)));
  ASSERT_EQ(window.workspace().open_blocking(copy), QString());
  EXPECT_TRUE(shows(measured(points))) << "as many as are drawn";
  ASSERT_TRUE(window.workspace().set_query("fa1").empty());
  const std::size_t fit = window.workspace().visible()->size();
  ASSERT_LT(fit, points);
  EXPECT_TRUE(shows(measured(fit)));
}

TEST_F(WindowTest, LanguageChangesAtOnce) {
  MainWindow window(true);
  window.show();
  const auto choose = [&](const QString& language) {
    for (QAction* action : window.findChildren<QAction*>()) {
      if (action->text().remove('&') == language) action->trigger();
    }
  };
  QSignalSpy changed(&window, &MainWindow::language_changed);
  choose(qtext(msg::language::own_name{}));
  EXPECT_TRUE(changed.isEmpty()) << "the current language";
  choose(QStringLiteral("中文"));
  EXPECT_EQ(remembered_language(), "zh");
  EXPECT_EQ(changed.size(), 1);
  QSettings().remove("window/language");
}

TEST_F(WindowTest, BannerDropsOutdatedMessages) {
  MainWindow window(false);
  const QString late = folder.filePath("late.attnscope");
  Workspace& workspace = window.workspace();
  // A file that could not be opened, and now can.
  EXPECT_NE(workspace.open_blocking(late), QString());
  emit workspace.open_failed(late, QStringLiteral("late.attnscope does not exist"));
  EXPECT_TRUE(window.banner().text().contains("late.attnscope"));
  ASSERT_TRUE(QFile::copy(file, late));
  ASSERT_EQ(workspace.open_blocking(late), QString());
  EXPECT_EQ(window.banner().text(), QString());
  // Skipped rows: a new message, then the file is closed.
  emit workspace.rows_skipped(late, QStringLiteral("1 row of late.attnscope"));
  emit workspace.rows_skipped(late, QStringLiteral("2 rows of late.attnscope"));
  EXPECT_EQ(window.banner().text(), QStringLiteral("2 rows of late.attnscope"));
  workspace.close(late);
  EXPECT_EQ(window.banner().text(), QString());
  // No plot on one page, then another page.
  ASSERT_EQ(workspace.open_blocking(file), QString());
  window.show_page(QStringLiteral("table"));
  trigger(window, QKeySequence(QStringLiteral("Ctrl+E")));
  EXPECT_NE(window.banner().text(), QString()) << "the table has no plot";
  window.show_page(QStringLiteral("io"));
  EXPECT_EQ(window.banner().text(), QString());
  // An error of the disk stays.
  window.save_plot_to(QStringLiteral("/proc/new.png"));
  workspace.set_run_visible(0, false);
  EXPECT_TRUE(window.banner().text().contains("/proc/new.png"));
}

TEST_F(WindowTest, DistinguishesEqualFileNames) {
  ASSERT_TRUE(QDir(folder.path()).mkpath("a/x") && QDir(folder.path()).mkpath("b/x"));
  const QString first = folder.filePath("a/x/sweep.attnscope");
  const QString second = folder.filePath("b/x/sweep.attnscope");
  for (const QString& path : {first, second}) fixtures::write_file(path, {{"quick", fixtures::memory_wall(), false}});
  MainWindow window(false);
  const auto files_of_runs = [&] {
    QStringList names;
    const QAbstractItemModel& model = *window.findChild<RunsPanel*>()->model();
    for (int row = 0; row < model.rowCount(); ++row) {
      names << model.index(row, 0).data(RunsModel::file_role).toString().section(QStringLiteral(" · "), 0, 0);
    }
    return names;
  };
  ASSERT_EQ(window.workspace().open_blocking(first), QString());
  EXPECT_EQ(files_of_runs(), QStringList{"sweep.attnscope"});
  ASSERT_EQ(window.workspace().open_blocking(second), QString());
  EXPECT_EQ(files_of_runs(), (QStringList{"a/x/sweep.attnscope", "b/x/sweep.attnscope"}));
  EXPECT_TRUE(window.windowTitle().contains("a/x/sweep.attnscope, b/x/sweep.attnscope"))
      << window.windowTitle().toStdString();
}

/// Texts that pages show instead of a plot or table.
QStringList page_texts(MainWindow& window) {
  QStringList words;
  for (const char* id : {"io", "tiles", "table"}) {
    window.show_page(QString::fromLatin1(id));
    wait_until_idle();
    for (const EmptyState* state : window.page(QString::fromLatin1(id))->findChildren<EmptyState*>()) {
      words << (state->isVisible() ? state->text() : QString());
    }
  }
  return words;
}

TEST_F(WindowTest, PagesShowARunningSweep) {
  MainWindow window(false);
  window.show();
  const QString path = folder.filePath("running.attnscope");
  window.workspace().follow(path);
  for (const QString& words : page_texts(window)) {
    EXPECT_TRUE(words.contains(qtext(msg::empty_page::sweep_starting{}))) << words.toStdString();
  }
  RunStore store = RunStore::open(path.toStdString(), RunStore::Mode::collect);
  RunHeader header;
  header.device = fixtures::device();
  header.preset = "quick";
  header.plan_hash = "h";
  header.planned_points = 62;
  const std::int64_t run = store.begin_run(header);
  const Message run_name = msg::empty_page::run_on{.device = "NVIDIA H200", .run = "quick"};
  ASSERT_TRUE(QTest::qWaitFor([&] { return !window.workspace().runs().empty(); }));
  for (const QString& words : page_texts(window)) {
    EXPECT_TRUE(words.contains(qtext(msg::empty_page::collecting{.run = run_name}))) << words.toStdString();
    EXPECT_TRUE(words.contains(qtext(msg::empty_page::points_running{.points = 62}))) << words.toStdString();
  }
  window.workspace().set_run_visible(0, false);
  for (const QString& words : page_texts(window)) {
    EXPECT_TRUE(words.contains(qtext(msg::empty_page::no_run{}))) << words.toStdString();
  }
  window.workspace().set_run_visible(0, true);
  store.finish_run(run, StoredRunState::cancelled);
  ASSERT_TRUE(
      QTest::qWaitFor([&] { return window.workspace().runs()[0].info->summary.state == StoredRunState::cancelled; }));
  for (const QString& words : page_texts(window)) {
    EXPECT_TRUE(words.contains(qtext(msg::empty_page::no_points{.run = run_name}))) << words.toStdString();
    EXPECT_TRUE(words.contains(qtext(msg::empty_page::no_points_help{.state = title(StoredRunState::cancelled)})))
        << words.toStdString();
  }
}

TEST_F(WindowTest, ShowsTheFileBeingRead) {
  MainWindow window(false);
  window.show();
  QSignalSpy opened(&window.workspace(), &Workspace::opened);
  window.open_files({file});
  // The file is read once the event loop runs.
  auto* files = window.statusBar()->findChild<ElidedLabel*>();
  ASSERT_NE(files, nullptr);
  ASSERT_TRUE(window.workspace().opening().startsWith("sample.attnscope"));
  const QString opening = qtext(msg::window::opening{.files = window.workspace().opening().toStdString()});
  EXPECT_EQ(files->text(), opening);
  EXPECT_TRUE(window.findChild<RunsPanel*>()->placeholder_text().contains(opening));
  for (const EmptyState* state : window.findChildren<EmptyState*>()) {
    if (!state->isVisible()) continue;
    EXPECT_TRUE(state->text().contains(opening)) << state->text().toStdString();
  }
  ASSERT_TRUE(opened.count() == 1 || opened.wait());
  EXPECT_EQ(files->text(), "sample.attnscope");
  EXPECT_EQ(window.workspace().opening(), QString());
}

TEST_F(WindowTest, PagesReportThatAllPointsAreDamaged) {
  {
    SQLite::Database database(file.toStdString(), SQLite::OPEN_READWRITE);
    ASSERT_GT(database.exec("UPDATE points SET wall_seconds = -1"), 21);
  }
  MainWindow window(false);
  window.show();
  ASSERT_EQ(window.workspace().open_blocking(file), QString());
  ASSERT_EQ(window.workspace().visible()->size(), 0U);
  for (const QString& words : page_texts(window)) {
    EXPECT_TRUE(words.contains(qtext(msg::empty_page::all_damaged_help{.points = points_text(21)})))
        << words.toStdString();
  }
}

TEST(ApplicationEventTest, ReportsOutOfMemoryAndContinues) {
  class Greedy : public QObject {
   public:
    bool event(QEvent* event) override {
      if (event->type() == QEvent::User) throw std::bad_alloc();
      return QObject::event(event);
    }
  };
  auto* application = qobject_cast<Application*>(QCoreApplication::instance());
  ASSERT_NE(application, nullptr);
  QStringList reports;
  application->on_error([&](const QString& what) { reports << what; });
  Greedy greedy;
  QCoreApplication::postEvent(&greedy, new QEvent(QEvent::User));
  wait_until_idle();
  application->on_error({});
  ASSERT_EQ(reports.size(), 1);
  EXPECT_FALSE(reports[0].isEmpty());
}

/// A run of FA2 at d 64, which the sample file does not have.
void write_sweep(const QString& path) {
  std::vector<PointRecord> records;
  for (const std::int64_t n : {512, 1024, 2048}) {
    records.push_back(fixtures::ok_point(fixtures::spec("fa2", n, 128, 64, 64)));
  }
  fixtures::write_file(path, {{"custom", records, false}});
}

TEST_F(OpenedWindowTest, OffersAFinishedSweepWithoutSwitchingPages) {
  window.show();
  auto& page = page_of<IoCurvePage>(window);
  const QString sweep = folder.filePath("sweep.attnscope");
  write_sweep(sweep);
  emit window.findChild<CollectPanel*>()->collection_started(sweep, 1);
  emit window.findChild<CollectPanel*>()->collection_ended(sweep, 1);
  ASSERT_TRUE(QTest::qWaitFor([&] { return !window.banner().text().isEmpty(); }));
  EXPECT_TRUE(page.curves().title.contains("d 128")) << page.curves().title.toStdString();
  EXPECT_EQ(window.banner().text(), qtext(msg::window::sweep_collected{.points = points_text(3)}));
  window.show_page(QStringLiteral("tiles"));
  window.banner().findChild<QToolButton*>(QStringLiteral("action"))->click();
  EXPECT_EQ(window.page_id(), "io") << "the map has none of its points";
  EXPECT_TRUE(page.curves().title.contains("d 64")) << page.curves().title.toStdString();
  EXPECT_EQ(window.banner().text(), QString());
}

QStringList mnemonics_of(const QString& text, const QString& where) {
  static const QRegularExpression marked(QStringLiteral("(?<!&)&([^&\\s])"));
  const auto match = marked.match(text);
  return match.hasMatch() ? QStringList{match.captured(1).toUpper() + QStringLiteral(" of ") + where} : QStringList();
}

TEST(MnemonicTest, AreUnique) {
  MainWindow window(false);
  QStringList all;
  for (const QAction* action : window.menuBar()->actions()) all << mnemonics_of(action->text(), action->text());
  for (const QLabel* label : window.findChildren<QLabel*>()) {
    if (label->buddy() != nullptr) all << mnemonics_of(label->text(), label->text());
  }
  for (const QAbstractButton* button : window.findChildren<QAbstractButton*>()) {
    all << mnemonics_of(button->text(), button->text());
  }
  EXPECT_GE(all.size(), 12);
  all.sort();
  for (qsizetype i = 1; i < all.size(); ++i) {
    EXPECT_NE(all[i][0], all[i - 1][0]) << all[i].toStdString() << " and " << all[i - 1].toStdString();
  }
}

TEST_F(OpenedWindowTest, SavesAndRestoresChoicesOfEveryPage) {
  auto& io = page_of<IoCurvePage>(window);
  io.restore({{"plot", "time"}});
  io.choose(QStringLiteral("mask"), QStringLiteral("causal"));
  io.restore({{"show", QJsonObject{{"residuals", true}}}});
  auto& tiles = page_of<TileHeatmapPage>(window);
  tiles.choose(QStringLiteral("algorithm"), QStringLiteral("fa1"));
  tiles.restore({{"metric", to_qstring(metric_key::l2_sm_bytes)}});
  auto& table = page_of<PointsPage>(window);
  table.table()->sortByColumn(2, Qt::DescendingOrder);
  page_of<CeilingsPage>(window).choose(QStringLiteral("GPU-of-a-file-to-come"));
  page_of<ExplorerPage>(window).edit(QStringLiteral("mask"), QStringLiteral("causal"), -1);
  page_of<LawPage>(window).restore({{"level", "dram"}});
  page_of<RooflinePage>(window).restore({{"level", "sm_l2"}});
  page_of<ComparePage>(window).restore({{"margin", 2.5}});
  window.page(QStringLiteral("doctor"))->restore({{"file", "/tmp/elsewhere.attnscope"}});

  MainWindow other(false);
  for (const PageKind& kind : page_kinds()) {
    const QString id = to_qstring(kind.id);
    Page* from = window.page(id);
    Page* to = other.page(id);
    ASSERT_TRUE(from != nullptr && to != nullptr) << kind.id;
    EXPECT_FALSE(qtext(kind.title()).isEmpty());
    EXPECT_FALSE(icon_of(kind).pixmap(16).isNull());
    const QByteArray text = QJsonDocument(from->state()).toJson();
    EXPECT_NE(QJsonDocument(to->state()).toJson(), text) << kind.id;
    to->restore(QJsonDocument::fromJson(text).object());
    EXPECT_EQ(QJsonDocument(to->state()).toJson(), text) << kind.id;
    // Unknown keys change nothing.
    to->restore({{QStringLiteral("unheard_of"), 1}});
    EXPECT_EQ(QJsonDocument(to->state()).toJson(), text) << kind.id;
  }
  // The choices apply to points that are loaded later.
  ASSERT_EQ(other.workspace().open_blocking(file), QString());
  EXPECT_EQ(page_of<IoCurvePage>(other).curves().ordinate, Ordinate::time);
  EXPECT_EQ(page_of<TileHeatmapPage>(other).heatmap()->map().metric, metric_key::l2_sm_bytes);
  EXPECT_TRUE(page_of<TileHeatmapPage>(other).file_stem().startsWith("tiles-fa1-"));
}

class SampleBannerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (sample_paths().isEmpty()) GTEST_SKIP() << "assets/samples/h200.attnscope is not there";
    qputenv("ATTNSCOPE_COLLECTOR", "/bin/false");  // No GPU is found.
  }
  void TearDown() override {
    qunsetenv("ATTNSCOPE_COLLECTOR");
    QSettings().remove("window/sample_banner_dismissed");
  }
  static SampleBanner& show_sample(MainWindow& window) {
    window.resize(1280, 800);
    window.show();
    window.open_files({});
    auto* banner = window.findChild<SampleBanner*>();
    EXPECT_TRUE(QTest::qWaitFor([&] { return !banner->text().isEmpty(); }));
    return *banner;
  }
  static QAbstractButton& button(const SampleBanner& banner, const Message& text) {
    const QList<QAbstractButton*> all = banner.findChildren<QAbstractButton*>();
    return **std::ranges::find_if(all, [&](const QAbstractButton* each) { return each->text() == qtext(text); });
  }
};

TEST_F(SampleBannerTest, NamesTheSampleWhileItIsOpen) {
  MainWindow window(false);
  const SampleBanner& banner = show_sample(window);
  EXPECT_TRUE(banner.isVisible());
  EXPECT_EQ(banner.text(), qtext(msg::window::recorded_sample{.date = "2026-11-30", .gpu = "NVIDIA H200"}));
  const QTemporaryDir folder;
  const QString own = folder.filePath("own.attnscope");
  fixtures::write_file(own, {{"memory-wall", fixtures::memory_wall(), false}});
  ASSERT_EQ(window.workspace().open_blocking(own), QString());
  EXPECT_TRUE(banner.isVisible()) << "points of the sample are still shown";
  window.workspace().close(sample_path());
  EXPECT_FALSE(banner.isVisible());
}

TEST_F(SampleBannerTest, ButtonsLeadToTheNextSteps) {
  MainWindow window(false);
  const SampleBanner& banner = show_sample(window);
  QAbstractButton& measure = button(banner, msg::window::measure_here{});
  ASSERT_TRUE(QTest::qWaitFor([&] { return !measure.isEnabled(); }));
  EXPECT_FALSE(measure.toolTip().isEmpty()) << "why no GPU can be used";
  button(banner, msg::window::open_doctor{}).click();
  EXPECT_EQ(window.page_id(), "doctor");
  button(banner, msg::window::explore_tiles{}).click();
  EXPECT_EQ(window.page_id(), "explorer");
}

TEST_F(SampleBannerTest, IsDismissedForGood) {
  {
    MainWindow window(true);
    const SampleBanner& banner = show_sample(window);
    EXPECT_TRUE(banner.isVisible());
    banner.findChild<QToolButton*>()->click();
    EXPECT_FALSE(banner.isVisible());
  }
  {
    MainWindow window(true);
    EXPECT_FALSE(show_sample(window).isVisible());
  }
  QSettings().remove("window/sample_banner_dismissed");
  MainWindow window(true);
  const SampleBanner& banner = show_sample(window);
  EXPECT_TRUE(banner.isVisible());
  window.resize(1280, 690);
  EXPECT_FALSE(banner.isVisible());
  window.resize(1280, 800);
  EXPECT_FALSE(banner.isVisible());
}

constexpr int patience_ms = 20'000;

class FileWatchTest : public WindowTest {
 protected:
  void open() {
    window.show();
    ASSERT_EQ(window.workspace().open_blocking(file), QString());
    wait_until_idle();
    points = window.workspace().visible()->size();
  }
  [[nodiscard]] bool shows_point_count(Row wanted) {
    return QTest::qWaitFor([&] { return window.workspace().visible()->size() == wanted; }, patience_ms);
  }
  [[nodiscard]] bool shows_banner_text(const char* words) {
    return QTest::qWaitFor([&] { return window.banner().text().contains(QLatin1String(words)); }, patience_ms);
  }
  MainWindow window{false};
  Row points = 0;
};

TEST_F(FileWatchTest, ShowsPointsAddedByAnotherProgram) {
  ASSERT_NO_FATAL_FAILURE(open());
  fixtures::write_in_transaction(file, {"more", {fixtures::ok_point(fixtures::spec("fa2", 32768))}, false});
  EXPECT_TRUE(shows_point_count(points + 1)) << window.workspace().visible()->size();
}

TEST_F(FileWatchTest, ReportsARemovedFileAndKeepsItsPoints) {
  ASSERT_NO_FATAL_FAILURE(open());
  const QString away = folder.filePath("away.attnscope");
  ASSERT_TRUE(QFile::rename(file, away));
  EXPECT_TRUE(shows_banner_text("sample.attnscope")) << window.banner().text().toStdString();
  EXPECT_EQ(window.workspace().visible()->size(), points);
  ASSERT_TRUE(QFile::rename(away, file));
  EXPECT_TRUE(QTest::qWaitFor([&] { return window.banner().text().isEmpty(); }, patience_ms));
}

TEST_F(FileWatchTest, ReloadsAReplacedFile) {
  ASSERT_NO_FATAL_FAILURE(open());
  const QString other = folder.filePath("other.attnscope");
  fixtures::write_file(other, {{"other", {fixtures::ok_point(fixtures::spec("fa2", 1024))}, false}});
  ASSERT_EQ(std::rename(other.toUtf8().constData(), file.toUtf8().constData()), 0);
  EXPECT_TRUE(shows_point_count(1)) << window.workspace().visible()->size();
  EXPECT_NE(window.banner().text(), QString());
}

TEST_F(FileWatchTest, RejectsAFileOverwrittenWithText) {
  ASSERT_NO_FATAL_FAILURE(open());
  QFile out(file);
  ASSERT_TRUE(out.open(QIODevice::WriteOnly | QIODevice::Truncate));
  out.write("no measurements\n");
  out.close();
  EXPECT_TRUE(shows_banner_text("sample.attnscope")) << window.banner().text().toStdString();
  EXPECT_TRUE(QTest::qWaitFor([&] { return window.workspace().files().isEmpty(); }, patience_ms));
}

}  // namespace
}  // namespace attnscope::ui
