// SPDX-License-Identifier: GPL-3.0-or-later
// What a user waits for, off screen: first paint, page switch, hover, rebuilding a plot. Prints medians in ms.
// Of every interaction also the 99th percentile of the event loop's block: from the event to the frame that shows what
// follows. Beside the clock's time stands that which the thread computed: on a machine with other work the former says
// nothing, and on an idle one they are the same.
//   bench_ui [FILE.attnscope]      without one: the recorded sample, else generated points
#include <sys/resource.h>
#include <QApplication>
#include <QElapsedTimer>
#include <QTableView>
#include <QTemporaryDir>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <functional>

#include "profiler/metrics/metrics.h"
#include "tests/ui/fixtures.h"
#include "ui/explorer/number_editor.h"
#include "ui/main_window.h"
#include "ui/pages/explorer_page.h"
#include "ui/pages/io_curve_page.h"
#include "ui/pages/page_list.h"
#include "ui/pages/tile_heatmap_page.h"
#include "ui/query_bar.h"

namespace {

using namespace attnscope::ui;

/// Milliseconds that this thread has computed.
double computed_ms() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) * 1e-6;
}

/// Of some repetitions, ascending.
struct Times {
  std::vector<double> clock;
  std::vector<double> computed;

  void take(const std::function<void()>& act) {
    QElapsedTimer timer;
    timer.start();
    const double before = computed_ms();
    act();
    computed.push_back(computed_ms() - before);
    clock.push_back(static_cast<double>(timer.nsecsElapsed()) * 1e-6);
  }
  void print(const char* what, double target) {
    std::sort(clock.begin(), clock.end());
    std::sort(computed.begin(), computed.end());
    const auto at = [](const std::vector<double>& times, double share) {
      return times[static_cast<std::size_t>(share * static_cast<double>(times.size() - 1))];
    };
    std::printf("%-28s %8.2f ms p50 %8.2f p99 by the clock, %8.2f p50 %8.2f p99 computed   (target %g p99)\n", what,
                at(clock, 0.5), at(clock, 0.99), at(computed, 0.5), at(computed, 0.99), target);
  }
};

double median_ms(int repetitions, const std::function<void(int)>& body) {
  std::vector<double> times;
  for (int i = 0; i < repetitions; ++i) {
    QElapsedTimer timer;
    timer.start();
    body(i);
    times.push_back(static_cast<double>(timer.nsecsElapsed()) * 1e-6);
  }
  std::nth_element(times.begin(), times.begin() + repetitions / 2, times.end());
  return times[static_cast<std::size_t>(repetitions / 2)];
}

/// p50 and p99 of the event loop's block by one interaction, all that it queues included.
void bench_interaction(const char* what, int repetitions, const std::function<void(int)>& act) {
  Times times;
  for (int i = 0; i < repetitions; ++i) {
    times.take([&] {
      act(i);
      QApplication::processEvents();
    });
  }
  times.print(what, 16);
}

/// The longest that the event loop stands still while a file is read in the background, and how long that takes.
void bench_opening(const QString& file) {
  MainWindow window(false);
  window.resize(1920, 1080);
  window.show();
  QApplication::processEvents();
  QElapsedTimer whole;
  whole.start();
  double longest = 0;
  window.workspace().open(file);
  while (window.workspace().loading()) {
    const double before = computed_ms();
    QApplication::processEvents(QEventLoop::WaitForMoreEvents);
    longest = std::max(longest, computed_ms() - before);
  }
  const double shown = static_cast<double>(whole.nsecsElapsed()) * 1e-6;
  window.grab();
  const double painted = static_cast<double>(whole.nsecsElapsed()) * 1e-6;
  std::printf("%-28s %8.0f ms to the last point, %.0f ms to its paint; %.1f ms computed in one block   (target 16)\n",
              "open in the background", shown, painted, longest);
}

void report_memory() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  std::printf("%-28s %9.0f MiB\n", "peak memory", static_cast<double>(usage.ru_maxrss) / 1024);
}

/// Hover, zoom, legend, choices and filter of the page of curves.
void bench_curves(MainWindow& window, IoPlot& plot) {
  const auto at = [&](int i) { return QPointF(plot.width() * (0.2 + 0.003 * (i % 200)), plot.height() * 0.4); };
  bench_interaction("curves: hover", 300, [&](int i) { plot.hover_at(at(i)); });
  bench_interaction("curves: zoom", 200, [&](int i) {
    plot.xAxis->scaleRange(i % 2 == 0 ? 0.9 : 1.0 / 0.9);
    plot.replot();
  });
  bench_interaction("curves: pan", 200, [&](int i) {
    plot.xAxis->moveRange(i % 2 == 0 ? 100 : -100);
    plot.replot();
  });
  bench_interaction("curves: legend entry", 100, [&](int i) {
    const auto shown = plot.plot_legend().shown();
    const auto found = std::find_if(shown.begin(), shown.end(), [](const auto& each) { return !each.curves.empty(); });
    if (found != shown.end() && i >= 0) plot.toggle(found->curves);
  });
  auto* page = window.findChild<IoCurvePage*>();
  bench_interaction("curves: bytes, time", 60,
                    [&](int i) { page->set_ordinate(i % 2 == 0 ? Ordinate::time : Ordinate::bytes); });
  bench_interaction("curves: over Br", 60,
                    [&](int i) { page->set_axis(i % 2 == 0 ? QStringLiteral("br") : QStringLiteral("n")); });
  page->set_axis(QStringLiteral("n"));
  page->set_ordinate(Ordinate::bytes);
}

