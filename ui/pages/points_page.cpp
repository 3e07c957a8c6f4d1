// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/points_page.h"

#include <QApplication>
#include <QClipboard>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QShortcut>
#include <QSortFilterProxyModel>
#include <QVBoxLayout>
#include <algorithm>

namespace attnscope::ui {
namespace {

/// Every typed word must occur somewhere in the row: "fa2 causal 4096".
class WordsFilter : public QSortFilterProxyModel {
 public:
  using QSortFilterProxyModel::QSortFilterProxyModel;
  void set_words(const QString& text) {
    words_ = text.split(QLatin1Char(' '), Qt::SkipEmptyParts);
    invalidateFilter();
  }

 protected:
  [[nodiscard]] bool filterAcceptsRow(int row, const QModelIndex& parent) const override {
    return std::all_of(words_.begin(), words_.end(), [&](const QString& word) {
      for (int column = 0; column < sourceModel()->columnCount(); ++column) {
        const QString text = sourceModel()->index(row, column, parent).data().toString();
        if (text.contains(word, Qt::CaseInsensitive)) return true;
      }
      return false;
    });
  }

 private:
  QStringList words_;
};

}  // namespace

PointsPage::PointsPage(Workspace& workspace, QWidget* parent) : QWidget(parent), workspace_(workspace) {
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(10, 10, 10, 6);
  column->setSpacing(7);
  auto* row = new QHBoxLayout;
  search_ = new QLineEdit(this);
  search_->setPlaceholderText(tr("Filter, e.g. fa2 causal 4096"));
  search_->setClearButtonEnabled(true);
  search_->setAccessibleName(tr("Filter rows"));
  search_->setFixedWidth(300);
  count_ = new QLabel(this);
  row->addWidget(search_);
  row->addWidget(count_);
  row->addStretch(1);
  column->addLayout(row);

  auto* content = new QWidget(this);
  stack_ = new QStackedLayout(content);
  stack_->setContentsMargins(0, 0, 0, 0);
  model_ = new PointsTableModel(this);
  auto* words = new WordsFilter(this);
  proxy_ = words;
  proxy_->setSourceModel(model_);
  proxy_->setSortRole(TableModel::sort_role);
  table_ = new QTableView(content);
  table_->setModel(proxy_);
  table_->setSortingEnabled(true);
  table_->sortByColumn(-1, Qt::AscendingOrder);
  table_->setSelectionBehavior(QAbstractItemView::SelectRows);
  table_->setAlternatingRowColors(true);
  table_->setShowGrid(false);
  table_->setWordWrap(false);
  table_->setHorizontalScrollMode(QAbstractItemView::ScrollPerPixel);
  table_->verticalHeader()->hide();
  table_->verticalHeader()->setDefaultSectionSize(table_->fontMetrics().height() + 8);
  table_->horizontalHeader()->setHighlightSections(false);
  table_->horizontalHeader()->setStretchLastSection(true);
  table_->setAccessibleName(tr("Points"));
  empty_ = new EmptyState(content);
  empty_->set_message(tr("No points"), tr("Open a file or collect; then tick a run in the list on the left."));
  stack_->addWidget(table_);
  stack_->addWidget(empty_);
  column->addWidget(content, 1);

  connect(search_, &QLineEdit::textChanged, this, [this, words](const QString& text) {
    words->set_words(text);
    update_count();
  });
  connect(table_->selectionModel(), &QItemSelectionModel::currentRowChanged, this, [this](const QModelIndex& current) {
    if (current.isValid()) emit point_selected(model_->point(proxy_->mapToSource(current).row()));
  });
  auto* copy = new QShortcut(QKeySequence::Copy, table_, nullptr, nullptr, Qt::WidgetShortcut);
  connect(copy, &QShortcut::activated, this, &PointsPage::copy_selection);
  auto* find = new QShortcut(QKeySequence::Find, this, nullptr, nullptr, Qt::WidgetWithChildrenShortcut);
  connect(find, &QShortcut::activated, search_, qOverload<>(&QWidget::setFocus));
  connect(&workspace_, &Workspace::points_changed, this, [this] {
    stale_ = true;
    if (isVisible()) refresh();
  });
}

void PointsPage::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  if (stale_) refresh();
}

void PointsPage::refresh() {
  stale_ = false;
  model_->set_points(workspace_.visible_points());
  stack_->setCurrentWidget(model_->rowCount() > 0 ? static_cast<QWidget*>(table_) : empty_);
  for (int column = 0; column < model_->columnCount(); ++column) {
    const bool hidden = !model_->column_in_use(column);
    if (hidden == table_->isColumnHidden(column)) continue;
    table_->setColumnHidden(column, hidden);
    // A hidden column had no width to size.
    if (!hidden && sized_) table_->resizeColumnToContents(column);
  }
  if (!sized_ && model_->rowCount() > 0) {
    sized_ = true;
    // A sample of rows is enough to size columns by, and does not grow with the file.
    table_->horizontalHeader()->setResizeContentsPrecision(50);
    table_->resizeColumnsToContents();
  }
  update_count();
}

void PointsPage::update_count() {
  const int all = model_->rowCount();
  const int shown = proxy_->rowCount();
  count_->setText(shown == all ? tr("%1 points").arg(all) : tr("%1 of %2 points").arg(shown).arg(all));
}

void PointsPage::copy_selection() {
  QStringList lines;
  QStringList cells;
  for (int column = 0; column < proxy_->columnCount(); ++column) {
    if (!table_->isColumnHidden(column)) cells << proxy_->headerData(column, Qt::Horizontal).toString();
  }
  lines << cells.join(QLatin1Char('\t'));
  for (const QModelIndex& index : table_->selectionModel()->selectedRows()) {
    cells.clear();
    for (int column = 0; column < proxy_->columnCount(); ++column) {
      if (!table_->isColumnHidden(column)) cells << index.siblingAtColumn(column).data().toString();
    }
    lines << cells.join(QLatin1Char('\t'));
  }
  QApplication::clipboard()->setText(lines.join(QLatin1Char('\n')));
}

}  // namespace attnscope::ui
