// SPDX-License-Identifier: GPL-3.0-or-later
// Play, pause, step, back, scrub, speed: one bar for everything of the lesson that has frames.
#pragma once

#include <QTimer>
#include <QWidget>

#include "ui/lesson/lesson_data.h"

class QComboBox;
class QPushButton;
class QSlider;
class QToolButton;

namespace attnscope::ui {

class Transport : public QWidget {
  Q_OBJECT
 public:
  Transport(const LessonData& about, QWidget* parent);

  /// Goes to the first of so many; at least one.
  void set_frames(int frames);
  [[nodiscard]] int frames() const { return frames_; }
  [[nodiscard]] int frame() const { return frame_; }
  /// Held within what there is.
  void show_frame(int frame);
  /// Pauses, and goes on by so many.
  void step(int by);
  void toggle();
  [[nodiscard]] bool playing() const { return timer_.isActive(); }

 signals:
  void shown(int frame);

 private:
  QToolButton* add_button(const QString& text, const QString& tip);
  void pause();
  void set_speed();

  int frames_ = 1;
  int frame_ = 0;
  QString play_;
  QString pause_;
  QTimer timer_;
  QPushButton* playing_ = nullptr;
  QComboBox* speed_ = nullptr;
  QSlider* scrub_ = nullptr;
};

}  // namespace attnscope::ui
