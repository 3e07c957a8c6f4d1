// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/panels/collect_log.h"

#include <QEvent>

#include "messages/collect_panel.h"
#include "ui/text/format.h"
#include "ui/text/qtext.h"
#include "ui/theme/theme.h"

namespace attnscope::ui {
namespace {

constexpr int max_log_lines = 2000;
constexpr int kind_role = Qt::UserRole + 1;

}  // namespace

CollectLog::CollectLog(QWidget* parent) : QListWidget(parent) {
  setUniformItemSizes(true);
  setWordWrap(false);
  setTextElideMode(Qt::ElideMiddle);  // The time is at the end.
  setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  setSelectionMode(QAbstractItemView::ExtendedSelection);
  setMinimumHeight(60);
  setAccessibleName(qtext(msg::collect_panel::log_name{}));
}

void CollectLog::add(const QString& text, std::optional<Disposition> kind, const QString& tip) {
  auto* item = new QListWidgetItem(text);
  if (kind) {
    item->setData(kind_role, static_cast<int>(*kind));
    color(*item);
  }
  item->setToolTip(plain_tooltip(tip.isEmpty() ? text : tip));
  const int lowest = indexAt(viewport()->rect().bottomLeft()).row();
  const bool at_end = lowest < 0 || lowest >= count() - 2;
  addItem(item);
  if (count() > max_log_lines) delete takeItem(0);
  if (at_end) scrollToBottom();
}

void CollectLog::color(QListWidgetItem& item) const {
  const QVariant kind = item.data(kind_role);
  if (!kind.isValid()) return;
  item.setForeground(disposition_color(static_cast<Disposition>(kind.toInt()), plot_colors(palette()).dark));
}

void CollectLog::changeEvent(QEvent* event) {
  QListWidget::changeEvent(event);
  if (event->type() != QEvent::PaletteChange) return;
  for (int row = 0; row < count(); ++row) color(*item(row));
}

}  // namespace attnscope::ui
