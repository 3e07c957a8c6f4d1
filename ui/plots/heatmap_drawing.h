// SPDX-License-Identifier: GPL-3.0-or-later
// Draws a heatmap: layout, cells, title, axes, color bar and legend.
#pragma once

#include <QColor>
#include <QFont>
#include <QPainter>
#include <QRectF>
#include <cmath>
#include <optional>
#include <vector>

#include "ui/plots/heatmap_text.h"
#include "ui/plots/plot_export.h"
#include "ui/text/format.h"
#include "ui/theme/theme.h"

namespace attnscope::ui {

// Color scale of a heatmap. Times of one problem: bins of the slowdown against the fastest. Other metrics: the better
// end is bright. Ratios diverge from white at 1; better is blue.

class HeatmapColors {
 public:
  /// `log`: logarithmic scale if all values are positive. Ratios are always logarithmic.
  HeatmapColors(const TileMap& map, bool log);

  [[nodiscard]] bool is_diverging() const { return diverging_; }
  [[nodiscard]] bool is_binned() const { return binned_; }
  [[nodiscard]] bool is_logarithmic() const { return log_; }
  [[nodiscard]] QColor at(double value, bool dark) const;
  /// Position of a value on the scale: 0 at the low end, 1 at the high end.
  [[nodiscard]] double scale_position(double value) const;
  [[nodiscard]] double value_at(double share) const;
  [[nodiscard]] double low() const { return low_; }
  [[nodiscard]] double high() const { return high_; }
  [[nodiscard]] bool is_uniform() const {
    return uniform_ || high_ - low_ <= 1e-12 * (std::abs(high_) + std::abs(low_));
  }

 private:
  double low_ = 0;
  double high_ = 0;
  bool log_ = false;
  bool diverging_ = false;
  bool binned_ = false;
  bool uniform_ = false;
  bool less_is_better_ = false;
  bool more_is_better_ = false;
  double max_log_ratio_ = 0;  ///< Diverging scale: |log(value)| that gets the full color.
};

/// `points` and `map` must outlive the drawing.
struct HeatmapDrawing {
  const PointSet& points;
  const TileMap& map;
  HeatmapTitle title;
  bool log_colors = false;
  bool relative = false;                        ///< Cells show slowdowns instead of times.
  std::optional<std::size_t> highlighted = {};  ///< Bin whose cells are highlighted.
  UnitScale unit;
  QFont font;
  PlotColors colors;
  PlotTarget target = PlotTarget::screen;
  QString source = {};  ///< Files only: GPU, date and file name.
  double pixel = 1;     ///< Size of a target pixel; cell edges are aligned to whole pixels.
};

struct HeatmapLayout {
  struct Figures {
    QFont font;
    int digits = 3;
    bool shown = true;  ///< false: no legible font size fits.
  };
  QRectF cells;
  QRectF bar;                ///< Continuous scale; empty with bins.
  std::vector<QRectF> bins;  ///< Key of the bins.
  double cell_width = 0;
  double cell_height = 0;
  double cell_gap = 1;
  double label_width = 38;
  double caption_top = 0;
  Figures figures;

  [[nodiscard]] QRectF cell(const TileMap& map, TileMap::Place place) const;
  [[nodiscard]] std::optional<TileMap::Place> cell_at(const TileMap& map, const QPointF& position) const;
};

[[nodiscard]] HeatmapLayout lay_out_heatmap(const HeatmapDrawing& drawing, const QRectF& area);

/// Returns the size of the picture, at most `most`.
[[nodiscard]] QSize heatmap_extent(const HeatmapDrawing& drawing, const QSize& most);

/// Draws title, cells, axes, key and caption.
void draw_heatmap(QPainter& painter, const HeatmapDrawing& drawing, const QRectF& area);

}  // namespace attnscope::ui
