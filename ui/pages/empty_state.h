// SPDX-License-Identifier: GPL-3.0-or-later
// Words in place of an empty page.
#pragma once

#include <QLabel>

namespace attnscope::ui {

class EmptyState : public QLabel {
 public:
  explicit EmptyState(QWidget* parent = nullptr) : QLabel(parent) {
    setAlignment(Qt::AlignCenter);
    setWordWrap(true);
    setTextFormat(Qt::RichText);
    setMargin(48);
    setTextInteractionFlags(Qt::TextBrowserInteraction);
  }
  void set_message(const QString& title, const QString& text) {
    setText(QStringLiteral("<h3>%1</h3><p>%2</p>").arg(title, text));
  }
};

}  // namespace attnscope::ui
