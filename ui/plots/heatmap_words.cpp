// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/plots/heatmap_words.h"

#include <QCoreApplication>

#include "profiler/metrics/metrics.h"
#include "ui/format.h"
#include "ui/models/curve_series.h"

namespace attnscope::ui {
namespace {

QString tr(const char* text) {
  return QCoreApplication::translate("HeatmapView", text);
}

/// What single cells are marked with.
struct Marks {
  bool infeasible = false;
  bool simulated = false;
  bool imported = false;
  bool throttled = false;
};

Marks marks_of(const HeatmapGrid& grid) {
  Marks marks;
  for (const auto& row : grid.cells) {
    for (const HeatmapCell& cell : row) {
      marks.infeasible = marks.infeasible || cell.disposition == Disposition::infeasible;
      marks.simulated = marks.simulated || (cell.value && cell.provenance == Provenance::simulated);
      marks.imported = marks.imported || (cell.value && cell.provenance == Provenance::imported);
      marks.throttled = marks.throttled || (cell.value && cell.throttled);
    }
  }
  return marks;
}

QString extents(const HeatmapGrid& grid, HeatmapGrid::Place place) {
  return QStringLiteral("%1\u00A0×\u00A0%2")  // on one line
      .arg(grid.br[static_cast<std::size_t>(place.row)])
      .arg(grid.bc[static_cast<std::size_t>(place.column)]);
}

QString paper_words(const PaperMark& mark) {
  const QString words = mark.inside
                            ? tr("◆ on the axes: the paper's tile, Bc = ⌈M/4d⌉ = %1, Br = min(Bc, d) = %2")
                            : tr("◆ on the axes: the paper's tile, Bc = ⌈M/4d⌉ = %1, Br = min(Bc, d) = %2; an arrow "
                                 "points where it lies beyond this grid");
  return words.arg(mark.tile.bc).arg(mark.tile.br);
}

HoverRow row_of(const QString& label, const MetricValue& value) {
  return {{},
          SampleMark::none,
          QStringLiteral("%1 · %2").arg(label, to_qstring(to_string(value.provenance))),
          format_metric(value)};
}

}  // namespace

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

HeatmapTitle heatmap_title(const std::vector<ShownPoint>& points, const HeatmapGrid& grid) {
  const PointSpec& spec = points.front().spec();
  const QString unit = unit_scale(grid.maximum.value_or(1), grid.unit).suffix;
  QString provenance;
  for (const auto& row : grid.cells) {
    for (const HeatmapCell& cell : row) {
      if (cell.value) provenance = to_qstring(to_string(cell.provenance));
    }
  }
  QStringList words{short_title(spec.algorithm)};
  words << (unit.isEmpty() ? grid.label : QStringLiteral("%1 [%2]").arg(grid.label, unit));
  if (!provenance.isEmpty()) words << provenance;
  QStringList problem;
  problem << QStringLiteral("N %1").arg(format_lengths(spec.problem)) << QStringLiteral("d %1").arg(spec.problem.d)
          << format_mask(spec.problem.mask) << problem_options(spec.problem)
          << to_qstring(to_string(spec.problem.dtype)) << tr("batch × heads %1").arg(format_heads(spec.problem))
          << QString::fromStdString(points.front().run->summary.device_name);
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
  if (marks.imported) parts << tr("dash-dotted frame: imported");
  if (marks.throttled) parts << tr("corner: clocks throttled");
  if (marks.infeasible) parts << (screen ? tr("hatched: cannot run (hover for why)") : tr("hatched: cannot run"));
  if (!figures_shown) {
    parts << (screen ? tr("numbers hidden: enlarge the window, or hover") : tr("numbers hidden: no room for them"));
  }
  if (grid.best) {
    QString words = tr("outlined: %1, %2").arg(grid.best_words(), extents(grid, *grid.best));
    if (grid.alike > 1) words += tr(" (%1 tiles alike)").arg(grid.alike);
    parts << words;
  }
  if (grid.fastest && grid.fastest != grid.best) parts << tr("dashed: fastest, %1").arg(extents(grid, *grid.fastest));
  QString text = parts.join(QStringLiteral(" · "));
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
  const PointRecord& record = cell.source.record();
  if (cell.value) {
    content.rows.push_back(row_of(grid.label, {grid.metric, *cell.value, grid.unit, cell.provenance}));
  }
  for (const std::string_view key :
       {metric_key::time_median_ns, metric_key::tflops, metric_key::achieved_occupancy_pct}) {
    if (key == grid.metric) continue;
    if (const auto value = evaluate(key, record)) content.rows.push_back(row_of(metric_label(key), *value));
  }
  if (place == grid.best) content.notes << tr("Of the tiles shown: %1.").arg(grid.best_words());
  if (place == grid.fastest && place != grid.best) content.notes << tr("The fastest tile shown.");
  if (*cell.disposition != Disposition::ok) {
    content.notes << QStringLiteral("%1: %2").arg(to_qstring(to_string(*cell.disposition)),
                                                  QString::fromStdString(record.reason));
  } else if (!cell.value) {
    content.notes << tr("This point has no value for the metric shown.");
  }
  if (record.clocks && record.clocks->throttled) content.notes << tr("The GPU was throttled at this point.");
  return content;
}

}  // namespace attnscope::ui
