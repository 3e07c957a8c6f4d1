// SPDX-License-Identifier: GPL-3.0-or-later
// Plot of the law N^2 d^2 / M: bytes over N, d and M in one log-log panel each. Filled markers: measured; hollow:
// simulated. Lines join points that differ in the panel's variable only; one such slice is emphasized and has the
// fitted line.
#pragma once

#include <QColor>
#include <QString>
#include <memory>
#include <vector>

#include "profiler/curves/law_exponents.h"
#include "ui/plots/plot_parts.h"
#include "ui/plots/point_plot.h"
#include "ui/runs/point_set.h"

namespace attnscope::ui {

// Families of points for the law, with their names and colors.

using analysis::LawFamily;
using analysis::LawLevel;

struct LawSet {
  std::shared_ptr<const PointSet> points;
  std::vector<LawFamily> families;
  QString problem;  ///< Settings common to all families.
};

/// "FA1"; with device, kind of run and run if the set has several families of one algorithm.
[[nodiscard]] QString family_title(const LawSet& set, const LawFamily& family);
/// Marker of the family in tables.
[[nodiscard]] QPixmap family_marker(const LawFamily& family);

class LawPlot : public PointPlot {
  Q_OBJECT
 public:
  explicit LawPlot(QWidget* parent = nullptr);

  void set_laws(LawSet set, LawLevel level);
  [[nodiscard]] const std::vector<QCPAxisRect*>& panels() const { return panels_; }

 protected:
  void draw_contents() override;
  [[nodiscard]] HoverContent read_out(const Mark& mark) const override;

 private:
  QCPAxisRect* add_panel(const QString& heading, const QString& x_label);
  /// Returns the exponents of the first measured family with a fit and those of its law; empty if there is none.
  [[nodiscard]] QString headline_of_fit() const;
  void draw_growth();
  void draw_growth_of(QCPAxisRect* panel, LawVariable variable, std::size_t family);
  void draw_marks(QCPAxisRect* panel, std::size_t family, const std::vector<std::size_t>& points, bool strong);
  /// Returns the range over all points of the drawn families.
  [[nodiscard]] Extent extent_of(const std::function<double(const analysis::LawPoint&)>& value) const;
  [[nodiscard]] QColor color_of(std::size_t family) const;
  /// Returns whether an earlier family has the same algorithm and fill.
  [[nodiscard]] bool is_further_family(std::size_t family) const;

  LawSet set_;
  LawLevel level_ = LawLevel::sm_l2;
  std::vector<std::size_t> drawn_;
  bool rim_ = false;  ///< Both simulated and measured families are drawn.
  QCPLayoutGrid* grid_;
  std::vector<QCPAxisRect*> panels_;
};

}  // namespace attnscope::ui
