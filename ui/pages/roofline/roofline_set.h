// SPDX-License-Identifier: GPL-3.0-or-later
// Points under the roofs of a device, with their names and table.
#pragma once

#include <algorithm>
#include <memory>

#include "profiler/roofline/roofline.h"
#include "ui/models/curve_series.h"
#include "ui/models/result_model.h"
#include "ui/runs/point_set.h"

namespace attnscope::ui {

using analysis::RooflineLevel;
using analysis::RooflinePoint;
using analysis::RooflineReport;
using analysis::RooflineSeries;

struct RooflineSet {
  std::shared_ptr<const PointSet> points;
  RooflineReport report;
  RooflineLevel level = RooflineLevel::dram;
  QString device;  ///< Device of the roofs: device_title().
  QString gpu;
  QString problem;  ///< Settings common to all points.

  [[nodiscard]] std::size_t drawn_series() const { return std::min(report.series.size(), max_drawn_curves); }
};

[[nodiscard]] QString level_label(RooflineLevel level);
/// "FA2"; with the run if the set has several of an algorithm.
[[nodiscard]] QString series_title(const RooflineSet& set, const RooflineSeries& series);
/// Returns whether an earlier series has the same algorithm and another run.
[[nodiscard]] bool is_further_run(const RooflineSet& set, const RooflineSeries& series);
/// "wgmma 781 TFLOP/s at 1520 MHz · measured", "exp2 4.14 Top/s = 1.06 PFLOP/s · datasheet".
[[nodiscard]] QString roof_text(const RooflineSet& set, const analysis::Roof& roof);
/// "wgmma"; "impossible" for impossible values; empty for a point without a bound.
[[nodiscard]] QString bound_text(const RooflinePoint& point);
/// Provenance of the bytes in the intensity.
[[nodiscard]] Provenance intensity_provenance(const RooflineSet& set, const RooflinePoint& point, RooflineLevel level);

/// Table of the points: achieved rate, intensity and nearest bound. Includes link intensities if there is a link roof.
/// Cells of the first column refer to the row of their point.
[[nodiscard]] analysis::Table roofline_table(const std::shared_ptr<const RooflineSet>& set);

}  // namespace attnscope::ui
