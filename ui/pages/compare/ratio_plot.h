// SPDX-License-Identifier: GPL-3.0-or-later
// Times of the sides of a comparison over one setting, and below them each other side over the baseline: bars are 95%
// intervals, the band is the margin, dashed where undecided. What is not measured has the marks it has everywhere.
#pragma once

#include <utility>
#include <vector>

#include "ui/pages/compare/comparison_set.h"
#include "ui/plots/marked_plot.h"

namespace attnscope::ui {

class RatioPlot : public MarkedPlot {
  Q_OBJECT
 public:
  explicit RatioPlot(QWidget* parent = nullptr);

  void set_curves(RatioCurves curves);
  [[nodiscard]] const RatioCurves& curves() const { return curves_; }
  [[nodiscard]] QCPAxisRect* times() const { return times_; }
  [[nodiscard]] QCPAxisRect* ratios() const { return ratios_; }
  /// What the legend has, the baseline first.
  [[nodiscard]] QStringList legend_words() const;

 protected:
  void draw_contents() override;
  [[nodiscard]] HoverContent read_out(const Mark& mark) const override;
  void keyPressEvent(QKeyEvent* event) override;

 private:
  [[nodiscard]] Message key_words() const;
  void set_up_axes();
  void set_up_abscissas();
  void draw_baseline();
  void draw_times(std::size_t curve);
  void draw_ratios(std::size_t curve);
  /// Marks that say what each value is, on their line.
  void draw_values(QCPGraph& line, const std::vector<std::pair<Provenance, Mark>>& values);
  /// A line of times, with an entry of the legend.
  void draw_side(const QColor& color, double width, bool simulated, const Message& name,
                 const std::vector<std::pair<Provenance, Mark>>& values);
  /// With the arrow keys, over the ratios: so many curves on, and so many points of it.
  void step(int curves, int points);
  [[nodiscard]] QColor color_of(std::size_t curve) const;
  [[nodiscard]] Provenance origin(Row row) const { return points_->table().points().origin(row); }

  RatioCurves curves_;
  QCPLegend* sides_;
  QCPAxisRect* times_;
  QCPAxisRect* ratios_;
  std::optional<std::pair<std::size_t, std::size_t>> walked_;  ///< curve and point that the keys have come to
};

}  // namespace attnscope::ui
