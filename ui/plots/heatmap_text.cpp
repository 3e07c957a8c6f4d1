// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/plots/heatmap_text.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "messages/tile_map.h"
#include "profiler/metrics/metrics.h"
#include "profiler/plan/fields.h"
#include "ui/models/curve_series.h"
#include "ui/runs/point_settings.h"
#include "ui/text/format.h"
#include "ui/text/qtext.h"

namespace attnscope::ui {

QString best_label(const TileMap& map) {
  if (map.metric == metric_key::time_median_ns && !map.shown.is_centered_at_one())
    return qtext(msg::tile_map::fastest{});
  const std::string what = lowercase_label(heatmap_label(map)).toStdString();
  return map.better == BetterDirection::more ? qtext(msg::tile_map::highest{.metric = what})
                                             : qtext(msg::tile_map::lowest{.metric = what});
}

QString comparison_suffix(analysis::Comparison as) {
  if (as == analysis::Comparison::none) return {};
  if (as == analysis::Comparison::share_of_best) return qtext(msg::tile_map::percent_of_best{});
  return qtext(msg::tile_map::divided_by{.what = qtext(msg::tile_map::model{}).toStdString()});
}

QString heatmap_label(const TileMap& map) {
  const QString label = find_metric(map.metric) == nullptr ? QString() : metric_label(map.metric);
  const QString over = comparison_suffix(map.shown.as);
  return over.isEmpty() ? label : QStringLiteral("%1 %2").arg(label, over);
}

namespace {

QString provenance_names(const TileMap& map) {
  std::set<Provenance> origins;
  for (const auto& row : map.cells) {
    for (const TileCell& cell : row) {
      if (cell.value) origins.insert(cell.provenance);
    }
  }
  QStringList words;
  for (const Provenance origin : origins) words << to_qstring(origin);
  return words.join(QStringLiteral("; "));
}

/// "139 MB"; "138.2 MB – 139.4 MB" if the ends differ when formatted.
QString range_text(const TileMap& map) {
  const QString low = cell_value_text(map, *map.minimum);
  const QString high = cell_value_text(map, *map.maximum);
  return low == high ? low : low + QStringLiteral(" – ") + high;
}

QString text_at(const analysis::MapAxis& axis, int place) {
  return facet_value_text(*axis.axis.facet, axis.values[static_cast<std::size_t>(place)]);
}

QString extents(const TileMap& map, TileMap::Place place) {
  return QStringLiteral("%1\u00A0×\u00A0%2")  // No-break spaces keep the tile on one line.
      .arg(text_at(map.y, place.row), text_at(map.x, place.column));
}

/// Returns the first tile and the number of equivalent ones.
QString equal_tiles_text(const TileMap& map, const std::vector<TileMap::Place>& places) {
  QString tile = extents(map, places.front());
  if (places.size() < 2) return tile;
  const TileCell& first = map.at(places.front());
  const bool equal = std::ranges::all_of(places, [&](auto place) { return map.at(place).value == first.value; });
  if (equal) return qtext(msg::tile_map::equivalent_tiles{.tile = tile.toStdString(), .tiles = places.size()});
  return qtext(msg::tile_map::tiles_within{.others = places.size() - 1, .tile = tile.toStdString()});
}

bool on_axes(const TileMap& map, std::string_view name) {
  return map.x.axis.covers_field(name) || map.y.axis.covers_field(name);
}

/// The spec without fields on axes; also without knobs if each cell has its own tile.
PointSpec common_spec(const TileMap& map, PointSpec spec) {
  if (!on_axes(map, "br") && !on_axes(map, "bc")) spec.knobs = {};
  for (const analysis::MapAxis* axis : {&map.x, &map.y}) {
    for (const std::string& name : axis->axis.names) {
      const attnscope::Field* field = attnscope::find_field(name);
      if (field == nullptr) {
        spec.knobs.set(name, std::int64_t{0});
      } else if (!field->fallback.empty()) {
        (void)set_field(*field, spec, field->fallback);
      }
    }
  }
  return spec;
}

/// Explains which end of the color scale is better; empty if neither is.
QString better_end_text(const TileMap& map) {
  if (!map.minimum || map.flat) return {};
  if (map.shown.is_centered_at_one()) {
    if (map.better == BetterDirection::neither) return qtext(msg::tile_map::white_is_equal{});
    return qtext(msg::tile_map::blue_is_better{});
  }
  return map.better == BetterDirection::neither ? QString() : qtext(msg::tile_map::bright_is_better{});
}

}  // namespace

QString axis_title(const analysis::MapAxis& axis) {
  if (axis.axis.key() == "bc") return qtext(msg::tile_map::bc_axis{});
  if (axis.axis.key() == "br") return qtext(msg::tile_map::br_axis{});
  return qtext(axis.axis.facet->label);
}

QString place_title(const TileMap& map, TileMap::Place place) {
  return QStringLiteral("%1 %2 × %3 %4")
      .arg(qtext(map.y.axis.facet->label), text_at(map.y, place.row), qtext(map.x.axis.facet->label),
           text_at(map.x, place.column));
}

QString cell_value_text(const TileMap& map, double value) {
  if (map.shown.as == analysis::Comparison::none) {
    return format_metric({map.metric, value, map.unit, Provenance::measured});
  }
  if (map.shown.is_centered_at_one()) return format_number(value, 4) + QStringLiteral(" ×");
  return format_value(value, map.unit);
}

QString cell_figure(const TileMap& map, double value, double factor, int digits, bool relative) {
  return relative && has_slowdowns(map) ? to_qstring(analysis::slowdown_text(slowdown(map, value)))
                                        : format_number(value * factor, digits);
}

QString short_label(Disposition disposition) {
  static const std::map<Disposition, MessageFunction> labels{
      {Disposition::out_of_memory, message_of<msg::tile_map::short_memory>},
      {Disposition::incorrect, message_of<msg::tile_map::short_incorrect>},
      {Disposition::compile_error, message_of<msg::tile_map::short_compile>},
      {Disposition::timeout, message_of<msg::tile_map::short_timeout>},
      {Disposition::crashed, message_of<msg::tile_map::short_crashed>},
      {Disposition::no_counters, message_of<msg::tile_map::short_no_counters>},
      {Disposition::cancelled, message_of<msg::tile_map::short_cancelled>}};
  const auto label = labels.find(disposition);
  return label == labels.end() ? QString() : qtext(label->second());
}

HeatmapTitle heatmap_title(const PointSet& points, const TileMap& map) {
  const ShownPoint any = points[map.rows().front()];
  const PointSpec& spec = any.spec;
  const QString unit = to_qstring(unit_scale(map.maximum.value_or(1), map.unit).suffix);
  const QString provenance = provenance_names(map);
  // Fields on an axis are omitted, because the axis labels them.
  const auto on_axis = [&](std::string_view name) { return on_axes(map, name); };
  const bool of_devices =
      map.x.axis.key() == analysis::device_facet_key || map.y.axis.key() == analysis::device_facet_key;
  QStringList words;
  if (!on_axis("algorithm")) words << short_title(spec.algorithm);
  words << (unit.isEmpty() || unit == heatmap_label(map) ? heatmap_label(map)
                                                         : QStringLiteral("%1 [%2]").arg(heatmap_label(map), unit));
  if (!provenance.isEmpty()) words << provenance;
  QStringList problem;
  if (!on_axis("br") && !on_axis("bc")) problem << qtext(msg::tile_map::fastest_tiles{});
  if (!on_axis("n_k")) problem << QStringLiteral("N %1").arg(format_lengths(spec.problem));
  if (!on_axis("d")) problem << QStringLiteral("d %1").arg(spec.problem.d);
  PointSpec common = common_spec(map, spec);
  if (!on_axis("pass")) problem << to_qstring(to_string(spec.problem.pass));
  common.problem.pass = Pass::fwd;  // The pass is already in the text or on an axis.
  if (!on_axis("mask")) problem << format_mask(spec.problem.mask);
  problem << non_default_settings(common);
  if (!on_axis("dtype")) problem << to_qstring(to_string(spec.problem.dtype));
  if (!on_axis("heads_q")) problem << qtext(msg::tile_map::heads{.heads = format_heads(spec.problem).toStdString()});
  if (!of_devices) problem << QString::fromStdString(any.run->summary.device_name);
  const QString dot = QStringLiteral(" · ");
  return {qtext(headline(map)), words.join(dot), problem.join(dot)};
}

QString heatmap_caption(const PointSet& points, const TileMap& map, bool figures_shown, PlotTarget target) {
  const bool screen = target == PlotTarget::screen;
  QStringList parts;
  const auto cells = static_cast<int>(map.y.size() * map.x.size());
  const bool of_tiles = on_axes(map, "br") || on_axes(map, "bc");
  parts << (of_tiles ? qtext(msg::tile_map::tiles_ran{.ran = map.ok, .tiles = map.collected})
                     : qtext(msg::tile_map::positions_ran{.places = map.collected, .ran = map.ok}));
  if (map.collected < cells) parts << qtext(msg::tile_map::blank{.tiles = cells - map.collected});
  const auto any = [&](const auto& applies_to) {
    return std::ranges::any_of(map.cells, [&](const auto& row) { return std::ranges::any_of(row, applies_to); });
  };
  const auto any_of_origin = [&](Provenance origin) {
    return any([&](const TileCell& cell) { return cell.value && cell.provenance == origin; });
  };
  if (any_of_origin(Provenance::simulated)) parts << qtext(msg::tile_map::simulated{});
  if (any_of_origin(Provenance::extrapolated)) parts << qtext(msg::tile_map::extrapolated{});
  if (any_of_origin(Provenance::imported)) parts << qtext(msg::tile_map::imported{});
  if (any([](const TileCell& cell) { return cell.value && cell.unusual_clock; })) {
    parts << qtext(msg::tile_map::throttled{});
  }
  const auto is_throttled = [&](analysis::RunIndex run) {
    return points.table().runs()[run].mostly_throttled.value_or(false);
  };
  if (std::ranges::any_of(map.shown_runs, is_throttled)) parts << qtext(msg::tile_map::run_throttled{});
  if (any([](const TileCell& cell) { return cell.disposition == Disposition::infeasible; })) {
    parts << (screen ? qtext(msg::tile_map::infeasible_on_screen{}) : qtext(msg::tile_map::infeasible{}));
  }
  if (!figures_shown) {
    parts << (screen ? qtext(msg::tile_map::no_room_on_screen{}) : qtext(msg::tile_map::no_room{}));
  }
  std::ptrdiff_t again = 0;
  for (const auto& row : map.cells) again += std::ranges::count_if(row, &TileCell::again);
  if (again > 0) parts << qtext(msg::tile_map::remeasured{.tiles = again});
  if (map.flat && map.spread) {
    parts << qtext(msg::tile_map::flat{.spread = cell_value_text(map, *map.spread).toStdString(),
                                       .values = range_text(map).toStdString()});
  }
  const QString best = map.best.empty() ? QString() : equal_tiles_text(map, map.best);
  if (has_slowdowns(map)) {
    if (!best.isEmpty()) parts << qtext(msg::tile_map::starred{.tiles = best.toStdString()});
  } else {
    parts << better_end_text(map);
    if (!best.isEmpty()) {
      parts << qtext(msg::tile_map::outlined{.tiles = best.toStdString(), .what = best_label(map).toStdString()});
    }
    if (map.has_plateau()) {
      parts << qtext(
          msg::tile_map::plateau{.percent = qRound(100 * analysis::plateau_share), .tiles = map.plateau.size()});
    }
    if (!map.fastest.empty() && map.fastest != map.best) {
      parts << qtext(msg::tile_map::dashed{.tiles = equal_tiles_text(map, map.fastest).toStdString()});
    }
  }
  if (const Message runs = analysis::runs_text(points.table(), map); !runs.empty()) parts << qtext(runs);
  parts.removeAll(QString());
  return parts.join(QStringLiteral(" · "));
}

HoverContent describe_heatmap_cell(const PointSet& points, const TileMap& map, TileMap::Place place) {
  const TileCell& cell = map.at(place);
  HoverContent content;
  content.title = place_title(map, place);
  if (!cell.disposition) {
    content.notes << qtext(msg::tile_map::not_collected{});
    return content;
  }
  const analysis::PointTable& table = points.table();
  const auto add = [&](const QString& label, const QString& value) {
    content.rows.push_back({.color = {}, .sample = {}, .label = label, .value = value});
  };
  const auto add_metric = [&](const QString& label, const MetricValue& value) {
    add(QStringLiteral("%1 · %2").arg(label, to_qstring(value.provenance)), format_metric(value));
  };
  if (cell.value) {
    add(QStringLiteral("%1 · %2").arg(heatmap_label(map), to_qstring(cell.provenance)),
        cell_value_text(map, *cell.value));
    if (has_slowdowns(map)) {
      add(qtext(msg::tile_map::vs_fastest{}), to_qstring(analysis::slowdown_text(slowdown(map, *cell.value))));
    }
  }
  const Metric* metric = find_metric(map.metric);
  if (cell.own && metric != nullptr) {
    const std::string unit(metric->unit);
    add_metric(metric_label(map.metric), {map.metric, *cell.own, unit, table.values(map.metric).provenance(cell.row)});
    add(map.shown.as == analysis::Comparison::over_model ? qtext(msg::tile_map::model{})
                                                         : qtext(msg::tile_map::best_shown{}),
        format_metric({map.metric, *cell.over, unit, Provenance::derived}));
  }
  for (const std::string_view key :
       {metric_key::time_median_ns, metric_key::tflops, metric_key::achieved_occupancy_pct}) {
    const analysis::ValueColumn& column = table.values(key);
    if (key == map.metric || !column.has(cell.row)) continue;
    add_metric(metric_label(key), {std::string(key), column.value(cell.row), std::string(find_metric(key)->unit),
                                   column.provenance(cell.row)});
  }
  const auto role = [&](const std::vector<TileMap::Place>& places, const QString& what) {
    const auto found = std::ranges::find(places, place);
    if (found == places.end()) return;
    const bool first = found == places.begin() || cell.value == map.at(places.front()).value;
    content.notes << (first ? qtext(msg::tile_map::of_tiles_shown{.what = what.toStdString()})
                            : qtext(msg::tile_map::within_interval{.what = what.toStdString()}));
  };
  role(map.best, best_label(map));
  if (std::ranges::find(map.plateau, place) != map.plateau.end() &&
      std::ranges::find(map.best, place) == map.best.end()) {
    content.notes << qtext(msg::tile_map::on_plateau{.percent = qRound(100 * analysis::plateau_share)});
  }
  if (map.fastest != map.best) role(map.fastest, qtext(msg::tile_map::fastest{}));
  if (cell.again)
    content.notes << qtext(msg::tile_map::remeasured_cell{.run = points.run_of(cell.row)->title.toStdString()});
  if (!on_axes(map, "br") && !on_axes(map, "bc")) {
    content.notes << qtext(msg::tile_map::of_tile{.tile = format_tile(table.tile_of(cell.row)).toStdString()});
  }
  if (cell.repeats > 1) content.notes << qtext(msg::tile_map::median_of{.measurements = cell.repeats});
  if (*cell.disposition != Disposition::ok) {
    content.notes << QStringLiteral("%1: %2").arg(qtext(title(*cell.disposition)),
                                                  compiler_error_line(qtext(table.reason(cell.row))));
  } else if (!cell.value) {
    content.notes << qtext(msg::tile_map::no_value{});
  }
  if (table.is_throttling_unusual(cell.row)) {
    content.notes << (table.throttled(cell.row) ? qtext(msg::tile_map::gpu_throttled{})
                                                : qtext(msg::tile_map::gpu_not_throttled{}));
  }
  return content;
}

ShownValues values_of(const PointSet& points, const TileMap& map) {
  ShownValues values;
  if (map.empty()) return values;
  QString key = to_qstring(map.metric);
  if (map.shown.as != analysis::Comparison::none) key += QLatin1Char('_') + to_qstring(to_string(map.shown.as));
  values.keys = {to_qstring(map.y.axis.key()),
                 to_qstring(map.x.axis.key()),
                 map.unit.empty() || map.unit == "1" ? key : QStringLiteral("%1 [%2]").arg(key, to_qstring(map.unit)),
                 QStringLiteral("origin"),
                 QStringLiteral("result"),
                 QStringLiteral("run"),
                 QStringLiteral("map")};
  const HeatmapTitle title = heatmap_title(points, map);
  for (std::size_t row = 0; row < map.y.size(); ++row) {
    for (std::size_t column = 0; column < map.x.size(); ++column) {
      const TileCell& cell = map.at({static_cast<int>(row), static_cast<int>(column)});
      if (!cell.disposition) continue;
      values.lines.push_back({to_qstring(map.y.values[row].text), to_qstring(map.x.values[column].text),
                              cell.value ? plain_number(*cell.value) : QString(),
                              to_qstring(to_string(cell.provenance)), to_qstring(to_string(*cell.disposition)),
                              points.run_of(cell.row)->title, title.what + QStringLiteral(" · ") + title.of});
    }
  }
  return values;
}

}  // namespace attnscope::ui
