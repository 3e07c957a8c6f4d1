// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/plots/heatmap_words.h"

#include <algorithm>
#include <map>
#include <utility>

#include "messages/tile_map.h"
#include "profiler/metrics/metrics.h"
#include "ui/format.h"
#include "ui/models/curve_series.h"
#include "ui/models/point_settings.h"
#include "ui/said.h"

namespace attnscope::ui {
namespace {

/// What single cells are marked with.
struct Marks {
  bool infeasible = false;
  bool simulated = false;
  bool extrapolated = false;
  bool imported = false;
  bool throttled = false;
};

Marks marks_of(const HeatmapGrid& grid) {
  Marks marks;
  for (const auto& row : grid.cells) {
    for (const HeatmapCell& cell : row) {
      marks.infeasible = marks.infeasible || cell.disposition == Disposition::infeasible;
      marks.simulated = marks.simulated || (cell.value && cell.provenance == Provenance::simulated);
      marks.extrapolated = marks.extrapolated || (cell.value && cell.provenance == Provenance::extrapolated);
      marks.imported = marks.imported || (cell.value && cell.provenance == Provenance::imported);
      marks.throttled = marks.throttled || (cell.value && cell.throttled);
    }
  }
  return marks;
}

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
  const auto words = [&](double value) { return format_metric({grid.metric, value, grid.unit, Provenance::measured}); };
  const QString low = words(*grid.minimum);
  const QString high = words(*grid.maximum);
  return low == high ? low : low + QStringLiteral(" – ") + high;
}

QString extents(const HeatmapGrid& grid, HeatmapGrid::Place place) {
  return QStringLiteral("%1\u00A0×\u00A0%2")  // on one line
      .arg(grid.br[static_cast<std::size_t>(place.row)])
      .arg(grid.bc[static_cast<std::size_t>(place.column)]);
}

/// The runs whose cells are shown, and those that newer ones hide.
QString run_words(const HeatmapGrid& grid) {
  if (grid.hidden.empty()) return {};
  const auto title = [&](analysis::RunIndex run) {
    const RunInfo& info = grid.points->run(run);
    return info.title.isEmpty() ? run_title(info.summary) : info.title;
  };
  QStringList shown;
  for (const analysis::RunIndex run : grid.shown) shown << title(run);
  QStringList hidden;
  for (const analysis::HiddenRun& run : grid.hidden) hidden << title(run.run);
  return said(say::tile_map::hidden_runs{.runs = shown.join(QStringLiteral(", ")).toStdString(),
                                         .hidden = hidden.join(QStringLiteral(", ")).toStdString()});
}

/// Of several tiles the first, and how many stand beside it.
QString alike_words(const HeatmapGrid& grid, const std::vector<HeatmapGrid::Place>& places) {
  QString tile = extents(grid, places.front());
  if (places.size() < 2) return tile;
  const HeatmapCell& first = grid.at(places.front());
  const bool equal = std::ranges::all_of(places, [&](auto place) { return grid.at(place).value == first.value; });
  if (equal) return said(say::tile_map::tiles_alike{.tile = tile.toStdString(), .tiles = places.size()});
  return said(say::tile_map::tiles_within{.tile = tile.toStdString(), .others = places.size() - 1});
}

/// "kernels: unmarked teams 2 (90 tiles), ◣ without teams (31)".
QString kernel_words(const HeatmapGrid& grid) {
  QStringList words;
  for (int kernel = 0; kernel < static_cast<int>(grid.kernels.size()); ++kernel) {
    const analysis::MapKernel& which = grid.kernels[static_cast<std::size_t>(kernel)];
    if (kernel > 0) {
      words << QStringLiteral("%1 %2 (%3)")
                   .arg(kernel_mark(kernel), QString::fromStdString(which.words))
                   .arg(which.tiles);
    } else if (which.tiles == 1) {
      words << said(say::tile_map::unmarked_kernel_of_one{.kernel = which.words});
    } else {
      words << said(say::tile_map::unmarked_kernel{.kernel = which.words, .tiles = which.tiles});
    }
  }
  return said(say::tile_map::kernels{.kernels = words.join(QStringLiteral(", ")).toStdString()});
}

QString paper_words(const PaperMark& mark) {
  if (mark.inside) return said(say::tile_map::paper_tile{.bc = mark.tile.bc, .br = mark.tile.br});
  return said(say::tile_map::paper_tile_outside{.bc = mark.tile.bc, .br = mark.tile.br});
}

HoverRow row_of(const QString& label, const MetricValue& value) {
  return {
      {}, SampleMark::none, QStringLiteral("%1 · %2").arg(label, to_qstring(value.provenance)), format_metric(value)};
}

}  // namespace

QString kernel_mark(int kernel) {
  switch (kernel) {
    case 0:
      return {};
    case 1:
      return QStringLiteral("◣");
    case 2:
      return QStringLiteral("■");
    case 3:
      return QStringLiteral("●");
    case 4:
      return QStringLiteral("▬");
    default:  // hovering tells the rest apart
      return QStringLiteral("▲");
  }
}

QString short_word(Disposition disposition) {
  switch (disposition) {
    case Disposition::ok:
    case Disposition::infeasible:  // hatched
      return {};
    case Disposition::out_of_memory:
      return said(say::tile_map::short_memory{});
    case Disposition::incorrect:
      return said(say::tile_map::short_incorrect{});
    case Disposition::compile_error:
      return said(say::tile_map::short_compile{});
    case Disposition::timeout:
      return said(say::tile_map::short_timeout{});
    case Disposition::crashed:
      return said(say::tile_map::short_crashed{});
    case Disposition::no_counters:
      return said(say::tile_map::short_no_counters{});
    case Disposition::cancelled:
      return said(say::tile_map::short_cancelled{});
  }
  return {};
}

