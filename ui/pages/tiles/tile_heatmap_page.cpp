// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/tiles/tile_heatmap_page.h"

#include <QClipboard>
#include <QGuiApplication>
#include <QMenu>
#include <algorithm>
#include <utility>

#include "messages/tile_map.h"
#include "profiler/files/recorded_samples.h"
#include "profiler/metrics/metrics.h"
#include "profiler/plan/command_text.h"
#include "profiler/plan/fields.h"
#include "profiler/tilemap/plot_list.h"
#include "profiler/tilemap/tile_map.h"
#include "ui/models/curve_series.h"
#include "ui/pages/page.h"
#include "ui/panels/point_summary.h"
#include "ui/plots/heatmap_text.h"
#include "ui/text/qtext.h"

namespace attnscope::ui {
namespace {

constexpr std::size_t sampled_rows = 64;  ///< Number of points inspected to find the available counters.

ProblemFilter make_map_filter() {
  const analysis::MapLayout& tiles = analysis::tile_layout();
  ProblemFilter filter(analysis::all_map_facets(), analysis::combined_facet(tiles.x, tiles.y));
  filter.restrict_to(analysis::fixed_facets(tiles), analysis::combined_facet(tiles.x, tiles.y));
  return filter;
}

/// Returns null if an axis is unknown or both share a field.
std::optional<analysis::MapLayout> layout_of(const QString& id) {
  const std::vector<analysis::PointAxis> axes = analysis::point_axes();
  const analysis::PointAxis* y = analysis::find_axis(axes, layout_rows(id).toStdString());
  const analysis::PointAxis* x = analysis::find_axis(axes, layout_columns(id).toStdString());
  if (x == nullptr || y == nullptr || share_fields(*x, *y)) return std::nullopt;
  return analysis::MapLayout{*x, *y};
}

}  // namespace

TileHeatmapPage::TileHeatmapPage(Workspace& workspace, QWidget* parent)
    : ProblemPage(workspace, make_map_filter, parent),
      layout_(analysis::tile_layout()),
      axes_([this] { apply_axes(); }, layout_id(layout_), [](const QString& id) { return layout_of(id).has_value(); }),
      metric_([this] { refresh(); }, to_qstring(metric_key::time_median_ns),
              [](const QString& id) { return find_metric(id.toStdString()) != nullptr; }),
      comparison_choice_([this] { refresh(); }, to_qstring(to_string(analysis::Comparison::none))),
      relative_([this] { refresh(); },
                {{true, {.text = QStringLiteral("%"), .id = QStringLiteral("relative")}},
                 {false, {.text = qtext(msg::tile_map::times{}), .id = QStringLiteral("time")}}}) {
  add_chips();
  view_ = new HeatmapView(this);
  set_content(view_);
  connect(view_, &HeatmapView::cell_selected, this, &TileHeatmapPage::emit_selected);
  refresh();
}

void TileHeatmapPage::add_chips() {
  constexpr int widest = 110;
  chip_of_[&metric_] = facets().add_chip(metric_, msg::tile_map::colour{}, msg::tile_map::color_help{});
  chip_of_[&axes_] = facets().add_chip(axes_, msg::tile_map::axes{}, msg::tile_map::axes_help{});
  chip_of_[&relative_] = facets().add_switch(relative_, msg::tile_map::cells{}, msg::tile_map::cells_help{});
  for (const IdChoice* choice : {&metric_, &axes_}) {
    chip_of_[choice]->hide_label();
    chip_of_[choice]->set_max_value_width(widest);
  }
  chip_of_[&comparison_choice_] =
      facets().add_option(comparison_choice_, msg::tile_map::show_as{}, msg::tile_map::show_as_help{});
  log_ = facets().toggles().add(QStringLiteral("log"), msg::tile_map::log{}, msg::tile_map::log_help{}, true);
  connect(log_, &QAction::toggled, this, &TileHeatmapPage::refresh);
  choices().add("metric", metric_);
  choices().add("as", comparison_choice_);
  choices().add("cells", relative_);
  choices().add("log", *log_);
  choices().add(
      [this](QJsonObject& state) {
        state[QStringLiteral("rows")] = layout_rows(axes_.id());
        state[QStringLiteral("columns")] = layout_columns(axes_.id());
      },
      [this](const QJsonObject& state) {
        axes_.set_id(layout_id(state[QStringLiteral("rows")].toString(layout_rows(axes_.id())),
                               state[QStringLiteral("columns")].toString(layout_columns(axes_.id()))));
      });
}

bool TileHeatmapPage::show_mark(const ShownPoint& point, bool moves) {
  if (!has_map()) return false;
  const std::optional<Row> row = view_->points().row_of(point);
  const std::optional<TileMap::Place> place = row ? view_->map().index_of(*row) : std::nullopt;
  if (!place) return false;
  // Keep the selection of a cell without a point.
  if (moves || !view_->selected()) view_->select(place);
  return view_->selected() == place;
}

void TileHeatmapPage::apply_axes() {
  // Views compare facets by identity, so keep the layout object if it is unchanged.
  if (axes_.id() != layout_id(layout_)) layout_ = *layout_of(axes_.id());
  refresh();
}

bool TileHeatmapPage::is_over_tiles() const {
  return axes_.id() == layout_id(analysis::tile_layout());
}

void TileHeatmapPage::offer(IdChoice& choice, std::vector<Option> options, int otherwise) {
  chip_of_[&choice]->setVisible(options.size() > 1);
  choice.offer(std::move(options), otherwise);
}

bool TileHeatmapPage::show_problem_of_point(const QString& file, std::int64_t point) {
  const auto wanted = [&](const ShownPoint& each) { return each.id == point && each.run->file == file; };
  if (show_problem_of(wanted)) return true;
  axes_.choose(layout_id(analysis::tile_layout()));
  return show_problem_of(wanted);
}

QString TileHeatmapPage::file_stem() const {
  QString stem = QString::fromStdString(analysis::map_stem(filter(), metric_.key()));
  if (!is_over_tiles()) stem += QStringLiteral("-%1-%2").arg(layout_rows(axes_.id()), layout_columns(axes_.id()));
  const analysis::ValueSelection shown = request().shown;
  if (shown.as != analysis::Comparison::none) stem += QLatin1Char('-') + to_qstring(to_string(shown.as));
  return stem;
}

PlotPicture TileHeatmapPage::picture() const {
  return picture_of(*view_);
}

ShownValues TileHeatmapPage::values() const {
  return values_of(view_->points(), view_->map());
}

std::vector<std::pair<QString, QString>> TileHeatmapPage::shortcuts() const {
  return {{qtext(msg::tile_map::on_map{}), qtext(msg::tile_map::key_walk{})},
          {qtext(msg::tile_map::home_on_map{}), qtext(msg::tile_map::key_best{})},
          {qtext(msg::tile_map::digits_on_map{}), qtext(msg::tile_map::key_bin{})}};
}

void TileHeatmapPage::prepare_screenshot() {
  if (has_map()) heatmap()->select(heatmap()->initial_cell());
}

ProblemPage::Collection TileHeatmapPage::collection() const {
  return {.preset = QStringLiteral("tiles"), .free_axes = {"br", "bc"}};
}

EmptyStateText TileHeatmapPage::no_plot_text() {
  if (points()->empty()) return no_points_text(workspace());
  if (auto absent = absent_text(msg::tile_map::what{})) return *std::move(absent);
  if (has_active_run(workspace())) {
    return {qtext(msg::tile_map::map_pending{}), qtext(msg::tile_map::map_pending_help{.tiles = min_map_tiles})};
  }
  if (const auto none_ran = none_ran_text(points()->table())) return *none_ran;
  if (is_over_tiles()) {
    return {qtext(msg::tile_map::no_sweep{}), qtext(msg::tile_map::no_sweep_help{}), attnscope::tiles_sample};
  }
  return {qtext(msg::tile_map::no_map{}),
          qtext(msg::tile_map::no_map_help{.columns = label_of(layout_.x).toHtmlEscaped().toStdString(),
                                           .rows = label_of(layout_.y).toHtmlEscaped().toStdString(),
                                           .tiles = min_map_tiles})};
}

void TileHeatmapPage::offer_axes() {
  std::vector<analysis::PointAxis> axes = varying_;
  // Always offers the tile axes and the chosen ones.
  const std::vector<analysis::PointAxis> all = analysis::point_axes();
  for (const std::string& key : {std::string("br"), std::string("bc"), layout_.y.key(), layout_.x.key()}) {
    if (analysis::find_axis(axes, key) == nullptr) axes.push_back(*analysis::find_axis(all, key));
  }
  std::vector<Option> options;
  for (const analysis::PointAxis& y : axes) {
    for (const analysis::PointAxis& x : axes) {
      if (!share_fields(x, y)) options.push_back(layout_option({.x = x, .y = y}));
    }
  }
  offer(axes_, std::move(options), -1);
}

void TileHeatmapPage::offer_metrics() {
  const std::vector<Row>& rows = filter().rows();
  const std::span<const Row> first(rows.data(), std::min(rows.size(), sampled_rows));
  std::vector<Option> options;
  for (const bool usual : {true, false}) {
    for (const Metric& metric : metrics_table()) {
      if (metric.on_heatmap != usual) continue;
      const QString id = to_qstring(metric.key);
      const auto has = [&](Row row) { return points()->table().values(metric.key).has(row); };
      if (!usual && id != metric_.id() && std::ranges::none_of(first, has)) continue;
      options.push_back({.text = metric_label(metric.key),
                         .id = id,
                         .full = qtext(metric.help()),
                         .group = usual ? QString() : qtext(msg::tile_map::more_counters{})});
    }
  }
  // Width for the common metrics; longer names of rare counters are elided.
  offer(metric_, std::move(options), 0);
}

void TileHeatmapPage::offer_comparisons() {
  std::vector<Option> options;
  const auto add = [&](analysis::Comparison as, const QString& text) {
    options.push_back({.text = text, .id = to_qstring(to_string(as))});
  };
  using enum analysis::Comparison;
  add(none, qtext(msg::tile_map::show_value{}));
  const Metric* metric = find_metric(metric_.key());
  // Times are shown relative to the fastest anyway.
  const bool times = metric_.id() == to_qstring(metric_key::time_median_ns);
  if (metric != nullptr && metric->better != BetterDirection::neither && !times)
    add(share_of_best, comparison_suffix(share_of_best));
  if (analysis::has_model(metric_.key())) add(over_model, comparison_suffix(over_model));
  offer(comparison_choice_, std::move(options), 0);
}

analysis::MapRequest TileHeatmapPage::request() const {
  analysis::MapRequest request{.layout = layout_, .shown = {.metric = metric_.key()}};
  if (comparison_choice_.shown() == nullptr) return request;
  for (const analysis::Comparison as : {analysis::Comparison::share_of_best, analysis::Comparison::over_model}) {
    if (comparison_choice_.shown()->id == to_qstring(to_string(as))) request.shown.as = as;
  }
  return request;
}

void TileHeatmapPage::refresh() {
  if (view_ == nullptr) return;                            // Called during construction.
  if (workspace().is_gathering()) return cancel_search();  // points_changed() will call refresh() again.
  restrict_to(analysis::fixed_facets(layout_), analysis::combined_facet(layout_.x, layout_.y));
  const auto varying = std::make_shared<std::optional<std::vector<analysis::PointAxis>>>();
  search_points(
      axes_.key(),
      [varying, layout = layout_](const analysis::PointTable& table) {
        const std::vector<Row> all = table.rows();
        *varying = analysis::varying_axes(table, all);
        return analysis::swept_rows(table, all, layout);
      },
      [this, varying] {
        if (*varying) varying_ = std::move(**varying);
        show_map();
      });
}

void TileHeatmapPage::show_map() {
  offer_axes();
  offer_metrics();
  offer_comparisons();
  const TileMap map = analysis::build_map(points()->table(), filter().rows(), request());
  if (map.empty()) {
    chip_of_[&relative_]->hide();
    view_->set_map(points(), {}, false);
    return show_text(no_plot_text());
  }
  chip_of_[&relative_]->setVisible(has_slowdowns(map));
  log_->setVisible(!has_slowdowns(map));
  view_->set_map(points(), map, log_->isChecked(), relative_.value());
  view_->set_causes(headline_causes(*points(), map, records_));
  show_content(simulated_groups(*points(), map.rows()));
  restore_mark();
}

void TileHeatmapPage::fill_menu(QMenu& menu) {
  if (!view_->selected() || !has_map()) return;
  const TileMap& map = view_->map();
  const auto& cell = map.at(*view_->selected());
  const auto point = analysis::point_of(view_->points().table(), map, *view_->selected());
  const QString gpu = QString::fromStdString(view_->points().table().run(map.rows().front()).device_name);
  const auto add = [&](const char* name, const Message& text, bool enabled, auto action) {
    QAction* entry = menu.addAction(qtext(text), this, action);
    entry->setObjectName(QLatin1String(name));
    entry->setEnabled(enabled);
  };
  const auto copy = [](const QString& text) { return [text] { QGuiApplication::clipboard()->setText(text); }; };
  const PointSpec spec = point.value_or(PointSpec{});
  add("explore", msg::tile_map::menu_explore{}, point.has_value(),
      [this, spec, gpu] { emit explore_requested(spec, gpu); });
  add("pin", msg::tile_map::menu_pin{}, point.has_value(), [this, spec, gpu] { emit pin_requested(spec, gpu); });
  menu.addSeparator();
  add("value", msg::tile_map::menu_value{}, cell.value.has_value(),
      copy(cell.value ? cell_value_text(map, *cell.value) : QString()));
  // Cells with a point get this entry from the window.
  if (!cell.disposition) {
    add("collect", msg::tile_map::menu_collect{}, point.has_value(),
        copy(QString::fromStdString(collect_command(spec))));
  }
  add("launch", msg::tile_map::menu_launch{}, point.has_value(), copy(QString::fromStdString(launch_command(spec))));
}

}  // namespace attnscope::ui
