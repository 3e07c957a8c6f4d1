// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/roofline/roofline_page.h"

#include <algorithm>
#include <map>
#include <set>

#include "messages/roofline_page.h"
#include "profiler/metrics/metrics.h"
#include "profiler/points/facets.h"
#include "profiler/tilemap/plot_list.h"
#include "ui/models/shown_ceilings.h"
#include "ui/pages/empty_state.h"
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
  skipped_label_ = new QLabel(this);
  skipped_label_->setTextFormat(Qt::PlainText);
  skipped_label_->setWordWrap(true);
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
  missing_rates_.clear();
  if (device_.shown() == nullptr || !device_.shown()->available) return;
  const std::string id = device_.shown()->id.toStdString();
  const auto row = first_of(id);
  const analysis::Run& run = table.run(*row);
  gpu_ = QString::fromStdString(run.device_name);
  const std::vector<ShownCeilings> sets = ceilings_of(workspace());
  const auto find = [&](const auto& fits) {
    return std::ranges::find_if(sets, [&](const ShownCeilings& set) { return set.measured && fits(set); });
  };
  if (run.provenance == Provenance::simulated) {
    // Simulated points have datasheet ceilings, unless the simulation used those of a GPU.
    const QString from = one_line(QString::fromStdString(points()->run_of(*row)->summary.rates_source));
    if (from.isEmpty()) return;
    const auto told =
        find([&](const ShownCeilings& set) { return from.contains(QString::fromStdString(set.device_uuid)); });
    ceilings_of_same_device_ = false;
    if (told != sets.end()) {
      ceilings_ = told->ceilings;
    } else {
      missing_rates_ = from;
    }
    return;
  }
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
  if (!missing_rates_.isEmpty()) {
    lines << qtext(msg::roofline_page::rates_missing{.from = missing_rates_.toStdString()});
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

}  // namespace attnscope::ui
