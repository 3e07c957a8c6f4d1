// SPDX-License-Identifier: GPL-3.0-or-later
// A read-out box that follows the pointer over a plot. A child of its own, so that moving it repaints no curve.
#pragma once

#include <QColor>
#include <QString>
#include <QStringList>
#include <QWidget>
#include <optional>
#include <vector>

namespace attnscope::ui {

/// How an entry's sample is drawn, in the box as in the plot.
enum class SampleMark {
  none,
  disc,
  square,
  half_disc,  ///< filled below: a measured value, but of throttled clocks
  hollow_disc,
  hollow_square,
  plus_disc,  ///< hollow, with a plus: extrapolated
  plus_square,
  diamond,
  triangle,
  crossed_disc,  ///< hollow, as all that are struck: of a second, third or fourth run of one colour
  crossed_square,
  barred_disc,
  barred_square,
  upright_disc,
  upright_square,
  dashes
};

struct HoverRow {
  QColor color;
  SampleMark mark = SampleMark::none;
  QString label;
  QString value;
};

struct HoverContent {
  QString title;
  std::vector<HoverRow> rows;
  QStringList notes;  ///< wrapped, below the rows
};

/// All of it in one line: what a screen reader says.
[[nodiscard]] QString words_of(const HoverContent& content);

class HoverOverlay : public QWidget {
  Q_OBJECT
 public:
  explicit HoverOverlay(QWidget* plot);

  /// `guide_x`: a vertical line at that x, over the height of `guide_area`.
  void show_content(HoverContent content, const QPoint& pointer, std::optional<double> guide_x = {},
                    const QRectF& guide_area = {});
  void clear();
  /// Null while nothing is read out.
  [[nodiscard]] const HoverContent* content() const { return content_ ? &*content_ : nullptr; }

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  [[nodiscard]] QRect place_box(const QSize& size) const;

  std::optional<HoverContent> content_;
  QPoint pointer_;
  std::optional<double> guide_x_;
  QRectF guide_area_;
};

}  // namespace attnscope::ui
