// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/window/text_size.h"

#include <QAction>
#include <QApplication>
#include <algorithm>

#include "messages/window.h"
#include "ui/text/qtext.h"
#include "ui/theme/theme.h"

namespace attnscope::ui {

void TextSize::add_actions(QMenu& menu) {
  constexpr double step = 1.15;
  QMenu* text = menu.addMenu(qtext(msg::window::text_size{}));
  const auto add = [&](const QString& words, const QList<QKeySequence>& keys, double factor) {
    QAction* action = text->addAction(words, this, [this, factor] { set_scale(scale_ * factor); });
    action->setShortcuts(keys);
  };
  // Also accept the plus key without Shift.
  add(qtext(msg::window::text_larger{}), {QKeySequence::ZoomIn, QKeySequence(QStringLiteral("Ctrl+="))}, step);
  add(qtext(msg::window::text_smaller{}), {QKeySequence::ZoomOut}, 1 / step);
  add(qtext(msg::window::text_default{}), {QKeySequence(QStringLiteral("Ctrl+0"))}, 0);
}

void TextSize::set_scale(double scale) {
  scale_ = scale > 0 ? std::clamp(scale, min_scale, max_scale) : 1;  // settings may contain any value
  QFont font = QApplication::font();
  font.setPointSizeF(system_text_size() * scale_);
  if (font != QApplication::font()) QApplication::setFont(font);
}

}  // namespace attnscope::ui
