// SPDX-License-Identifier: GPL-3.0-or-later
// Read-out box that follows the pointer over a plot. A child widget, so moving it does not repaint the plot.
#pragma once

#include <QColor>
#include <QLineF>
#include <QString>
#include <QStringList>
#include <QWidget>
#include <optional>
#include <vector>

#include "ui/plots/markers.h"

namespace attnscope::ui {

struct HoverRow {
  QColor color;
  Sample sample;
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

  void show_content(HoverContent content, const QPoint& pointer);
  /// Lines through the position that the legend shows, one per panel; they stay until clear().
  void set_guides(std::vector<QLineF> guides);
  /// Draws a ring around the mark at the keyboard cursor; it stays until clear(). Null: none.
  void set_cursor(std::optional<QPointF> at);
  /// Hides the box, and keeps the lines.
  void hide_box();
  void clear();
  /// Null: nothing is shown.
  [[nodiscard]] const HoverContent* content() const { return content_ ? &*content_ : nullptr; }

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  [[nodiscard]] QRect place_box(const QSize& size) const;

  std::optional<HoverContent> content_;
  QPoint pointer_;
  std::vector<QLineF> guides_;
  std::optional<QPointF> cursor_;
};

}  // namespace attnscope::ui
