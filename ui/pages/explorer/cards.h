// SPDX-License-Identifier: GPL-3.0-or-later
// Building blocks of the explorer's cards: layout, selectable text, and tables as high as their rows.
#pragma once

#include <QFont>
#include <QHash>
#include <QLabel>
#include <QLayout>
#include <QList>
#include <QString>
#include <QToolButton>
#include <utility>
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
  [[nodiscard]] int heightForWidth(int width) const override;
  [[nodiscard]] QSize sizeHint() const override { return minimumSize(); }
  [[nodiscard]] QSize minimumSize() const override;
  void setGeometry(const QRect& rect) override;

 private:
  struct Column {
    std::vector<QLayoutItem*> items;
    int height = 0;
  };
  [[nodiscard]] std::vector<Column> columns(int width) const;
  [[nodiscard]] int width_of_column(int width) const;
  [[nodiscard]] int height_of(const QLayoutItem& item, int width) const;

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

/// Text in a card. Caches heights by width, since each change of a card queries the heights of all its texts.
class CardLabel : public QLabel {
  Q_OBJECT
 public:
  explicit CardLabel(const QString& text, QWidget* parent = nullptr);
  [[nodiscard]] int heightForWidth(int width) const override;

 private:
  struct HeightCache {
    QString text;
    QFont font;
    std::vector<std::pair<int, int>> heights;  ///< (width, height)
  };
  mutable HeightCache asked_;
};

[[nodiscard]] QLabel* card_label(QWidget* parent, const QString& name);

/// Sets the text only if it changed, to avoid a new layout.
void set_label_text(QLabel* label, const QString& text);
/// Like set_label_text(); hides the label if the text is empty.
void show_text(QLabel* label, const QString& text);

/// Table as high as its rows, columns as wide as their texts; the first column takes extra width.
class FittedTable : public PlainTable {
  Q_OBJECT
 public:
  FittedTable(QAbstractItemModel* model, const QString& name, QWidget* parent = nullptr);
  /// Adjusts the sizes after the contents changed.
  void fit();
  /// Maximum height in rows; longer tables scroll.
  void set_max_rows(int rows);

 protected:
  void resizeEvent(QResizeEvent* event) override;
  void changeEvent(QEvent* event) override;

 private:
  [[nodiscard]] int width_of(const QFontMetrics& metrics, const QString& text);

  int max_rows_ = 1 << 20;
  QHash<QString, int> widths_;  ///< Text widths in the current font.
};

}  // namespace attnscope::ui
