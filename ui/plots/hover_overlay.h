// SPDX-License-Identifier: GPL-3.0-or-later
// Read-out of a plot: a box that follows the pointer, and the value at the keyboard cursor for screen readers.
#pragma once

#include <QColor>
#include <QLineF>
#include <QString>
#include <QStringList>
#include <QWidget>
#include <optional>
#include <vector>

#include "ui/theme/sample.h"

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

/// A child widget, so moving the box does not repaint the plot.
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

/// Keyboard cursor of a plot: the mark or cell that the arrow keys moved to last.
class PlotCursor {
 public:
  virtual ~PlotCursor() = default;
  /// Read-out at the cursor in one line; empty without a cursor.
  [[nodiscard]] virtual QString cursor_text() const = 0;
  /// Selects the mark or cell at the cursor. Does nothing without a cursor.
  virtual void select_cursor() = 0;

 protected:
  PlotCursor();
};

/// Informs screen readers that the cursor moved.
void announce_cursor(QWidget& plot, const PlotCursor& cursor);

}  // namespace attnscope::ui
