// SPDX-License-Identifier: GPL-3.0-or-later
// Cards side by side in as many columns as there is room for; what room is left below goes to those that can use it.
#pragma once

#include <QLayout>
#include <QList>
#include <vector>

namespace attnscope::ui {

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

}  // namespace attnscope::ui
