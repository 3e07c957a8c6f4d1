// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/page.h"

namespace attnscope::ui {

QString Page::save_plot(const QString& path, const QSize& /*size*/) {
  return tr("%1 could not be written: this page has no plot").arg(path);
}

QIcon page_icon(const QString& id) {
  return QIcon(QStringLiteral(":/icons/page-%1.svg").arg(id));
}

}  // namespace attnscope::ui
