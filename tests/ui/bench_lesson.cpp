// SPDX-License-Identifier: GPL-3.0-or-later
// A frame of the lesson's moving picture, off screen at 1920x1080: from the step to the painted window. Prints p50 and
// p99 in ms, of the picture as texts have it and of 128 x 128 tiles.
//   bench_lesson
#include <QApplication>
#include <QElapsedTimer>
#include <QImage>
#include <QVBoxLayout>
#include <algorithm>
#include <cstdio>
#include <memory>
#include <vector>

#include "kernels/registry.h"
#include "ui/lesson/lesson_window.h"
#include "ui/lesson/tile_stage.h"
#include "ui/lesson/transport.h"
#include "ui/theme.h"

namespace {

using namespace attnscope::ui;

/// Paints the window after every step, in the order given; times in ms.
template <class Step>
void bench(const char* what, QWidget& window, int steps, Step step) {
  QImage screen(window.size(), QImage::Format_RGB32);
  std::vector<double> times;
  for (int i = 0; i < steps; ++i) {
    QElapsedTimer timer;
    timer.start();
    step(i);
    QApplication::processEvents();
    window.render(&screen);
    times.push_back(static_cast<double>(timer.nsecsElapsed()) * 1e-6);
  }
  std::sort(times.begin(), times.end());
  const auto at = [&](double share) { return times[static_cast<std::size_t>(share * (steps - 1))]; };
  std::printf("%-40s %7.2f ms p50  %7.2f ms p99   (target 16 ms p99)\n", what, at(0.5), at(0.99));
}

void bench_step(LessonWindow& window, const char* step) {
  window.show_page(QString::fromLatin1(step));
  QApplication::processEvents();
  Transport* transport = window.page()->transport();
  if (transport == nullptr) return;
  bench(step, window, 600, [&](int i) { transport->show_frame(i % transport->frames()); });
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
  const std::string what = std::string(name) + ", " + std::to_string(stage->frames()) + " frames, in order";
  bench(what.c_str(), window, 2000, [&](int i) { stage->show_frame(i % stage->frames()); });
  // Dragged: every frame is far from the last.
  bench("  dragged", window, 500, [&](int i) { stage->show_frame(i * 7919 % stage->frames()); });
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
  QApplication::processEvents();
  bench_step(window, "tiling");
  bench_step(window, "three-kernels");
  bench_step(window, "online-softmax");
  for (const char* name : {"naive", "fa1", "fa2"}) bench_many_tiles(window, name);
  return 0;
}
