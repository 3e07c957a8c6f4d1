// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/plots/curve_style.h"

#include <numbers>

#include "messages/curve_plot.h"
#include "profiler/metrics/metrics.h"
#include "ui/text/format.h"
#include "ui/text/qtext.h"

namespace attnscope::ui {
namespace {

constexpr double square_size = 6.5;
constexpr double older_opacity = 0.6;   ///< Opacity of the previous run's curves.
constexpr double oldest_opacity = 0.4;  ///< Opacity of all earlier runs.

QColor mixed(const QColor& color, const QColor& background, double opacity) {
  const auto part = [opacity](int a, int b) { return static_cast<int>(opacity * a + (1 - opacity) * b); };
  return {part(color.red(), background.red()), part(color.green(), background.green()),
          part(color.blue(), background.blue())};
}

/// Outline of a disc with its lower half filled: the odd-even rule leaves the upper half empty.
QPainterPath half_disc() {
  QPainterPath path;
  const QRectF disc(-disc_size / 2, -disc_size / 2, disc_size, disc_size);
  path.addEllipse(disc);
  path.moveTo(disc_size / 2, 0);
  path.arcTo(disc, 0, 180);
  path.closeSubpath();
  return path;
}

/// A disc or square with a stroke.
QPainterPath struck_marker(SampleMark mark) {
  const bool square =
      mark == SampleMark::crossed_square || mark == SampleMark::barred_square || mark == SampleMark::upright_square;
  const double half = (square ? square_size : disc_size) / 2;
  QPainterPath path;
  square ? path.addRect(-half, -half, 2 * half, 2 * half) : path.addEllipse(QPointF(), half, half);
  const auto strike = [&](double x, double y) {
    path.moveTo(-x, -y);
    path.lineTo(x, y);
  };
  const double corner = square ? half : half * std::numbers::sqrt2 / 2;
  if (mark == SampleMark::barred_disc || mark == SampleMark::barred_square) {
    strike(half, 0);
  } else if (mark == SampleMark::upright_disc || mark == SampleMark::upright_square) {
    strike(0, half);
  } else {
    strike(corner, corner);
    strike(corner, -corner);
  }
  return path;
}

/// Distinguishes the curve from others of its color.
QString side_text(const Curve& curve) {
  if (curve.hue >= 0) return to_qstring(owner_title(curve.name));
  return QString::fromStdString(curve.name.runs.empty() ? curve.name.label : curve.name.runs);
}

/// Shade of an algorithm's color for the first, second, third device.
QColor device_shade(const QColor& color, int device, bool dark) {
  constexpr int shades = 3;
  // Lightness in percent; the usable range is larger away from the background.
  switch (device % shades) {
    case 1:
      return color.darker(dark ? 150 : 175);
    case 2:
      return color.lighter(dark ? 130 : 150);
    default:
      return color;
  }
}

}  // namespace

QPen curve_pen(const Curve& curve, const QColor& color) {
  QPen pen(color, 1.6);
  pen.setCapStyle(Qt::FlatCap);
  switch (curve.kind) {
    case CurveKind::measured:
      pen.setWidthF(curve.quantity == Quantity::sm_l2 ? 1.5 : 2.2);
      if (curve.provenance == Provenance::simulated) pen.setDashPattern({1, 2});
      if (curve.provenance == Provenance::imported) pen.setDashPattern({5, 2, 1, 2});
      break;
    case CurveKind::model:
      pen.setDashPattern({6, 3});
      break;
    case CurveKind::compulsory:
      pen.setWidthF(1.2);
      break;
  }
  return pen;
}

SampleMark mark_of(const Curve& curve) {
  if (curve.kind != CurveKind::measured) return SampleMark::dashes;
  const bool squares = curve.quantity == Quantity::sm_l2;
  switch (curve.marker_index % 4) {
    case 1:
      return squares ? SampleMark::crossed_square : SampleMark::crossed_disc;
    case 2:
      return squares ? SampleMark::barred_square : SampleMark::barred_disc;
    case 3:
      return squares ? SampleMark::upright_square : SampleMark::upright_disc;
    default:
      break;
  }
  switch (curve.provenance) {
    case Provenance::simulated:
      return squares ? SampleMark::hollow_square : SampleMark::hollow_disc;
    case Provenance::imported:
      return squares ? SampleMark::triangle : SampleMark::diamond;
    default:
      return squares ? SampleMark::square : SampleMark::disc;
  }
}

SampleMark mark_of(const Curve& curve, const CurvePoint& point) {
  if (point.throttled && depends_on_clocks(curve)) return SampleMark::half_disc;
  if (point.provenance != Provenance::extrapolated || curve.kind != CurveKind::measured) return mark_of(curve);
  return curve.quantity == Quantity::sm_l2 ? SampleMark::plus_square : SampleMark::plus_disc;
}

SampleMark mark_of_values(Provenance provenance) {
  switch (provenance) {
    case Provenance::simulated:
      return SampleMark::hollow_disc;
    case Provenance::extrapolated:
      return SampleMark::plus_disc;
    case Provenance::imported:
      return SampleMark::diamond;
    default:
      return SampleMark::disc;
  }
}

QCPScatterStyle scatter_of(const Curve& curve, const QColor& color, const QColor& background) {
  return scatter_of(mark_of(curve), color, background);
}

QCPScatterStyle scatter_of(SampleMark mark, const QColor& color, const QColor& background) {
  const QPen pen(color, 1.5);
  switch (mark) {
    case SampleMark::disc:
      return {QCPScatterStyle::ssCircle, pen, color, disc_size};
    case SampleMark::hollow_disc:
      return {QCPScatterStyle::ssCircle, pen, background, disc_size};
    case SampleMark::square:
      return {QCPScatterStyle::ssSquare, pen, color, square_size};
    case SampleMark::hollow_square:
      return {QCPScatterStyle::ssSquare, pen, background, square_size};
    case SampleMark::diamond:
      return {QCPScatterStyle::ssDiamond, pen, background, 9.5};
    case SampleMark::triangle:
      return {QCPScatterStyle::ssTriangle, pen, background, 9};
    case SampleMark::plus_disc:
      return {QCPScatterStyle::ssPlusCircle, QPen(color, 1.1), background, disc_size};
    case SampleMark::plus_square:
      return {QCPScatterStyle::ssPlusSquare, QPen(color, 1.1), background, square_size};
    case SampleMark::half_disc:
      return {half_disc(), QPen(color, 1.1), color, 1.15 * path_unit_size};
    case SampleMark::crossed_disc:
    case SampleMark::crossed_square:
    case SampleMark::barred_disc:
    case SampleMark::barred_square:
    case SampleMark::upright_disc:
    case SampleMark::upright_square:
      return {struck_marker(mark), QPen(color, 1.1), background, path_unit_size};
    default:  // Theory has no markers.
      return {};
  }
}

QCPScatterStyle selection_ring(const QColor& color) {
  return {QCPScatterStyle::ssCircle, QPen(color, 1.8), QBrush(Qt::NoBrush), 2.1 * disc_size};
}

QColor curve_color(const Curve& curve, const PlotColors& colors) {
  if (curve.name.algorithm.empty()) return colors.muted;
  QColor color = curve.hue >= 0
                     ? identity_color(style::category_identity(static_cast<std::size_t>(curve.hue)), colors.dark)
                     : device_shade(algorithm_color(curve.name.algorithm, colors.dark), curve.shade, colors.dark);
  if (!curve.lighter_shade) return color;
  return mixed(color, colors.background, curve.name.age == 1 ? older_opacity : oldest_opacity);
}

bool depends_on_clocks(const Curve& curve) {
  if (curve.kind != CurveKind::measured) return false;
  const Metric* metric = find_metric(analysis::metric_of(curve));
  return metric != nullptr && metric->depends_on_clock;
}

QString throttled_text() {
  return qtext(msg::curve_plot::throttled{});
}

QString extrapolated_text() {
  return qtext(msg::curve_plot::extrapolated{});
}

QString style_text(const Curve& curve) {
  const QString quantity = to_qstring(quantity_title(curve));
  switch (curve.kind) {
    case CurveKind::measured:
      return QStringLiteral("%1 · %2").arg(quantity, to_qstring(curve.provenance)) +
             (curve.marker_index > 0 ? QStringLiteral(" · ") + side_text(curve) : QString());
    case CurveKind::model:
      // The SM-L2 bytes model is exact; models of other metrics are predictions.
      if (!curve.metric.empty()) return qtext(msg::curve_plot::model{.quantity = quantity.toStdString()});
      return qtext(msg::curve_plot::exact_model{.quantity = quantity.toStdString()});
    case CurveKind::compulsory:
      return qtext(msg::curve_plot::compulsory{});
  }
  return {};
}

QFont small_font(QFont font) {
  font.setPointSizeF(font.pointSizeF() * 0.92);
  return font;
}

}  // namespace attnscope::ui
