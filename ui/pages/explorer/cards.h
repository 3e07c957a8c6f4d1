// SPDX-License-Identifier: GPL-3.0-or-later
// Building blocks of the explorer's cards: layout, selectable text, and tables as high as their rows.
#pragma once

#include <QLabel>
#include <QLayout>
#include <QPushButton>
#include <QToolButton>
#include <vector>

#include "ui/widgets/plain_table.h"

namespace attnscope::ui {

/// Places cards in as many columns as fit; extra height goes to expanding cards.
class CardLayout : public QLayout {
 public:
  /// `column_width`: minimum width of a column if there are several.
  CardLayout(QWidget* parent, int column_width, int max_columns, int spacing);
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
  [[nodiscard]] int heightForWidth(int width) const override { return arrange({0, 0, width, 0}, false); }
  [[nodiscard]] QSize sizeHint() const override { return minimumSize(); }
  [[nodiscard]] QSize minimumSize() const override;
  void setGeometry(const QRect& rect) override;

 private:
  /// Places the items in columns of this width; returns the height of the highest column.
  int arrange(const QRect& rect, bool apply) const;

  QList<QLayoutItem*> items_;
  int column_width_;
  int max_columns_;
};

/// Button "i" that shows a text: as a tooltip, and on a click. Hidden without a text.
class InfoButton : public QToolButton {
  Q_OBJECT
 public:
  explicit InfoButton(QWidget* parent = nullptr);
  void set_text(const QString& text);
  [[nodiscard]] const QString& info() const { return info_; }

 private:
  QString info_;
};

/// A card's title line; all members have parents after card().
struct CardTitle {
  QLabel* text = nullptr;
  InfoButton* info = nullptr;
};
[[nodiscard]] CardTitle card_title(const QString& text, const QString& info = {});
/// Returns a card with a title and its parts, one below another.
[[nodiscard]] QWidget* card(const CardTitle& title, const std::vector<QWidget*>& parts);

/// Adds a named button with a tooltip.
QPushButton* add_button(QLayout& layout, const QString& name, const QString& text, const QString& help);

/// Table as high as its rows, columns as wide as their texts; the first column takes extra width.
class FittedTable : public PlainTable {
  Q_OBJECT
 public:
  FittedTable(QAbstractItemModel* model, const QString& name, QWidget* parent = nullptr);
  /// Adjusts the sizes after the contents changed.
  void fit();

 protected:
  void resizeEvent(QResizeEvent* event) override;
  void changeEvent(QEvent* event) override;
};

}  // namespace attnscope::ui
