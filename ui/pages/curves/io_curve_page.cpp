// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/curves/io_curve_page.h"

#include <algorithm>
#include <array>
#include <utility>

#include "kernels/registry.h"
#include "messages/curve_page.h"
#include "profiler/curves/curves.h"
#include "profiler/metrics/metrics.h"
#include "profiler/predict/modeled_values.h"
#include "profiler/tilemap/plot_list.h"
#include "ui/pages/page.h"
#include "ui/runs/point_set.h"
#include "ui/text/format.h"
#include "ui/text/qtext.h"
#include "ui/theme/theme.h"

namespace attnscope::ui {
namespace {

constexpr std::size_t fastest_index = 1;
constexpr std::size_t first_listed = 2;
constexpr std::array ordinates{Ordinate::bytes, Ordinate::time, Ordinate::rate};

QString word_of(Ordinate ordinate) {
  return to_qstring(analysis::to_string(ordinate));
}

QString about_algorithm(const std::string& name) {
  const Algorithm* algorithm = known_algorithms().find(name);
  return algorithm == nullptr ? qtext(msg::curve_page::imported_algorithm{.algorithm = short_title(name).toStdString()})
                              : QStringLiteral("%1 – %2").arg(to_qstring(algorithm->facts().title),
                                                              to_qstring(algorithm->facts().source));
}

/// Filter for plots over N, with the facets of all curves.
ProblemFilter make_curve_filter() {
  std::vector<analysis::FacetPtr> facets = analysis::curve_facets();
  for (const analysis::FacetPtr& facet : analysis::all_curve_facets()) {
    const bool known = std::ranges::any_of(facets, [&](const auto& other) { return other->key == facet->key; });
    if (!known) facets.push_back(facet);
  }
  ProblemFilter filter(std::move(facets), analysis::key_length_facet());
  filter.restrict_to(analysis::curve_facets(), analysis::key_length_facet());
  return filter;
}

constexpr char length_key[] = "n";
constexpr std::size_t sampled_rows_for_metrics = 64;

}  // namespace

IoCurvePage::IoCurvePage(Workspace& workspace, QWidget* parent)
    : ProblemPage(workspace, make_curve_filter, parent),
      tile_([this] { refresh(false); }),
      plotted_quantity_(
          [this] {
            for (const Ordinate each : ordinates) {
              if (plotted_quantity_.id() == word_of(each)) ordinate_ = each;
            }
            refresh(false);
          },
          word_of(ordinate_),
          [](const QString& id) {
            return std::ranges::find(ordinates, id, word_of) != ordinates.end() ||
                   find_metric(id.toStdString()) != nullptr;
          }),
      axis_(
          [this] {
            resolve_axis_conflict();
            refresh(false);
          },
          {},
          [this](const QString& id) {
            return id.isEmpty() ||
                   (id != QLatin1String(length_key) && analysis::find_axis(axes_, id.toStdString()) != nullptr);
          }),
      group_([this] { refresh(false); }, {},
             [this](const QString& id) {
               return id.isEmpty() ||
                      (analysis::find_axis(axes_, id.toStdString()) != nullptr && id.toStdString() != axis()->key());
             }),
      level_([this] { refresh(false); }, {{Quantity::dram,
                                           {.text = qtext(msg::curve_page::dram{}),
                                            .id = QStringLiteral("dram"),
                                            .full = qtext(msg::curve_page::dram_help{})}},
                                          {Quantity::sm_l2,
                                           {.text = qtext(msg::curve_page::sm_l2{}),
                                            .id = QStringLiteral("sm_l2"),
                                            .full = qtext(msg::curve_page::sm_l2_help{})}}}),
      scale_([this] { refresh(false); }, all_scales()) {
  update_axes();
  add_choices();
  add_toggles();
  plot_ = new IoPlot(this);
  set_content(plot_);
  connect(plot_, &IoPlot::point_clicked, this, &IoCurvePage::emit_selected);
  register_choices();
  refresh(false);
}

void IoCurvePage::update_axes() {
  for (analysis::PointAxis& axis : analysis::point_axes()) {
    if (analysis::find_axis(axes_, axis.key()) == nullptr) axes_.push_back(std::move(axis));
  }
}

void IoCurvePage::add_choices() {
  algorithms_ =
      new MultiChoiceChip(qtext(msg::curve_page::algorithms{}), qtext(msg::curve_page::algorithms_help{}), this);
  connect(algorithms_, &MultiChoiceChip::item_toggled, this, &IoCurvePage::show_algorithm);
  facets().add_leading_chip(algorithms_);
  facets().add_chip(plotted_quantity_, msg::curve_page::plot{}, msg::curve_page::plot_help{})->hide_label();
  level_chip_ = facets().add_switch(level_, msg::curve_page::level{}, msg::curve_page::level_help{});
  facets().add_chip(axis_, msg::curve_page::x_axis{}, msg::curve_page::x_axis_help{});
  facets().add_option(tile_, msg::curve_page::tile{}, msg::curve_page::tile_help{});
  facets().add_option(group_, msg::curve_page::group{}, msg::curve_page::group_help{});
  facets().add_option(scale_, msg::curve_page::scale{}, msg::curve_page::scale_help{});
}

void IoCurvePage::register_choices() {
  choices().add("tile", tile_);
  choices().add("over", axis_);
  choices().add("group", group_);
  choices().add("level", level_);
  choices().add("scale", scale_);
  choices().add_group("show", facets().toggles());
  register_zoom(choices(), *plot_);
  choices().add(
      [this](QJsonObject& state) {
        state[QStringLiteral("plot")] = word_of(ordinate_);
        state[QStringLiteral("metric")] = metric_key();
      },
      [this](const QJsonObject& state) {
        const QString before = metric_key();
        for (const Ordinate each : ordinates) {
          if (state[QStringLiteral("plot")].toString() == word_of(each)) ordinate_ = each;
        }
        plotted_quantity_.set_id(word_of(ordinate_));
        plotted_quantity_.set_id(state[QStringLiteral("metric")].toString(before));
      });
  choices().add("hidden", hidden_);
}

void IoCurvePage::show_choices() {
  resolve_axis_conflict();
  refresh(false);
}

void IoCurvePage::resolve_axis_conflict() {
  if (axis_.id() == group_.id() || (axis_.empty() && group_.id() == QLatin1String(length_key))) group_.set_id({});
}

QString IoCurvePage::metric_key() const {
  return plotted_quantity_.id() == word_of(ordinate_) ? QString() : plotted_quantity_.id();
}

void IoCurvePage::add_toggles() {
  const auto add = [this](const char* name, const Message& text, bool on, const Message& help) {
    QAction* action = facets().toggles().add(QString::fromLatin1(name), text, help, on);
    connect(action, &QAction::toggled, this, [this] { refresh(true); });
    return action;
  };
  model_ = add("model", msg::curve_page::model{}, true, msg::curve_page::model_help{});
  compulsory_ = add("minimum", msg::curve_page::minimum{}, true, msg::curve_page::minimum_help{});
  boundary_ = add("l2_limit", msg::curve_page::l2_limit{}, true, msg::curve_page::l2_limit_help{});
  residuals_ = add("residuals", msg::curve_page::residuals{}, false, msg::curve_page::residuals_help{});
}

std::vector<Choice<IoCurvePage::Scales>::Value> IoCurvePage::all_scales() {
  using enum IoPlot::Scale;
  return {
      {{automatic, automatic}, {.text = qtext(msg::curve_page::scale_automatic{}), .id = {}}},
      {{logarithmic, logarithmic}, {.text = qtext(msg::curve_page::scale_log_log{}), .id = QStringLiteral("log log")}},
      {{logarithmic, linear}, {.text = qtext(msg::curve_page::scale_log_linear{}), .id = QStringLiteral("log linear")}},
      {{linear, logarithmic}, {.text = qtext(msg::curve_page::scale_linear_log{}), .id = QStringLiteral("linear log")}},
      {{linear, linear},
       {.text = qtext(msg::curve_page::scale_linear_linear{}), .id = QStringLiteral("linear linear")}}};
}

void IoCurvePage::offer_plots() {
  std::vector<Option> options{{.text = qtext(msg::curve_page::bytes{}), .id = word_of(Ordinate::bytes)},
                              {.text = qtext(msg::curve_page::time{}), .id = word_of(Ordinate::time)},
                              {.text = qtext(msg::curve_page::rate{}), .id = word_of(Ordinate::rate)}};
  const std::span<const Row> first(filter().rows().data(), std::min(filter().rows().size(), sampled_rows_for_metrics));
  for (const Metric& metric : metrics_table()) {
    const auto has = [&](Row row) { return points()->table().values(metric.key).has(row); };
    const QString key = to_qstring(metric.key);
    if (!metric.on_heatmap && key != plotted_quantity_.id() && std::ranges::none_of(first, has)) continue;
    options.push_back({.text = metric_label(metric.key),
                       .id = key,
                       .full = qtext(metric.help()),
                       .group = qtext(msg::curve_page::more_metrics{})});
  }
  plotted_quantity_.offer(std::move(options));
}

void IoCurvePage::offer_axes() {
  const auto options_of = [&](const QString& chosen, const QString& other) {
    std::vector<Option> options;
    for (const analysis::PointAxis& each : axes_) {
      const QString key = QString::fromStdString(each.key());
      const bool there = analysis::find_axis(varying_, each.key()) != nullptr || key == chosen;
      if (!there || key == QLatin1String(length_key) || (key == other && !other.isEmpty())) continue;
      options.push_back({.text = qtext(each.facet->label), .id = key, .full = qtext(each.facet->help)});
    }
    return options;
  };
  std::vector<Option> over = options_of(axis_.id(), group_.id());
  over.insert(over.begin(), {.text = QStringLiteral("N"), .id = {}});
  axis_.offer(std::move(over));
  std::vector<Option> by = options_of(group_.id(), axis_.id());
  if (!axis_.empty()) by.insert(by.begin(), {.text = QStringLiteral("N"), .id = QLatin1String(length_key)});
  by.insert(by.begin(), {.text = qtext(analysis::tile_facet()->label), .id = QStringLiteral("tile")});
  by.insert(by.begin(), {.text = qtext(msg::curve_page::no_group{}), .id = {}});
  group_.offer(std::move(by));
}

bool IoCurvePage::is_over_n() const {
  return metric_key().isEmpty() && axis_.empty() && group_.empty();
}

const analysis::PointAxis* IoCurvePage::axis() const {
  return analysis::find_axis(axes_, axis_.empty() ? std::string(length_key) : axis_.key());
}

analysis::FacetPtr IoCurvePage::group() const {
  const analysis::PointAxis* found = analysis::find_axis(axes_, group_.key());
  return found == nullptr ? nullptr : found->facet;
}

std::string IoCurvePage::shown_metric() const {
  if (!metric_key().isEmpty()) return plotted_quantity_.key();
  // Prefers the memory level that does not depend on L2.
  switch (ordinate_) {
    case Ordinate::bytes:
      return std::string(metric_key::l2_sm_bytes);
    case Ordinate::time:
      return std::string(metric_key::time_median_ns);
    case Ordinate::rate:
      return std::string(metric_key::tflops);
  }
  return {};
}

std::vector<std::pair<QString, QString>> IoCurvePage::shortcuts() const {
  return {{qtext(msg::curve_page::on_legend{}), qtext(msg::curve_page::key_legend{})},
          {qtext(msg::curve_page::on_curves{}), qtext(msg::curve_page::key_next{})},
          {qtext(msg::curve_page::home_on_curves{}), qtext(msg::curve_page::key_reset_view{})}};
}

PlotPicture IoCurvePage::picture() const {
  return picture_of(*plot_, drawn_runs(plot_->shown()));
}

QString IoCurvePage::file_stem() const {
  if (!is_over_n()) {
    QString stem = QStringLiteral("curves%1-%2-over-%3")
                       .arg(QString::fromStdString(filter().stem()), QString::fromStdString(shown_metric()),
                            QString::fromStdString(axis()->key()));
    if (!group_.empty()) stem += QStringLiteral("-by-") + group_.id();
    return stem;
  }
  const QString stem = QString::fromStdString(analysis::curve_stem(ordinate_, filter(), tile_selection()));
  return ordinate_ == Ordinate::bytes ? stem + level_suffix(level_.value()) : stem;
}

TileSelection IoCurvePage::tile_selection() const {
  const auto index = static_cast<std::size_t>(std::max(0, tile_.shown_index()));
  if (index == fastest_index) return {TileSelection::Rule::fastest, {}, {}};
  if (index < first_listed) return {};
  const std::size_t listed = index - first_listed;
  if (listed < swept_.size()) return {TileSelection::Rule::widest, {}, swept_[listed]};
  if (listed - swept_.size() >= tiles_.size()) return {};
  return {TileSelection::Rule::exact, tiles_[listed - swept_.size()], {}};
}

CurveRequest IoCurvePage::request() const {
  CurveRequest request;
  for (const MultiChoiceChip::Item& each : offered_algorithms_) {
    if (each.on) request.algorithms.insert(each.id.toStdString());
  }
  if (!is_over_n()) {
    request.axis = *axis();
    request.metric = shown_metric();
    request.group = group();
  }
  request.tile = tile_selection();
  request.ordinate = ordinate_;
  request.dram = level_.value() == Quantity::dram;
  request.sm_l2 = !request.dram;
  request.model = model_->isChecked();
  request.compulsory = compulsory_->isChecked();
  request.l2_boundary = boundary_->isChecked();
  request.residuals = true;
  return request;
}

void IoCurvePage::refresh(bool keep_view) {
  if (plot_ == nullptr) return;  // Called during construction.
  update_axes();
  if (is_over_n()) {
    restrict_to(analysis::curve_facets(), analysis::key_length_facet());
  } else {
    restrict_to(analysis::fixed_curve_facets(*axis(), group()), axis()->facet);
  }
  // Keeps the zoom only if this request and all pending ones keep it.
  keep_view_ = keep_view && (keep_view_ || !is_searching());
  using Axes = std::vector<analysis::PointAxis>;
  const auto varying = std::make_shared<std::optional<Axes>>();
  search_points(
      {},
      [varying](const analysis::PointTable& table) {
        std::vector<Row> all = table.rows();
        *varying = analysis::varying_curve_axes(table, all);
        return all;
      },
      [this, varying] {
        if (*varying) varying_ = std::move(**varying);
        show_curves(keep_view_);
      });
}

void IoCurvePage::show_curves(bool keep_view) {
  const bool was_empty = curves_.empty();
  update_toggles();
  offer_plots();
  offer_axes();
  refresh_algorithms();
  refresh_tiles();
  curves_ = build_curves(points(), filter(), request());
  if (const auto words = no_plot_text()) return show_text(*words);
  show_content(simulated_groups(*points(), drawn_rows(curves_)));
  const QString stem_before = std::exchange(shown_stem_, file_stem());
  const bool same = keep_view && !was_empty && stem_before == shown_stem_ && plot_->is_user_zoomed();
  const auto [y, x] = scale_.value();
  plot_->set_curves(curves_, {.x = x, .y = y, .residuals = residuals_->isChecked()}, same);
  plot_->apply_zoom(workspace().is_loading());
}

std::optional<EmptyStateText> IoCurvePage::no_plot_text() {
  if (points()->empty()) return no_points_text(workspace());
  if (auto absent = absent_text(msg::curve_page::what{})) return absent;
  if (auto absent = absent_option_text(msg::curve_page::what{}, tile_)) return absent;
  if (!is_over_n()) {
    if (!curves_.empty()) return {};
    return EmptyStateText{qtext(msg::curve_page::no_curve{}), qtext(msg::curve_page::no_curve_help{})};
  }
  const auto shown = [this](Row row) { return analysis::has_result(points()->table(), row, ordinate_); };
  if (std::ranges::any_of(filter().rows(), shown)) {
    const bool any =
        std::ranges::any_of(curves_.curves, [](const Curve& curve) { return curve.kind == CurveKind::measured; });
    // Bytes of the other level exist.
    if (any || ordinate_ != Ordinate::bytes || !curves_.failed.empty() || !hidden_.empty()) return {};
    const std::string level = level_.shown()->text.toStdString();
    return EmptyStateText{qtext(msg::curve_page::no_level{.level = level}), qtext(msg::curve_page::no_level_help{})};
  }
  // Theory without measurements would look like a result.
  if (ordinate_ == Ordinate::bytes) {
    return EmptyStateText{qtext(msg::curve_page::no_bytes{}), qtext(msg::curve_page::no_bytes_help{})};
  }
  return EmptyStateText{qtext(msg::curve_page::no_times{}), qtext(msg::curve_page::no_times_help{})};
}

void IoCurvePage::update_toggles() {
  // Theory models bytes only.
  const bool bytes = is_over_n() && ordinate_ == Ordinate::bytes;
  level_chip_->setVisible(bytes);
  compulsory_->setVisible(bytes);
  model_->setVisible(bytes || (!is_over_n() && analysis::has_model(shown_metric())));
  boundary_->setVisible(is_over_n());
}

void IoCurvePage::refresh_algorithms() {
  std::map<std::string, bool> present;  // whether the algorithm has something to show
  const analysis::PointTable& table = points()->table();
  for (const Row row : filter().rows()) {
    bool& shown = present[table.algorithm(row)];
    shown = shown || !is_over_n() || analysis::has_result(table, row, ordinate_);
  }
  const Message lacks = ordinate_ == Ordinate::bytes ? Message(msg::curve_page::points_without_bytes{})
                                                     : msg::curve_page::points_without_times{};
  constexpr qsizetype max_name_length = 24;  // The tooltip has the full name.
  const auto offer = [&](const std::string& name, const bool* there) {
    const bool shown = there != nullptr && *there;
    const Message why = there == nullptr ? Message(msg::curve_page::no_point{}) : lacks;
    const QString id = QString::fromStdString(name);
    offered_algorithms_.push_back({.text = shortened(short_title(name), max_name_length),
                                   .id = id,
                                   .help = about_algorithm(name) + (shown ? QString() : QLatin1Char('\n') + qtext(why)),
                                   .on = !hidden_.contains(id),
                                   .offered = shown});
  };
  offered_algorithms_.clear();
  for (const Algorithm* algorithm : known_algorithms().algorithms()) {
    const auto there = present.extract(std::string(algorithm->name()));
    offer(std::string(algorithm->name()), there.empty() ? nullptr : &there.mapped());
  }
  // Imported programs are offered only while they have points.
  for (const auto& [name, shown] : present) offer(name, &shown);
  algorithms_->set_items(offered_algorithms_);
}

void IoCurvePage::show_algorithm(const QString& name, bool on) {
  if (on) {
    hidden_.erase(name);
  } else {
    hidden_.insert(name);
  }
  refresh(true);
}

void IoCurvePage::refresh_tiles() {
  tiles_ = analysis::tiles_of(points()->table(), filter().rows());
  swept_ = analysis::swept_knob_values(points()->table(), filter().rows());
  std::vector<Option> options{{.text = qtext(msg::curve_page::swept_tile{}), .id = QStringLiteral("swept")},
                              {.text = qtext(msg::curve_page::fastest_tile{}), .id = QStringLiteral("fastest")}};
  for (const analysis::KnobValueChoice& value : swept_) {
    options.push_back({.text = format_swept(value),
                       .id = QStringLiteral("%1 %2").arg(QString::fromStdString(value.knob)).arg(value.value)});
  }
  for (const Config& tile : tiles_) options.push_back({.text = format_tile(tile), .id = format_tile(tile)});
  tile_.offer_available(std::move(options));
}

}  // namespace attnscope::ui
