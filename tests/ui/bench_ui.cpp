// SPDX-License-Identifier: GPL-3.0-or-later
// Offscreen benchmark of the window: opening and first paint, then the time for which each interaction blocks the event
// loop, from the event to the resulting frame (median, p99). CPU time is reported next to wall time, since wall time
// depends on other load.
//   bench_ui [FILE.attnscope | POINTS] [PART...]
// Default file: the recorded sample. POINTS: a generated file, kept at ATTNSCOPE_BENCH_FILE if set.
// PART: explorer, table, curves, heatmap, turn, runs, or a page's name (filtering it); default: all.
#include <sys/resource.h>
#include <QApplication>
#include <QElapsedTimer>
#include <QFileInfo>
#include <QMetaEnum>
#include <QTableView>
#include <QTemporaryDir>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <string>

#include "profiler/metrics/metrics.h"
#include "tests/ui/fixtures.h"
#include "ui/models/result_model.h"
#include "ui/pages/curves/io_curve_page.h"
#include "ui/pages/explorer/cards.h"
#include "ui/pages/explorer/explorer_page.h"
#include "ui/pages/page.h"
#include "ui/pages/tiles/tile_heatmap_page.h"
#include "ui/runs/samples.h"
#include "ui/widgets/number_editor.h"
#include "ui/window/main_window.h"
#include "ui/window/query_bar.h"

namespace {

using namespace attnscope::ui;

/// CPU time of this thread in milliseconds.
double thread_cpu_ms() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) * 1e-6;
}

/// CPU time of the process in milliseconds.
double process_cpu_ms() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) * 1e-6;
}

class TimedApplication : public QApplication {
 public:
  using QApplication::QApplication;

  bool notify(QObject* receiver, QEvent* event) override {
    if (within_) return QApplication::notify(receiver, event);
    within_ = true;
    // The event may delete its receiver.
    const QString receiver_name = receiver->objectName();
    const char* kind = receiver->metaObject()->className();
    const QEvent::Type type = event->type();
    const double before = thread_cpu_ms();
    const bool taken = QApplication::notify(receiver, event);
    within_ = false;
    const double took = thread_cpu_ms() - before;
    if (took > longest_ms_) {
      longest_ms_ = took;
      longest_ = QStringLiteral("%1 of %2 \"%3\"")
                     .arg(QString::fromLatin1(QMetaEnum::fromType<QEvent::Type>().valueToKey(type)),
                          QString::fromLatin1(kind), receiver_name);
    }
    return taken;
  }
  /// Returns and resets the longest event: "MetaCall of attnscope::ui::BackgroundWork "": 12.3 ms".
  QString take_longest_event() {
    const QString words = QStringLiteral("%1: %2 ms").arg(longest_).arg(longest_ms_, 0, 'f', 1);
    longest_ms_ = 0;
    longest_.clear();
    return words;
  }
  static TimedApplication& instance() { return *static_cast<TimedApplication*>(QCoreApplication::instance()); }

 private:
  bool within_ = false;
  double longest_ms_ = 0;
  QString longest_;
};

struct Targets {
  double block = 100;
  double whole = 0;  ///< 0: no target.
};

/// For each repetition: the longest block of the event loop, and the time until the resulting frame.
struct Times {
  std::vector<double> clock;
  std::vector<double> block;  ///< CPU time of this thread.
  std::vector<double> whole;  ///< CPU time of all threads.
  QString longest_event;

  /// Runs `act`, then the event loop until `done`.
  void take(const std::function<void()>& act, const std::function<bool()>& done) {
    QElapsedTimer timer;
    timer.start();
    TimedApplication::instance().take_longest_event();
    const double all_before = process_cpu_ms();
    double longest = 0;
    const auto turn = [&](const std::function<void()>& work) {
      const double before = thread_cpu_ms();
      work();
      longest = std::max(longest, thread_cpu_ms() - before);
    };
    turn([&] {
      act();
      QApplication::processEvents();
    });
    while (!done()) turn([] { QApplication::processEvents(QEventLoop::WaitForMoreEvents); });
    turn([] { QApplication::processEvents(); });
    const QString event = TimedApplication::instance().take_longest_event();
    if (block.empty() || longest > *std::max_element(block.begin(), block.end())) longest_event = event;
    block.push_back(longest);
    whole.push_back(process_cpu_ms() - all_before);
    clock.push_back(static_cast<double>(timer.nsecsElapsed()) * 1e-6);
  }
  void print(const char* what, const Targets& targets) {
    const auto at = [](std::vector<double>& times, double share) {
      std::sort(times.begin(), times.end());
      return times[static_cast<std::size_t>(share * static_cast<double>(times.size() - 1))];
    };
    std::printf("%-32s block %6.2f p50 %6.2f p99 (target %g), whole %6.2f p50 %6.2f p99 CPU, %6.2f %6.2f wall", what,
                at(block, 0.5), at(block, 0.99), targets.block, at(whole, 0.5), at(whole, 0.99), at(clock, 0.5),
                at(clock, 0.99));
    if (targets.whole > 0) std::printf(" (target %g)", targets.whole);
    std::printf("\n");
    // Helps to find the cause of a missed target.
    if (block.back() > targets.block) std::printf("%-32s   longest event %s\n", "", qPrintable(longest_event));
  }
};

