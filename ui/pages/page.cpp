// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/page.h"

#include <QScopedValueRollback>
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
  if (in_sight()) catch_up();
}

void Page::catch_up() {
  if (std::exchange(outdated_, false)) {
    show_anew();
    if (!mark_behind_) renew_mark();
  }
  if (std::exchange(mark_behind_, false)) show_marked(true);
}

void Page::mark(const ShownPoint& point) {
  marked_ = point;
  mark_shown_ = false;
  mark_behind_ = true;
  if (in_sight()) catch_up();
}

void Page::show_marked(bool moves) {
  const QScopedValueRollback quiet(marking_, true);
  mark_shown_ = show_mark(*marked_, moves);
}

void Page::renew_mark() {
  if (marked_ && !marking_) show_marked(false);
}

void Page::tell_selected(const ShownPoint& point) {
  if (marking_) return;
  marked_ = point;
  mark_behind_ = false;
  mark_shown_ = true;
  emit point_selected(point);
}

void Page::setVisible(bool visible) {
  if (visible) catch_up();
  QWidget::setVisible(visible);
}

QIcon page_icon(const QString& id) {
  return QIcon(QStringLiteral(":/icons/page-%1.svg").arg(id));
}

}  // namespace attnscope::ui
