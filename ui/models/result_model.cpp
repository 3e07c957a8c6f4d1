// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/result_model.h"

#include <QFont>
#include <QGuiApplication>
#include <numeric>
#include <utility>

#include "ui/text/format.h"
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

std::vector<std::vector<TextSample>> longest_texts(const analysis::Table& table, std::size_t rows) {
  // Measuring text is slow, so texts that are much shorter than the longest are skipped.
  constexpr qsizetype much = 4;
  std::vector<std::vector<TextSample>> samples;
  samples.reserve(table.columns.size());
  const std::size_t step = std::max<std::size_t>(1, table.rows / rows);
  for (const analysis::Column& column : table.columns) {
    std::vector<TextSample>& of_column = samples.emplace_back();
    qsizetype longest = 0;
    for (std::size_t at = 0; at < table.rows; at += step) {
      TextSample sample{to_qstring(column.cell(at).text), is_bold(table.tone_of(column, at))};
      if (sample.text.size() + much < longest || std::ranges::find(of_column, sample) != of_column.end()) continue;
      longest = std::max(longest, sample.text.size());
      of_column.push_back(std::move(sample));
    }
    std::erase_if(of_column, [&](const TextSample& sample) { return sample.text.size() + much < longest; });
  }
  return samples;
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
  const TablePtr before = std::exchange(table_, std::move(table));
  for (int column = 0; column < columnCount(); ++column) {
    const analysis::Column& was = before->columns[static_cast<std::size_t>(column)];
    const analysis::Column& now = table_->columns[static_cast<std::size_t>(column)];
    const auto tip = [](const analysis::Column& of, std::size_t row) { return of.tip ? of.tip(row) : std::string(); };
    for (std::size_t row = 0; row < table_->rows; ++row) {
      if (was.cell(row).text == now.cell(row).text && tip(was, row) == tip(now, row) &&
          before->tone_of(was, row) == table_->tone_of(now, row)) {
        continue;
      }
      const QModelIndex cell = index(row_of_line(static_cast<int>(row)), column);
      emit dataChanged(cell, cell);
    }
    if (was.title != now.title) emit headerDataChanged(Qt::Horizontal, column, column);
  }
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
  return cell(line_of(index.row()), index.column(), role);
}

QVariant ResultModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal || section < 0 || section >= columnCount()) return {};
  return header(section, role);
}

QVariant ResultModel::cell(int line, int column, int role) const {
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

QVariant ResultModel::header(int column, int role) const {
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

}  // namespace attnscope::ui
