// SPDX-License-Identifier: GPL-3.0-or-later
// Lines that take what room there is: one that is too long for it ends in an ellipsis, and none widens the window.
#pragma once

#include <QLabel>

namespace attnscope::ui {

class ElidedLabel : public QLabel {
  Q_OBJECT
 public:
  /// `widest`: asks for no more room than that, in pixels.
  explicit ElidedLabel(QWidget* parent = nullptr, int widest = QWIDGETSIZE_MAX);

  [[nodiscard]] QSize sizeHint() const override;
  [[nodiscard]] QSize minimumSizeHint() const override;

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  int widest_;
};

}  // namespace attnscope::ui
