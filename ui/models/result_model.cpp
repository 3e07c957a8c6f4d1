// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/result_model.h"

#include <QFont>
#include <QGuiApplication>
#include <bit>
#include <cstdint>
#include <numeric>
#include <set>
#include <string>

#include "messages/points_table.h"
#include "profiler/metrics/metrics.h"
#include "profiler/points/row_keys.h"
#include "ui/models/curve_series.h"
#include "ui/text/format.h"
#include "ui/text/qtext.h"
#include "ui/theme/sample.h"
#include "ui/theme/theme.h"

namespace attnscope::ui {

void ResultModel::set_order(std::vector<Row> lines) {
  if (lines == order_) return;
  emit layoutAboutToBeChanged({}, VerticalSortHint);
  std::vector<int> row_of(static_cast<std::size_t>(rowCount()));
  std::iota(row_of.begin(), row_of.end(), 0);
  for (std::size_t row = 0; row < lines.size(); ++row) row_of[lines[row]] = static_cast<int>(row);
  const QModelIndexList before = persistentIndexList();
  QModelIndexList now;
  now.reserve(before.size());
  for (const QModelIndex& each : before) {
    now << index(row_of[static_cast<std::size_t>(line_of(each.row()))], each.column());
  }
  order_ = std::move(lines);
  changePersistentIndexList(before, now);
  emit layoutChanged({}, VerticalSortHint);
}

namespace {

using analysis::ColumnKind;
using analysis::Tone;

bool is_bold(Tone tone) {
  return tone == Tone::strong || tone == Tone::better || tone == Tone::worse;
}

QVariant parse_alignment(ColumnKind kind) {
  const auto side = kind == ColumnKind::number ? Qt::AlignRight : Qt::AlignLeft;
  return QVariant::fromValue<Qt::Alignment>(side | Qt::AlignVCenter);
}

}  // namespace

QColor tone_color(Tone tone, bool dark) {
  if (tone == Tone::better) return token_color(style::Token::faster, dark);
  if (tone == Tone::worse) return token_color(style::Token::slower, dark);
  return {};
}

void ResultModel::set_table(TablePtr table, RowMarker marker, std::vector<Row> order) {
  beginResetModel();
  table_ = std::move(table);
  marker_ = std::move(marker);
  order_ = std::move(order);
  endResetModel();
}

void ResultModel::extend_table(TablePtr table, std::vector<Row> order) {
  const int before = rowCount();
  const auto now = static_cast<int>(table->rows);
  if (now > before) beginInsertRows({}, before, now - 1);
  table_ = std::move(table);
  while (!order_.empty() && static_cast<int>(order_.size()) < now) order_.push_back(static_cast<Row>(order_.size()));
  if (now > before) endInsertRows();
  // Existing points may have new values from another round.
  emit dataChanged(index(0, 0), index(before - 1, columnCount() - 1));
  set_order(std::move(order));
}

void ResultModel::update_table(TablePtr table) {
  const auto has_keys = [&](const TablePtr& other) {
    return std::ranges::equal(table->columns, other->columns, {}, &analysis::Column::key, &analysis::Column::key);
  };
  if (table->rows != table_->rows || !has_keys(table_)) return set_table(std::move(table));
  table_ = std::move(table);
  if (rowCount() > 0) emit dataChanged(index(0, 0), index(rowCount() - 1, columnCount() - 1));
  emit headerDataChanged(Qt::Horizontal, 0, columnCount() - 1);
}

ShownValues values_of(const analysis::Table& table) {
  ShownValues values{.keys = {}, .lines = std::vector<QStringList>(table.rows)};
  for (const analysis::Column& column : table.columns) {
    values.keys << to_qstring(column.key);
    for (std::size_t row = 0; row < table.rows; ++row) {
      const analysis::Cell cell = column.cell(row);
      const bool is_number = column.kind == ColumnKind::number && cell.number;
      values.lines[row] << (is_number ? plain_number(*cell.number) : to_qstring(cell.text));
    }
  }
  return values;
}

int find_column_index(const analysis::Table& table, const QString& key) {
  const analysis::Column* found = table.find(key.toStdString());
  return found == nullptr ? -1 : static_cast<int>(found - table.columns.data());
}

QString ResultModel::key_of(int column) const {
  return to_qstring(table_->columns[static_cast<std::size_t>(column)].key);
}

int ResultModel::find_column_index(const QString& key) const {
  return ui::find_column_index(*table_, key);
}

QVariant ResultModel::data(const QModelIndex& index, int role) const {
  if (!checkIndex(index, CheckIndexOption::IndexIsValid)) return {};
  const int line = line_of(index.row());
  const int column = index.column();
  const analysis::Column& shown = table_->columns[static_cast<std::size_t>(column)];
  const auto at = static_cast<std::size_t>(line);
  const auto number = [](std::optional<double> value) { return value ? QVariant(*value) : QVariant(); };
  switch (role) {
    case Qt::DisplayRole:
      return to_qstring(shown.cell(at).text);
    case sort_role: {
      if (shown.number) return number(shown.number(at));
      const analysis::Cell cell = shown.cell(at);
      return cell.number || cell.text.empty() ? number(cell.number) : QVariant(to_qstring(cell.text));
    }
    case copy_role: {
      const analysis::Cell cell = shown.cell(at);
      return shown.kind == ColumnKind::number && cell.number ? QVariant(*cell.number) : to_qstring(cell.text);
    }
    case Qt::ToolTipRole: {
      const std::string tip = shown.tip                          ? shown.tip(at)
                              : shown.kind == ColumnKind::number ? std::string()
                                                                 : shown.cell(at).text;
      return tip.empty() ? QVariant() : plain_tooltip(to_qstring(tip));
    }
    case Qt::TextAlignmentRole:
      return parse_alignment(shown.kind);
    case Qt::DecorationRole: {
      const QPixmap marker = column == 0 && marker_ ? marker_(line) : QPixmap();
      return marker.isNull() ? QVariant() : QVariant(marker);
    }
    case Qt::ForegroundRole: {
      const Tone tone = table_->tone_of(shown, at);
      if (tone == Tone::plain || tone == Tone::strong) return {};
      const PlotColors colors = plot_colors(QGuiApplication::palette());
      return tone == Tone::muted ? colors.muted : tone_color(tone, colors.dark);
    }
    case Qt::FontRole: {
      if (!is_bold(table_->tone_of(shown, at))) return {};
      QFont bold;
      bold.setBold(true);
      return bold;
    }
    default:
      return {};
  }
}

QVariant ResultModel::headerData(int column, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal || column < 0 || column >= columnCount()) return {};
  const analysis::Column& shown = table_->columns[static_cast<std::size_t>(column)];
  switch (role) {
    case Qt::DisplayRole:
      return to_qstring(shown.title);
    case copy_role:
      return to_qstring(shown.key);
    case Qt::ToolTipRole:
      return shown.help.empty() ? QVariant() : plain_tooltip(to_qstring(shown.help));
    case Qt::TextAlignmentRole:
      return parse_alignment(shown.kind);
    default:
      return {};
  }
}

