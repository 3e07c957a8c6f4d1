// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/explorer/unit_bars.h"

#include <QEvent>
#include <QPainter>
#include <algorithm>

#include "messages/explorer_page.h"
#include "ui/text/format.h"
#include "ui/text/qtext.h"
#include "ui/theme/theme.h"

namespace attnscope::ui {
namespace {

constexpr double bar_space = 8;
constexpr int row_padding = 5;
/// Total, units, launch, idle SMs and remainder; one more with a measurement.
constexpr int default_line_count = static_cast<int>(gpu_units.size()) + 4;

QString percent_text(double share) {
  return qtext(msg::explorer_page::part_percent{.percent = QString::number(100 * share, 'f', 0).toStdString()});
}

}  // namespace

UnitBars::UnitBars(QWidget* parent) : QWidget(parent) {
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
  setFocusPolicy(Qt::TabFocus);
  setAccessibleName(qtext(msg::explorer_page::predicted_time{}));
}

void UnitBars::set_times(const std::optional<Times>& times, const QString& why) {
  why_ = why;
  const std::size_t lines_before = lines_.size();
  times_ = times;
  build_lines();
  fit_columns();
  QStringList all;
  for (const Line& line : lines_) {
    all << QStringList{line.title, line.words, line.counted}.join(QLatin1Char(' ')).trimmed();
  }
  setAccessibleDescription(all.join(QStringLiteral(", ")));
  if (lines_.size() != lines_before) updateGeometry();
  update();
}

void UnitBars::build_lines() {
  lines_.clear();
  if (!times_) return;
  const bool predicts = times_->ns > 0;
  const MeasuredValues* measured = times_->measured ? &*times_->measured : nullptr;
  const auto add_total = [&](const QString& title, double ns) {
    lines_.push_back({.title = title, .ns = ns, .words = qtext(Nanoseconds(ns))});
  };
  if (predicts) add_total(qtext(msg::explorer_page::predicted{}), times_->ns);
  if (measured != nullptr) add_total(measured->provenance, measured->ns);
  const analysis::SpeedOfLight& light = times_->light;
  const double most = measured != nullptr ? *std::ranges::max_element(measured->shares) : 0;
  for (const GpuUnit unit : gpu_units) {
    const auto place = static_cast<std::size_t>(unit);
    const QString use = measured != nullptr ? measured->uses.at(place) : QString();
    Line& line = lines_.emplace_back(Line{.title = qtext(analysis::title_of(unit)), .unit = true});
    if (predicts) {
      line.ns = light.of(unit) * times_->ns;
      line.words = percent_text(light.of(unit));
      line.counted = use;
      line.bound = light.bound() == unit;
    } else if (measured != nullptr) {
      const double share = measured->shares.at(place);
      line.ns = share * measured->ns;
      line.words = use.isEmpty() ? qtext(msg::explorer_page::no_figure{}) : use;
      line.bound = share >= analysis::bottleneck_threshold && share == most;
    }
  }
  if (!predicts) return;
  const auto add = [&](const QString& title, double share, bool bound) {
    lines_.push_back({.title = title, .ns = share * times_->ns, .words = percent_text(share), .bound = bound});
  };
  add(qtext(msg::explorer_page::launch{}), light.launch, false);
  add(qtext(msg::explorer_page::idle{}), light.idle, light.is_grid_limited());
  add(qtext(msg::explorer_page::latency{}), light.rest, !light.bound() && !light.is_grid_limited());
}

std::size_t UnitBars::index_of(GpuUnit unit) const {
  const bool both = times_ && times_->measured && times_->ns > 0;
  return static_cast<std::size_t>(unit) + (both ? 2 : 1);
}

QString UnitBars::measured_text() const {
  return times_ && times_->measured ? lines_[times_->ns > 0 ? 1 : 0].words : QString();
}

QString UnitBars::utilization_text(GpuUnit unit) const {
  if (!times_) return {};
  const Line& line = lines_[index_of(unit)];
  return times_->ns > 0 ? line.counted : line.words;
}

QString UnitBars::counted_text(GpuUnit unit) const {
  return times_ ? lines_[index_of(unit)].words : QString();
}

QString UnitBars::total_text() const {
  return times_ ? lines_[0].words : QString();
}

void UnitBars::fit_columns() {
  QFont bold = font();
  bold.setBold(true);
  const QFontMetrics metrics(bold);
  widths_ = {};
  const auto cover = [&](double& width, const QString& words) {
    width = std::max(width, static_cast<double>(metrics.horizontalAdvance(words)));
  };
  for (const Line& line : lines_) {
    cover(widths_.labels, line.title);
    cover(widths_.words, line.words);
    if (!line.counted.isEmpty()) cover(widths_.counted, line.counted + QLatin1Char(' '));
  }
}

QRectF UnitBars::row(std::size_t place) const {
  const double height = fontMetrics().height() + row_padding;
  return {0, static_cast<double>(place) * height, static_cast<double>(width()), height};
}

QRectF UnitBars::bar_of(std::size_t place) const {
  if (place >= lines_.size()) return {};
  const QRectF whole = row(place);
  const double left = widths_.labels + bar_space;
  const double room = std::max(8.0, whole.width() - left - bar_space - widths_.words - widths_.counted);
  const double most = std::ranges::max_element(lines_, {}, &Line::ns)->ns;
  return {left, whole.y() + 2, most > 0 ? room * lines_[place].ns / most : 0, whole.height() - 4};
}

QRectF UnitBars::total_bar() const {
  return bar_of(0);
}

QRectF UnitBars::bar(GpuUnit unit) const {
  return bar_of(index_of(unit));
}

QSize UnitBars::sizeHint() const {
  const int lines = lines_.empty() ? default_line_count : static_cast<int>(lines_.size());
  return {360, lines * (fontMetrics().height() + row_padding)};
}

void UnitBars::paintEvent(QPaintEvent* /*event*/) {
  const PlotColors colors = plot_colors(palette());
  QPainter painter(this);
  if (!times_) {
    painter.setPen(colors.muted);
    painter.drawText(rect(), Qt::AlignCenter | Qt::TextWordWrap,
                     why_.isEmpty() ? qtext(msg::explorer_page::infeasible_configuration{}) : why_);
    return;
  }
  const QColor quiet = with_opacity(colors.accent, 0.4);
  for (std::size_t place = 0; place < lines_.size(); ++place) {
    const Line& line = lines_[place];
    const QRectF whole = row(place);
    const QRectF bar = bar_of(place);
    QFont font = this->font();
    font.setBold(line.bound);
    painter.setFont(font);
    painter.setPen(colors.text);
    painter.drawText(QRectF(0, whole.y(), widths_.labels + bar_space, whole.height()), Qt::AlignLeft | Qt::AlignVCenter,
                     line.title);
    // At least one pixel wide.
    painter.fillRect(QRectF(bar.x(), bar.y(), std::max(1.0, bar.width()), bar.height()), line.bound  ? colors.accent
                                                                                         : line.unit ? quiet
                                                                                                     : colors.muted);
    painter.drawText(QRectF(bar.right() + bar_space / 2, whole.y(), widths_.words + bar_space, whole.height()),
                     Qt::AlignLeft | Qt::AlignVCenter, line.words);
    painter.setPen(colors.muted);
    painter.drawText(whole, Qt::AlignRight | Qt::AlignVCenter, line.counted);
  }
}

void UnitBars::changeEvent(QEvent* event) {
  QWidget::changeEvent(event);
  if (event->type() != QEvent::FontChange) return;
  fit_columns();
  updateGeometry();
}

}  // namespace attnscope::ui
