// SPDX-License-Identifier: GPL-3.0-or-later
// Text that a page shows if it has no content.
#pragma once

#include <QLabel>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "profiler/points/point_table.h"
#include "ui/runs/workspace.h"

namespace attnscope::ui {

struct EmptyStateText {
  QString title;
  QString text;  ///< Rich text.
  /// Name of a recorded sample with suitable data (profiler/files/recorded_samples.h); empty: none.
  std::string_view sample = {};
  struct Action {
    QString text;
    std::function<void()> run;
  };
  std::vector<Action> nearest = {};    ///< Nearest combinations with points.
  std::function<void()> collect = {};  ///< Fills the form for a collection; null: not offered.
};

/// Returns why no point is visible and what to do: all filtered out, no file open, file loading, sweep without points
/// yet, no run selected, all points damaged.
[[nodiscard]] EmptyStateText no_points_text(const Workspace& workspace);
/// Returns whether a selected run is still being collected.
[[nodiscard]] bool has_active_run(const Workspace& workspace);

class EmptyState : public QLabel {
  Q_OBJECT
 public:
  /// Links in the text open the recorded sample or clear the filter of `workspace`.
  EmptyState(QWidget* parent, Workspace& workspace);
  void set_text(const EmptyStateText& words);
  /// A long word is cut and does not widen the window.
  [[nodiscard]] QSize minimumSizeHint() const override { return {0, QLabel::minimumSizeHint().height()}; }
  /// The text is centered vertically.
  [[nodiscard]] bool hasHeightForWidth() const override { return false; }

 private:
  void follow_link(const QString& link);

  Workspace& workspace_;
  EmptyStateText shown_;
};

/// Returns the outcomes and one reason for each if no point of the table ran. Null if a point ran or the table is
/// empty.
[[nodiscard]] std::optional<EmptyStateText> none_ran_text(const analysis::PointTable& table);

}  // namespace attnscope::ui
