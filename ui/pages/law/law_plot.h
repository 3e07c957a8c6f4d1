// SPDX-License-Identifier: GPL-3.0-or-later
// The law of N^2 d^2 / M as a picture: bytes against N, d and M, a panel each, log-log, or bytes over the law, which
// lie on one band where it holds. A mark is a point, filled where it was measured and hollow where it was simulated.
// Points that differ in the panel's variable alone are joined; one such slice is strong and has the fit's line.
#pragma once

#include <QColor>
#include <QString>
#include <memory>
#include <vector>

#include "profiler/curves/law_exponents.h"
#include "ui/plots/marked_plot.h"
#include "ui/plots/plot_parts.h"
#include "ui/runs/point_set.h"

namespace attnscope::ui {

// Families that try the law, as the window names and colours them.

using analysis::LawFamily;
using analysis::LawLevel;

/// The families of one problem, and the points that they are of.
struct LawSet {
  std::shared_ptr<const PointSet> points;
  std::vector<LawFamily> families;
  QString problem;  ///< what they have in common
};

/// "FA1"; with device, kind of run and run where the set has several of an algorithm.
[[nodiscard]] QString family_title(const LawSet& set, const LawFamily& family);
/// The algorithm's colour; paler for each further series of it.
[[nodiscard]] QColor family_color(const LawSet& set, const LawFamily& family, bool dark);

class LawPlot : public MarkedPlot {
  Q_OBJECT
 public:
  explicit LawPlot(QWidget* parent = nullptr);

  /// Draws the families of one level.
  void set_laws(LawSet set, LawLevel level);
  /// From the left, of N, d and M.
  [[nodiscard]] const std::vector<QCPAxisRect*>& panels() const { return panels_; }

 protected:
  void draw_contents() override;
  [[nodiscard]] HoverContent read_out(const Mark& mark) const override;

 private:
  QCPAxisRect* add_panel(const QString& heading, const QString& x_label);
  [[nodiscard]] std::vector<LawFamily> drawn_families() const;
  void draw_growth();
  void draw_growth_of(QCPAxisRect* panel, LawVariable variable, std::size_t family);
  void draw_marks(QCPAxisRect* panel, std::size_t family, const std::vector<std::size_t>& points, bool strong);
  /// Over all points of the families that are drawn.
  [[nodiscard]] Extent extent_of(const std::function<double(const analysis::LawPoint&)>& value) const;
  [[nodiscard]] QColor color_of(std::size_t family) const;

  LawSet set_;
  LawLevel level_ = LawLevel::sm_l2;
  std::vector<std::size_t> drawn_;  ///< places of families, from below
  bool rim_ = false;                ///< some are simulated, others measured
  QCPLayoutGrid* grid_;
  std::vector<QCPAxisRect*> panels_;
};

}  // namespace attnscope::ui
