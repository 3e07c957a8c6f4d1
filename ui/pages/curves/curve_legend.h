// SPDX-License-Identifier: GPL-3.0-or-later
// Legend of curves: value, ratio to the model and slope of each series at one N.
#pragma once

#include <optional>
#include <vector>

#include "ui/models/curve_series.h"
#include "ui/plots/hover_overlay.h"
#include "ui/plots/legend_plot.h"
#include "ui/theme/theme.h"

namespace attnscope::ui {

class CurveLegend {
 public:
  /// `set` has to outlive the legend, unchanged.
  explicit CurveLegend(const CurveSet& set);

  /// N of all points, ascending.
  [[nodiscard]] const std::vector<double>& positions() const { return positions_; }
  /// Last N at which all series have a value, else the last N.
  [[nodiscard]] std::optional<double> last_common() const;
  /// `panel`: panel of ratio and slope, and of the values if there are more panels than columns.
  [[nodiscard]] LegendContent at(double n, std::size_t panel, const PlotColors& colors) const;

 private:
  struct Series {
    QString key;
    const Curve* first;
    std::vector<const Curve*> curves;  ///< One per panel; null: none.
  };
  [[nodiscard]] QString title_of(const Series& series) const;
  [[nodiscard]] std::vector<std::size_t> value_panels(std::size_t panel) const;
  [[nodiscard]] QString value_text(const Series& series, std::size_t panel, double n) const;
  [[nodiscard]] QStringList cells_of(const Series& series, double n, std::size_t panel) const;
  [[nodiscard]] QStringList column_titles(std::size_t panel) const;
  [[nodiscard]] QStringList notes() const;

  const CurveSet* set_;
  std::vector<Series> series_;
  std::vector<double> positions_;
  bool ratios_ = false;  ///< A point has a ratio to the model.
};

/// Details of one point for the read-out.
[[nodiscard]] HoverContent describe_point(const CurveSet& set, const Curve& curve, const CurvePoint& point,
                                          const PlotColors& colors);
[[nodiscard]] HoverContent describe_failure(const CurveSet& set, const FailedPoint& point);

}  // namespace attnscope::ui
