// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/plots/boundary_bands.h"

#include <QCoreApplication>
#include <algorithm>
#include <cmath>

#include "ui/format.h"
#include "ui/theme.h"

namespace attnscope::ui {
namespace {

constexpr double label_top = 0.08;  ///< shares of the axes' height
constexpr double tick_bottom = 1;
constexpr double tick_top = 0.955;
constexpr int band_alpha = 34;
constexpr int edge_alpha = 130;
constexpr double label_room = 1.25;  ///< the ratio of two labels' N from which both find room side by side

/// A position at an N and a share of the axes' height.
void place(QCPItemPosition* position, double n, double share) {
  position->setTypeX(QCPItemPosition::ptPlotCoords);
  position->setTypeY(QCPItemPosition::ptAxisRectRatio);
  position->setCoords(n, share);
}

void add_band(QCustomPlot& plot, const analysis::L2Boundary& at, QColor color) {
  auto* band = new QCPItemRect(&plot);
  band->setLayer(QStringLiteral("grid"));  // below everything that was measured
  place(band->topLeft, at.n_low, 0);
  place(band->bottomRight, at.n_high, 1);
  color.setAlpha(edge_alpha);
  band->setPen(QPen(color, 1, Qt::DotLine));
  color.setAlpha(band_alpha);
  band->setBrush(color);
}

void add_tick(QCustomPlot& plot, double n, const QColor& color) {
  auto* tick = new QCPItemLine(&plot);
  place(tick->start, n, tick_bottom);
  place(tick->end, n, tick_top);
  tick->setPen(QPen(color, 2.4));
}

QCPItemText* add_label(QCustomPlot& plot, const Boundary& boundary, const QColor& color) {
  auto* label = new QCPItemText(&plot);
  const QString device =
      boundary.device.empty() ? QString() : QString::fromStdString(boundary.device) + QLatin1Char(' ');
  label->setText(QCoreApplication::translate("IoPlot", "%1 leaves the %2L2 (%3)")
                     .arg(short_title(boundary.algorithm), device, format_capacity(boundary.at.l2_bytes)));
  label->setFont(plot.font());
  label->setColor(color);
  label->setRotation(-90);
  label->setPositionAlignment(Qt::AlignRight | Qt::AlignVCenter);
  place(label->position, std::sqrt(boundary.at.n_low * boundary.at.n_high), label_top);
  return label;
}

}  // namespace

void add_boundary_bands(QCustomPlot& plot, const std::vector<Boundary>& boundaries) {
  const PlotColors colors = plot_colors(plot.palette());
  struct Label {
    QCPItemText* text;
    double n;
  };
  std::vector<Label> labels;
  for (const Boundary& boundary : boundaries) {
    const QColor color = algorithm_color(boundary.algorithm, colors.dark);
    add_band(plot, boundary.at, color);
    add_tick(plot, boundary.at.n_nominal, color);
    labels.push_back({add_label(plot, boundary, color), std::sqrt(boundary.at.n_low * boundary.at.n_high)});
  }
  // Where two bands lie over one another, their labels stand to either side.
  std::sort(labels.begin(), labels.end(), [](const Label& a, const Label& b) { return a.n < b.n; });
  for (std::size_t i = 1; i < labels.size(); ++i) {
    if (labels[i].n / labels[i - 1].n >= label_room) continue;
    labels[i - 1].text->setPositionAlignment(Qt::AlignRight | Qt::AlignBottom);
    labels[i].text->setPositionAlignment(Qt::AlignRight | Qt::AlignTop);
  }
}

}  // namespace attnscope::ui
