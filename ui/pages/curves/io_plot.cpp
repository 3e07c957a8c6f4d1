// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/curves/io_curve_page.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "messages/curve_plot.h"
#include "profiler/curves/curve_panels.h"
#include "profiler/curves/curves.h"
#include "profiler/metrics/metrics.h"
#include "ui/plots/axis_tickers.h"
#include "ui/text/format.h"
#include "ui/text/qtext.h"
#include "ui/theme/theme.h"

namespace attnscope::ui {
namespace {

constexpr int min_right_margin = 14;
constexpr int outer_axis_width = 76;  ///< Estimated width of tick labels and title of the left axis.
constexpr int inner_axis_width = 20;  ///< The same without labels.
constexpr int min_panel_width = 260;
constexpr int min_height_with_strips = 330;
constexpr double strip_share = 0.34;  ///< Height of a strip relative to a row of panels.
/// Maximum distance in pixels between the pointer and the N of the crosshair.
constexpr double max_crosshair_distance = 60;
constexpr double grid_stretch = 0.001;
constexpr double closeness = 0.011;  ///< Fraction of the y range within which marks coincide.

struct View {
  QCPRange n;
  QCPRange value;
};

/// Returns the ranges that show the whole set, with margins.
View full_view(const CurveSet& set, bool log_x, bool log_y) {
  Extent n;
  Extent value;
  for (const Curve& curve : set.curves) {
    for (const CurvePoint& point : curve.points) {
      n.include(point.n);
      value.include(point.low);
      value.include(point.high);
    }
  }
  for (const FailedPoint& point : set.failed) n.include(point.n);
  const bool rate = set.ordinate == Ordinate::rate;
  if (value.high <= 0) value = rate ? Extent{1, 1000} : Extent{1e6, 1e9};
  if (n.high <= 0) n = {256, 16384};
  const double margin = n.low < n.high ? 1.25 : 4;
  const double step = n.low < n.high ? 0.06 * (n.high - n.low) : 0.5;
  // Metrics other than bytes and time usually span less than a decade.
  const double room = set.axis ? 1.6 : 3;
  return {log_x ? QCPRange(n.low / margin, n.high * margin) : QCPRange(n.low - step, n.high + step),
          log_y ? QCPRange(value.low / (set.axis ? 1.6 : 2), value.high * room)
                : QCPRange(std::min(0.0, 1.15 * value.low), value.high * 1.15)};
}

/// "DRAM" or "SM↔L2".
std::string level_title(const CurveSet& set) {
  const auto curve = std::ranges::find(set.curves, CurveKind::measured, &Curve::kind);
  return curve == set.curves.end() ? std::string() : quantity_title(*curve);
}

}  // namespace

IoPlot::IoPlot(QWidget* parent) : LegendPlot(parent), main_(axisRect()), outer_(new QCPLayoutGrid) {
  setNoAntialiasingOnDrag(true);
  xAxis->setScaleType(QCPAxis::stLogarithmic);
  xAxis->setTicker(length_ticker());
  // Models and simulations are drawn below measurements.
  addLayer(theory_layer(), layer(QStringLiteral("main")), limBelow);
  plotLayout()->take(main_);
  plotLayout()->addElement(1, 0, outer_);
  for (QCPAxis* axis : {xAxis, yAxis}) follow_range(axis);
  connect(this, &QCustomPlot::afterLayout, this, [this] {
    for (const auto& labels : labels_) labels->place();
  });
  rebuild();
}

void IoPlot::set_curves(const CurveSet& set, const Options& options, bool keep_view) {
  set_ = set;
  options_ = options;
  legend_values_ = CurveLegend(set_);
  crosshair_.reset();
  crosshair_panel_ = 0;
  update_legend();
  shape_ = shape_for(size(), PlotTarget::screen);
  if (keep_view) return redraw();
  rebuild();
  reset_view();
}

void IoPlot::redraw() {
  const QCPRange x = xAxis->range();
  const QCPRange y = yAxis->range();
  rebuild();
  xAxis->setRange(x);
  yAxis->setRange(y);
  reserve_label_width(axes_size(size(), PlotTarget::screen));
  replot(rpQueuedReplot);
}

QStringList IoPlot::series_keys() const {
  QStringList keys;
  for (const Curve& curve : set_.curves) {
    const QString key = to_qstring(series_key(curve));
    if (curve.kind == CurveKind::measured && !keys.contains(key)) keys << key;
  }
  return keys;
}

LegendContent IoPlot::legend_content() const {
  const std::optional<double> n = crosshair_ ? crosshair_ : legend_values_.last_common();
  return n ? legend_values_.at(*n, crosshair_panel_, plot_colors(palette())) : LegendContent{};
}

CurveSet IoPlot::visible_curves() const {
  CurveSet shown = set_;
  std::erase_if(shown.curves, [this](const Curve& curve) {
    return curve.kind == CurveKind::measured && is_hidden(to_qstring(series_key(curve)));
  });
  // Models, failed points and bands of an algorithm disappear with its last curve.
  const auto is_gone = [&](const std::string& algorithm) {
    const auto of_it = [&](const Curve& curve) {
      return curve.kind == CurveKind::measured && curve.name.algorithm == algorithm;
    };
    return std::ranges::any_of(set_.curves, of_it) && std::ranges::none_of(shown.curves, of_it);
  };
  std::erase_if(shown.failed, [&](const FailedPoint& point) { return is_gone(point.algorithm); });
  std::erase_if(shown.boundaries, [&](const Boundary& band) { return is_gone(band.algorithm); });
  std::erase_if(shown.curves,
                [&](const Curve& curve) { return curve.kind == CurveKind::model && is_gone(curve.name.algorithm); });
  const View view = full_view(set_, log_x(), log_y());
  std::erase_if(shown.boundaries,
                [&](const Boundary& band) { return band.at.n_high <= view.n.lower || band.at.n_low >= view.n.upper; });
  return shown;
}

IoPlot::Shape IoPlot::shape_for(const QSize& size, PlotTarget target) const {
  const auto panels = static_cast<int>(std::max<std::size_t>(1, set_.panels.size()));
  const int wanted = panels == 4 ? 2 : std::min(panels, 3);
  const QSize axes = axes_size(size, target);
  return {.columns = std::clamp(axes.width() / min_panel_width, 1, wanted),
          .strips = axes.height() >= min_height_with_strips};
}

void IoPlot::fit(const QSize& size, PlotTarget target) {
  if (const Shape shape = shape_for(size, target); shape != shape_) {
    shape_ = shape;
    redraw();
  }
  LegendPlot::fit(size, target);
  reserve_label_width(axes_size(size, target));
}

void IoPlot::follow_range(QCPAxis* axis) {
  connect(axis, qOverload<const QCPRange&>(&QCPAxis::rangeChanged), this, [this, axis](const QCPRange& range) {
    overlay_->clear();
    if (std::exchange(following_, true)) return;
    const bool horizontal = axis->orientation() == Qt::Horizontal;
    for (QCPAxisRect* panel : panels_) {
      panel->axis(horizontal ? QCPAxis::atBottom : QCPAxis::atLeft)->setRange(range);
    }
    for (const auto* strips : {&residuals_, &ratios_}) {
      for (QCPAxisRect* strip : *strips) {
        if (horizontal) strip->axis(QCPAxis::atBottom)->setRange(range);
      }
    }
    following_ = false;
  });
}

QCPAxisRect* IoPlot::add_panel(std::size_t place) {
  const auto column = static_cast<int>(place) % shape_.columns;
  const bool titled = !shown_.panels[place].empty();
  const int row = (titled ? 2 : 1) * (static_cast<int>(place) / shape_.columns);
  if (titled) {
    auto* title = new QCPTextElement(this, QString::fromStdString(shown_.panels[place]), bold(font()));
    title->setTextColor(plot_colors(palette()).text);
    grid_->addElement(row, column, title);
    grid_->setRowStretchFactor(row, grid_stretch);
  }
  QCPAxisRect* rect = place == 0 ? main_ : new QCPAxisRect(this);
  grid_->addElement(titled ? row + 1 : row, column, rect);
  QCPAxis* bottom = rect->axis(QCPAxis::atBottom);
  QCPAxis* left = rect->axis(QCPAxis::atLeft);
  if (place > 0) {
    for (QCPAxis* axis : rect->axes()) {
      axis->setLayer(QStringLiteral("axes"));
      axis->grid()->setLayer(QStringLiteral("grid"));
    }
    bottom->setScaleType(xAxis->scaleType());
    bottom->setTicker(xAxis->ticker());
    bottom->setLabel(xAxis->label());
    bottom->setRange(xAxis->range());
    left->setScaleType(yAxis->scaleType());
    left->setTicker(yAxis->ticker());
    left->setRange(yAxis->range());
    follow_range(bottom);
    follow_range(left);
  }
  left->setTickLabels(column == 0);
  if (column == 0) left->setLabel(yAxis->label());
  return rect;
}

QCPAxisRect* IoPlot::add_strip(QCPLayoutGrid& grid, int row, int column, const QString& label) {
  auto* strip = new QCPAxisRect(this);
  grid.addElement(row, column, strip);
  strip->setRangeZoom(Qt::Orientations());
  strip->setRangeDrag(Qt::Orientations());
  QCPAxis* bottom = strip->axis(QCPAxis::atBottom);
  bottom->setScaleType(xAxis->scaleType());
  bottom->setTicker(xAxis->ticker());
  bottom->setRange(xAxis->range());
  strip->axis(QCPAxis::atLeft)->setTickLabels(column == 0);
  if (column == 0) strip->axis(QCPAxis::atLeft)->setLabel(label);
  return strip;
}

void IoPlot::build_strips() {
  const auto columns = static_cast<int>(panels_.size());
  if (!shape_.strips || columns > shape_.columns) return;  // Strips are below a single row of panels.
  const auto add_row = [&](std::vector<QCPAxisRect*>& strips, const QString& label) {
    const int row = grid_->rowCount();
    for (int column = 0; column < columns; ++column) {
      strips.push_back(add_strip(*grid_, row, column, label));
      strips.back()->setMarginGroup(QCP::msLeft | QCP::msRight, margins_[static_cast<std::size_t>(column)].get());
    }
    grid_->setRowStretchFactor(row, strip_share);
  };
  if (options_.residuals && !residual_curves(shown_).empty()) {
    add_row(residuals_, qtext(msg::curve_plot::residual_axis{}));
  }
  if (ratio_curves(shown_).empty()) return;
  const QString label = to_qstring(ratio_title(shown_));
  if (columns > 2) return add_row(ratios_, label);
  // The ratio of two panels is below both.
  ratios_.push_back(add_strip(*outer_, 1, 0, label));
  ratios_.back()->setMarginGroup(QCP::msLeft, margins_.front().get());
  ratios_.back()->setMarginGroup(QCP::msRight, margins_.back().get());
  outer_->setRowStretchFactor(1, strip_share);
}

void IoPlot::build_panels() {
  if (grid_ != nullptr) grid_->take(main_);
  panels_.clear();
  residuals_.clear();
  ratios_.clear();
  labels_.clear();
  outer_->clear();
  outer_->simplify();
  margins_.clear();
  grid_ = new QCPLayoutGrid;
  grid_->setColumnSpacing(6);
  grid_->setRowSpacing(2);
  outer_->addElement(0, 0, grid_);
  outer_->setRowSpacing(2);
  for (std::size_t place = 0; place < std::max<std::size_t>(1, shown_.panels.size()); ++place) {
    panels_.push_back(add_panel(place));
    margins_.push_back(std::make_unique<QCPMarginGroup>(this));
    panels_.back()->setMarginGroup(QCP::msLeft | QCP::msRight, margins_.back().get());
    labels_.push_back(std::make_unique<LineLabels>(*this, *panels_.back()));
  }
  build_strips();
}

void IoPlot::reserve_label_width(const QSize& axes) {
  if (grid_ == nullptr) return;
  const int columns = std::max(1, grid_->columnCount());
  std::vector<int> margins(static_cast<std::size_t>(columns), 0);
  int all = 0;
  for (std::size_t i = 0; i < panels_.size(); ++i) {
    const int right = std::max(labels_[i]->required_width(axes.width() / columns), min_right_margin);
    panels_[i]->setMinimumMargins({0, 0, right, 0});
    int& margin = margins[i % margins.size()];
    margin = std::max(margin, right + (i % margins.size() == 0 ? outer_axis_width : inner_axis_width));
  }
  for (const int margin : margins) all += margin;
  // Equal widths of the axes without tick labels.
  const double inner = std::max(40.0, static_cast<double>(axes.width() - all) / columns);
  for (int column = 0; column < columns; ++column) {
    grid_->setColumnStretchFactor(column, inner + margins[static_cast<std::size_t>(column)]);
  }
}

void IoPlot::reset_view() {
  const View view = full_view(set_, log_x(), log_y());
  xAxis->setRange(view.n);
  yAxis->setRange(view.value);
  reserve_label_width(axes_size(size(), PlotTarget::screen));
  is_user_zoomed_ = false;
  replot(rpQueuedReplot);
}

void IoPlot::draw_contents() {
  LegendPlot::draw_contents();
  points_ = set_.points;
  title_text_ = set_.title;
  shown_ = visible_curves();
  if (shown_.panels.empty()) shown_.panels.emplace_back();
  headline_text_ = qtext(analysis::headline(shown_));
  set_axis_labels();
  build_panels();
  const View view = full_view(set_, log_x(), log_y());
  const auto scale = [log = log_y()](double value) { return log ? std::log(value) : value; };
  const MarkShifts shifts =
      shift_marks(shown_, scale, closeness * (scale(view.value.upper) - scale(std::max(view.value.lower, 1e-300))));
  for (std::size_t place = 0; place < panels_.size(); ++place) draw_panel(place, shifts);
  find_marks(shifts);
  if (!ratios_.empty()) {
    const std::vector<analysis::RatioCurve> ratios = ratio_curves(shown_);
    for (std::size_t i = 0; i < ratios_.size(); ++i) {
      const CurvePanel strip{*this, *ratios_[i], shown_, i};
      draw_ratios(strip, ratios, ratios_.size() == 1);
      draw_margin(strip);
    }
  }
  for (QCPAxisRect* panel : axisRects()) {
    for (QCPAxis* axis : panel->axes()) style_axis(*axis, plot_colors(palette()), font());
  }
}

void IoPlot::draw_panel(std::size_t place, const MarkShifts& shifts) {
  const CurvePanel panel{*this, *panels_[place], shown_, place};
  add_curve_graphs(panel, shifts);
  add_boundary_bars(panel, full_view(set_, log_x(), log_y()).n);
  for (const auto& [i, height] : add_failed_marks(panel)) {
    const FailedPoint& point = shown_.failed[i];
    marks_.push_back({panels_[place], point.n, height, 0, i, {point.row}, 0, true});
  }
  labels_[place]->set(shown_.curves, place, plot_colors(palette()));
  if (!residuals_.empty()) draw_ratios({*this, *residuals_[place], shown_, place}, residual_curves(shown_), false);
}

void IoPlot::find_marks(const MarkShifts& shifts) {
  // In reverse order, so that the first curve gets the click if points coincide.
  for (std::size_t c = shown_.curves.size(); c-- > 0;) {
    const Curve& curve = shown_.curves[c];
    if (curve.kind != CurveKind::measured) continue;
    for (std::size_t i = 0; i < curve.points.size(); ++i) {
      const CurvePoint& point = curve.points[i];
      if (point.row) {
        marks_.push_back({panels_[curve.panels.front()], point.n, point.value, c, i, {*point.row}, shifts.at(c, i)});
      }
    }
  }
}

bool IoPlot::log_x() const {
  if (!set_.places.empty()) return false;
  return options_.x != Scale::linear;
}

bool IoPlot::log_y() const {
  const bool positive = std::ranges::all_of(set_.curves, [](const Curve& curve) {
    return std::ranges::all_of(curve.points, [](const CurvePoint& point) { return point.low > 0; });
  });
  if (!positive) return false;
  if (options_.y != Scale::automatic) return options_.y == Scale::logarithmic;
  const Metric* metric = find_metric(set_.metric);
  if (metric != nullptr) return metric->unit == "byte" || metric->unit == "ns" || metric->unit == "cycle";
  return set_.ordinate != Ordinate::rate;
}

void IoPlot::set_axis_labels() {
  xAxis->setScaleType(log_x() ? QCPAxis::stLogarithmic : QCPAxis::stLinear);
  yAxis->setScaleType(log_y() ? QCPAxis::stLogarithmic : QCPAxis::stLinear);
  if (set_.axis) {
    set_metric_axis_labels();
  } else {
    set_n_axis_labels();
  }
}

void IoPlot::set_metric_axis_labels() {
  const Metric* metric = find_metric(set_.metric);
  Extent values;
  bool octaves = true;  // Powers of two (1, 2, 4, 8 GPUs) have a tick at each point.
  for (const Curve& curve : set_.curves) {
    for (const CurvePoint& point : curve.points) {
      values.include(point.high);
      octaves = octaves && std::exp2(std::round(std::log2(point.n))) == point.n;
    }
  }
  const UnitScale unit =
      unit_scale(values.high > 0 ? values.high : 1, metric == nullptr ? std::string_view() : metric->unit);
  yAxis->setTicker(round_ticker(unit.factor, log_y()));
  const QString label = metric_label(set_.metric);
  yAxis->setLabel(unit.suffix.empty() || to_qstring(unit.suffix) == label
                      ? label
                      : QStringLiteral("%1 [%2]").arg(label, to_qstring(unit.suffix)));
  xAxis->setLabel(qtext(set_.axis->facet->label));
  if (set_.places.empty()) {
    const bool length = set_.axis->key() == "n" || set_.axis->key() == "n_k";
    xAxis->setTicker((length || octaves) && log_x() ? length_ticker() : round_ticker(1, log_x()));
    return;
  }
  auto ticker = QSharedPointer<QCPAxisTickerText>::create();
  for (std::size_t i = 0; i < set_.places.size(); ++i) {
    ticker->addTick(static_cast<double>(i) + 1, QString::fromStdString(set_.places[i]));
  }
  xAxis->setTicker(ticker);
}

void IoPlot::set_n_axis_labels() {
  xAxis->setTicker(log_x() ? length_ticker() : round_ticker(1, false));
  xAxis->setLabel(set_.queries ? qtext(msg::curve_plot::keys_axis{.n_q = *set_.queries})
                               : qtext(msg::curve_plot::length_axis{}));
  switch (set_.ordinate) {
    case Ordinate::bytes:
      yAxis->setTicker(log_y() ? byte_ticker() : linear_byte_ticker());
      yAxis->setLabel(qtext(msg::curve_plot::bytes_axis{.level = level_title(set_)}));
      break;
    case Ordinate::time:
      yAxis->setTicker(log_y() ? time_ticker() : round_ticker(1e-6, false));
      yAxis->setLabel(qtext(msg::curve_plot::time_axis{}));
      break;
    case Ordinate::rate:
      yAxis->setTicker(round_ticker(1, log_y()));
      yAxis->setLabel(qtext(msg::curve_plot::rate_axis{}));
      break;
  }
}

QStringList IoPlot::line_labels() const {
  QStringList texts;
  for (const auto& labels : labels_) texts << labels->texts();
  return texts;
}

HoverContent IoPlot::read_out(const Mark& mark) const {
  if (mark.is_axis_fraction) return describe_failure(shown_, shown_.failed[mark.point]);
  const Curve& curve = shown_.curves[mark.series];
  return describe_point(shown_, curve, curve.points[mark.point], plot_colors(palette()));
}

std::optional<std::size_t> IoPlot::panel_at(const QPointF& position) const {
  for (const auto* rects : {&panels_, &residuals_, &ratios_}) {
    for (std::size_t i = 0; i < rects->size(); ++i) {
      if ((*rects)[i]->rect().contains(position.toPoint())) return i;
    }
  }
  return std::nullopt;
}

void IoPlot::move_crosshair(std::optional<double> n, std::size_t panel) {
  std::vector<QLineF> guides;
  for (const auto* rects : {&panels_, &residuals_, &ratios_}) {
    for (const QCPAxisRect* rect : *rects) {
      if (!n) continue;
      const double x = rect->axis(QCPAxis::atBottom)->coordToPixel(*n);
      if (x >= rect->left() && x <= rect->right()) guides.emplace_back(x, rect->top(), x, rect->bottom());
    }
  }
  overlay_->set_guides(std::move(guides));
  if (crosshair_ == n && crosshair_panel_ == panel) return;
  crosshair_ = n;
  crosshair_panel_ = panel;
  update_legend();
}

bool IoPlot::hover_at(const QPointF& position) {
  const std::vector<double>& positions = legend_values_.positions();
  const std::optional<std::size_t> panel = panel_at(position);
  const QCPAxis* axis = panel ? panels_[*panel]->axis(QCPAxis::atBottom) : xAxis;
  const auto distance = [&](double n) { return std::abs(axis->coordToPixel(n) - position.x()); };
  const auto nearest = std::ranges::min_element(positions, {}, distance);
  if (!panel || nearest == positions.end() || distance(*nearest) > max_crosshair_distance) {
    overlay_->hide_box();
    move_crosshair(std::nullopt, crosshair_panel_);
    return false;
  }
  move_crosshair(*nearest, *panel);
  const Mark* mark = mark_near(position);
  mark != nullptr ? overlay_->show_content(read_out(*mark), position.toPoint()) : overlay_->hide_box();
  return true;
}

void IoPlot::leaveEvent(QEvent* event) {
  LegendPlot::leaveEvent(event);
  move_crosshair(std::nullopt, 0);
}

void IoPlot::keyPressEvent(QKeyEvent* event) {
  if (event->key() == Qt::Key_Home || event->key() == Qt::Key_0) return reset_view();
  LegendPlot::keyPressEvent(event);
}

}  // namespace attnscope::ui
