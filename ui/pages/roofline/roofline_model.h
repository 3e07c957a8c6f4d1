// SPDX-License-Identifier: GPL-3.0-or-later
// The points under the roofs of a device as a table: what each reaches, by which intensity, and which bound it is
// nearest to.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "profiler/roofline/roofline.h"
#include "ui/models/table_model.h"
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
/// "FA2", "FA2 · N 4,096 · along Br"; with the run where the set has several of an algorithm. Lines of one map share
/// it.
[[nodiscard]] QString series_title(const RooflineSet& set, const RooflineSeries& series);
/// The algorithm's colour; paler for each further run of it.
[[nodiscard]] QColor series_color(const RooflineSet& set, const RooflineSeries& series, bool dark);
/// "wgmma 781 TFLOP/s at 1520 MHz · measured", "exp2 4.14 Top/s = 1.06 PFLOP/s · datasheet".
[[nodiscard]] QString roof_words(const RooflineSet& set, const analysis::Roof& roof);
/// "wgmma"; of a point without a bound nothing.
[[nodiscard]] QString bound_words(const RooflinePoint& point);
/// Without what cannot be said: "0.496 N".
[[nodiscard]] QString limit_words(const analysis::IntensityLimit& limit);
[[nodiscard]] std::optional<analysis::IntensityLimit> limit_of(const RooflineSet& set, const RooflinePoint& point,
                                                               RooflineLevel level);
/// The origin of the counted bytes.
[[nodiscard]] Provenance intensity_provenance(const RooflineSet& set, const RooflinePoint& point, RooflineLevel level);

class RooflineModel : public TableModel {
  Q_OBJECT
 public:
  using TableModel::TableModel;
  enum Column {
    series_column,
    n_column,
    tile_column,
    rate_column,
    executed_column,
    dram_column,
    sm_l2_column,
    link_column,  ///< empty where no point is of several GPUs
    closed_column,
    limit_column,
    bound_column,
    reached_column,
    source_column,
    column_count
  };

  void set_roofline(RooflineSet set);
  /// The point of a row.
  [[nodiscard]] ShownPoint point_at(int row) const;
  /// The row of a point; nothing where it is not among them.
  [[nodiscard]] std::optional<int> row_of(const ShownPoint& point) const;

 protected:
  [[nodiscard]] int rows() const override { return static_cast<int>(lines_.size()); }
  [[nodiscard]] int columns() const override { return column_count; }
  [[nodiscard]] QVariant cell(int row, int column, int role) const override;
  [[nodiscard]] QVariant header(int column, int role) const override;

 private:
  struct Line {
    std::size_t series = 0;
    std::size_t point = 0;
  };
  [[nodiscard]] QString text_of(const Line& line, int column) const;
  /// In base units; nothing of words.
  [[nodiscard]] std::optional<double> number_of(const Line& line, int column) const;

  RooflineSet set_;
  std::vector<Line> lines_;
};

}  // namespace attnscope::ui
