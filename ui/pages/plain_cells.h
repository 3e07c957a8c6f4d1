// SPDX-License-Identifier: GPL-3.0-or-later
// Draws the cells of a table of many short texts: some thousand are seen at once, and drawn anew with every row that is
// scrolled. A text that one font draws from left to right is laid out from the widths of its letters, which are kept;
// all others, and cells that are selected or have the focus, are drawn as any view draws them.
#pragma once

#include <QFont>
#include <QHash>
#include <QRawFont>
#include <QStyledItemDelegate>

namespace attnscope::ui {

class PlainCells : public QStyledItemDelegate {
  Q_OBJECT
 public:
  using QStyledItemDelegate::QStyledItemDelegate;

  void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override;

 private:
  struct Letter {
    quint32 glyph = 0;  ///< 0: the font has none, or it does not stand for itself
    qreal width = 0;
  };
  [[nodiscard]] Letter letter(QChar character) const;
  void use(const QFont& font) const;
  /// Whether it was drawn.
  bool draw(QPainter& painter, const QRectF& room, const QString& text, Qt::Alignment alignment) const;

  mutable QFont font_;
  mutable QRawFont raw_;
  mutable QHash<char16_t, Letter> letters_;
};

}  // namespace attnscope::ui
