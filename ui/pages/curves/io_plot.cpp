// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/curves/io_plot.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <set>
#include <utility>

#include "messages/curve_plot.h"
#include "profiler/curves/curve_axes.h"
#include "profiler/metrics/metrics.h"
#include "ui/pages/curves/curve_graphs.h"
#include "ui/plots/axis_tickers.h"
#include "ui/plots/curve_style.h"
#include "ui/plots/plot_parts.h"
#include "ui/text/format.h"
#include "ui/text/qtext.h"
#include "ui/theme/theme.h"

namespace attnscope::ui {
namespace {

/// "558 – 598" in the value's unit, or with units if they differ; empty if the ends are equal when formatted.
QString format_range(const CurvePoint& point, const Curve& quantity) {
  QString low = format_quantity(point.low, quantity);
  const QString high = format_quantity(point.high, quantity);
  if (low == high) return {};
  const auto unit = [](const QString& text) { return text.section(QLatin1Char(' '), 1); };
  const QString value_unit = unit(format_quantity(point.value, quantity));
  if (unit(low) != value_unit || unit(high) != value_unit) return low + QStringLiteral(" – ") + high;
  return low.section(QLatin1Char(' '), 0, 0) + QStringLiteral(" – ") + high.section(QLatin1Char(' '), 0, 0);
}

const CurvePoint* point_at(const Curve& curve, double n) {
  const auto at = std::lower_bound(curve.points.begin(), curve.points.end(), n,
                                   [](const CurvePoint& point, double wanted) { return point.n < wanted; });
  return at == curve.points.end() || at->n != n ? nullptr : &*at;
}

/// Collects the read-out at one N, curve by curve.
class ColumnBuilder {
 public:
  ColumnBuilder(const CurveSet& set, const PlotColors& colors, double n) : set_(set), colors_(colors), n_(n) {
    for (const Curve& curve : set_.curves) {
      const CurvePoint* at = point_at(curve, n_);
      if (at == nullptr) continue;
      if (at->over_modeled && curve.quantity != Quantity::dram) compared_.insert(curve.name.algorithm);
    }
    for (const Curve& curve : set_.curves) add_curve(curve);
    std::stable_sort(rows_.begin(), rows_.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  }

  [[nodiscard]] HoverColumn column() const {
    HoverColumn column;
    column.n = n_;
    const std::string length = number_text(n_, 9);
    Message title = msg::curve_plot::at_n{.n = length};
    if (set_.axis) title = msg::curve_plot::at_position{.place = position_text(set_, n_)};
    if (set_.queries) title = msg::curve_plot::at_n_k{.n_k = length, .n_q = *set_.queries};
    column.content.title = qtext(title);
    for (const auto& [value, row] : rows_) column.content.rows.push_back(row);
    column.content.notes = notes();
    return column;
  }

 private:
  void add_curve(const Curve& curve) {
    const CurvePoint* at = point_at(curve, n_);
    if (at == nullptr) return;
    if (curve.kind == CurveKind::model && compared_.contains(curve.name.algorithm)) return;
    QString value = format_quantity(at->value, curve);
    QString label = to_qstring(label_of(curve, *at));
    if (at->row) {
      note_source(curve, *at);
      value += value_details(curve, *at);
      // Name the tile, because curves of one algorithm may have different tiles.
      const Config& tile = set_.table().tile_of(*at->row);
      if (has_tile(tile.tile)) label += QStringLiteral(" · ") + format_tile(tile);
    }
    rows_.emplace_back(at->value, HoverRow{curve_color(curve, colors_), mark_of(curve, *at), label, value});
  }

  void note_source(const Curve& curve, const CurvePoint& at) {
    const QString title = short_title(curve.name.algorithm);
    has_unsettled_ =
        has_unsettled_ || (curve.quantity == Quantity::dram && !at.settled && curve.provenance == Provenance::measured);
    if (!at.throttled) return;
    const std::uint64_t reasons = set_.table().points().throttle_reasons(*at.row);
    QStringList& slowed = throttled_[qtext(describe_throttle_reasons(reasons))];
    if (!slowed.contains(title)) slowed << title;
  }

  /// Number of measurements, range, and ratio to the model.
  [[nodiscard]] QString value_details(const Curve& curve, const CurvePoint& at) const {
    QString text;
    QStringList details;
    if (at.repeats > 1) details << qtext(msg::curve_plot::measurements{.measurements = at.repeats});
    if (const QString range = format_range(at, curve); !range.isEmpty()) details << range;
    if (!details.isEmpty()) text += QStringLiteral(" (%1)").arg(details.join(QStringLiteral(", ")));
    if (at.over_modeled) {
      const std::string ratio = QString::number(*at.over_modeled, 'f', 3).toStdString();
      text += QStringLiteral(" = ") + qtext(msg::curve_plot::times_model{.ratio = ratio});
    }
    return text;
  }

  [[nodiscard]] QStringList notes() const {
    QStringList notes;
    for (const FailedPoint& point : set_.failed) {
      if (point.n != n_) continue;
      notes << QStringLiteral("✕ %1: %2 – %3")
                   .arg(short_title(point.algorithm), qtext(title(set_.table().disposition(point.row))),
                        compiler_error_line(qtext(set_.table().reason(point.row))));
    }
    for (const auto& [why, slowed] : throttled_) {
      QString words = set_.ordinate == Ordinate::bytes ? qtext(msg::curve_plot::throttled_times{}) : throttled_text();
      if (!why.isEmpty()) words += QStringLiteral(" (%1)").arg(why);
      notes << words + QStringLiteral(": ") + slowed.join(QStringLiteral(", "));
    }
    if (has_unsettled_) notes << qtext(msg::curve_plot::no_writeback{});
    return notes;
  }

  const CurveSet& set_;
  const PlotColors& colors_;
  double n_;
  /// Algorithms with a ratio to the model in their row; they need no separate model row.
  std::set<std::string> compared_;
  std::vector<std::pair<double, HoverRow>> rows_;
  bool has_unsettled_ = false;
  std::map<QString, QStringList> throttled_;  ///< Algorithms, keyed by throttle reason.
};

}  // namespace

std::vector<HoverColumn> build_hover_columns(const CurveSet& set, const PlotColors& colors) {
  std::set<double> lengths;
  for (const Curve& curve : set.curves) {
    if (curve.kind != CurveKind::measured) continue;
    for (const CurvePoint& point : curve.points) lengths.insert(point.n);
  }
  for (const FailedPoint& point : set.failed) lengths.insert(point.n);
  std::vector<HoverColumn> columns;
  columns.reserve(lengths.size());
  for (const double n : lengths) columns.push_back(ColumnBuilder(set, colors, n).column());
  return columns;
}

namespace {

constexpr int min_right_margin = 14;
constexpr int min_height_with_residuals =
    420;  ///< Leaves at least 300 pixels for axes and panel, between title and legend.
/// Maximum distance in pixels between the pointer and the N of the read-out.
constexpr double max_guide_distance = 60;

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

}  // namespace

IoPlot::IoPlot(QWidget* parent) : LegendPlot(parent) {
  setNoAntialiasingOnDrag(true);
  xAxis->setScaleType(QCPAxis::stLogarithmic);
  xAxis->setTicker(length_ticker());
  // Theory and simulation are drawn below measurements.
  addLayer(theory_layer(), layer(QStringLiteral("main")), limBelow);
  addLayer(older_layer(), layer(theory_layer()), limBelow);
  connect(xAxis, qOverload<const QCPRange&>(&QCPAxis::rangeChanged), this, [this](const QCPRange& range) {
    overlay_->clear();
    residuals_.set_range(range);
  });
  connect(this, &QCustomPlot::afterLayout, this, [this] { labels_.place(); });
  rebuild();
}

void IoPlot::set_curves(const CurveSet& set, bool keep_view) {
  set_ = set;
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
  reserve_label_width(width());
  replot(rpQueuedReplot);
}

QStringList IoPlot::names() const {
  QStringList labels;
  for (const Curve& curve : set_.curves) labels << to_qstring(curve.label);
  return labels;
}

CurveSet IoPlot::visible_curves() const {
  CurveSet shown = set_;
  std::erase_if(shown.curves, [this](const Curve& curve) { return is_hidden(to_qstring(curve.label)); });
  // Failed points and bands of an algorithm disappear with its last curve.
  const auto gone = [&](const auto& mark) {
    const auto of_its_algorithm = [&](const Curve& curve) { return curve.name.algorithm == mark.algorithm; };
    return std::ranges::any_of(set_.curves, of_its_algorithm) && std::ranges::none_of(shown.curves, of_its_algorithm);
  };
  std::erase_if(shown.failed, gone);
  std::erase_if(shown.boundaries, [&](const Boundary& band) {
    const auto of_band = [&](const Curve& curve) {
      return curve.name.algorithm == band.algorithm && (band.device.empty() || curve.name.device == band.device);
    };
    return std::ranges::any_of(set_.curves, of_band) && std::ranges::none_of(shown.curves, of_band);
  });
  // Bands outside the axes have no legend entry.
  const View view = full_view(set_, log_x(), log_y());
  std::erase_if(shown.boundaries,
                [&](const Boundary& band) { return band.at.n_high <= view.n.lower || band.at.n_low >= view.n.upper; });
  return shown;
}

void IoPlot::reserve_label_width(int width) {
  const int room = labels_.required_width(width);
  axisRect()->setMinimumMargins({0, 0, std::max(room, min_right_margin), 0});
}

void IoPlot::fit(const QSize& size, PlotTarget target) {
  const bool low = size.height() < min_height_with_residuals;
  if (std::exchange(low_, low) != low && residuals_shown_) redraw();
  LegendPlot::fit(size, target);
  reserve_label_width(size.width());
}

void IoPlot::reset_view() {
  const View view = full_view(set_, log_x(), log_y());
  xAxis->setRange(view.n);
  yAxis->setRange(view.value);
  reserve_label_width(width());
  is_user_zoomed_ = false;
  replot(rpQueuedReplot);
}

void IoPlot::draw_contents() {
  LegendPlot::draw_contents();
  points_ = set_.points;
  title_text_ = set_.title;
  current_column_ = -1;
  shown_ = visible_curves();
  const auto hidden_curves = static_cast<std::int64_t>(hidden().size());
  QStringList words;
  if (hidden_curves > 0) words << qtext(msg::curve_plot::curves_hidden{.curves = hidden_curves});
  if (are_residuals_hidden()) words << qtext(msg::curve_plot::residuals_hidden{});
  legend_.set_hidden(hidden(), words.join(QStringLiteral(" · ")));
  add_curve_graphs(*this, set_.curves, legend_,
                   [this](const Curve& curve) { return is_hidden(to_qstring(curve.label)); });
  add_legend_notes(*this, shown_, legend_);
  find_marks(add_failed_marks(*this, shown_, legend_));
  set_axis_labels();
  if (shown_.boundaries.size() <= max_bands) {
    const QCPRange n = full_view(set_, log_x(), log_y()).n;
    add_boundary_bands(*this, shown_.boundaries, n, [this](const Boundary& band) {
      // Uses the color of the band's curves, which may be a device color.
      const PlotColors colors = plot_colors(palette());
      const auto curve = std::ranges::find_if(shown_.curves, [&](const Curve& each) {
        return each.name.algorithm == band.algorithm && each.name.device == band.device &&
               each.kind == CurveKind::measured;
      });
      return curve == shown_.curves.end() ? algorithm_color(band.algorithm, colors.dark) : curve_color(*curve, colors);
    });
  }
  residuals_.show(shown_.curves, residuals_shown_ && !low_, legend_);
  labels_.set(shown_.curves, plot_colors(palette()));
  columns_ = build_hover_columns(shown_, plot_colors(palette()));
  for (QCPAxisRect* panel : axisRects()) {
    for (QCPAxis* axis : panel->axes()) style_axis(*axis, plot_colors(palette()), font());
  }
}

void IoPlot::find_marks(const std::vector<double>& failed_heights) {
  for (std::size_t i = 0; i < shown_.failed.size(); ++i) {
    marks_.push_back({axisRect(), shown_.failed[i].n, failed_heights[i], 0, i, {shown_.failed[i].row}, true});
  }
  // In reverse order, so that the first curve gets the click if points coincide.
  for (std::size_t c = shown_.curves.size(); c-- > 0;) {
    const std::vector<CurvePoint>& points = shown_.curves[c].points;
    for (std::size_t i = 0; i < points.size(); ++i) {
      if (points[i].row) marks_.push_back({axisRect(), points[i].n, points[i].value, c, i, {*points[i].row}});
    }
  }
}

void IoPlot::set_residuals(bool shown) {
  residuals_shown_ = shown;
}

void IoPlot::set_scales(Scale x, Scale y) {
  x_scale_ = x;
  y_scale_ = y;
}

bool IoPlot::log_x() const {
  if (!set_.places.empty()) return false;
  return x_scale_ != Scale::linear;
}

bool IoPlot::log_y() const {
  const bool positive = std::ranges::all_of(set_.curves, [](const Curve& curve) {
    return std::ranges::all_of(curve.points, [](const CurvePoint& point) { return point.low > 0; });
  });
  if (!positive) return false;
  if (y_scale_ != Scale::automatic) return y_scale_ == Scale::logarithmic;
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
  setAccessibleName(
      qtext(msg::curve_plot::name{.abscissa = xAxis->label().toStdString(), .ordinate = yAxis->label().toStdString()}));
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
      yAxis->setLabel(qtext(msg::curve_plot::bytes_axis{}));
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

bool IoPlot::hover_at(const QPointF& position) {
  const QRect area = axisRect()->rect();
  if (columns_.empty() || position.x() < area.left() || position.x() > area.right()) {
    overlay_->clear();
    return false;
  }
  const auto distance = [&](const HoverColumn& column) {
    return std::abs(xAxis->coordToPixel(column.n) - position.x());
  };
  const auto nearest = std::min_element(columns_.begin(), columns_.end(),
                                        [&](const auto& a, const auto& b) { return distance(a) < distance(b); });
  if (distance(*nearest) > max_guide_distance) {
    overlay_->clear();
    return false;
  }
  current_column_ = static_cast<int>(nearest - columns_.begin());
  overlay_->show_content(nearest->content, position.toPoint(), xAxis->coordToPixel(nearest->n), area);
  return true;
}

void IoPlot::click(const QMouseEvent& event) {
  if (!axisRect()->rect().contains(event.pos())) return;
  const Mark* mark = mark_near(event.position());
  if (mark == nullptr) return;
  const Curve* curve = mark->is_axis_fraction ? nullptr : &shown_.curves[mark->series];
  followed_key_.reset();
  if (curve != nullptr) followed_key_ = followed_curve(*curve);
  click_mark(*mark);
}

void IoPlot::select_point_at(double n) {
  for (const Mark& mark : marks_) {
    if (mark.x == n && !mark.is_axis_fraction && followed_key_ == followed_curve(shown_.curves[mark.series]))
      return click_mark(mark);
  }
}

void IoPlot::keyPressEvent(QKeyEvent* event) {
  const bool left = event->key() == Qt::Key_Left;
  if ((left || event->key() == Qt::Key_Right) && !columns_.empty()) {
    const int last = static_cast<int>(columns_.size()) - 1;
    current_column_ = current_column_ < 0 ? (left ? last : 0) : std::clamp(current_column_ + (left ? -1 : 1), 0, last);
    const QRect area = axisRect()->rect();
    const double n = columns_[static_cast<std::size_t>(current_column_)].n;
    hover_at({xAxis->coordToPixel(n), area.center().y() + 0.0});
    select_point_at(n);
    if (!followed_key_ && hover_content() != nullptr) setAccessibleDescription(display_text(*hover_content()));
    return;
  }
  if (event->key() == Qt::Key_Home || event->key() == Qt::Key_0) return reset_view();
  PointPlot::keyPressEvent(event);
}

}  // namespace attnscope::ui
