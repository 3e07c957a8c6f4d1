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
    : Page(parent),
      workspace_(workspace),
      filter_(analysis::map_filter()),
      points_(std::make_shared<const PointSet>()) {
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(10, 10, 10, 6);
  column->setSpacing(7);

  facets_ = new FacetBar(filter_, this);
  metric_ = facets_->add_combo(said(say::tile_map::colour{}), said(say::tile_map::colour_help{}));
  for (const Metric& metric : metrics_table()) {
    if (!metric.on_heatmap) continue;
    metric_->addItem(metric_label(metric.key), to_qstring(metric.key));
    metric_->setItemData(metric_->count() - 1, said(metric.help()), Qt::ToolTipRole);
  }
  log_ = new QCheckBox(said(say::tile_map::log{}), this);
  log_->setChecked(true);
  log_->setToolTip(said(say::tile_map::log_help{}));
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
  note_ = new ErrorNote(workspace_.published_errors(), this);
  column->addWidget(note_);

  set_metric(metric_key::time_median_ns);
  connect(facets_, &FacetBar::chosen, this, [this] {
    touch();
    refresh();
  });
  connect(metric_, &QComboBox::currentIndexChanged, this, &TileHeatmapPage::refresh);
  connect(log_, &QCheckBox::toggled, this, &TileHeatmapPage::refresh);
  connect(view_, &HeatmapView::cell_selected, this, &Page::point_selected);
  connect(&workspace_, &Workspace::points_changed, this, &TileHeatmapPage::refresh);
  refresh();
}

void TileHeatmapPage::set_metric(std::string_view key) {
  metric_->setCurrentIndex(metric_->findData(to_qstring(key)));
}

QStringList TileHeatmapPage::options(const QString& field) const {
  QStringList ids;
  for (const std::string& id : filter_.options(field.toStdString())) ids << QString::fromStdString(id);
  return ids;
}

void TileHeatmapPage::choose(const QString& field, const QString& id) {
  const std::size_t place = filter_.place_of(field.toStdString());
  if (place == filter_.facets().size()) return;
  filter_.choose(place, id.toStdString());
  refresh();
}

QString TileHeatmapPage::file_stem() const {
  return QString::fromStdString(analysis::map_stem(filter_, metric_->currentData().toString().toStdString()));
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
  return {{QStringLiteral("choices"), facets_->state()},
          {QStringLiteral("metric"), metric_->currentData().toString()},
          {QStringLiteral("log"), log_->isChecked()}};
}

void TileHeatmapPage::restore(const QJsonObject& state) {
  facets_->restore(state[QStringLiteral("choices")].toObject());
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

std::optional<Row> TileHeatmapPage::row_of(const QString& file, std::int64_t run) const {
  const analysis::PointTable& table = points_->table();
  const std::vector<Row> swept = analysis::swept_rows(table, table.rows());
  const auto found = std::ranges::find_if(swept, [&](Row row) { return is_of_run(row, file, run); });
  return found == swept.end() ? std::nullopt : std::optional(*found);
}

bool TileHeatmapPage::is_of_run(Row row, const QString& file, std::int64_t run) const {
  const RunInfo& info = *points_->run_of(row);
  return info.summary.id == run && info.file == file;
}

Page::Followed TileHeatmapPage::follow(const QString& file, std::int64_t run, bool insist) {
  const auto first = row_of(file, run);
  if (!first) return Followed::no_points;
  if (std::ranges::any_of(filter_.rows(), [&](Row row) { return is_of_run(row, file, run); })) return Followed::shown;
  if (touched() && !insist) return Followed::kept;
  facets_->choose_problem_of(points_->table(), *first);
  refresh();
  return Followed::shown;
}

QString TileHeatmapPage::problem_of(const QString& file, std::int64_t run) const {
  const auto first = row_of(file, run);
  if (!first) return {};
  ProblemFilter filter = analysis::map_filter();
  filter.update(points_->table(), {*first});
  return QString::fromStdString(filter.summary());
}

void TileHeatmapPage::show_words() {
  if (points_->empty()) {
    empty_->set_words(why_no_points(workspace_));
  } else if (ticked_run_is_running(workspace_)) {
    empty_->set_words(
        {said(say::tile_map::no_map_yet{}), said(say::tile_map::no_map_yet_help{.tiles = fewest_tiles_of_a_map})});
  } else {
    empty_->set_words({said(say::tile_map::no_sweep{}), said(say::tile_map::no_sweep_help{})});
  }
  stack_->setCurrentWidget(empty_);
}

void TileHeatmapPage::refresh() {
  points_ = workspace_.visible();
  filter_.update(points_->table(), analysis::swept_rows(points_->table(), points_->table().rows()));
  facets_->refresh();
  const HeatmapGrid grid = build_heatmap(points_, filter_, metric_->currentData().toString().toStdString());
  if (grid.empty()) {
    view_->set_grid(grid, {}, false);
    note_->show_for({}, ErrorNote::First::bytes);
    return show_words();
  }
  view_->set_grid(grid, heatmap_title(grid), log_->isChecked());
  const Metric* metric = find_metric(grid.metric);
  note_->show_for(simulated_parts(*points_, grid.shown_rows()),
                  metric != nullptr && metric->follows_clocks ? ErrorNote::First::time : ErrorNote::First::bytes);
  stack_->setCurrentWidget(view_);
}

}  // namespace attnscope::ui
