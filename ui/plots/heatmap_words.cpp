// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/plots/heatmap_words.h"

#include <QCoreApplication>
#include <algorithm>
#include <map>
#include <utility>

#include "profiler/metrics/metrics.h"
#include "ui/format.h"
#include "ui/models/curve_series.h"
#include "ui/models/point_settings.h"

namespace attnscope::ui {
namespace {

QString tr(const char* text) {
  return QCoreApplication::translate("HeatmapView", text);
}

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
    words << tr("%1 (%2)").arg(to_qstring(provenance)).arg(-count);
  }
  return words.join(QStringLiteral("; "));
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
  return tr("run: %1; hidden, with the same tiles: %2")
      .arg(shown.join(QStringLiteral(", ")), hidden.join(QStringLiteral(", ")));
}

/// Of several tiles the first, and how many stand beside it.
QString alike_words(const HeatmapGrid& grid, const std::vector<HeatmapGrid::Place>& places) {
  QString words = extents(grid, places.front());
  if (places.size() < 2) return words;
  const HeatmapCell& first = grid.at(places.front());
  const bool equal = std::ranges::all_of(places, [&](auto place) { return grid.at(place).value == first.value; });
  const auto others = static_cast<int>(places.size()) - 1;
  return words + (equal ? tr(" (%1 tiles alike)").arg(others + 1) : tr(" and %1 within its interval").arg(others));
}

/// "kernels: unmarked teams 2 (90 tiles), ◣ without teams (31)".
QString kernel_words(const HeatmapGrid& grid) {
  QStringList words;
  for (int kernel = 0; kernel < static_cast<int>(grid.kernels.size()); ++kernel) {
    const analysis::MapKernel& which = grid.kernels[static_cast<std::size_t>(kernel)];
    const QString mark = kernel == 0 ? tr("unmarked") : kernel_mark(kernel);
    words << (kernel == 0 ? tr("%1 %2 (%3 tiles)") : QStringLiteral("%1 %2 (%3)"))
                 .arg(mark, QString::fromStdString(which.words))
                 .arg(which.tiles);
  }
  return tr("kernels: %1").arg(words.join(QStringLiteral(", ")));
}

QString paper_words(const PaperMark& mark) {
  const QString words = mark.inside
                            ? tr("◆ on the axes: the paper's tile, Bc = ⌈M/4d⌉ = %1, Br = min(Bc, d) = %2")
                            : tr("◆ on the axes: the paper's tile, Bc = ⌈M/4d⌉ = %1, Br = min(Bc, d) = %2; an arrow "
                                 "points where it lies beyond this grid");
  return words.arg(mark.tile.bc).arg(mark.tile.br);
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
      return {"OOM"};
    case Disposition::incorrect:
      return {"wrong"};
    case Disposition::compile_error:
      return {"build"};
    case Disposition::timeout:
      return {"timeout"};
    case Disposition::crashed:
      return {"crash"};
    case Disposition::no_counters:
      return {"n/a"};
    case Disposition::cancelled:
      return {"stop"};
  }
  return {};
}

HeatmapTitle heatmap_title(const HeatmapGrid& grid) {
  const ShownPoint any = grid.shown_points().front();
  const PointSpec& spec = any.spec();
  const QString unit = unit_scale(grid.maximum.value_or(1), grid.unit).suffix;
  const QString provenance = origin_words(grid);
  QStringList words{short_title(spec.algorithm)};
  words << (unit.isEmpty() ? grid.label : QStringLiteral("%1 [%2]").arg(grid.label, unit));
  if (!provenance.isEmpty()) words << provenance;
  QStringList problem;
  problem << QStringLiteral("N %1").arg(format_lengths(spec.problem)) << QStringLiteral("d %1").arg(spec.problem.d)
          << format_mask(spec.problem.mask) << unusual_settings(spec) << to_qstring(to_string(spec.problem.dtype))
          << tr("batch × heads %1").arg(format_heads(spec.problem))
          << QString::fromStdString(any.run->summary.device_name);
  const QString dot = QStringLiteral(" · ");
  return {words.join(dot), problem.join(dot)};
}

