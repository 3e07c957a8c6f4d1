// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/plots/slice_plot.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "messages/tile_map.h"
#include "ui/models/facet_words.h"
#include "ui/plots/curve_style.h"
#include "ui/plots/heatmap_words.h"
#include "ui/said.h"
#include "ui/theme.h"

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
  const PlotColors colors = plot_colors(palette());
  const analysis::MapAxis& along = line_.along_x ? grid_.x : grid_.y;
  const analysis::MapAxis& across = line_.along_x ? grid_.y : grid_.x;
  const analysis::MapSlice slice = analysis::slice_of(grid_, line_.along_x, line_.fixed);
  heading_ = said(say::tile_map::slice{
      .metric = grid_.label.toStdString(),
      .axis = said(along.axis.facet->label).toStdString(),
      .fixed =
          QStringLiteral("%1 %2").arg(said(across.axis.facet->label), text_of(across, line_.fixed)).toStdString()});
  title_->setText(heading_);
  title_->setFont(small_font(font()));
  title_->setTextColor(colors.text);
  setAccessibleName(heading_);
  const UnitScale unit = unit_scale(grid_.colors ? grid_.colors->high : 1, grid_.unit);
  QCPGraph* graph = addGraph();
  graph->setPen(QPen(colors.accent, 1.6));
  auto* bars = new QCPErrorBars(xAxis, yAxis);
  bars->setDataPlottable(graph);
  bars->setPen(QPen(colors.accent, 1.1));
  bars->setSymbolGap(0);
  double low = slice.points.empty() ? 0 : slice.points.front().low;
  double high = slice.points.empty() ? 1 : slice.points.front().high;
  const analysis::MapSlice::Point* best = nullptr;
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
    low = std::min(low, point.low);
    high = std::max(high, point.high);
    const bool ahead =
        best == nullptr || (grid_.better == Better::less ? point.value < best->value : point.value > best->value);
    if (grid_.better != Better::neither && ahead) best = &point;
  }
  if (best != nullptr) {
    QCPGraph* mark = addGraph();
    mark->setName(grid_.best_words());
    mark->setLineStyle(QCPGraph::lsNone);
    const QColor ink = colors.dark ? QColor(0xffff9e64) : QColor(0xffd55e00);
    mark->setScatterStyle({QCPScatterStyle::ssCircle, QPen(ink, 2), Qt::NoBrush, 12});
    mark->addData(best->place, best->value * unit.factor);
  }
  // Marks say what the values are, as everywhere.
  std::map<Provenance, QCPGraph*> marks;
  for (const analysis::MapSlice::Point& point : slice.points) {
    QCPGraph*& mark = marks[point.provenance];
    if (mark == nullptr) {
      mark = addGraph();
      mark->setName(to_qstring(point.provenance));
      mark->setLineStyle(QCPGraph::lsNone);
      mark->setScatterStyle(scatter_of(mark_of_values(point.provenance), colors.accent, colors.background));
    }
    mark->addData(point.place, point.value * unit.factor);
  }
  const auto ticker = QSharedPointer<QCPAxisTickerText>::create();
  const auto count = static_cast<int>(along.size());
  const int step = std::max(1, static_cast<int>(std::ceil(count * 46.0 / std::max(1, width() - 80))));
  for (int i = 0; i < count; i += step) ticker->addTick(i, text_of(along, i));
  xAxis->setTicker(ticker);
  xAxis->setRange(-0.5, count - 0.5);
  const double margin = high > low ? 0.08 * (high - low) : 0.1 * std::max(std::abs(high), 1.0);
  yAxis->setRange((low - margin) * unit.factor, (high + margin) * unit.factor);
  xAxis->setLabel(axis_title(along));
  yAxis->setLabel(unit.suffix.isEmpty() ? grid_.label : QStringLiteral("%1 [%2]").arg(grid_.label, unit.suffix));
  setBackground(QBrush(colors.background));
  for (QCPAxis* axis : axisRect()->axes()) {
    axis->setBasePen(QPen(colors.axis));
    axis->setTickPen(QPen(colors.axis));
    axis->setSubTicks(false);
    axis->setTickLabelColor(colors.text);
    axis->setLabelColor(colors.text);
    axis->setTickLabelFont(small_font(font()));
    axis->setLabelFont(small_font(font()));
    axis->grid()->setPen(QPen(colors.grid, 1));
    axis->grid()->setZeroLinePen(Qt::NoPen);
  }
  replot(rpQueuedReplot);
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
