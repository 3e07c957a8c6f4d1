// SPDX-License-Identifier: GPL-3.0-or-later
// Ratios of all compared points, one row per algorithm and head dimension. The band is the margin; FASTER and SLOWER
// points have their 95% interval as a bar.
#pragma once

#include <memory>

#include "ui/pages/compare/comparison_set.h"
#include "ui/plots/point_plot.h"

namespace attnscope::ui {

class RatioPlot : public PointPlot {
  Q_OBJECT
 public:
  explicit RatioPlot(QWidget* parent = nullptr);

  void set_comparison(std::shared_ptr<const ComparisonTable> shown);
  /// Row labels from top to bottom: "FA2 d 64"; with the candidate's name if there are several.
  [[nodiscard]] const QStringList& groups() const { return groups_; }

 protected:
  void draw_contents() override;
  [[nodiscard]] HoverContent read_out(const Mark& mark) const override;

 private:
  /// Returns the lines of the comparison for each row of the plot.
  [[nodiscard]] std::vector<std::vector<std::size_t>> find_groups();
  void set_up_axes();
  void draw_group(std::size_t group, std::vector<std::size_t> lines);
  [[nodiscard]] style::PlotIdentity identity_of(const analysis::ComparedPair& pair) const;
  [[nodiscard]] QColor color_of(const analysis::ComparedPair& pair) const;

  std::shared_ptr<const ComparisonTable> shown_;
  QStringList groups_;
};

}  // namespace attnscope::ui
