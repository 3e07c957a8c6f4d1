// SPDX-License-Identifier: GPL-3.0-or-later
// A sentence in a card, as plain text that can be copied.
#pragma once

#include <QFont>
#include <QLabel>
#include <QString>
#include <utility>
#include <vector>

namespace attnscope::ui {

/// Knows how high it was at the widths that it was asked of last: every change of a card has the layouts ask all its
/// sentences, most of which are what they were.
class CardWords : public QLabel {
  Q_OBJECT
 public:
  explicit CardWords(const QString& text, QWidget* parent = nullptr);
  [[nodiscard]] int heightForWidth(int width) const override;

 private:
  struct Asked {
    QString text;
    QFont font;
    std::vector<std::pair<int, int>> heights;  ///< of widths
  };
  mutable Asked asked_;
};

/// `name`: the object's.
[[nodiscard]] QLabel* card_words(QWidget* parent, const QString& name);

/// A text that is set anew lays the card out anew.
void set_words(QLabel* label, const QString& text);

}  // namespace attnscope::ui
