// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/points/points_table_model.h"

#include <QColor>
#include <QFont>
#include <QGuiApplication>
#include <algorithm>

#include "profiler/metrics/metrics.h"
#include "ui/text/format.h"
#include "ui/theme/theme.h"

namespace attnscope::ui {
namespace {

/// Whether `now` goes on where `before` ends.
bool is_beginning(const PointSet& before, const PointSet& now) {
  if (before.empty() || before.size() > now.size()) return false;
  const auto same_run = [](const RunPtr& a, const RunPtr& b) {
    return a == b || (a->file == b->file && a->summary.id == b->summary.id && a->summary.uid == b->summary.uid &&
                      a->title == b->title);
  };
  for (Row row = 0; row < before.size(); ++row) {
    if (before.id(row) != now.id(row) || !same_run(before.run_of(row), now.run_of(row))) return false;
  }
  return true;
}

}  // namespace

PointsTableModel::PointsTableModel(QObject* parent) : PointsTableModel(known_algorithms(), parent) {}

PointsTableModel::PointsTableModel(const Registry& registry, QObject* parent, std::span<const Field> fields)
    : ResultModel(parent), registry_(registry), fields_(fields) {
  set_points(std::make_shared<const PointSet>(std::vector<PointSet::Part>(), fields));
}

void PointsTableModel::set_contents(std::shared_ptr<const PointsTable> contents, std::vector<Row> order) {
  const std::shared_ptr<const PointsTable> before = std::exchange(contents_, std::move(contents));
  const TablePtr table{contents_, &contents_->table};
  const bool goes_on =
      before != nullptr && is_beginning(*before->points, *contents_->points) &&
      std::ranges::equal(before->table.columns, table->columns, {}, &analysis::Column::key, &analysis::Column::key);
  goes_on ? extend_table(table, std::move(order)) : set_table(table, nullptr, std::move(order));
}

std::optional<int> PointsTableModel::row_of(const ShownPoint& point) const {
  const std::optional<Row> line = contents_->points->row_of(point);
  return line ? std::optional(row_of_line(static_cast<int>(*line))) : std::nullopt;
}

int PointsTableModel::column_of(const QString& heading) const {
  const auto& columns = table()->columns;
  const auto found = std::ranges::find(columns, heading.toStdString(), &analysis::Column::title);
  return found == columns.end() ? -1 : static_cast<int>(found - columns.begin());
}

QVariant PointsTableModel::cell(int line, int column, int role) const {
  const auto row = static_cast<Row>(line);
  const PointSet& points = *contents_->points;
  const bool is_metric = !facts(column).metric.empty();
  const QString key = key_of(column);
  if (role == copy_role && !is_metric) {
    if (key == result_key) return to_qstring(result_code(points, row));
    return key == values_key ? to_qstring(to_string(points.table().points().origin(row)))
                             : ResultModel::cell(line, column, Qt::DisplayRole);
  }
  // A simulated value looks like none that was measured.
  if (role == Qt::FontRole && is_metric && is_simulated(points.table().points().origin(row))) {
    QFont italic;
    italic.setItalic(true);
    return italic;
  }
  if (role == Qt::ForegroundRole && (column == 0 || key == result_key)) {
    const bool dark = plot_colors(QGuiApplication::palette()).dark;
    return column == 0 ? algorithm_color(points.table().algorithm(row), dark)
                       : disposition_color(points.table().disposition(row), dark);
  }
  return ResultModel::cell(line, column, role);
}

QVariant PointsTableModel::header(int column, int role) const {
  if (role != copy_role) return ResultModel::header(column, role);
  const QString heading = ResultModel::header(column, Qt::DisplayRole).toString();
  const Metric* metric = find_metric(facts(column).metric);
  if (metric == nullptr || metric->unit == "1") return heading;
  return QStringLiteral("%1 [%2]").arg(heading, to_qstring(metric->unit));
}

}  // namespace attnscope::ui