namespace {

using analysis::Cell;
using analysis::Column;
using analysis::RowKey;

std::vector<Row> examples(std::span<const RowKey> keys, std::span<const Row> rows) {
  if (rows.empty()) return {};
  const auto alike = [&](const RowKey& key) {
    return std::ranges::all_of(rows, [&, first = key(rows.front())](Row row) { return key(row) == first; });
  };
  if (std::ranges::all_of(keys, alike)) return {rows.front()};
  const analysis::RowGroups groups(keys, rows, {});
  std::vector<Row> found;
  found.reserve(groups.size());
  for (std::size_t group = 0; group < groups.size(); ++group) found.push_back(groups[group].front().front());
  return found;
}

std::vector<std::string_view> fields_of(const Field& setting) {
  if (setting.role == FieldRole::knob) return {};
  return setting.parts.empty() ? std::vector{setting.name} : setting.parts;
}

std::vector<RowKey> keys_of(const Field& setting, const analysis::PointTable& points) {
  if (setting.role == FieldRole::knob) return {analysis::key_of_knobs(points)};
  std::vector<RowKey> keys;
  for (const std::string_view name : fields_of(setting)) keys.push_back(key_of_field(points, name));
  return keys;
}

std::optional<double> number_of(const SettingValue& value) {
  bool is_number = false;
  const double number = value.sort.typeId() == QMetaType::QString ? 0 : value.sort.toDouble(&is_number);
  return is_number ? std::optional(number) : std::nullopt;
}

class PointsTableBuilder {
 public:
  explicit PointsTableBuilder(PointsTable& made) : made_(made), points_(*made.points), rows_(points_.table().rows()) {
    made.table.rows = points_.size();
  }

