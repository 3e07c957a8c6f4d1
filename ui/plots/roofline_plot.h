// SPDX-License-Identifier: GPL-3.0-or-later
// Points under the roofs and ceilings of their device, log-log. A roof that was measured is solid, a datasheet's
// dashed, an estimate dotted, and each says so in words. The roof of the other level's bytes is faint. Beside a mark:
// an upright dash at the closed form's intensity, and a line to where executed FLOPs put it.
#pragma once

#include <qcustomplot.h>

#include <optional>
#include <set>
#include <vector>

#include "ui/models/roofline_model.h"
#include "ui/plots/frame_plot.h"
#include "ui/plots/hover_overlay.h"
#include "ui/plots/plot_legend.h"
#include "ui/plots/roofline_labels.h"

namespace attnscope::ui {

class RooflinePlot : public FramePlot {
  Q_OBJECT
 public:
  explicit RooflinePlot(QWidget* parent = nullptr);

  void set_roofline(RooflineSet set);
  [[nodiscard]] QString title() const { return title_text_; }
  /// As it stands above the axes: in two lines, or cut, where there is no room for it in one.
  [[nodiscard]] QString title_lines() const { return title_->text(); }
  /// Series that are hidden, by their titles; the legend says how many.
  [[nodiscard]] const std::set<QString>& hidden() const { return hidden_; }
  /// As a click on an entry of the legend: hides these; where all are hidden, shows them.
  void toggle(const QStringList& titles);
  /// As Ctrl and a click: all others are hidden; where they are already, all are shown.
  void isolate(const QStringList& titles);
  [[nodiscard]] const PlotLegend& plot_legend() const { return legend_; }
  /// Names of roofs and ceilings, and the lengths at the ends of series, as they stand in the plot.
  [[nodiscard]] QStringList labels() const { return labels_.texts(); }
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
  bool event(QEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void mouseDoubleClickEvent(QMouseEvent* event) override;
  void leaveEvent(QEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void changeEvent(QEvent* event) override;

 private:
  /// A point where it is drawn.
  struct Mark {
    double x = 0;
    double y = 0;
    std::size_t series = 0;
    std::size_t point = 0;
  };
  void rebuild();
  void reset_view();
  void find_marks();
  void draw_roofs();
  void draw_roof(const analysis::Roof& roof);
  void draw_ceiling(const analysis::Roof& roof);
  void draw_series(std::size_t place);
  void draw_marks(std::size_t place);
  void draw_theory(std::size_t place);
  void name_ends(std::size_t place);
  void add_keys();
  void add_key(const QString& words, const QPen& pen, const QCPScatterStyle& scatter = {});
  void click_legend(const QCPAbstractLegendItem* item, Qt::KeyboardModifiers modifiers);
  [[nodiscard]] bool is_hidden(const RooflineSeries& series) const;
  bool draw_selection();
  [[nodiscard]] const Mark* mark_near(const QPointF& position) const;
  [[nodiscard]] HoverContent read_out(const Mark& mark) const;
  /// In two lines where one has no room for it and the plot is high enough.
  void fit_title(const QSize& size);

  RooflineSet set_;
  std::set<QString> hidden_;
  std::vector<Mark> marks_;  ///< of what is not hidden
  QString title_text_;
  QString source_;
  QCPTextElement* title_ = nullptr;
  PlotLegend legend_{*this};
  RooflineLabels labels_{*this};
  HoverOverlay* overlay_ = nullptr;
  HoverContent read_;
  std::optional<ShownPoint> selected_;
  std::vector<QCPGraph*> rings_;  ///< around it
  QPoint pressed_;
};

}  // namespace attnscope::ui
