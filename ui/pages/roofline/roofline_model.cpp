// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/roofline/roofline_model.h"

#include <QGuiApplication>
#include <algorithm>
#include <utility>

#include "kernels/model/device_rates.h"
#include "messages/roofline_page.h"
#include "profiler/metrics/metrics.h"
#include "ui/text/format.h"
#include "ui/text/qtext.h"
#include "ui/theme/theme.h"

namespace attnscope::ui {
namespace {

/// How many runs of its algorithm come before the series' own.
int runs_before(const RooflineSet& set, const RooflineSeries& series) {
  std::vector<analysis::RunIndex> runs;
  for (const RooflineSeries& other : set.report.series) {
    if (other.algorithm != series.algorithm) continue;
    if (other.run == series.run) break;
    if (std::ranges::find(runs, other.run) == runs.end()) runs.push_back(other.run);
  }
  return static_cast<int>(runs.size());
}

bool has_several_runs(const RooflineSet& set, const RooflineSeries& series) {
  return std::ranges::any_of(set.report.series, [&](const RooflineSeries& other) {
    return other.algorithm == series.algorithm && other.run != series.run;
  });
}

QString tera_text(double flops_per_second) {
  return format_number(flops_per_second / 1e12);
}

Message source_words(const RooflineSet& set, analysis::RoofSource source) {
  const std::string device = set.gpu.toStdString();
  switch (source) {
    case analysis::RoofSource::measured:
      return say::roofline_page::source_measured{};
    case analysis::RoofSource::alike:
      return say::roofline_page::source_alike{.device = device};
    case analysis::RoofSource::datasheet:
      return say::roofline_page::source_datasheet{};
    case analysis::RoofSource::architecture:
      return say::roofline_page::source_architecture{};
    case analysis::RoofSource::stated:
      return say::roofline_page::source_stated{};
    case analysis::RoofSource::counted_share:
      return say::roofline_page::source_share{};
    case analysis::RoofSource::as_elsewhere:
    case analysis::RoofSource::usual_of_kind:
      break;
  }
  return say::roofline_page::source_estimate{.device = device_rates({}).measured_on};
}

const Algorithm* algorithm_of_point(const RooflineSet& set, const RooflinePoint& point) {
  const analysis::PointTable& table = set.points->table();
  return table.algorithms().find(table.algorithm(point.row));
}

QVariant cell_alignment(int column) {
  const bool left = column == RooflineModel::series_column || column == RooflineModel::bound_column ||
                    column == RooflineModel::source_column;
  return QVariant::fromValue<Qt::Alignment>((left ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter);
}

}  // namespace

QString level_words(RooflineLevel level) {
  switch (level) {
    case RooflineLevel::dram:
      return qtext(say::roofline_page::dram{});
    case RooflineLevel::sm_l2:
      return qtext(say::roofline_page::sm_l2{});
    case RooflineLevel::link:
      break;
  }
  return qtext(say::roofline_page::link{});
}

QString series_title(const RooflineSet& set, const RooflineSeries& series) {
  const analysis::PointTable& table = set.points->table();
  std::string title = analysis::short_title(table.algorithms(), series.algorithm);
  if (series.n) {
    title = text(say::roofline_page::along_side{
        .algorithm = title, .n = *series.n, .side = series.side == TileSide::br ? "Br" : "Bc"});
  }
  if (!has_several_runs(set, series)) return QString::fromStdString(title);
  return qtext(say::roofline_page::of_run{.series = title, .run = set.points->run(series.run).title.toStdString()});
}

QColor series_color(const RooflineSet& set, const RooflineSeries& series, bool dark) {
  constexpr int paler = 40;  // percent of lightness a step
  const QColor color = algorithm_color(series.algorithm, dark);
  const int place = runs_before(set, series);
  return dark ? color.darker(100 + paler * place) : color.lighter(100 + paler * place);
}

QString roof_words(const RooflineSet& set, const analysis::Roof& roof) {
  const std::string_view bound = to_string(roof.bound);
  Message words = say::roofline_page::roof{.bound = bound, .rate = text(BytesPerSecond(roof.rate))};
  if (roof.bound == analysis::Bound::exp2) {
    words = say::roofline_page::unit_of_exponentials{
        .exponentials = value_text(roof.rate, "op/s"),
        .rate = text(FlopsPerSecond(analysis::ceiling_flops(roof, set.report.flops_per_exponential)))};
  } else if (!of_bytes(roof.bound)) {
    words = say::roofline_page::roof{.bound = bound, .rate = text(FlopsPerSecond(roof.rate))};
  }
  if (roof.clock_hz && !of_bytes(roof.bound)) {
    words = say::roofline_page::roof_at{.roof = words, .clock = text(Hertz(*roof.clock_hz))};
  }
  return qtext(say::roofline_page::roof_of{.roof = words, .source = source_words(set, roof.source)});
}

QString bound_words(const RooflinePoint& point) {
  return point.shares.empty() ? QString() : to_qstring(to_string(point.shares.front().bound));
}

QString limit_words(const analysis::IntensityLimit& limit) {
  const QString factor = format_number(limit.factor);
  return limit.of.empty() ? factor : QStringLiteral("%1 %2").arg(factor, to_qstring(limit.of));
}

std::optional<analysis::IntensityLimit> limit_of(const RooflineSet& set, const RooflinePoint& point,
                                                 RooflineLevel level) {
  const Algorithm* algorithm = algorithm_of_point(set, point);
  if (algorithm == nullptr) return std::nullopt;
  const analysis::PointTable& table = set.points->table();
  return analysis::intensity_limit(*algorithm, table.problem(point.row), table.tile_of(point.row),
                                   table.run(point.row).limits, level);
}

Provenance intensity_provenance(const RooflineSet& set, const RooflinePoint& point, RooflineLevel level) {
  const Provenance provenance = analysis::bytes_of(set.points->table(), level).provenance(point.row);
  return provenance == Provenance::measured ? Provenance::derived : provenance;
}

void RooflineModel::set_roofline(RooflineSet set) {
  beginResetModel();
  set_ = std::move(set);
  lines_.clear();
  for (std::size_t i = 0; i < set_.report.series.size(); ++i) {
    for (std::size_t k = 0; k < set_.report.series[i].points.size(); ++k) lines_.push_back({i, k});
  }
  endResetModel();
}

std::optional<int> RooflineModel::row_of(const ShownPoint& point) const {
  const std::optional<Row> wanted = set_.points ? set_.points->row_of(point) : std::nullopt;
  const auto found = std::ranges::find_if(
      lines_, [&](const Line& line) { return set_.report.series[line.series].points[line.point].row == wanted; });
  return found == lines_.end() ? std::nullopt : std::optional(static_cast<int>(found - lines_.begin()));
}

ShownPoint RooflineModel::point_at(int row) const {
  const Line& line = lines_[static_cast<std::size_t>(row)];
  return (*set_.points)[set_.report.series[line.series].points[line.point].row];
}

QString RooflineModel::text_of(const Line& line, int column) const {
  const RooflineSeries& series = set_.report.series[line.series];
  const RooflinePoint& point = series.points[line.point];
  const auto number = [](std::optional<double> value) { return value ? format_number(*value) : QString(); };
  switch (column) {
    case series_column:
      return series_title(set_, series);
    case n_column:
      return format_lengths(set_.points->table().problem(point.row));
    case tile_column:
      return format_tile(set_.points->table().tile_of(point.row));
    case rate_column:
      return tera_text(point.flops_per_second());
    case executed_column:
      return point.executed_flops ? tera_text(*point.executed_flops / point.ns * 1e9) : QString();
    case dram_column:
      return number(point.intensity(RooflineLevel::dram));
    case sm_l2_column:
      return number(point.intensity(RooflineLevel::sm_l2));
    case link_column:
      return number(point.intensity(RooflineLevel::link));
    case closed_column:
      return number(point.model_intensity(set_.level));
    case limit_column: {
      const auto limit = limit_of(set_, point, set_.level);
      return limit ? limit_words(*limit) : QString();
    }
    case bound_column:
      return bound_words(point);
    case reached_column:
      return point.shares.empty() ? QString() : qtext(Share(point.reached()));
    case source_column:
      return QStringLiteral("%1 · %2").arg(to_qstring(point.provenance), set_.points->run(series.run).title);
    default:
      return {};
  }
}

std::optional<double> RooflineModel::number_of(const Line& line, int column) const {
  const RooflinePoint& point = set_.report.series[line.series].points[line.point];
  switch (column) {
    case rate_column:
      return point.flops_per_second();
    case executed_column:
      return point.executed_flops ? std::optional(*point.executed_flops / point.ns * 1e9) : std::nullopt;
    case dram_column:
      return point.intensity(RooflineLevel::dram);
    case sm_l2_column:
      return point.intensity(RooflineLevel::sm_l2);
    case link_column:
      return point.intensity(RooflineLevel::link);
    case closed_column:
      return point.model_intensity(set_.level);
    case reached_column:
      return point.shares.empty() ? std::nullopt : std::optional(point.reached());
    default:
      return std::nullopt;
  }
}

QVariant RooflineModel::cell(int row, int column, int role) const {
  const Line& line = lines_[static_cast<std::size_t>(row)];
  switch (role) {
    case copy_role: {
      const std::optional<double> number = number_of(line, column);
      return number ? QVariant(plain_number(*number)) : QVariant(text_of(line, column));
    }
    case Qt::DisplayRole:
    case sort_role:
      return text_of(line, column);
    case Qt::ToolTipRole:
      return column == series_column || column == source_column ? QVariant(plain_tip(text_of(line, column)))
                                                                : QVariant();
    case Qt::DecorationRole:
      if (column != series_column) return {};
      return series_color(set_, set_.report.series[line.series], plot_colors(QGuiApplication::palette()).dark);
    case Qt::TextAlignmentRole:
      return cell_alignment(column);
    default:
      return {};
  }
}

QVariant RooflineModel::header(int column, int role) const {
  if (role == copy_role && column == rate_column) return QStringLiteral("rate [FLOP/s]");
  if (role == copy_role && column == executed_column) return QStringLiteral("executed_rate [FLOP/s]");
  if (role == Qt::TextAlignmentRole) return cell_alignment(column);
  if (role != Qt::DisplayRole && role != Qt::ToolTipRole) return {};
  const bool tip = role == Qt::ToolTipRole;
  const auto words = [tip](const Message& label, const Message& help = {}) {
    return tip ? (help.empty() ? QVariant() : QVariant(plain_tip(qtext(help)))) : QVariant(qtext(label));
  };
  const auto intensity = [&](RooflineLevel level) {
    return words(say::roofline_page::column_intensity{.level = level_words(level).toStdString()},
                 say::roofline_page::intensity_help{});
  };
  switch (column) {
    case series_column:
      return words(say::roofline_page::series{});
    case n_column:
      return words(say::roofline_page::column_n{});
    case tile_column:
      return words(say::roofline_page::column_tile{});
    case rate_column:
      return words(say::roofline_page::column_rate{}, say::roofline_page::rate_help{});
    case executed_column:
      return words(say::roofline_page::column_executed{}, say::roofline_page::executed_help{});
    case dram_column:
      return intensity(RooflineLevel::dram);
    case sm_l2_column:
      return intensity(RooflineLevel::sm_l2);
    case link_column:
      return intensity(RooflineLevel::link);
    case closed_column:
      return words(say::roofline_page::column_closed{}, say::roofline_page::closed_help{});
    case limit_column:
      return words(say::roofline_page::column_limit{}, say::roofline_page::limit_help{});
    case bound_column:
      return words(say::roofline_page::column_bound{}, say::roofline_page::bound_help{});
    case reached_column:
      return words(say::roofline_page::column_reached{}, say::roofline_page::reached_help{});
    case source_column:
      return words(say::roofline_page::column_source{});
    default:
      return {};
  }
}

}  // namespace attnscope::ui
