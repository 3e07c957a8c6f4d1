// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/widgets/plain_table.h"

#include <QClipboard>
#include <QEvent>
#include <QGuiApplication>
#include <QHeaderView>
#include <QItemSelectionModel>
#include <QKeyEvent>
#include <algorithm>

namespace attnscope::ui {
namespace {

int row_height(const QTableView& table) {
  constexpr int margin = 6;
  return table.fontMetrics().height() + margin;
}

}  // namespace

PlainTable::PlainTable(QAbstractItemModel* model, const QString& name, QWidget* parent) : QTableView(parent) {
  setModel(model);
  setAccessibleName(name);
  setSelectionBehavior(QAbstractItemView::SelectRows);
  setAlternatingRowColors(true);
  setShowGrid(false);
  setWordWrap(false);
  setTabKeyNavigation(false);
  verticalHeader()->hide();
  verticalHeader()->setDefaultSectionSize(row_height(*this));
  horizontalHeader()->setHighlightSections(false);
}

void PlainTable::select_only_row(int row) {
  selectionModel()->setCurrentIndex(model()->index(row, std::max(0, columnAt(0))),
                                    QItemSelectionModel::ClearAndSelect | QItemSelectionModel::Rows);
}

void PlainTable::fold_column(int column, bool folded) {
  folded ? static_cast<void>(folded_.insert(column)) : static_cast<void>(folded_.erase(column));
  setColumnHidden(column, folded);
}

ShownValues PlainTable::values(const std::function<bool(int row)>& wanted) const {
  QList<int> columns;
  for (int column = 0; column < model()->columnCount(); ++column) {
    if (!isColumnHidden(column) || folded_.contains(column)) columns << column;
  }
  const auto line_of = [&](auto said) {
    QStringList line;
    for (const int column : columns) {
      const QVariant copied = said(column, copy_role);
      line << (copied.isValid() ? copied : said(column, Qt::DisplayRole)).toString();
    }
    return line;
  };
  ShownValues values{
      .keys = line_of([this](int column, int role) { return model()->headerData(column, Qt::Horizontal, role); })};
  for (int row = 0; row < model()->rowCount(); ++row) {
    if (wanted && !wanted(row)) continue;
    values.lines.push_back(line_of([&](int column, int role) { return model()->index(row, column).data(role); }));
  }
  return values;
}

ShownValues PlainTable::selected_values() const {
  return values([this](int row) { return selectionModel()->isRowSelected(row, {}); });
}

void PlainTable::keyPressEvent(QKeyEvent* event) {
  if (!event->matches(QKeySequence::Copy)) return QTableView::keyPressEvent(event);
  if (selectionModel()->hasSelection()) QGuiApplication::clipboard()->setText(to_tsv(selected_values()));
}

QScrollArea* make_scroll_area(QWidget* shown, QWidget* plot, QWidget* parent) {
  constexpr int axes = 300;
  constexpr int title_labels_legend = 130;
  plot->setMinimumHeight(axes + title_labels_legend);
  auto* area = new QScrollArea(parent);
  area->setFrameShape(QFrame::NoFrame);
  area->setWidgetResizable(true);
  area->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  area->setFocusPolicy(Qt::NoFocus);
  area->setWidget(shown);
  return area;
}

void PlainTable::changeEvent(QEvent* event) {
  QTableView::changeEvent(event);
  if (event->type() == QEvent::FontChange) verticalHeader()->setDefaultSectionSize(row_height(*this));
}

}  // namespace attnscope::ui
