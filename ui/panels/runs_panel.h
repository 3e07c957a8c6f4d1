// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QListView>

#include "ui/models/runs_model.h"

namespace attnscope::ui {

/// The list of runs at the left: a check box, what was run where, and how it ended.
class RunsPanel : public QListView {
  Q_OBJECT
 public:
  explicit RunsPanel(Workspace& workspace, QWidget* parent = nullptr);

 protected:
  void contextMenuEvent(QContextMenuEvent* event) override;
  void paintEvent(QPaintEvent* event) override;

 private:
  Workspace& workspace_;
  RunsModel* model_ = nullptr;
};

}  // namespace attnscope::ui
