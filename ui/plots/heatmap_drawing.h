// SPDX-License-Identifier: GPL-3.0-or-later
// The drawing of a heatmap: where its parts stand, its cells, and what stands around them: title, axes, colour bar,
// legend.
#pragma once

#include <QColor>
#include <QFont>
#include <QPainter>
#include <QRectF>
#include <QSize>
#include <QString>
#include <cmath>
#include <optional>
#include <vector>

#include "ui/plots/heatmap_words.h"
#include "ui/plots/plot_export.h"
#include "ui/text/format.h"
#include "ui/theme/theme.h"

namespace attnscope::ui {

// Which colour a value of a heatmap has. The good end is always the bright one; ratios diverge from white at 1, and are
// blue where they are better. People who do not see red or green can read both scales.

class HeatmapColors {
 public:
  /// `log`: over the logarithm of the value, where all are positive. Ratios are always.
  HeatmapColors(const TileMap& map, bool log);

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

/// The points and the map must outlive it.
struct HeatmapDrawing {
  const PointSet& points;
  const TileMap& map;
  HeatmapTitle title;
  bool log_colors = false;
  UnitScale unit;
  QFont font;
  PlotColors colors;
  PlotTarget target = PlotTarget::screen;
  QString source = {};  ///< in files: which GPU, when and in which file
  double pixel = 1;     ///< the extent of one pixel of the target; cells begin and end on whole ones
};

struct HeatmapLayout {
  struct Figures {
    QFont font;
    int digits = 3;
    bool shown = true;  ///< false: no font is small enough
  };
  QRectF cells;
  QRectF bar;
  double cell_width = 0;
  double cell_height = 0;
  double seam = 1;          ///< between neighbouring cells
  double label_width = 38;  ///< of the rows' labels
  double caption_top = 0;
  Figures figures;

  [[nodiscard]] QRectF cell(const TileMap& map, TileMap::Place place) const;
  [[nodiscard]] std::optional<TileMap::Place> cell_at(const TileMap& map, const QPointF& position) const;
};

inline constexpr double heatmap_right_margin = 8;
inline constexpr double heatmap_bar_width = 16;
inline constexpr double heatmap_caption_left = 12;
/// What text takes, which grows with its font: beside the rows' labels, and beside the bar.
[[nodiscard]] double heatmap_left_margin(const QFont& font);
[[nodiscard]] double heatmap_bar_labels(const QFont& font);

[[nodiscard]] HeatmapLayout lay_out_heatmap(const HeatmapDrawing& drawing, const QRectF& area);

/// The size that the picture fills when it may have `most`.
[[nodiscard]] QSize heatmap_extent(const HeatmapDrawing& drawing, const QSize& most);

void draw_heatmap_title(QPainter& painter, const HeatmapDrawing& drawing, const HeatmapLayout& layout,
                        const QRectF& area);
void draw_heatmap_axes(QPainter& painter, const HeatmapDrawing& drawing, const HeatmapLayout& layout);
/// Values that the bar is labelled with: round ones in the unit that is shown.
[[nodiscard]] std::vector<double> heatmap_ticks(const HeatmapDrawing& drawing, const HeatmapColors& colors, int most);
void draw_heatmap_bar(QPainter& painter, const HeatmapDrawing& drawing, const HeatmapLayout& layout);
/// The legend and, in files, the source below it.
void draw_heatmap_caption(QPainter& painter, const HeatmapDrawing& drawing, const HeatmapLayout& layout,
                          const QRectF& area);

// The cells of a heatmap: colour, figure, frame, hatching, and the outlines of the best and the fastest.

void draw_heatmap_cells(QPainter& painter, const HeatmapDrawing& drawing, const HeatmapLayout& layout);

}  // namespace attnscope::ui
