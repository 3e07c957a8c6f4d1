// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/tile_heatmap_page.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QVBoxLayout>
#include <map>
#include <set>
#include <tuple>

#include "kernels/algorithm.h"
#include "profiler/metrics/metrics.h"
#include "ui/format.h"
#include "ui/models/curve_series.h"

namespace attnscope::ui {
namespace {

ProblemFilter make_filter() {
  return {{facets::device(), facets::algorithm(), facets::length(), facets::head_dim(), facets::pass(), facets::mask(),
           facets::dtype(), facets::heads(), facets::dropout(), facets::page(), facets::deterministic(),
           facets::raster(), facets::splits(), facets::warps(), facets::stages(), facets::cache()},
          [](const PointSpec& spec) { return QStringLiteral("%1x%2").arg(spec.tile.br).arg(spec.tile.bc); }};
}

/// Only problems that were swept over tiles are offered.
std::vector<ShownPoint> swept_points(const std::vector<ShownPoint>& points) {
  const auto key = [](const ShownPoint& point) {
    const PointSpec& spec = point.spec();
    const AttentionProblem& p = spec.problem;
    const TileShape& t = spec.tile;
    return std::tuple(point.run->summary.device_uuid, point.run->summary.provenance, spec.algorithm, p.n_q, p.n_k, p.d,
                      p.batch, p.heads_q, p.heads_kv, p.pass, p.mask, p.dtype, p.dropout, p.page, p.deterministic,
                      t.raster, t.splits, t.warps, t.stages, spec.cache);
  };
  std::map<decltype(key(std::declval<ShownPoint>())), std::set<std::pair<int, int>>> tiles;
  for (const ShownPoint& point : points) {
    if (tile_stated(point.spec().tile)) tiles[key(point)].emplace(point.spec().tile.br, point.spec().tile.bc);
  }
  std::vector<ShownPoint> swept;
  for (const ShownPoint& point : points) {
    if (tile_stated(point.spec().tile) && tiles[key(point)].size() >= fewest_tiles_of_a_map) swept.push_back(point);
  }
  return swept;
}

}  // namespace

TileHeatmapPage::TileHeatmapPage(Workspace& workspace, QWidget* parent)
    : QWidget(parent), workspace_(workspace), filter_(make_filter()) {
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(10, 10, 10, 6);
  column->setSpacing(7);

  facets_ = new FacetBar(filter_, this);
  auto* pair = new QWidget(this);
  auto* row = new QHBoxLayout(pair);
  row->setContentsMargins(0, 0, 0, 0);
  row->setSpacing(5);
  metric_ = new QComboBox(pair);
  metric_->setAccessibleName(tr("Metric shown as colour"));
  for (const Metric& metric : metrics_table()) {
    if (!metric.on_heatmap) continue;
    metric_->addItem(metric_label(metric.key), to_qstring(metric.key));
    metric_->setItemData(metric_->count() - 1, to_qstring(metric.help), Qt::ToolTipRole);
  }
  row->addWidget(new QLabel(tr("Colour"), pair));
  row->addWidget(metric_);
  log_ = new QCheckBox(tr("Log colours"), this);
  log_->setChecked(true);
  log_->setToolTip(tr("Spread the colours over the logarithm of the value"));
  facets_->layout()->addWidget(pair);
  facets_->layout()->addWidget(log_);
  column->addWidget(facets_);

  auto* content = new QWidget(this);
  stack_ = new QStackedLayout(content);
  stack_->setContentsMargins(0, 0, 0, 0);
  view_ = new HeatmapView(content);
  empty_ = new EmptyState(content);
  stack_->addWidget(view_);
  stack_->addWidget(empty_);
  column->addWidget(content, 1);

  set_metric(metric_key::time_median_ns);
  connect(facets_, &FacetBar::chosen, this, &TileHeatmapPage::refresh);
  connect(metric_, &QComboBox::currentIndexChanged, this, &TileHeatmapPage::refresh);
  connect(log_, &QCheckBox::toggled, this, &TileHeatmapPage::refresh);
  connect(view_, &HeatmapView::cell_selected, this, &TileHeatmapPage::point_selected);
  connect(&workspace_, &Workspace::points_changed, this, &TileHeatmapPage::refresh);
  refresh();
}

void TileHeatmapPage::set_metric(std::string_view key) {
  metric_->setCurrentIndex(metric_->findData(to_qstring(key)));
}

void TileHeatmapPage::choose(const QString& facet, const QString& id) {
  const std::size_t place = filter_.place_of(facet);
  if (place == filter_.facets().size()) return;
  filter_.choose(place, id);
  refresh();
}

QString TileHeatmapPage::file_stem() const {
  return QStringLiteral("tiles") + filter_.stem() + QLatin1Char('-') + metric_->currentData().toString();
}

void TileHeatmapPage::refresh() {
  std::vector<ShownPoint> points = swept_points(workspace_.visible_points());
  filter_.update(points);
  facets_->refresh();
  std::erase_if(points, [&](const ShownPoint& point) { return !filter_.matches(point); });

  HeatmapGrid grid = build_heatmap(points, metric_->currentData().toString().toStdString());
  if (grid.empty()) {
    view_->set_grid(grid, {}, false);
    empty_->set_message(tr("No tile sweep is shown"),
                        tr("A heatmap needs one problem measured with several Br × Bc.<br>Collect the preset "
                           "<b>tiles</b>, or tick a run that has it in the list on the left."));
    stack_->setCurrentWidget(empty_);
    return;
  }
  const PointSpec& spec = points.front().spec();
  QString unit = unit_scale(grid.maximum.value_or(1), grid.unit).suffix;
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
  view_->set_grid(grid, {words.join(dot), problem.join(dot)}, log_->isChecked());
  stack_->setCurrentWidget(view_);
}

}  // namespace attnscope::ui
