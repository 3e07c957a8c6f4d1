// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/plots/slice_plot.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "messages/tile_map.h"
#include "ui/models/facet_words.h"
#include "ui/plots/curve_style.h"
#include "ui/plots/heatmap_words.h"
#include "ui/plots/plot_parts.h"
#include "ui/text/qtext.h"
#include "ui/theme/theme.h"

namespace attnscope::ui {
namespace {

constexpr double click_reach = 0.5;  ///< of a step along the axis

QString text_of(const analysis::MapAxis& axis, int place) {
  return value_words(*axis.axis.facet, axis.values[static_cast<std::size_t>(place)]);
}

}  // namespace

SlicePlot::SlicePlot(QWidget* parent) : FramePlot(parent), title_(new QCPTextElement(this)) {
  setMinimumSize(220, 140);
  plotLayout()->insertRow(0);
  plotLayout()->addElement(0, 0, title_);
  title_->setMargins({4, 6, 4, 0});
}

void SlicePlot::show_slice(const HeatmapGrid& grid, HeatmapView::Line line) {
  grid_ = grid;
  line_ = line;
  redraw();
}

void SlicePlot::redraw() {
  clearPlottables();
  clearItems();
  if (grid_.empty()) return replot(rpQueuedReplot);
  const analysis::MapSlice slice = analysis::slice_of(grid_, line_.along_x, line_.fixed);
  const UnitScale unit = unit_scale(grid_.colors ? grid_.colors->high : 1, grid_.unit);
  show_heading();
  draw_values(slice, unit);
  draw_best(slice, unit);
  draw_marks(slice, unit);
  show_axes(slice, unit);
  replot(rpQueuedReplot);
}

void SlicePlot::show_heading() {
  const analysis::MapAxis& across = line_.along_x ? grid_.y : grid_.x;
  heading_ = qtext(say::tile_map::slice{
      .metric = grid_.label.toStdString(),
      .axis = qtext(along().axis.facet->label).toStdString(),
      .fixed =
          QStringLiteral("%1 %2").arg(qtext(across.axis.facet->label), text_of(across, line_.fixed)).toStdString()});
  title_->setText(heading_);
  title_->setFont(small_font(font()));
  title_->setTextColor(plot_colors(palette()).text);
  setAccessibleName(heading_);
}

void SlicePlot::draw_values(const analysis::MapSlice& slice, const UnitScale& unit) {
  const PlotColors colors = plot_colors(palette());
  QCPGraph* graph = add_line(*axisRect(), QPen(colors.accent, 1.6));
  auto* bars = new QCPErrorBars(xAxis, yAxis);
  bars->setDataPlottable(graph);
  bars->setPen(QPen(colors.accent, 1.1));
  bars->setSymbolGap(0);
  int next = slice.points.empty() ? 0 : slice.points.front().place;
  for (const analysis::MapSlice::Point& point : slice.points) {
    // A place without a value breaks the line.
    for (; next < point.place; ++next) {
      graph->addData(next, std::numeric_limits<double>::quiet_NaN());
      bars->addData(0, 0);
    }
    ++next;
    graph->addData(point.place, point.value * unit.factor);
    bars->addData((point.value - point.low) * unit.factor, (point.high - point.value) * unit.factor);
  }
}

void SlicePlot::draw_best(const analysis::MapSlice& slice, const UnitScale& unit) {
  if (grid_.better == Better::neither || slice.points.empty()) return;
  const auto ahead = [&](const analysis::MapSlice::Point& a, const analysis::MapSlice::Point& b) {
    return grid_.better == Better::less ? a.value < b.value : a.value > b.value;
  };
  const auto best = std::ranges::min_element(slice.points, ahead);
  const QColor ink = plot_colors(palette()).dark ? QColor(0xffff9e64) : QColor(0xffd55e00);
  QCPGraph* mark = add_marks(*axisRect(), {QCPScatterStyle::ssCircle, QPen(ink, 2), Qt::NoBrush, 12});
  mark->setName(grid_.best_words());
  mark->addData(best->place, best->value * unit.factor);
}

void SlicePlot::draw_marks(const analysis::MapSlice& slice, const UnitScale& unit) {
  const PlotColors colors = plot_colors(palette());
  // Marks say what the values are, as everywhere.
  MarkGraphs marks(*axisRect(), [&](SampleMark mark) { return scatter_of(mark, colors.accent, colors.background); });
  for (const analysis::MapSlice::Point& point : slice.points) {
    QCPGraph& mark = marks.of(mark_of_values(point.provenance));
    mark.setName(to_qstring(point.provenance));
    mark.addData(point.place, point.value * unit.factor);
  }
}

void SlicePlot::show_axes(const analysis::MapSlice& slice, const UnitScale& unit) {
  Extent values = slice.points.empty() ? Extent{0, 1} : Extent();
  for (const analysis::MapSlice::Point& point : slice.points) {
    values.take(point.low);
    values.take(point.high);
  }
  const auto ticker = QSharedPointer<QCPAxisTickerText>::create();
  const auto count = static_cast<int>(along().size());
  const int step = std::max(1, static_cast<int>(std::ceil(count * 46.0 / std::max(1, width() - 80))));
  for (int i = 0; i < count; i += step) ticker->addTick(i, text_of(along(), i));
  xAxis->setTicker(ticker);
  xAxis->setRange(-0.5, count - 0.5);
  const double margin =
      values.high > values.low ? 0.08 * (values.high - values.low) : 0.1 * std::max(std::abs(values.high), 1.0);
  yAxis->setRange((values.low - margin) * unit.factor, (values.high + margin) * unit.factor);
  xAxis->setLabel(axis_title(along()));
  yAxis->setLabel(unit.suffix.isEmpty() ? grid_.label : QStringLiteral("%1 [%2]").arg(grid_.label, unit.suffix));
  const PlotColors colors = plot_colors(palette());
  setBackground(QBrush(colors.background));
  for (QCPAxis* axis : axisRect()->axes()) {
    style_axis(*axis, colors, small_font(font()));
    axis->setSubTicks(false);
  }
}

void SlicePlot::changeEvent(QEvent* event) {
  QCustomPlot::changeEvent(event);
  if (title_ != nullptr && (event->type() == QEvent::PaletteChange || event->type() == QEvent::FontChange)) redraw();
}

void SlicePlot::mousePressEvent(QMouseEvent* event) {
  QCustomPlot::mousePressEvent(event);
  if (grid_.empty() || !axisRect()->rect().contains(event->pos())) return;
  const double at = xAxis->pixelToCoord(event->position().x());
  const auto place = static_cast<int>(std::lround(at));
  const auto count = static_cast<int>(line_.along_x ? grid_.x.size() : grid_.y.size());
  if (place >= 0 && place < count && std::abs(at - place) <= click_reach) emit place_clicked(place);
}

}  // namespace attnscope::ui
