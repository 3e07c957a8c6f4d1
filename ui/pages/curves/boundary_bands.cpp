// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/curves/boundary_bands.h"

#include <algorithm>

#include "messages/curve_plot.h"
#include "ui/plots/curve_style.h"
#include "ui/plots/plot_parts.h"
#include "ui/text/format.h"
#include "ui/text/qtext.h"
#include "ui/theme/theme.h"

namespace attnscope::ui {
namespace {

constexpr double label_top = 0.08;  ///< shares of the axes' height
constexpr double tick_bottom = 1;
constexpr double tick_top = 0.955;
constexpr double band_strength = 34 / 255.0;
constexpr double bar_strength = 90 / 255.0;
constexpr double band_gap = 3;         ///< pixels
constexpr std::size_t most_drawn = 3;  ///< more would hide one another
constexpr double edge_strength = 130 / 255.0;
constexpr double label_ground = 190 / 255.0;
constexpr double label_room = 1.25;  ///< the ratio of two N between which a label finds room

/// A position at an N and a share of the axes' height.
void place(QCPItemPosition* position, double n, double share) {
  position->setTypeX(QCPItemPosition::ptPlotCoords);
  position->setTypeY(QCPItemPosition::ptAxisRectRatio);
  position->setCoords(n, share);
}

/// Filled only where no other lies over it: two fills would mix to a colour that is neither's.
void add_band(QCustomPlot& plot, const analysis::L2Boundary& at, const QColor& color, bool filled) {
  auto* band = new QCPItemRect(&plot);
  band->setLayer(QStringLiteral("grid"));  // below everything that was measured
  place(band->topLeft, at.n_low, 0);
  place(band->bottomRight, at.n_high, 1);
  band->setPen(QPen(faded(color, edge_strength), filled ? 1 : 1.6, filled ? Qt::DotLine : Qt::DashLine));
  if (filled) band->setBrush(faded(color, band_strength));
}

void add_tick(QCustomPlot& plot, double n, const QColor& color) {
  auto* tick = new QCPItemLine(&plot);
  place(tick->start, n, tick_bottom);
  place(tick->end, n, tick_top);
  tick->setPen(QPen(color, 2.4));
}

QString label_words(const Boundary& boundary) {
  const std::string algorithm = short_title(boundary.algorithm).toStdString();
  const std::string size = text(Capacity(boundary.at.l2_bytes));
  if (boundary.device.empty()) return qtext(say::curve_plot::leaves_l2{.algorithm = algorithm, .size = size});
  return qtext(say::curve_plot::leaves_l2_of{.algorithm = algorithm, .device = boundary.device, .size = size});
}

/// `left`: of the line at that N, along which it is written.
void add_label(QCustomPlot& plot, const Boundary& boundary, double n, bool left, const QColor& color) {
  auto* label = new QCPItemText(&plot);
  label->setText(label_words(boundary));
  label->setFont(plot.font());
  label->setColor(color);
  label->setRotation(-90);
  label->setBrush(faded(plot_colors(plot.palette()).background,
                        label_ground));  // a curve that crosses it stays in sight, and the words legible
  label->setPositionAlignment(Qt::AlignRight | (left ? Qt::AlignBottom : Qt::AlignTop));
  place(label->position, n, label_top);
}

/// Bands that would lie over one another become bars, one below the other, each with its label beside it, on the side
/// that has more room.
void add_bars(QCustomPlot& plot, const std::vector<Boundary>& boundaries, const QCPRange& n,
              const BandColor& color_of) {
  const PlotColors colors = plot_colors(plot.palette());
  const QFont font = small_font(plot.font());
  const double height = QFontMetricsF(font).height() - 2;
  for (std::size_t i = 0; i < boundaries.size(); ++i) {
    const Boundary& boundary = boundaries[i];
    const QColor color = color_of(boundary);
    const double top = band_gap + (height + band_gap) * static_cast<double>(i);
    auto* tick = new QCPItemLine(&plot);
    put_beside(plot, tick->start, {boundary.at.n_nominal, 0}, {0, top}, true);
    put_beside(plot, tick->end, {boundary.at.n_nominal, 0}, {0, top + height}, true);
    tick->setPen(QPen(color, 2.4));
    auto* label = new QCPItemText(&plot);
    label->setText(label_words(boundary));
    label->setFont(font);
    label->setColor(colors.text);
    label->setPadding({5, 0, 5, 0});
    const double last = std::max(boundary.at.n_high, boundary.at.n_nominal);
    const bool before = boundary.at.n_low / n.lower > n.upper / last;
    label->setPositionAlignment((before ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    put_beside(plot, label->position, {before ? boundary.at.n_low : last, 0}, {0, top + height / 2}, true);
    auto* bar = new QCPItemRect(&plot);
    put_beside(plot, bar->topLeft, {boundary.at.n_low, 0}, {0, top}, true);
    put_beside(plot, bar->bottomRight, {boundary.at.n_high, 0}, {0, top + height}, true);
    bar->setPen(Qt::NoPen);
    bar->setBrush(faded(color, bar_strength));
    for (QCPAbstractItem* item : {static_cast<QCPAbstractItem*>(tick), static_cast<QCPAbstractItem*>(label),
                                  static_cast<QCPAbstractItem*>(bar)}) {
      item->setLayer(QStringLiteral("grid"));  // below everything that was measured
    }
  }
}

}  // namespace

void add_boundary_bands(QCustomPlot& plot, const std::vector<Boundary>& boundaries, const QCPRange& n,
                        const BandColor& color_of) {
  if (boundaries.size() > most_drawn) return add_bars(plot, boundaries, n, color_of);
  for (const Boundary& boundary : boundaries) {
    const bool alone = std::ranges::none_of(boundaries, [&](const Boundary& other) {
      return &other != &boundary && other.at.n_low < boundary.at.n_high && boundary.at.n_low < other.at.n_high;
    });
    add_band(plot, boundary.at, color_of(boundary), alone);
    add_tick(plot, boundary.at.n_nominal, color_of(boundary));
  }
  // Each is written along the line at which its band ends, inside, or outside where another's line is as near.
  std::vector<const Boundary*> order;
  order.reserve(boundaries.size());
  for (const Boundary& boundary : boundaries) order.push_back(&boundary);
  std::ranges::sort(order, {}, [](const Boundary* boundary) { return boundary->at.n_high; });
  double taken = n.lower;
  for (const Boundary* boundary : order) {
    const double end = std::min(boundary->at.n_high, n.upper);
    const bool left = end / taken >= label_room || end * label_room > n.upper;
    add_label(plot, *boundary, end, left, color_of(*boundary));
    taken = left ? end : end * label_room;
  }
}

}  // namespace attnscope::ui
