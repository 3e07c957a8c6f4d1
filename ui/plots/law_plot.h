// SPDX-License-Identifier: GPL-3.0-or-later
// The law of N^2 d^2 / M as a picture: bytes against N, d and M, a panel each, log-log, or bytes over the law, which
// lie on one band where it holds. A mark is a point, filled where it was measured and hollow where it was simulated.
// Points that differ in the panel's variable alone are joined; one such slice is strong and has the fit's line.
#pragma once

#include <qcustomplot.h>

#include <array>
#include <optional>
#include <vector>

#include "ui/models/law_model.h"
#include "ui/plots/frame_plot.h"
#include "ui/plots/hover_overlay.h"

namespace attnscope::ui {

enum class LawView { growth, collapse };

class LawPlot : public FramePlot {
  Q_OBJECT
 public:
  explicit LawPlot(QWidget* parent = nullptr);

  /// Draws the families of one level.
  void set_laws(LawSet set, LawLevel level, LawView view);
  [[nodiscard]] QString title() const { return title_text_; }
  /// Of the panels, from the left; of the collapse one.
  [[nodiscard]] const std::vector<QCPAxisRect*>& panels() const { return panels_; }
  /// Stands below pictures in files: source_note().
  void set_source(const QString& source) { source_ = source; }
  // As save_file(): the error, empty when the file is written.
  [[nodiscard]] QString save(const QString& file, const QSize& size);

  /// Rings a point wherever it is drawn, now and later; whether it is there.
  bool select(const ShownPoint& point);
  /// Shows the read-out of the mark nearest to a position; false when none is near.
  bool hover_at(const QPointF& position);
  [[nodiscard]] const HoverContent* hover_content() const { return overlay_->content(); }

 signals:
  void point_clicked(const attnscope::ui::ShownPoint& point);

 protected:
  void mouseMoveEvent(QMouseEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void leaveEvent(QEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void changeEvent(QEvent* event) override;

 private:
  /// A point where it is drawn.
  struct Mark {
    QCPAxisRect* panel = nullptr;
    double x = 0;
    double y = 0;
    std::size_t family = 0;
    std::size_t point = 0;
  };
  struct Range {
    double low = 0;
    double high = 0;
  };
  void rebuild();
  QCPAxisRect* add_panel(int column, const QString& heading, const QString& x_label);
  [[nodiscard]] std::vector<LawFamily> drawn_families() const;
  void draw_growth();
  void draw_growth_of(QCPAxisRect* panel, LawVariable variable, std::size_t family);
  void draw_collapse();
  void draw_family(QCPAxisRect* panel, std::size_t family);
  void draw_band(QCPAxisRect* panel, const LawFamily::Band& ratios, QColor color);
  void draw_marks(QCPAxisRect* panel, std::size_t family, const std::vector<std::size_t>& points, bool strong);
  /// Of the families drawn, over all their points.
  template <class Value>
  [[nodiscard]] Range range_of(Value value) const;
  [[nodiscard]] QColor color_of(std::size_t family) const;
  bool draw_selection();
  [[nodiscard]] const Mark* mark_near(const QPointF& position) const;
  [[nodiscard]] HoverContent read_out(const Mark& mark) const;
  /// Whether the law speaks of the family's bytes: none of M's where the L2 serves what is read again.
  [[nodiscard]] bool has_band(std::size_t family) const;
  /// Shortens title and key to a plot of that width.
  void fit_words(int width);

  LawSet set_;
  LawLevel level_ = LawLevel::sm_l2;
  LawView view_ = LawView::growth;
  std::vector<std::size_t> drawn_;  ///< places of families, from below
  bool rim_ = false;                ///< some are simulated, others measured
  QString title_text_;
  QString key_text_;
  QString source_;
  QCPTextElement* title_ = nullptr;
  QCPTextElement* key_ = nullptr;  ///< what marks and lines mean
  QCPLayoutGrid* grid_ = nullptr;
  std::vector<QCPAxisRect*> panels_;
  std::vector<Mark> marks_;
  HoverOverlay* overlay_ = nullptr;
  HoverContent read_;
  std::optional<ShownPoint> selected_;
  std::vector<QCPGraph*> rings_;  ///< around it
};

}  // namespace attnscope::ui
