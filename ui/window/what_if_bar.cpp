// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/window/what_if_bar.h"

#include <QHBoxLayout>
#include <QPushButton>

#include "messages/window.h"
#include "ui/explorer/choices.h"
#include "ui/text/qtext.h"

namespace attnscope::ui {

WhatIfBar::WhatIfBar(const Workspace& workspace, QWidget* parent)
    : ToneBar(QStringLiteral("what-if"), Tone::cool, parent), workspace_(workspace), words_(new QLabel(this)) {
  words_->setWordWrap(true);
  words_->setTextFormat(Qt::PlainText);
  words_->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);  // no word widens the window
  auto* reset = new QPushButton(qtext(say::window::what_if_reset{}), this);
  auto* row = new QHBoxLayout(this);
  row->setContentsMargins(12, 4, 6, 4);
  row->addWidget(words_, 1);
  row->addWidget(reset);
  connect(reset, &QPushButton::clicked, this, &WhatIfBar::reset_wanted);
  connect(&workspace_, &Workspace::what_if_changed, this, &WhatIfBar::show_state);
  show_state();
}

void WhatIfBar::show_state() {
  const QString changes = what_if_words(workspace_.what_if());
  words_->setText(changes.isEmpty() ? QString() : qtext(say::window::what_if{.changes = changes.toStdString()}));
  setVisible(!changes.isEmpty());
}

}  // namespace attnscope::ui
