// SPDX-License-Identifier: GPL-3.0-or-later
// A comparison laid out: ratios as a map of two settings, and times with their ratios over one.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "ui/plots/heatmap_grid.h"
#include "ui/pages/compare/comparison_set.h"

namespace attnscope::ui {

/// What the pairs of these rows can be laid out by, without what makes the sides.
[[nodiscard]] std::vector<analysis::PointAxis> axes_of_pairs(const ComparisonSet& set, std::span<const Row> rows);

/// Whether a side has the point, but no time of it.
[[nodiscard]] bool is_failure(const analysis::LeftOut& left);

/// `rows` are of one problem beside the axes. A cell is the ratio of a pair whose other row is among them; of several
/// at one place the one whose baseline is the fastest. Undecided ones are hatched. Else it is the point that has no
/// time, of the other side before the baseline's.
[[nodiscard]] HeatmapGrid ratio_map(const ComparisonSet& set, const OtherSide& other, const analysis::MapLayout& layout,
                                    std::span<const Row> rows);

struct RatioPoint {
  double x = 0;
  const analysis::ComparedPair* pair = nullptr;  ///< of the set
};
struct RatioCurve {
  std::uint32_t code = 0;  ///< of the other side
  QString name;
  bool simulated = false;          ///< some of its times are simulated
  bool simulated_ratio = false;    ///< or some of those that they are held to
  std::vector<RatioPoint> points;  ///< ascending
};
struct RatioCurves {
  std::shared_ptr<const ComparisonSet> set;
  std::optional<analysis::PointAxis> x;
  QString problem;  ///< what all have in common
  std::vector<RatioCurve> curves;
};
/// Of the pairs whose other row is among `rows`; `x` has numbers.
[[nodiscard]] RatioCurves ratio_curves(std::shared_ptr<const ComparisonSet> set, const analysis::PointAxis& x,
                                       std::span<const Row> rows, const QString& problem);

/// Of a ratio: derived, but of what is not measured that.
[[nodiscard]] Provenance provenance_of(const ComparisonSet& set, const analysis::ComparedPair& pair);

}  // namespace attnscope::ui