/// From a slider's movement to the frame that shows what follows from it, p50 and p99.
void bench_slider(MainWindow& window, const char* what, const QString& name, double target) {
  auto* slider = window.findChild<QSlider*>(name);
  const int places = slider->maximum() - slider->minimum();
  const auto move = [&](int i) {
    // Back and forth, never to where it stands.
    const int at = i % (2 * places);
    slider->setValue(slider->minimum() + (at < places ? at + 1 : 2 * places - at - 1));
    QApplication::processEvents();
    window.repaint();
  };
  Times times;
  for (int i = 0; i < 400; ++i) times.take([&] { move(i); });
  times.print(what, target);
}

void report(const char* what, double ms, double target) {
  std::printf("%-28s %9.3f ms   (target %g ms)\n", what, ms, target);
}

}  // namespace

int main(int argc, char** argv) {
  if (qEnvironmentVariableIsEmpty("QT_QPA_PLATFORM")) qputenv("QT_QPA_PLATFORM", "offscreen");
  const QApplication application(argc, argv);
  initialize_style();
  const QTemporaryDir folder;
  QString file = argc > 1 ? QString::fromLocal8Bit(argv[1]) : recorded_sample();
  if (file.isEmpty()) {
    file = folder.filePath(QStringLiteral("generated.attnscope"));
    fixtures::write_file(file,
                         {{"memory-wall", fixtures::memory_wall(), false}, {"tiles", fixtures::tile_sweep(), false}});
  }
  std::printf("%s\n", qPrintable(file));

  report("first paint with the file",
         median_ms(5,
                   [&](int) {
                     MainWindow window(false);
                     window.resize(1280, 800);
                     if (const QString error = window.workspace().open_now(file); !error.isEmpty()) {
                       std::fprintf(stderr, "%s\n", qPrintable(error));
                       std::exit(1);
                     }
                     window.show();
                     QApplication::processEvents();
                     window.grab();
                   }),
         1000);

  MainWindow window(false);
  window.resize(1920, 1080);
  window.workspace().open_now(file);
  window.show();
  const QStringList pages{QStringLiteral("io"), QStringLiteral("tiles"), QStringLiteral("table")};
  QStringList all_pages;
  for (const PageKind& kind : page_kinds()) {
    all_pages << QString::fromUtf8(kind.id.data(), static_cast<qsizetype>(kind.id.size()));
  }
  for (const QString& page : pages) {
    window.show_page(page);
    QApplication::processEvents();
  }
  report("page switch",
         median_ms(60,
                   [&](int i) {
                     window.show_page(pages[i % 3]);
                     QApplication::processEvents();
                   }),
         16);

  for (const QString& page : all_pages) {
    window.show_page(page);
    QApplication::processEvents();
  }
  bench_interaction("page change, all pages", 20 * static_cast<int>(all_pages.size()),
                    [&](int i) { window.show_page(all_pages[i % all_pages.size()]); });
  for (const QString& page : all_pages) {
    window.show_page(page);
    QApplication::processEvents();
    bench_interaction(qPrintable(QStringLiteral("filter, page ") + page), 20,
                      [&](int i) { window.query().set_text(i % 2 == 0 ? QStringLiteral("fa2 N>=4096") : QString()); });
  }

  window.show_page(pages[0]);
  QApplication::processEvents();
  IoPlot* plot = window.findChild<IoPlot*>();
  report("hover, curves",
         median_ms(200,
                   [&](int i) {
                     plot->hover_at({plot->width() * (0.2 + 0.003 * i), plot->height() * 0.4});
                     plot->repaint();
                   }),
         16);
  bench_curves(window, *plot);
  window.show_page(pages[1]);
  QApplication::processEvents();
  HeatmapView* view = window.findChild<HeatmapView*>();
  report("hover, heatmap",
         median_ms(200,
                   [&](int i) {
                     view->hover_at({view->width() * (0.1 + 0.0035 * i), view->height() * 0.4});
                     view->repaint();
                   }),
         16);
  bench_interaction("heatmap: hover", 300, [&](int i) {
    view->hover_at({view->width() * (0.1 + 0.0035 * (i % 200)), view->height() * 0.4});
  });
  QTableView* table = window.page(pages[2])->findChild<QTableView*>();
  int times = 0;
  for (int column = 0; column < table->model()->columnCount(); ++column) {
    const QString heading = table->model()->headerData(column, Qt::Horizontal).toString();
    if (heading == QStringLiteral("Time")) times = column;
  }
  window.show_page(pages[2]);
  report("sort the table by time",
         median_ms(5,
                   [&](int i) {
                     const bool up = i % 2 == 0;
                     table->sortByColumn(times, up ? Qt::AscendingOrder : Qt::DescendingOrder);
                   }),
         1000);
  table->sortByColumn(-1, Qt::AscendingOrder);
  report("filter, the table shown",
         median_ms(4, [&](int i) { window.query().set_text(i % 2 == 0 ? QStringLiteral("fa2 N>=4096") : QString()); }),
         200);

  window.show_page(pages[0]);
  report("zoom or drag, one frame",
         median_ms(40,
                   [&](int i) {
                     plot->xAxis->scaleRange(i % 2 == 0 ? 0.9 : 1.0 / 0.9);
                     plot->replot();
                     plot->repaint();
                   }),
         16);

  window.show_page(QStringLiteral("explorer"));
  QApplication::processEvents();
  auto* explorer = window.findChild<ExplorerPage*>();
  explorer->pin();
  bench_slider(window, "explorer, Br to frame", QStringLiteral("br-slider"), 33);
  bench_slider(window, "explorer, Bc to frame", QStringLiteral("bc-slider"), 33);
  bench_slider(window, "explorer, N to frame", QStringLiteral("n_k-slider"), 33);
  bench_slider(window, "explorer, M to frame", QStringLiteral("m-slider"), 33);
  bench_opening(file);
  report_memory();
  return 0;
}
