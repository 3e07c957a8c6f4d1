// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/widgets/findable_menu.h"

#include <QKeyEvent>
#include <QLineEdit>
#include <QMouseEvent>
#include <QTimer>
#include <QWidgetAction>

#include "messages/page.h"
#include "ui/text/qtext.h"

namespace attnscope::ui {

namespace {

void leave_matching(QMenu& menu, const QList<QAction*>& own, const QString& typed) {
  const auto matches = [&](const QAction* action) {
    return QString(action->text()).remove(QLatin1Char('&')).contains(typed, Qt::CaseInsensitive);
  };
  for (QAction* action : own) {
    const QMenu* submenu = action->menu();
    if (submenu == nullptr) {
      action->setVisible(matches(action));
      continue;
    }
    action->setVisible(typed.isEmpty());
    for (QAction* entry : submenu->actions()) {
      menu.removeAction(entry);
      if (!typed.isEmpty() && matches(entry)) menu.addAction(entry);
    }
  }
}

}  // namespace

void make_findable(QMenu& menu) {
  const QList<QAction*> own = menu.actions();
  auto* field = new QLineEdit(&menu);
  field->setPlaceholderText(qtext(say::page::find{}));
  field->setAccessibleName(qtext(say::page::find{}));
  field->setClearButtonEnabled(true);
  auto* holder = new QWidgetAction(&menu);
  holder->setDefaultWidget(field);
  menu.insertAction(own.value(0), holder);
  QObject::connect(field, &QLineEdit::textChanged, &menu,
                   [&menu, own](const QString& typed) { leave_matching(menu, own, typed.trimmed()); });
  QObject::connect(field, &QLineEdit::returnPressed, &menu, [&menu, holder] {
    for (QAction* action : menu.actions()) {
      if (action == holder || !action->isVisible() || !action->isEnabled() || action->menu() != nullptr) continue;
      if (!action->isCheckable() || action->actionGroup() != nullptr) menu.close();  // switches are thrown one by one
      return action->trigger();
    }
  });
  // The menu has to be on the screen before anything in it takes the keys.
  QTimer::singleShot(0, field, [field] { field->setFocus(Qt::PopupFocusReason); });
}

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
