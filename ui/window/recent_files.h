// SPDX-License-Identifier: GPL-3.0-or-later
// The menu of files opened before, kept in the settings.
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
  /// Without `remember` the menu stays empty and the settings are left alone.
  RecentFiles(bool remember, QWidget* parent);

  void add(const QString& path);

 signals:
  void chosen(const QString& path);

 private:
  void refresh();

  bool remember_;
};

/// Once the sample is read, until it is closed or the line dismissed. `collect`: shows the form.
void say_what_the_sample_is(Workspace& workspace, Banner& banner, std::function<void()> collect);

}  // namespace attnscope::ui