  void add(const Field& setting) {
    const PointSet* points = &points_;
    const auto spec_for = [points, fields = fields_of(setting)](std::size_t row) {
      return points->table().points().spec(static_cast<Row>(row), fields);
    };
    PointsTable::ColumnInfo facts{.in_use = is_always_shown(setting)};
    // Checks each field separately, because each has few distinct values.
    for (const RowKey& key : keys_of(setting, points_.table())) {
      if (facts.in_use) break;
      facts.in_use =
          std::ranges::any_of(examples({&key, 1}, rows_), [&](Row row) { return is_set(setting, spec_for(row)); });
    }
    add(setting_column(setting, spec_for, rows_.size()), std::move(facts),
        distinct_rows(setting, points_.table(), rows_));
  }

  /// Adds a column whose text depends only on `key`.
  void add(Column column, const std::function<QString(Row)>& text, const RowKey& key) {
    column.cell = [text](std::size_t row) { return Cell{.text = text(static_cast<Row>(row)).toStdString()}; };
    add(std::move(column), PointsTable::ColumnInfo{}, examples({&key, 1}, rows_));
  }

  using Words = QString (*)(const MetricValue&);
  /// Adds a metric, with the exact value as tooltip.
  void add(
      const char* key, const Message& heading, const Message& help, std::string_view metric,
      Words words = [](const MetricValue& value) { return format_metric(value); },
      Words exact =
          [](const MetricValue& value) {
            return QStringLiteral("%1 (%2)").arg(format_number(value.value, 12), to_qstring(value.provenance));
          }) {
    // Use the same DRAM bytes as the plots.
    const analysis::ValueColumn& values =
        metric == metric_key::dram_bytes ? points_.table().dram_traffic() : points_.table().values(metric);
    const auto value_at = [&values, metric](std::size_t at) -> std::optional<MetricValue> {
      const auto row = static_cast<Row>(at);
      if (!values.has(row)) return std::nullopt;
      return MetricValue{std::string(metric), values.value(row), std::string(find_metric(metric)->unit),
                         values.provenance(row)};
    };
    Column column{.key = key, .title = text(heading), .kind = analysis::ColumnKind::number, .help = text(help)};
    column.cell = [value_at, words](std::size_t row) {
      const auto value = value_at(row);
      return value ? Cell{.text = words(*value).toStdString(), .number = value->value} : Cell();
    };
    column.number = [&values](std::size_t row) { return values.at(static_cast<Row>(row)); };
    column.tip = [value_at, exact](std::size_t row) {
      const auto value = value_at(row);
      return value ? exact(*value).toStdString() : std::string();
    };
    constexpr std::size_t sampled = 200;  // number of rows sampled to find the longest text of a metric
    std::vector<Row> some;
    for (std::size_t row = 0; row < rows_.size(); row += std::max<std::size_t>(1, rows_.size() / sampled)) {
      some.push_back(static_cast<Row>(row));
    }
    add(std::move(column), PointsTable::ColumnInfo{.metric = metric}, some);
    made_.facts.back().varies =
        rows_.size() < 2 || std::ranges::any_of(rows_, [&](Row row) { return values.has(row); });
  }

 private:
  void add(Column column, PointsTable::ColumnInfo facts, const std::vector<Row>& sampled_rows) {
    std::set<std::string> texts;
    for (const Row row : sampled_rows) texts.insert(column.cell(row).text);
    facts.varies = rows_.size() < 2 || texts.size() > 1;
    for (const std::string& each : texts) {
      const QString words = to_qstring(each);
      if (words.size() > facts.longest.size()) facts.longest = words;
    }
    made_.table.columns.push_back(std::move(column));
    made_.facts.push_back(std::move(facts));
  }

