// SPDX-License-Identifier: GPL-3.0-or-later
// Points of some sides, each held to those of one of them, the baseline: which sides there may be, and what
// profiler/compare/comparison.h finds of them.
#pragma once

#include <QString>
#include <QStringList>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "profiler/compare/comparison.h"
#include "ui/runs/point_set.h"

namespace attnscope::ui {

/// By what points fall into sides: their runs, what these were made with, or a field or knob of the points.
struct SideAxis {
  QString key;  ///< "run", "driver", "device", "algorithm"
  QString label;
  std::vector<std::string> names;    ///< of the fields, or of the knob; none of what is the runs'
  std::vector<std::uint32_t> codes;  ///< by row: whose side it is on
  std::vector<QString> values;       ///< by code

  /// The side of that name; nothing where there is none.
  [[nodiscard]] std::optional<std::uint32_t> side_named(const QString& name) const;
};
/// Those of two sides or more. First what is the runs', of which the sides stand in the order in which they began, then
/// the device, algorithm, tile and knobs, last what makes another problem.
[[nodiscard]] std::vector<SideAxis> side_axes(const PointSet& points);
/// The side with the most points that another one has too; the first of several, nothing where no two have one.
[[nodiscard]] std::optional<std::uint32_t> fullest_side(const PointSet& points, const SideAxis& axis);
/// What points of a picture have in common beside these axes and the one that makes the sides.
[[nodiscard]] std::vector<analysis::FacetPtr> facets_beside_sides(std::vector<analysis::PointAxis> axes,
                                                                  const SideAxis& sides);

struct ComparisonAsk {
  std::shared_ptr<const PointSet> points;
  SideAxis axis;
  std::uint32_t base = 0;                       ///< a code of the axis
  std::optional<double> margin = std::nullopt;  ///< none: the usual, by how the sides were recorded
};

struct OtherSide {
  std::uint32_t code = 0;
  analysis::Alignment alignment;
  analysis::ComparisonResult result;
};

struct ComparisonSet {
  /// What rows refer to: the points that were asked for.
  std::shared_ptr<const PointSet> points = std::make_shared<const PointSet>();
  SideAxis axis;
  std::uint32_t base = 0;
  std::optional<double> asked_margin = std::nullopt;
  double margin = 0;              ///< of all verdicts
  std::size_t looks = 1;          ///< analysis::ComparisonRequest's
  std::vector<OtherSide> others;  ///< in the axis' order, each corrected by itself: every side but the baseline that
                                  ///< has a point of it, or where none has, every one

  [[nodiscard]] const QString& base_name() const { return axis.values[base]; }
  [[nodiscard]] const QString& name_of(const OtherSide& other) const { return axis.values[other.code]; }
  /// Whether some point stands on two sides, whatever came of it.
  [[nodiscard]] bool some_met() const;
  /// What has to be known of the verdicts on one other side, or on all: how they were come by, a sentence each.
  [[nodiscard]] QStringList method_words(std::optional<std::uint32_t> code) const;
};

/// May take long: to be called in any thread. Nothing once it is cancelled.
[[nodiscard]] std::shared_ptr<const ComparisonSet> compare_sides(const ComparisonAsk& ask,
                                                                 const std::function<bool()>& cancelled = {});

}  // namespace attnscope::ui
