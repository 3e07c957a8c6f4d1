// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/explorer/operand_bars.h"

#include <QHelpEvent>
#include <QPainter>
#include <QToolTip>
#include <algorithm>

#include "messages/explorer_page.h"
#include "ui/models/result_model.h"
#include "ui/pages/explorer/on_chip_map.h"
#include "ui/text/format.h"
#include "ui/text/qtext.h"
#include "ui/theme/theme.h"

namespace attnscope::ui {
namespace {

constexpr int name_column = 0;
constexpr int loaded_column = 1;
constexpr int stored_column = 2;
constexpr int total_column = 3;
constexpr int share_column = 4;
constexpr double bar_margin = 8;
constexpr int line_padding = 6;
constexpr double stored_paleness = 0.6;

}  // namespace

OperandBars::OperandBars(QAbstractItemModel& model, QWidget* parent) : QWidget(parent), model_(model) {
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
  setFocusPolicy(Qt::TabFocus);
  setAccessibleName(qtext(msg::explorer_page::operands{}));
}

void OperandBars::refresh() {
  const std::size_t before = lines_.size();
  lines_.clear();
  name_width_ = words_width_ = most_ = 0;
  QStringList described;
  QFont bold = font();
  bold.setBold(true);
  const QFontMetricsF metrics(bold);
  for (int row = 0; row < model_.rowCount(); ++row) {
    const auto text_at = [&](int column) { return model_.index(row, column).data().toString(); };
    const auto number_at = [&](int column) { return model_.index(row, column).data(TableModel::sort_role).toDouble(); };
    Line line{.name = text_at(name_column),
              .words = (text_at(total_column) + QStringLiteral("  ") + text_at(share_column)).trimmed(),
              .help = model_.index(row, name_column).data(Qt::ToolTipRole).toString(),
              .loaded = number_at(loaded_column),
              .stored = number_at(stored_column),
              .total = number_at(total_column)};
    if (line.help.isEmpty()) {
      line.help = QStringLiteral("%1 %2, %3 %4")
                      .arg(qtext(msg::explorer_page::loaded{}), text_at(loaded_column),
                           qtext(msg::explorer_page::stored{}), text_at(stored_column));
    }
    name_width_ = std::max(name_width_, metrics.horizontalAdvance(line.name));
    words_width_ = std::max(words_width_, metrics.horizontalAdvance(line.words));
    most_ = std::max(most_, line.total);
    described << line.name + QLatin1Char(' ') + line.words;
    lines_.push_back(std::move(line));
  }
  setAccessibleDescription(described.join(QStringLiteral(", ")));
  if (lines_.size() != before) updateGeometry();
  update();
}

double OperandBars::row_height() const {
  return fontMetrics().height() + line_padding;
}

QRectF OperandBars::bar(int row, bool stored) const {
  const Line& line = lines_[static_cast<std::size_t>(row)];
  const double left = name_width_ + bar_margin;
  const double room = std::max(8.0, width() - left - bar_margin - words_width_);
  const double of_byte = most_ > 0 ? room / most_ : 0;
  const double solid = stored ? line.stored : line.total - line.stored;
  const double from = stored ? left + (line.total - line.stored) * of_byte : left;
  return {from, row * row_height() + 3, solid * of_byte, row_height() - 6};
}

QSize OperandBars::sizeHint() const {
  constexpr std::size_t usual_lines = 8;
  const std::size_t rows = lines_.empty() ? usual_lines : lines_.size();
  return {320, qRound(static_cast<double>(rows) * row_height())};
}

void OperandBars::paintEvent(QPaintEvent* /*event*/) {
  const PlotColors colors = plot_colors(palette());
  QPainter painter(this);
  for (int row = 0; row < static_cast<int>(lines_.size()); ++row) {
    const Line& line = lines_[static_cast<std::size_t>(row)];
    const QRectF whole(0, row * row_height(), width(), row_height());
    const QColor color = part_color(line.name.toStdString(), colors);
    const QRectF loaded = loaded_bar(row);
    const QRectF stored = stored_bar(row);
    painter.fillRect(loaded, color);
    painter.fillRect(stored, with_opacity(color, stored_paleness));
    painter.setPen(QPen(colors.text, 1));
    painter.setBrush(Qt::NoBrush);
    painter.drawRect(loaded.united(stored).adjusted(0.5, 0.5, -0.5, -0.5));
    painter.drawText(whole, Qt::AlignLeft | Qt::AlignVCenter, line.name);
    painter.drawText(whole, Qt::AlignRight | Qt::AlignVCenter, line.words);
  }
}

void OperandBars::changeEvent(QEvent* event) {
  QWidget::changeEvent(event);
  if (event->type() == QEvent::FontChange) refresh();
}

bool OperandBars::event(QEvent* event) {
  if (event->type() != QEvent::ToolTip) return QWidget::event(event);
  const auto* help = static_cast<QHelpEvent*>(event);
  const auto row = static_cast<std::size_t>(std::max(0.0, help->pos().y() / row_height()));
  if (row < lines_.size()) QToolTip::showText(help->globalPos(), plain_tooltip(lines_[row].help), this);
  return true;
}

}  // namespace attnscope::ui
