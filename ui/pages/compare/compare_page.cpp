// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/compare/compare_page.h"

#include <QApplication>
#include <QClipboard>
#include <QEvent>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QMenu>
#include <QScrollArea>
#include <QShortcut>
#include <QSignalBlocker>
#include <QVBoxLayout>
#include <algorithm>
#include <array>

#include "messages/compare.h"
#include "messages/compare_page.h"
#include "profiler/files/recorded_samples.h"
#include "ui/runs/point_set.h"
#include "ui/text/format.h"
#include "ui/text/qtext.h"
#include "ui/widgets/elided_label.h"
#include "ui/widgets/flow_layout.h"

namespace attnscope::ui {
namespace {

constexpr int max_chip_value_width = 210;  ///< Maximum width in pixels of a side's name on its chip.
constexpr int max_column_width = 320;
constexpr int measured_rows = 200;      ///< Rows that determine the widths of columns.
constexpr double max_plot_share = 0.5;  ///< Share of the height below the head.

}  // namespace

ComparePage::ComparePage(Workspace& workspace, QWidget* parent)
    : Page(parent),
      workspace_(workspace),
      axis_choice_([this] {
        if (axis_choice_.id() != compared_axis_) {
          baseline_choice_.set_id({});  // These names belong to the previous axis.
          candidate_choice_.set_id({});
        }
        compared_axis_ = axis_choice_.id();
        refresh();
      }),
      baseline_choice_([this] { refresh(); }),
      candidate_choice_([this] { refresh(); }),
      tiles_choice_([this] { refresh(); }, {},
                    [](const QString& id) {
                      return id.isEmpty() || analysis::parse_compared_tiles(id.toStdString()).has_value();
                    }),
      task_(&compare, [this](CompareResult result) { apply_result(std::move(result)); }) {
  add_controls();
  register_choices();
  build_content();
  add_connections();
  follow_visible_points(workspace);
  watch(task_);
  task_.on_failure([this](const QString& reason) {
    found_.reset();
    show_text({qtext(msg::compare_page::failed{.reason = reason.toHtmlEscaped().toStdString()}), {}});
    update_overlay();
  });
  refresh();
}

void ComparePage::add_controls() {
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(10, 5, 10, 4);
  column->setSpacing(5);
  auto* controls = new QWidget(this);
  auto* flow = new FlowLayout(controls, 6);
  const auto chip = [controls](const Message& name, const Message& help) {
    return new FacetChip(qtext(name), qtext(help), controls);
  };
  axis_chip_ = axis_choice_.attach_editor(chip(msg::compare_page::compare_by{}, msg::compare_page::compare_by_help{}));
  baseline_chip_ = baseline_choice_.attach_editor(chip(msg::compare::baseline{}, msg::compare_page::baseline_help{}));
  candidate_chip_ =
      candidate_choice_.attach_editor(chip(msg::compare::candidate_time_label{}, msg::compare_page::other_help{}));
  tiles_chip_ = tiles_choice_.attach_editor(chip(msg::compare_page::tiles{}, msg::compare_page::tiles_choice_help{}));
  for (FacetChip* each : {axis_chip_, baseline_chip_, candidate_chip_, tiles_chip_}) {
    each->set_max_value_width(max_chip_value_width);
    flow->addWidget(each);
  }
  auto* pair = new QWidget(controls);
  auto* row = new QHBoxLayout(pair);
  row->setContentsMargins(0, 0, 0, 0);
  row->setSpacing(5);
  auto* label = new QLabel(qtext(msg::compare_page::margin{}), pair);
  margin_ = new QDoubleSpinBox(pair);
  margin_->setRange(0, 50);
  margin_->setSpecialValueText(qtext(msg::compare_page::usual_margin{}));
  margin_->setDecimals(1);
  margin_->setSingleStep(0.5);
  margin_->setValue(0);
  margin_->setSuffix(QStringLiteral("%"));
  margin_->setKeyboardTracking(false);
  margin_->setAccessibleName(label->text());
  for (QWidget* widget : {static_cast<QWidget*>(label), static_cast<QWidget*>(margin_)}) {
    widget->setToolTip(qtext(msg::compare_page::margin_help{}));
    row->addWidget(widget);
  }
  label->setBuddy(margin_);
  flow->addWidget(pair);
  layout()->addWidget(controls);
  connect(margin_, &QDoubleSpinBox::valueChanged, this, &ComparePage::refresh);
}

void ComparePage::register_choices() {
  choices().add("by", axis_choice_);
  choices().add("baseline", baseline_choice_);
  choices().add("candidate", candidate_choice_);
  choices().add("tiles", tiles_choice_);
  choices().add("margin", *margin_);
  choices().add("sorted_by", sorted_by_);
  choices().add_value(
      "descending", [this] { return sort_order_ == Qt::DescendingOrder; },
      [this](const QJsonValue& saved) { sort_order_ = saved.toBool() ? Qt::DescendingOrder : Qt::AscendingOrder; });
}

void ComparePage::show_choices() {
  compared_axis_ = axis_choice_.id();
  task_.discard();  // A pending result would restore the old choices.
  mark_stale();
}

void ComparePage::build_content() {
  auto* shown = new QWidget(this);
  auto& page = static_cast<QVBoxLayout&>(*layout());
  add_content(page, shown, workspace_);
  add_error_note(page);
  auto* column = new QVBoxLayout(shown);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(4);
  words_ = new ComparisonSummary(shown);
  column->addWidget(words_);
  parts_ = new QSplitter(Qt::Vertical, shown);
  parts_->setChildrenCollapsible(false);
  column->addWidget(parts_, 1);
  auto* scroll = new QScrollArea(parts_);
  scroll->setFocusPolicy(Qt::NoFocus);  // its plot takes the focus
  scroll->setFrameShape(QFrame::NoFrame);
  scroll->setWidgetResizable(true);
  plot_ = new RatioPlot(scroll);
  scroll->setWidget(plot_);
  parts_->addWidget(scroll);
  parts_->addWidget(make_table_panel(parts_));
}

QWidget* ComparePage::make_table_panel(QWidget* parent) {
  auto* panel = new QWidget(parent);
  auto* column = new QVBoxLayout(panel);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(4);
  auto* top = new QHBoxLayout;
  common_ = new ElidedLabel(panel);
  common_->setObjectName(QStringLiteral("common"));
  common_->setTextFormat(Qt::PlainText);
  show_all_ = new QToolButton(panel);
  show_all_->setText(qtext(msg::compare_page::show_all{}));
  top->addWidget(common_, 1);
  top->addWidget(show_all_);
  column->addLayout(top);
  model_ = new ResultModel(this);
  table_ = new PlainTable(model_, qtext(msg::compare_page::table_name{}), panel);
  table_->setSortingEnabled(true);
  table_->setHorizontalScrollMode(QAbstractItemView::ScrollPerPixel);
  table_->horizontalHeader()->setStretchLastSection(true);
  table_->horizontalHeader()->setResizeContentsPrecision(measured_rows);
  column->addWidget(table_, 1);
  return panel;
}

void ComparePage::add_connections() {
  connect(plot_, &RatioPlot::point_clicked, this, [this](const ShownPoint& point) {
    emit_selected(point);
    restore_mark();
  });
  connect(plot_, &RatioPlot::group_clicked, this, [this](const QString& group) {
    set_filter({.verdict = filter_.verdict, .group = filter_.group == group ? QString() : group});
  });
  connect(words_, &ComparisonSummary::verdict_clicked, this,
          [this](const QString& key) { set_filter({.verdict = key, .group = filter_.group}); });
  connect(parts_, &QSplitter::splitterMoved, this, [this] { sized_by_user_ = true; });
  connect(show_all_, &QToolButton::clicked, this, [this] { set_filter({}); });
  connect(table_->selectionModel(), &QItemSelectionModel::currentRowChanged, this, [this] {
    if (const auto row = current_row()) select_point_of(*row);
  });
  connect(table_->horizontalHeader(), &QHeaderView::sortIndicatorChanged, this,
          [this](int section, Qt::SortOrder order) {
            if (section < 0 || section >= model_->columnCount()) return;
            sorted_by_ = model_->key_of(section);
            sort_order_ = order;
            refresh();
          });
  auto* all = new QShortcut(Qt::Key_Escape, this, nullptr, nullptr, Qt::WidgetWithChildrenShortcut);
  connect(all, &QShortcut::activated, this, [this] { set_filter({}); });
}

std::vector<std::pair<QString, QString>> ComparePage::shortcuts() const {
  return {{QStringLiteral("Ctrl+C"), qtext(msg::compare_page::key_copy{})},
          {QStringLiteral("Esc"), qtext(msg::compare_page::key_all{})}};
}

QString ComparePage::file_stem() const {
  return QStringLiteral("compare-%1").arg(comparison() ? comparison()->axis().key : QString());
}

PlotPicture ComparePage::picture() const {
  std::vector<Row> rows;
  for (const auto& side : found_->all->view().sides) {
    for (const analysis::ComparedPair& pair : side->result.pairs) {
      rows.push_back(pair.base.front());
      rows.push_back(pair.other.front());
    }
  }
  return picture_of(*plot_, found_->set->points()->runs_of(rows));
}

void ComparePage::prepare_screenshot() {
  wait_until_idle();
  if (!replacement_text().isEmpty()) return;
  if (model_->rowCount() > 0) table_->select_only_row(0);
}

void ComparePage::refresh() {
  if (workspace_.is_gathering()) return task_.discard();  // points_changed() will call refresh() again.
  const std::shared_ptr<const PointSet> points = workspace_.visible();
  // Keep old content visible until the new content is ready.
  if (comparison() == nullptr) show_text({qtext(msg::compare_page::comparing{}), {}});
  CompareRequest request{.points = points,
                         .axis = axis_choice_.id(),
                         .base = baseline_choice_.id(),
                         .margin = margin_->value() > 0 ? std::optional(margin_->value() / 100) : std::nullopt,
                         .tiles = analysis::parse_compared_tiles(tiles_choice_.key()),
                         .filter = filter_,
                         .other = candidate_choice_.id(),
                         .sorted_by = sorted_by_,
                         .order = sort_order_,
                         .known = found_};
  const bool compared = points->empty() || (comparison() != nullptr && found_->asked.has_same_sides(request));
  task_.request(std::move(request), compared ? points->size() : always_in_background);
}

void ComparePage::offer_sides() {
  std::vector<Option> by;
  for (const SideAxis& axis : *found_->axes) by.push_back({.text = axis.label, .id = axis.key});
  std::vector<Option> sides;
  if (found_->set != nullptr) {
    for (const QString& value : found_->set->axis().values) sides.push_back({.text = value, .id = value});
  }
  axis_choice_.offer(std::move(by), static_cast<int>(found_->axis));
  baseline_choice_.offer(std::move(sides), static_cast<int>(found_->baseline));
  for (FacetChip* chip : {axis_chip_, baseline_chip_, candidate_chip_, tiles_chip_}) {
    chip->setVisible(found_->set != nullptr);
  }
}

void ComparePage::set_filter(const RowFilter& filter) {
  if (filter == filter_) return;
  filter_ = filter;
  refresh();
}

void ComparePage::show_filter() {
  QStringList words{qtext(found_->table->common())};
  if (!filter_.empty()) {
    QStringList conditions;
    for (const VerdictCount& each : verdict_counts(found_->all->view())) {
      if (each.key == filter_.verdict) conditions << each.title;
    }
    if (!filter_.group.isEmpty()) conditions << filter_.group;
    words.prepend(qtext(msg::compare_page::filtered{.all = found_->all->table().rows,
                                                    .filter = conditions.join(QStringLiteral(", ")).toStdString(),
                                                    .rows = found_->table->table().rows}));
  }
  words.removeAll(QString());
  common_->setText(words.join(QLatin1Char(' ')));
  common_->setToolTip(common_->text());
  show_all_->setVisible(!filter_.empty());
}

void ComparePage::offer_candidates() {
  std::vector<Option> others;
  const std::size_t sides = found_->set->view.sides.size();
  if (sides > 1) {  // A single side is offered without "all".
    others.push_back({.text = qtext(msg::compare_page::all_others{.sides = sides}), .id = {}});
  }
  for (std::size_t side = 0; side < sides; ++side) {
    others.push_back({.text = found_->set->name_of(side), .id = found_->set->name_of(side)});
  }
  candidate_choice_.offer(std::move(others));
}

void ComparePage::offer_tiles() {
  constexpr std::array titles{message_of<msg::compare_page::tiles_best>, message_of<msg::compare_page::tiles_automatic>,
                              message_of<msg::compare_page::tiles_equal>};
  const auto& sides = found_->set->view.sides;
  const auto used = sides.empty() ? analysis::ComparedTiles::best : sides.front()->alignment.tiles;
  std::vector<Option> options;
  int shown = 0;
  for (std::size_t i = 0; i < analysis::tile_choices.size(); ++i) {
    if (analysis::tile_choices.at(i) == used) shown = static_cast<int>(i);
    options.push_back(
        {.text = qtext(titles.at(i)()), .id = to_qstring(analysis::to_string(analysis::tile_choices.at(i)))});
  }
  tiles_choice_.offer(std::move(options), shown);
}

void ComparePage::apply_result(CompareResult result) {
  const auto before = std::exchange(found_, std::make_shared<const CompareResult>(std::move(result)));
  offer_sides();
  if (found_->set == nullptr) {
    return show_text(found_->asked.points->empty()
                         ? no_points_text(workspace_)
                         : EmptyStateText{qtext(msg::compare_page::no_second_side{}),
                                          qtext(msg::compare_page::no_second_side_help{}), attnscope::second_sample});
  }
  filter_ = found_->table->filter();
  offer_candidates();
  offer_tiles();
  if (before != nullptr && before->table == found_->table) {
    model_->set_order(found_->rows);
  } else {
    model_->set_table({found_->table, &found_->table->table()}, nullptr, found_->rows);
  }
  {
    const QSignalBlocker quiet(table_->horizontalHeader());  // The table is already sorted.
    table_->horizontalHeader()->setSortIndicator(std::max(0, model_->find_column_index(sorted_by_)), sort_order_);
  }
  if (!found_->partners) {
    return show_text({qtext(msg::compare_page::no_partners{}), qtext(msg::compare_page::no_partners_help{})});
  }
  words_->set_result(*found_);
  show_filter();
  size_columns();
  show_content(found_->simulated);
  plot_->set_comparison(found_->all, filter_.group);
  size_parts();
  restore_mark();
}

void ComparePage::resizeEvent(QResizeEvent* event) {
  Page::resizeEvent(event);
  size_parts();
}

void ComparePage::size_parts() {
  const int height = parts_->height();
  const int plot = std::min(plot_->minimumHeight() + parts_->handleWidth(), static_cast<int>(max_plot_share * height));
  if (!sized_by_user_) parts_->setSizes({plot, height - plot});
}

void ComparePage::size_columns() {
  table_->resizeColumnsToContents();
  for (int column = 0; column < model_->columnCount(); ++column) {
    table_->setColumnWidth(column, std::min(table_->columnWidth(column), max_column_width));
  }
}

std::optional<int> ComparePage::current_row() const {
  const QModelIndex current = table_->currentIndex();
  if (!current.isValid()) return std::nullopt;
  return current.row();
}

void ComparePage::select_point_of(int row) {
  auto point = found_->table->point(line_of(row), true);
  if (!point) point = found_->table->point(line_of(row), false);
  if (point) emit_selected(*point);
  restore_mark();  // Rings it in the plot.
}

bool ComparePage::show_mark(const ShownPoint& point, bool moves) {
  if (comparison() == nullptr || !replacement_text().isEmpty()) return false;
  const std::optional<Row> row = found_->set->points()->row_of(point);
  const bool is_drawn = plot_->select(point);
  const std::optional<std::size_t> line = row ? found_->table->line_of(*row) : std::nullopt;
  if (!line) return is_drawn;
  const QModelIndex index = model_->index(model_->row_of_line(static_cast<int>(*line)), 0);
  if (moves || table_->selectionModel()->selectedRows().size() <= 1) {
    if (moves || table_->currentIndex().row() != index.row()) {
      table_->select_only_row(index.row());
      table_->scrollTo(index);
    }
  }
  return true;
}

void ComparePage::fill_menu(QMenu& menu) {
  const std::optional<int> current = replacement_text().isEmpty() ? current_row() : std::nullopt;
  if (!current) return;
  const int row = *current;
  for (const bool of_other : {false, true}) {
    const std::optional<ShownPoint> point = found_->table->point(line_of(row), of_other);
    if (!point) continue;
    // The table may change while the menu is open.
    menu.addAction(of_other ? qtext(msg::compare_page::other_details{}) : qtext(msg::compare_page::base_details{}),
                   this, [this, point] { emit_selected(*point); });
    menu.addAction(
        of_other ? qtext(msg::compare_page::pin_other{}) : qtext(msg::compare_page::pin_base{}), this,
        [this, point] { emit pin_requested(point->spec, QString::fromStdString(point->run->summary.device_name)); });
  }
  const analysis::ComparedPair* pair = found_->table->pair(line_of(row));
  if (const std::string command =
          pair == nullptr ? std::string()
                          : analysis::suggested_command(found_->set->table(), *pair, found_->set->view.margin);
      !command.empty()) {
    menu.addAction(qtext(msg::compare_page::copy_command{}), this,
                   [command] { QApplication::clipboard()->setText(QString::fromStdString(command)); });
  }
}

void ComparePage::changeEvent(QEvent* event) {
  Page::changeEvent(event);
  if (event->type() == QEvent::FontChange && table_ != nullptr && comparison() != nullptr) size_columns();
}

}  // namespace attnscope::ui
