// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/plots/heatmap_grid.h"

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <utility>

#include "messages/tile_map.h"
#include "profiler/metrics/metrics.h"
#include "profiler/plan/fields.h"
#include "ui/models/curve_series.h"
#include "ui/runs/point_settings.h"
#include "ui/text/format.h"
#include "ui/text/qtext.h"

namespace attnscope::ui {

QString HeatmapGrid::best_words() const {
  if (metric == metric_key::time_median_ns && !shown.around_one()) return qtext(say::tile_map::fastest{});
  const std::string what = within_sentence(label).toStdString();
  return better == Better::more ? qtext(say::tile_map::highest{.metric = what})
                                : qtext(say::tile_map::lowest{.metric = what});
}

std::optional<HeatmapGrid::Place> HeatmapGrid::place_of(Row point) const {
  for (std::size_t row = 0; row < cells.size(); ++row) {
    const auto found = std::ranges::find_if(
        cells[row], [&](const HeatmapCell& cell) { return cell.disposition && cell.row == point; });
    if (found == cells[row].end()) continue;
    return Place{static_cast<int>(row), static_cast<int>(found - cells[row].begin())};
  }
  return std::nullopt;
}

std::vector<RunPtr> HeatmapGrid::sources() const {
  return empty() ? std::vector<RunPtr>() : points->runs_of(shown_rows());
}

std::vector<Row> HeatmapGrid::shown_rows() const {
  std::vector<Row> rows;
  for (const auto& line : cells) {
    for (const HeatmapCell& cell : line) {
      if (cell.disposition) rows.push_back(cell.row);
    }
  }
  return rows;
}

QString comparison_words(analysis::Comparison as) {
  switch (as) {
    case analysis::Comparison::none:
      return {};
    case analysis::Comparison::share_of_best:
      return qtext(say::tile_map::of_the_best{});
    case analysis::Comparison::over_model:
      return qtext(say::tile_map::over{.what = qtext(say::tile_map::model{}).toStdString()});
  }
  return {};
}

HeatmapGrid build_heatmap(std::shared_ptr<const PointSet> points, const ProblemFilter& filter,
                          const analysis::MapRequest& request) {
  HeatmapGrid grid;
  static_cast<analysis::TileMap&>(grid) = analysis::build_map(points->table(), filter.rows(), request);
  if (find_metric(grid.metric) != nullptr) grid.label = metric_label(grid.metric);
  if (const QString over = comparison_words(grid.shown.as); !over.isEmpty()) {
    grid.label = QStringLiteral("%1 %2").arg(grid.label, over);
    grid.over_words = grid.shown.as == analysis::Comparison::over_model ? qtext(say::tile_map::model{})
                                                                        : qtext(say::tile_map::best_shown{});
  }
  grid.points = std::move(points);
  return grid;
}

HeatmapGrid build_heatmap(std::shared_ptr<const PointSet> points, const ProblemFilter& filter,
                          std::string_view metric) {
  return build_heatmap(std::move(points), filter, {.shown = {.metric = std::string(metric)}});
}

namespace {

/// What the values are, the most frequent first where they are of several kinds.
QString origin_words(const HeatmapGrid& grid) {
  std::map<Provenance, int> cells;
  for (const auto& row : grid.cells) {
    for (const HeatmapCell& cell : row) {
      if (cell.value) ++cells[cell.provenance];
    }
  }
  if (cells.size() == 1) return to_qstring(cells.begin()->first);
  std::vector<std::pair<int, Provenance>> kinds;
  kinds.reserve(cells.size());
  for (const auto& [provenance, count] : cells) kinds.emplace_back(-count, provenance);
  std::ranges::sort(kinds);
  QStringList words;
  for (const auto& [count, provenance] : kinds) {
    words << QStringLiteral("%1 (%2)").arg(to_qstring(provenance)).arg(-count);
  }
  return words.join(QStringLiteral("; "));
}

/// "139 MB"; "138.2 MB – 139.4 MB" where the ends do not read alike.
QString range_words(const HeatmapGrid& grid) {
  const QString low = value_words(grid, *grid.minimum);
  const QString high = value_words(grid, *grid.maximum);
  return low == high ? low : low + QStringLiteral(" – ") + high;
}

QString text_at(const analysis::MapAxis& axis, int place) {
  return value_words(*axis.axis.facet, axis.values[static_cast<std::size_t>(place)]);
}

QString extents(const HeatmapGrid& grid, HeatmapGrid::Place place) {
  return QStringLiteral("%1\u00A0×\u00A0%2")  // on one line
      .arg(text_at(grid.y, place.row), text_at(grid.x, place.column));
}

/// The runs whose cells are shown, and those that newer ones hide.
QString run_words(const HeatmapGrid& grid) {
  if (grid.hidden.empty()) return {};
  const auto title = [&](analysis::RunIndex run) {
    const RunInfo& info = grid.points->run(run);
    return info.title.isEmpty() ? run_title(info.summary) : info.title;
  };
  QStringList shown;
  for (const analysis::RunIndex run : grid.shown_runs) shown << title(run);
  QStringList hidden;
  for (const analysis::HiddenRun& run : grid.hidden) hidden << title(run.run);
  return qtext(say::tile_map::hidden_runs{.runs = shown.join(QStringLiteral(", ")).toStdString(),
                                          .hidden = hidden.join(QStringLiteral(", ")).toStdString()});
}

/// The first of several tiles, and how many stand beside it.
QString alike_words(const HeatmapGrid& grid, const std::vector<HeatmapGrid::Place>& places) {
  QString tile = extents(grid, places.front());
  if (places.size() < 2) return tile;
  const HeatmapCell& first = grid.at(places.front());
  const bool equal = std::ranges::all_of(places, [&](auto place) { return grid.at(place).value == first.value; });
  if (equal) return qtext(say::tile_map::tiles_alike{.tile = tile.toStdString(), .tiles = places.size()});
  return qtext(say::tile_map::tiles_within{.tile = tile.toStdString(), .others = places.size() - 1});
}

HoverRow row_of(const QString& label, const MetricValue& value) {
  return {
      {}, SampleMark::none, QStringLiteral("%1 · %2").arg(label, to_qstring(value.provenance)), format_metric(value)};
}

bool on_axes(const HeatmapGrid& grid, std::string_view name) {
  return grid.x.axis.speaks_for(name) || grid.y.axis.speaks_for(name);
}

/// A point without what stands on an axis, and, where each place has its own tile, without the knobs that its tile had.
PointSpec in_common(const HeatmapGrid& grid, PointSpec spec) {
  if (!on_axes(grid, "br") && !on_axes(grid, "bc")) spec.knobs = {};
  for (const analysis::MapAxis* axis : {&grid.x, &grid.y}) {
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

/// Which end of the colours is the good one; empty where neither is.
QString good_end(const HeatmapGrid& grid) {
  if (!grid.minimum || grid.flat) return {};
  if (grid.shown.around_one()) {
    if (grid.better == Better::neither) return qtext(say::tile_map::white_is_alike{});
    return qtext(say::tile_map::blue_is_better{});
  }
  return grid.better == Better::neither ? QString() : qtext(say::tile_map::bright_is_better{});
}

}  // namespace

QString axis_title(const analysis::MapAxis& axis) {
  if (axis.axis.key() == "bc") return qtext(say::tile_map::bc_axis{});
  if (axis.axis.key() == "br") return qtext(say::tile_map::br_axis{});
  return qtext(axis.axis.facet->label);
}

QString place_title(const HeatmapGrid& grid, HeatmapGrid::Place place) {
  return QStringLiteral("%1 %2 × %3 %4")
      .arg(qtext(grid.y.axis.facet->label), text_at(grid.y, place.row), qtext(grid.x.axis.facet->label),
           text_at(grid.x, place.column));
}

QString value_words(const HeatmapGrid& grid, double value) {
  if (grid.shown.as == analysis::Comparison::none) {
    return format_metric({grid.metric, value, grid.unit, Provenance::measured});
  }
  if (grid.shown.around_one()) return format_number(value, 4) + QStringLiteral(" ×");
  return format_value(value, grid.unit);
}

QString short_word(Disposition disposition) {
  switch (disposition) {
    case Disposition::ok:
    case Disposition::infeasible:  // hatched
      return {};
    case Disposition::out_of_memory:
      return qtext(say::tile_map::short_memory{});
    case Disposition::incorrect:
      return qtext(say::tile_map::short_incorrect{});
    case Disposition::compile_error:
      return qtext(say::tile_map::short_compile{});
    case Disposition::timeout:
      return qtext(say::tile_map::short_timeout{});
    case Disposition::crashed:
      return qtext(say::tile_map::short_crashed{});
    case Disposition::no_counters:
      return qtext(say::tile_map::short_no_counters{});
    case Disposition::cancelled:
      return qtext(say::tile_map::short_cancelled{});
  }
  return {};
}

HeatmapTitle heatmap_title(const HeatmapGrid& grid) {
  const ShownPoint any = (*grid.points)[grid.shown_rows().front()];
  const PointSpec& spec = any.spec;
  const QString unit = to_qstring(unit_scale(grid.maximum.value_or(1), grid.unit).suffix);
  const QString provenance = origin_words(grid);
  // What stands on an axis is said there.
  const auto on_axis = [&](std::string_view name) { return on_axes(grid, name); };
  const bool of_devices =
      grid.x.axis.key() == analysis::device_facet_key || grid.y.axis.key() == analysis::device_facet_key;
  QStringList words;
  if (!on_axis("algorithm")) words << short_title(spec.algorithm);
  words << (unit.isEmpty() || unit == grid.label ? grid.label : QStringLiteral("%1 [%2]").arg(grid.label, unit));
  if (!provenance.isEmpty()) words << provenance;
  QStringList problem;
  if (!on_axis("br") && !on_axis("bc")) problem << qtext(say::tile_map::fastest_tiles{});
  if (!on_axis("n_k")) problem << QStringLiteral("N %1").arg(format_lengths(spec.problem));
  if (!on_axis("d")) problem << QStringLiteral("d %1").arg(spec.problem.d);
  PointSpec common = in_common(grid, spec);
  if (!on_axis("pass")) problem << to_qstring(to_string(spec.problem.pass));
  common.problem.pass = Pass::fwd;  // it is said, or stands on an axis
  if (!on_axis("mask")) problem << format_mask(spec.problem.mask);
  problem << unusual_settings(common);
  if (!on_axis("dtype")) problem << to_qstring(to_string(spec.problem.dtype));
  if (!on_axis("heads_q")) problem << qtext(say::tile_map::heads{.heads = format_heads(spec.problem).toStdString()});
  if (!of_devices) problem << QString::fromStdString(any.run->summary.device_name);
  const QString dot = QStringLiteral(" · ");
  return {words.join(dot), problem.join(dot)};
}

QString heatmap_caption(const HeatmapGrid& grid, bool figures_shown, PlotTarget target) {
  const bool screen = target == PlotTarget::screen;
  QStringList parts;
  const auto cells = static_cast<int>(grid.y.size() * grid.x.size());
  const bool of_tiles = on_axes(grid, "br") || on_axes(grid, "bc");
  parts << (of_tiles ? qtext(say::tile_map::tiles_ran{.ran = grid.ok, .tiles = grid.collected})
                     : qtext(say::tile_map::places_ran{.ran = grid.ok, .places = grid.collected}));
  if (grid.collected < cells) parts << qtext(say::tile_map::blank{.tiles = cells - grid.collected});
  const auto any = [&](const auto& is_so) {
    return std::ranges::any_of(grid.cells, [&](const auto& row) { return std::ranges::any_of(row, is_so); });
  };
  const auto any_of_origin = [&](Provenance origin) {
    return any([&](const HeatmapCell& cell) { return cell.value && cell.provenance == origin; });
  };
  if (any_of_origin(Provenance::simulated)) parts << qtext(say::tile_map::simulated{});
  if (any_of_origin(Provenance::extrapolated)) parts << qtext(say::tile_map::extrapolated{});
  if (any_of_origin(Provenance::imported)) parts << qtext(say::tile_map::imported{});
  if (any([](const HeatmapCell& cell) { return cell.value && cell.throttled; })) {
    parts << qtext(say::tile_map::throttled{});
  }
  if (any([](const HeatmapCell& cell) { return cell.disposition == Disposition::infeasible; })) {
    parts << (screen ? qtext(say::tile_map::infeasible_on_screen{}) : qtext(say::tile_map::infeasible{}));
  }
  if (!figures_shown) {
    parts << (screen ? qtext(say::tile_map::no_room_on_screen{}) : qtext(say::tile_map::no_room{}));
  }
  std::ptrdiff_t again = 0;
  for (const auto& row : grid.cells) again += std::ranges::count_if(row, &HeatmapCell::again);
  if (again > 0) parts << qtext(say::tile_map::measured_again{.tiles = again});
  if (grid.flat && grid.spread) {
    parts << qtext(say::tile_map::flat{.values = range_words(grid).toStdString(),
                                       .spread = value_words(grid, *grid.spread).toStdString()});
  }
  if (const QString good = good_end(grid); !good.isEmpty()) parts << good;
  if (!grid.best.empty())
    parts << qtext(say::tile_map::outlined{.what = grid.best_words().toStdString(),
                                           .tiles = alike_words(grid, grid.best).toStdString()});
  if (grid.plateau.size() > 1) {
    parts << qtext(
        say::tile_map::plateau{.percent = qRound(100 * analysis::plateau_share), .tiles = grid.plateau.size()});
  }
  if (!grid.fastest.empty() && grid.fastest != grid.best) {
    parts << qtext(say::tile_map::dashed{.tiles = alike_words(grid, grid.fastest).toStdString()});
  }
  if (const QString runs = run_words(grid); !runs.isEmpty()) parts << runs;
  QString text = parts.join(QStringLiteral(" · "));
  return text;
}

HoverContent describe_heatmap_cell(const HeatmapGrid& grid, HeatmapGrid::Place place) {
  const HeatmapCell& cell = grid.at(place);
  HoverContent content;
  content.title = place_title(grid, place);
  if (!cell.disposition) {
    content.notes << qtext(say::tile_map::not_collected{});
    return content;
  }
  const analysis::PointTable& table = grid.points->table();
  if (cell.value) {
    content.rows.push_back({{},
                            SampleMark::none,
                            QStringLiteral("%1 · %2").arg(grid.label, to_qstring(cell.provenance)),
                            value_words(grid, *cell.value)});
  }
  const Metric* metric = find_metric(grid.metric);
  if (cell.own && metric != nullptr) {
    const std::string unit(metric->unit);
    content.rows.push_back(row_of(metric_label(grid.metric),
                                  {grid.metric, *cell.own, unit, table.values(grid.metric).provenance(cell.row)}));
    content.rows.push_back({{},
                            SampleMark::none,
                            QString(grid.over_words),
                            format_metric({grid.metric, *cell.over, unit, Provenance::derived})});
  }
  for (const std::string_view key :
       {metric_key::time_median_ns, metric_key::tflops, metric_key::achieved_occupancy_pct}) {
    if (key == grid.metric) continue;
    const analysis::ValueColumn& column = table.values(key);
    if (!column.has(cell.row)) continue;
    const std::string unit(find_metric(key)->unit);
    content.rows.push_back(
        row_of(metric_label(key), {std::string(key), column.value(cell.row), unit, column.provenance(cell.row)}));
  }
  const auto role = [&](const std::vector<HeatmapGrid::Place>& places, const QString& what) {
    const auto found = std::ranges::find(places, place);
    if (found == places.end()) return;
    const bool first = found == places.begin() || cell.value == grid.at(places.front()).value;
    content.notes << (first ? qtext(say::tile_map::of_tiles_shown{.what = what.toStdString()})
                            : qtext(say::tile_map::within_interval{.what = what.toStdString()}));
  };
  role(grid.best, grid.best_words());
  if (std::ranges::find(grid.plateau, place) != grid.plateau.end() &&
      std::ranges::find(grid.best, place) == grid.best.end()) {
    content.notes << qtext(say::tile_map::on_plateau{.percent = qRound(100 * analysis::plateau_share)});
  }
  if (grid.fastest != grid.best) role(grid.fastest, qtext(say::tile_map::fastest{}));
  if (cell.again)
    content.notes << qtext(say::tile_map::cell_again{.run = grid.points->run_of(cell.row)->title.toStdString()});
  if (!on_axes(grid, "br") && !on_axes(grid, "bc")) {
    content.notes << qtext(say::tile_map::of_tile{.tile = format_tile(table.tile_of(cell.row)).toStdString()});
  }
  if (cell.repeats > 1) content.notes << qtext(say::tile_map::median_of{.measurements = cell.repeats});
  if (*cell.disposition != Disposition::ok) {
    content.notes << QStringLiteral("%1: %2").arg(qtext(title(*cell.disposition)),
                                                  headline(qtext(table.reason(cell.row))));
  } else if (!cell.value) {
    content.notes << qtext(say::tile_map::no_value{});
  }
  if (table.throttled(cell.row)) content.notes << qtext(say::tile_map::gpu_throttled{});
  return content;
}

ShownValues values_of(const HeatmapGrid& map) {
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
  const HeatmapTitle title = heatmap_title(map);
  for (std::size_t row = 0; row < map.y.size(); ++row) {
    for (std::size_t column = 0; column < map.x.size(); ++column) {
      const HeatmapCell& cell = map.at({static_cast<int>(row), static_cast<int>(column)});
      if (!cell.disposition) continue;
      values.lines.push_back({to_qstring(map.y.values[row].text), to_qstring(map.x.values[column].text),
                              cell.value ? plain_number(*cell.value) : QString(),
                              to_qstring(to_string(cell.provenance)), to_qstring(to_string(*cell.disposition)),
                              map.points->run_of(cell.row)->title, title.what + QStringLiteral(" · ") + title.of});
    }
  }
  return values;
}

}  // namespace attnscope::ui
