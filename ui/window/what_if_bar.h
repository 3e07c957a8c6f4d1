// SPDX-License-Identifier: GPL-3.0-or-later
// Says across the window that the GPUs' memories are supposed to be others than they are, and ends it.
#pragma once

#include <QLabel>

#include "ui/runs/workspace.h"
#include "ui/widgets/tone_bar.h"

namespace attnscope::ui {

class WhatIfBar : public ToneBar {
  Q_OBJECT
 public:
  explicit WhatIfBar(const Workspace& workspace, QWidget* parent = nullptr);

  /// Empty while nothing is supposed, and the bar is hidden.
  [[nodiscard]] QString text() const { return words_->text(); }

 signals:
  void reset_wanted();

 private:
  void show_state();

  const Workspace& workspace_;
  QLabel* words_;
};

}  // namespace attnscope::ui
