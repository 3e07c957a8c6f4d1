// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/set_chip.h"

#include <QApplication>
#include <utility>

#include "ui/text/format.h"
#include "ui/widgets/staying_menu.h"

namespace attnscope::ui {

SetChip::SetChip(const QString& label, const QString& help, QWidget* parent)
    : FacetChip(label, help, new StayingMenu, parent) {
  hide_label();
}

void SetChip::set_items(std::vector<Item> items) {
  if (items == items_) return;
  items_ = std::move(items);
  QStringList shown;
  QStringList all;
  for (const Item& item : items_) {
    if (item.offered) all << item.text;
    if (item.offered && item.on) shown << item.text;
  }
  set_texts({all.join(QStringLiteral(", "))});
  show_words(shown.isEmpty() ? QStringLiteral("–") : shown.join(QStringLiteral(", ")));
  setEnabled(!items_.empty());
  if (menu()->isVisible()) fill_menu();
}

void SetChip::fill_menu() {
  const bool anew = menu()->actions().size() != static_cast<qsizetype>(items_.size());
  if (anew) menu()->clear();
  for (std::size_t i = 0; i < items_.size(); ++i) {
    QAction* entry = anew ? menu()->addAction(QString()) : menu()->actions()[static_cast<qsizetype>(i)];
    const Item& item = items_[i];
    entry->setText(QString(item.text).replace(QLatin1Char('&'), QStringLiteral("&&")));
    entry->setCheckable(true);
    entry->setChecked(item.on);
    entry->setToolTip(plain_tip(item.help));
    if (!anew) continue;
    connect(entry, &QAction::triggered, this, [this, i](bool on) {
      const QString id = items_[i].id;
      if (QApplication::keyboardModifiers().testFlag(Qt::ControlModifier)) {
        emit alone_wanted(id);
      } else {
        emit switched(id, on);
      }
    });
  }
}

}  // namespace attnscope::ui
