// SPDX-License-Identifier: GPL-3.0-or-later
// What a picture of a heatmap is made of, and where its parts stand.
#pragma once

#include <QFont>
#include <QRectF>
#include <QSize>
#include <QString>
#include <optional>

#include "ui/models/heatmap_grid.h"
#include "ui/plots/heatmap_colors.h"
#include "ui/plots/plot_target.h"
#include "ui/text/format.h"
#include "ui/theme/theme.h"

namespace attnscope::ui {

struct HeatmapTitle {
  QString what;
  QString of;  ///< the problem and the device, on a second line
};

/// Lives no longer than the grid.
struct HeatmapDrawing {
  const HeatmapGrid& grid;
  HeatmapTitle title;
  bool log_colors = false;
  UnitScale unit;
  QFont font;
  PlotColors colors;
  PlotTarget target = PlotTarget::screen;
  QString source = {};   ///< in files: which GPU, when and in which file
  bool with_bar = true;  ///< false: a map beside it has the bar for both
  double pixel = 1;      ///< the extent of one pixel of the target; cells begin and end on whole ones
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
  double mark_room = 0;     ///< between cells and axis labels, for the paper's marks
  double caption_top = 0;
  Figures figures;

  [[nodiscard]] QRectF cell(const HeatmapGrid& grid, HeatmapGrid::Place place) const;
  [[nodiscard]] std::optional<HeatmapGrid::Place> cell_at(const HeatmapGrid& grid, const QPointF& position) const;
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

}  // namespace attnscope::ui
