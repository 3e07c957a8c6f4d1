// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/compare/ratio_plot.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <vector>

#include "messages/compare_page.h"
#include "ui/plots/axis_tickers.h"
#include "ui/plots/markers.h"
#include "ui/plots/plot_parts.h"
#include "ui/text/format.h"
#include "ui/text/qtext.h"
#include "ui/theme/theme.h"

namespace attnscope::ui {
namespace {

using analysis::ComparedPair;
using analysis::Verdict;

constexpr int max_ticks = 9;

}  // namespace

RatioPlot::RatioPlot(QWidget* parent) : PointPlot(parent) {
  add_key();
  rebuild();
}

void RatioPlot::set_comparison(std::shared_ptr<const ComparisonTable> shown) {
  if (shown == shown_) return;
  shown_ = std::move(shown);
  redraw();
}

style::PlotIdentity RatioPlot::identity_of(const ComparedPair& pair) const {
  return style::identity_of(points_->table().algorithm(pair.other.front()));
}

QColor RatioPlot::color_of(const ComparedPair& pair) const {
  return identity_color(identity_of(pair), plot_colors(palette()).dark);
}

std::vector<std::vector<std::size_t>> RatioPlot::find_groups() {
  const analysis::ComparisonView& view = shown_->view();
  std::map<std::tuple<std::size_t, std::string, std::int64_t>, std::vector<std::size_t>> found;
  for (std::size_t line = 0; line < shown_->table().rows; ++line) {
    const ComparedPair* pair = shown_->pair(line);
    if (pair == nullptr) continue;
    const PointSpec spec = points_->table().spec(pair->other.front());
    found[{shown_->side_of(line), spec.algorithm, spec.problem.d}].push_back(line);
  }
  std::vector<std::vector<std::size_t>> groups;
  for (auto& [key, lines] : found) {
    const auto& [side, algorithm, d] = key;
    const QString name = QStringLiteral("%1 d %2").arg(short_title(algorithm)).arg(d);
    groups_ << (view.sides.size() > 1
                    ? QStringLiteral("%1 · %2").arg(shortened(QString::fromStdString(view.sides[side]->name), 24), name)
                    : name);
    groups.push_back(std::move(lines));
  }
  return groups;
}

void RatioPlot::draw_contents() {
  const PlotColors colors = plot_colors(palette());
  for (QCPAxis* axis : axisRect()->axes()) style_axis(*axis, colors, font());
  groups_.clear();
  points_ = shown_ ? shown_->set()->points() : nullptr;
  if (points_ == nullptr) return;
  const std::vector<std::vector<std::size_t>> groups = find_groups();
  const double margin = shown_->view().margin;
  title_text_ = qtext(msg::compare_page::plot_title{.base = shown_->set()->base_name().toStdString()});
  key_text_ = qtext(msg::compare_page::plot_key{.margin = number_text(100 * margin)});
  set_up_axes();
  auto* band = new QCPItemRect(this);
  band->setLayer(QStringLiteral("background"));
  band->setPen(Qt::NoPen);
  band->setBrush(with_opacity(colors.muted, 0.22));
  for (QCPItemPosition* corner : {band->topLeft, band->bottomRight}) corner->setTypeY(QCPItemPosition::ptAxisRectRatio);
  band->topLeft->setCoords(1 / (1 + margin), 0);
  band->bottomRight->setCoords(1 + margin, 1);
  for (std::size_t group = 0; group < groups.size(); ++group) draw_group(group, groups[group]);
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
  ratio->setRange(1 / end, end);
  const auto ticker = QSharedPointer<QCPAxisTickerText>::create();
  std::vector<double> ticks = round_ticks(1 / end, end, max_ticks, end > 3);
  std::erase_if(ticks, [&](double tick) { return std::abs(std::log(tick)) <= 0.08 * std::log(end); });
  ticks.push_back(1);
  const QStringList labels = tick_labels(ticks);
  for (std::size_t i = 0; i < ticks.size(); ++i) ticker->addTick(ticks[i], labels[static_cast<qsizetype>(i)]);
  ratio->setTicker(ticker);
  ratio->setLabel(qtext(msg::compare_page::ratio_axis{}));
  const auto names = QSharedPointer<QCPAxisTickerText>::create();
  for (qsizetype i = 0; i < groups_.size(); ++i) names->addTick(static_cast<double>(i), groups_[i]);
  yAxis->setTicker(names);
  yAxis->setRangeReversed(true);
  yAxis->setRange(-0.5, static_cast<double>(groups_.size()) - 0.5);
}

void RatioPlot::draw_group(std::size_t group, std::vector<std::size_t> lines) {
  // A graph sorts its points, and error bars belong to points by index.
  std::ranges::sort(lines, {}, [&](std::size_t line) { return shown_->pair(line)->verdict.time.ratio; });
  const auto y = static_cast<double>(group);
  const QColor color = color_of(*shown_->pair(lines.front()));
  QCPGraph* decided = add_marks(*axisRect(), {});
  auto* bars = new QCPErrorBars(xAxis, yAxis);
  bars->setErrorType(QCPErrorBars::etKeyError);
  bars->setDataPlottable(decided);
  bars->setPen(QPen(color, 1.1));
  bars->setSymbolGap(0);
  MarkerGraphs graphs(*axisRect(), [&](const Sample& sample, double shift) {
    return scatter_of(sample, color, plot_colors(palette()).background, shift);
  });
  const style::PlotIdentity identity = identity_of(*shown_->pair(lines.front()));
  for (const std::size_t line : lines) {
    const ComparedPair& pair = *shown_->pair(line);
    const analysis::RatioInterval& time = pair.verdict.time;
    if (time.unknown) continue;
    const bool changed = pair.verdict.verdict == Verdict::faster || pair.verdict.verdict == Verdict::slower;
    if (changed) {
      decided->addData(time.ratio, y);
      bars->addData(time.ratio - time.interval.low, time.interval.high - time.ratio);
    }
    std::vector<Row> both = pair.other;  // Both sides' points belong to the mark.
    both.insert(both.end(), pair.base.begin(), pair.base.end());
    add_mark(graphs.of(sample_of(provenance_of(points_->table(), pair), identity)),
             {axisRect(), time.ratio, y, group, line, std::move(both)});
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
