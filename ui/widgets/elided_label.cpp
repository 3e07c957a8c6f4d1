// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/widgets/elided_label.h"

#include <QPainter>
#include <QStyle>

namespace attnscope::ui {

ElidedLabel::ElidedLabel(QWidget* parent, int widest) : QLabel(parent), widest_(widest) {
  setTextFormat(Qt::PlainText);
}

QSize ElidedLabel::sizeHint() const {
  return QLabel::sizeHint().boundedTo({widest_, QWIDGETSIZE_MAX});
}

QSize ElidedLabel::minimumSizeHint() const {
  return {0, QLabel::minimumSizeHint().height()};
}

void ElidedLabel::paintEvent(QPaintEvent* /*event*/) {
  QPainter painter(this);
  const QRect area = contentsRect();
  QStringList lines = text().split(QLatin1Char('\n'));
  for (QString& line : lines) line = fontMetrics().elidedText(line, Qt::ElideRight, area.width());
  style()->drawItemText(&painter, area, static_cast<int>(alignment()), palette(), isEnabled(),
                        lines.join(QLatin1Char('\n')), foregroundRole());
}

}  // namespace attnscope::ui
