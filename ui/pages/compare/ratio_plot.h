// SPDX-License-Identifier: GPL-3.0-or-later
// Ratios of all compared points, one row per algorithm and head dimension. The band is the margin; FASTER, SLOWER and
// selected points have their 95% interval as a bar. A click on a row filters the table.
#pragma once

#include <memory>
#include <optional>

#include "ui/pages/compare/comparison_set.h"
#include "ui/plots/point_plot.h"

namespace attnscope::ui {

class RatioPlot : public PointPlot {
  Q_OBJECT
 public:
  explicit RatioPlot(QWidget* parent = nullptr);

  /// `group`: label of the highlighted row; empty: none.
  void set_comparison(std::shared_ptr<const ComparisonTable> shown, const QString& group);
  /// Shows the interval of a line of the comparison; null: none.
  void show_interval(std::optional<std::size_t> line);
  /// Row labels from top to bottom: "FA2 d 64"; with the candidate's name if there are several.
  [[nodiscard]] const QStringList& groups() const { return groups_; }

  /// Row of a position; empty: none.
  [[nodiscard]] QString group_at(const QPoint& position) const;

 signals:
  void group_clicked(const QString& label);

 protected:
  void draw_contents() override;
  void click(const QMouseEvent& event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  [[nodiscard]] HoverContent read_out(const Mark& mark) const override;

 private:
  void set_up_axes();
  void draw_bands();
  void draw_group(std::size_t row, std::vector<std::size_t> lines);
  void draw_interval();
  [[nodiscard]] style::PlotIdentity identity_of(const analysis::ComparedPair& pair) const;
  [[nodiscard]] QColor color_of(const analysis::ComparedPair& pair) const;

  std::shared_ptr<const ComparisonTable> shown_;
  QStringList groups_;
  QString highlighted_;
  std::optional<std::size_t> interval_line_;
  QCPItemLine* interval_ = nullptr;  ///< Owned by the plot.
  double end_ = 2;                   ///< The ratios shown are within 1 / end_ and end_.
};

}  // namespace attnscope::ui
