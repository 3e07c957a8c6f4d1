// SPDX-License-Identifier: GPL-3.0-or-later
// Background computation, and pages with enough points to use it.
#include <gtest/gtest.h>

#include <QLabel>
#include <QSignalSpy>
#include <QTableView>
#include <QThread>
#include <QVariant>
#include <algorithm>
#include <functional>
#include <future>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "messages/query.h"
#include "tests/ui/window_test.h"
#include "ui/models/result_model.h"
#include "ui/pages/compare/compare_page.h"
#include "ui/pages/curves/io_curve_page.h"
#include "ui/pages/law/law_page.h"
#include "ui/pages/points/points_page.h"
#include "ui/pages/roofline/roofline_page.h"
#include "ui/pages/tiles/tile_heatmap_page.h"
#include "ui/process/background_task.h"
#include "ui/window/query_bar.h"

namespace attnscope::ui {
namespace {

TEST(BackgroundTask, ReturnsTheLastResult) {
  std::vector<int> told;
  std::promise<void> begun;
  const QThread* worker_thread = nullptr;
  const auto work = [&](const int& asked, const StaleCheck& outdated) {
    if (asked == 2) return 2;
    worker_thread = QThread::currentThread();
    begun.set_value();
    while (!outdated()) QThread::yieldCurrentThread();
    return 1;
  };
  BackgroundTask<int, int> live(work, [&](int value) { told.push_back(value); });
  live.request(1, always_in_background);
  begun.get_future().wait();
  EXPECT_TRUE(live.is_busy());
  live.request(2, always_in_background);
  live.wait();
  EXPECT_FALSE(live.is_busy());
  QApplication::processEvents();
  EXPECT_EQ(told, std::vector<int>{2});
  EXPECT_NE(worker_thread, QThread::currentThread());
}

TEST(BackgroundTask, RunsSmallRequestsSynchronously) {
  std::vector<int> told;
  BackgroundTask<int, int> live([](const int& asked, const StaleCheck&) { return asked; },
                                [&](int value) { told.push_back(value); });
  live.request(1, always_in_background);
  live.request(2, max_synchronous_points);
  EXPECT_EQ(told, std::vector<int>{2});
  EXPECT_FALSE(live.is_busy());
  QApplication::processEvents();
  EXPECT_EQ(told, std::vector<int>{2});
}

TEST(BackgroundTask, DropsPendingResults) {
  bool told = false;
  BackgroundTask<int, int> live([](const int& asked, const StaleCheck&) { return asked; }, [&](int) { told = true; });
  live.request(1, always_in_background);
  live.discard();
  EXPECT_FALSE(live.is_busy());
  live.wait();
  QApplication::processEvents();
  EXPECT_FALSE(told);
}

TEST(BackgroundTask, AcceptsRequestsDuringANotification) {
  int finished = 0;
  std::vector<int> told;
  BackgroundTask<int, int>* itself = nullptr;
  BackgroundTask<int, int> live([](const int& asked, const StaleCheck&) { return asked; },
                                [&](int value) {
                                  told.push_back(value);
                                  if (value == 1) itself->request(2, always_in_background);
                                });
  itself = &live;
  QObject::connect(&live, &BackgroundWork::finished, [&] { ++finished; });
  live.request(1, always_in_background);
  live.wait();
  EXPECT_EQ(told, (std::vector<int>{1, 2}));
  EXPECT_EQ(finished, 1) << "not settled between the two";
}

TEST(BackgroundTask, ReportsExceptions) {
  QString why;
  BackgroundTask<int, int> live([](const int&, const StaleCheck&) -> int { throw std::runtime_error("no room"); },
                                [](int) { FAIL(); });
  live.on_failure([&](const QString& reason) { why = reason; });
  live.request(1, always_in_background);
  live.wait();
  EXPECT_EQ(why, QStringLiteral("no room"));
}

/// A file with enough points for background threads.
class ManyPointsTest : public ::testing::Test {
 protected:
  static constexpr std::size_t points = 10'500;

  static void SetUpTestSuite() {
    folder = new QTemporaryDir();
    std::vector<PointRecord> kinds = fixtures::memory_wall();
    for (PointRecord& record : fixtures::tile_sweep()) kinds.push_back(std::move(record));
    std::vector<PointRecord> records;
    records.reserve(points + kinds.size());
    for (int heads = 1; records.size() < points; ++heads) {
      for (PointRecord record : kinds) {
        record.spec.problem.heads_q = record.spec.problem.heads_kv = heads;
        records.push_back(std::move(record));
      }
    }
    records.resize(points);
    fixtures::write_file(file(), {{"many", records, false}});
  }
  static void TearDownTestSuite() {
    delete folder;
    folder = nullptr;
  }
  static QString file() { return folder->filePath(QStringLiteral("many.attnscope")); }

