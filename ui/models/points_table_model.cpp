// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/points_table_model.h"

#include <QColor>
#include <QGuiApplication>
#include <QLocale>
#include <QPalette>
#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <utility>

#include "messages/points_table.h"
#include "profiler/metrics/metrics.h"
#include "ui/format.h"
#include "ui/models/curve_series.h"
#include "ui/said.h"
#include "ui/theme.h"

namespace attnscope::ui {
namespace {

using Value = PointsTableModel::Value;
using Column = PointsTableModel::Column;

Value text_value(const QString& text) {
  return {text, text.isEmpty() ? QVariant() : QVariant(text), {}, false};
}

/// DRAM bytes are those that plots show.
const analysis::ValueColumn& values_of(const PointSet& points, std::string_view key) {
  return key == metric_key::dram_bytes ? points.table().dram_traffic() : points.table().values(key);
}

std::optional<MetricValue> value_of(const PointSet& points, Row row, std::string_view key) {
  const analysis::ValueColumn& column = values_of(points, key);
  if (!column.has(row)) return std::nullopt;
  return MetricValue{std::string(key), column.value(row), std::string(find_metric(key)->unit), column.provenance(row)};
}

Value metric(const PointSet& points, Row row, std::string_view key) {
  const auto value = value_of(points, row, key);
  if (!value) return {{}, {}, {}, true};
  return {format_metric(*value), value->value,
          QStringLiteral("%1 (%2)").arg(format_number(value->value, 12), to_qstring(value->provenance)), true};
}

Value traffic(const PointSet& points, Row row, Quantity quantity) {
  const auto bytes = value_of(points, row, analysis::metric_of(quantity));
  if (!bytes) return {{}, {}, {}, true};
  return {format_metric(*bytes), bytes->value,
          said(say::points_table::exact_bytes{.bytes = format_number(bytes->value, 12).toStdString(),
                                              .origin = title(bytes->provenance)}),
          true};
}

constexpr QLatin1String result_key("result");

/// What came of the point.
std::vector<Column> outcome_columns() {
  return {
      {said(say::points_table::result{}), result_key, said(say::points_table::result_help{}),
       [](const PointSet& p, Row row) {
         const analysis::PointColumns& points = p.table().points();
         Value value = text_value(to_qstring(to_string(points.disposition(row))));
         value.tip = said(points.reason(row));
         if (points.throttled(row)) {
           value.text += QStringLiteral(", ") + said(say::points_table::throttled{});
           value.tip =
               said(say::points_table::slowed{.reasons = describe_throttle_reasons(points.throttle_reasons(row))});
         }
         if (points.origin(row) == Provenance::extrapolated) {
           value.text += QStringLiteral(", ") + said(say::points_table::extrapolated{});
           value.tip = said(say::points_table::extrapolated_help{});
         }
         return value;
       }},
      {said(say::points_table::time{}), QStringLiteral("time"), said(say::points_table::time_help{}),
       [](const PointSet& p, Row row) { return metric(p, row, metric_key::time_median_ns); },
       metric_key::time_median_ns},
      {said(say::points_table::rate{}), QStringLiteral("rate"), said(say::points_table::rate_help{}),
       [](const PointSet& p, Row row) { return metric(p, row, metric_key::tflops); }, metric_key::tflops},
      {said(say::points_table::dram{}), QStringLiteral("dram"), said(say::points_table::dram_help{}),
       [](const PointSet& p, Row row) { return traffic(p, row, Quantity::dram); }, metric_key::dram_bytes},
      {said(say::points_table::sm_l2{}), QStringLiteral("sm_l2"), said(say::points_table::sm_l2_help{}),
       [](const PointSet& p, Row row) { return traffic(p, row, Quantity::sm_l2); }, metric_key::l2_sm_bytes},
      {said(say::points_table::model{}), QStringLiteral("model"), said(say::points_table::model_help{}),
       [](const PointSet& p, Row row) { return metric(p, row, metric_key::model_l2_sm_bytes); },
       metric_key::model_l2_sm_bytes},
      {said(say::points_table::over_model{}), QStringLiteral("over_model"), said(say::points_table::over_model_help{}),
       [](const PointSet& p, Row row) {
         Value value = metric(p, row, metric_key::l2_sm_over_model);
         if (!value.text.isEmpty()) value.text = QString::number(value.sort.toDouble(), 'f', 4);
         return value;
       },
       metric_key::l2_sm_over_model},
      {said(say::points_table::occupancy{}), QStringLiteral("occupancy"), said(say::points_table::occupancy_help{}),
       [](const PointSet& p, Row row) { return metric(p, row, metric_key::achieved_occupancy_pct); },
       metric_key::achieved_occupancy_pct},
      {said(say::points_table::registers{}), QStringLiteral("registers"), said(say::points_table::registers_help{}),
       [](const PointSet& p, Row row) {
         Value value = metric(p, row, metric_key::registers);
         value.text = value.text.section(QLatin1Char(' '), 0, 0);
         return value;
       },
       metric_key::registers},
      {said(say::points_table::shared{}), QStringLiteral("shared"), said(say::points_table::shared_help{}),
       [](const PointSet& p, Row row) { return metric(p, row, metric_key::shared_bytes); }, metric_key::shared_bytes},
      {said(say::points_table::values{}), QStringLiteral("values"), said(say::points_table::values_help{}),
       [](const PointSet& p, Row row) { return text_value(to_qstring(p.table().points().origin(row))); }},
      {said(say::points_table::run{}), QStringLiteral("run"), said(say::points_table::run_help{}),
       [](const PointSet& p, Row row) {
         const RunInfo& run = *p.run_of(row);
         return text_value(said(
             say::points_table::run_on{.run = (run.title.isEmpty() ? run_title(run.summary) : run.title).toStdString(),
                                       .device = device_title(run.summary).toStdString()}));
       }},
      {said(say::points_table::reason{}), QStringLiteral("reason"), said(say::points_table::reason_help{}),
       [](const PointSet& p, Row row) { return text_value(said(p.table().reason(row))); }},
  };
}

/// Whether `now` goes on where `before` ends.
bool is_beginning(const PointSet& before, const PointSet& now) {
  if (before.size() > now.size()) return false;
  const auto same_run = [](const RunPtr& a, const RunPtr& b) {
    return a == b || (a->file == b->file && a->summary.id == b->summary.id && a->summary.uid == b->summary.uid &&
                      a->title == b->title);
  };
  for (Row row = 0; row < before.size(); ++row) {
    if (before.id(row) != now.id(row) || !same_run(before.run_of(row), now.run_of(row))) return false;
  }
  return true;
}

/// What was asked for, as far as the setting speaks of it.
PointSpec spec_for(const PointSetting& setting, const PointSet& points, Row row) {
  return points.table().points().spec(row, setting.fields);
}

/// What was asked for.
Column of_setting(PointSetting setting) {
  Column column{setting.label, setting.key, setting.help, nullptr};
  column.value = [setting](const PointSet& points, Row row) {
    PointSetting::Value value = setting.value(spec_for(setting, points, row));
    return Value{std::move(value.text), std::move(value.sort), {}, value.number};
  };
  if (setting.fields.size() == 1) column.field = to_qstring(setting.fields.front());
  if (setting.shown != PointSetting::Shown::always) {
    column.in_use = [setting](const PointSet& points, Row row) {
      return setting.is_set(spec_for(setting, points, row));
    };
  }
  return column;
}

}  // namespace

PointsTableModel::PointsTableModel(QObject* parent) : PointsTableModel(built_in_algorithms(), parent) {}

PointsTableModel::PointsTableModel(const Registry& registry, QObject* parent, std::span<const Field> fields)
    : TableModel(parent), registry_(registry), fields_(fields) {
  make_columns();
}

void PointsTableModel::make_columns() {
  columns_.clear();
  for (PointSetting& setting : point_settings(registry_, foreign_knobs_, fields_))
    columns_.push_back(of_setting(std::move(setting)));
  std::ranges::move(outcome_columns(), std::back_inserter(columns_));
}

bool PointsTableModel::add_foreign_knobs(const PointSet& points) {
  const std::size_t before = foreign_knobs_.size();
  for (const Knobs& knobs : points.table().points().knobs().values()) {
    for (const auto& [name, value] : knobs) {
      if (registry_.find_knob(name) == nullptr) foreign_knobs_.insert(name);
    }
  }
  return foreign_knobs_.size() > before;
}

void PointsTableModel::set_points(std::shared_ptr<const PointSet> points) {
  const bool grown = is_beginning(*points_, *points);
  if (add_foreign_knobs(*points) || !grown || points_->empty()) {
    beginResetModel();
    points_ = std::move(points);
    make_columns();
    endResetModel();
  } else if (points->size() > points_->size()) {
    beginInsertRows({}, static_cast<int>(points_->size()), static_cast<int>(points->size()) - 1);
    points_ = std::move(points);
    endInsertRows();
  } else {
    points_ = std::move(points);  // the same, of a run whose state is another
  }
}

int PointsTableModel::column_of(const QString& heading) const {
  const auto found = std::ranges::find(columns_, heading, &Column::heading);
  return found == columns_.end() ? -1 : static_cast<int>(found - columns_.begin());
}

bool PointsTableModel::column_in_use(int column) const {
  const Column& spec = columns_[static_cast<std::size_t>(column)];
  if (spec.in_use == nullptr) return true;
  for (Row row = 0; row < points_->size(); ++row) {
    if (spec.in_use(*points_, row)) return true;
  }
  return false;
}

QString PointsTableModel::key_of(int column) const {
  return columns_[static_cast<std::size_t>(column)].key;
}

int PointsTableModel::column_named(const QString& key) const {
  if (key.isEmpty()) return -1;  // columns of several fields have no name of a field
  const auto found = std::ranges::find_if(columns_, [&](const Column& column) {
    return key.compare(column.key, Qt::CaseInsensitive) == 0 || key.compare(column.field, Qt::CaseInsensitive) == 0;
  });
  return found == columns_.end() ? -1 : static_cast<int>(found - columns_.begin());
}

bool PointsTableModel::is_setting(int column) const {
  return columns_[static_cast<std::size_t>(column)].metric.empty();
}

int PointsTableModel::columns() const {
  return static_cast<int>(columns_.size());
}

QVariant PointsTableModel::cell(int row, int column, int role) const {
  const auto shown = static_cast<Row>(row);
  const Column& spec = columns_[static_cast<std::size_t>(column)];
  switch (role) {
    case Qt::DisplayRole:
      return spec.value(*points_, shown).text;
    case Qt::ToolTipRole: {
      const Value value = spec.value(*points_, shown);
      return value.tip.isEmpty() ? QVariant() : QVariant(plain_tip(value.tip));
    }
    case sort_role: {
      if (spec.metric.empty()) return spec.value(*points_, shown).sort;
      // Without the words, which take longer than comparing.
      const std::optional<double> value = values_of(*points_, spec.metric).at(shown);
      return value ? QVariant(*value) : QVariant();
    }
    case copy_role: {
      const Value value = spec.value(*points_, shown);
      if (spec.metric.empty()) return value.text;
      return value.sort.isValid() ? QString::number(value.sort.toDouble(), 'g', QLocale::FloatingPointShortest)
                                  : QString();
    }
    case Qt::TextAlignmentRole:
      return QVariant::fromValue<Qt::Alignment>((spec.value(*points_, shown).number ? Qt::AlignRight : Qt::AlignLeft) |
                                                Qt::AlignVCenter);
    case Qt::ForegroundRole: {
      const bool dark = plot_colors(QGuiApplication::palette()).dark;
      if (column == 0) return algorithm_color(points_->table().algorithm(shown), dark);
      if (spec.key == result_key) return disposition_color(points_->table().disposition(shown), dark);
      return {};
    }
    default:
      return {};
  }
}

QVariant PointsTableModel::header(int column, int role) const {
  const Column& spec = columns_[static_cast<std::size_t>(column)];
  if (role == copy_role) {
    const Metric* row = find_metric(spec.metric);
    if (row == nullptr || row->unit == "1") return spec.heading;
    return QStringLiteral("%1 [%2]").arg(spec.heading, to_qstring(row->unit));
  }
  if (role == Qt::DisplayRole) return spec.heading;
  if (role == Qt::ToolTipRole) return plain_tip(spec.help);
  return {};
}

}  // namespace attnscope::ui
