// SPDX-License-Identifier: GPL-3.0-or-later
// Ratios of all points of a comparison, a row per algorithm and head dimension: the band is the margin, and what is
// FASTER or SLOWER has its 95% interval as a bar.
#pragma once

#include <memory>

#include "ui/pages/compare/comparison_set.h"
#include "ui/plots/marked_plot.h"

namespace attnscope::ui {

class RatioPlot : public MarkedPlot {
  Q_OBJECT
 public:
  explicit RatioPlot(QWidget* parent = nullptr);

  void set_comparison(std::shared_ptr<const ShownComparison> shown);
  /// The rows from top to bottom: "FA2 d 64"; of several candidates each with its name.
  [[nodiscard]] const QStringList& groups() const { return groups_; }

 protected:
  void draw_contents() override;
  [[nodiscard]] HoverContent read_out(const Mark& mark) const override;

 private:
  /// Lines of the comparison, by row of the plot.
  [[nodiscard]] std::vector<std::vector<std::size_t>> find_groups();
  void set_up_axes();
  void draw_group(std::size_t group, const std::vector<std::size_t>& lines);
  [[nodiscard]] QColor color_of(const analysis::ComparedPair& pair) const;

  std::shared_ptr<const ShownComparison> shown_;
  QStringList groups_;
};

}  // namespace attnscope::ui
