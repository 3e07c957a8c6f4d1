// SPDX-License-Identifier: GPL-3.0-or-later
// Draws and measures the cells of tables of many short texts: some thousand are seen at once, and drawn anew with every
// row that is scrolled. A text that one font draws from left to right is laid out from the widths of its pairs of
// letters, which are kept; all others, cells with icons or boxes to tick, and those that are selected or have the focus
// are drawn as any view draws them.
#pragma once

#include <QFont>
#include <QHash>
#include <QRawFont>
#include <QStyledItemDelegate>
#include <optional>
#include <vector>

namespace attnscope::ui {

class PlainCells : public QStyledItemDelegate {
  Q_OBJECT
 public:
  using QStyledItemDelegate::QStyledItemDelegate;

  void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override;
  [[nodiscard]] QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override;

 private:
  /// What is known of one font.
  struct Letters {
    QFont font;
    QRawFont raw;
    int ascent = 0;  ///< of a line of text
    int height = 0;
    QHash<char16_t, quint32> glyphs;   ///< 0: the font has none, or it does not stand for itself
    QHash<quint32, qreal> widths;      ///< of a letter before another; negative: together they are something else
    QHash<char16_t, qreal> overhangs;  ///< of a last letter beyond its width
  };
  struct Run {
    QList<quint32> glyphs;
    QList<QPointF> places;
    qreal width = 0;
    qreal overhang = 0;
  };
  struct Cell;
  [[nodiscard]] static std::optional<Cell> plain_cell(const QStyleOptionViewItem& option, const QModelIndex& index);
  [[nodiscard]] Letters& letters_of(const QFont& font) const;
  [[nodiscard]] static quint32 glyph_of(Letters& letters, QChar character);
  /// Of `character` where `next` follows it; null: nothing does. Empty: it does not stand for itself there.
  [[nodiscard]] static std::optional<qreal> width_of(Letters& letters, QChar character, QChar next);
  /// Cut off with an ellipsis where there is less room; nothing where letters do not simply stand beside each other.
  [[nodiscard]] static std::optional<Run> run_of(Letters& letters, const QString& text, qreal room);

  mutable std::vector<Letters> known_;  ///< of the fonts that were used last
};

}  // namespace attnscope::ui
