// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/explorer/tile_grid_view.h"

#include <QEvent>
#include <QHelpEvent>
#include <QKeyEvent>
#include <QPainter>
#include <QToolTip>
#include <algorithm>
#include <utility>

#include "messages/explorer_page.h"
#include "ui/text/format.h"
#include "ui/text/qtext.h"
#include "ui/theme/theme.h"

namespace attnscope::ui {
namespace {

using analysis::TileCellSight;
using analysis::TilePicture;
using analysis::TileSight;

constexpr double axis_gap = 4;
constexpr double widest_ratio = 2.5;  ///< of a cell: cells of a very long matrix would be lines
constexpr double room_for_seams = 6;
constexpr double room_for_marks = 9;

QString sight_words(TileSight sight) {
  switch (sight) {
    case TileSight::masked:
      return qtext(say::explorer_page::masked{});
    case TileSight::partial:
      return qtext(say::explorer_page::partial{});
    case TileSight::visible:
      return qtext(say::explorer_page::visible{});
  }
  return {};
}

/// "3", of an aggregated grid "12–15".
QString tile_numbers(int place, std::int64_t group, std::int64_t count) {
  const std::int64_t first = place * group;
  const std::int64_t last = std::min(first + group, count) - 1;
  return first == last ? QString::number(first) : QStringLiteral("%1–%2").arg(first).arg(last);
}

}  // namespace

TileGridView::TileGridView(QWidget* parent) : QWidget(parent) {
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Expanding);
  setFocusPolicy(Qt::StrongFocus);
  setAccessibleName(qtext(say::explorer_page::tile_grid{}));
}

void TileGridView::set_picture(std::shared_ptr<const TilePicture> picture, const QString& words) {
  picture_ = std::move(picture);
  words_ = words;
  walked_to_.reset();
  draw_image();
  setAccessibleDescription(picture_ ? caption() : words_);
  update();
}

QColor TileGridView::cell_color(int row, int column) const {
  const PlotColors colors = plot_colors(palette());
  const TileCellSight& cell = picture_->at(row, column);
  if (cell.sight == TileSight::masked) {
    // What is computed all the same is darker than what is left out.
    if (colors.dark) return cell.visited ? QColor(0x5a, 0x60, 0x67) : QColor(0x34, 0x39, 0x3f);
    return cell.visited ? QColor(0xb4, 0xb9, 0xbf) : QColor(0xdd, 0xe0, 0xe3);
  }
  if (cell.order < 0) return viridis(0.45);
  // The ends of the scale are too near black, and to the paper.
  const double t =
      picture_->visits > 1 ? static_cast<double>(cell.order) / static_cast<double>(picture_->visits - 1) : 0;
  return viridis(0.15 + 0.75 * t);
}

void TileGridView::draw_image() {
  image_ = {};
  if (!picture_) return;
  image_ = QImage(picture_->columns, picture_->rows, QImage::Format_RGB32);
  for (int row = 0; row < picture_->rows; ++row) {
    auto* line = reinterpret_cast<QRgb*>(image_.scanLine(row));
    for (int column = 0; column < picture_->columns; ++column) line[column] = cell_color(row, column).rgb();
  }
}

QString TileGridView::caption() const {
  if (!picture_) return {};
  const TilePicture& p = *picture_;
  const auto tiles = [&](TileSight sight) { return p.tiles->at(static_cast<std::size_t>(sight)); };
  QStringList parts{qtext(say::explorer_page::grid_size{.rows = p.q_tiles, .columns = p.k_tiles})};
  if (p.group > 1) parts << qtext(say::explorer_page::aggregated{.group = p.group});
  if (p.tiles) {
    parts << qtext(say::explorer_page::grid_counts{.visible = tiles(TileSight::visible),
                                                   .partial = tiles(TileSight::partial),
                                                   .masked = tiles(TileSight::masked)});
  } else {
    parts << qtext(say::explorer_page::cell_counts{.visible = p.cells_of(TileSight::visible),
                                                   .partial = p.cells_of(TileSight::partial),
                                                   .masked = p.cells_of(TileSight::masked)});
  }
  if (p.too_long) {
    parts << qtext(say::explorer_page::order_too_long{});
  } else if (p.kernel.empty()) {
    parts << qtext(say::explorer_page::order_unknown{});
  } else {
    parts << qtext(say::explorer_page::order{.visits = p.visits, .kernel = p.kernel});
  }
  const bool computed_masked = std::ranges::any_of(
      p.cells, [](const TileCellSight& cell) { return cell.sight == TileSight::masked && cell.visited; });
  if (computed_masked) parts << qtext(say::explorer_page::masked_computed{});
  return parts.join(QStringLiteral(" · "));
}

