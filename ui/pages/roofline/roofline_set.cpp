// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/roofline/roofline_set.h"

#include <fmt/format.h>

#include <QtMath>
#include <cmath>
#include <utility>

#include "kernels/model/device_rates.h"
#include "messages/roofline_page.h"
#include "profiler/points/facets.h"
#include "ui/plots/plot_parts.h"
#include "ui/text/format.h"
#include "ui/text/qtext.h"

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

namespace {

constexpr double line_label_gap = 3;  ///< In pixels, between a line and its label.
constexpr double half_mark_size = 4;  ///< Half the size of a mark, in pixels.
constexpr double mark_label_gap = 6;  ///< In pixels, between a mark and its label.

}  // namespace

void RooflineLabels::add(Kind kind, const QPointF& at, const QString& text, const QColor& color) {
  auto* item = new QCPItemText(&plot_);
  item->setFont(small_font(plot_.font()));
  item->setColor(color);
  item->setText(text);
  item->setPadding({});
  item->setPositionAlignment(Qt::AlignLeft | Qt::AlignBottom);
  item->position->setType(QCPItemPosition::ptAbsolute);
  item->setVisible(false);
  labels_.push_back({kind, at, item});
}

QSizeF RooflineLabels::size_of(const Label& label) const {
  const QFontMetrics metrics(label.item->font());
  return {static_cast<double>(metrics.horizontalAdvance(label.item->text())), static_cast<double>(metrics.height())};
}

bool RooflineLabels::try_place(const Label& label, const QPolygonF& place,
                               std::initializer_list<const Polygons*> obstacles) {
  const auto hit = [&](const QPolygonF& other) { return place.intersects(other); };
  if (!QRectF(plot_.axisRect()->rect()).contains(place.boundingRect()) || std::ranges::any_of(taken_, hit) ||
      std::ranges::any_of(obstacles, [&](const Polygons* each) { return std::ranges::any_of(*each, hit); })) {
    return false;
  }
  taken_.push_back(place);
  label.item->position->setCoords(place.front());
  label.item->setVisible(true);
  return true;
}

bool RooflineLabels::place_upright(const Label& label, const std::vector<QPointF>& corners,
                                   std::initializer_list<const Polygons*> obstacles) {
  const QSizeF size = size_of(label);
  const QPointF right(size.width(), 0);
  const QPointF up(0, -size.height());
  label.item->setRotation(0);
  return std::ranges::any_of(corners, [&](const QPointF& corner) {
    return try_place(label, QPolygonF({corner, corner + right, corner + right + up, corner + up}), obstacles);
  });
}

void RooflineLabels::place_roof(const Label& label) {
  const QRectF area = plot_.axisRect()->rect();
  const QSizeF size = size_of(label);
  const double angle = roof_angle();
  const QPointF along(std::cos(angle), -std::sin(angle));
  const QPointF across(-std::sin(angle), -std::cos(angle));  // Up and left of the line.
  const QPointF through = to_pixels(*plot_.axisRect(), label.at);
  // The line enters the axes at the left or at the bottom.
  const double to_left = (area.left() - through.x()) / along.x();
  const double to_bottom = (area.bottom() - through.y()) / along.y();
  const QPointF enters = through + along * std::max(to_left, to_bottom);
  const Polygons ceilings = ceiling_lines(label);
  double highest = area.bottom();
  for (const QPolygonF& line : ceilings) highest = std::min(highest, line.boundingRect().top());
  // The roof meets the ceilings left of the visible axes, so it needs no label.
  if (highest < area.bottom() && enters.y() < highest) return;
  constexpr double step = 24;
  for (double offset = step; offset < 8 * step; offset += step) {
    const QPointF corner = enters + along * offset + across * line_label_gap;
    const QPointF up = across * size.height();
    const QPointF end = corner + along * size.width();
    label.item->setRotation(-qRadiansToDegrees(angle));
    if (try_place(label, QPolygonF({corner, end, end + up, corner + up}), {})) return;
  }
  place_upright(label, {{enters.x() + 2 * line_label_gap, highest - line_label_gap}}, {&ceilings});
}

double RooflineLabels::roof_angle() const {
  const double decade_x = plot_.xAxis->coordToPixel(10) - plot_.xAxis->coordToPixel(1);
  const double decade_y = plot_.yAxis->coordToPixel(1) - plot_.yAxis->coordToPixel(10);
  return std::atan2(decade_y, decade_x);
}

RooflineLabels::Polygons RooflineLabels::series_lines() const {
  const QPointF wide(0, 2 * half_mark_size);
  Polygons lines;
  for (const std::vector<QPointF>& points : series_) {
    for (std::size_t i = 1; i < points.size(); ++i) {
      const QPointF from = to_pixels(*plot_.axisRect(), points[i - 1]) - wide / 2;
      const QPointF to = to_pixels(*plot_.axisRect(), points[i]) - wide / 2;
      lines.push_back(QPolygonF({from, to, to + wide, from + wide}));
    }
  }
  return lines;
}

RooflineLabels::Polygons RooflineLabels::ceiling_lines(const Label& except) const {
  const QRectF area = plot_.axisRect()->rect();
  Polygons lines;
  for (const Label& other : labels_) {
    const double y = plot_.yAxis->coordToPixel(other.at.y());
    if (other.kind == Kind::ceiling && &other != &except) {
      lines.emplace_back(QRectF(area.left(), y - 1, area.width(), 2));
    }
  }
  return lines;
}

void RooflineLabels::place_ceiling(const Label& label) {
  const QSizeF size = size_of(label);
  const double y = plot_.yAxis->coordToPixel(label.at.y());
  const double above = y - line_label_gap;
  const double below = y + size.height() + line_label_gap;
  const double x = QRectF(plot_.axisRect()->rect()).right() - size.width() - 2 * line_label_gap;
  const double further = x - size.width() - 8 * line_label_gap;
  // If two ceilings are close, the lower one's name is below its line.
  const std::vector<QPointF> corners{
      {x, above}, {x, below}, {x - size.width() / 2, above}, {further, above}, {further, below}};
  const Polygons ceilings = ceiling_lines(label);
  const Polygons series = series_lines();
  // If there is no free place, a name may cover series.
  if (!place_upright(label, corners, {&ceilings, &series})) place_upright(label, corners, {&ceilings});
}

void RooflineLabels::place_mark(const Label& label) {
  Polygons marks;
  for (const QPointF& each : marks_) {
    marks.emplace_back(QRectF(to_pixels(*plot_.axisRect(), each), QSizeF())
                           .adjusted(-half_mark_size, -half_mark_size, half_mark_size, half_mark_size));
  }
  const QSizeF size = size_of(label);
  const QPointF mark = to_pixels(*plot_.axisRect(), label.at);
  const double middle = mark.y() + size.height() / 2;
  place_upright(label,
                {{mark.x() - size.width() / 2, mark.y() - mark_label_gap},
                 {mark.x() + mark_label_gap, middle},
                 {mark.x() - size.width() - mark_label_gap, middle},
                 {mark.x() - size.width() / 2, mark.y() + mark_label_gap + size.height()}},
                {&marks});
}

void RooflineLabels::place() {
  taken_.clear();
  for (const Label& label : labels_) {
    label.item->setVisible(false);
    if (label.kind == Kind::roof) place_roof(label);
    if (label.kind == Kind::ceiling) place_ceiling(label);
    if (label.kind == Kind::mark) place_mark(label);
  }
}

QStringList RooflineLabels::texts() const {
  QStringList all;
  for (const Label& label : labels_) {
    if (label.item->visible()) all << label.item->text();
  }
  return all;
}

}  // namespace attnscope::ui
