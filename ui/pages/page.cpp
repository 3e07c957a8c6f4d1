// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/page.h"

#include "messages/output.h"
#include "ui/said.h"

namespace attnscope::ui {

QString Page::save_plot(const QString& path, const QSize& /*size*/) {
  return said(say::output::page_has_no_plot{.file = path.toStdString()});
}

QIcon page_icon(const QString& id) {
  return QIcon(QStringLiteral(":/icons/page-%1.svg").arg(id));
}

}  // namespace attnscope::ui
