// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/compare/compare_page.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "messages/compare_page.h"
#include "ui/plots/axis_tickers.h"
#include "ui/plots/plot_parts.h"
#include "ui/text/format.h"
#include "ui/text/qtext.h"
#include "ui/theme/theme.h"

namespace attnscope::ui {
namespace {

using analysis::ComparedPair;
using analysis::Verdict;

constexpr int max_ticks = 9;
constexpr int strip_row_height = 20;
constexpr int frame_height = 76;        ///< Title, axis and key.
constexpr double lane_width = 800;      ///< Width for which marks are stacked without overlap, in pixels.
constexpr double mark_spacing = 9;      ///< In pixels.
constexpr double lane_distance = 0.16;  ///< In rows.
constexpr double interval_width = 1.1;

}  // namespace

RatioPlot::RatioPlot(QWidget* parent) : PointPlot(parent) {
  add_key();
  rebuild();
}

void RatioPlot::set_comparison(std::shared_ptr<const ComparisonTable> shown, const QString& group) {
  if (shown == shown_ && group == highlighted_) return;
  shown_ = std::move(shown);
  highlighted_ = group;
  redraw();
}

QString RatioPlot::group_at(const QPoint& position) const {
  const QRect rows = axisRect()->rect();
  if (position.y() < rows.top() || position.y() > rows.bottom() || position.x() > rows.right()) return {};
  return groups_.value(std::lround(yAxis->pixelToCoord(position.y())));
}

void RatioPlot::click(const QMouseEvent& event) {
  if (mark_near(event.position()) != nullptr) return PointPlot::click(event);
  if (event.button() != Qt::LeftButton) return;
  if (const QString group = group_at(event.pos()); !group.isEmpty()) emit group_clicked(group);
}

style::PlotIdentity RatioPlot::identity_of(const ComparedPair& pair) const {
  return style::identity_of(points_->table().algorithm(pair.other.front()));
}

QColor RatioPlot::color_of(const ComparedPair& pair) const {
  return identity_color(identity_of(pair), plot_colors(palette()).dark);
}

void RatioPlot::draw_contents() {
  const PlotColors colors = plot_colors(palette());
  for (QCPAxis* axis : axisRect()->axes()) style_axis(*axis, colors, font());
  groups_.clear();
  points_ = shown_ ? shown_->set()->points() : nullptr;
  if (points_ == nullptr) return;
  std::vector<analysis::StripGroup> groups = shown_->groups();
  for (const analysis::StripGroup& group : groups) groups_ << QString::fromStdString(group.label);
  title_text_ = qtext(msg::compare_page::plot_title{.base = shown_->set()->base_name().toStdString()});
  const QString margin = QString::number(100 * shown_->view().margin, 'g', 4);
  key_text_ = qtext(msg::compare_page::plot_key{.margin = margin.toStdString()});
  setMinimumHeight(frame_height + strip_row_height * static_cast<int>(std::max<qsizetype>(groups_.size(), 2)));
  set_up_axes();
  draw_bands();
  for (std::size_t row = 0; row < groups.size(); ++row) draw_group(row, std::move(groups[row].lines));
}

void RatioPlot::draw_bands() {
  const auto band = [this](const QColor& color) {
    auto* item = new QCPItemRect(this);
    item->setLayer(QStringLiteral("background"));
    item->setPen(Qt::NoPen);
    item->setBrush(color);
    return item;
  };
  const PlotColors colors = plot_colors(palette());
  const double margin = shown_->view().margin;
  QCPItemRect* same = band(with_opacity(colors.muted, 0.22));
  for (QCPItemPosition* corner : {same->topLeft, same->bottomRight}) corner->setTypeY(QCPItemPosition::ptAxisRectRatio);
  same->topLeft->setCoords(1 / (1 + margin), 0);
  same->bottomRight->setCoords(1 + margin, 1);
  const auto row = static_cast<double>(groups_.indexOf(highlighted_));
  if (row < 0) return;
  QCPItemRect* selected = band(with_opacity(colors.accent, 0.15));
  for (QCPItemPosition* corner : {selected->topLeft, selected->bottomRight})
    corner->setTypeX(QCPItemPosition::ptAxisRectRatio);
  selected->topLeft->setCoords(0, row - 0.5);
  selected->bottomRight->setCoords(1, row + 0.5);
}

void RatioPlot::set_up_axes() {
  Extent ratios;
  const double margin = 1 + 1.6 * shown_->view().margin;
  for (const double edge : {1 / margin, margin}) ratios.include(edge);
  for (const auto& side : shown_->view().sides) {
    for (const ComparedPair& pair : side->result.pairs) {
      if (pair.verdict.time.unknown) continue;
      ratios.include(pair.verdict.time.ratio);
      if (pair.verdict.verdict == Verdict::ambiguous) continue;
      ratios.include(pair.verdict.time.interval.low);
      ratios.include(pair.verdict.time.interval.high);
    }
  }
  QCPAxis* ratio = xAxis;
  ratio->setScaleType(QCPAxis::stLogarithmic);
  const double end = std::exp(1.1 * std::max(std::log(ratios.high), -std::log(ratios.low)));
  end_ = end;
  ratio->setRange(1 / end, end);
  const auto ticker = QSharedPointer<QCPAxisTickerText>::create();
  std::vector<double> ticks = round_ticks(1 / end, end, max_ticks, end > 3);
  std::erase_if(ticks, [&](double tick) { return std::abs(std::log(tick)) <= 0.08 * std::log(end); });
  ticks.push_back(1);
  const QStringList labels = tick_labels(ticks);
  for (std::size_t i = 0; i < ticks.size(); ++i) ticker->addTick(ticks[i], labels[static_cast<qsizetype>(i)]);
  ratio->setTicker(ticker);
  ratio->setTickLabels(false);
  // Ratios are above the rows, so that they stay visible if the rows are scrolled.
  xAxis2->setVisible(true);
  xAxis2->setScaleType(QCPAxis::stLogarithmic);
  xAxis2->setRange(ratio->range());
  xAxis2->setTicker(ticker);
  const auto names = QSharedPointer<QCPAxisTickerText>::create();
  for (qsizetype i = 0; i < groups_.size(); ++i) names->addTick(static_cast<double>(i), shortened(groups_[i], 36));
  yAxis->setTicker(names);
  yAxis->setRangeReversed(true);
  yAxis->setRange(-0.5, static_cast<double>(groups_.size()) - 0.5);
}

void RatioPlot::draw_group(std::size_t row, std::vector<std::size_t> lines) {
  // A graph sorts its points, and error bars belong to points by index.
  std::ranges::sort(lines, {}, [&](std::size_t line) { return shown_->pair(line)->verdict.time.ratio; });
  std::vector<double> x;
  x.reserve(lines.size());
  for (const std::size_t line : lines)
    x.push_back(std::log(shown_->pair(line)->verdict.time.ratio) / std::log(end_) * lane_width / 2);
  const std::vector<int> lanes = analysis::strip_lanes(x, mark_spacing);
  const QColor color = color_of(*shown_->pair(lines.front()));
  QCPGraph* decided = add_marks(*axisRect(), {});
  auto* bars = new QCPErrorBars(xAxis, yAxis);
  bars->setErrorType(QCPErrorBars::etKeyError);
  bars->setDataPlottable(decided);
  bars->setPen(QPen(color, interval_width));
  bars->setSymbolGap(0);
  bars->setWhiskerWidth(0);
  MarkerGraphs graphs(*axisRect(), [&](const Sample& sample, double shift) {
    return scatter_of(sample, color, plot_colors(palette()).background, shift);
  });
  const style::PlotIdentity identity = identity_of(*shown_->pair(lines.front()));
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const ComparedPair& pair = *shown_->pair(lines[i]);
    const analysis::RatioInterval& time = pair.verdict.time;
    const double y = static_cast<double>(row) + lane_distance * lanes[i];
    const bool changed = pair.verdict.verdict == Verdict::faster || pair.verdict.verdict == Verdict::slower;
    if (changed) {
      decided->addData(time.ratio, y);
      bars->addData(time.ratio - time.interval.low, time.interval.high - time.ratio);
    }
    std::vector<Row> both = pair.other;  // Both sides' points belong to the mark.
    both.insert(both.end(), pair.base.begin(), pair.base.end());
    add_mark(graphs.of(sample_of(provenance_of(points_->table(), pair), identity)),
             {axisRect(), time.ratio, y, row, lines[i], std::move(both)});
  }
}

