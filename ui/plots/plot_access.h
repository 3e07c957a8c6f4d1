// SPDX-License-Identifier: GPL-3.0-or-later
// Accessibility of plots: role, name, the read-out at the keyboard cursor, and selection.
#pragma once

#include <QString>

class QWidget;

namespace attnscope::ui {

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
