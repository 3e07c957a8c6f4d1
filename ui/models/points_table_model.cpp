// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/points_table_model.h"

#include <QColor>
#include <QGuiApplication>
#include <QLocale>
#include <QPalette>
#include <algorithm>
#include <bit>
#include <iterator>
#include <numeric>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "messages/points_table.h"
#include "profiler/metrics/metrics.h"
#include "ui/models/curve_series.h"
#include "ui/process/live.h"
#include "ui/text/format.h"
#include "ui/text/qtext.h"
#include "ui/theme/theme.h"

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
  return {format_metric(*value), value->value, {}, true};
}

/// A column of a metric, its values told exactly beside it.
Column of_metric(const Message& heading, const QString& key, const Message& help, std::string_view metric_key) {
  Column column{qtext(heading), key, qtext(help),
                [metric_key](const PointSet& p, Row row) { return metric(p, row, metric_key); }, metric_key};
  column.tip = [metric_key](const PointSet& p, Row row) {
    const auto value = value_of(p, row, metric_key);
    return value ? QStringLiteral("%1 (%2)").arg(format_number(value->value, 12), to_qstring(value->provenance))
                 : QString();
  };
  return column;
}

Column of_traffic(const Message& heading, const QString& key, const Message& help, Quantity quantity) {
  const std::string_view metric_key = analysis::metric_of(quantity);
  Column column = of_metric(heading, key, help, metric_key);
  column.tip = [metric_key](const PointSet& p, Row row) {
    const auto bytes = value_of(p, row, metric_key);
    return bytes ? qtext(say::points_table::exact_bytes{.bytes = format_number(bytes->value, 12).toStdString(),
                                                        .origin = title(bytes->provenance)})
                 : QString();
  };
  return column;
}

constexpr QLatin1String result_key("result");

using Keys = std::vector<std::function<std::uint64_t(Row)>>;

Keys keys_of_result(const PointSet& p) {
  return {[&p](Row row) {
    const analysis::PointColumns& points = p.table().points();
    return static_cast<std::uint64_t>(points.disposition(row)) << 2U | (points.throttled(row) ? 2U : 0U) |
           (points.origin(row) == Provenance::extrapolated ? 1U : 0U);
  }};
}

/// Rows by what a column says of them.
struct Distinct {
  std::vector<std::uint32_t>
      code;                  ///< by row, from the first that was asked for on; equal where the column says the same
  std::vector<Row> example;  ///< by code
};

Distinct tell_apart(const Keys& keys, Row first, Row end) {
  Distinct all;
  all.code.assign(end - first, 0);
  if (first < end) all.example = {first};
  for (const auto& key : keys) {
    // A key becomes a small number, and with the code so far one of both.
    std::unordered_map<std::uint64_t, std::uint32_t> small;
    std::unordered_map<std::uint64_t, std::uint32_t> both;
    std::vector<Row> examples;
    std::uint64_t last_key = 0;
    std::uint32_t last_code = 0;
    std::uint32_t last = 0;
    for (Row row = first; row < end; ++row) {
      const std::uint64_t now = key(row);
      std::uint32_t& code = all.code[row - first];
      if (row == first || now != last_key || code != last_code) {  // neighbours mostly agree
        const std::uint32_t number = small.try_emplace(now, static_cast<std::uint32_t>(small.size())).first->second;
        const auto [place, fresh] =
            both.try_emplace(std::uint64_t{code} << 32U | number, static_cast<std::uint32_t>(examples.size()));
        if (fresh) examples.push_back(row);
        last_key = now;
        last_code = code;
        last = place->second;
      }
      code = last;
    }
    all.example = std::move(examples);
  }
  return all;
}

Column result_column() {
  Column result{qtext(say::points_table::result{}), result_key, qtext(say::points_table::result_help{}),
                [](const PointSet& p, Row row) {
                  const analysis::PointColumns& points = p.table().points();
                  QString text = to_qstring(to_string(points.disposition(row)));
                  if (points.throttled(row)) text += QStringLiteral(", ") + qtext(say::points_table::throttled{});
                  if (points.origin(row) == Provenance::extrapolated) {
                    text += QStringLiteral(", ") + qtext(say::points_table::extrapolated{});
                  }
                  return text_value(text);
                }};
  result.tip = [](const PointSet& p, Row row) {
    const analysis::PointColumns& points = p.table().points();
    if (points.origin(row) == Provenance::extrapolated) return qtext(say::points_table::extrapolated_help{});
    if (!points.throttled(row)) return qtext(points.reason(row));
    return qtext(say::points_table::slowed{.reasons = describe_throttle_reasons(points.throttle_reasons(row))});
  };
  result.keys = keys_of_result;
  return result;
}

/// What is said of a point beside its setting and its values, with what tells it from others.
Column of_words(const Message& heading, const QString& key, const Message& help, QString (*text)(const PointSet&, Row),
                std::uint64_t (*told_by)(const PointSet&, Row)) {
  Column column{qtext(heading), key, qtext(help),
                [text](const PointSet& p, Row row) { return text_value(text(p, row)); }};
  column.keys = [told_by](const PointSet& p) -> Keys { return {[&p, told_by](Row row) { return told_by(p, row); }}; };
  return column;
}

QString run_of(const PointSet& p, Row row) {
  const RunInfo& run = *p.run_of(row);
  return qtext(
      say::points_table::run_on{.run = (run.title.isEmpty() ? run_title(run.summary) : run.title).toStdString(),
                                .device = device_title(run.summary).toStdString()});
}

