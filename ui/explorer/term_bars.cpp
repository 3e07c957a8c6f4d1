// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/explorer/term_bars.h"

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

constexpr std::array<Saying, time_term_count> term_titles{
    attnscope::said<say::explorer_page::term_tensor>,  attnscope::said<say::explorer_page::term_exponential>,
    attnscope::said<say::explorer_page::term_fp32>,    attnscope::said<say::explorer_page::term_shared_memory>,
    attnscope::said<say::explorer_page::term_l2_port>, attnscope::said<say::explorer_page::term_latency>,
    attnscope::said<say::explorer_page::term_l2>,      attnscope::said<say::explorer_page::term_dram>,
    attnscope::said<say::explorer_page::term_launch>};

}  // namespace

QString term_title(TimeTerm term) {
  return qtext(term_titles.at(static_cast<std::size_t>(term))());
}

TermBars::TermBars(QWidget* parent) : QWidget(parent) {
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
  setFocusPolicy(Qt::TabFocus);
  setAccessibleName(qtext(say::explorer_page::predicted_time{}));
}

void TermBars::set_times(const std::optional<Times>& times) {
  const int lines_before = lines();
  const bool had_measured = times_ && times_->measured;
  times_ = times;
  if (had_measured || (times_ && times_->measured)) widths_.reset();
  QStringList all;
  if (times_) {
    all << qtext(say::explorer_page::predicted{}) + QLatin1Char(' ') + total_words();
    if (times_->measured) all << times_->measured->provenance + QLatin1Char(' ') + measured_words();
    for (const TimeTerm term : analysis::time_terms()) {
      all << QStringList{term_title(term), words(term), use_words(term)}.join(QLatin1Char(' ')).trimmed();
    }
  }
  setAccessibleDescription(all.join(QStringLiteral(", ")));
  if (lines() != lines_before) updateGeometry();
  update();
}

int TermBars::place_of(TimeTerm term) const {
  return lines() - static_cast<int>(time_term_count) + static_cast<int>(term);
}

int TermBars::lines() const {
  return static_cast<int>(time_term_count) + (times_ && times_->measured ? 2 : 1);
}

QString TermBars::measured_words() const {
  if (!times_ || !times_->measured) return {};
  return qtext(Nanoseconds(times_->measured->ns));
}

QString TermBars::use_words(TimeTerm term) const {
  if (!times_ || !times_->measured) return {};
  const std::optional<double>& use = times_->measured->use_pct.at(static_cast<std::size_t>(term));
  return use ? qtext(say::explorer_page::use{.percent = QString::number(*use, 'f', 0).toStdString()}) : QString();
}

QString TermBars::words(TimeTerm term) const {
  if (!times_) return {};
  const double ns = times_->terms[static_cast<std::size_t>(term)];
  // A fitted factor of 0 says that the unit's work is hidden, not that there is none.
  if (!(ns > 0)) return qtext(say::explorer_page::term_hidden{});
  const QString time = qtext(Nanoseconds(ns));
  return term == analysis::bound_of(times_->terms) ? qtext(say::explorer_page::bounds{.time = time.toStdString()})
                                                   : time;
}

QString TermBars::total_words() const {
  return times_ ? qtext(Nanoseconds(times_->ns)) : QString();
}

const TermBars::Widths& TermBars::widths() const {
  if (widths_) return *widths_;
  QFont bold = font();
  bold.setBold(true);
  const QFontMetrics metrics(bold);
  int labels = metrics.horizontalAdvance(qtext(say::explorer_page::predicted{}));
  if (times_ && times_->measured) labels = std::max(labels, metrics.horizontalAdvance(times_->measured->provenance));
  for (const Saying title : term_titles) labels = std::max(labels, metrics.horizontalAdvance(qtext(title())));
  const QString longest = qtext(say::explorer_page::bounds{.time = text(Nanoseconds(8.88e8))});
  const bool counted = times_ && times_->measured &&
                       std::ranges::any_of(times_->measured->use_pct, [](const auto& use) { return use.has_value(); });
  const QString use = qtext(say::explorer_page::use{.percent = "100"});
  widths_ = {.labels = static_cast<double>(labels),
             .words = static_cast<double>(metrics.horizontalAdvance(longest)),
             .uses = counted ? fontMetrics().horizontalAdvance(use) + bar_space : 0};
  return *widths_;
}

QRectF TermBars::row(int place) const {
  const double height = fontMetrics().height() + row_padding;
  return {0, place * height, static_cast<double>(width()), height};
}

QRectF TermBars::bar_of(int place, double ns) const {
  if (!times_) return {};
  const QRectF whole = row(place);
  const double left = widths().labels + bar_space;
  const double room = std::max(8.0, whole.width() - left - bar_space - widths().words - widths().uses);
  double most = std::max(times_->ns, *std::ranges::max_element(times_->terms));
  if (times_->measured) most = std::max(most, times_->measured->ns);
  return {left, whole.y() + 2, most > 0 ? room * ns / most : 0, whole.height() - 4};
}

QRectF TermBars::total_bar() const {
  return times_ ? bar_of(0, times_->ns) : QRectF();
}

QRectF TermBars::bar(TimeTerm term) const {
  return times_ ? bar_of(place_of(term), times_->terms[static_cast<std::size_t>(term)]) : QRectF();
}

QSize TermBars::sizeHint() const {
  return {360, lines() * (fontMetrics().height() + row_padding)};
}

void TermBars::paintEvent(QPaintEvent* /*event*/) {
  const PlotColors colors = plot_colors(palette());
  QPainter painter(this);
  if (!times_) {
    painter.setPen(colors.muted);
    painter.drawText(rect(), Qt::AlignCenter | Qt::TextWordWrap, qtext(say::explorer_page::does_not_run{}));
    return;
  }
  const auto draw = [&](int place, const QString& label, const QRectF& bar, const QString& words, bool marked,
                        const QColor& color) {
    const QRectF whole = row(place);
    QFont font = this->font();
    font.setBold(marked);
    painter.setFont(font);
    painter.setPen(colors.text);
    painter.drawText(QRectF(0, whole.y(), widths().labels + bar_space, whole.height()),
                     Qt::AlignLeft | Qt::AlignVCenter, label);
    // A hairline for what is next to nothing.
    painter.fillRect(QRectF(bar.x(), bar.y(), std::max(1.0, bar.width()), bar.height()), color);
    painter.drawText(QRectF(bar.right() + bar_space / 2, whole.y(), widths().words + bar_space, whole.height()),
                     Qt::AlignLeft | Qt::AlignVCenter, words);
  };
  draw(0, qtext(say::explorer_page::predicted{}), total_bar(), total_words(), false, colors.muted);
  if (times_->measured) {
    draw(1, times_->measured->provenance, bar_of(1, times_->measured->ns), measured_words(), false, colors.text);
  }
  const TimeTerm bound = analysis::bound_of(times_->terms);
  const QColor quiet = colors.dark ? QColor(0x4a, 0x6f, 0x91) : QColor(0x9c, 0xbf, 0xdd);
  for (const TimeTerm term : analysis::time_terms()) {
    draw(place_of(term), term_title(term), bar(term), words(term), term == bound,
         term == bound ? colors.accent : quiet);
    painter.setPen(colors.muted);
    painter.drawText(row(place_of(term)), Qt::AlignRight | Qt::AlignVCenter, use_words(term));
  }
}

void TermBars::changeEvent(QEvent* event) {
  QWidget::changeEvent(event);
  if (event->type() == QEvent::FontChange) widths_.reset();
}

}  // namespace attnscope::ui
