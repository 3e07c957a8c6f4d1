// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/widgets/plain_cells.h"

#include <QApplication>
#include <QGlyphRun>
#include <QPainter>
#include <QStyle>
#include <QTextLayout>
#include <QtMath>
#include <algorithm>
#include <array>
#include <limits>
#include <utility>

namespace attnscope::ui {
namespace {

constexpr QChar cut_off = QChar(0x2026);  // "…"

/// Letters that may stand beside each other as they are, which laying out two of them then shows: of no other
/// direction, and no marks that join.
bool stands_alone(QChar character) {
  constexpr std::array ranges{std::pair(u' ', u'\u00AC'),      std::pair(u'\u00AE', u'\u017F'),  // Latin
                              std::pair(u'\u0391', u'\u03C9'),                                   // Greek
                              std::pair(u'\u2000', u'\u200A'), std::pair(u'\u2010', u'\u2027'),  // spaces, dashes
                              std::pair(u'\u202F', u'\u205E'),                                   // narrow space
                              std::pair(u'\u2190', u'\u22FF')};                                  // arrows, operators
  const char16_t code = character.unicode();
  return std::ranges::any_of(ranges, [code](const auto& range) { return code >= range.first && code <= range.second; });
}

int margin_of(const QStyleOptionViewItem& option) {
  const QWidget* view = option.widget;
  const QStyle* style = view == nullptr ? QApplication::style() : view->style();
  return style->pixelMetric(QStyle::PM_FocusFrameHMargin, nullptr, view) + 1;
}

}  // namespace

/// Of a cell that is nothing but a text.
struct PlainCells::Cell {
  QString text;
  QFont font;
  QColor color;
  Qt::Alignment alignment;
};

std::optional<PlainCells::Cell> PlainCells::plain_cell(const QStyleOptionViewItem& option, const QModelIndex& index) {
  std::array roles{QModelRoleData(Qt::DisplayRole),    QModelRoleData(Qt::FontRole),
                   QModelRoleData(Qt::ForegroundRole), QModelRoleData(Qt::TextAlignmentRole),
                   QModelRoleData(Qt::DecorationRole), QModelRoleData(Qt::BackgroundRole),
                   QModelRoleData(Qt::CheckStateRole)};
  index.multiData(roles);
  const auto& [text, font, color, alignment, decoration, background, tick] = roles;
  const bool more = decoration.data().isValid() || background.data().isValid() || tick.data().isValid();
  // Numbers are written as the language has them, colours may be brushes: by those who know how.
  const bool foreign = (text.data().isValid() && text.data().typeId() != QMetaType::QString) ||
                       (color.data().isValid() && color.data().typeId() != QMetaType::QColor);
  if (more || foreign || option.direction == Qt::RightToLeft) return std::nullopt;
  Cell cell{.text = text.data().toString(),
            .font = option.font,
            .color = option.palette.color(QPalette::Text),
            .alignment = option.displayAlignment};
  if (font.data().isValid()) cell.font = qvariant_cast<QFont>(font.data()).resolve(option.font);
  if (color.data().isValid()) cell.color = qvariant_cast<QColor>(color.data());
  if (alignment.data().isValid()) {
    // A model may hold flags, or the number that they are.
    const bool flags = alignment.data().typeId() == qMetaTypeId<Qt::Alignment>();
    cell.alignment = flags ? alignment.data().value<Qt::Alignment>() : Qt::Alignment(alignment.data().toInt());
  }
  return cell;
}

PlainCells::Letters& PlainCells::letters_of(const QFont& font) const {
  constexpr std::size_t most_fonts = 4;
  const auto known = std::ranges::find(known_, font, &Letters::font);
  if (known != known_.end()) return *known;
  if (known_.size() == most_fonts) known_.erase(known_.begin());
  Letters& made = known_.emplace_back();
  made.font = font;
  made.raw = QRawFont::fromFont(font);
  QTextLayout layout(QStringLiteral("x"), font);
  layout.beginLayout();
  const QTextLine line = layout.createLine();
  layout.endLayout();
  made.ascent = qRound(line.ascent());
  made.height = static_cast<int>(line.height());
  return made;
}

quint32 PlainCells::glyph_of(Letters& letters, QChar character) {
  if (const auto known = letters.glyphs.constFind(character.unicode()); known != letters.glyphs.constEnd()) {
    return *known;
  }
  quint32 made = 0;
  if (stands_alone(character)) {
    const QList<quint32> glyphs = letters.raw.glyphIndexesForString(QString(character));
    if (glyphs.size() == 1) made = glyphs.front();
  }
  letters.glyphs.insert(character.unicode(), made);
  return made;
}

std::optional<qreal> PlainCells::width_of(Letters& letters, QChar character, QChar next) {
  const quint32 key = (quint32{character.unicode()} << 16U) | next.unicode();
  const auto known = letters.widths.constFind(key);
  if (known != letters.widths.constEnd()) return *known < 0 ? std::nullopt : std::optional(*known);
  qreal width = -1;
  // A space at the end would not be laid out.
  const QString end = next.isNull() ? QString() : QString(next) + QLatin1Char('.');
  QTextLayout layout(character + end, letters.font);
  layout.beginLayout();
  const QTextLine line = layout.createLine();
  layout.endLayout();
  const QList<QGlyphRun> runs = layout.glyphRuns();
  const QList<quint32> glyphs = runs.size() == 1 ? runs.front().glyphIndexes() : QList<quint32>();
  const bool alone = glyphs.size() == 1 + end.size() && glyphs[0] == glyph_of(letters, character);
  if (alone && next.isNull()) {
    width = line.horizontalAdvance();
    letters.overhangs.insert(character.unicode(), line.naturalTextWidth() - width);
  } else if (alone && glyphs[1] == glyph_of(letters, next)) {
    width = runs.front().positions()[1].x() - runs.front().positions()[0].x();
  }
  letters.widths.insert(key, width);
  return width < 0 ? std::nullopt : std::optional(width);
}

std::optional<PlainCells::Run> PlainCells::run_of(Letters& letters, const QString& text, qreal room) {
  Run run;
  run.glyphs.reserve(text.size() + 1);
  run.places.reserve(text.size() + 1);
  for (qsizetype i = 0; i < text.size(); ++i) {
    const quint32 glyph = glyph_of(letters, text[i]);
    if (glyph == 0) return std::nullopt;
    const auto width = width_of(letters, text[i], i + 1 < text.size() ? text[i + 1] : QChar());
    if (!width) return std::nullopt;
    run.glyphs << glyph;
    run.places << QPointF(run.width, 0);
    run.width += *width;
  }
  if (!text.isEmpty()) run.overhang = letters.overhangs.value(text.back().unicode());
  if (run.width + run.overhang <= room) return run;
  const quint32 end = glyph_of(letters, cut_off);
  const auto end_width = width_of(letters, cut_off, {});
  if (end == 0 || !end_width) return std::nullopt;
  while (!run.glyphs.isEmpty() && run.places.back().x() + *end_width > room) {
    run.glyphs.removeLast();
    run.places.removeLast();
  }
  if (run.glyphs.isEmpty()) run.places << QPointF(0, 0);  // no room for any: the sign that there is something
  run.glyphs.resize(run.places.size());
  run.glyphs.back() = end;
  run.width = run.places.back().x() + *end_width;
  run.overhang = 0;
  return run;
}

void PlainCells::paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const {
  constexpr QStyle::State marked = QStyle::State_Selected | QStyle::State_HasFocus;
  const auto cell = (option.state & marked) == 0 ? plain_cell(option, index) : std::nullopt;
  if (!cell) return QStyledItemDelegate::paint(painter, option, index);
  if (cell->text.isEmpty()) return;  // the row's background is the view's
  Letters& letters = letters_of(cell->font);
  const int margin = margin_of(option);
  const QRect room = option.rect.adjusted(margin, 0, -margin, 0);
  auto run = run_of(letters, cell->text, room.width());
  if (!run) return QStyledItemDelegate::paint(painter, option, index);
  QGlyphRun glyphs;
  glyphs.setRawFont(letters.raw);
  glyphs.setGlyphIndexes(run->glyphs);
  glyphs.setPositions(run->places);
  const qreal spare = std::max(0.0, room.width() - run->width);
  const qreal left = (cell->alignment & Qt::AlignRight) != 0     ? spare
                     : (cell->alignment & Qt::AlignHCenter) != 0 ? spare / 2
                                                                 : 0;
  // Where a line of text stands elsewhere.
  const int top = room.top() + room.height() / 2 - letters.height / 2;
  painter->setPen(cell->color);
  painter->drawGlyphRun(QPointF(room.left() + left, top + letters.ascent), glyphs);
}

QSize PlainCells::sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const {
  const auto cell = plain_cell(option, index);
  if (!cell || cell->text.isEmpty()) return QStyledItemDelegate::sizeHint(option, index);
  Letters& letters = letters_of(cell->font);
  const auto run = run_of(letters, cell->text, std::numeric_limits<qreal>::infinity());
  if (!run) return QStyledItemDelegate::sizeHint(option, index);
  return {qCeil(run->width + run->overhang) + 2 * margin_of(option), letters.height};
}

}  // namespace attnscope::ui
