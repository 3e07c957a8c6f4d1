// SPDX-License-Identifier: GPL-3.0-or-later
// A plot that is drawn once a frame, however much of it has changed since the last: QCustomPlot draws at every change
// of its size at once, and every drawing is painted by itself.
#pragma once

#include <qcustomplot.h>

namespace attnscope::ui {

class FramePlot : public QCustomPlot {
  Q_OBJECT
 public:
  explicit FramePlot(QWidget* parent = nullptr);

 protected:
  /// Drawn anew with whatever else has changed, before the next frame.
  void resizeEvent(QResizeEvent* event) override;
  void paintEvent(QPaintEvent* event) override;

 private:
  bool outgrown_ = false;  ///< what is drawn is of another size
};

}  // namespace attnscope::ui
