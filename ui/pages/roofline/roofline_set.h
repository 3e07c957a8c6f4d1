// SPDX-License-Identifier: GPL-3.0-or-later
// The points under the roofs of a device, as the window names and colours them, and their table.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "profiler/roofline/roofline.h"
#include "ui/models/result_model.h"
#include "ui/runs/point_set.h"

namespace attnscope::ui {

using analysis::RooflineLevel;
using analysis::RooflinePoint;
using analysis::RooflineReport;
using analysis::RooflineSeries;

/// A report, and the points that it is of.
struct RooflineSet {
  std::shared_ptr<const PointSet> points;
  RooflineReport report;
  RooflineLevel level = RooflineLevel::dram;
  QString device;   ///< whose roofs they are: device_title()
  QString gpu;      ///< its name in full
  QString problem;  ///< what the points have in common
};

/// "DRAM", "SM↔L2".
[[nodiscard]] QString level_words(RooflineLevel level);
/// "FA2"; with the run where the set has several of an algorithm.
[[nodiscard]] QString series_title(const RooflineSet& set, const RooflineSeries& series);
/// The algorithm's colour; paler for each further run of it.
[[nodiscard]] QColor series_color(const RooflineSet& set, const RooflineSeries& series, bool dark);
/// "wgmma 781 TFLOP/s at 1520 MHz · measured", "exp2 4.14 Top/s = 1.06 PFLOP/s · datasheet".
[[nodiscard]] QString roof_words(const RooflineSet& set, const analysis::Roof& roof);
/// "wgmma"; of a point without a bound nothing.
[[nodiscard]] QString bound_words(const RooflinePoint& point);
/// The origin of the counted bytes.
[[nodiscard]] Provenance intensity_provenance(const RooflineSet& set, const RooflinePoint& point, RooflineLevel level);

/// The points, a row each: what each reaches, by which intensity, and which bound it is nearest to. Intensities of
/// links only under a roof of theirs. Cells of the first column have their point's row.
[[nodiscard]] analysis::Table roofline_table(const std::shared_ptr<const RooflineSet>& set);

}  // namespace attnscope::ui
