// SPDX-License-Identifier: GPL-3.0-or-later
// Menu of recently opened files, stored in the settings.
#pragma once

#include <QMenu>
#include <QString>

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

}  // namespace attnscope::ui
