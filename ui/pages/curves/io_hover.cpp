// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/curves/io_hover.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <utility>

#include "messages/curve_plot.h"
#include "ui/plots/curve_style.h"
#include "ui/text/format.h"
#include "ui/text/qtext.h"

namespace attnscope::ui {
namespace {

/// "558 – 598", in the value's own unit where all three read in it; empty where the ends read alike.
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

/// Everything read out at one N, gathered curve by curve.
class ColumnBuilder {
 public:
  ColumnBuilder(const CurveSet& set, const PlotColors& colors, double n) : set_(set), colors_(colors), n_(n) {
    for (const Curve& curve : set_.curves) {
      const CurvePoint* at = point_at(curve, n_);
      if (at == nullptr) continue;
      if (at->over_model) compared_.insert(curve.name.algorithm);
    }
    for (const Curve& curve : set_.curves) add_curve(curve);
    std::stable_sort(rows_.begin(), rows_.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  }

  [[nodiscard]] HoverColumn column() const {
    HoverColumn column;
    column.n = n_;
    const std::string length = number_text(n_, 9);
    Message title = say::curve_plot::at_n{.n = length};
    if (set_.axis) title = say::curve_plot::at_place{.place = place_words(set_, n_).toStdString()};
    if (set_.queries) title = say::curve_plot::at_n_k{.n_k = length, .n_q = *set_.queries};
    if (set_.per_head) title = say::curve_plot::per_head{.at = title};
    column.content.title = qtext(title);
    for (const auto& [value, row] : rows_) column.content.rows.push_back(row);
    column.content.notes = notes();
    return column;
  }

 private:
  void add_curve(const Curve& curve) {
    const CurvePoint* at = point_at(curve, n_);
    // A fit is a law, not a reading.
    if (at == nullptr || curve.kind == CurveKind::fit) return;
    if (curve.kind == CurveKind::model && compared_.contains(curve.name.algorithm)) return;
    QString value = format_quantity(at->value, curve);
    QString label = label_of(curve, *at);
    if (at->row) {
      note_source(curve, *at);
      value += beside_value(curve, *at);
      // Another curve of the algorithm may be of another tile, and "x model" is of this one.
      const Config& tile = set_.table().tile_of(*at->row);
      if (tile_stated(tile.tile)) label += QStringLiteral(" · ") + format_tile(tile);
    }
    rows_.emplace_back(at->value, HoverRow{curve_color(curve, colors_), mark_of(curve, *at), label, value});
  }

  void note_source(const Curve& curve, const CurvePoint& at) {
    const QString title = short_title(curve.name.algorithm);
    unsettled_ =
        unsettled_ || (curve.quantity == Quantity::dram && !at.settled && curve.provenance == Provenance::measured);
    if (!at.throttled) return;
    const std::uint64_t reasons = set_.table().points().throttle_reasons(*at.row);
    QStringList& slowed = throttled_[qtext(describe_throttle_reasons(reasons))];
    if (!slowed.contains(title)) slowed << title;
  }

  /// How often it was measured, its range, and how many times its model it is.
  [[nodiscard]] QString beside_value(const Curve& curve, const CurvePoint& at) const {
    QString text;
    QStringList details;
    if (at.repeats > 1) details << qtext(say::curve_plot::measurements{.measurements = at.repeats});
    if (const QString range = format_range(at, curve); !range.isEmpty()) details << range;
    if (!details.isEmpty()) text += QStringLiteral(" (%1)").arg(details.join(QStringLiteral(", ")));
    if (at.over_model) {
      const std::string ratio = QString::number(*at.over_model, 'f', 3).toStdString();
      text += QStringLiteral(" = ") + qtext(say::curve_plot::times_model{.ratio = ratio});
    }
    return text;
  }

  [[nodiscard]] QStringList notes() const {
    QStringList notes;
    for (const FailedPoint& point : set_.failed) {
      if (point.n != n_) continue;
      notes << QStringLiteral("✕ %1: %2 – %3")
                   .arg(short_title(point.algorithm), qtext(title(set_.table().disposition(point.row))),
                        headline(qtext(set_.table().reason(point.row))));
    }
    for (const auto& [why, slowed] : throttled_) {
      QString words = set_.ordinate == Ordinate::bytes ? qtext(say::curve_plot::throttled_times{}) : throttled_words();
      if (!why.isEmpty()) words += QStringLiteral(" (%1)").arg(why);
      notes << words + QStringLiteral(": ") + slowed.join(QStringLiteral(", "));
    }
    if (unsettled_) notes << qtext(say::curve_plot::unsettled{});
    return notes;
  }

  const CurveSet& set_;
  const PlotColors& colors_;
  double n_;
  std::set<std::string> compared_;  ///< beside their model: it needs no row of its own
  std::vector<std::pair<double, HoverRow>> rows_;
  bool unsettled_ = false;
  std::map<QString, QStringList> throttled_;  ///< algorithms, by the reason
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

}  // namespace attnscope::ui
