// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/panels/point_summary.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "messages/details.h"
#include "messages/tile_map.h"
#include "profiler/metrics/metrics.h"
#include "profiler/predict/explored_tables.h"
#include "profiler/predict/unit_utilization.h"
#include "ui/models/curve_series.h"
#include "ui/runs/point_settings.h"
#include "ui/text/format.h"
#include "ui/text/qtext.h"

namespace attnscope::ui {
namespace {

using analysis::TileMap;

/// A point's place in the map of its problem's tiles, of which at least two have a time.
struct TileStanding {
  TileMap map;
  TileMap::Place place;
  analysis::FastestTiles best;

  [[nodiscard]] double slowdown() const { return analysis::slowdown(map, *map.at(place).value); }
  [[nodiscard]] bool is_fastest() const { return place == best.fastest; }
};

std::optional<TileStanding> standing_of(const ShownPoint& point, const PointSet& points) {
  const std::optional<Row> row = points.row_of(point);
  if (!row) return std::nullopt;
  TileMap map = analysis::build_map_around(points.table(), *row);
  const std::optional<TileMap::Place> place = map.empty() ? std::nullopt : map.index_of(*row);
  if (!place || !has_slowdowns(map) || !map.at(*place).value) return std::nullopt;
  const analysis::FastestTiles best = analysis::fastest_tiles(map);
  if (best.timed < 2) return std::nullopt;
  return TileStanding{std::move(map), *place, best};
}

QString comparison_sentence(const TileStanding& tile) {
  const int percent = static_cast<int>(std::lround(100 * analysis::plateau_share));
  const auto& [map, place, best] = tile;
  if (!tile.is_fastest()) {
    return qtext(
        msg::details::fastest_is{.tile = place_text(map, best.fastest), .time = text(Nanoseconds(*map.minimum))});
  }
  if (!best.next) return qtext(msg::details::is_fastest_alone{.percent = percent});
  return qtext(msg::details::is_fastest{.next = place_text(map, *best.next),
                                        .percent = percent,
                                        .slowdown = analysis::slowdown_text(slowdown(map, *map.at(*best.next).value))});
}

/// An imported name may be long.
QString short_name(const std::string& algorithm) {
  constexpr qsizetype most = 40;
  return shortened(short_title(algorithm), most);
}

QString problem_text(const ShownPoint& point, const PointRecord& record) {
  const PointSpec& spec = point.spec;
  QStringList words{short_name(spec.algorithm), QStringLiteral("N ") + format_lengths(spec.problem),
                    QStringLiteral("d %1").arg(spec.problem.d), to_qstring(to_string(spec.problem.pass)),
                    format_mask(spec.problem.mask)};
  PointSpec rest = spec;
  rest.problem.pass = Pass::fwd;  // already in the text
  words << non_default_settings(rest) << to_qstring(to_string(spec.problem.dtype))
        << qtext(msg::tile_map::heads{.heads = format_heads(spec.problem).toStdString()})
        << device_title(point.run->summary);
  if (record.disposition == Disposition::ok) words << to_qstring(record.origin());
  words.removeAll(QString());
  return words.join(QStringLiteral(" · "));
}

QString pin_sentence(const ShownPoint& point, const PointRecord& record, const PinnedPoint& pinned) {
  const auto time = evaluate(metric_key::time_median_ns, record);
  const auto base = evaluate(metric_key::time_median_ns, *pinned.record);
  const bool comparable = time && base && record.origin() == pinned.record->origin() &&
                          record.spec.problem == pinned.record->spec.problem && point.spec != pinned.record->spec;
  if (!comparable || !(base->value > 0)) return {};
  return qtext(msg::details::against_pin{.change = analysis::change_text(time->value / base->value),
                                         .time = text(Nanoseconds(base->value)),
                                         .title = pinned.title.toStdString()});
}

QString factor_text(double ratio) {
  return format_number(ratio);
}

/// Bytes with their ratio to the model; nullopt if not known.
std::optional<PointSummary::Value> bytes_value(const QString& label, const std::optional<MetricValue>& bytes,
                                               const std::optional<MetricValue>& ratio, bool compulsory) {
  if (!bytes) return std::nullopt;
  PointSummary::Value value{.label = label, .value = format_metric(*bytes)};
  if (ratio) {
    const std::string times = factor_text(ratio->value).toStdString();
    value.note = compulsory ? qtext(msg::details::of_compulsory{.ratio = times})
                            : qtext(msg::details::of_model{.ratio = metric_text(*ratio)});
  }
  return value;
}

std::vector<PointSummary::Value> five_values(const ShownPoint& point, const PointRecord& record,
                                             const std::optional<TileStanding>& tile) {
  std::vector<PointSummary::Value> values;
  const auto add = [&](std::optional<PointSummary::Value> value) {
    if (value) values.push_back(std::move(*value));
  };
  if (const auto time = evaluate(metric_key::time_median_ns, record)) {
    PointSummary::Value value{.label = qtext(msg::details::time{}), .value = format_metric(*time)};
    if (tile) {
      value.note = tile->is_fastest()
                       ? qtext(msg::details::fastest{})
                       : qtext(msg::details::against_fastest{.slowdown = analysis::slowdown_text(tile->slowdown())});
    }
    add(std::move(value));
  }
  if (const auto rate = evaluate(metric_key::tflops, record)) {
    add(PointSummary::Value{.label = qtext(msg::details::rate{}), .value = format_metric(*rate)});
  }
  add(bytes_value(qtext(msg::details::dram{}), dram_traffic(record), evaluate(metric_key::dram_over_compulsory, record),
                  true));
  if (const auto occupancy = analysis::launch_occupancy(record, point.run->summary.limits)) {
    add(PointSummary::Value{
        .label = qtext(msg::details::warps{}),
        .value = qtext(msg::details::warps_of{.most = occupancy->max_warps_per_sm, .warps = occupancy->warps_per_sm}),
        .note = qtext(msg::details::limited_by_note{.limiter = analysis::limiter_title(occupancy->limiter)})});
  }
  if (const auto bound = analysis::counted_bound(record)) {
    const std::string percent = fmt::format("{:.0f}", bound->busiest.value);
    const QString busiest = qtext(msg::details::busiest{.percent = percent, .unit = analysis::unit_text(*bound)});
    add(PointSummary::Value{.label = qtext(msg::details::bottleneck{}),
                            .value = bound->binds ? busiest : qtext(msg::details::latency_bound{}),
                            .note = bound->binds ? QString() : busiest});
  } else {
    add(bytes_value(qtext(msg::details::sm_l2{}), evaluate(metric_key::l2_sm_bytes, record),
                    evaluate(metric_key::l2_sm_over_model, record), false));
  }
  return values;
}

}  // namespace

QString occupancy_sentence(const PointSet& points, const TileMap& map, TileMap::Place a, TileMap::Place b,
                           PointRecordReader& records) {
  const auto named = [&](TileMap::Place place) -> std::optional<analysis::NamedOccupancy> {
    const ShownPoint point = points[map.at(place).row];
    const std::shared_ptr<const PointRecord> record = records.read(point).record;
    if (record == nullptr) return std::nullopt;
    auto occupancy = analysis::launch_occupancy(*record, point.run->summary.limits);
    if (!occupancy) return std::nullopt;
    return analysis::NamedOccupancy{place_text(map, place), std::move(*occupancy)};
  };
  const auto first = named(a);
  const auto second = first ? named(b) : std::nullopt;
  return second ? qtext(analysis::compare_occupancy(*first, *second)) : QString();
}

QString headline_causes(const PointSet& points, const TileMap& map, PointRecordReader& records) {
  if (!has_slowdowns(map)) return {};
  const auto [fastest, next, timed] = analysis::fastest_tiles(map);
  QStringList sentences;
  if (next) sentences << occupancy_sentence(points, map, fastest, *next, records);
  if (const auto record = records.read(points[map.at(fastest).row]).record; record != nullptr) {
    const Message cause = analysis::bottleneck_text(*record);
    if (!cause.empty()) sentences << qtext(msg::tile_map::cause_of{.cause = cause, .tile = place_text(map, fastest)});
  }
  sentences.removeAll(QString());
  return sentences.join(QLatin1Char(' '));
}

PointSummary summarize_point(const ShownPoint& point, const PointRecord& record, const PointSet& points,
                             PointRecordReader& records, const std::optional<PinnedPoint>& pinned) {
  PointSummary summary;
  const std::optional<TileStanding> tile = standing_of(point, points);
  QStringList title{has_tile(point.spec.tile) ? format_tile(point.spec.config()) : short_name(point.spec.algorithm)};
  if (const auto time = evaluate(metric_key::time_median_ns, record)) title << format_metric(*time);
  if (record.disposition != Disposition::ok) title << qtext(attnscope::title(record.disposition));
  if (tile) {
    title << (tile->is_fastest() ? qtext(msg::details::fastest{})
                                 : to_qstring(analysis::slowdown_text(tile->slowdown())));
    summary.sentences << comparison_sentence(*tile);
    const std::optional<TileMap::Place> other = tile->is_fastest() ? tile->best.next : tile->best.fastest;
    if (other) summary.sentences << occupancy_sentence(points, tile->map, tile->place, *other, records);
  }
  if (record.disposition != Disposition::ok) summary.sentences << qtext(record.reason);
  summary.sentences << qtext(analysis::bottleneck_text(record));
  if (pinned && pinned->record != nullptr) summary.sentences << pin_sentence(point, record, *pinned);
  const std::optional<Row> row = points.row_of(point);
  if (row && points.table().is_throttling_unusual(*row)) {
    const bool throttled = points.table().throttled(*row);
    summary.sentences << (throttled ? qtext(msg::details::throttled{
                                          .reasons = describe_throttle_reasons(record.clocks->throttle_reasons)})
                                    : qtext(msg::details::not_throttled{}));
  }
  summary.sentences.removeAll(QString());
  summary.title = title.join(QStringLiteral("   "));
  summary.problem = problem_text(point, record);
  summary.values = five_values(point, record, tile);
  return summary;
}

}  // namespace attnscope::ui
