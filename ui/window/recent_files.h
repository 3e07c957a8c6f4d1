// SPDX-License-Identifier: GPL-3.0-or-later
// Menu of recently opened files, stored in the settings.
#pragma once

#include <QMenu>
#include <QString>
#include <functional>

#include "ui/runs/workspace.h"
#include "ui/widgets/banner.h"

namespace attnscope::ui {

class RecentFiles : public QMenu {
  Q_OBJECT
 public:
  /// If `remember` is false, the menu stays empty and settings are not changed.
  RecentFiles(bool remember, QWidget* parent);

  void add(const QString& path);

 signals:
  void chosen(const QString& path);

 private:
  void refresh();

  bool remember_;
};

/// Shows a banner with the origin of the recorded sample while it is open. `collect`: shows the collect form.
void show_sample_origin(Workspace& workspace, Banner& banner, std::function<void()> collect);

}  // namespace attnscope::ui
