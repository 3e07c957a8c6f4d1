// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/widgets/staying_menu.h"

#include <QKeyEvent>
#include <QMouseEvent>

namespace attnscope::ui {

StayingMenu::StayingMenu(QWidget* parent) : QMenu(parent) {
  setToolTipsVisible(true);
}

bool StayingMenu::throw_switch() {
  QAction* marked = activeAction();
  if (marked == nullptr || !marked->isCheckable() || marked->menu() != nullptr) return false;
  if (marked->isEnabled()) marked->trigger();
  return true;
}

void StayingMenu::mouseReleaseEvent(QMouseEvent* event) {
  if (actionAt(event->position().toPoint()) == nullptr || !throw_switch()) QMenu::mouseReleaseEvent(event);
}

void StayingMenu::keyPressEvent(QKeyEvent* event) {
  const bool throws = event->key() == Qt::Key_Space || event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter;
  if (!throws || !throw_switch()) QMenu::keyPressEvent(event);
}

}  // namespace attnscope::ui
