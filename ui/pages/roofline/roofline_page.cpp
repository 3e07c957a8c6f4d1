// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/roofline/roofline_page.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "messages/roofline_page.h"
#include "profiler/metrics/metrics.h"
#include "profiler/points/facets.h"
#include "profiler/tilemap/plot_list.h"
#include "ui/pages/ceilings/ceilings_page.h"
#include "ui/pages/page.h"
#include "ui/plots/axis_tickers.h"
#include "ui/text/format.h"
#include "ui/text/qtext.h"
#include "ui/theme/theme.h"

namespace attnscope::ui {

namespace {

std::vector<Choice<RooflineLevel>::Value> levels() {
  const auto value = [](RooflineLevel level, const QString& id) {
    return Choice<RooflineLevel>::Value{level, {.text = level_label(level), .id = id}};
  };
  return {value(RooflineLevel::dram, QStringLiteral("dram")), value(RooflineLevel::sm_l2, QStringLiteral("sm_l2")),
          value(RooflineLevel::link, QStringLiteral("link"))};
}

/// Returns the successful rows of problems for which some row has byte counts. Rows without bytes in such problems are
/// counted in the note; other problems would be empty.
std::vector<Row> rows_with_bytes(const analysis::PointTable& table) {
  const std::vector<std::uint64_t> problems = analysis::combined_codes(table, analysis::curve_facets());
  std::set<std::uint64_t> with_bytes;
  std::vector<Row> with_time;
  for (Row row = 0; row < table.size(); ++row) {
    const Disposition disposition = table.disposition(row);
    if (disposition != Disposition::ok && disposition != Disposition::no_counters) continue;
    with_time.push_back(row);
    if (analysis::has_bytes(table, row)) with_bytes.insert(problems[row]);
  }
  std::erase_if(with_time, [&](Row row) { return !with_bytes.contains(problems[row]); });
  return with_time;
}

}  // namespace

RooflinePage::RooflinePage(Workspace& workspace, QWidget* parent)
    : ProblemPage(workspace, analysis::curve_filter, parent),
      level_([this] { refresh(); }, levels()),
      device_([this] { refresh(); }) {
  add_controls();
  build_content();
  connect(&workspace, &Workspace::ceilings_changed, this, [this] { mark_stale(); });
  refresh();
}

void RooflinePage::add_controls() {
  facets().add_chip(device_, msg::roofline_page::device{}, msg::roofline_page::device_help{});
  facets().add_switch(level_, msg::roofline_page::level{}, msg::roofline_page::level_help{});
  choices().add("level", level_);
  choices().add("device", device_);
}

void RooflinePage::build_content() {
  plot_ = new RooflinePlot(this);
  register_zoom(choices(), *plot_);
  skipped_label_ = wrapped_label(this);
  skipped_label_->hide();
  set_content(plot_, skipped_label_);
  connect(plot_, &RooflinePlot::point_clicked, this, &RooflinePage::emit_selected);
}

QString RooflinePage::file_stem() const {
  return QStringLiteral("roofline-%1%2").arg(level_.id(), QString::fromStdString(filter().stem()));
}

PlotPicture RooflinePage::picture() const {
  return picture_of(*plot_, points()->runs_of(drawn_rows()));
}

std::vector<Row> RooflinePage::drawn_rows() const {
  std::vector<Row> rows;
  for (const RooflineSeries& series : set_->report.series) {
    for (const RooflinePoint& point : series.points) rows.push_back(point.row);
  }
  return rows;
}

/// Lists the devices of the problem, and loads the ceilings of the shown one: its own, or those of another device of
/// that name.
void RooflinePage::refresh_devices() {
  const analysis::PointTable& table = points()->table();
  const auto first_of = [&](const std::string& id) {
    return std::ranges::find_if(filter().rows(), [&](Row each) { return table.run(each).device_id == id; });
  };
  std::vector<Option> devices;
  std::map<QString, int> titles;
  for (const std::string& id : analysis::roofline_devices(table, filter().rows())) {
    devices.push_back({.text = QString::fromStdString(analysis::device_title(table, table.run_index(*first_of(id)))),
                       .id = QString::fromStdString(id)});
    ++titles[devices.back().text];
  }
  // Titles are unique within a provenance only: one GPU may be measured and imported.
  for (Option& device : devices) {
    if (titles[device.text] < 2) continue;
    const Provenance provenance = table.run(*first_of(device.id.toStdString())).provenance;
    device.text = QStringLiteral("%1 (%2)").arg(device.text, qtext(title(provenance)));
  }
  device_.offer_available(std::move(devices));
  ceilings_.clear();
  ceilings_of_same_device_ = true;
  if (device_.shown() == nullptr || !device_.shown()->available) return;
  const std::string id = device_.shown()->id.toStdString();
  const auto row = first_of(id);
  const analysis::Run& run = table.run(*row);
  gpu_ = QString::fromStdString(run.device_name);
  const std::vector<ShownCeilings> sets = ceilings_of(workspace());
  const auto find = [&](const auto& fits) {
    return std::ranges::find_if(sets, [&](const ShownCeilings& set) { return set.measured && fits(set); });
  };
  if (run.provenance == Provenance::simulated) return;  // Simulated points have datasheet ceilings.
  auto found = find([&](const ShownCeilings& set) { return set.device_uuid == id; });
  ceilings_of_same_device_ = found != sets.end();
  if (!ceilings_of_same_device_)
    found = find([&](const ShownCeilings& set) { return same_gpu(set.device_name, run.device_name); });
  if (found != sets.end()) ceilings_ = found->ceilings;
}

analysis::RooflineRequest RooflinePage::request() const {
  analysis::RooflineRequest request;
  if (device_.shown() != nullptr) request.device_id = device_.shown()->id.toStdString();
  request.ceilings = {ceilings_, ceilings_of_same_device_};
  return request;
}

void RooflinePage::refresh() {
  search_points({}, rows_with_bytes, [this] { show_roofline(); });
}

void RooflinePage::offer_levels() {
  const std::vector<Row>& rows = filter().rows();  // all of one problem, which has one number of GPUs
  const bool links =
      level() == RooflineLevel::link || (!rows.empty() && points()->table().problem(rows.front()).gpus > 1);
  std::vector<Option> options;
  for (const auto& [level, option] : levels()) {
    if (links || level != RooflineLevel::link) options.push_back(option);
  }
  level_.offer(std::move(options));
}

void RooflinePage::show_roofline() {
  offer_levels();
  refresh_devices();
  RooflineSet set{points(), analysis::roofline(points()->table(), filter().rows(), request()),
                  level(),  device_.shown() == nullptr ? QString() : device_.shown()->text,
                  gpu_,     QString::fromStdString(filter().summary())};
  set_ = std::make_shared<const RooflineSet>(std::move(set));
  plot_->set_roofline(*set_);
  if (!set_->report.series.empty()) plot_->apply_zoom(workspace().is_loading());
  show_skipped();
  const bool any = std::ranges::any_of(set_->report.series, [&](const RooflineSeries& series) {
    return std::ranges::any_of(series.points,
                               [&](const RooflinePoint& point) { return point.intensity(level()).has_value(); });
  });
  if (!any) return show_text(no_plot_text());
  show_content(simulated_groups(*points(), drawn_rows()));
}

void RooflinePage::show_skipped() {
  std::size_t without_bytes = set_->report.without_bytes;
  for (const RooflineSeries& series : set_->report.series) {
    without_bytes += static_cast<std::size_t>(
        std::ranges::count_if(series.points, [&](const RooflinePoint& point) { return !point.intensity(level()); }));
  }
  QStringList lines;
  if (const std::size_t undrawn = set_->report.series.size() - set_->drawn_series(); undrawn > 0) {
    lines << qtext(msg::roofline_page::series_undrawn{.series = undrawn});
  }
  if (without_bytes + set_->report.without_time > 0) {
    lines << qtext(msg::roofline_page::not_shown{.bytes = without_bytes, .time = set_->report.without_time});
  }
  // Points of other devices belong under other roofs.
  const analysis::PointTable& table = points()->table();
  const Option* shown = device_.shown();
  const std::string id = shown == nullptr ? std::string() : shown->id.toStdString();
  const auto elsewhere = std::ranges::count_if(
      filter().rows(), [&](Row row) { return shown != nullptr && table.run(row).device_id != id; });
  if (elsewhere > 0) {
    QStringList others;
    for (const Option& device : device_.options()) {
      if (&device != shown && device.available) others << device.text;
    }
    lines << qtext(msg::roofline_page::other_devices{.devices = others.join(QStringLiteral(", ")).toStdString(),
                                                     .points = points_text(static_cast<std::size_t>(elsewhere))});
  }
  skipped_label_->setText(lines.join(QLatin1Char('\n')));
  skipped_label_->setVisible(!lines.isEmpty());
}

void RooflinePage::follow(const ShownPoint& point) {
  ProblemPage::follow(point);
  const std::optional<Row> row = points()->row_of(point);
  if (!row || device_.shown() == nullptr) return;
  const QString id = QString::fromStdString(points()->table().run(*row).device_id);
  if (device_.shown()->id == id) return;
  const auto device = std::ranges::find(device_.options(), id, &Option::id);
  if (device == device_.options().end() || !device->available) return;
  note_followed(device->text, [this, before = device_.id()] { device_.choose(before); });
  device_.choose(id);
}

EmptyStateText RooflinePage::no_plot_text() {
  if (points()->empty()) return no_points_text(workspace());
  if (auto absent = absent_text(msg::roofline_page::what{})) return *std::move(absent);
  if (auto absent = absent_option_text(msg::roofline_page::what{}, device_)) return *std::move(absent);
  if (const auto none_ran = none_ran_text(points()->table())) return *none_ran;
  const auto several = [&](Row row) { return points()->table().problem(row).gpus > 1; };
  if (level() == RooflineLevel::link && std::ranges::none_of(filter().rows(), several)) {
    return {qtext(msg::roofline_page::none_of_links{}), qtext(msg::roofline_page::none_of_links_help{})};
  }
  return {qtext(msg::roofline_page::none{}), qtext(msg::roofline_page::none_help{})};
}

namespace {

using analysis::Roof;

constexpr double tera = 1e12;
constexpr double points_margin = 2.5;    ///< Axis margin beyond marks, as a factor.
constexpr double ceilings_margin = 1.8;  ///< Axis margin beyond the highest ceiling, as a factor.
constexpr double ridge_margin = 4;       ///< Axis margin beyond the last ridge point, as a factor.
constexpr double endless = 1e9;          ///< Length of lines that continue beyond the axes, as a factor.
constexpr double other_level_opacity = 0.45;

/// Returns whether the line to the executed FLOPs is drawn, which may be more or fewer than the nominal ones.
bool shows_executed_flops(double executed_ratio) {
  return std::abs(executed_ratio - 1) >= 0.02;
}

QString roofs_layer() {
  return QStringLiteral("roofs");
}

QCPScatterStyle upright_dash(const QColor& color) {
  constexpr double half = 7;
  QPainterPath dash;
  dash.moveTo(0, -half);
  dash.lineTo(0, half);
  return {dash, QPen(color, 1), Qt::NoBrush, 6};
}

bool is_of_level(const Roof& roof, RooflineLevel level) {
  return roof.bound == analysis::bytes_bound(level);
}

}  // namespace

RooflinePlot::RooflinePlot(QWidget* parent) : LegendPlot(parent) {
  axisRect()->setMinimumMargins({0, 0, 14, 0});
  for (QCPAxis* axis : {xAxis, yAxis}) {
    axis->setScaleType(QCPAxis::stLogarithmic);
    axis->setTicker(number_ticker());
  }
  addLayer(roofs_layer(), layer(QStringLiteral("main")), limBelow);
  connect(this, &QCustomPlot::afterLayout, this, [this] { labels_.place(); });
  rebuild();
}

void RooflinePlot::set_roofline(RooflineSet set) {
  set_ = std::move(set);
  rebuild();
  reset_view();
}

QStringList RooflinePlot::series_keys() const {
  QStringList titles;
  for (const RooflineSeries& series : set_.report.series) titles << series_title(set_, series);
  titles.removeDuplicates();
  return titles;
}

QColor RooflinePlot::color_of(std::size_t series) const {
  return algorithm_color(set_.report.series[series].algorithm, plot_colors(palette()).dark);
}

Sample RooflinePlot::sample_of_point(std::size_t series, const RooflinePoint& point) const {
  return sample_of(point.provenance, style::identity_of(set_.report.series[series].algorithm));
}

Extent RooflinePlot::ceilings() const {
  Extent flops;
  for (const Roof& roof : set_.report.roofs) {
    if (!is_bandwidth_bound(roof.bound))
      flops.include(analysis::ceiling_flops(roof, set_.report.flops_per_exponential));
  }
  return flops;
}

void RooflinePlot::find_marks() {
  for (std::size_t i = 0; i < set_.drawn_series(); ++i) {
    const RooflineSeries& series = set_.report.series[i];
    if (is_hidden(series_title(set_, series))) continue;
    for (std::size_t k = 0; k < series.points.size(); ++k) {
      const RooflinePoint& point = series.points[k];
      const auto intensity = point.intensity(set_.level);
      if (intensity) marks_.push_back({axisRect(), *intensity, point.flops_per_second() / tera, i, k, {point.row}});
    }
  }
}

void RooflinePlot::draw_contents() {
  LegendPlot::draw_contents();
  points_ = set_.points;
  labels_.clear();
  find_marks();
  for (const Roof& roof : set_.report.roofs) is_bandwidth_bound(roof.bound) ? draw_roof(roof) : draw_ceiling(roof);
  for (std::size_t i = 0; i < set_.drawn_series(); ++i) draw_series(i);
  for (const Mark& mark : marks_) labels_.avoid_mark({mark.x, mark.y});
  for (QCPAxis* axis : axisRect()->axes()) style_axis(*axis, plot_colors(palette()), font());
  const std::string level = level_label(set_.level).toStdString();
  title_text_ = qtext(msg::roofline_page::plot_title{
      .device = set_.device.toStdString(), .level = level, .problem = set_.problem.toStdString()});
  headline_text_ = headline_of_marks();
  xAxis->setLabel(qtext(msg::roofline_page::intensity_axis{.level = level}));
  yAxis->setLabel(qtext(msg::roofline_page::rate_axis{}));
}

QString RooflinePlot::headline_of_marks() const {
  const auto rate = [this](const Mark& mark) { return point_of(mark).flops_per_second(); };
  const auto highest = std::ranges::max_element(marks_, {}, rate);
  if (highest == marks_.end()) return {};
  const RooflinePoint& point = point_of(*highest);
  const std::string n = analysis::lengths_text(points_->table().problem(point.row));
  const std::string series = series_title(set_, series_of(*highest)).toStdString();
  const std::string peak = text(FlopsPerSecond(point.flops_per_second()));
  if (point.shares.empty()) return qtext(msg::roofline_page::headline_alone{.n = n, .rate = peak, .series = series});
  const analysis::Bound bound = point.shares.front().bound;
  const bool is_flop_roof = bound == analysis::Bound::mma_sync || bound == analysis::Bound::wgmma ||
                            bound == analysis::Bound::tensor || bound == analysis::Bound::fma;
  // The rate counts nominal FLOPs, the share executed ones.
  const double share = point.roof_share() / (is_flop_roof ? point.executed_ratio() : 1);
  return qtext(msg::roofline_page::headline{
      .n = n, .percent = text(Share(share)), .rate = peak, .roof = to_string(bound), .series = series});
}

void RooflinePlot::reset_view() {
  is_user_zoomed_ = false;
  Extent x;
  Extent y;
  for (const Mark& mark : marks_) {
    x.include(mark.x);
    y.include(mark.y);
  }
  const Extent flops = ceilings();
  for (const Roof& roof : set_.report.roofs) {
    if (!is_of_level(roof, set_.level)) continue;
    x.high = std::max(x.high, flops.high / roof.rate * ridge_margin / points_margin);
    x.low = std::min(x.low, flops.low / roof.rate);  // Roofs are visible wherever the points are.
  }
  if (marks_.empty() || x.high <= 0) return replot(rpQueuedReplot);
  xAxis->setRange(x.low / points_margin, x.high * points_margin);
  yAxis->setRange(y.low / points_margin, std::max(y.high, flops.high / tera) * ceilings_margin);
  replot(rpQueuedReplot);
}

QCPGraph* RooflinePlot::add_roof_line(const QPen& pen) {
  QCPGraph* line = add_line(*axisRect(), pen);
  line->setLayer(roofs_layer());
  return line;
}

void RooflinePlot::draw_roof(const Roof& roof) {
  const PlotColors colors = plot_colors(palette());
  const bool strong = is_of_level(roof, set_.level);
  const QColor color = strong ? colors.axis : with_opacity(colors.axis, other_level_opacity);
  QCPGraph* line = add_roof_line(QPen(color, strong ? 2 : 1.2));
  line->setName(roof_text(set_, roof));
  const double highest = ceilings().high;
  const double end = highest > 0 ? highest / roof.rate : endless;
  line->addData(end / endless, end / endless * roof.rate / tera);
  line->addData(end, end * roof.rate / tera);
  labels_.add_roof({1, roof.rate / tera}, roof_text(set_, roof), strong ? colors.text : colors.muted);
}

void RooflinePlot::draw_ceiling(const Roof& roof) {
  const PlotColors colors = plot_colors(palette());
  const double flops = analysis::ceiling_flops(roof, set_.report.flops_per_exponential);
  double ridge = 1;
  for (const Roof& memory : set_.report.roofs) {
    if (is_of_level(memory, set_.level)) ridge = flops / memory.rate;
  }
  QCPGraph* line = add_roof_line(QPen(colors.axis, 2));
  line->setName(roof_text(set_, roof));
  line->addData(ridge, flops / tera);
  line->addData(ridge * endless, flops / tera);
  labels_.add_ceiling(flops / tera, roof_text(set_, roof), colors.text);
}

void RooflinePlot::draw_series(std::size_t place) {
  const RooflineSeries& series = set_.report.series[place];
  if (is_hidden(series_title(set_, series))) return;
  auto* line = new QCPCurve(xAxis, yAxis);
  line->setPen(pen_of(place));
  line->setName(series_title(set_, series));
  std::vector<QPointF> points;
  for (const Mark& mark : marks_) {
    if (mark.series != place) continue;
    line->addData(static_cast<double>(points.size()), mark.x, mark.y);
    points.emplace_back(mark.x, mark.y);
  }
  labels_.avoid_line(std::move(points));
  draw_theory(place);
  draw_marks(place);
  label_ends(place);
}

QPen RooflinePlot::pen_of(std::size_t place) const {
  const RooflineSeries& series = set_.report.series[place];
  const Provenance provenance = series.points.empty() ? Provenance::measured : series.points.front().provenance;
  return series_pen(color_of(place), provenance, is_further_run(set_, series));
}

void RooflinePlot::draw_marks(std::size_t place) {
  MarkerGraphs graphs(*axisRect(), [&](const Sample& sample, double shift) {
    return scatter_of(sample, color_of(place), plot_colors(palette()).background, shift);
  });
  for (const Mark& mark : marks_) {
    if (mark.series == place) graphs.of(sample_of_point(place, point_of(mark))).addData(mark.x, mark.y);
  }
}

void RooflinePlot::draw_theory(std::size_t place) {
  const QColor color = color_of(place);
  QCPGraph* closed = add_marks(*axisRect(), upright_dash(color));
  closed->setLayer(roofs_layer());
  for (const Mark& mark : marks_) {
    if (mark.series != place) continue;
    const RooflinePoint& point = point_of(mark);
    if (const auto modeled = point.model_intensity(set_.level)) closed->addData(*modeled, mark.y);
    const double ratio = point.executed_ratio();
    if (!shows_executed_flops(ratio)) continue;
    QCPGraph* executed = add_roof_line(QPen(color, 1));
    executed->addData(mark.x, mark.y);
    executed->addData(mark.x * ratio, mark.y * ratio);
  }
}

void RooflinePlot::label_ends(std::size_t place) {
  const Mark* first = nullptr;
  const Mark* last = nullptr;
  for (const Mark& mark : marks_) {
    if (mark.series != place) continue;
    if (first == nullptr) first = &mark;
    last = &mark;
  }
  if (first == nullptr) return;
  for (const Mark* mark : {last, first}) {
    const auto n = static_cast<double>(point_of(*mark).n);
    labels_.add_mark({mark->x, mark->y}, format_length(n), plot_colors(palette()).text);
    if (first == last) break;
  }
}

QStringList RooflinePlot::notes() const {
  bool modeled = false;
  bool executed = false;
  std::vector<Row> rows;
  for (const Mark& mark : marks_) {
    const RooflinePoint& point = point_of(mark);
    modeled = modeled || point.model_intensity(set_.level).has_value();
    executed = executed || shows_executed_flops(point.executed_ratio());
    rows.push_back(point.row);
  }
  QStringList keys;
  if (modeled) keys << qtext(msg::roofline_page::key_closed_form{});
  if (executed) keys << qtext(msg::roofline_page::key_executed{});
  QStringList notes;
  if (!keys.isEmpty()) notes << keys.join(QStringLiteral(" · "));
  if (const QString throttling = throttling_note(points_.get(), rows); !throttling.isEmpty()) notes << throttling;
  return notes;
}

std::optional<std::int64_t> RooflinePlot::legend_length() const {
  if (hovered_n_) return hovered_n_;
  std::optional<std::int64_t> last;
  for (const RooflineSeries& series : set_.report.series) {
    for (const RooflinePoint& point : series.points) last = std::max(last.value_or(0), point.n);
  }
  return last;
}

LegendContent RooflinePlot::legend_content() const {
  const std::optional<std::int64_t> n = legend_length();
  if (!n) return {};
  LegendContent content;
  content.corner = QStringLiteral("N ") + format_length(static_cast<double>(*n));
  content.columns = {qtext(msg::roofline_page::column_rate{}), qtext(msg::roofline_page::column_share{}),
                     qtext(msg::roofline_page::column_bound{})};
  content.widest = {QStringLiteral("0000"), QStringLiteral("00.0%"), QStringLiteral("mma.sync")};
  for (std::size_t i = 0; i < set_.drawn_series(); ++i) {
    const RooflineSeries& series = set_.report.series[i];
    const QString title = series_title(set_, series);
    if (std::ranges::find(content.rows, title, &LegendRow::text) != content.rows.end()) continue;
    LegendRow row{.series = title, .text = title, .sample = {}, .line = pen_of(i), .cells = {}};
    if (!series.points.empty()) row.sample = sample_of_point(i, series.points.front());
    const auto point = std::ranges::find(series.points, *n, &RooflinePoint::n);
    if (point == series.points.end()) {
      row.cells = QStringList(content.columns.size(), QStringLiteral("–"));
    } else {
      row.cells = {format_number(point->flops_per_second() / tera),
                   point->shares.empty() ? QStringLiteral("–") : qtext(Share(point->roof_share())), bound_text(*point)};
    }
    content.rows.push_back(std::move(row));
  }
  content.notes = notes();
  return content;
}

bool RooflinePlot::hover_at(const QPointF& position) {
  const Mark* mark = mark_near(position);
  const auto n = mark == nullptr ? std::nullopt : std::optional<std::int64_t>(point_of(*mark).n);
  if (std::exchange(hovered_n_, n) != n) update_legend();
  return LegendPlot::hover_at(position);
}

HoverContent RooflinePlot::read_out(const Mark& mark) const {
  const RooflinePoint& point = point_of(mark);
  const PlotColors colors = plot_colors(palette());
  const QColor color = color_of(mark.series);
  const auto rate = [](double flops_per_second) { return qtext(FlopsPerSecond(flops_per_second)); };
  HoverContent content;
  const analysis::PointTable& table = set_.points->table();
  const std::string algorithm = analysis::short_title(table.algorithms(), series_of(mark).algorithm);
  content.title = qtext(msg::roofline_page::at{.n = point.n, .series = algorithm});
  content.rows.push_back({color, sample_of_point(mark.series, point),
                          qtext(msg::roofline_page::visible{.provenance = to_qstring(point.provenance).toStdString()}),
                          rate(point.flops_per_second())});
  if (point.executed_flops) {
    content.rows.push_back(
        {color, Sample{}, qtext(msg::roofline_page::executed{}), rate(*point.executed_flops / point.ns * 1e9)});
  }
  for (const RooflineLevel level : analysis::roofline_levels) {
    const auto counted = point.intensity(level);
    if (!counted) continue;
    const std::string measured = number_text(*counted);
    const std::string provenance = to_qstring(intensity_provenance(set_, point, level)).toStdString();
    const auto modeled = point.model_intensity(level);
    const Message value =
        modeled ? Message(msg::roofline_page::intensity_closed{
                      .measured = measured, .modeled = number_text(*modeled), .provenance = provenance})
                : Message(msg::roofline_page::intensity_value{.measured = measured, .provenance = provenance});
    content.rows.push_back({colors.text, Sample{},
                            qtext(msg::roofline_page::intensity{.level = level_label(level).toStdString()}),
                            qtext(value)});
  }
  for (const analysis::BoundShare& share : point.shares) {
    content.rows.push_back({colors.text, Sample{}, qtext(msg::roofline_page::share{.bound = to_string(share.bound)}),
                            qtext(msg::roofline_page::share_value{.percent = text(Share(share.ns / point.ns)),
                                                                  .time = text(Nanoseconds(share.ns))})});
  }
  if (!point.shares.empty()) {
    content.notes << qtext(msg::roofline_page::nearest_roof{.bound = bound_text(point).toStdString(),
                                                            .percent = text(Share(point.roof_share()))});
    const auto by_datasheet = [](const analysis::BoundShare& share) { return share.bound == analysis::Bound::tensor; };
    if (std::ranges::any_of(point.shares, by_datasheet)) content.notes << qtext(msg::roofline_page::upper_bound{});
  }
  if (point.impossible) content.notes << qtext(describe(*point.impossible, table.run(point.row).limits));
  content.notes << qtext(msg::roofline_page::tile{.tile = format_tile(table.tile_of(point.row)).toStdString()});
  if (point.throttled && table.is_throttling_unusual(point.row))
    content.notes << qtext(msg::roofline_page::throttled{});
  content.notes << run_text(point.row);
  return content;
}

}  // namespace attnscope::ui
