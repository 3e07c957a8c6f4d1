// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/roofline/roofline_set.h"

#include <fmt/format.h>

#include <utility>

#include "kernels/model/device_rates.h"
#include "messages/roofline_page.h"
#include "profiler/points/facets.h"
#include "ui/text/format.h"
#include "ui/text/qtext.h"
#include "ui/theme/theme.h"

namespace attnscope::ui {
namespace {

bool has_several_runs(const RooflineSet& set, const RooflineSeries& series) {
  return std::ranges::any_of(set.report.series, [&](const RooflineSeries& other) {
    return other.algorithm == series.algorithm && other.run != series.run;
  });
}

Message source_words(const RooflineSet& set, analysis::RoofSource source) {
  const std::string device = set.gpu.toStdString();
  switch (source) {
    case analysis::RoofSource::measured:
      return msg::roofline_page::source_measured{};
    case analysis::RoofSource::alike:
      return msg::roofline_page::source_same_model{.device = device};
    case analysis::RoofSource::datasheet:
      return msg::roofline_page::source_datasheet{};
    case analysis::RoofSource::architecture:
      return msg::roofline_page::source_architecture{};
    case analysis::RoofSource::stated:
      return msg::roofline_page::source_stated{};
    case analysis::RoofSource::counted_share:
      return msg::roofline_page::source_share{};
    case analysis::RoofSource::scaled_from_other_gpu:
    case analysis::RoofSource::typical_for_model:
      break;
  }
  return msg::roofline_page::source_estimate{.device = device_rates({}).measured_on};
}

}  // namespace

QString level_label(RooflineLevel level) {
  switch (level) {
    case RooflineLevel::dram:
      return qtext(msg::roofline_page::dram{});
    case RooflineLevel::sm_l2:
      return qtext(msg::roofline_page::sm_l2{});
    case RooflineLevel::link:
      break;
  }
  return qtext(msg::roofline_page::link{});
}

QString series_title(const RooflineSet& set, const RooflineSeries& series) {
  const analysis::PointTable& table = set.points->table();
  const std::string title = analysis::short_title(table.algorithms(), series.algorithm);
  if (!has_several_runs(set, series)) return QString::fromStdString(title);
  return qtext(msg::roofline_page::of_run{.run = set.points->run(series.run).title.toStdString(), .series = title});
}

bool is_further_run(const RooflineSet& set, const RooflineSeries& series) {
  const auto first = std::ranges::find(set.report.series, series.algorithm, &RooflineSeries::algorithm);
  return first->run != series.run;
}

QString roof_text(const RooflineSet& set, const analysis::Roof& roof) {
  const std::string_view bound = to_string(roof.bound);
  Message words = msg::roofline_page::roof{.bound = bound, .rate = text(BytesPerSecond(roof.rate))};
  if (roof.bound == analysis::Bound::exp2) {
    words = msg::roofline_page::unit_of_exponentials{
        .exponentials = value_text(roof.rate, "op/s"),
        .rate = text(FlopsPerSecond(analysis::ceiling_flops(roof, set.report.flops_per_exponential)))};
  } else if (!is_bandwidth_bound(roof.bound)) {
    words = msg::roofline_page::roof{.bound = bound, .rate = text(FlopsPerSecond(roof.rate))};
  }
  if (roof.clock_hz && !is_bandwidth_bound(roof.bound)) {
    words = msg::roofline_page::roof_at{.clock = text(Hertz(*roof.clock_hz)), .roof = words};
  }
  return qtext(msg::roofline_page::roof_of{.roof = words, .source = source_words(set, roof.source)});
}

QString bound_text(const RooflinePoint& point) {
  if (point.impossible) return qtext(msg::roofline_page::impossible{});
  return point.shares.empty() ? QString() : to_qstring(to_string(point.shares.front().bound));
}

Provenance intensity_provenance(const RooflineSet& set, const RooflinePoint& point, RooflineLevel level) {
  const Provenance provenance = analysis::bytes_of(set.points->table(), level).provenance(point.row);
  return provenance == Provenance::measured ? Provenance::derived : provenance;
}

analysis::Table roofline_table(const std::shared_ptr<const RooflineSet>& set) {
  using analysis::Cell;
  using analysis::ColumnKind;
  struct Line {
    const RooflineSeries* series;
    const RooflinePoint* point;
  };
  std::vector<Line> lines;
  for (const RooflineSeries& series : set->report.series) {
    for (const RooflinePoint& point : series.points) lines.push_back({&series, &point});
  }
  analysis::TableBuilder<Line> table(std::move(lines));
  // Titles double as export keys; rates are in base units.
  const auto add = [&](const Message& title, const Message& help, ColumnKind kind, auto make_cell,
                       const char* key = nullptr) {
    const std::string words = text(title);
    table.add({.key = key == nullptr ? words : key, .title = words, .kind = kind, .help = text(help)},
              [set, make_cell](const Line& line) -> Cell { return make_cell(line); });
  };
  const auto number = [](std::optional<double> value, double scale = 1) {
    return value ? Cell{.text = number_text(*value * scale), .number = value} : Cell{};
  };
  constexpr ColumnKind right = ColumnKind::number;
  const analysis::PointTable& points = set->points->table();
  add(msg::roofline_page::series{}, {}, ColumnKind::text, [&set = *set](const Line& line) {
    return Cell{.text = series_title(set, *line.series).toStdString(), .row = line.point->row};
  });
  add(msg::roofline_page::column_n{}, {}, right,
      [&](const Line& line) { return Cell{.text = analysis::lengths_text(points.problem(line.point->row))}; });
  add(msg::roofline_page::column_tile{}, {}, right,
      [&](const Line& line) { return Cell{.text = format_tile(points.tile_of(line.point->row)).toStdString()}; });
  add(
      msg::roofline_page::column_rate{}, msg::roofline_page::rate_help{}, right,
      [number](const Line& line) { return number(line.point->flops_per_second(), 1e-12); }, "rate [FLOP/s]");
  add(
      msg::roofline_page::column_executed{}, msg::roofline_page::executed_help{}, right,
      [number](const Line& line) {
        const RooflinePoint& point = *line.point;
        return number(point.executed_flops ? std::optional(*point.executed_flops / point.ns * 1e9) : std::nullopt,
                      1e-12);
      },
      "executed_rate [FLOP/s]");
  const bool links = find_roof(set->report.roofs, analysis::Bound::link) != nullptr;
  for (const RooflineLevel level : analysis::roofline_levels) {
    if (level == RooflineLevel::link && !links) continue;
    add(msg::roofline_page::column_intensity{.level = level_label(level).toStdString()},
        msg::roofline_page::intensity_help{}, right,
        [number, level](const Line& line) { return number(line.point->intensity(level)); });
  }
  add(msg::roofline_page::column_closed{}, msg::roofline_page::closed_help{}, right,
      [number, level = set->level](const Line& line) { return number(line.point->model_intensity(level)); });
  add(msg::roofline_page::column_bound{}, msg::roofline_page::bound_help{}, ColumnKind::text,
      [](const Line& line) { return Cell{.text = bound_text(*line.point).toStdString()}; });
  add(msg::roofline_page::column_share{}, msg::roofline_page::share_help{}, right, [](const Line& line) {
    if (line.point->shares.empty()) return Cell{};
    return Cell{.text = text(Share(line.point->roof_share())), .number = line.point->roof_share()};
  });
  add(msg::roofline_page::column_source{}, {}, ColumnKind::text, [&set = *set](const Line& line) {
    const std::string& run = set.points->table().runs()[line.series->run].title;
    return Cell{.text = fmt::format("{} · {}", text(title(line.point->provenance)), run)};
  });
  analysis::Table made = std::move(table).take();
  made.drop_empty_columns();
  return made;
}

}  // namespace attnscope::ui
