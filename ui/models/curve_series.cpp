// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/curve_series.h"

#include <array>
#include <cmath>
#include <iterator>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "kernels/registry.h"
#include "messages/curves.h"
#include "profiler/metrics/metrics.h"
#include "profiler/roofline/peaks.h"
#include "ui/models/shown_ceilings.h"
#include "ui/text/format.h"
#include "ui/text/qtext.h"
#include "ui/theme/theme.h"

namespace attnscope::ui {
namespace {

/// An interval that reads as none is not said.
constexpr double worth_saying = 0.005;
/// Devices that an algorithm's colour has shades for.
constexpr std::size_t most_of_shades = 3;
/// Older runs that an algorithm's colour has shades and marks for.
constexpr int oldest_of_shades = 3;

/// " · memory-wall (2)", where runs have to be told apart.
QString of_run(const analysis::SeriesName& name) {
  return name.runs.empty() ? QString() : QStringLiteral(" · ") + QString::fromStdString(name.runs);
}

QString on_device(const QString& what, const std::string& device) {
  if (device.empty()) return what;
  return qtext(say::curves::on_device{.what = what.toStdString(), .device = device});
}

/// "simulated, fit ...": what is fitted to simulated or imported bytes is no more than they are.
QString fit_label(const analysis::SeriesName& name, Quantity quantity, Provenance provenance, const QString& words) {
  const QString origin = provenance == Provenance::derived ? QString() : to_qstring(provenance) + QStringLiteral(", ");
  return QStringLiteral("%1 · %2%3 · %4%5").arg(owner_words(name), to_string(quantity), of_run(name), origin, words);
}

QString measured_label(const analysis::Curve& curve, Provenance provenance) {
  return QStringLiteral("%1 · %2 · %3%4")
      .arg(owner_words(curve.name), quantity_words(curve), to_qstring(provenance), of_run(curve.name));
}

QString curve_label(const analysis::Curve& curve) {
  switch (curve.kind) {
    case CurveKind::measured:
      return measured_label(curve, curve.provenance);
    case CurveKind::model: {
      if (!curve.metric.empty()) {
        return qtext(say::curves::model_of{.owner = owner_words(curve.name).toStdString(),
                                           .quantity = quantity_words(curve).toStdString()});
      }
      const Algorithm* const algorithm = known_algorithms().find(curve.name.algorithm);
      const std::string title = short_title(curve.name.algorithm).toStdString();
      QString label = algorithm != nullptr && algorithm->facts().foreign
                          ? qtext(say::curves::stated_law{.algorithm = title})
                          : qtext(say::curves::exact_model{.algorithm = title});
      if (curve.tile) label += QLatin1Char(' ') + format_tile(*curve.tile);
      return on_device(label, curve.name.device);
    }
    case CurveKind::fit:
      return fit_label(curve.name, curve.quantity, curve.provenance, fit_words(*curve.law));
    case CurveKind::paper_count:
      return qtext(say::curves::paper_count{.algorithm = short_title(curve.name.algorithm).toStdString(),
                                            .formula = curve.formula});
    case CurveKind::compulsory:
      return qtext(say::curves::compulsory{});
  }
  return {};
}

std::string two_decimals(double value) {
  return QString::number(value, 'f', 2).toStdString();
}

/// Four digits of a number that is known to be exact, three of others.
QString constant(double value, double relative_width) {
  return format_number(value, relative_width < worth_saying ? 4 : 3);
}

Message why_withheld(const analysis::FittedLaw& law) {
  const std::string slope = law.power ? two_decimals(law.power->slope) : "?";
  switch (*law.refusal) {
    case analysis::FitRefusal::too_few: {
      const Message points = counted_points(static_cast<std::size_t>(law.points));
      if (law.law.from_words.empty()) {
        return say::curves::too_few{.points = points, .needed = analysis::fewest_fitted};
      }
      return say::curves::too_few_in_range{
          .points = points, .range = law.law.from_words, .needed = analysis::fewest_fitted};
    }
    case analysis::FitRefusal::not_seen:
      return say::curves::grows_as{.slope = slope};
    case analysis::FitRefusal::steeper:
      return say::curves::grows_faster{.slope = slope};
    case analysis::FitRefusal::misses:
      return say::curves::misses{.n = law.worst_n,
                                 .miss = text(Share(law.fit->worst)),
                                 .interval = text(Share(law.fit->relative_half_width()))};
  }
  return {};
}

/// "on the tile map alone: tiles (N 4096)"
QString hidden_words(const PointSet& points, const std::set<analysis::HiddenSweep>& hidden) {
  QStringList sweeps;
  for (const analysis::HiddenSweep& sweep : hidden) {
    sweeps << qtext(say::curves::run_at_n{.run = points.table().runs()[sweep.run].title, .n = sweep.n});
  }
  return sweeps.isEmpty()
             ? QString()
             : qtext(say::curves::on_tile_map_alone{.runs = sweeps.join(QStringLiteral(", ")).toStdString()});
}

/// "quick, tiles on H200": the runs that a strand is joined from.
QString runs_in_words(const std::vector<RunPtr>& runs, const std::string& device) {
  QStringList titles;
  for (const RunPtr& run : runs) titles << run->title;
  titles.removeDuplicates();
  return on_device(titles.join(QStringLiteral(", ")), device);
}

/// Places are among all that is visible, so that no choice of what is drawn changes a colour. Theory belongs to no run,
/// and to a device only where several are shown.
std::size_t give_hues(std::vector<Curve>& curves, const PointSet& points, ColorOf color) {
  if (color == ColorOf::algorithm) return 0;
  const std::vector<analysis::Run>& runs = points.table().runs();
  std::set<std::string> devices;
  for (const analysis::Run& run : runs) devices.insert(run.device_name);
  const auto place_of_device = [&](const std::string& name) {
    return static_cast<int>(std::distance(devices.begin(), devices.find(name)));
  };
  std::map<std::string, int> hue_of;  // by what curves call their device
  for (Curve& curve : curves) {
    curve.hue = no_hue;
    std::vector<Row> rows;
    for (const CurvePoint& point : curve.points) {
      if (point.row) rows.push_back(*point.row);
    }
    if (rows.empty()) continue;
    const analysis::Run& first = points.table().run(rows.front());
    if (color == ColorOf::device) {
      curve.hue = place_of_device(first.device_name);
      curve.hue_words = QString::fromStdString(curve.name.device.empty() ? first.device_name : curve.name.device);
      hue_of.emplace(curve.name.device, curve.hue);
    } else {
      curve.hue = static_cast<int>(points.table().run_index(rows.front()));
      curve.hue_words = runs_in_words(points.runs_of(rows), curve.name.device);
      curve.paler = false;
    }
  }
  for (Curve& curve : curves) {
    const auto hue = hue_of.find(curve.name.device);
    if (curve.hue != no_hue || curve.name.device.empty() || hue == hue_of.end()) continue;
    curve.hue = hue->second;
    curve.hue_words = QString::fromStdString(curve.name.device);
  }
  return color == ColorOf::device ? devices.size() : runs.size();
}

}  // namespace

QString owner_words(const analysis::SeriesName& name) {
  QString text = short_title(name.algorithm);
  if (!name.label.empty()) text += QStringLiteral(" (%1)").arg(QString::fromStdString(name.label));
  if (!name.group.empty()) text += QLatin1Char(' ') + QString::fromStdString(name.group);
  return on_device(text, name.device);
}

QString label_of(const Curve& curve, const CurvePoint& point) {
  if (point.provenance == Provenance::extrapolated) return measured_label(curve, point.provenance);
  return curve.label.section(QLatin1Char('\n'), 0, 0);
}

QString to_string(Quantity quantity) {
  switch (quantity) {
    case Quantity::dram:
      return qtext(say::curves::dram{});
    case Quantity::sm_l2:
      return qtext(say::curves::sm_l2{});
    case Quantity::time:
      return qtext(say::curves::time{});
    case Quantity::rate:
      return qtext(say::curves::rate{});
    case Quantity::metric:
      break;
  }
  return {};
}

QString quantity_words(const analysis::Curve& curve) {
  return curve.metric.empty() ? to_string(curve.quantity) : metric_label(curve.metric);
}

QString format_quantity(double value, const analysis::Curve& curve) {
  const Metric* metric = find_metric(curve.metric);
  if (metric == nullptr) return format_quantity(value, curve.quantity);
  return format_metric({curve.metric, value, std::string(metric->unit), curve.provenance});
}

QString format_quantity(double value, Quantity quantity) {
  if (quantity == Quantity::time) return qtext(Nanoseconds(value));
  if (quantity == Quantity::rate) return qtext(FlopsPerSecond(1e12 * value));
  return qtext(Bytes(value));
}

QString short_title(std::string_view algorithm) {
  static const analysis::Algorithms known = analysis::Algorithms::known();
  return QString::fromStdString(analysis::short_title(known, algorithm));
}

QString fit_words(const analysis::FittedLaw& law) {
  const LawFit& fit = *law.fit;
  const double width = fit.relative_half_width();
  QString text = qtext(say::curves::fit{.constant = constant(fit.scale, width).toStdString(), .law = law.law.text});
  if (!law.law.lower.empty()) {
    text += QStringLiteral(" %1 %2·%3")
                .arg(fit.below < 0 ? QStringLiteral("−") : QStringLiteral("+"), constant(std::abs(fit.below), width),
                     QString::fromStdString(law.law.lower));
  }
  if (width >= worth_saying) text += QStringLiteral(" (±%1)").arg(qtext(Share(width)));
  if (law.power) {
    text += QLatin1Char('\n') + qtext(say::curves::slope{.slope = two_decimals(law.power->slope),
                                                         .low = two_decimals(law.power->slope_interval.low),
                                                         .high = two_decimals(law.power->slope_interval.high)});
  }
  if (!law.law.from_words.empty()) text += QStringLiteral(", ") + QString::fromStdString(law.law.from_words);
  text += QStringLiteral(", ") + qtext(say::curves::fit_unit{});
  return text;
}

QString withheld_words(const analysis::FittedLaw& law) {
  return qtext(say::curves::no_fit{.law = law.law.text, .why = why_withheld(law)});
}

std::vector<Row> drawn_rows(const CurveSet& set) {
  std::vector<Row> rows;
  for (const Curve& curve : set.curves) {
    for (const CurvePoint& point : curve.points) {
      if (point.row) rows.push_back(*point.row);
    }
  }
  return rows;
}

std::vector<RunPtr> drawn_runs(const CurveSet& set) {
  std::vector<Row> rows = drawn_rows(set);
  for (const FailedPoint& point : set.failed) rows.push_back(point.row);
  return set.points->runs_of(rows);
}

namespace {

/// Grouped curves are told apart by their colour: each algorithm's groups follow one another.
std::size_t give_group_hues(std::vector<Curve>& curves) {
  std::map<std::pair<std::string, int>, int> hue_of;  // by owner and age, in the order of the curves
  for (Curve& curve : curves) {
    if (curve.name.algorithm.empty()) continue;  // the problem's own
    const std::string owner = (owner_words(curve.name) + of_run(curve.name)).toStdString();
    curve.paler = false;
    curve.hue = hue_of.try_emplace({owner, curve.name.age}, static_cast<int>(hue_of.size())).first->second;
    curve.hue_words = QString::fromStdString(owner);
  }
  return hue_of.size();
}

/// What is compared in one plot has one colour only where its marks differ.
void give_looks(std::vector<Curve>& curves) {
  std::map<std::tuple<std::string, int, int, Provenance>, QStringList> sides_of;
  const auto was_measured = [&](const analysis::SeriesName& name) {
    return std::ranges::any_of(curves, [&](const Curve& other) {
      const bool of_gpu = other.provenance == Provenance::measured || other.provenance == Provenance::derived;
      return other.kind == CurveKind::measured && of_gpu && other.name.algorithm == name.algorithm &&
             other.name.device == name.device;
    });
  };
  for (Curve& curve : curves) {
    if (curve.kind != CurveKind::measured) continue;
    const bool own_color = curve.hue >= 0;  // of a device or run, which its algorithms share
    QStringList& sides = sides_of[{own_color ? std::string() : curve.name.algorithm, curve.hue,
                                   curve.shade % static_cast<int>(most_of_shades), curve.provenance}];
    const QString side = owner_words(curve.name) + of_run(curve.name) + QString::number(curve.name.age);
    if (!sides.contains(side)) sides << side;
    curve.look = static_cast<int>(sides.indexOf(side)) + std::max(curve.hue, 0) / static_cast<int>(category_colors);
    curve.beside = !own_color && curve.provenance == Provenance::simulated && was_measured(curve.name);
  }
}

/// Names, shades and colours of what analysis has built.
CurveSet named_set(std::shared_ptr<const PointSet> points, const ProblemFilter& filter, analysis::CurveSet built,
                   ColorOf color) {
  CurveSet set;
  set.ordinate = built.ordinate;
  set.queries = built.queries;
  set.pass = built.pass;
  set.per_head = built.per_head;
  set.metric = std::move(built.metric);
  set.axis = std::move(built.axis);
  set.places = std::move(built.places);
  std::set<std::string> devices;
  for (const analysis::Curve& curve : built.curves) {
    if (!curve.name.device.empty()) devices.insert(curve.name.device);
  }
  set.color = color != ColorOf::automatic       ? color
              : devices.size() > most_of_shades ? ColorOf::device
                                                : ColorOf::algorithm;
  bool grouped = false;
  for (analysis::Curve& curve : built.curves) {
    QString label = curve_label(curve);
    const auto shade = std::distance(devices.begin(), devices.lower_bound(curve.name.device));
    Curve named;
    static_cast<analysis::Curve&>(named) = std::move(curve);
    named.label = std::move(label);
    named.shade = static_cast<int>(shade);
    named.paler = named.name.age > 0;
    grouped = grouped || !named.name.group.empty() || named.name.age > oldest_of_shades;
    set.curves.push_back(std::move(named));
  }
  set.hues =
      grouped && color == ColorOf::automatic ? give_group_hues(set.curves) : give_hues(set.curves, *points, set.color);
  give_looks(set.curves);
  for (const analysis::WithheldFit& fit : built.withheld) {
    set.withheld.push_back(
        {fit.name.algorithm, fit_label(fit.name, fit.quantity, fit.provenance, withheld_words(fit.law))});
  }
  set.hidden = hidden_words(*points, built.hidden);
  set.failed = std::move(built.failed);
  set.boundaries = std::move(built.boundaries);
  set.stacks = std::move(built.stacks);
  set.title = QString::fromStdString(filter.summary());
  set.points = std::move(points);
  return set;
}

}  // namespace

CurveSet build_curves(std::shared_ptr<const PointSet> points, const ProblemFilter& filter, const CurveRequest& request,
                      ColorOf color) {
  analysis::CurveSet built = analysis::build_curves(points->table(), filter.rows(), request);
  CurveSet set = named_set(std::move(points), filter, std::move(built), color);
  if (request.tile.swept) set.title += QStringLiteral(" · ") + format_swept(*request.tile.swept);
  return set;
}

CurveSet build_axis_curves(std::shared_ptr<const PointSet> points, const ProblemFilter& filter,
                           const AxisCurveRequest& request, ColorOf color) {
  analysis::CurveSet built = analysis::build_axis_curves(points->table(), filter.rows(), request);
  return named_set(std::move(points), filter, std::move(built), color);
}

QString place_words(const CurveSet& set, double n) {
  if (!set.axis)
    return QStringLiteral("%1 %2").arg(set.queries ? QStringLiteral("n_k") : QStringLiteral("N"), format_number(n, 9));
  return QStringLiteral("%1 %2").arg(qtext(set.axis->facet->label),
                                     set.places.empty() ? format_number(n, 9) : word_at(set, n));
}

QString word_at(const CurveSet& set, double n) {
  const auto place = static_cast<std::size_t>(n) - 1;
  return place < set.places.size() ? to_qstring(set.places[place]) : QString();
}

std::vector<PeakLine> peak_lines(const PointSet& points, std::span<const Row> rows, std::string_view metric,
                                 const std::vector<ShownCeilings>& ceilings) {
  std::map<std::string, std::pair<std::string, DType>> devices;  // by id: name and type of elements
  for (const Row row : rows) {
    const analysis::Run& run = points.table().run(row);
    devices.try_emplace(run.device_id, run.device_name, points.table().problem(row).dtype);
  }
  std::vector<PeakLine> lines;
  for (const auto& [uuid, device] : devices) {
    const std::string& id = uuid;  // clang 14 lets no lambda have a binding
    const auto& [name, dtype] = device;
    // Of that very device, else of another one of its name: what was measured of it, else the datasheet's.
    const ShownCeilings* best = nullptr;
    for (const ShownCeilings& set : ceilings) {
      if (set.device_name != name) continue;
      const auto rank = [&](const ShownCeilings& each) { return std::pair(each.measured, each.device_uuid == id); };
      if (best == nullptr || rank(set) > rank(*best)) best = &set;
    }
    if (best == nullptr) continue;
    for (const analysis::Peak& peak : analysis::peaks_of(metric, dtype, best->ceilings)) {
      const std::string value = value_text(peak.value, find_metric(metric)->unit);
      const std::string what = qtext(analysis::ceiling_label(*peak.kind, peak.source)).toStdString();
      const bool measured = peak.source != CeilingSource::datasheet;
      const QString text = measured ? qtext(say::curves::peak_measured{.what = what, .value = value})
                                    : qtext(say::curves::peak_datasheet{.what = what, .value = value});
      lines.push_back({devices.size() > 1 ? on_device(text, name) : text, peak.value, measured});
    }
  }
  return lines;
}

}  // namespace attnscope::ui
