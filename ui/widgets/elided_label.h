// SPDX-License-Identifier: GPL-3.0-or-later
// Label that elides lines that are too long, so that it never widens the window.
#pragma once

#include <QLabel>

namespace attnscope::ui {

class ElidedLabel : public QLabel {
  Q_OBJECT
 public:
  /// `widest`: maximum width of the size hint, in pixels.
  explicit ElidedLabel(QWidget* parent = nullptr, int widest = QWIDGETSIZE_MAX);

  [[nodiscard]] QSize sizeHint() const override;
  [[nodiscard]] QSize minimumSizeHint() const override;

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  int widest_;
};

}  // namespace attnscope::ui