/// Equal reasons are kept once: where it stands tells it from others.
std::uint64_t place_of_reason(const PointSet& p, Row row) {
  return std::bit_cast<std::uintptr_t>(&p.table().reason(row));
}

/// What came of the point.
std::vector<Column> outcome_columns() {
  namespace keys = metric_key;
  const auto key = [](const char* name) { return QString::fromLatin1(name); };
  std::vector<Column> columns{
      result_column(),
      of_metric(say::points_table::time{}, key("time"), say::points_table::time_help{}, keys::time_median_ns),
      of_metric(say::points_table::rate{}, key("rate"), say::points_table::rate_help{}, keys::tflops),
      of_traffic(say::points_table::dram{}, key("dram"), say::points_table::dram_help{}, Quantity::dram),
      of_traffic(say::points_table::sm_l2{}, key("sm_l2"), say::points_table::sm_l2_help{}, Quantity::sm_l2),
      of_metric(say::points_table::model{}, key("model"), say::points_table::model_help{}, keys::model_l2_sm_bytes),
      of_metric(say::points_table::over_model{}, key("over_model"), say::points_table::over_model_help{},
                keys::l2_sm_over_model),
      of_metric(say::points_table::occupancy{}, key("occupancy"), say::points_table::occupancy_help{},
                keys::achieved_occupancy_pct),
      of_metric(say::points_table::registers{}, key("registers"), say::points_table::registers_help{}, keys::registers),
      of_metric(say::points_table::shared{}, key("shared"), say::points_table::shared_help{}, keys::shared_bytes),
      of_words(
          say::points_table::values{}, key("values"), say::points_table::values_help{},
          [](const PointSet& p, Row row) { return to_qstring(p.table().points().origin(row)); },
          [](const PointSet& p, Row row) { return static_cast<std::uint64_t>(p.table().points().origin(row)); }),
      of_words(say::points_table::run{}, key("run"), say::points_table::run_help{}, run_of,
               [](const PointSet& p, Row row) { return std::uint64_t{p.table().run_index(row)}; }),
      of_words(
          say::points_table::reason{}, key("reason"), say::points_table::reason_help{},
          [](const PointSet& p, Row row) { return qtext(p.table().reason(row)); }, place_of_reason),
  };
  for (Column& column : columns) {
    if (column.metric == keys::l2_sm_over_model) {
      column.value = [](const PointSet& p, Row row) {
        Value value = metric(p, row, metric_key::l2_sm_over_model);
        if (!value.text.isEmpty()) value.text = QString::number(value.sort.toDouble(), 'f', 4);
        return value;
      };
    }
    if (column.metric == keys::registers) {
      column.value = [](const PointSet& p, Row row) {
        Value value = metric(p, row, metric_key::registers);
        value.text = value.text.section(QLatin1Char(' '), 0, 0);
        return value;
      };
    }
  }
  return columns;
}

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

/// What was asked for, as far as the setting speaks of it.
PointSpec spec_for(const PointSetting& setting, const PointSet& points, Row row) {
  return points.table().points().spec(row, setting.fields);
}

Keys keys_of(const PointSetting& setting, const PointSet& set) {
  const analysis::PointColumns& points = set.table().points();
  if (setting.fields.empty()) return {[&points](Row row) { return std::uint64_t{points.knobs().code(row)}; }};
  Keys keys;
  keys.reserve(setting.fields.size());
  for (const std::string_view name : setting.fields) {
    const analysis::FieldColumn* column = points.find_field(name);
    if (column != nullptr) keys.emplace_back([column](Row row) { return column->key(row); });
  }
  return keys;
}

/// Whether a point says what does not go without saying.
bool set_somewhere(const PointSetting& setting, const PointSet& set) {
  // Field by field, for of each there are few values.
  for (const auto& key : keys_of(setting, set)) {
    const Distinct values = tell_apart({key}, 0, set.size());
    if (std::ranges::any_of(values.example, [&](Row row) { return setting.is_set(spec_for(setting, set, row)); })) {
      return true;
    }
  }
  return false;
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
    column.in_use = [setting](const PointSet& points) { return set_somewhere(setting, points); };
  }
  column.keys = [setting](const PointSet& points) { return keys_of(setting, points); };
  return column;
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
QStringList distinct_texts(const Column& column, const PointSet& points, Row from) {
  QStringList texts;
  for (const Row row : tell_apart(column.keys(points), from, points.size()).example) {
    texts << column.value(points, row).text;
  }
  return texts;
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

PointsTableModel::PointsTableModel(QObject* parent) : PointsTableModel(built_in_algorithms(), parent) {}

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
      if (texts && column.metric.empty() && !now.texts.contains(column.key)) {
        now.texts[column.key] = distinct_texts(column, *now.points, 0);
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
  return column.value(*from.points, from.row).tip;
}

QStringList PointsTableModel::texts_of(int column, Row from) const {
  if (const QStringList* all = known(looked_.texts, column)) return *all;
  return distinct_texts(columns_[static_cast<std::size_t>(column)], *points_, from);
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
      if (spec.metric.empty()) return value.text;
      if (value.sort.isValid()) return QString::number(value.sort.toDouble(), 'g', QLocale::FloatingPointShortest);
      // What is not read yet is no missing value, and does not look like one.
      return source_of(spec, row).points == nullptr ? value.text : QString();
    }
    case Qt::TextAlignmentRole:
      if (!spec.metric.empty()) return QVariant::fromValue<Qt::Alignment>(Qt::AlignRight | Qt::AlignVCenter);
      return QVariant::fromValue<Qt::Alignment>((value_of_cell(spec, row).number ? Qt::AlignRight : Qt::AlignLeft) |
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