  void SetUp() override {
    window.resize(1280, 800);
    window.show();
    window.show_page(QStringLiteral("io"));
    ASSERT_EQ(window.workspace().open_blocking(file()), QString());
    ASSERT_EQ(window.workspace().visible()->size(), points);
  }

  template <class Kind>
  Kind& shown(const QString& id) {
    window.show_page(id);
    return *window.findChild<Kind*>();
  }
  static std::set<std::string> algorithms_of(const CurveSet& curves) {
    std::set<std::string> names;
    for (const Curve& curve : curves.curves) {
      if (curve.kind == CurveKind::measured) names.insert(curve.name.algorithm);
    }
    return names;
  }

  MainWindow window{false};
  static QTemporaryDir* folder;
};
QTemporaryDir* ManyPointsTest::folder = nullptr;

TEST_F(ManyPointsTest, KeepsThePictureUntilTheUpdateIsDone) {
  auto& page = shown<IoCurvePage>(QStringLiteral("io"));
  page.wait_until_idle();
  EXPECT_TRUE(page.is_up_to_date());
  ASSERT_EQ(algorithms_of(page.curves()), (std::set<std::string>{"fa1", "fa2", "naive"}));
  EXPECT_FALSE(page.curves().axis.has_value());

  page.restore({{"over", "br"}});
  EXPECT_FALSE(page.is_up_to_date());
  EXPECT_FALSE(page.curves().axis.has_value()) << "the previous curves are still drawn";
  EXPECT_FALSE(page.curves().empty());
  page.wait_until_idle();
  ASSERT_TRUE(page.curves().axis.has_value());
  EXPECT_EQ(page.curves().axis->key(), "br");

  // The last choice counts.
  page.restore({{"over", "bc"}});
  page.restore({{"over", ""}});
  page.wait_until_idle();
  EXPECT_FALSE(page.curves().axis.has_value());
}

TEST_F(ManyPointsTest, FiltersInTheBackground) {
  auto& page = shown<IoCurvePage>(QStringLiteral("io"));
  page.wait_until_idle();
  window.query().set_text(QStringLiteral("fa2"));
  EXPECT_FALSE(page.is_up_to_date());
  EXPECT_EQ(algorithms_of(page.curves()).size(), 3U);
  page.wait_until_idle();
  EXPECT_EQ(algorithms_of(page.curves()), std::set<std::string>{"fa2"});
  // The last filter counts; few points need no background work.
  window.query().set_text({});
  window.query().set_text(QStringLiteral("fa1 heads:1"));
  window.workspace().wait_until_idle();
  EXPECT_TRUE(page.is_up_to_date());
  EXPECT_EQ(algorithms_of(page.curves()), std::set<std::string>{"fa1"});
}

TEST_F(ManyPointsTest, MatchesTheSynchronousResult) {
  auto& page = shown<IoCurvePage>(QStringLiteral("io"));
  page.wait_until_idle();
  ASSERT_FALSE(page.curves().empty());
  const Row first = drawn_rows(page.curves()).front();
  const std::int64_t heads = page.curves().points->table().problem(first).heads_q;
  const CurveSet aside = page.curves();
  // The same problem alone has few points.
  window.query().set_text(QStringLiteral("heads:%1").arg(heads));
  page.wait_until_idle();
  ASSERT_LE(window.workspace().visible()->size(), 1000U);
  const CurveSet& at_once = page.curves();
  ASSERT_EQ(aside.curves.size(), at_once.curves.size());
  for (std::size_t i = 0; i < aside.curves.size(); ++i) {
    ASSERT_EQ(aside.curves[i].label, at_once.curves[i].label);
    ASSERT_EQ(aside.curves[i].points.size(), at_once.curves[i].points.size());
    for (std::size_t p = 0; p < aside.curves[i].points.size(); ++p) {
      EXPECT_EQ(aside.curves[i].points[p].n, at_once.curves[i].points[p].n);
      EXPECT_EQ(aside.curves[i].points[p].value, at_once.curves[i].points[p].value);
    }
  }
}

TEST_F(ManyPointsTest, UpdatesPagesWhenShown) {
  auto& map = shown<TileHeatmapPage>(QStringLiteral("tiles"));
  EXPECT_FALSE(map.is_up_to_date());
  EXPECT_FALSE(map.has_map());
  map.wait_until_idle();
  EXPECT_TRUE(map.has_map());
  auto& roofline = shown<RooflinePage>(QStringLiteral("roofline"));
  roofline.wait_until_idle();
  EXPECT_TRUE(roofline.has_plot());
  auto& law = shown<LawPage>(QStringLiteral("law"));
  law.wait_until_idle();
  EXPECT_TRUE(law.has_plot() || !law.replacement_text().isEmpty());
  // Shown again, it has nothing to do.
  window.show_page(QStringLiteral("tiles"));
  EXPECT_TRUE(map.is_up_to_date());
}

// A page with a computation that may fail.
class FailingPage : public Page {
 public:
  [[nodiscard]] QWidget* view() override { return nullptr; }
  FailingPage() { watch(found_); }
  void look(bool fails) { found_.request(fails, always_in_background); }
  int shown = 0;

