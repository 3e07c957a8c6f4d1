// SPDX-License-Identifier: GPL-3.0-or-later
// A sentence in a card, as plain text that can be copied.
#pragma once

#include <QLabel>
#include <QString>

namespace attnscope::ui {

/// `name`: the object's.
[[nodiscard]] inline QLabel* card_words(QWidget* parent, const QString& name) {
  auto* label = new QLabel(parent);
  label->setObjectName(name);
  label->setTextFormat(Qt::PlainText);
  label->setWordWrap(true);
  label->setTextInteractionFlags(Qt::TextSelectableByMouse);
  return label;
}

/// A text that is set anew lays the card out anew.
inline void set_words(QLabel* label, const QString& text) {
  if (label->text() != text) label->setText(text);
}

}  // namespace attnscope::ui