/// Returns whether all visible pages are up to date.
std::function<bool()> page_settled(MainWindow& window) {
  return [&window] {
    return std::ranges::all_of(window.findChildren<Page*>(),
                               [](const Page* page) { return !page->isVisible() || page->is_up_to_date(); });
  };
}

/// Prints p50 and p99 of the longest block of the event loop, and of the total time.
void bench_interaction(MainWindow& window, const char* what, int repetitions, const std::function<void(int)>& act,
                       const Targets& targets = {}) {
  Times times;
  for (int i = 0; i < repetitions; ++i) times.take([&] { act(i); }, page_settled(window));
  times.print(what, targets);
}

/// Returns whether this part was requested.
bool wanted(const QStringList& parts, const char* part) {
  return parts.isEmpty() || parts.contains(QLatin1String(part));
}

/// Waits until the visible page is up to date and painted.
void wait_for(MainWindow& window) {
  const auto settled = page_settled(window);
  QApplication::processEvents();
  while (!settled()) QApplication::processEvents(QEventLoop::WaitForMoreEvents);
  QApplication::processEvents();
}

double ms_since(const QElapsedTimer& timer) {
  return static_cast<double>(timer.nsecsElapsed()) * 1e-6;
}

/// Opens a file like the program: first an empty window, then reading in a thread. Prints the longest block of the
/// event loop and the time until the points are visible.
void bench_opening(MainWindow& window, const QString& file) {
  QElapsedTimer whole;
  whole.start();
  window.show();
  QApplication::processEvents();
  window.grab();
  std::printf("%-32s %8.0f ms\n", "first frame, no file", ms_since(whole));
  whole.restart();
  const double before_all = thread_cpu_ms();
  double longest = 0;
  window.workspace().open(file);
  bool said = false;
  const auto settled = page_settled(window);
  while (window.workspace().is_loading() || !settled()) {
    said = said || window.workspace().opening().contains(QLatin1Char('%'));
    const double before = thread_cpu_ms();
    QApplication::processEvents(QEventLoop::WaitForMoreEvents);
    longest = std::max(longest, thread_cpu_ms() - before);
  }
  const double read = ms_since(whole);
  const double before = thread_cpu_ms();
  window.grab();
  longest = std::max(longest, thread_cpu_ms() - before);
  const std::size_t points = window.workspace().visible()->size();
  std::printf("%-32s %8.0f ms to first paint of %zu of %zu points, %.0f ms in the reader thread (%s)\n", "open",
              ms_since(whole), points, window.workspace().checked_points(), read,
              said ? "with progress" : "without progress");
  std::printf("%-32s %8.1f ms CPU in the longest block, %.1f in total   (target 100)\n", "open, event loop", longest,
              thread_cpu_ms() - before_all);
  std::printf("%-32s   longest event %s\n", "", qPrintable(TimedApplication::instance().take_longest_event()));
}

void report_memory() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  std::printf("%-32s %8.0f MiB\n", "peak memory", static_cast<double>(usage.ru_maxrss) / 1024);
}

void bench_curves(MainWindow& window, IoPlot& plot) {
  const auto at = [&](int i) { return QPointF(plot.width() * (0.2 + 0.003 * (i % 200)), plot.height() * 0.4); };
  bench_interaction(window, "curves: hover", 300, [&](int i) { plot.hover_at(at(i)); });
  bench_interaction(window, "curves: zoom", 200, [&](int i) {
    plot.xAxis->scaleRange(i % 2 == 0 ? 0.9 : 1.0 / 0.9);
    plot.replot();
  });
  bench_interaction(window, "curves: pan", 200, [&](int i) {
    // A logarithmic axis moves by a factor.
    plot.xAxis->moveRange(i % 2 == 0 ? 1.05 : 1 / 1.05);
    plot.replot();
  });
  bench_interaction(window, "curves: legend entry", 100, [&](int i) {
    const std::vector<LegendRow>& rows = plot.legend_table().content().rows;
    if (!rows.empty() && i >= 0) plot.toggle(QString(rows.front().series));
  });
  auto* page = window.findChild<IoCurvePage*>();
  bench_interaction(window, "curves: bytes, time", 60, [&](int i) {
    page->restore({{"plot", i % 2 == 0 ? "time" : "io"}});
  });
  bench_interaction(window, "curves: over Br", 60, [&](int i) { page->restore({{"over", i % 2 == 0 ? "br" : ""}}); });
  page->restore({{"over", ""}});
  page->restore({{"plot", "io"}});
}

