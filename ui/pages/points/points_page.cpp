// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/points/points_page.h"

#include <QHeaderView>
#include <QMenu>
#include <QScopedValueRollback>
#include <QSignalBlocker>
#include <QVBoxLayout>
#include <algorithm>
#include <utility>

#include "messages/points_table.h"
#include "ui/text/format.h"
#include "ui/text/qtext.h"
#include "ui/widgets/persistent_menu.h"

namespace attnscope::ui {
namespace {

constexpr int cell_padding = 16;    ///< Horizontal padding of a cell.
constexpr int header_padding = 12;  ///< Horizontal padding of a heading.
constexpr int arrow_room = 12;      ///< Room for the sort arrow.
constexpr int max_text_chars = 20;  ///< Longer masks and names are cut.
constexpr int max_setting_width = 340;

}  // namespace

PointsPage::PointsPage(Workspace& workspace, QWidget* parent)
    : Page(parent),
      workspace_(workspace),
      found_([](const TableRequest& asked, const StaleCheck& /*outdated*/) { return find(asked); },
             [this](FindResult found) { apply_result(std::move(found)); }) {
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(10, 10, 10, 6);
  column->setSpacing(7);
  add_table();
  register_order();
  watch(found_);
  follow_visible_points(workspace_);
  refresh();
}

PointsPage::~PointsPage() {
  table_->horizontalHeader()->disconnect(this);  // The header emits sectionResized() during destruction.
}

void PointsPage::add_table() {
  model_ = new PointsTableModel(this);
  table_ = new PlainTable(model_, qtext(msg::points_table::name{}), this);
  table_->setSortingEnabled(true);
  table_->sortByColumn(-1, Qt::AscendingOrder);
  table_->setHorizontalScrollMode(QAbstractItemView::ScrollPerPixel);
  table_->horizontalHeader()->setStretchLastSection(true);
  auto& column = static_cast<QVBoxLayout&>(*layout());
  add_content(column, table_, workspace_);
  common_ = new ElidedLabel(this);
  common_->setObjectName(QStringLiteral("common"));
  common_->hide();
  column.addWidget(common_);

  connect(table_->selectionModel(), &QItemSelectionModel::currentRowChanged, this, [this](const QModelIndex& current) {
    if (current.isValid()) emit_selected(model_->point(current.row()));
  });
  connect(table_->horizontalHeader(), &QHeaderView::sortIndicatorChanged, this, &PointsPage::sort_by);
  connect(table_->horizontalHeader(), &QHeaderView::sectionResized, this, [this](int section) {
    if (!sizing_) sized_by_user_.insert(model_->key_of(section));
  });
}

void PointsPage::sort_by(int column, Qt::SortOrder order) {
  sorted_by_ = column < 0 ? QString() : model_->key_of(column);
  order_ = order;
  if (column >= 0 && !sized_by_user_.contains(sorted_by_)) {
    const QScopedValueRollback sizing(sizing_, true);
    const int heading = table_->fontMetrics().horizontalAdvance(heading_of(column)) + header_padding + arrow_room;
    table_->setColumnWidth(column, std::max(table_->columnWidth(column), heading));
  }
  refresh();
}

std::vector<std::pair<QString, QString>> PointsPage::shortcuts() const {
  return {{QStringLiteral("Ctrl+C"), qtext(msg::points_table::key_copy{})}};
}

void PointsPage::register_order() {
  choices().add("hidden_columns", hidden_);
  choices().add("shown_columns", shown_);
  choices().add(
      [this](QJsonObject& state) {
        if (sorted_by_.isEmpty()) return;
        state[QStringLiteral("sorted_by")] = sorted_by_;
        state[QStringLiteral("descending")] = order_ == Qt::DescendingOrder;
      },
      [this](const QJsonObject& state) {
        hide_columns();
        if (!state.contains(QStringLiteral("sorted_by"))) return;
        sorted_by_ = state[QStringLiteral("sorted_by")].toString();
        order_ = state[QStringLiteral("descending")].toBool() ? Qt::DescendingOrder : Qt::AscendingOrder;
        refresh();
      });
}

void PointsPage::reset_choices() {
  hidden_.clear();
  shown_.clear();
  sized_by_user_.clear();
  sorted_by_.clear();
  order_ = Qt::AscendingOrder;
  widths_.clear();
  refresh();
}

void PointsPage::refresh() {
  if (workspace_.is_gathering()) return found_.discard();  // points_changed() will call refresh() again.
  const std::shared_ptr<const PointSet> points = workspace_.visible();
  found_.request({.points = points, .known = model_->contents(), .sorted_by = sorted_by_, .order = order_},
                 points->size());
}

PointsPage::FindResult PointsPage::find(const TableRequest& asked) {
  FindResult found{.contents = asked.known->points == asked.points ? asked.known : points_table(asked.points),
                   .rows = {}};
  const analysis::Table& table = found.contents->table;
  const int column = find_column_index(table, asked.sorted_by);
  if (column >= 0) {
    found.rows = table.ordered(static_cast<std::size_t>(column), asked.order == Qt::DescendingOrder);
  }
  return found;
}

void PointsPage::apply_result(FindResult found) {
  if (workspace_.is_gathering()) return;  // The result is outdated; points_changed() will request a new one.
  model_->set_contents(std::move(found.contents), std::move(found.rows));
  {
    const QSignalBlocker quiet(table_->horizontalHeader());  // The table is already sorted.
    table_->horizontalHeader()->setSortIndicator(model_->find_column_index(sorted_by_), order_);
  }
  hide_columns();
  size_columns();
  model_->rowCount() > 0 ? show_content() : show_text(no_points_text(workspace_));
}

void PointsPage::hide_columns() {
  const QScopedValueRollback sizing(sizing_, true);
  QStringList common;
  for (int column = 0; column < model_->columnCount(); ++column) {
    const QString key = model_->key_of(column);
    const PointsTable::ColumnInfo& facts = model_->facts(column);
    const bool used = facts.in_use && !hidden_.contains(key);
    const bool folded = used && column > 0 && !shown_.contains(key) && !facts.varies;
    table_->fold_column(column, folded);
    if (!used) table_->setColumnHidden(column, true);
    if (folded && !facts.longest.isEmpty()) {
      common << QStringLiteral("%1 %2").arg(heading_of(column), facts.longest);
    }
  }
  common_->setVisible(!common.isEmpty());
  common_->setText(qtext(msg::points_table::common{.settings = common.join(QStringLiteral(" · ")).toStdString()}));
  common_->setToolTip(plain_tooltip(common_->text()));
}

QString PointsPage::heading_of(int column) const {
  return model_->headerData(column, Qt::Horizontal, Qt::DisplayRole).toString();
}

void PointsPage::fill_menu(QMenu& menu) {
  auto* columns = new PersistentMenu(&menu);
  columns->setTitle(qtext(msg::points_table::columns{}));
  for (int column = 1; column < model_->columnCount(); ++column) {  // The first column names the row.
    if (!model_->facts(column).in_use) continue;
    const QString key = model_->key_of(column);
    QAction* shown = columns->addAction(heading_of(column).replace(u'&', QStringLiteral("&&")));
    shown->setCheckable(true);
    shown->setChecked(!table_->isColumnHidden(column));
    connect(shown, &QAction::toggled, this, [this, key](bool on) {
      (on ? hidden_ : shown_).erase(key);
      (on ? shown_ : hidden_).insert(key);
      hide_columns();
    });
  }
  menu.addMenu(columns);
}

bool PointsPage::show_mark(const ShownPoint& point, bool moves) {
  const std::optional<int> row = model_->row_of(point);
  if (!row) return false;
  // New rows must not scroll the table or change its selection.
  if (!moves && table_->selectionModel()->hasSelection()) return table_->currentIndex().row() == *row;
  table_->select_only_row(*row);
  if (moves) table_->scrollTo(model_->index(*row, std::max(0, table_->columnAt(0))));
  return true;
}

void PointsPage::size_columns() {
  const QFontMetrics metrics = table_->fontMetrics();
  const QScopedValueRollback sizing(sizing_, true);
  for (int column = 0; column < model_->columnCount(); ++column) {
    const QString longest = model_->facts(column).longest;
    // Texts may be cut, numbers not.
    const bool word =
        column < model_->find_column_index(result_key) && !longest.isEmpty() && !longest.front().isDigit();
    const int text = metrics.horizontalAdvance(longest);
    const int needed = word ? std::min(text, metrics.averageCharWidth() * max_text_chars) : text;
    int& width = widths_[model_->key_of(column)];
    width = std::max({width, needed + cell_padding, metrics.horizontalAdvance(heading_of(column)) + header_padding});
    if (!sized_by_user_.contains(model_->key_of(column)))
      table_->setColumnWidth(column, std::min(width, max_setting_width));
  }
}

}  // namespace attnscope::ui
