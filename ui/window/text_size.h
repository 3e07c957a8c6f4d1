// SPDX-License-Identifier: GPL-3.0-or-later
// Text size of the program, relative to the system's.
#pragma once

#include <QMenu>
#include <QObject>

namespace attnscope::ui {

class TextSize : public QObject {
  Q_OBJECT
 public:
  using QObject::QObject;

  void add_actions(QMenu& menu);

  static constexpr double min_scale = 0.75;
  static constexpr double max_scale = 3;
  [[nodiscard]] double scale() const { return scale_; }
  /// Clamped to the bounds; 1 if not positive.
  void set_scale(double scale);

 private:
  double scale_ = 1;
};

}  // namespace attnscope::ui