class PaintCounter : public QObject {
 public:
  explicit PaintCounter(QWidget* widget) { widget->installEventFilter(this); }
  [[nodiscard]] int count() const { return count_; }

 protected:
  bool eventFilter(QObject* /*watched*/, QEvent* event) override {
    if (event->type() == QEvent::Paint) ++count_;
    return false;
  }

 private:
  int count_ = 0;
};

/// Prints p50 and p99 from a slider's movement until the time bars are painted.
void bench_slider(MainWindow& window, const char* what, const QString& name, double target) {
  auto* slider = window.findChild<QSlider*>(name);
  const PaintCounter frames(window.findChild<ExplorerPage*>()->time_bars());
  const int places = slider->maximum() - slider->minimum();
  constexpr int moves = 400;
  int without_frame = 0;
  const auto move = [&](int i) {
    // Back and forth, so that each step is a change.
    const int at = i % (2 * places);
    const int before = frames.count();
    slider->setValue(slider->minimum() + (at < places ? at + 1 : 2 * places - at - 1));
    QApplication::processEvents();
    if (frames.count() == before) ++without_frame;
  };
  Times times;
  for (int i = 0; i < moves; ++i) times.take([&] { move(i); }, page_settled(window));
  times.print(what, {.block = target});
  if (without_frame > 0) std::printf("%-32s %8d of %d moves\n", "  without a frame", without_frame, moves);
}

/// Prints the time to switch to each page, up to date or outdated by a filter, and to filter with the page shown.
void bench_pages(MainWindow& window, const QStringList& pages, const QStringList& parts) {
  for (const QString& page : pages) {
    window.show_page(page);
    wait_for(window);
  }
  if (wanted(parts, "turn")) {
    for (const QString& page : pages) {
      const QString other = page == pages.back() ? pages.front() : pages.back();
      Times turned;
      for (int i = 0; i < 20; ++i) {
        window.show_page(other);
        wait_for(window);
        turned.take([&] { window.show_page(page); }, page_settled(window));
      }
      turned.print(qPrintable(QStringLiteral("switch to ") + page), {});
    }
  }
  const auto filter = [&](int i) { window.query().set_text(i % 2 == 0 ? QStringLiteral("fa2 N>=1024") : QString()); };
  for (const QString& page : pages) {
    if (!wanted(parts, qPrintable(page))) continue;
    Times turned;
    for (int i = 0; i < 8; ++i) {
      window.show_page(page == pages.back() ? pages.front() : pages.back());
      filter(i);
      wait_for(window);
      turned.take([&] { window.show_page(page); }, page_settled(window));
    }
    turned.print(qPrintable(QStringLiteral("switch to %1 after a filter").arg(page)), {.whole = 200});
    bench_interaction(window, qPrintable(QStringLiteral("filter, page ") + page), 20, filter, {.whole = 200});
  }
}

void bench_heatmap(MainWindow& window) {
  window.show_page(QStringLiteral("tiles"));
  wait_for(window);
  auto* view = window.findChild<HeatmapView*>();
  bench_interaction(window, "heatmap: hover", 300, [&](int i) {
    view->hover_at({view->width() * (0.1 + 0.0035 * (i % 200)), view->height() * 0.4});
  });
  auto* page = window.findChild<TileHeatmapPage*>();
  bench_interaction(window, "heatmap: metric", 40, [&](int i) {
    page->restore({{"metric", to_qstring(i % 2 == 0 ? attnscope::metric_key::l2_sm_bytes
                                                    : attnscope::metric_key::time_median_ns)}});
  });
}

void bench_table(MainWindow& window) {
  window.show_page(QStringLiteral("table"));
  wait_for(window);
  auto* table = window.page(QStringLiteral("table"))->findChild<QTableView*>();
  const int times = dynamic_cast<const ResultModel&>(*table->model()).find_column_index(QStringLiteral("time"));
  bench_interaction(window, "table: sort by time", 10,
                    [&](int i) { table->sortByColumn(times, i % 2 == 0 ? Qt::AscendingOrder : Qt::DescendingOrder); },
                    {.whole = 200});
  bench_interaction(window, "table: scroll", 200, [&](int i) {
    table->scrollTo(table->model()->index(static_cast<int>((i * 7919LL) % table->model()->rowCount()), 0));
    table->viewport()->repaint();
  });
  bench_interaction(window, "table: select a point", 50,
                    [&](int i) { table->selectRow(static_cast<int>((i * 7919LL) % table->model()->rowCount())); });
  table->sortByColumn(-1, Qt::AscendingOrder);
}

