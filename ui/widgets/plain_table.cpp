// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/widgets/plain_table.h"

#include <QEvent>
#include <QHeaderView>
#include <QItemSelectionModel>
#include <algorithm>

#include "ui/widgets/plain_cells.h"
#include "ui/widgets/scrolled.h"

namespace attnscope::ui {
namespace {

int row_height(const QTableView& table) {
  constexpr int margin = 6;
  return table.fontMetrics().height() + margin;
}

}  // namespace

PlainTable::PlainTable(QAbstractItemModel* model, const QString& name, QWidget* parent) : QTableView(parent) {
  setModel(model);
  setItemDelegate(new PlainCells(this));
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

void PlainTable::choose_row(int row) {
  selectionModel()->setCurrentIndex(model()->index(row, std::max(0, columnAt(0))),
                                    QItemSelectionModel::ClearAndSelect | QItemSelectionModel::Rows);
}

QScrollArea* scrolled(QWidget* shown, QWidget* plot, QWidget* parent) {
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