  PointsTable& made_;
  const PointSet& points_;
  std::vector<Row> rows_;
};

QString result_of(const PointSet& points, Row row, bool code) {
  const auto said = [code](auto value) { return code ? to_qstring(attnscope::to_string(value)) : qtext(title(value)); };
  const analysis::PointColumns& columns = points.table().points();
  QString text = said(columns.disposition(row));
  if (code ? columns.throttled(row) : columns.throttled(row) && points.table().is_throttling_unusual(row)) {
    text += QStringLiteral(", ") + (code ? QStringLiteral("throttled") : qtext(msg::points_table::throttled{}));
  }
  const Provenance origin = columns.origin(row);
  const bool is_from_gpu = origin == Provenance::measured || origin == Provenance::derived;
  if (!is_from_gpu) text += QStringLiteral(", ") + said(origin);
  return text;
}

void add_result(PointsTableBuilder& maker, const PointSet& points) {
  const analysis::PointColumns& columns = points.table().points();
  Column column{.key = result_key.data(),
                .title = text(msg::points_table::result{}),
                .help = text(msg::points_table::result_help{})};
  column.tip = [&columns](std::size_t at) {
    const auto row = static_cast<Row>(at);
    if (columns.origin(row) == Provenance::extrapolated) return text(msg::points_table::extrapolated_help{});
    if (!columns.throttled(row)) return text(columns.reason(row));
    return text(
        msg::points_table::throttle_reasons{.reasons = describe_throttle_reasons(columns.throttle_reasons(row))});
  };
  maker.add(
      std::move(column), [&points](Row row) { return result_of(points, row, false); },
      [&columns](Row row) {
        return static_cast<std::uint64_t>(columns.disposition(row)) << 8U |
               static_cast<std::uint64_t>(columns.origin(row)) << 1U | (columns.throttled(row) ? 1U : 0U);
      });
}

void add_metrics(PointsTableBuilder& maker) {
  namespace keys = metric_key;
  constexpr auto default_format = [](const MetricValue& value) { return format_metric(value); };
  constexpr auto bytes = [](const MetricValue& value) {
    return qtext(
        msg::points_table::exact_bytes{.bytes = number_text(value.value, 12), .origin = title(value.provenance)});
  };
  maker.add("time", msg::points_table::time{}, msg::points_table::time_help{}, keys::time_median_ns);
  maker.add("rate", msg::points_table::rate{}, msg::points_table::rate_help{}, keys::tflops);
  maker.add("dram", msg::points_table::dram{}, msg::points_table::dram_help{}, analysis::metric_of(Quantity::dram),
            default_format, bytes);
  maker.add("sm_l2", msg::points_table::sm_l2{}, msg::points_table::sm_l2_help{}, analysis::metric_of(Quantity::sm_l2),
            default_format, bytes);
  maker.add("model", msg::points_table::model{}, msg::points_table::model_help{}, keys::model_l2_sm_bytes);
  maker.add("over_model", msg::points_table::over_model{}, msg::points_table::over_model_help{}, keys::l2_sm_over_model,
            [](const MetricValue& value) { return QString::number(value.value, 'f', 4); });
  maker.add("occupancy", msg::points_table::occupancy{}, msg::points_table::occupancy_help{},
            keys::achieved_occupancy_pct);
  maker.add("registers", msg::points_table::registers{}, msg::points_table::registers_help{}, keys::registers,
            [](const MetricValue& value) { return format_metric(value).section(QLatin1Char(' '), 0, 0); });
  maker.add("shared", msg::points_table::shared{}, msg::points_table::shared_help{}, keys::shared_bytes);
}

void add_sources(PointsTableBuilder& maker, const PointSet& points) {
  const analysis::PointTable& table = points.table();
  const auto column = [](const char* key, const Message& heading, const Message& help) {
    return Column{.key = key, .title = text(heading), .help = text(help)};
  };
  maker.add(
      column(values_key.data(), msg::points_table::values{}, msg::points_table::values_help{}),
      [&table](Row row) { return to_qstring(table.points().origin(row)); },
      [&table](Row row) { return static_cast<std::uint64_t>(table.points().origin(row)); });
  maker.add(
      column("run", msg::points_table::run{}, msg::points_table::run_help{}),
      [&points](Row row) {
        const RunInfo& run = *points.run_of(row);
        return qtext(msg::points_table::run_on{.device = device_title(run.summary).toStdString(),
                                               .run = run.title.toStdString()});
      },
      [&table](Row row) { return std::uint64_t{table.run_index(row)}; });
  // Reasons are interned, so equal reasons have the same address.
  maker.add(
      column("reason", msg::points_table::reason{}, msg::points_table::reason_help{}),
      [&table](Row row) { return compiler_error_line(qtext(table.reason(row))); },
      [&table](Row row) { return std::uint64_t{std::bit_cast<std::uintptr_t>(&table.reason(row))}; });
}

}  // namespace

