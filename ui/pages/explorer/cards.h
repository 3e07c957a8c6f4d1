// SPDX-License-Identifier: GPL-3.0-or-later
// Parts of the explorer's cards: layout, sentences that can be copied, and tables as high as their rows.
#pragma once

#include <QFont>
#include <QHash>
#include <QLabel>
#include <QLayout>
#include <QList>
#include <QString>
#include <utility>
#include <vector>

#include "ui/widgets/plain_table.h"

namespace attnscope::ui {

/// Cards side by side in as many columns as there is room for; what room is left below goes to those that can use it.
class CardLayout : public QLayout {
 public:
  /// `column_width`: the least of a column, where there are several.
  CardLayout(QWidget* parent, int column_width, int most_columns, int spacing);
  ~CardLayout() override;

  void set_column_width(int width);

  void addItem(QLayoutItem* item) override { items_.append(item); }
  [[nodiscard]] int count() const override { return static_cast<int>(items_.size()); }
  [[nodiscard]] QLayoutItem* itemAt(int index) const override { return items_.value(index); }
  QLayoutItem* takeAt(int index) override {
    return index >= 0 && index < items_.size() ? items_.takeAt(index) : nullptr;
  }
  [[nodiscard]] Qt::Orientations expandingDirections() const override { return Qt::Horizontal; }
  [[nodiscard]] bool hasHeightForWidth() const override { return true; }
  [[nodiscard]] int heightForWidth(int width) const override;
  [[nodiscard]] QSize sizeHint() const override { return minimumSize(); }
  [[nodiscard]] QSize minimumSize() const override;
  void setGeometry(const QRect& rect) override;

 private:
  struct Column {
    std::vector<QLayoutItem*> items;
    int height = 0;  ///< with the room between them
  };
  [[nodiscard]] std::vector<Column> columns(int width) const;
  [[nodiscard]] int width_of_column(int width) const;
  [[nodiscard]] int height_of(const QLayoutItem& item, int width) const;

  QList<QLayoutItem*> items_;
  int column_width_;
  int most_columns_;
};

/// The parts below one another under that title.
[[nodiscard]] QWidget* card(const QString& title, const std::vector<QWidget*>& parts);

/// A sentence in a card. Caches its heights by width: each change of a card asks for the heights of all its sentences.
class CardWords : public QLabel {
  Q_OBJECT
 public:
  explicit CardWords(const QString& text, QWidget* parent = nullptr);
  [[nodiscard]] int heightForWidth(int width) const override;

 private:
  struct Asked {
    QString text;
    QFont font;
    std::vector<std::pair<int, int>> heights;  ///< by width
  };
  mutable Asked asked_;
};

/// `name`: the object's.
[[nodiscard]] QLabel* card_words(QWidget* parent, const QString& name);

/// Sets the text if it changed: setting it lays the card out again.
void set_words(QLabel* label, const QString& text);
/// Also hides the label if the text is empty.
void show_words(QLabel* label, const QString& text);

/// A table as high as its rows, whose columns are as wide as their texts: the first takes the room that is left.
class FittedTable : public PlainTable {
  Q_OBJECT
 public:
  /// `name` is what a screen reader says.
  FittedTable(QAbstractItemModel* model, const QString& name, QWidget* parent = nullptr);
  /// Again, after other texts have come.
  void fit();
  /// A longer table scrolls.
  void set_most_rows(int rows);

 protected:
  void resizeEvent(QResizeEvent* event) override;
  void changeEvent(QEvent* event) override;

 private:
  [[nodiscard]] int width_of(const QFontMetrics& metrics, const QString& text);

  int most_rows_ = 1 << 20;
  QHash<QString, int> widths_;  ///< by text, in the current font
};

}  // namespace attnscope::ui
