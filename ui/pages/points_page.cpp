// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/points_page.h"

#include <QHeaderView>
#include <QJsonArray>
#include <QMenu>
#include <QScopedValueRollback>
#include <QVBoxLayout>
#include <algorithm>

#include "messages/points_table.h"
#include "ui/models/points_table_columns.h"
#include "ui/text/format.h"
#include "ui/text/qtext.h"
#include "ui/widgets/findable_menu.h"
#include "ui/widgets/plain_table.h"
#include "ui/widgets/staying_menu.h"

namespace attnscope::ui {
namespace {

constexpr int cell_padding = 16;       ///< around a cell's text, both sides
constexpr int header_padding = 12;     ///< around a heading's
constexpr int arrow_room = 12;         ///< beside it, for the arrow that says how the table is sorted
constexpr int longest_mask_word = 12;  ///< letters: a mask may be as long as a sentence, and mostly is one word
constexpr int widest_column = 340;
/// Rows whose values are looked at for the width of a column that computes them: their texts have three digits, and are
/// of a length.
constexpr Row sampled_rows = 200;

}  // namespace

PointsPage::PointsPage(Workspace& workspace, QWidget* parent)
    : Page(parent),
      workspace_(workspace),
      found_([](const Asked& asked, const Outdated& /*outdated*/) { return find(asked); },
             [this](Found found) { show_found(std::move(found)); }) {
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(10, 10, 10, 6);
  column->setSpacing(7);
  add_table();
  keep_order();
  watch(found_);
  wait_for(order_->work());
  keep_up_with(workspace_);
  connect(&workspace_, &Workspace::listing_changed, this, [this] {
    if (workspace_.gathering()) return;  // points_changed() follows
    if (lists_more() || model_->lists() || found_.busy()) fall_behind();
  });
  connect(model_, &PointsTableModel::order_wanted, this, [this] {
    looks_at_.reset();
    fall_behind();
  });
  connect(&model_->pages(), &PointPages::failed, this, [this](const RunPtr& run, const QString& why, bool replaced) {
    if (replaced) {
      workspace_.read_anew(*run);
    } else {
      listed_->setText(qtext("Values cannot be read now: {}", why.toStdString()));
    }
  });
  refresh();
}

void PointsPage::add_table() {
  auto* content = new QWidget(this);
  stack_ = new QStackedLayout(content);
  stack_->setContentsMargins(0, 0, 0, 0);
  model_ = new PointsTableModel(this);
  order_ = new PointsOrder(*model_, this);
  table_ = new PlainTable(order_, qtext(say::points_table::name{}), content);
  table_->setSortingEnabled(true);
  table_->sortByColumn(-1, Qt::AscendingOrder);
  table_->setHorizontalScrollMode(QAbstractItemView::ScrollPerPixel);
  table_->horizontalHeader()->setStretchLastSection(true);
  empty_ = new EmptyState(content, &workspace_);
  stack_->addWidget(table_);
  stack_->addWidget(empty_);
  listed_ = new QLabel(this);
  listed_->setTextFormat(Qt::PlainText);
  listed_->setWordWrap(true);
  listed_->hide();
  static_cast<QVBoxLayout*>(layout())->addWidget(listed_);
  static_cast<QVBoxLayout*>(layout())->addWidget(content, 1);
  common_ = new ElidedLabel(this);
  common_->hide();
  static_cast<QVBoxLayout*>(layout())->addWidget(common_);

  connect(table_->selectionModel(), &QItemSelectionModel::currentRowChanged, this, [this](const QModelIndex& current) {
    if (current.isValid()) tell_selected(model_->point(order_->mapToSource(current).row()));
  });
  // The heading with the arrow follows; setting it would sort again.
  connect(order_, &PointsOrder::sort_column_moved, this, [this](int column) {
    const QSignalBlocker quiet(table_->horizontalHeader());
    table_->horizontalHeader()->setSortIndicator(column, order_->sortOrder());
  });
  connect(table_->horizontalHeader(), &QHeaderView::sortIndicatorChanged, this, [this](int column) {
    if (column < 0 || sized_by_hand_.contains(column)) return;
    const QScopedValueRollback sizing(sizing_, true);
    const int heading = table_->fontMetrics().horizontalAdvance(heading_of(column)) + header_padding + arrow_room;
    table_->setColumnWidth(column, std::max(table_->columnWidth(column), heading));
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

std::vector<std::pair<QString, QString>> PointsPage::shortcuts() const {
  return {{QStringLiteral("Ctrl+C"), qtext(say::points_table::key_copy{})}};
}

void PointsPage::keep_order() {
  const auto save = [this](QJsonObject& state) {
    const auto keys = [](const std::set<QString>& of) {
      return QJsonArray::fromStringList(QStringList(of.begin(), of.end()));
    };
    state[QStringLiteral("hidden_columns")] = keys(hidden_);
    state[QStringLiteral("shown_columns")] = keys(shown_);
    const QHeaderView& header = *table_->horizontalHeader();
    const int column = header.sortIndicatorSection();
    if (column < 0 || column >= model_->columnCount()) return;
    state[QStringLiteral("sorted_by")] = model_->key_of(column);
    state[QStringLiteral("descending")] = header.sortIndicatorOrder() == Qt::DescendingOrder;
  };
  const auto restore = [this](const QJsonObject& state) {
    const auto take = [&](const QString& name, std::set<QString>& into) {
      if (!state[name].isArray()) return;
      into.clear();
      for (const auto& key : state[name].toArray()) into.insert(key.toString());
    };
    take(QStringLiteral("hidden_columns"), hidden_);
    take(QStringLiteral("shown_columns"), shown_);
    hide_columns();
    const int column = model_->column_named(state[QStringLiteral("sorted_by")].toString());
    if (column < 0) return;
    const bool descending = state[QStringLiteral("descending")].toBool();
    table_->sortByColumn(column, descending ? Qt::DescendingOrder : Qt::AscendingOrder);
  };
  choices().keep(save, restore);
}

void PointsPage::refresh() {
  if (workspace_.gathering()) return found_.drop();  // points_changed() follows
  const std::shared_ptr<const PointSet> points = workspace_.visible();
  if (lists_more()) return refresh_listing();
  looks_at_.reset();
  // In their order from the first moment on.
  const bool all_shown = workspace_.query().isEmpty();
  found_.ask({.prepared = {.points = points, .by = order_->sorted_by(), .order = order_->sortOrder(), .rows = {}},
              .ordering = order_->ordering_of(points),
              .look = model_->look(points, all_shown && wants_texts(points))},
             points->size());
}

PointsPage::Found PointsPage::find(const Asked& asked) {
  Found found{.asked = asked};
  if (asked.look) found.looked = asked.look();
  if (asked.ordering) found.asked.prepared.rows = asked.ordering();
  return found;
}

void PointsPage::show_found(Found found) {
  looks_at_.reset();
  if (workspace_.gathering()) return;  // of another filter by now; points_changed() follows
  if (found.looked) model_->know(std::move(*found.looked));
  if (const std::shared_ptr<const Listing>& listing = found.asked.listing) {
    model_->set_listing(listing);
    listed_->setText(qtext(say::points_table::listed{
        .points = listing->rows.size(), .loaded = workspace_.visible()->size(), .most = workspace_.most_loaded()}));
  } else {
    order_->set_points(std::move(found.asked.prepared));
  }
  show_points();
}

void PointsPage::refresh_listing() {
  const std::shared_ptr<const Listing> listing = workspace_.listing();
  if (model_->shows(listing)) return found_.ask({.listing = listing}, 0);
  if (looks_at_ == listing && found_.busy()) return;
  looks_at_ = listing;
  found_.ask({.look = model_->look(listing, wants_texts(listing->points)), .listing = listing},
             listing->points->size());
}

bool PointsPage::wants_texts(const std::shared_ptr<const PointSet>& all) const {
  return all != sized_of_.lock();
}

void PointsPage::show_points() {
  if (const QString& error = workspace_.selection_error(); !error.isEmpty()) {
    listed_->setText(
        qtext("These points alone are loaded; the others could not be looked through: {} Another filter tries again.",
              error.toStdString()));
  }
  listed_->setVisible(model_->lists() || !workspace_.selection_error().isEmpty());
  hide_columns();
  size_columns();
  show_rows();
}

void PointsPage::hide_columns() {
  QStringList common;
  for (int column = 0; column < model_->columnCount(); ++column) {
    const QString key = model_->key_of(column);
    const bool used = model_->column_in_use(column) && !hidden_.contains(key);
    const bool folded = used && column > 0 && !shown_.contains(key) && !model_->column_varies(column);
    table_->fold_column(column, folded);
    if (!used) table_->setColumnHidden(column, true);
    const QString text = folded ? model_->text_of(column, *model_->points(), 0) : QString();
    if (!text.isEmpty()) common << QStringLiteral("%1 %2").arg(heading_of(column), text);
  }
  common_->setVisible(!common.isEmpty());
  common_->setText(qtext(say::points_table::common{.settings = common.join(QStringLiteral(" · ")).toStdString()}));
  common_->setToolTip(plain_tip(common_->text()));
}

QString PointsPage::heading_of(int column) const {
  return model_->headerData(column, Qt::Horizontal, Qt::DisplayRole).toString();
}

void PointsPage::fill_menu(QMenu& menu) {
  auto* columns = new StayingMenu(&menu);
  columns->setTitle(qtext(say::points_table::columns{}));
  for (int column = 1; column < model_->columnCount(); ++column) {  // the first one names the row
    if (!model_->column_in_use(column)) continue;
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
  make_findable(*columns);
  menu.addMenu(columns);
}

bool PointsPage::lists_more() const {
  return workspace_.listing() != nullptr && workspace_.listing()->rows.size() > workspace_.visible()->size();
}

bool PointsPage::show_mark(const ShownPoint& point, bool moves) {
  const std::optional<int> row = model_->row_of(point);
  if (!row) return false;
  const QModelIndex index = order_->mapFromSource(model_->index(*row, 0));
  if (!index.isValid()) return false;
  // Rows that come while somebody reads leave the table, and what is selected in it, where they are.
  if (!moves && table_->selectionModel()->hasSelection()) return table_->currentIndex().row() == index.row();
  table_->choose_row(index.row());
  if (moves) table_->scrollTo(index.siblingAtColumn(std::max(0, table_->columnAt(0))));
  return true;
}

void PointsPage::show_rows() {
  if (model_->rowCount() > 0) return stack_->setCurrentWidget(table_);
  empty_->set_words(why_no_points(workspace_));
  stack_->setCurrentWidget(empty_);
}

void PointsPage::size_columns() {
  const int rows = model_->lists() ? static_cast<int>(model_->points()->size()) : model_->rowCount();
  const int columns = model_->columnCount();
  const bool all_shown = model_->lists() || workspace_.query().isEmpty();
  const std::shared_ptr<const PointSet> all = model_->lists() ? model_->points() : workspace_.ticked();
  // A filter leaves some of what was looked at.
  if (all == sized_of_.lock() && content_width_.size() == static_cast<std::size_t>(columns)) {
    if (all_shown) sized_rows_ = rows;
    return;
  }
  if (rows == sized_rows_) return;
  const QFontMetrics metrics = table_->fontMetrics();
  const bool widens = model_->lists() && content_width_.size() == static_cast<std::size_t>(columns);
  if (sized_rows_ == 0 && !widens) {
    content_width_.assign(static_cast<std::size_t>(columns), 0);
    for (int column = 0; column < columns; ++column) {
      content_width_[static_cast<std::size_t>(column)] = metrics.horizontalAdvance(heading_of(column)) + header_padding;
    }
  }
  const QScopedValueRollback sizing(sizing_, true);
  for (int column = 0; column < columns; ++column) {
    qsizetype longest = 0;
    int& width = content_width_[static_cast<std::size_t>(column)];
    const auto make_room = [&](const QString& text) {
      // Measuring costs more than reading: a shorter text is hardly ever wider.
      if (text.size() < longest) return;
      longest = text.size();
      // Words of a setting may be cut, a number never.
      const bool word = column < model_->column_named(result_key) && !text.isEmpty() && !text.front().isDigit();
      const int needed = word
                             ? std::min(metrics.horizontalAdvance(text), metrics.averageCharWidth() * longest_mask_word)
                             : metrics.horizontalAdvance(text);
      width = std::max(width, needed + cell_padding);
    };
    if (model_->is_setting(column)) {
      for (const QString& text : model_->texts_of(column, static_cast<Row>(sized_rows_))) make_room(text);
    } else {
      // Of what is listed without values those that are in memory have to do.
      const std::shared_ptr<const PointSet> there = model_->lists() ? workspace_.visible() : model_->points();
      const Row first = model_->lists() ? 0 : static_cast<Row>(sized_rows_);
      const Row step = std::max<Row>(1, (there->size() - first) / sampled_rows);
      for (Row row = first; row < there->size(); row += step) make_room(model_->text_of(column, *there, row));
    }
    if (!sized_by_hand_.contains(column)) table_->setColumnWidth(column, std::min(width, widest_column));
  }
  sized_rows_ = rows;
  sized_of_ = all_shown ? all : std::shared_ptr<const PointSet>();
}

}  // namespace attnscope::ui
