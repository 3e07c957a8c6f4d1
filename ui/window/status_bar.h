// SPDX-License-Identifier: GPL-3.0-or-later
// Status bar: open files, the selected point, and number of visible points by provenance and GPU.
#pragma once

#include <QStatusBar>
#include <optional>

#include "ui/runs/workspace.h"
#include "ui/widgets/elided_label.h"

namespace attnscope::ui {

class StatusBar : public QStatusBar {
  Q_OBJECT
 public:
  explicit StatusBar(Workspace& workspace, QWidget* parent = nullptr);

  void show_selected(const std::optional<ShownPoint>& point);

 private:
  void refresh();

  Workspace& workspace_;
  ElidedLabel* files_ = nullptr;
  ElidedLabel* selected_ = nullptr;
  ElidedLabel* values_ = nullptr;
};

/// Returns the unique names of the open files, separated by commas; empty if none is open.
[[nodiscard]] QString open_file_names(const Workspace& workspace);

}  // namespace attnscope::ui
