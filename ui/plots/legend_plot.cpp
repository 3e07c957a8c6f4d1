// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/plots/legend_plot.h"

#include <QHelpEvent>
#include <QJsonArray>
#include <QToolTip>
#include <algorithm>

#include "messages/curve_plot.h"
#include "ui/text/format.h"
#include "ui/text/qtext.h"

namespace attnscope::ui {
namespace {

/// Nothing where the axis cannot show that.
std::optional<QCPRange> range_of(const QJsonValue& value, const QCPAxis& axis) {
  const QJsonArray ends = value.toArray();
  const double low = ends.at(0).toDouble();
  const double high = ends.at(1).toDouble();
  const bool logarithmic = axis.scaleType() == QCPAxis::stLogarithmic;
  if (low >= high || !QCPRange::validRange(low, high) || (logarithmic && low <= 0)) return {};
  return QCPRange(low, high);
}

}  // namespace

LegendPlot::LegendPlot(QWidget* parent) : MarkedPlot(parent) {
  setInteractions(QCP::iRangeDrag | QCP::iRangeZoom);
  legend->setVisible(false);
  // The second of two quick clicks is a click as well.
  for (const auto clicked : {&QCustomPlot::legendClick, &QCustomPlot::legendDoubleClick}) {
    connect(this, clicked, this, [this](QCPLegend* /*box*/, QCPAbstractLegendItem* item, const QMouseEvent* event) {
      click_legend(item, event->modifiers());
    });
  }
  connect(this, &QCustomPlot::mouseWheel, this, &LegendPlot::zoomed_by_hand);
  connect(this, &QCustomPlot::mouseMove, this, [this](const QMouseEvent* event) {
    if ((event->buttons() & Qt::LeftButton) != 0) zoomed_by_hand();
  });
}

void LegendPlot::zoomed_by_hand() {
  user_view_ = true;
  zoom_to_come_ = {};
}

QJsonObject LegendPlot::zoom() const {
  if (!user_view_) return zoom_to_come_;
  const QCPRange x = xAxis->range();
  const QCPRange y = yAxis->range();
  return {{QStringLiteral("x"), QJsonArray{x.lower, x.upper}}, {QStringLiteral("y"), QJsonArray{y.lower, y.upper}}};
}

void LegendPlot::restore_zoom(const QJsonObject& zoom) {
  zoom_to_come_ = zoom;
  user_view_ = false;
}

void LegendPlot::take_zoom(bool more) {
  if (zoom_to_come_.isEmpty()) return;
  const auto x = range_of(zoom_to_come_[QStringLiteral("x")], *xAxis);
  const auto y = range_of(zoom_to_come_[QStringLiteral("y")], *yAxis);
  if (!more || !x || !y) zoom_to_come_ = {};
  if (!x || !y) return;
  xAxis->setRange(*x);
  yAxis->setRange(*y);
  user_view_ = true;
  replot(rpQueuedReplot);
}

void LegendPlot::draw_contents() {
  legend_.clear();
  const QStringList all = names();
  std::erase_if(hidden_, [&](const QString& name) { return !all.contains(name); });
}

void LegendPlot::lay_out(const QSize& size, PlotTarget target) {
  MarkedPlot::lay_out(size, target);
  legend_.lay_out(size, target);
}

void LegendPlot::click_legend(const QCPAbstractLegendItem* item, Qt::KeyboardModifiers modifiers) {
  const PlotLegend::Shown* entry = legend_.shown(item);
  if (entry == nullptr) return;
  const QStringList names = entry->curves;  // the legend is made anew
  modifiers.testFlag(Qt::ControlModifier) ? isolate(names) : toggle(names);
}

void LegendPlot::toggle(const QStringList& names) {
  const bool show = std::ranges::all_of(names, [this](const QString& name) { return is_hidden(name); });
  for (const QString& name : names) {
    if (show) {
      hidden_.erase(name);
    } else {
      hidden_.insert(name);
    }
  }
  redraw();
}

void LegendPlot::isolate(const QStringList& names) {
  std::set<QString> others;
  for (const QString& name : this->names()) {
    if (!names.contains(name)) others.insert(name);
  }
  hidden_ = hidden_ == others ? std::set<QString>() : others;
  redraw();
}

bool LegendPlot::event(QEvent* event) {
  if (event->type() != QEvent::ToolTip) return QCustomPlot::event(event);
  // A legend that found no room for all of itself says the rest here.
  const auto* help = static_cast<QHelpEvent*>(event);
  if (legend_.contains(help->pos())) {
    const QString words = legend_.words() + QStringLiteral("\n\n") + qtext(say::curve_plot::legend_help{});
    QToolTip::showText(help->globalPos(), plain_tip(words), this);
  } else {
    QToolTip::hideText();
    event->ignore();
  }
  return true;
}

void LegendPlot::mouseDoubleClickEvent(QMouseEvent* event) {
  const bool on_legend = legend_.contains(event->pos());  // which the click lays out anew
  QCustomPlot::mouseDoubleClickEvent(event);
  if (on_legend) return;
  zoom_to_come_ = {};
  reset_view();
}

}  // namespace attnscope::ui
