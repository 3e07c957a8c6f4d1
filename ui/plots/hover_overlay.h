// SPDX-License-Identifier: GPL-3.0-or-later
// Read-out box that follows the pointer over a plot. A child widget, so moving it does not repaint the plot.
#pragma once

#include <QColor>
#include <QString>
#include <QStringList>
#include <QWidget>
#include <optional>
#include <vector>

namespace attnscope::ui {

/// Marker of a read-out row, equal to the marker in the plot.
enum class SampleMark {
  none,
  disc,
  square,
  half_disc,  ///< Lower half filled: measured at throttled clocks.
  hollow_disc,
  hollow_square,
  plus_disc,  ///< Hollow, with a plus: extrapolated.
  plus_square,
  diamond,
  triangle,
  crossed_disc,  ///< Hollow with a stroke, as the markers below: second to fourth run of one color.
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
  QStringList notes;  ///< Word-wrapped, below the rows.
};

/// The read-out in one line, for screen readers.
[[nodiscard]] QString display_text(const HoverContent& content);

class HoverOverlay : public QWidget {
  Q_OBJECT
 public:
  explicit HoverOverlay(QWidget* plot);

  /// `guide_x`: x position of a vertical line across `guide_area`.
  void show_content(HoverContent content, const QPoint& pointer, std::optional<double> guide_x = {},
                    const QRectF& guide_area = {});
  void clear();
  /// Null: nothing is shown.
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
