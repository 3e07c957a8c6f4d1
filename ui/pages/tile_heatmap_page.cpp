// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/tile_heatmap_page.h"

#include <QVBoxLayout>
#include <algorithm>

#include "messages/tile_map.h"
#include "profiler/analysis/plot_list.h"
#include "profiler/metrics/metrics.h"
#include "profiler/plan/fields.h"
#include "ui/format.h"
#include "ui/plots/heatmap_words.h"
#include "ui/said.h"
#include "ui/source_note.h"

namespace attnscope::ui {
TileHeatmapPage::TileHeatmapPage(Workspace& workspace, QWidget* parent)
    : ProblemPage(
          workspace, [] { return analysis::map_filter(); }, parent) {
  metric_ = facets().add_combo(said(say::tile_map::colour{}), said(say::tile_map::colour_help{}));
  for (const Metric& metric : metrics_table()) {
    if (!metric.on_heatmap) continue;
    metric_->addItem(metric_label(metric.key), to_qstring(metric.key));
    metric_->setItemData(metric_->count() - 1, said(metric.help()), Qt::ToolTipRole);
  }
  log_ = new QCheckBox(said(say::tile_map::log{}), this);
  log_->setChecked(true);
  log_->setToolTip(said(say::tile_map::log_help{}));
  facets().layout()->addWidget(log_);

  auto* content = new QWidget(this);
  stack_ = new QStackedLayout(content);
  stack_->setContentsMargins(0, 0, 0, 0);
  view_ = new HeatmapView(content);
  empty_ = new EmptyState(content, &workspace);
  stack_->addWidget(view_);
  stack_->addWidget(empty_);
  auto* column = static_cast<QVBoxLayout*>(layout());
  column->addWidget(content, 1);
  note_ = new ErrorNote(workspace.published_errors(), this);
  column->addWidget(note_);

  set_metric(metric_key::time_median_ns);
  connect(metric_, &QComboBox::currentIndexChanged, this, &TileHeatmapPage::refresh);
  connect(log_, &QCheckBox::toggled, this, &TileHeatmapPage::refresh);
  connect(view_, &HeatmapView::cell_selected, this, &Page::point_selected);
  connect(&workspace, &Workspace::points_changed, this, &TileHeatmapPage::refresh);
  refresh();
}

void TileHeatmapPage::set_metric(std::string_view key) {
  metric_->setCurrentIndex(metric_->findData(to_qstring(key)));
}

QString TileHeatmapPage::file_stem() const {
  return QString::fromStdString(analysis::map_stem(filter(), metric_->currentData().toString().toStdString()));
}

QString TileHeatmapPage::save_plot(const QString& path, const QSize& size) {
  const HeatmapGrid& grid = view_->grid();
  view_->set_source(grid.points == nullptr ? QString() : source_note(grid.points->runs_of(grid.shown_rows())));
  if (path.endsWith(QLatin1String(".svg"), Qt::CaseInsensitive)) return view_->save_svg(path, size);
  if (path.endsWith(QLatin1String(".pdf"), Qt::CaseInsensitive)) return view_->save_pdf(path, size);
  return view_->save_png(path, size);
}

QString TileHeatmapPage::title() const {
  return said(say::tile_map::title{});
}

QJsonObject TileHeatmapPage::state() const {
  return {{QStringLiteral("choices"), facets().state()},
          {QStringLiteral("metric"), metric_->currentData().toString()},
          {QStringLiteral("log"), log_->isChecked()}};
}

void TileHeatmapPage::restore(const QJsonObject& state) {
  facets().restore(state[QStringLiteral("choices")].toObject());
  const int metric = metric_->findData(state[QStringLiteral("metric")].toString());
  if (metric >= 0) metric_->setCurrentIndex(metric);
  log_->setChecked(state[QStringLiteral("log")].toBool(log_->isChecked()));
  refresh();
}

std::vector<std::pair<QString, QString>> TileHeatmapPage::shortcuts() const {
  return {{said(say::tile_map::on_map{}), said(say::tile_map::key_walk{})},
          {said(say::tile_map::home_on_map{}), said(say::tile_map::key_best{})}};
}

void TileHeatmapPage::pose() {
  if (has_grid()) view_->select(view_->landmark());
}

void TileHeatmapPage::show_words() {
  if (points()->empty()) {
    empty_->set_words(why_no_points(workspace()));
  } else if (ticked_run_is_running(workspace())) {
    empty_->set_words(
        {said(say::tile_map::no_map_yet{}), said(say::tile_map::no_map_yet_help{.tiles = fewest_tiles_of_a_map})});
  } else {
    empty_->set_words({said(say::tile_map::no_sweep{}), said(say::tile_map::no_sweep_help{})});
  }
  stack_->setCurrentWidget(empty_);
}

void TileHeatmapPage::refresh() {
  const auto visible = workspace().visible();
  set_points(visible, analysis::swept_rows(visible->table(), visible->table().rows()));
  const HeatmapGrid grid = build_heatmap(points(), filter(), metric_->currentData().toString().toStdString());
  if (grid.empty()) {
    view_->set_grid(grid, {}, false);
    note_->show_for({}, ErrorNote::First::bytes);
    return show_words();
  }
  view_->set_grid(grid, heatmap_title(grid), log_->isChecked());
  const Metric* metric = find_metric(grid.metric);
  note_->show_for(simulated_parts(*points(), grid.shown_rows()),
                  metric != nullptr && metric->follows_clocks ? ErrorNote::First::time : ErrorNote::First::bytes);
  stack_->setCurrentWidget(view_);
}

}  // namespace attnscope::ui
