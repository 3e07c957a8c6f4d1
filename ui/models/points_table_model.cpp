// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/points_table_model.h"

#include <QColor>
#include <QFont>
#include <QGuiApplication>
#include <QLocale>
#include <QPalette>
#include <algorithm>
#include <array>
#include <iterator>
#include <numeric>
#include <optional>
#include <string>
#include <utility>

#include "profiler/metrics/metrics.h"
#include "ui/models/points_table_columns.h"
#include "ui/process/live.h"
#include "ui/text/format.h"
#include "ui/text/qtext.h"
#include "ui/theme/theme.h"

namespace attnscope::ui {
namespace {

using Column = PointsTableModel::Column;

bool comes_before(const QVariant& a, const QVariant& b) {
  bool numbers = true;
  bool number = false;
  const double x = a.toDouble(&number);
  numbers = numbers && number;
  const double y = b.toDouble(&number);
  numbers = numbers && number;
  return numbers ? x < y : a.toString() < b.toString();
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

/// Few values are sorted, then the rows counted out.
std::vector<Row> ordered_by_setting(const Column& by, const PointSet& points, const std::vector<Row>& given,
                                    Qt::SortOrder order) {
  const Distinct values = tell_apart(by.keys(points), 0, points.size());
  std::vector<QVariant> sort;
  sort.reserve(values.example.size());
  for (const Row row : values.example) sort.push_back(by.value(points, row).sort);
  std::vector<std::uint32_t> codes(sort.size());
  std::iota(codes.begin(), codes.end(), 0U);
  const bool descending = order == Qt::DescendingOrder;
  const auto before = [&](std::uint32_t a, std::uint32_t b) {
    if (sort[a].isValid() != sort[b].isValid()) return sort[a].isValid();
    return descending ? comes_before(sort[b], sort[a]) : comes_before(sort[a], sort[b]);
  };
  std::ranges::stable_sort(codes, before);
  // What tells rows apart may be more than what they are sorted by: equal ones stand as they were given.
  std::vector<std::uint32_t> place(codes.size());
  std::uint32_t places = 0;
  for (std::size_t i = 0; i < codes.size(); ++i) {
    if (i > 0 && before(codes[i - 1], codes[i])) ++places;
    place[codes[i]] = places;
  }
  std::vector<std::size_t> begin(codes.size() + 1, 0);
  for (const Row row : given) ++begin[place[values.code[row]] + 1];
  std::partial_sum(begin.begin(), begin.end(), begin.begin());
  std::vector<Row> rows(given.size());
  for (const Row row : given) rows[begin[place[values.code[row]]]++] = row;
  return rows;
}

/// Each text that a setting has from that row on.
QStringList distinct_texts(const Column& column, const PointSet& points, Row from, Row end) {
  QStringList texts;
  for (const Row row : tell_apart(column.keys(points), from, end).example) {
    texts << column.value(points, row).text;
  }
  return texts;
}

bool varies(const Column& column, const PointSet& points, bool has_values) {
  constexpr Row first_rows = 1000;  // mostly they tell
  if (points.size() < 2) return true;
  if (!column.metric.empty()) {
    const analysis::ValueColumn& values = values_of(points, column.metric);
    return !has_values || std::ranges::any_of(points.table().rows(), [&](Row row) { return values.has(row); });
  }
  return std::ranges::any_of(std::array{std::min(first_rows, points.size()), points.size()}, [&](Row end) {
    QStringList texts = distinct_texts(column, points, 0, end);
    texts.removeDuplicates();
    return texts.size() > 1;
  });
}

std::vector<Row> ordered_by_value(const analysis::ValueColumn& values, const std::vector<Row>& given,
                                  Qt::SortOrder order) {
  std::vector<std::pair<double, Row>> known;
  std::vector<Row> without;
  known.reserve(given.size());
  for (const Row row : given) {
    if (const auto value = values.at(row)) {
      known.emplace_back(order == Qt::DescendingOrder ? -*value : *value, row);
    } else {
      without.push_back(row);
    }
  }
  std::ranges::stable_sort(known, {}, &std::pair<double, Row>::first);
  std::vector<Row> rows;
  rows.reserve(given.size());
  for (const auto& [value, row] : known) rows.push_back(row);
  rows.insert(rows.end(), without.begin(), without.end());
  return rows;
}

}  // namespace

PointsTableModel::PointsTableModel(QObject* parent) : PointsTableModel(known_algorithms(), parent) {}

PointsTableModel::PointsTableModel(const Registry& registry, QObject* parent, std::span<const Field> fields)
    : TableModel(parent), registry_(registry), fields_(fields) {
  make_columns();
  connect(&pages_, &PointPages::arrived, this, [this](std::size_t first, std::size_t last) {
    emit dataChanged(index(static_cast<int>(first), 0), index(static_cast<int>(last), columns() - 1));
  });
}

void PointsTableModel::make_columns() {
  columns_.clear();
  for (PointSetting& setting : point_settings(registry_, foreign_knobs_, fields_))
    columns_.push_back(setting_column(std::move(setting)));
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
  const bool grown = !lists() && is_beginning(*points_, *points);
  if (points != points_) in_use_.clear();
  will_list_ = false;
  const bool others = points != points_;
  const auto before = static_cast<int>(points_->size());
  const bool more = points->size() > points_->size();
  if (add_foreign_knobs(*points) || !grown || points_->empty()) {
    beginResetModel();
    listing_.reset();
    shown_.reset();
    pages_.show(nullptr, nullptr);
    points_ = std::move(points);
    make_columns();
    endResetModel();
    return;
  }
  if (more) beginInsertRows({}, before, static_cast<int>(points->size()) - 1);
  points_ = std::move(points);
  if (more) endInsertRows();
  // A round may have come: the same points with other values.
  if (others) emit dataChanged(index(0, 0), index(before - 1, columns() - 1));
}

PointsTableModel::Look PointsTableModel::look(Looked looked, bool texts) const {
  if (looked_.points == looked.points) {
    looked.in_use = looked_.in_use;
    looked.varies = looked_.varies;
    looked.texts = looked_.texts;
  }
  looked.by = listed_by_;
  looked.order = listed_in_;
  return [looked = std::move(looked), columns = columns_, by = column_named(listed_by_), texts] {
    Looked now = looked;
    for (const Column& column : columns) {
      if (column.in_use != nullptr && !now.in_use.contains(column.key)) {
        now.in_use[column.key] = column.in_use(*now.points);
      }
      if (!now.varies.contains(column.key)) {
        now.varies[column.key] = varies(column, *now.points, now.listing == nullptr);
      }
      if (texts && column.metric.empty() && !now.texts.contains(column.key)) {
        now.texts[column.key] = distinct_texts(column, *now.points, 0, now.points->size());
      }
    }
    if (now.listing == nullptr) return now;
    const Column* order = by < 0 ? nullptr : &columns[static_cast<std::size_t>(by)];
    if (order != nullptr && order->metric.empty()) {
      now.rows = std::make_shared<const std::vector<Row>>(
          ordered_by_setting(*order, *now.points, now.listing->rows, now.order));
    } else if (order != nullptr || now.by.isEmpty()) {  // else it may be a column that these points bring
      now.rows = std::make_shared<const std::vector<Row>>(now.listing->rows);
    }
    return now;
  };
}

PointsTableModel::Look PointsTableModel::look(std::shared_ptr<const PointSet> points, bool texts) const {
  Looked looked;
  looked.points = std::move(points);
  return look(std::move(looked), texts);
}

PointsTableModel::Look PointsTableModel::look(std::shared_ptr<const Listing> listing, bool texts) const {
  Looked looked;
  looked.points = listing->points;
  looked.listing = std::move(listing);
  return look(std::move(looked), texts);
}

void PointsTableModel::set_listing(std::shared_ptr<const Listing> listing) {
  if (shows(listing)) return;
  will_list_ = true;
  beginResetModel();
  if (listing->points != points_) {
    in_use_.clear();
    points_ = listing->points;
    add_foreign_knobs(*points_);
    make_columns();
  }
  listing_ = std::move(listing);
  shown_ = in_order();
  pages_.show(points_, shown_);
  endResetModel();
}

bool PointsTableModel::sort_listing(const QString& key, Qt::SortOrder order) {
  const int column = column_named(key);
  if (column >= 0 && !is_setting(column)) return false;
  if (listed_by_ == key && listed_in_ == order) return true;
  listed_by_ = key;
  listed_in_ = order;
  if (!lists()) return true;
  if (listing_->points->size() > most_points_at_once) {
    emit order_wanted();
    return true;
  }
  beginResetModel();
  shown_ = in_order();
  pages_.show(points_, shown_);
  endResetModel();
  return true;
}

std::shared_ptr<const std::vector<Row>> PointsTableModel::in_order() {
  shown_by_ = listed_by_;
  shown_in_ = listed_in_;
  const bool found = looked_.listing == listing_ && looked_.by == listed_by_ && looked_.order == listed_in_;
  if (found && looked_.rows != nullptr) return looked_.rows;
  auto rows = std::make_shared<std::vector<Row>>(listing_->rows);
  const int column = column_named(listed_by_);
  if (column < 0 || !is_setting(column)) return rows;
  const Column& by = columns_[static_cast<std::size_t>(column)];
  *rows = ordered_by_setting(by, *points_, listing_->rows, listed_in_);
  return rows;
}

PointsTableModel::Ordering PointsTableModel::ordering(std::shared_ptr<const PointSet> points, int column,
                                                      Qt::SortOrder order) const {
  if (column < 0) return [] { return std::vector<Row>(); };
  return [points = std::move(points), by = columns_[static_cast<std::size_t>(column)], order] {
    const std::vector<Row> rows = points->table().rows();
    return by.metric.empty() ? ordered_by_setting(by, *points, rows, order)
                             : ordered_by_value(values_of(*points, by.metric), rows, order);
  };
}

std::optional<int> PointsTableModel::row_of(const ShownPoint& point) const {
  const std::optional<Row> place = points_->row_of(point);
  if (!place || !lists()) return place ? std::optional(static_cast<int>(*place)) : std::nullopt;
  const auto row = std::ranges::find(*shown_, *place);
  return row == shown_->end() ? std::nullopt : std::optional(static_cast<int>(row - shown_->begin()));
}

PointPages::Value PointsTableModel::source_of(const Column& column, int row) const {
  const Row place = place_of(row);
  if (!lists() || column.metric.empty() || !listing_->lacks_values(place)) return {points_.get(), place, {}};
  return pages_.at(static_cast<std::size_t>(row));
}

PointsTableModel::Value PointsTableModel::value_of_cell(const Column& column, int row) const {
  const PointPages::Value from = source_of(column, row);
  if (from.points != nullptr) return column.value(*from.points, from.row);
  return {from.error.isEmpty() ? QStringLiteral("…") : QStringLiteral("–"), {}, {}, true};
}

QString PointsTableModel::tip_of_cell(const Column& column, int row) const {
  const PointPages::Value from = source_of(column, row);
  if (from.points == nullptr) return from.error.isEmpty() ? qtext(say::points_table::row_is_read{}) : from.error;
  if (column.tip != nullptr) return column.tip(*from.points, from.row);
  const Value value = column.value(*from.points, from.row);
  return value.tip.isEmpty() && column.metric.empty() ? value.text : value.tip;  // it may be cut
}

QStringList PointsTableModel::texts_of(int column, Row from) const {
  if (const QStringList* all = known(looked_.texts, column)) return *all;
  return distinct_texts(columns_[static_cast<std::size_t>(column)], *points_, from, points_->size());
}

int PointsTableModel::column_of(const QString& heading) const {
  const auto found = std::ranges::find(columns_, heading, &Column::heading);
  return found == columns_.end() ? -1 : static_cast<int>(found - columns_.begin());
}

bool PointsTableModel::column_in_use(int column) const {
  const Column& spec = columns_[static_cast<std::size_t>(column)];
  if (spec.in_use == nullptr) return true;
  if (const bool* found = known(looked_.in_use, column)) return *found;
  const auto [known, fresh] = in_use_.try_emplace(column, false);
  if (fresh) known->second = spec.in_use(*points_);
  return known->second;
}

bool PointsTableModel::column_varies(int column) const {
  const bool* found = known(looked_.varies, column);
  return found != nullptr ? *found : varies(columns_[static_cast<std::size_t>(column)], *points_, !lists());
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
  const Row shown = place_of(row);
  const Column& spec = columns_[static_cast<std::size_t>(column)];
  switch (role) {
    case Qt::DisplayRole:
      return value_of_cell(spec, row).text;
    case Qt::ToolTipRole: {
      const QString tip = tip_of_cell(spec, row);
      return tip.isEmpty() ? QVariant() : QVariant(plain_tip(tip));
    }
    case sort_role: {
      if (lists() || spec.metric.empty()) return value_of_cell(spec, row).sort;
      // Without the words, which take longer than comparing.
      const std::optional<double> value = values_of(*points_, spec.metric).at(shown);
      return value ? QVariant(*value) : QVariant();
    }
    case copy_role: {
      const Value value = value_of_cell(spec, row);
      if (spec.metric.empty()) return spec.code != nullptr ? spec.code(*points_, shown) : value.text;
      if (value.sort.isValid()) return QString::number(value.sort.toDouble(), 'g', QLocale::FloatingPointShortest);
      // What is not read yet is no missing value, and does not look like one.
      return source_of(spec, row).points == nullptr ? value.text : QString();
    }
    case Qt::TextAlignmentRole:
      if (!spec.metric.empty()) return QVariant::fromValue<Qt::Alignment>(Qt::AlignRight | Qt::AlignVCenter);
      return QVariant::fromValue<Qt::Alignment>((value_of_cell(spec, row).number ? Qt::AlignRight : Qt::AlignLeft) |
                                                Qt::AlignVCenter);
    case Qt::FontRole: {
      // A simulated value looks like none that was measured.
      if (spec.metric.empty() || !is_simulated(points_->table().points().origin(shown))) return {};
      QFont italic;
      italic.setItalic(true);
      return italic;
    }
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
