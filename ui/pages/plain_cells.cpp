// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/plain_cells.h"

#include <QApplication>
#include <QGlyphRun>
#include <QPainter>
#include <QStyle>
#include <algorithm>

namespace attnscope::ui {
namespace {

constexpr QChar cut_off = QChar(0x2026);  // "…"

/// Letters that stand beside each other as they are: no marks, no other direction, no joined forms.
bool stands_alone(QChar character) {
  constexpr char16_t last_latin = 0x17F;
  constexpr char16_t first_dash = 0x2010;
  constexpr char16_t last_ellipsis = 0x2026;
  const char16_t code = character.unicode();
  return (code >= u' ' && code <= last_latin && code != 0xAD) || (code >= first_dash && code <= last_ellipsis);
}

}  // namespace

void PlainCells::use(const QFont& font) const {
  if (raw_.isValid() && font == font_) return;
  font_ = font;
  raw_ = QRawFont::fromFont(font);
  letters_.clear();
}

PlainCells::Letter PlainCells::letter(QChar character) const {
  if (const auto known = letters_.constFind(character.unicode()); known != letters_.constEnd()) return *known;
  Letter made;
  if (stands_alone(character)) {
    const QList<quint32> glyphs = raw_.glyphIndexesForString(QString(character));
    if (glyphs.size() == 1 && glyphs.front() != 0) {
      made = {glyphs.front(), raw_.advancesForGlyphIndexes(glyphs).front().x()};
    }
  }
  letters_.insert(character.unicode(), made);
  return made;
}

bool PlainCells::draw(QPainter& painter, const QRectF& room, const QString& text, Qt::Alignment alignment) const {
  QList<quint32> glyphs;
  QList<QPointF> places;
  glyphs.reserve(text.size() + 1);
  places.reserve(text.size() + 1);
  qreal width = 0;
  for (const QChar character : text) {
    const Letter next = letter(character);
    if (next.glyph == 0) return false;
    glyphs << next.glyph;
    places << QPointF(width, 0);
    width += next.width;
  }
  if (width > room.width()) {
    const Letter end = letter(cut_off);
    if (end.glyph == 0) return false;
    while (!glyphs.isEmpty() && places.back().x() + end.width > room.width()) {
      glyphs.removeLast();
      places.removeLast();
    }
    if (glyphs.isEmpty()) places << QPointF(0, 0);  // no room for any: the sign that there is something
    glyphs.resize(places.size());
    glyphs.back() = end.glyph;
    width = places.back().x() + end.width;
  }
  QGlyphRun run;
  run.setRawFont(raw_);
  run.setGlyphIndexes(glyphs);
  run.setPositions(places);
  const bool right = (alignment & Qt::AlignRight) != 0;
  const qreal x = right ? std::max(room.left(), room.right() - width) : room.left();
  // On whole pixels, as text stands elsewhere.
  const qreal y = room.top() + (room.height() - raw_.ascent() - raw_.descent()) / 2 + raw_.ascent();
  painter.drawGlyphRun(QPointF(qRound(x), qRound(y)), run);
  return true;
}

void PlainCells::paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const {
  constexpr QStyle::State marked = QStyle::State_Selected | QStyle::State_HasFocus;
  if ((option.state & marked) != 0 || option.direction == Qt::RightToLeft) {
    return QStyledItemDelegate::paint(painter, option, index);
  }
  const QString text = index.data(Qt::DisplayRole).toString();
  if (text.isEmpty()) return;  // the row's background is the view's
  use(option.font);
  const QWidget* view = option.widget;
  const QStyle* style = view == nullptr ? QApplication::style() : view->style();
  const int margin = style->pixelMetric(QStyle::PM_FocusFrameHMargin, nullptr, view) + 1;
  const QRectF room = QRectF(option.rect).adjusted(margin, 0, -margin, 0);
  const QVariant color = index.data(Qt::ForegroundRole);
  const QVariant alignment = index.data(Qt::TextAlignmentRole);
  painter->setPen(color.isValid() ? qvariant_cast<QColor>(color) : option.palette.color(QPalette::Text));
  if (!draw(*painter, room, text, alignment.value<Qt::Alignment>())) {
    QStyledItemDelegate::paint(painter, option, index);
  }
}

}  // namespace attnscope::ui
