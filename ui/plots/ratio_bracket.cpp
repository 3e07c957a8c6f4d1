// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/plots/ratio_bracket.h"

#include <algorithm>
#include <cmath>

#include "messages/curve_plot.h"
#include "profiler/analysis/curve_ratio.h"
#include "profiler/metrics/metrics.h"
#include "ui/plots/curve_style.h"
#include "ui/plots/plot_parts.h"
#include "ui/text/format.h"
#include "ui/text/qtext.h"

namespace attnscope::ui {
namespace {

constexpr double serif = 7;  ///< pixels, at each end of the bracket

/// "DRAM bytes", "time": within a sentence.
QString amount_words(const Curve& curve) {
  const Metric* metric = find_metric(analysis::metric_of(curve));
  const QString what = within_sentence(quantity_words(curve));
  const bool bytes = metric != nullptr && metric->unit == "byte" && curve.metric.empty();
  return bytes ? qtext(say::curve_plot::bytes_of{.level = quantity_words(curve).toStdString()}) : what;
}

/// "FA2", and what sets it apart from the other.
QString picked_name(const Curve& curve, const Curve& other) {
  const QString owner = owner_words(curve.name);
  return owner == owner_words(other.name) ? curve.label.section(QLatin1Char('\n'), 0, 0) : owner;
}

QString ratio_sentence(const CurveSet& set, const Curve& a, const Curve& b, const analysis::CurveRatio& ratio) {
  const Curve& less = ratio.first_less ? a : b;
  const Curve& more = ratio.first_less ? b : a;
  const std::string factor = number_text(ratio.factor, ratio.factor < 10 ? 3 : 2);
  const std::string what = amount_words(less).toStdString();
  const std::string at = place_words(set, ratio.at).toStdString();
  const Metric* metric = find_metric(analysis::metric_of(less));
  const std::string_view unit = metric == nullptr ? std::string_view() : metric->unit;
  const std::string first = picked_name(less, more).toStdString();
  const std::string second = picked_name(more, less).toStdString();
  // A simulator that is off its GPU has saved nothing.
  if ((less.provenance == Provenance::simulated) != (more.provenance == Provenance::simulated)) {
    return qtext(say::curve_plot::ratio_apart{.what = what, .at = at, .less = first, .more = second, .factor = factor});
  }
  if (unit == "byte") {
    return qtext(say::curve_plot::ratio_fewer{.factor = factor, .what = what, .at = at, .less = first, .more = second});
  }
  if (unit == "ns") {
    return qtext(
        say::curve_plot::ratio_shorter{.factor = factor, .what = what, .at = at, .less = first, .more = second});
  }
  return qtext(say::curve_plot::ratio_higher{.factor = factor, .what = what, .at = at, .more = second, .less = first});
}

}  // namespace

QString curve_sentence(const CurveSet& set) {
  std::vector<const analysis::Curve*> curves;
  for (const Curve& curve : set.curves) curves.push_back(&curve);
  if (curves.empty()) return {};
  const auto pair = analysis::widest_pair(set.table(), curves);
  if (pair) return ratio_sentence(set, set.curves[pair->first], set.curves[pair->second], pair->ratio);
  const auto only = std::ranges::find(set.curves, CurveKind::measured, &Curve::kind);
  if (only == set.curves.end()) return {};
  const CurvePoint& last = only->points.back();
  return qtext(say::curve_plot::one_value{.curve = label_of(*only, last).toStdString(),
                                          .value = format_quantity(last.value, *only).toStdString(),
                                          .at = place_words(set, last.n).toStdString()});
}

void RatioBracket::pick(const QString& curve, double near) {
  if (picked_.contains(curve)) {
    picked_.removeAll(curve);
    return;
  }
  if (picked_.size() >= 2) picked_.clear();
  picked_ << curve;
  near_ = near;
}

void RatioBracket::forget() {
  picked_.clear();
}

void RatioBracket::show(const CurveSet& set, const PlotColors& colors) {
  words_.clear();
  text_ = nullptr;
  const auto find = [&](const QString& label) {
    const auto found = std::ranges::find(set.curves, label, &Curve::label);
    return found == set.curves.end() ? nullptr : &*found;
  };
  for (const QString& label : picked_) {
    const Curve* curve = find(label);
    if (curve == nullptr || curve->points.empty()) continue;
    // What is picked is ringed at the place.
    const auto nearest = std::ranges::min_element(
        curve->points, {}, [&](const CurvePoint& point) { return std::abs(std::log(point.n / near_)); });
    auto* ring = new QCPItemTracer(&plot_);
    ring->position->setCoords(nearest->n, nearest->value);
    ring->setStyle(QCPItemTracer::tsCircle);
    ring->setSize(16);
    ring->setPen(QPen(colors.accent, 2));
    ring->setBrush(Qt::NoBrush);
  }
  if (picked_.size() < 2) return;
  const Curve* a = find(picked_[0]);
  const Curve* b = find(picked_[1]);
  if (a == nullptr || b == nullptr) return;
  const auto ratio = analysis::ratio_near(*a, *b, near_);
  if (!ratio) return;
  words_ = ratio_sentence(set, *a, *b, *ratio);
  const auto put = [&](QCPItemPosition* position, double value, double dx) {
    put_beside(plot_, position, {ratio->at, value}, {dx, 0});
  };
  const auto line = [&](double from, double from_dx, double to, double to_dx) {
    auto* drawn = new QCPItemLine(&plot_);
    drawn->setPen(QPen(colors.accent, 2));
    put(drawn->start, from, from_dx);
    put(drawn->end, to, to_dx);
  };
  line(ratio->first, serif, ratio->second, serif);
  line(ratio->first, 0, ratio->first, serif);
  line(ratio->second, 0, ratio->second, serif);
  const bool log = plot_.yAxis->scaleType() == QCPAxis::stLogarithmic;
  const double middle = log ? std::sqrt(ratio->first * ratio->second) : (ratio->first + ratio->second) / 2;
  text_ = new QCPItemText(&plot_);
  put(text_->position, middle, 2 * serif);
  const QRect area = plot_.axisRect()->rect();
  const bool right = area.width() > 0 && plot_.xAxis->coordToPixel(ratio->at) > area.center().x();
  if (right) put(text_->position, middle, -serif);
  text_->setPositionAlignment((right ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
  text_->setTextAlignment(Qt::AlignLeft);
  // Read aloud it is one sentence; beside the bracket its halves stand below one another.
  text_->setText(QString(words_).replace(QStringLiteral(": "), QStringLiteral(":\n")));
  text_->setFont(small_font(plot_.font()));
  text_->setColor(colors.text);
  text_->setBrush(colors.panel);
  text_->setPen(QPen(colors.accent, 1));
  text_->setPadding({6, 3, 6, 3});
}

bool RatioBracket::contains(const QPointF& position) const {
  return text_ != nullptr && text_->selectTest(position, false) >= 0 &&
         text_->selectTest(position, false) < plot_.selectionTolerance();
}

}  // namespace attnscope::ui