HeatmapTitle heatmap_title(const HeatmapGrid& grid) {
  const ShownPoint any = (*grid.points)[grid.shown_rows().front()];
  const PointSpec& spec = any.spec;
  const QString unit = unit_scale(grid.maximum.value_or(1), grid.unit).suffix;
  const QString provenance = origin_words(grid);
  QStringList words{short_title(spec.algorithm)};
  words << (unit.isEmpty() ? grid.label : QStringLiteral("%1 [%2]").arg(grid.label, unit));
  if (!provenance.isEmpty()) words << provenance;
  QStringList problem;
  problem << QStringLiteral("N %1").arg(format_lengths(spec.problem)) << QStringLiteral("d %1").arg(spec.problem.d)
          << format_mask(spec.problem.mask) << unusual_settings(spec) << to_qstring(to_string(spec.problem.dtype))
          << said(say::tile_map::heads{.heads = format_heads(spec.problem).toStdString()})
          << QString::fromStdString(any.run->summary.device_name);
  const QString dot = QStringLiteral(" · ");
  return {words.join(dot), problem.join(dot)};
}

QString heatmap_caption(const HeatmapGrid& grid, bool figures_shown, Medium medium) {
  const bool screen = medium == Medium::screen;
  QStringList parts;
  const auto cells = static_cast<int>(grid.br.size() * grid.bc.size());
  parts << said(say::tile_map::tiles_ran{.ran = grid.ok, .tiles = grid.collected});
  if (grid.collected < cells) parts << said(say::tile_map::blank{.tiles = cells - grid.collected});
  const Marks marks = marks_of(grid);
  if (marks.simulated) parts << said(say::tile_map::simulated{});
  if (marks.extrapolated) parts << said(say::tile_map::extrapolated{});
  if (marks.imported) parts << said(say::tile_map::imported{});
  if (marks.throttled) parts << said(say::tile_map::throttled{});
  if (marks.infeasible)
    parts << (screen ? said(say::tile_map::infeasible_on_screen{}) : said(say::tile_map::infeasible{}));
  if (!figures_shown) {
    parts << (screen ? said(say::tile_map::no_room_on_screen{}) : said(say::tile_map::no_room{}));
  }
  if (grid.flat) {
    parts << said(say::tile_map::flat{
        .values = range_words(grid).toStdString(),
        .spread = format_metric({grid.metric, *grid.spread, grid.unit, Provenance::derived}).toStdString()});
  }
  if (!grid.best.empty())
    parts << said(say::tile_map::outlined{.what = grid.best_words().toStdString(),
                                          .tiles = alike_words(grid, grid.best).toStdString()});
  if (!grid.fastest.empty() && grid.fastest != grid.best) {
    parts << said(say::tile_map::dashed{.tiles = alike_words(grid, grid.fastest).toStdString()});
  }
  if (const QString runs = run_words(grid); !runs.isEmpty()) parts << runs;
  QString text = parts.join(QStringLiteral(" · "));
  if (!grid.kernels.empty()) text += QLatin1Char('\n') + kernel_words(grid);
  if (grid.paper) text += QLatin1Char('\n') + paper_words(*grid.paper);
  return text;
}

HoverContent describe_heatmap_cell(const HeatmapGrid& grid, HeatmapGrid::Place place) {
  const HeatmapCell& cell = grid.at(place);
  HoverContent content;
  content.title = said(say::tile_map::tile{.br = grid.br[static_cast<std::size_t>(place.row)],
                                           .bc = grid.bc[static_cast<std::size_t>(place.column)]});
  if (!cell.disposition) {
    content.notes << said(say::tile_map::not_collected{});
    return content;
  }
  const analysis::PointTable& table = grid.points->table();
  if (cell.value) {
    content.rows.push_back(row_of(grid.label, {grid.metric, *cell.value, grid.unit, cell.provenance}));
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
    content.notes << (first ? said(say::tile_map::of_tiles_shown{.what = what.toStdString()})
                            : said(say::tile_map::within_interval{.what = what.toStdString()}));
  };
  role(grid.best, grid.best_words());
  if (grid.fastest != grid.best) role(grid.fastest, said(say::tile_map::fastest{}));
  if (cell.kernel >= 0) {
    const analysis::MapKernel& kernel = grid.kernels[static_cast<std::size_t>(cell.kernel)];
    const QString mark = kernel_mark(cell.kernel);
    const QString words = said(say::tile_map::kernel{.kernel = describe(kernel.kind)});
    content.notes << (mark.isEmpty() ? words : mark + QLatin1Char(' ') + words);
  }
  if (cell.repeats > 1) content.notes << said(say::tile_map::median_of{.measurements = cell.repeats});
  if (*cell.disposition != Disposition::ok) {
    content.notes << QStringLiteral("%1: %2").arg(to_qstring(to_string(*cell.disposition)),
                                                  said(table.reason(cell.row)));
  } else if (!cell.value) {
    content.notes << said(say::tile_map::no_value{});
  }
  if (table.throttled(cell.row)) content.notes << said(say::tile_map::gpu_throttled{});
  return content;
}

}  // namespace attnscope::ui
