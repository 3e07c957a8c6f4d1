// SPDX-License-Identifier: GPL-3.0-or-later
// Two curves picked by hand, and a bracket between them that says how many times the one is of the other.
#pragma once

#include <qcustomplot.h>

#include <optional>
#include <vector>

#include "ui/models/curve_series.h"
#include "ui/theme/theme.h"

namespace attnscope::ui {

/// What the measured curves say of their widest_pair(); where none is told apart, the last value of the first.
[[nodiscard]] QString curve_sentence(const CurveSet& set);

class RatioBracket {
 public:
  explicit RatioBracket(QCustomPlot& plot) : plot_(plot) {}

  /// A curve by its label, at a place: the first, the second; a third one begins anew. The same one twice lets go of
  /// it.
  void pick(const QString& curve, double near);
  void forget();
  [[nodiscard]] const QStringList& picked() const { return picked_; }
  /// Draws what is picked of these; the plot's items must have been cleared since the last call.
  void show(const CurveSet& set, const PlotColors& colors);
  /// "33 × fewer DRAM bytes at N 4096: FA2 against Naive"; empty while there is no bracket.
  [[nodiscard]] const QString& words() const { return words_; }
  /// Whether a position is on the bracket's words.
  [[nodiscard]] bool contains(const QPointF& position) const;

 private:
  QCustomPlot& plot_;
  QStringList picked_;
  double near_ = 0;
  QString words_;
  QCPItemText* text_ = nullptr;  ///< the plot's own
};

}  // namespace attnscope::ui