 private:
  BackgroundTask<bool, int> found_{[](const bool& fails, const StaleCheck& /*outdated*/) -> int {
                                     if (fails) throw std::runtime_error("no room");
                                     return 1;
                                   },
                                   [this](int value) { shown += value; }};
};

TEST(FailingPageTest, ShowsAnOverlayWithTheError) {
  FailingPage page;
  page.resize(400, 300);
  page.look(true);
  page.wait_until_idle();
  EXPECT_EQ(page.shown, 0);
  EXPECT_TRUE(page.overlay_text().contains(QStringLiteral("no room"))) << page.overlay_text().toStdString();
  page.look(false);
  page.wait_until_idle();
  EXPECT_EQ(page.shown, 1);
  EXPECT_TRUE(page.overlay_text().isEmpty());
}

TEST_F(ManyPointsTest, EmptyPageShowsTheOverlayAtOnce) {
  auto& map = shown<TileHeatmapPage>(QStringLiteral("tiles"));
  ASSERT_FALSE(map.is_up_to_date());
  EXPECT_FALSE(map.overlay_text().isEmpty());
  map.wait_until_idle();
  EXPECT_TRUE(map.overlay_text().isEmpty());
}

TEST_F(ManyPointsTest, CanBeDestroyedDuringASearch) {
  auto other = std::make_unique<MainWindow>(false);
  other->show();
  other->show_page(QStringLiteral("law"));
  ASSERT_EQ(other->workspace().open_blocking(file()), QString());
  auto* law = other->findChild<LawPage*>();
  ASSERT_FALSE(law->is_up_to_date());
  other->query().set_text(QStringLiteral("fa2"));
  ASSERT_TRUE(other->workspace().is_gathering());
  other.reset();
  QApplication::processEvents();  // A destroyed task notifies nobody.
}

TEST_F(ManyPointsTest, RestoresTheMarkAfterAnUpdate) {
  auto& io = shown<IoCurvePage>(QStringLiteral("io"));
  io.wait_until_idle();
  ASSERT_FALSE(io.curves().empty());
  const ShownPoint point = io.curves().at(drawn_rows(io.curves()).front());
  auto& table = shown<PointsPage>(QStringLiteral("table"));
  table.wait_until_idle();
  table.mark(point);
  ASSERT_TRUE(table.is_mark_shown());
  const QString selected = to_tsv(table.table()->selected_values());
  // A filter that keeps the point: marked again when the result is there, not before.
  window.query().set_text(QStringLiteral("heads>=1"));
  EXPECT_FALSE(table.is_up_to_date());
  table.wait_until_idle();
  EXPECT_TRUE(table.is_mark_shown());
  EXPECT_EQ(to_tsv(table.table()->selected_values()), selected);
  // A hidden page marks the point once it is shown and up to date.
  io.mark(point);
  EXPECT_FALSE(io.is_mark_shown());
  window.show_page(QStringLiteral("io"));
  EXPECT_FALSE(io.is_up_to_date());
  EXPECT_FALSE(io.is_mark_shown());
  io.wait_until_idle();
  EXPECT_TRUE(io.is_mark_shown());
}

TEST_F(ManyPointsTest, CountsPointsOnceLoaded) {
  QSignalSpy awaited(&window.workspace(), &Workspace::points_pending);
  QSignalSpy changed(&window.workspace(), &Workspace::points_changed);
  window.query().set_text(QStringLiteral("fa1"));
  window.query().set_text(QStringLiteral("fa2"));
  EXPECT_EQ(awaited.count(), 2);
  EXPECT_EQ(changed.count(), 0);
  const auto* count = window.query().findChild<QLabel*>();
  EXPECT_EQ(count->text(), qtext(msg::query::selecting{.all = points}));
  window.workspace().wait_until_idle();
  EXPECT_EQ(changed.count(), 1) << "for the last filter only";
  std::set<std::string> algorithms;
  const std::shared_ptr<const PointSet> visible = window.workspace().visible();
  for (Row row = 0; row < visible->size(); ++row) algorithms.insert(visible->table().algorithm(row));
  EXPECT_EQ(algorithms, std::set<std::string>{"fa2"});
  // visible() waits for the current filter.
  window.query().set_text(QStringLiteral("naive"));
  ASSERT_TRUE(window.workspace().is_gathering());
  EXPECT_EQ(window.workspace().visible()->table().algorithm(0), "naive");
  window.workspace().wait_until_idle();
  EXPECT_EQ(window.workspace().visible()->table().algorithm(0), "naive");
}

TEST_F(ManyPointsTest, SortsInTheBackground) {
  auto& page = shown<PointsPage>(QStringLiteral("table"));
  page.wait_until_idle();
  const QAbstractItemModel& rows = *page.table()->model();
  const int time = dynamic_cast<const ResultModel&>(rows).find_column_index(QStringLiteral("time"));
  ASSERT_GE(time, 0);
  const auto times = [&] {
    std::vector<QVariant> values;
    for (int row = 0; row < rows.rowCount(); ++row)
      values.push_back(rows.index(row, time).data(ResultModel::sort_role));
    return values;
  };
  const auto stand = [&](const auto& in_order) {
    std::vector<double> known;
    for (const QVariant& value : times()) {
      if (value.isValid()) known.push_back(value.toDouble());
    }
    return std::ranges::is_sorted(known, in_order) && known.size() > 100 &&
           std::ranges::is_partitioned(times(), [](const QVariant& value) { return value.isValid(); });
  };
  const std::vector<QVariant> unsorted = times();
  ASSERT_FALSE(stand(std::less()));
  page.table()->selectRow(17);
  const QString chosen = to_tsv(page.table()->selected_values());
  page.table()->sortByColumn(time, Qt::AscendingOrder);
  EXPECT_FALSE(page.is_up_to_date());
  EXPECT_EQ(times(), unsorted) << "until the sort is done";
  page.wait_until_idle();
  EXPECT_EQ(rows.rowCount(), static_cast<int>(points));
  EXPECT_TRUE(stand(std::less()));
  EXPECT_EQ(to_tsv(page.table()->selected_values()), chosen) << "the selection follows the point";
  page.table()->sortByColumn(time, Qt::AscendingOrder);
  page.table()->sortByColumn(time, Qt::DescendingOrder);
  page.wait_until_idle();
  EXPECT_TRUE(stand(std::greater()));
  // Filtered rows are sorted from the start.
  window.query().set_text(QStringLiteral("algo:fa1,fa2"));
  page.wait_until_idle();
  EXPECT_LT(rows.rowCount(), static_cast<int>(points));
  EXPECT_TRUE(stand(std::greater()));
}

TEST_F(ManyPointsTest, ComparesOnceTheSidesAreKnown) {
  auto& page = shown<ComparePage>(QStringLiteral("compare"));
  EXPECT_FALSE(page.is_up_to_date());
  page.wait_until_idle();
  ASSERT_NE(page.comparison(), nullptr);
  page.restore({{"by", "algorithm"}});
  page.wait_until_idle();
  ASSERT_EQ(page.comparison()->axis().key, QStringLiteral("algorithm"));
  const QString last = page.comparison()->axis().values.back();
  ASSERT_NE(page.comparison()->base_name(), last);
  page.restore({{"baseline", last}});
  EXPECT_FALSE(page.is_up_to_date());
  EXPECT_NE(page.comparison()->base_name(), last) << "the previous comparison is still shown";
  page.wait_until_idle();
  EXPECT_EQ(page.comparison()->base_name(), last);
}

TEST_F(ManyPointsTest, PictureWaitsForTheUpdate) {
  auto& page = shown<IoCurvePage>(QStringLiteral("io"));
  page.wait_until_idle();
  window.query().set_text(QStringLiteral("fa2"));
  ASSERT_FALSE(page.is_up_to_date());
  window.save_plot_to(folder->filePath(QStringLiteral("io.svg")));
  EXPECT_TRUE(page.is_up_to_date());
  EXPECT_EQ(algorithms_of(page.curves()), std::set<std::string>{"fa2"});
}

}  // namespace
}  // namespace attnscope::ui
