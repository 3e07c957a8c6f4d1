// SPDX-License-Identifier: GPL-3.0-or-later
// Draws the curves of one panel: lines, marks, error bars, L2 bands and crosses of failed points; and the
// legend with the values at one N.
#pragma once

#include <qcustomplot.h>

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "ui/models/curve_series.h"
#include "ui/plots/hover_overlay.h"
#include "ui/plots/legend_plot.h"
#include "ui/plots/plot_parts.h"
#include "ui/theme/theme.h"

namespace attnscope::ui {

/// Layer of models and simulations, below the measurements. The plot must have it.
[[nodiscard]] QString theory_layer();

struct CurvePanel {
  QCustomPlot& plot;
  QCPAxisRect& rect;
  const CurveSet& set;
  std::size_t place;  ///< Index in CurveSet::panels.
};
template <class Item>
[[nodiscard]] bool is_in_panel(const Item& item, std::size_t panel) {
  return std::ranges::find(item.panels, panel) != item.panels.end();
}

// Marks of measured curves that coincide in a panel are drawn side by side, or as one with "×5" if there are many.

struct Coincident {
  std::size_t panel = 0;
  double n = 0;
  double value = 0;
  std::size_t marks = 0;
};
struct MarkShifts {
  std::map<std::pair<std::size_t, std::size_t>, double> shifts;  ///< In pixels, by indices of curve and point.
  std::vector<Coincident> crowded;                               ///< Not shifted.

  [[nodiscard]] double at(std::size_t curve, std::size_t point) const {
    const auto found = shifts.find({curve, point});
    return found == shifts.end() ? 0 : found->second;
  }
};
/// `closeness`: maximum distance of coinciding values, after `scale` (logarithm or identity).
[[nodiscard]] MarkShifts shift_marks(const CurveSet& set, const std::function<double(double)>& scale, double closeness);

void add_curve_graphs(const CurvePanel& panel, const MarkShifts& shifts);

/// Bars at the top that show where working sets exceed L2: over the N range in which L2 begins to miss, with a tick at
/// the nominal capacity and a label. `n`: visible range of N when not zoomed.
void add_boundary_bars(const CurvePanel& panel, const QCPRange& n);

/// Crosses at the upper edge for failed points. Returns the y position of each cross as a fraction of the axes' height
/// from the top, by index in CurveSet::failed; empty for points of other panels.
[[nodiscard]] std::map<std::size_t, double> add_failed_marks(const CurvePanel& panel);

/// Draws the ratios of the panel's curves, or of all curves, on a linear axis.
void draw_ratios(const CurvePanel& panel, const std::vector<analysis::RatioCurve>& ratios, bool all);
void draw_margin(const CurvePanel& panel);
/// Measured over modeled values of the measured curves that have any.
[[nodiscard]] std::vector<analysis::RatioCurve> residual_curves(const CurveSet& set);

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

[[nodiscard]] HoverContent describe_point(const CurveSet& set, const Curve& curve, const CurvePoint& point,
                                          const PlotColors& colors);
[[nodiscard]] HoverContent describe_failure(const CurveSet& set, const FailedPoint& point);

}  // namespace attnscope::ui
