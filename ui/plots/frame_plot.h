// SPDX-License-Identifier: GPL-3.0-or-later
// A plot that is drawn once a frame, however much of it has changed since the last: QCustomPlot draws at every change
// of its size at once, and every drawing that is asked for, although another came before it, and paints each by itself.
#pragma once

#include <qcustomplot.h>

namespace attnscope::ui {

class FramePlot : public QCustomPlot {
  Q_OBJECT
 public:
  explicit FramePlot(QWidget* parent = nullptr);

  /// QCustomPlot's, but what is queued is drawn with the next frame, of the size that the plot has by then; where none
  /// is painted, once the event loop turns.
  void replot(RefreshPriority priority = rpRefreshHint);

 protected:
  /// Drawn anew with whatever else has changed, before the next frame.
  void resizeEvent(QResizeEvent* event) override;
  void paintEvent(QPaintEvent* event) override;

 private:
  /// Without having it painted: for whoever is painting.
  void draw_due();

  bool due_ = false;     ///< to be drawn before it is painted
  bool queued_ = false;  ///< to be looked at once the event loop turns
};

}  // namespace attnscope::ui
