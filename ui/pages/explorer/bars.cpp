// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/explorer/bars.h"

#include <QHelpEvent>
#include <QPainter>
#include <QToolTip>
#include <algorithm>

#include "ui/pages/explorer/on_chip_map.h"
#include "ui/plots/plot_parts.h"
#include "ui/text/format.h"
#include "ui/theme/theme.h"

namespace attnscope::ui {
namespace {

constexpr double bar_space = 8;
constexpr double pale_opacity = 0.6;

}  // namespace

BarList::BarList(Kind kind, const QString& accessible_name, QWidget* parent) : QWidget(parent), kind_(kind) {
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
  setFocusPolicy(Qt::TabFocus);
  setAccessibleName(accessible_name);
}

void BarList::set_lines(std::vector<BarLine> lines, const QString& otherwise) {
  if (lines.size() != lines_.size()) updateGeometry();
  lines_ = std::move(lines);
  otherwise_ = otherwise;
  fit_columns();
  QStringList all;
  for (const BarLine& line : lines_) {
    all << QStringList{line.title, line.words, line.note}.join(QLatin1Char(' ')).simplified();
  }
  setAccessibleDescription(all.join(QStringLiteral(", ")));
  update();
}

void BarList::fit_columns() {
  const QFontMetricsF metrics(bold(font()));
  double words = 0;
  double notes = 0;
  title_width_ = 0;
  for (const BarLine& line : lines_) {
    title_width_ = std::max(title_width_, metrics.horizontalAdvance(line.title));
    words = std::max(words, metrics.horizontalAdvance(line.words));
    notes = std::max(notes, metrics.horizontalAdvance(line.note));
  }
  text_width_ = words + (words > 0 && notes > 0 ? bar_space : 0) + notes;
}

double BarList::row_height() const {
  constexpr int row_padding = 5;
  return fontMetrics().height() + row_padding;
}

QRectF BarList::bar(std::size_t place) const {
  const auto length = [](const BarLine& line) { return line.value + line.pale; };
  const double left = title_width_ + bar_space;
  const double room = std::max(8.0, width() - left - bar_space - text_width_);
  const double most = length(*std::ranges::max_element(lines_, {}, length));
  return {left, static_cast<double>(place) * row_height() + 2, most > 0 ? room * length(lines_[place]) / most : 0,
          row_height() - 4};
}

QSize BarList::sizeHint() const {
  constexpr std::size_t usual_lines = 11;
  return {360, qRound(static_cast<double>(lines_.empty() ? usual_lines : lines_.size()) * row_height())};
}

void BarList::paintEvent(QPaintEvent* /*event*/) {
  const PlotColors colors = plot_colors(palette());
  QPainter painter(this);
  if (lines_.empty()) {
    painter.setPen(colors.muted);
    painter.drawText(rect(), Qt::AlignCenter | Qt::TextWordWrap, otherwise_);
  }
  const bool of_matrix = kind_ == Kind::of_matrix;
  for (std::size_t place = 0; place < lines_.size(); ++place) {
    const BarLine& line = lines_[place];
    const QRectF row(0, static_cast<double>(place) * row_height(), width(), row_height());
    const QRectF whole = bar(place);
    const QColor color = of_matrix       ? part_color(line.title.toStdString(), colors)
                         : line.is_bound ? colors.accent
                         : line.is_unit  ? with_opacity(colors.accent, 0.4)
                                         : colors.muted;
    QRectF solid = whole;
    if (line.pale > 0) solid.setWidth(whole.width() * line.value / (line.value + line.pale));
    painter.fillRect(QRectF(solid.topRight(), whole.bottomRight()), with_opacity(color, pale_opacity));
    if (!of_matrix) solid.setWidth(std::max(1.0, solid.width()));
    painter.fillRect(solid, color);
    painter.setFont(line.is_bound ? bold(font()) : font());
    painter.setPen(colors.text);
    painter.setBrush(Qt::NoBrush);
    if (of_matrix) painter.drawRect(whole.adjusted(0.5, 0.5, -0.5, -0.5));
    painter.drawText(row, Qt::AlignLeft | Qt::AlignVCenter, line.title);
    painter.drawText(row.adjusted(solid.right() + bar_space / 2, 0, 0, 0), Qt::AlignLeft | Qt::AlignVCenter,
                     line.words);
    if (!of_matrix) painter.setPen(colors.muted);
    painter.drawText(row, Qt::AlignRight | Qt::AlignVCenter, line.note);
  }
}

void BarList::changeEvent(QEvent* event) {
  QWidget::changeEvent(event);
  if (event->type() != QEvent::FontChange) return;
  fit_columns();
  updateGeometry();
}

bool BarList::event(QEvent* event) {
  if (event->type() != QEvent::ToolTip) return QWidget::event(event);
  const auto* help = static_cast<QHelpEvent*>(event);
  const auto place = static_cast<std::size_t>(std::max(0.0, help->pos().y() / row_height()));
  if (place < lines_.size()) QToolTip::showText(help->globalPos(), plain_tooltip(lines_[place].help), this);
  return true;
}

}  // namespace attnscope::ui
