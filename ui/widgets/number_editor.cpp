// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/widgets/number_editor.h"

#include <QEvent>
#include <QSignalBlocker>
#include <algorithm>
#include <cstddef>
#include <utility>

namespace attnscope::ui {
namespace {

class WheelFilter : public QObject {
 public:
  using QObject::QObject;
  bool eventFilter(QObject* watched, QEvent* event) override {
    const auto* widget = qobject_cast<QWidget*>(watched);
    if (event->type() != QEvent::Wheel || widget == nullptr || widget->hasFocus()) return false;
    event->ignore();
    return true;
  }
};

}  // namespace

class SteppingSpin : public QSpinBox {
 public:
  using QSpinBox::QSpinBox;
  void set_step_stops(std::vector<int> stops) { stops_ = std::move(stops); }
  void stepBy(int steps) override {
    if (stops_.empty()) return QSpinBox::stepBy(steps);
    const auto from =
        steps > 0 ? std::ranges::upper_bound(stops_, value()) - 1 : std::ranges::lower_bound(stops_, value());
    const std::ptrdiff_t last = std::ssize(stops_) - 1;
    setValue(stops_[static_cast<std::size_t>(std::clamp<std::ptrdiff_t>(from - stops_.begin() + steps, 0, last))]);
  }

 private:
  std::vector<int> stops_;
};

void ignore_unfocused_wheel(QWidget* editor) {
  editor->setFocusPolicy(Qt::StrongFocus);
  editor->installEventFilter(new WheelFilter(editor));
}

NumberEditor::NumberEditor(const QString& name, int least, int most, int step, std::vector<int> stops, QWidget* parent)
    : QObject(parent), slider_(new QSlider(Qt::Horizontal, parent)), spin_(new SteppingSpin(parent)) {
  spin_->setObjectName(name);
  slider_->setObjectName(name + QStringLiteral("-slider"));
  spin_->setRange(least, most);
  spin_->setSingleStep(step);
  spin_->setKeyboardTracking(false);
  spin_->setGroupSeparatorShown(false);
  set_stops(std::move(stops));
  for (QWidget* editor : {static_cast<QWidget*>(slider_), static_cast<QWidget*>(spin_)}) ignore_unfocused_wheel(editor);
  connect(slider_, &QSlider::valueChanged, this, [this](int place) {
    const int value = stops_[static_cast<std::size_t>(place)];
    {
      const QSignalBlocker quiet(spin_);
      spin_->setValue(value);
    }
    emit value_chosen(value, slider_->isSliderDown());
  });
  connect(slider_, &QSlider::sliderReleased, this, &NumberEditor::released);
  connect(spin(), &QSpinBox::valueChanged, this, [this](int value) {
    follow(value);
    emit value_chosen(value, false);
  });
}

QSpinBox* NumberEditor::spin() const {
  return spin_;
}

void NumberEditor::follow(int value) {
  const QSignalBlocker quiet(slider_);
  const auto above = std::ranges::lower_bound(stops_, value);
  auto nearest = above == stops_.end() ? above - 1 : above;
  if (nearest != stops_.begin() && value - *(nearest - 1) < *nearest - value) --nearest;
  slider_->setValue(static_cast<int>(nearest - stops_.begin()));
}

void NumberEditor::show_value(int value) {
  const QSignalBlocker quiet(spin_);
  if (spin_->value() != value) spin_->setValue(value);
  // Do not move a slider while the user drags it.
  if (!slider_->isSliderDown()) follow(value);
}

void NumberEditor::set_stops(std::vector<int> stops, bool alone) {
  spin_->set_step_stops(alone ? stops : std::vector<int>());
  if (stops == stops_) return;
  stops_ = std::move(stops);
  const QSignalBlocker quiet(slider_);
  slider_->setRange(0, static_cast<int>(stops_.size()) - 1);
  slider_->setPageStep(std::max(1, static_cast<int>(stops_.size()) / 10));
  follow(spin_->value());
}

void NumberEditor::set_range(int least, int most) {
  const QSignalBlocker quiet(spin_);
  spin_->setRange(least, most);
}

std::vector<int> slider_stops(int least, int most) {
  std::vector<int> stops{least, most};
  for (std::int64_t power = 1; power <= most; power *= 2) {
    for (const std::int64_t stop : {power, power * 3 / 2}) {
      if (stop >= least && stop <= most) stops.push_back(static_cast<int>(stop));
    }
  }
  std::ranges::sort(stops);
  stops.erase(std::unique(stops.begin(), stops.end()), stops.end());
  return stops;
}

}  // namespace attnscope::ui