HoverContent RatioPlot::read_out(const Mark& mark) const {
  const ComparedPair& pair = *shown_->pair(mark.point);
  const analysis::PointTable& table = points_->table();
  HoverContent content;
  content.title = QString::fromStdString(describe(table.spec(pair.other.front())));
  const auto side = [&](const QColor& color, const QString& name, Row row, double ns) {
    const Provenance origin = table.points().origin(row);
    content.rows.push_back({color, sample_of(origin, identity_of(pair)),
                            QStringLiteral("%1 · %2").arg(name, to_qstring(origin)), qtext(Nanoseconds(ns))});
  };
  const QColor color = color_of(pair);
  side(plot_colors(palette()).text, shown_->set()->base_name(), pair.base.front(), pair.base_ns);
  const QString name = QString::fromStdString(shown_->view().sides[shown_->side_of(mark.point)]->name);
  side(color, name, pair.other.front(), pair.other_ns);
  content.rows.push_back({color, Sample{}, qtext(msg::compare_page::ratio_of{.side = name.toStdString()}),
                          to_qstring(analysis::ratio_text(pair.verdict.time))});
  content.notes << qtext(analysis::verdict_title(pair.verdict.verdict));
  const Message note = analysis::undecided_note(table, pair, shown_->view().margin);
  if (!note.empty()) content.notes << qtext(note);
  return content;
}

}  // namespace attnscope::ui
