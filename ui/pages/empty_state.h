// SPDX-License-Identifier: GPL-3.0-or-later
// Words in place of an empty page.
#pragma once

#include <QLabel>

#include "ui/runs/workspace.h"

namespace attnscope::ui {

struct EmptyWords {
  QString title;
  QString text;  ///< rich text
};

/// Why no point is shown, and what to do: the filter hides all, nothing is open, a file is being read, a sweep has not
/// come to its first point, no run is ticked, all that a run has is damaged.
[[nodiscard]] EmptyWords why_no_points(const Workspace& workspace);
/// Whether some ticked run is still being collected.
[[nodiscard]] bool ticked_run_is_running(const Workspace& workspace);

class EmptyState : public QLabel {
  Q_OBJECT
 public:
  /// `filtered`: where the points come from that would stand there: where its filter hides some, that is said too, and
  /// a link in the words clears it. Null: what would stand there is not filtered.
  explicit EmptyState(QWidget* parent = nullptr, Workspace* filtered = nullptr);
  void set_words(const EmptyWords& words);
  /// A word that is too long for the page is cut: it does not widen the window.
  [[nodiscard]] QSize minimumSizeHint() const override { return {0, QLabel::minimumSizeHint().height()}; }
  /// It stands in the middle of what room there is.
  [[nodiscard]] bool hasHeightForWidth() const override { return false; }

 private:
  Workspace* filtered_;
};

}  // namespace attnscope::ui
