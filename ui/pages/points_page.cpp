// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/points_page.h"

#include <QApplication>
#include <QClipboard>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QScopedValueRollback>
#include <QShortcut>
#include <QVBoxLayout>
#include <algorithm>

#include "messages/empty_page.h"
#include "messages/points_table.h"
#include "ui/format.h"
#include "ui/said.h"

namespace attnscope::ui {
namespace {

constexpr int cell_padding = 16;    ///< around a cell's text, both sides
constexpr int header_padding = 24;  ///< around a heading's, with the arrow that says how the table is sorted
constexpr int widest_column = 340;
/// Rows whose values are looked at for the width of a column that computes them: their texts have three digits, and are
/// of a length.
constexpr int sampled_rows = 200;

}  // namespace

PointsPage::PointsPage(Workspace& workspace, QWidget* parent) : Page(parent), workspace_(workspace) {
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(10, 10, 10, 6);
  column->setSpacing(7);
  add_search();
  add_table();
  add_keys();
  connect(&workspace_, &Workspace::points_changed, this, [this] {
    stale_ = true;
    if (isVisible()) refresh();
  });
}

void PointsPage::add_search() {
  auto* row = new QHBoxLayout;
  search_ = new QLineEdit(this);
  search_->setPlaceholderText(said(say::points_table::filter_hint{}));
  search_->setToolTip(said(say::points_table::filter_help{}));
  search_->setClearButtonEnabled(true);
  search_->setAccessibleName(said(say::points_table::filter_name{}));
  search_->setMinimumWidth(200);
  search_->setMaximumWidth(360);
  count_ = new QLabel(this);
  row->addWidget(search_, 1);
  row->addWidget(count_);
  row->addStretch(1);
  static_cast<QVBoxLayout*>(layout())->addLayout(row);
}

void PointsPage::add_table() {
  auto* content = new QWidget(this);
  stack_ = new QStackedLayout(content);
  stack_->setContentsMargins(0, 0, 0, 0);
  model_ = new PointsTableModel(this);
  filter_ = new PointsFilter(*model_, this);
  table_ = new QTableView(content);
  table_->setModel(filter_);
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
  table_->setAccessibleName(said(say::points_table::name{}));
  empty_ = new EmptyState(content);
  stack_->addWidget(table_);
  stack_->addWidget(empty_);
  static_cast<QVBoxLayout*>(layout())->addWidget(content, 1);

  connect(table_->selectionModel(), &QItemSelectionModel::currentRowChanged, this, [this](const QModelIndex& current) {
    if (current.isValid()) emit point_selected(model_->point(filter_->mapToSource(current).row()));
  });
  // The heading with the arrow follows; setting it would sort again.
  connect(filter_, &PointsFilter::sort_column_moved, this, [this](int column) {
    const QSignalBlocker quiet(table_->horizontalHeader());
    table_->horizontalHeader()->setSortIndicator(column, filter_->sortOrder());
  });
  connect(table_->horizontalHeader(), &QHeaderView::sectionResized, this, [this](int column) {
    if (!sizing_) sized_by_hand_.insert(column);
  });
  // Rows that go begin anew: the widest may be among them. Other columns are not those that were sized by hand.
  connect(model_, &QAbstractItemModel::modelReset, this, [this] {
    sized_rows_ = 0;
    if (content_width_.size() != static_cast<std::size_t>(model_->columnCount())) sized_by_hand_.clear();
  });
}

void PointsPage::add_keys() {
  connect(search_, &QLineEdit::textChanged, this, [this](const QString& text) {
    filter_->set_words(text);
    show_rows();
    emit filter_changed();
  });
  connect(empty_, &QLabel::linkActivated, search_, &QLineEdit::clear);  // its only one
  auto* copy = new QShortcut(QKeySequence::Copy, table_, nullptr, nullptr, Qt::WidgetShortcut);
  connect(copy, &QShortcut::activated, this, [this] { QApplication::clipboard()->setText(selection_as_text()); });
  auto* find = new QShortcut(QKeySequence::Find, this, nullptr, nullptr, Qt::WidgetWithChildrenShortcut);
  connect(find, &QShortcut::activated, search_, qOverload<>(&QWidget::setFocus));
}

std::vector<std::pair<QString, QString>> PointsPage::shortcuts() const {
  return {{QStringLiteral("Ctrl+F, Ctrl+C"), said(say::points_table::key_filter_copy{})}};
}

QString PointsPage::title() const {
  return said(say::points_table::title{});
}

QJsonObject PointsPage::state() const {
  const QHeaderView& header = *table_->horizontalHeader();
  QJsonObject state{{QStringLiteral("filter"), search_->text()}};
  const int column = header.sortIndicatorSection();
  if (column >= 0 && column < model_->columnCount()) {
    state[QStringLiteral("sorted_by")] = model_->key_of(column);
    state[QStringLiteral("descending")] = header.sortIndicatorOrder() == Qt::DescendingOrder;
  }
  return state;
}

void PointsPage::restore(const QJsonObject& state) {
  search_->setText(state[QStringLiteral("filter")].toString(search_->text()));
  const int column = model_->column_named(state[QStringLiteral("sorted_by")].toString());
  if (column < 0) return;
  table_->sortByColumn(column, state[QStringLiteral("descending")].toBool() ? Qt::DescendingOrder : Qt::AscendingOrder);
}

void PointsPage::showEvent(QShowEvent* event) {
  Page::showEvent(event);
  if (stale_) refresh();
}

void PointsPage::refresh() {
  stale_ = false;
  model_->set_points(workspace_.visible());
  for (int column = 0; column < model_->columnCount(); ++column) {
    table_->setColumnHidden(column, !model_->column_in_use(column));
  }
  size_columns();
  show_rows();
}

void PointsPage::show_rows() {
  update_count();
  if (filter_->rowCount() > 0) {
    stack_->setCurrentWidget(table_);
    return;
  }
  const auto points = static_cast<std::size_t>(model_->rowCount());
  if (points == 0) {
    empty_->set_words(why_no_points(workspace_));
  } else {
    const QString words = shortened(search_->text().trimmed(), 60).toHtmlEscaped();
    empty_->set_words({said(say::empty_page::all_filtered{.points = counted_points(points)}),
                       said(say::empty_page::all_filtered_help{.filter = words.toStdString()})});
  }
  stack_->setCurrentWidget(empty_);
}

std::optional<FilteredPoints> PointsPage::filtered_points() {
  if (search_->text().trimmed().isEmpty()) return {};
  if (stale_) refresh();
  FilteredPoints left{model_->points(), {}, search_->text().trimmed()};
  for (int row = 0; row < filter_->rowCount(); ++row) {
    left.rows.push_back(static_cast<Row>(filter_->mapToSource(filter_->index(row, 0)).row()));
  }
  return left;
}

void PointsPage::size_columns() {
  const int rows = model_->rowCount();
  const int columns = model_->columnCount();
  if (rows == sized_rows_) return;
  const QFontMetrics metrics = table_->fontMetrics();
  if (sized_rows_ == 0) {
    content_width_.assign(static_cast<std::size_t>(columns), 0);
    for (int column = 0; column < columns; ++column) {
      const QString heading = model_->headerData(column, Qt::Horizontal, Qt::DisplayRole).toString();
      content_width_[static_cast<std::size_t>(column)] = metrics.horizontalAdvance(heading) + header_padding;
    }
  }
  const QScopedValueRollback sizing(sizing_, true);
  for (int column = 0; column < columns; ++column) {
    const int step = model_->is_setting(column) ? 1 : std::max(1, (rows - sized_rows_) / sampled_rows);
    qsizetype longest = 0;
    int& width = content_width_[static_cast<std::size_t>(column)];
    for (int row = sized_rows_; row < rows; row += step) {
      const QString text = model_->index(row, column).data().toString();
      // Measuring costs more than reading: a shorter text is hardly ever wider.
      if (text.size() < longest) continue;
      longest = text.size();
      width = std::max(width, metrics.horizontalAdvance(text) + cell_padding);
    }
    if (!sized_by_hand_.contains(column)) table_->setColumnWidth(column, std::min(width, widest_column));
  }
  sized_rows_ = rows;
}

void PointsPage::update_count() {
  const int all = model_->rowCount();
  const int shown = filter_->rowCount();
  count_->setText(shown == all ? said(counted_points(static_cast<std::size_t>(all)))
                               : said(say::points_table::shown{.shown = shown, .all = all}));
}

QString PointsPage::selection_as_text() const {
  QList<int> columns;
  for (int column = 0; column < filter_->columnCount(); ++column) {
    if (!table_->isColumnHidden(column)) columns << column;
  }
  QStringList lines;
  const auto add_line = [&](auto text_of) {
    QStringList cells;
    for (const int column : columns) cells << text_of(column).toString();
    lines << cells.join(QLatin1Char('\t'));
  };
  add_line([this](int column) { return filter_->headerData(column, Qt::Horizontal, PointsTableModel::copy_role); });
  QModelIndexList rows = table_->selectionModel()->selectedRows();
  std::sort(rows.begin(), rows.end(), [](const QModelIndex& a, const QModelIndex& b) { return a.row() < b.row(); });
  for (const QModelIndex& row : rows) {
    add_line([&](int column) { return row.siblingAtColumn(column).data(PointsTableModel::copy_role); });
  }
  return lines.join(QLatin1Char('\n'));
}

}  // namespace attnscope::ui
