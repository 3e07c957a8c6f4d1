// SPDX-License-Identifier: GPL-3.0-or-later
// A frame of the lesson off screen at 1920x1080 and 3840x2160: from the step to the painted window, of everything that
// moves on any page, and of 128 x 128 tiles. Prints p50 and p99 in ms, by the clock and by the processor.
//   bench_lesson
#include <QApplication>
#include <QElapsedTimer>
#include <QImage>
#include <QMouseEvent>
#include <QScrollBar>
#include <QSlider>
#include <QVBoxLayout>
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <memory>
#include <string>
#include <vector>

#include "kernels/registry.h"
#include "ui/lesson/lesson_picture.h"
#include "ui/lesson/lesson_window.h"
#include "ui/lesson/theory_picture.h"
#include "ui/lesson/tile_stage.h"
#include "ui/lesson/transport.h"
#include "ui/theme/theme.h"

namespace {

using namespace attnscope::ui;

double thread_ms() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) * 1e-6;
}

double at_share(std::vector<double> times, double share) {
  std::sort(times.begin(), times.end());
  return times[static_cast<std::size_t>(share * static_cast<double>(times.size() - 1))];
}

/// A frame as the window has it: the step, then what the event loop lays out again and paints into the window's own
/// store. Then, apart, the whole window painted anew, as when it is uncovered. Times in ms.
template <class Step>
void bench(const std::string& what, QWidget& window, int steps, Step step) {
  QImage screen(window.size(), QImage::Format_RGB32);
  std::vector<double> frames;
  std::vector<double> busy;
  std::vector<double> whole;
  step(0);
  QApplication::processEvents();
  for (int i = 0; i < steps; ++i) {
    QElapsedTimer timer;
    const double before = thread_ms();
    timer.start();
    step(i);
    QApplication::processEvents();
    frames.push_back(static_cast<double>(timer.nsecsElapsed()) * 1e-6);
    busy.push_back(thread_ms() - before);
    if (i % 10 != 0) continue;
    timer.restart();
    window.render(&screen);
    whole.push_back(static_cast<double>(timer.nsecsElapsed()) * 1e-6);
  }
  std::printf("%-44s %7.2f p50 %7.2f p99   (processor %6.2f, %6.2f)   whole window %6.2f p50\n", what.c_str(),
              at_share(frames, 0.5), at_share(frames, 0.99), at_share(busy, 0.5), at_share(busy, 0.99),
              at_share(whole, 0.5));
}

/// All that moves on a page: its pictures' frames, or the point that is dragged, or what is locked and revealed.
void bench_page(LessonWindow& window, const QString& id, int steps) {
  window.show_page(id);
  QApplication::processEvents();
  const std::string name = id.toStdString();
  for (const auto* picture : window.page()->findChildren<LessonPicture*>()) {
    if (Transport* transport = picture->transport()) {
      bench(name + ": frames", window, steps, [&](int i) { transport->show_frame(i % transport->frames()); });
    }
  }
  if (auto* loads = window.page()->findChild<QSlider*>(QStringLiteral("loads"))) {
    bench(name + ": more under way", window, steps, [&](int i) { loads->setValue(i % (loads->maximum() + 1)); });
  }
  if (auto* line = window.page()->findChild<FactorLine*>()) {
    bench(name + ": a point is dragged", window, steps, [&](int i) {
      const QPointF there(40 + i * 7 % std::max(1, line->width() - 80), line->height() / 3.0);
      QMouseEvent event(QEvent::MouseMove, there, line->mapToGlobal(there), Qt::NoButton, Qt::LeftButton, {});
      QApplication::sendEvent(line, &event);
    });
  }
  auto* bar = window.page()->verticalScrollBar();
  bench(name + ": scrolled", window, steps / 2, [&](int i) { bar->setValue(i * 23 % std::max(1, bar->maximum())); });
}

/// Br = Bc = 16 at N 2048: 128 x 128 tiles a head.
void bench_many_tiles(LessonWindow& lesson, const char* name) {
  const attnscope::Algorithm* algorithm = attnscope::built_in_algorithms().find(name);
  const attnscope::AttentionProblem p{.n_q = 2048, .n_k = 2048, .d = 64};
  auto player = lesson::TilePlayer::make(*algorithm, p, {{.br = 16, .bc = 16}, {}}, lesson.data().evidence().gpu);
  if (!player.ok()) {
    std::printf("%s does not run with tiles of 16 x 16\n", name);
    return;
  }
  QWidget window;
  window.resize(1920, 1080);
  auto* column = new QVBoxLayout(&window);
  auto* stage =
      new TileStage(lesson.data(), std::make_shared<const lesson::TilePlayer>(std::move(*player)), *algorithm, &window);
  column->addWidget(stage);
  window.show();
  QApplication::processEvents();
  const std::string what = std::string(name) + ", 128 x 128 tiles, " + std::to_string(stage->frames()) + " frames";
  bench(what, window, 2000, [&](int i) { stage->show_frame(i % stage->frames()); });
  // Dragged: every frame is far from the last.
  bench("  dragged", window, 500, [&](int i) { stage->show_frame(i * 7919 % stage->frames()); });
}

void bench_size(LessonWindow& window, const QSize& size, int steps) {
  std::printf("%d x %d, ms a frame (wanted: 16 at p99)\n", size.width(), size.height());
  window.resize(size);
  QApplication::processEvents();
  for (const QString& id : lesson_page_ids()) {
    if (id != QLatin1String("results")) bench_page(window, id, steps);
  }
}

}  // namespace

int main(int argc, char** argv) {
  qputenv("QT_QPA_PLATFORM", "offscreen");
  QApplication application(argc, argv);
  initialize_style();
  Workspace workspace;
  for (const QString& sample : lesson_samples()) workspace.open_now(sample);
  LessonWindow window(workspace, false);
  window.resize(1920, 1080);
  window.show();
  bench_size(window, {1920, 1080}, 300);
  for (const char* name : {"naive", "fa1", "fa2"}) bench_many_tiles(window, name);
  bench_size(window, {3840, 2160}, 100);
  return 0;
}
