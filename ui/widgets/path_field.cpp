// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/widgets/path_field.h"

#include <QPainter>
#include <QStyleOptionFrame>
#include <utility>

#include "ui/text/format.h"

namespace attnscope::ui {

PathField::PathField(const QString& path, QString help, QWidget* parent)
    : QLineEdit(path, parent), help_(std::move(help)) {
  const auto tell = [this] { setToolTip(plain_tip(text() + QLatin1Char('\n') + help_)); };
  tell();
  connect(this, &QLineEdit::textChanged, this, tell);
}

QRect PathField::text_rect() const {
  constexpr int beside = 2;  // as QLineEdit leaves it
  QStyleOptionFrame option;
  initStyleOption(&option);
  return style()->subElementRect(QStyle::SE_LineEditContents, &option, this).adjusted(beside, 0, -beside, 0);
}

QString PathField::shown() const {
  return fontMetrics().elidedText(text(), Qt::ElideMiddle, text_rect().width());
}

void PathField::paintEvent(QPaintEvent* event) {
  const QString part = shown();
  if (hasFocus() || part == text()) return QLineEdit::paintEvent(event);
  QPainter painter(this);
  QStyleOptionFrame option;
  initStyleOption(&option);
  style()->drawPrimitive(QStyle::PE_PanelLineEdit, &option, &painter, this);
  style()->drawItemText(&painter, text_rect(), static_cast<int>(Qt::AlignLeft | Qt::AlignVCenter), palette(),
                        isEnabled(), part, QPalette::Text);
}

}  // namespace attnscope::ui
