// SPDX-License-Identifier: GPL-3.0-or-later
// Words in place of an empty page.
#pragma once

#include <QLabel>
#include <optional>
#include <string_view>

#include "profiler/points/point_table.h"
#include "ui/runs/workspace.h"

namespace attnscope::ui {

struct EmptyWords {
  QString title;
  QString text;                  ///< rich text
  std::string_view sample = {};  ///< a recorded one that has what is missing (profiler/files/recorded_samples.h)
};

/// Why no point is shown, and what to do: the filter hides all, nothing is open, a file is being read, a sweep has not
/// come to its first point, no run is ticked, all that a run has is damaged.
[[nodiscard]] EmptyWords why_no_points(const Workspace& workspace);
/// Whether some ticked run is still being collected.
[[nodiscard]] bool ticked_run_is_running(const Workspace& workspace);

class EmptyState : public QLabel {
  Q_OBJECT
 public:
  /// `workspace`: where what would stand there comes from. A link opens the recorded sample that the words name, and
  /// another clears the filter, which is said where it hides some. Null: nothing can be done here.
  explicit EmptyState(QWidget* parent = nullptr, Workspace* workspace = nullptr);
  void set_words(const EmptyWords& words);
  /// A word that is too long for the page is cut: it does not widen the window.
  [[nodiscard]] QSize minimumSizeHint() const override { return {0, QLabel::minimumSizeHint().height()}; }
  /// It stands in the middle of what room there is.
  [[nodiscard]] bool hasHeightForWidth() const override { return false; }

 private:
  Workspace* workspace_;
};

/// Why nothing can be drawn of points none of which ran: how they ended, and a reason of each such end. Nothing where
/// one did, or there are none.
[[nodiscard]] std::optional<EmptyWords> why_none_ran(const analysis::PointTable& table);

}  // namespace attnscope::ui
