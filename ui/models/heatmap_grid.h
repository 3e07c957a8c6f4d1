// SPDX-License-Identifier: GPL-3.0-or-later
// A map of tiles as the window names it. What stands in its cells is analysis' work.
#pragma once

#include <QString>
#include <QStringList>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "profiler/tilemap/tile_map.h"
#include "ui/runs/point_set.h"

namespace attnscope::ui {

using analysis::fewest_tiles_of_a_map;
using analysis::PaperMark;
using HeatmapCell = analysis::TileCell;

struct HeatmapGrid : analysis::TileMap {
  QString label;                           ///< "DRAM read", "DRAM read ÷ model"
  QString beside;                          ///< where maps stand side by side: what this one is of, "d 64"
  QString over_words;                      ///< of a comparison: what the other value is, "model"
  std::shared_ptr<const PointSet> points;  ///< what the cells' rows refer to
  /// What is to be seen of a cell beside its value.
  struct Extra {
    bool hatched = false;          ///< over its colour: whether the value differs from 1 is not decided
    QStringList notes = {};        ///< of its read-out
    std::optional<Row> base = {};  ///< of a comparison: the point of its other side
  };
  std::vector<std::vector<Extra>> extras;  ///< [row][column]; empty where there are none

  /// "fastest", "lowest DRAM total", "highest TFLOP/s": what is best about `best`.
  [[nodiscard]] QString best_words() const;
  /// The rows of the points in its cells.
  [[nodiscard]] std::vector<Row> shown_rows() const;
  /// The runs of those points, and of a comparison's other side.
  [[nodiscard]] std::vector<RunPtr> sources() const;
  /// The cell that shows this point.
  [[nodiscard]] std::optional<Place> place_of(Row point) const;
  [[nodiscard]] const Extra& extra(Place place) const;
  /// Pre: the cell has a disposition.
  [[nodiscard]] ShownPoint source(Place place) const { return (*points)[at(place).row]; }
};

/// `filter` stands on the problem.
[[nodiscard]] HeatmapGrid build_heatmap(std::shared_ptr<const PointSet> points, const ProblemFilter& filter,
                                        const analysis::MapRequest& request);
/// Br x Bc, the metric itself.
[[nodiscard]] HeatmapGrid build_heatmap(std::shared_ptr<const PointSet> points, const ProblemFilter& filter,
                                        std::string_view metric);
/// "% of the best", "÷ model", "÷ quick (2)": what stands behind a metric that is compared; empty where it is not.
[[nodiscard]] QString comparison_words(const PointSet& points, const analysis::Quantified& shown);

}  // namespace attnscope::ui
