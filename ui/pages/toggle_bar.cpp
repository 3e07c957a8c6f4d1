// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/toggle_bar.h"

#include <QCheckBox>
#include <QMenu>
#include <QToolButton>
#include <algorithm>

#include "messages/curve_page.h"
#include "ui/text/qtext.h"
#include "ui/widgets/flow_layout.h"

namespace attnscope::ui {

ToggleBar::ToggleBar(QWidget* parent) : QWidget(parent), flow_(new FlowLayout(this, 9)) {
  menu_button_ = new QToolButton(this);
  menu_button_->setText(qtext(say::curve_page::show{}));
  menu_button_->setToolTip(qtext(say::curve_page::show_help{}));
  menu_button_->setPopupMode(QToolButton::InstantPopup);
  menu_button_->setToolButtonStyle(Qt::ToolButtonTextOnly);
  auto* menu = new QMenu(menu_button_);
  menu->setToolTipsVisible(true);
  menu_button_->setMenu(menu);
  flow_->addWidget(menu_button_);
  refresh();
}

QAction* ToggleBar::add(const QString& name, const QString& text, const QString& help, bool on) {
  auto* action = new QAction(text, this);
  action->setObjectName(name);
  action->setCheckable(true);
  action->setChecked(on);
  action->setToolTip(help);
  menu_button_->menu()->addAction(action);
  auto* box = new QCheckBox(text, this);
  box->setToolTip(help);
  box->setChecked(on);
  flow_->addWidget(box);
  connect(box, &QCheckBox::toggled, action, &QAction::setChecked);
  connect(action, &QAction::toggled, box, &QCheckBox::setChecked);
  connect(action, &QAction::visibleChanged, this, &ToggleBar::refresh);
  toggles_.push_back({action, box});
  refresh();
  return action;
}

void ToggleBar::add_widget(QWidget* widget) {
  widget->setParent(this);
  flow_->insert_widget(widgets_++, widget);
}

void ToggleBar::set_compact(bool compact) {
  if (compact == compact_) return;
  compact_ = compact;
  refresh();
}

void ToggleBar::refresh() {
  bool any = false;
  for (const Toggle& toggle : toggles_) {
    any = any || toggle.action->isVisible();
    toggle.box->setVisible(toggle.action->isVisible() && !compact_);
  }
  menu_button_->setVisible(compact_ && any);
}

QJsonObject ToggleBar::state() const {
  QJsonObject state;
  for (const Toggle& toggle : toggles_) state[toggle.action->objectName()] = toggle.action->isChecked();
  return state;
}

void ToggleBar::restore(const QJsonObject& state) {
  for (const Toggle& toggle : toggles_) {
    toggle.action->setChecked(state[toggle.action->objectName()].toBool(toggle.action->isChecked()));
  }
}

}  // namespace attnscope::ui
