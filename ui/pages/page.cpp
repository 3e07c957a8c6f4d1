// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/page.h"

#include <utility>

#include "messages/output.h"
#include "ui/said.h"

namespace attnscope::ui {

QString Page::save_plot(const QString& path, const QSize& /*size*/) {
  return said(say::output::page_has_no_plot{.file = path.toStdString()});
}

void Page::keep_up_with(Workspace& workspace) {
  connect(&workspace, &Workspace::points_changed, this, &Page::fall_behind);
}

void Page::fall_behind() {
  outdated_ = true;
  // Tabs hide the pages behind. One that nobody has hidden is about to be seen, or asked without a window.
  if (!isHidden() || !testAttribute(Qt::WA_WState_ExplicitShowHide)) catch_up();
}

void Page::catch_up() {
  if (std::exchange(outdated_, false)) show_anew();
}

void Page::setVisible(bool visible) {
  if (visible) catch_up();
  QWidget::setVisible(visible);
}

QIcon page_icon(const QString& id) {
  return QIcon(QStringLiteral(":/icons/page-%1.svg").arg(id));
}

}  // namespace attnscope::ui
