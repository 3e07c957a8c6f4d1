// SPDX-License-Identifier: GPL-3.0-or-later
// Times of the sides of a comparison over one setting, and below them each other side over the baseline: bars are 95%
// intervals, the band is the margin, dashed where undecided. What is not measured has the marks it has everywhere.
#pragma once

#include <qcustomplot.h>

#include <vector>

#include "ui/models/ratio_views.h"
#include "ui/plots/frame_plot.h"
#include "ui/plots/hover_overlay.h"

namespace attnscope::ui {

class RatioPlot : public FramePlot {
  Q_OBJECT
 public:
  explicit RatioPlot(QWidget* parent = nullptr);

  void set_curves(RatioCurves curves);
  [[nodiscard]] const RatioCurves& curves() const { return curves_; }
  [[nodiscard]] QCPAxisRect* times() const { return times_; }
  [[nodiscard]] QCPAxisRect* ratios() const { return ratios_; }
  /// What the legend has, the baseline first.
  [[nodiscard]] QStringList legend_words() const;
  /// What stands below the axes: what bars, bands and crosses are, as far as there are any.
  [[nodiscard]] QString key() const { return key_text_; }
  /// Stands below pictures in files: source_note().
  void set_source(const QString& source) { source_ = source; }
  // As save_file(): the error, empty when the file is written.
  [[nodiscard]] QString save(const QString& file, const QSize& size);

  /// Rings the marks of a point of either side; false where no curve has it.
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
  void keyPressEvent(QKeyEvent* event) override;
  void paintEvent(QPaintEvent* event) override;
  void focusInEvent(QFocusEvent* event) override;
  void focusOutEvent(QFocusEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void changeEvent(QEvent* event) override;

 private:
  /// A point where it is drawn.
  struct Mark {
    QCPAxisRect* panel = nullptr;
    double x = 0;
    double y = 0;
    std::size_t curve = 0;
    std::size_t point = 0;
    bool of_base = false;
  };
  void rebuild();
  [[nodiscard]] Message key_words() const;
  void set_up_axes();
  void draw_baseline();
  void draw_times(std::size_t curve);
  void draw_ratios(std::size_t curve);
  void draw_margin();
  bool draw_selection();
  /// With the arrow keys, over the ratios: so many curves on, and so many points of it.
  void step(int curves, int points);
  void fit_words(int width);
  [[nodiscard]] QColor color_of(std::size_t curve) const;
  [[nodiscard]] Provenance origin(Row row) const { return curves_.set->points->table().points().origin(row); }
  /// A graph of marks alone, for points of one kind.
  void add_marks(QCPAxisRect* panel, const QColor& color, SampleMark mark, const QVector<double>& x,
                 const QVector<double>& y);
  QCPGraph* add_line(QCPAxisRect* panel, const QPen& pen);
  [[nodiscard]] const Mark* mark_near(const QPointF& position) const;
  [[nodiscard]] HoverContent read_out(const Mark& mark) const;

  RatioCurves curves_;
  QCPTextElement* title_ = nullptr;
  QCPTextElement* key_ = nullptr;
  QCPLegend* sides_ = nullptr;
  QCPAxisRect* times_ = nullptr;
  QCPAxisRect* ratios_ = nullptr;
  QString title_text_;
  QString key_text_;
  QString source_;
  std::vector<Mark> marks_;
  std::optional<std::pair<std::size_t, std::size_t>> walked_;  ///< curve and point that the keys have come to
  std::optional<ShownPoint> selected_;
  std::vector<QCPGraph*> rings_;  ///< around its marks
  HoverOverlay* overlay_ = nullptr;
  HoverContent read_;
};

}  // namespace attnscope::ui
