// SPDX-License-Identifier: GPL-3.0-or-later
// Below the pages: which files are open, and how many points of which origin and GPU are shown.
#pragma once

#include <QStatusBar>

#include "ui/runs/workspace.h"
#include "ui/widgets/elided_label.h"

namespace attnscope::ui {

class StatusBar : public QStatusBar {
  Q_OBJECT
 public:
  explicit StatusBar(Workspace& workspace, QWidget* parent = nullptr);

 private:
  void refresh();

  Workspace& workspace_;
  ElidedLabel* files_ = nullptr;
  ElidedLabel* values_ = nullptr;
};

/// The open files by the names that tell them apart, with commas between; empty when none is open.
[[nodiscard]] QString open_files_in_words(const Workspace& workspace);

}  // namespace attnscope::ui