std::shared_ptr<const PointsTable> points_table(std::shared_ptr<const PointSet> points) {
  auto made = std::make_shared<PointsTable>(PointsTable{.points = std::move(points), .table = {}, .facts = {}});
  std::set<std::string> unknown_knobs;  // knobs that no registered algorithm has
  for (const Knobs& knobs : made->points->table().points().knobs().values()) {
    for (const auto& [name, value] : knobs) {
      if (known_algorithms().find_knob(name) == nullptr) unknown_knobs.insert(name);
    }
  }
  PointsTableBuilder maker(*made);
  for (const Field& setting : point_settings(known_algorithms(), unknown_knobs)) maker.add(setting);
  add_result(maker, *made->points);
  add_metrics(maker);
  add_sources(maker, *made->points);
  return made;
}

std::string result_code(const PointSet& points, Row row) {
  return result_of(points, row, true).toStdString();
}

Column setting_column(const Field& setting, std::function<PointSpec(std::size_t)> spec, std::size_t rows) {
  Column column{.key = setting_key(setting).toStdString(), .title = text(setting.label())};
  column.help = setting_help(setting).toStdString();
  const auto value = [setting, spec = std::move(spec)](std::size_t row) { return setting_value(setting, spec(row)); };
  column.cell = [value, valued = setting.parts.empty()](std::size_t row) {
    const SettingValue of_row = value(row);
    return Cell{.text = of_row.text.toStdString(), .number = valued ? number_of(of_row) : std::nullopt};
  };
  if (rows == 0 || !value(0).number) return column;
  column.kind = analysis::ColumnKind::number;
  column.number = [value](std::size_t row) { return number_of(value(row)); };
  return column;
}

std::vector<Row> distinct_rows(const Field& setting, const analysis::PointTable& points, std::span<const Row> rows) {
  return examples(keys_of(setting, points), rows);
}

namespace {

bool is_prefix(const PointSet& before, const PointSet& now) {
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

PointsTableModel::PointsTableModel(QObject* parent) : ResultModel(parent) {
  set_points(std::make_shared<const PointSet>());
}

void PointsTableModel::set_contents(std::shared_ptr<const PointsTable> contents, std::vector<Row> order) {
  const std::shared_ptr<const PointsTable> before = std::exchange(contents_, std::move(contents));
  const TablePtr table{contents_, &contents_->table};
  const bool is_continued =
      before != nullptr && is_prefix(*before->points, *contents_->points) &&
      std::ranges::equal(before->table.columns, table->columns, {}, &analysis::Column::key, &analysis::Column::key);
  is_continued ? extend_table(table, std::move(order)) : set_table(table, nullptr, std::move(order));
}

std::optional<int> PointsTableModel::row_of(const ShownPoint& point) const {
  const std::optional<Row> line = contents_->points->row_of(point);
  return line ? std::optional(row_of_line(static_cast<int>(*line))) : std::nullopt;
}

QVariant PointsTableModel::data(const QModelIndex& index, int role) const {
  if (!checkIndex(index, CheckIndexOption::IndexIsValid)) return {};
  const int column = index.column();
  const auto row = static_cast<Row>(line_of(index.row()));
  const PointSet& points = *contents_->points;
  const bool is_metric = !facts(column).metric.empty();
  const QString key = key_of(column);
  if (role == copy_role && !is_metric) {
    if (key == result_key) return to_qstring(result_code(points, row));
    return key == values_key ? to_qstring(to_string(points.table().points().origin(row)))
                             : ResultModel::data(index, Qt::DisplayRole);
  }
  // Simulated values are set in italics.
  if (role == Qt::FontRole && is_metric && is_simulated(points.table().points().origin(row))) {
    QFont italic;
    italic.setItalic(true);
    return italic;
  }
  if (role == Qt::ForegroundRole && key == result_key) {
    return disposition_color(points.table().disposition(row), plot_colors(QGuiApplication::palette()).dark);
  }
  if (role == Qt::DecorationRole && column == 0) {
    return algorithm_marker(points.table().algorithm(row), points.table().points().origin(row));
  }
  return ResultModel::data(index, role);
}

QVariant PointsTableModel::headerData(int column, Qt::Orientation orientation, int role) const {
  if (role != copy_role || orientation != Qt::Horizontal) return ResultModel::headerData(column, orientation, role);
  const QString heading = ResultModel::headerData(column, orientation, Qt::DisplayRole).toString();
  const Metric* metric = find_metric(facts(column).metric);
  if (metric == nullptr || metric->unit == "1") return heading;
  return QStringLiteral("%1 [%2]").arg(heading, to_qstring(metric->unit));
}

}  // namespace attnscope::ui