QRectF TileGridView::caption_rect() const {
  const QRect fitted = fontMetrics().boundingRect(QRect(0, 0, width(), height()), Qt::TextWordWrap, caption());
  return {0, static_cast<double>(height() - fitted.height()), static_cast<double>(width()),
          static_cast<double>(fitted.height())};
}

QRectF TileGridView::cells_rect() const {
  if (!picture_) return {};
  const double line = fontMetrics().height();
  const double left = line + axis_gap;
  const double top = line + axis_gap;
  const double room_x = std::max(1.0, width() - left - 1);
  const double room_y = std::max(1.0, caption_rect().top() - axis_gap - top);
  double cell_x = room_x / picture_->columns;
  double cell_y = room_y / picture_->rows;
  // Square where there is room; of long matrices the cells are stretched, but not to lines.
  cell_x = std::min(cell_x, widest_ratio * cell_y);
  cell_y = std::min(cell_y, widest_ratio * cell_x);
  return {left, top, cell_x * picture_->columns, cell_y * picture_->rows};
}

QRectF TileGridView::cell_rect(int row, int column) const {
  const QRectF all = cells_rect();
  const double cell_x = all.width() / picture_->columns;
  const double cell_y = all.height() / picture_->rows;
  return {all.x() + column * cell_x, all.y() + row * cell_y, cell_x, cell_y};
}

std::optional<std::pair<int, int>> TileGridView::cell_at(const QPointF& position) const {
  const QRectF all = cells_rect();
  if (!picture_ || !all.contains(position)) return {};
  const int row = static_cast<int>((position.y() - all.y()) / all.height() * picture_->rows);
  const int column = static_cast<int>((position.x() - all.x()) / all.width() * picture_->columns);
  return std::pair(std::min(row, picture_->rows - 1), std::min(column, picture_->columns - 1));
}

QString TileGridView::describe_cell(int row, int column) const {
  const TilePicture& p = *picture_;
  const TileCellSight& cell = p.at(row, column);
  const std::string place =
      qtext(say::explorer_page::tile_of{.q = tile_numbers(row, p.group, p.q_tiles).toStdString(),
                                        .k = tile_numbers(column, p.group, p.k_tiles).toStdString()})
          .toStdString();
  const std::string sight = sight_words(cell.sight).toStdString();
  if (cell.order >= 0)
    return qtext(
        say::explorer_page::cell_visited{.tile = place, .sight = sight, .place = cell.order + 1, .visits = p.visits});
  return qtext(say::explorer_page::cell{.tile = place, .sight = sight});
}

void TileGridView::paint_marks(QPainter& painter) const {
  const PlotColors colors = plot_colors(palette());
  const QRectF first = cell_rect(0, 0);
  const double least = std::min(first.width(), first.height());
  if (least < room_for_seams) return;
  const int widest = fontMetrics().horizontalAdvance(QString::number(picture_->visits)) + 4;
  const bool numbered = picture_->group == 1 && first.width() > widest && first.height() > fontMetrics().height();
  const QRectF all = cells_rect();
  painter.setPen(QPen(colors.background, 1));
  for (int row = 1; row < picture_->rows; ++row) {
    const double y = all.y() + row * first.height();
    painter.drawLine(QPointF(all.left(), y), QPointF(all.right(), y));
  }
  for (int column = 1; column < picture_->columns; ++column) {
    const double x = all.x() + column * first.width();
    painter.drawLine(QPointF(x, all.top()), QPointF(x, all.bottom()));
  }
  for (int row = 0; row < picture_->rows; ++row) {
    for (int column = 0; column < picture_->columns; ++column) {
      const TileCellSight& of = picture_->at(row, column);
      if (of.sight != TileSight::partial && !numbered) continue;
      const QRectF cell(all.x() + column * first.width(), all.y() + row * first.height(), first.width(),
                        first.height());
      if (of.sight == TileSight::partial && least >= room_for_marks) {
        // The upper right corner, as a causal mask cuts it.
        painter.setPen(Qt::NoPen);
        painter.setBrush(colors.background);
        const double cut = 0.45 * least;
        painter.drawPolygon(
            QPolygonF({cell.topRight(), cell.topRight() - QPointF(cut, 0), cell.topRight() + QPointF(0, cut)}));
        painter.setBrush(Qt::NoBrush);
      }
      if (numbered && of.order >= 0) {
        painter.setPen(ink_on(cell_color(row, column)));
        painter.drawText(cell, Qt::AlignCenter, QString::number(of.order + 1));
      }
    }
  }
}

