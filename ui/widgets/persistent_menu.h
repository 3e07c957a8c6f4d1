// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QMenu>

namespace attnscope::ui {

/// Menu of check boxes that stays open while several are toggled.
class PersistentMenu : public QMenu {
  Q_OBJECT
 public:
  explicit PersistentMenu(QWidget* parent = nullptr);

 protected:
  void mouseReleaseEvent(QMouseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;

 private:
  /// Toggles the current entry; returns false if it is not checkable.
  bool toggle_current();
};

}  // namespace attnscope::ui
