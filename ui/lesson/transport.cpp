// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/lesson/transport.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QPushButton>
#include <QSignalBlocker>
#include <QSlider>
#include <QToolButton>
#include <algorithm>

namespace attnscope::ui {

Transport::Transport(const LessonData& about, QWidget* parent)
    : QWidget(parent), play_(about.word("play")), pause_(about.word("pause")) {
  auto* row = new QHBoxLayout(this);
  row->setContentsMargins(0, 4, 0, 4);
  QToolButton* first = add_button(QStringLiteral("|◀"), about.word("first"));
  QToolButton* back = add_button(QStringLiteral("◀"), about.word("back"));
  playing_ = new QPushButton(play_, this);
  playing_->setObjectName(QStringLiteral("play"));
  playing_->setFocusPolicy(Qt::NoFocus);
  row->addWidget(playing_);
  QToolButton* forward = add_button(QStringLiteral("▶"), about.word("forward"));
  QToolButton* last = add_button(QStringLiteral("▶|"), about.word("last"));
  scrub_ = new QSlider(Qt::Horizontal, this);
  scrub_->setObjectName(QStringLiteral("scrub"));
  scrub_->setAccessibleName(about.word("scrub"));
  scrub_->setToolTip(about.word("scrub"));
  row->addWidget(scrub_, 1);
  speed_ = new QComboBox(this);
  speed_->setAccessibleName(about.word("speed"));
  speed_->setToolTip(about.word("speed"));
  for (const int speed : {1, 2, 5, 10, 30, 60}) speed_->addItem(QStringLiteral("%1/s").arg(speed), speed);
  speed_->setCurrentIndex(2);
  row->addWidget(speed_);
  timer_.setTimerType(Qt::PreciseTimer);
  connect(first, &QToolButton::clicked, this, [this] { step(-frame_); });
  connect(back, &QToolButton::clicked, this, [this] { step(-1); });
  connect(forward, &QToolButton::clicked, this, [this] { step(1); });
  connect(last, &QToolButton::clicked, this, [this] { step(frames_ - 1 - frame_); });
  connect(playing_, &QPushButton::clicked, this, &Transport::toggle);
  connect(speed_, &QComboBox::currentIndexChanged, this, &Transport::set_speed);
  connect(scrub_, &QSlider::valueChanged, this, [this](int frame) {
    pause();
    show_frame(frame);
  });
  connect(&timer_, &QTimer::timeout, this, [this] {
    show_frame(frame_ + 1);
    if (frame_ + 1 >= frames_) pause();
  });
  set_speed();
}

QToolButton* Transport::add_button(const QString& text, const QString& tip) {
  auto* button = new QToolButton(this);
  button->setText(text);
  button->setToolTip(tip);
  button->setAccessibleName(tip);
  button->setFocusPolicy(Qt::NoFocus);
  static_cast<QHBoxLayout*>(layout())->addWidget(button);
  return button;
}

void Transport::set_frames(int frames) {
  pause();
  frames_ = std::max(frames, 1);
  const QSignalBlocker quiet(scrub_);
  scrub_->setRange(0, frames_ - 1);
  show_frame(0);
}

void Transport::show_frame(int frame) {
  frame_ = std::clamp(frame, 0, frames_ - 1);
  const QSignalBlocker quiet(scrub_);
  scrub_->setValue(frame_);
  emit shown(frame_);
}

void Transport::step(int by) {
  pause();
  show_frame(frame_ + by);
}

void Transport::toggle() {
  if (playing()) return pause();
  if (frame_ + 1 >= frames_) show_frame(0);
  playing_->setText(pause_);
  timer_.start();
}

void Transport::pause() {
  timer_.stop();
  playing_->setText(play_);
}

void Transport::set_speed() {
  timer_.setInterval(1000 / speed_->currentData().toInt());
}

}  // namespace attnscope::ui