QString heatmap_caption(const HeatmapGrid& grid, bool figures_shown, Medium medium) {
  const bool screen = medium == Medium::screen;
  QStringList parts;
  const auto cells = static_cast<int>(grid.br.size() * grid.bc.size());
  parts << tr("%1 of %2 tiles ran").arg(grid.ok).arg(grid.collected);
  if (grid.collected < cells) parts << tr("blank: not collected (%1)").arg(cells - grid.collected);
  const Marks marks = marks_of(grid);
  if (marks.simulated) parts << tr("dotted frame: simulated");
  if (marks.extrapolated) parts << tr("double dotted frame: extrapolated (simulated in part)");
  if (marks.imported) parts << tr("dash-dotted frame: imported");
  if (marks.throttled) parts << tr("corner: clocks throttled");
  if (marks.infeasible) parts << (screen ? tr("hatched: cannot run (hover for why)") : tr("hatched: cannot run"));
  if (!figures_shown) {
    parts << (screen ? tr("numbers hidden: enlarge the window, or hover") : tr("numbers hidden: no room for them"));
  }
  if (grid.flat) {
    parts << tr("one colour: the values differ by less than they scatter (%1)")
                 .arg(format_metric({grid.metric, *grid.spread, grid.unit, Provenance::derived}));
  }
  if (!grid.best.empty()) parts << tr("outlined: %1, %2").arg(grid.best_words(), alike_words(grid, grid.best));
  if (!grid.fastest.empty() && grid.fastest != grid.best) {
    parts << tr("dashed: fastest, %1").arg(alike_words(grid, grid.fastest));
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
  content.title = tr("Br %1 × Bc %2")
                      .arg(grid.br[static_cast<std::size_t>(place.row)])
                      .arg(grid.bc[static_cast<std::size_t>(place.column)]);
  if (!cell.disposition) {
    content.notes << tr("Not collected: no shown run has this tile.");
    return content;
  }
  const PointRecord& record = grid.source(place).record();
  if (cell.value) {
    content.rows.push_back(row_of(grid.label, {grid.metric, *cell.value, grid.unit, cell.provenance}));
  }
  for (const std::string_view key :
       {metric_key::time_median_ns, metric_key::tflops, metric_key::achieved_occupancy_pct}) {
    if (key == grid.metric) continue;
    if (const auto value = evaluate(key, record)) content.rows.push_back(row_of(metric_label(key), *value));
  }
  const auto role = [&](const std::vector<HeatmapGrid::Place>& places, const QString& what) {
    const auto found = std::ranges::find(places, place);
    if (found == places.end()) return;
    const bool first = found == places.begin() || cell.value == grid.at(places.front()).value;
    content.notes
        << (first ? tr("Of the tiles shown: %1.") : tr("Within the interval of the %1 tile shown.")).arg(what);
  };
  role(grid.best, grid.best_words());
  if (grid.fastest != grid.best) role(grid.fastest, tr("fastest"));
  if (cell.kernel >= 0) {
    const analysis::MapKernel& kernel = grid.kernels[static_cast<std::size_t>(cell.kernel)];
    const QString mark = kernel_mark(cell.kernel);
    content.notes << tr("%1Kernel: %2.")
                         .arg(mark.isEmpty() ? QString() : mark + QLatin1Char(' '),
                              QString::fromStdString(describe(kernel.kind)));
  }
  if (cell.repeats > 1) content.notes << tr("The median of %1 measurements of one run.").arg(cell.repeats);
  if (*cell.disposition != Disposition::ok) {
    content.notes << QStringLiteral("%1: %2").arg(to_qstring(to_string(*cell.disposition)), to_qstring(record.reason));
  } else if (!cell.value) {
    content.notes << tr("This point has no value for the metric shown.");
  }
  if (record.clocks && record.clocks->throttled) content.notes << tr("The GPU was throttled at this point.");
  return content;
}

}  // namespace attnscope::ui