void bench_runs(MainWindow& window, const QString& file) {
  Workspace& workspace = window.workspace();
  bench_interaction(window, "runs: hide, show one", 10, [&](int i) { workspace.set_run_visible(0, i % 2 != 0); });
  Times closed;
  for (int i = 0; i < 4; ++i) {
    closed.take([&] { workspace.close(file); }, page_settled(window));
    workspace.open(file);
    while (workspace.is_loading()) QApplication::processEvents(QEventLoop::WaitForMoreEvents);
    wait_for(window);
  }
  closed.print("runs: close the file", {});
}

void bench_explorer(MainWindow& window) {
  window.show_page(QStringLiteral("explorer"));
  wait_for(window);
  window.findChild<ExplorerPage*>()->pin();
  bench_slider(window, "explorer, Br to frame", QStringLiteral("br-slider"), 33);
  bench_slider(window, "explorer, Bc to frame", QStringLiteral("bc-slider"), 33);
  bench_slider(window, "explorer, N to frame", QStringLiteral("n_k-slider"), 33);
  bench_slider(window, "explorer, M to frame", QStringLiteral("m-slider"), 33);
}

/// Writes both passes, four masks, two dtypes, many head counts, N 256 to 16384 and tiles of three algorithms, in runs
/// of at most 100,000 points to limit memory.
void write_points(const QString& file, std::size_t wanted) {
  // Copies of a few points: evaluating the closed forms of each would dominate the benchmark.
  std::vector<attnscope::PointRecord> kinds = fixtures::memory_wall();
  for (attnscope::PointRecord& record : fixtures::tile_sweep()) kinds.push_back(std::move(record));
  constexpr std::size_t max_points_per_run = 100'000;
  int heads = 1;
  for (std::size_t written = 0, run = 1; written < wanted; ++run) {
    const std::size_t count = std::min(max_points_per_run, wanted - written);
    std::vector<attnscope::PointRecord> records;
    records.reserve(count + 8 * kinds.size());
    for (; records.size() < count; ++heads) {
      for (const char* mask : {"full", "causal", "window:255:0", "lengths:ramp"}) {
        for (const attnscope::DType dtype : {attnscope::DType::fp16, attnscope::DType::bf16}) {
          for (attnscope::PointRecord record : kinds) {
            record.spec.problem.heads_q = record.spec.problem.heads_kv = heads;
            record.spec.problem.mask = *attnscope::parse_mask(mask);
            record.spec.problem.dtype = dtype;
            records.push_back(std::move(record));
          }
        }
      }
    }
    records.resize(count);
    fixtures::write_in_transaction(file, {"sweep " + std::to_string(run), std::move(records), false});
    written += count;
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (qEnvironmentVariableIsEmpty("QT_QPA_PLATFORM")) qputenv("QT_QPA_PLATFORM", "offscreen");
  // Line buffering shows progress through a pipe, too.
  std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);
  const TimedApplication application(argc, argv);
  initialize_style();
  const QTemporaryDir folder;
  QString file = argc > 1 ? QString::fromLocal8Bit(argv[1]) : sample_path();
  QStringList parts;
  for (int i = 2; i < argc; ++i) parts << QString::fromLocal8Bit(argv[i]);
  bool number = false;
  const auto points = file.toULongLong(&number);
  if (number || file.isEmpty()) {
    file = qEnvironmentVariable("ATTNSCOPE_BENCH_FILE", folder.filePath(QStringLiteral("generated.attnscope")));
    if (!QFileInfo::exists(file)) write_points(file, number ? points : 1000);
  }
  std::printf("%s\n", qPrintable(file));
  MainWindow window(false);
  window.resize(1920, 1080);
  bench_opening(window, file);
  if (window.workspace().visible()->empty()) {
    std::fprintf(stderr, "%s\n", qPrintable(window.banner().text()));
    return 1;
  }
  report_memory();
  if (wanted(parts, "explorer")) bench_explorer(window);
  if (wanted(parts, "table")) bench_table(window);
  window.show_page(QStringLiteral("io"));
  wait_for(window);
  if (wanted(parts, "curves")) bench_curves(window, *window.findChild<IoPlot*>());
  if (wanted(parts, "heatmap")) bench_heatmap(window);
  if (wanted(parts, "runs")) bench_runs(window, file);
  QStringList pages;
  for (const PageKind& kind : page_kinds()) {
    pages << QString::fromUtf8(kind.id.data(), static_cast<qsizetype>(kind.id.size()));
  }
  bench_pages(window, pages, parts);
  report_memory();
  return 0;
}
