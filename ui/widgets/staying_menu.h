// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QMenu>

namespace attnscope::ui {

/// A menu of switches, of which one throws several: it stays open until something else is clicked.
class StayingMenu : public QMenu {
  Q_OBJECT
 public:
  explicit StayingMenu(QWidget* parent = nullptr);

 protected:
  void mouseReleaseEvent(QMouseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;

 private:
  /// Whether the entry that is marked is a switch, which was thrown then.
  bool throw_switch();
};

}  // namespace attnscope::ui
