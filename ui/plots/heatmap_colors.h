// SPDX-License-Identifier: GPL-3.0-or-later
// Which colour a value of a heatmap has. The good end is always the bright one; ratios diverge from white at 1, and are
// blue where they are better. People who do not see red or green can read both scales.
#pragma once

#include <QColor>
#include <cmath>
#include <vector>

#include "ui/models/heatmap_grid.h"

namespace attnscope::ui {

class HeatmapColors {
 public:
  /// `log`: over the logarithm of the value, where all are positive. Ratios are always.
  HeatmapColors(const HeatmapGrid& grid, bool log);

  [[nodiscard]] bool diverging() const { return diverging_; }
  [[nodiscard]] bool logarithmic() const { return log_; }
  [[nodiscard]] QColor at(double value) const;
  /// Where a value stands along the scale, 0 at its low end and 1 at its high end.
  [[nodiscard]] double share_of(double value) const;
  [[nodiscard]] double value_at(double share) const;
  [[nodiscard]] double low() const { return low_; }
  [[nodiscard]] double high() const { return high_; }
  /// All values have one colour.
  [[nodiscard]] bool one() const { return one_ || high_ - low_ <= 1e-12 * (std::abs(high_) + std::abs(low_)); }

 private:
  double low_ = 0;
  double high_ = 0;
  bool log_ = false;
  bool diverging_ = false;
  bool one_ = false;
  bool less_is_better_ = false;
  bool more_is_better_ = false;
  double reach_ = 0;  ///< of a diverging scale: the logarithm that has the full colour
};

}  // namespace attnscope::ui
