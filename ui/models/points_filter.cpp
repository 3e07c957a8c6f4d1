// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/points_filter.h"

#include <QRegularExpression>
#include <algorithm>

namespace attnscope::ui {
namespace {

using Search = PointsTableModel::Search;

/// "4k" as 4096, "1M" as 1048576; other words as they are.
QString plain_number(const QString& word) {
  static const QRegularExpression with_suffix(QStringLiteral("^(\\d+)([kKM])$"));
  const auto match = with_suffix.match(word);
  if (!match.hasMatch()) return word;
  const qlonglong factor = match.captured(2) == QLatin1String("M") ? 1024 * 1024 : 1024;
  return QString::number(match.captured(1).toLongLong() * factor);
}

}  // namespace

PointsFilter::PointsFilter(PointsTableModel& model, QObject* parent) : QSortFilterProxyModel(parent), model_(model) {
  // Columns may be others after a reset: what a term and the order are about is known by key. Connected before the
  // base class is, which then filters by the columns that there are.
  connect(&model_, &QAbstractItemModel::modelAboutToBeReset, this,
          [this] { sorted_by_ = sortColumn() < 0 ? QString() : model_.key_of(sortColumn()); });
  connect(&model_, &QAbstractItemModel::modelReset, this, &PointsFilter::find_columns);
  setSourceModel(&model_);
  setSortRole(TableModel::sort_role);
  connect(&model_, &QAbstractItemModel::modelReset, this, [this] {
    if (sorted_by_.isEmpty()) return;
    const int column = model_.column_named(sorted_by_);
    if (column == sortColumn()) return;
    sort(column, sortOrder());
    emit sort_column_moved(column);
  });
}

void PointsFilter::set_words(const QString& text) {
  terms_.clear();
  for (const QString& word : text.split(QLatin1Char(' '), Qt::SkipEmptyParts)) terms_.push_back(parse(word));
  find_columns();
  invalidateFilter();
}

void PointsFilter::find_columns() {
  for (Term& term : terms_) term.column = term.name.isEmpty() ? -1 : model_.column_named(term.name);
}

PointsFilter::Term PointsFilter::parse(const QString& word) {
  static const QRegularExpression tile(QStringLiteral("^(\\d+)[x×](\\d+)$"));
  static const QRegularExpression number(QStringLiteral("^\\d+(\\.\\d+)?[kKM]?$"));
  static const QRegularExpression named(QStringLiteral("^([^=]+)=(.+)$"));
  if (const auto match = named.match(word); match.hasMatch()) {
    return {Term::Kind::named, plain_number(match.captured(2)), {}, match.captured(1)};
  }
  if (const auto match = tile.match(word); match.hasMatch()) {
    return {Term::Kind::tile, match.captured(1), match.captured(2)};
  }
  if (number.match(word).hasMatch()) return {Term::Kind::number, plain_number(word)};
  return {Term::Kind::text, word};
}

QString PointsFilter::text_at(int row, int column) const {
  return model_.index(row, column).data().toString();
}

bool PointsFilter::has_whole(int row, int column, const QString& value) const {
  static const QRegularExpression gap(QStringLiteral("[\\s,×]+"));
  const QString text = text_at(row, column);
  return text.compare(value, Qt::CaseInsensitive) == 0 ||
         text.split(gap, Qt::SkipEmptyParts).contains(value, Qt::CaseInsensitive);
}

bool PointsFilter::fits(const Term& term, int row) const {
  switch (term.kind) {
    case Term::Kind::named:
      return term.column >= 0 && has_whole(row, term.column, term.text);
    case Term::Kind::tile:
      return has_whole(row, model_.column_named(QStringLiteral("br")), term.text) &&
             has_whole(row, model_.column_named(QStringLiteral("bc")), term.second);
    case Term::Kind::number:
    case Term::Kind::text:
      break;
  }
  const bool number = term.kind == Term::Kind::number;
  for (int column = 0; column < model_.columnCount(); ++column) {
    if (model_.search_of(column) != (number ? Search::numbers : Search::words)) continue;
    if (number ? has_whole(row, column, term.text) : text_at(row, column).contains(term.text, Qt::CaseInsensitive)) {
      return true;
    }
  }
  return false;
}

bool PointsFilter::filterAcceptsRow(int row, const QModelIndex& /*parent*/) const {
  return std::all_of(terms_.begin(), terms_.end(), [&](const Term& term) { return fits(term, row); });
}

bool PointsFilter::lessThan(const QModelIndex& left, const QModelIndex& right) const {
  const bool left_has = left.data(sortRole()).isValid();
  const bool right_has = right.data(sortRole()).isValid();
  if (left_has && right_has) return QSortFilterProxyModel::lessThan(left, right);
  // Descending order asks with the sides exchanged.
  return sortOrder() == Qt::AscendingOrder ? left_has && !right_has : right_has && !left_has;
}

}  // namespace attnscope::ui
