// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/toggles.h"

#include "ui/text/format.h"

namespace attnscope::ui {

QAction* Toggles::add(const QString& name, const QString& text, const QString& help, bool on) {
  auto* action = new QAction(text, this);
  action->setObjectName(name);
  action->setCheckable(true);
  action->setChecked(on);
  action->setToolTip(plain_tip(help));
  all_ << action;
  return action;
}

QJsonObject Toggles::state() const {
  QJsonObject state;
  for (const QAction* each : all_) state[each->objectName()] = each->isChecked();
  return state;
}

void Toggles::restore(const QJsonObject& state) {
  for (QAction* each : all_) each->setChecked(state[each->objectName()].toBool(each->isChecked()));
}

}  // namespace attnscope::ui
