// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/explorer/card_words.h"

#include <algorithm>

namespace attnscope::ui {

CardWords::CardWords(const QString& text, QWidget* parent) : QLabel(text, parent) {
  setWordWrap(true);
}

int CardWords::heightForWidth(int width) const {
  constexpr std::size_t most_widths = 6;
  if (asked_.text != text() || asked_.font != font()) asked_ = {text(), font(), {}};
  const auto known = std::ranges::find(asked_.heights, width, &std::pair<int, int>::first);
  if (known != asked_.heights.end()) return known->second;
  const int height = QLabel::heightForWidth(width);
  if (asked_.heights.size() == most_widths) asked_.heights.erase(asked_.heights.begin());
  asked_.heights.emplace_back(width, height);
  return height;
}

QLabel* card_words(QWidget* parent, const QString& name) {
  auto* label = new CardWords({}, parent);
  label->setObjectName(name);
  label->setTextFormat(Qt::PlainText);
  label->setTextInteractionFlags(Qt::TextSelectableByMouse);
  return label;
}

void set_words(QLabel* label, const QString& text) {
  if (label->text() != text) label->setText(text);
}

}  // namespace attnscope::ui