void TileGridView::paintEvent(QPaintEvent* /*event*/) {
  const PlotColors colors = plot_colors(palette());
  QPainter painter(this);
  if (!picture_) {
    painter.setPen(colors.muted);
    painter.drawText(rect(), Qt::AlignCenter | Qt::TextWordWrap, words_);
    return;
  }
  const QRectF all = cells_rect();
  painter.setRenderHint(QPainter::SmoothPixmapTransform, false);
  painter.drawImage(all, image_);
  paint_marks(painter);
  if (walked_to_) {
    painter.setPen(QPen(colors.accent, 2));
    painter.drawRect(cell_rect(walked_to_->first, walked_to_->second));
  }
  painter.setPen(colors.muted);
  const double line = fontMetrics().height();
  painter.drawText(QRectF(all.x(), 0, std::max(all.width(), width() - all.x()), line), Qt::AlignLeft | Qt::AlignVCenter,
                   qtext(say::explorer_page::key_axis{}));
  painter.save();
  painter.translate(line, all.y());
  painter.rotate(90);
  const QString queries = fontMetrics().elidedText(qtext(say::explorer_page::query_axis{}), Qt::ElideRight,
                                                   static_cast<int>(caption_rect().top() - all.y()));
  painter.drawText(QRectF(0, 0, caption_rect().top() - all.y(), line), Qt::AlignLeft | Qt::AlignVCenter, queries);
  painter.restore();
  painter.setPen(colors.text);
  painter.drawText(caption_rect(), Qt::AlignLeft | Qt::AlignTop | Qt::TextWordWrap, caption());
}

void TileGridView::changeEvent(QEvent* event) {
  QWidget::changeEvent(event);
  if (event->type() == QEvent::PaletteChange) draw_image();
}

bool TileGridView::event(QEvent* event) {
  if (event->type() != QEvent::ToolTip) return QWidget::event(event);
  const auto* help = static_cast<QHelpEvent*>(event);
  if (const auto cell = cell_at(help->pos())) {
    QToolTip::showText(help->globalPos(), plain_tip(describe_cell(cell->first, cell->second)), this);
  } else {
    QToolTip::hideText();
  }
  return true;
}

void TileGridView::keyPressEvent(QKeyEvent* event) {
  const int down = event->key() == Qt::Key_Down ? 1 : event->key() == Qt::Key_Up ? -1 : 0;
  const int right = event->key() == Qt::Key_Right ? 1 : event->key() == Qt::Key_Left ? -1 : 0;
  if (!picture_ || (down == 0 && right == 0)) return QWidget::keyPressEvent(event);
  auto [row, column] = walked_to_.value_or(std::pair(0, 0));
  if (walked_to_) {
    row = std::clamp(row + down, 0, picture_->rows - 1);
    column = std::clamp(column + right, 0, picture_->columns - 1);
  }
  walked_to_ = std::pair(row, column);
  setAccessibleDescription(describe_cell(row, column));
  const QPoint at = cell_rect(row, column).center().toPoint();
  QToolTip::showText(mapToGlobal(at), plain_tip(describe_cell(row, column)), this);
  update();
}

}  // namespace attnscope::ui
