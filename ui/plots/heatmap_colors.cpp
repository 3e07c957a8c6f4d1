// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/plots/heatmap_colors.h"

#include <algorithm>
#include <cmath>

#include "ui/theme/theme.h"

namespace attnscope::ui {
namespace {

/// Ratios nearer to 1 than this would else have the full colour where a map holds no other.
constexpr double least_reach = 0.02;

}  // namespace

HeatmapColors::HeatmapColors(const HeatmapGrid& grid, bool log)
    : diverging_(grid.shown.around_one()),
      one_(grid.one_color),
      less_is_better_(grid.better == Better::less),
      more_is_better_(grid.better == Better::more) {
  if (!grid.colors) return;
  low_ = grid.colors->low;
  high_ = grid.colors->high;
  diverging_ = diverging_ && low_ > 0;
  log_ = (log || diverging_) && low_ > 0;
  if (!diverging_) return;
  low_ = std::min(low_, 1 - least_reach);
  high_ = std::max(high_, 1 + least_reach);
  reach_ = std::max(-std::log(low_), std::log(high_));
  one_ = false;  // alike they may be, but how far from 1 is to be seen
}

QColor HeatmapColors::at(double value) const {
  if (diverging_) {
    const double away = std::log(std::max(value, low_)) / reach_;
    return blue_to_orange(0.5 + 0.5 * (more_is_better_ ? -away : away));
  }
  const double share = one() ? 0.5 : share_of(value);
  return viridis(less_is_better_ && !one() ? 1 - share : share);
}

double HeatmapColors::share_of(double value) const {
  if (high_ <= low_) return 0.5;
  const double share =
      log_ ? std::log(std::max(value, low_) / low_) / std::log(high_ / low_) : (value - low_) / (high_ - low_);
  return std::clamp(share, 0.0, 1.0);
}

double HeatmapColors::value_at(double share) const {
  return log_ ? low_ * std::pow(high_ / low_, share) : low_ + (high_ - low_) * share;
}

}  // namespace attnscope::ui
