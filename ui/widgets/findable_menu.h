// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QMenu>

namespace attnscope::ui {

/// Of a menu with many entries: a field above them leaves those that have what is typed, those of submenus among them;
/// Enter triggers the first. Call it once all entries are there.
void make_findable(QMenu& menu);

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
