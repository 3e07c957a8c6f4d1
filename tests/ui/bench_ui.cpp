// SPDX-License-Identifier: GPL-3.0-or-later
// What a user waits for, off screen: first paint, page switch, hover, rebuilding a plot. Prints medians in ms.
//   bench_ui [FILE.attnscope]      without one: the recorded sample, else generated points
#include <QApplication>
#include <QElapsedTimer>
#include <QTableView>
#include <QTemporaryDir>
#include <algorithm>
#include <cstdio>
#include <functional>

#include "profiler/metrics/metrics.h"
#include "tests/ui/fixtures.h"
#include "ui/explorer/number_editor.h"
#include "ui/main_window.h"
#include "ui/pages/explorer_page.h"
#include "ui/pages/io_curve_page.h"
#include "ui/pages/tile_heatmap_page.h"
#include "ui/query_bar.h"

namespace {

using namespace attnscope::ui;

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

double percentile_ms(double share, int repetitions, const std::function<void(int)>& body) {
  std::vector<double> times;
  for (int i = 0; i < repetitions; ++i) times.push_back(median_ms(1, [&](int) { body(i); }));
  std::sort(times.begin(), times.end());
  return times[static_cast<std::size_t>(share * (repetitions - 1))];
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
  const double p50 = percentile_ms(0.5, 200, move);
  const double p99 = percentile_ms(0.99, 400, move);
  std::printf("%-28s %9.3f ms p50, %.3f ms p99   (target %g ms p99)\n", what, p50, p99, target);
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
  return 0;
}
