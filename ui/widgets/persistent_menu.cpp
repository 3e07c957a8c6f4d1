// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/widgets/persistent_menu.h"

#include <QKeyEvent>
#include <QMouseEvent>

namespace attnscope::ui {

PersistentMenu::PersistentMenu(QWidget* parent) : QMenu(parent) {
  setToolTipsVisible(true);
}

bool PersistentMenu::toggle_current() {
  QAction* marked = activeAction();
  if (marked == nullptr || !marked->isCheckable() || marked->menu() != nullptr) return false;
  if (marked->isEnabled()) marked->trigger();
  return true;
}

void PersistentMenu::mouseReleaseEvent(QMouseEvent* event) {
  if (actionAt(event->position().toPoint()) == nullptr || !toggle_current()) QMenu::mouseReleaseEvent(event);
}

void PersistentMenu::keyPressEvent(QKeyEvent* event) {
  const bool throws = event->key() == Qt::Key_Space || event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter;
  if (!throws || !toggle_current()) QMenu::keyPressEvent(event);
}

}  // namespace attnscope::ui
