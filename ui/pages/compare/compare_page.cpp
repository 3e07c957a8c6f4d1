// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/compare/compare_page.h"

#include <QApplication>
#include <QClipboard>
#include <QEvent>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QMenu>
#include <QShortcut>
#include <QSignalBlocker>
#include <QVBoxLayout>
#include <algorithm>
#include <set>
#include <span>

#include "messages/compare.h"
#include "messages/compare_page.h"
#include "profiler/files/recorded_samples.h"
#include "ui/pages/problem_page.h"
#include "ui/runs/point_set.h"
#include "ui/text/format.h"
#include "ui/text/qtext.h"
#include "ui/widgets/flow_layout.h"
#include "ui/widgets/plain_table.h"

namespace attnscope::ui {
namespace {

constexpr int widest_side = 210;  ///< pixels of a side's name on its chip
constexpr int widest_text = 300;
constexpr int text_padding = 24;
constexpr int heading_padding = 24;

ProblemFilter sides_filter() {
  const analysis::MapLayout& tiles = analysis::tile_layout();
  ProblemFilter filter(analysis::all_map_facets(), analysis::facet_of_both(tiles.x, tiles.y));
  filter.narrow_by({}, analysis::facet_of_both(tiles.x, tiles.y));
  return filter;
}

}  // namespace

ComparePage::ComparePage(Workspace& workspace, QWidget* parent)
    : ProblemPage(workspace, sides_filter, parent),
      by_([this] {
        touch();
        if (by_.id() != compared_by_) {
          base_.set_id({});  // sides of another name
          other_.set_id({});
        }
        compared_by_ = by_.id();
        refresh();
      }),
      base_([this] {
        touch();
        refresh();
      }),
      other_([this] {
        touch();
        show_comparison();
      }),
      view_([this] { show_comparison(); },
            {{View::table, {.text = qtext(say::compare_page::table{}), .id = QStringLiteral("table")}},
             {View::map, {.text = qtext(say::compare_page::map{}), .id = QStringLiteral("map")}},
             {View::curves, {.text = qtext(say::compare_page::curves{}), .id = QStringLiteral("curves")}}}),
      sides_(&ComparePage::sides_of,
             [this](Sides sides) {
               visible_ = sides.asked.points;
               visible_of_ = sides.asked.query;
               axes_ = std::move(sides.axes);
               axis_ = sides.axis;
               baseline_ = sides.baseline;
               offer_sides();
               ask();
             }),
      found_(&view_of, [this](ComparedView found) { show_found(std::move(found)); }) {
  add_controls();
  keep_choices();
  add_content();
  add_keys();
  watch(sides_);
  watch(found_);
  found_.on_failure([this](const QString& reason) { say_failed(reason); });
  refresh();
}

void ComparePage::add_controls() {
  auto* controls = new QWidget(this);
  auto* flow = new FlowLayout(controls, 6);
  const auto chip = [controls](const Message& name, const Message& help) {
    return new FacetChip(qtext(name), qtext(help), controls);
  };
  by_chip_ = by_.edit_with(chip(say::compare_page::by{}, say::compare_page::by_help{}));
  base_chip_ = base_.edit_with(chip(say::compare::baseline{}, say::compare_page::baseline_help{}));
  other_chip_ = other_.edit_with(chip(say::compare::other{}, say::compare_page::other_help{}));
  for (FacetChip* each : {by_chip_, base_chip_, other_chip_}) {
    each->set_widest(widest_side);
    flow->addWidget(each);
  }
  FacetChip* view_chip = view_.edit_with(chip(say::compare_page::view{}, say::compare_page::view_help{}));
  layout_chip_ = chip(say::compare_page::layout{}, say::compare_page::layout_help{});
  auto* pair = new QWidget(controls);
  auto* row = new QHBoxLayout(pair);
  row->setContentsMargins(0, 0, 0, 0);
  row->setSpacing(5);
  auto* label = new QLabel(qtext(say::compare_page::margin{}), pair);
  margin_ = new QDoubleSpinBox(pair);
  margin_->setRange(0, 50);
  margin_->setSpecialValueText(qtext(say::compare_page::usual_margin{}));
  margin_->setDecimals(1);
  margin_->setSingleStep(0.5);
  margin_->setValue(0);
  margin_->setSuffix(QStringLiteral(" %"));
  margin_->setKeyboardTracking(false);
  margin_->setAccessibleName(label->text());
  for (QWidget* widget : {static_cast<QWidget*>(label), static_cast<QWidget*>(margin_)}) {
    widget->setToolTip(qtext(say::compare_page::margin_help{}));
    row->addWidget(widget);
  }
  label->setBuddy(margin_);
  flow->addWidget(pair);
  flow->addWidget(view_chip);
  flow->addWidget(layout_chip_);
  setTabOrder(margin_, view_chip);
  setTabOrder(view_chip, layout_chip_);
  static_cast<QVBoxLayout*>(layout())->insertWidget(0, controls);
  connect(layout_chip_, &FacetChip::picked, this, [this](const QString& id) {
    if (view_.value() == View::curves) return set_curve_axis(id);
    set_map_axes(rows_of_layout(id), columns_of_layout(id));
  });
  connect(margin_, &QDoubleSpinBox::valueChanged, this, [this] { ask(); });
}

void ComparePage::keep_choices() {
  choices().keep("view", view_);
  choices().keep("rows", rows_key_);
  choices().keep("columns", columns_key_);
  choices().keep("along", along_key_);
  choices().keep("by", by_);
  choices().keep("baseline", base_);
  choices().keep("other", other_);
  choices().keep("margin", *margin_);
  choices().keep("sorted_by", sorted_by_);
  choices().keep(
      [this](QJsonObject& state) { state[QStringLiteral("descending")] = sort_order_ == Qt::DescendingOrder; },
      [this](const QJsonObject& state) {
        const bool descending = state[QStringLiteral("descending")].toBool(sort_order_ == Qt::DescendingOrder);
        sort_order_ = descending ? Qt::DescendingOrder : Qt::AscendingOrder;
      });
}

void ComparePage::show_choices() {
  compared_by_ = by_.id();
  found_.drop();  // it would take back what is chosen now
  fall_behind();
}

void ComparePage::add_content() {
  auto* shown = new QWidget(this);
  auto* column = new QVBoxLayout(shown);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(4);
  words_ = new ComparedWords(shown);
  column->addWidget(words_);
  auto* views = new QWidget(shown);
  views_ = new QStackedLayout(views);
  views_->setContentsMargins(0, 0, 0, 0);
  column->addWidget(views, 1);
  model_ = new ResultModel(this);
  table_ = new PlainTable(model_, qtext(say::compare_page::table_name{}), views);
  table_->setSortingEnabled(true);
  table_->setHorizontalScrollMode(QAbstractItemView::ScrollPerPixel);
  table_->horizontalHeader()->setStretchLastSection(true);
  map_ = new HeatmapView(views);
  plot_ = new RatioPlot(views);
  no_view_ = new EmptyState(views);
  for (QWidget* view : {static_cast<QWidget*>(table_), static_cast<QWidget*>(map_), static_cast<QWidget*>(plot_),
                        static_cast<QWidget*>(no_view_)}) {
    views_->addWidget(view);
  }
  const auto select = [this](const ShownPoint& point) {
    tell_selected(point);
    renew_mark();  // in the other views
  };
  connect(map_, &HeatmapView::cell_selected, this, select);
  connect(plot_, &RatioPlot::point_clicked, this, select);
  set_content(shown);
  connect(table_->selectionModel(), &QItemSelectionModel::currentRowChanged, this, [this] {
    if (const auto row = current_row()) select_of(*row, true);
  });
  connect(table_->horizontalHeader(), &QHeaderView::sortIndicatorChanged, this,
          [this](int section, Qt::SortOrder order) {
            if (section < 0 || section >= model_->columnCount()) return;
            sorted_by_ = model_->key_of(section);
            sort_order_ = order;
            show_comparison();
          });
}

void ComparePage::add_keys() {
  const auto add = [this](const QKeySequence& key, auto then) {
    auto* shortcut = new QShortcut(key, table_, nullptr, nullptr, Qt::WidgetShortcut);
    connect(shortcut, &QShortcut::activated, this, then);
  };
  add(Qt::Key_B, [this] {
    if (const auto row = current_row()) select_of(*row, false);
  });
  add(Qt::Key_O, [this] {
    if (const auto row = current_row()) select_of(*row, true);
  });
}

std::vector<std::pair<QString, QString>> ComparePage::shortcuts() const {
  return {{QStringLiteral("B"), qtext(say::compare_page::key_base{})},
          {QStringLiteral("O"), qtext(say::compare_page::key_other{})},
          {QStringLiteral("Ctrl+C"), qtext(say::compare_page::key_copy{})}};
}

bool ComparePage::has_plot() const {
  return words().isEmpty() && (views_->currentWidget() == map_ || views_->currentWidget() == plot_);
}

QString ComparePage::file_stem() const {
  return QStringLiteral("compare-%1-%2%3")
      .arg(view_.id(), set_ ? set_->axis().key : QString(), QString::fromStdString(filter().stem()));
}

PlotPicture ComparePage::picture() const {
  if (views_->currentWidget() == map_) return picture_of({map_});
  std::vector<Row> rows;
  for (const auto& side : set_->view.sides) {
    for (const analysis::ComparedPair& pair : side->result.pairs) {
      rows.push_back(pair.base.front());
      rows.push_back(pair.other.front());
    }
  }
  return picture_of(*plot_, set_->points()->runs_of(rows));
}

ShownValues ComparePage::values() const {
  if (views_->currentWidget() == table_) return table_->values();
  std::set<std::optional<std::size_t>> shown;  // lines
  const auto add = [&](std::span<const Row> rows) {
    for (const Row row : rows) shown.insert(shown_->line_of(row));
  };
  views_->currentWidget() == map_ ? add(map_->grid().shown_rows()) : add(filter().rows());
  return table_->values([&](int row) { return shown.contains(line_of(row)); });
}

void ComparePage::pose() {
  settle();
  if (!words().isEmpty()) return;
  if (view() == table_ && model_->rowCount() > 0) table_->choose_row(0);
  if (view() == map_) map_->select(map_->landmark());
}

void ComparePage::set_map_axes(const QString& rows, const QString& columns) {
  rows_key_ = rows;
  columns_key_ = columns;
  show_comparison();
}

void ComparePage::set_curve_axis(const QString& key) {
  along_key_ = key;
  show_comparison();
}

const SideAxis* ComparePage::axis() const {
  return axis_ < axes_.size() ? &axes_[axis_] : nullptr;
}

void ComparePage::drop() {
  found_.drop();
  set_.reset();
}

void ComparePage::say_failed(const QString& reason) {
  drop();
  show_words({qtext(say::compare_page::failed{.reason = reason.toHtmlEscaped().toStdString()}), {}});
  say_late();
}

void ComparePage::refresh() {
  found_.drop();
  if (workspace().gathering()) return sides_.drop();  // points_changed() follows
  const std::shared_ptr<const PointSet> points = workspace().visible();
  sides_.ask({.points = points,
              .axes = points == visible_ ? axes_ : std::vector<SideAxis>(),
              .by = by_.id(),
              .base = base_.id(),
              .query = workspace().query()},
             points->size());
}

ComparePage::Sides ComparePage::sides_of(const SidesAsk& asked, const Outdated& /*outdated*/) {
  const PointSet& points = *asked.points;
  Sides sides{.asked = asked, .axes = asked.axes.empty() ? side_axes(points) : asked.axes};
  const auto wanted = std::ranges::find(sides.axes, asked.by, &SideAxis::key);
  if (sides.axes.empty()) return sides;
  std::optional<std::uint32_t> fullest;
  if (wanted != sides.axes.end()) {
    sides.axis = static_cast<std::size_t>(wanted - sides.axes.begin());
  } else {
    // What sides have partners by.
    for (std::size_t i = 0; i < sides.axes.size() && !fullest; ++i) {
      fullest = fullest_side(points, sides.axes[i]);
      if (fullest) sides.axis = i;
    }
  }
  const SideAxis& axis = sides.axes[sides.axis];
  const std::optional<std::uint32_t> named = axis.side_named(asked.base);
  if (!named && !fullest) fullest = fullest_side(points, axis);
  sides.baseline = named ? *named : fullest.value_or(0);
  return sides;
}

void ComparePage::offer_sides() {
  std::vector<Option> by;
  for (const SideAxis& axis : axes_) by.push_back({.text = axis.label, .id = axis.key});
  std::vector<Option> sides;
  if (const SideAxis* sides_of = axis()) {
    for (const QString& value : sides_of->values) sides.push_back({.text = value, .id = value});
  }
  by_.offer(std::move(by), static_cast<int>(axis_));
  base_.offer(std::move(sides), static_cast<int>(baseline_));
  for (FacetChip* chip : {by_chip_, base_chip_}) chip->setVisible(!axes_.empty());
}

void ComparePage::ask() {
  const SideAxis* sides = axis();
  if (sides == nullptr) {
    drop();
    other_.offer({});
    other_chip_->hide();
    const QString copies = copies_in_words(workspace().runs()).toHtmlEscaped();
    const QString help = (QStringList{copies} << qtext(say::compare_page::one_side_help{})).join(QLatin1Char(' '));
    show_words(visible_->empty()
                   ? why_no_points(workspace())
                   : EmptyWords{qtext(say::compare_page::one_side{}), help.trimmed(), attnscope::second_sample});
    return;
  }
  // What stands there stays until the new is there.
  if (!set_) show_words({qtext(say::compare_page::comparing{}), {}});
  ComparedAsk asked{.sides = {.points = visible_,
                              .axis = *sides,
                              .base = baseline_,
                              .margin = margin_->value() > 0 ? std::optional(margin_->value() / 100) : std::nullopt},
                    .known = nullptr,
                    .table = shown_,
                    .before = narrowed(visible_of_),
                    .other = other_.id(),
                    .view = view_.value(),
                    .rows_key = rows_key_,
                    .columns_key = columns_key_,
                    .along_key = along_key_,
                    .sorted_by = sorted_by_,
                    .order = sort_order_};
  const bool compared = set_ != nullptr && set_->points() == visible_ && set_->axis().key == sides->key &&
                        set_->asked.base == baseline_ && set_->asked.margin == asked.sides.margin;
  if (compared) asked.known = set_;
  found_.ask(std::move(asked), compared ? visible_->size() : always_aside);
}

void ComparePage::show_comparison() {
  if (set_ != nullptr || found_.busy()) ask();
}

void ComparePage::offer_others() {
  std::vector<Option> others;
  const std::size_t sides = set_->view.sides.size();
  if (sides > 1) {  // else it alone is offered
    others.push_back({.text = qtext(say::compare_page::all_others{.sides = sides}), .id = {}});
  }
  for (std::size_t side = 0; side < sides; ++side) {
    others.push_back({.text = set_->name_of(side), .id = set_->name_of(side)});
  }
  other_chip_->setVisible(true);
  other_.offer(std::move(others));
}

void ComparePage::show_found(ComparedView found) {
  set_ = found.set;
  offer_others();
  if (found.table == shown_) {
    model_->set_order(std::move(found.rows));
  } else {
    shown_ = found.table;
    model_->set_table({shown_, &shown_->table()}, nullptr, std::move(found.rows));
  }
  {
    const QSignalBlocker quiet(table_->horizontalHeader());  // it is sorted
    table_->horizontalHeader()->setSortIndicator(std::max(0, model_->column_named(sorted_by_)), sort_order_);
  }
  longest_ = std::move(found.longest);
  take_narrowed(found);
}

void ComparePage::take_narrowed(ComparedView& found) {
  take(std::move(found.narrowed));
  if (!found.partners) {
    return show_words({qtext(say::compare_page::no_partners{}), qtext(say::compare_page::no_partners_help{})});
  }
  layout_chip_->setVisible(!found.layouts.empty());
  layout_chip_->show_options(found.layouts, found.layout);
  facets().setVisible(found.map_layout || found.along);
  words_->say(found, copies_in_words(workspace().runs()));
  size_columns();
  show_content(found.simulated);
  show_view(found);
  renew_mark();
}

void ComparePage::show_view(ComparedView& found) {
  const View view = found.asked.view;
  if (view == View::table) return views_->setCurrentWidget(table_);
  if (candidates().empty()) {
    return show_no_view({qtext(say::compare_page::no_times{}), qtext(say::compare_page::no_times_help{})});
  }
  if (view == View::map) {
    if (!found.grid) return show_no_view({qtext(say::compare_page::no_map{}), qtext(say::compare_page::no_map_help{})});
    const HeatmapTitle title{qtext(say::compare::ratio_title{.other = set_->name_of(*found.mapped).toStdString(),
                                                             .base = set_->base_name().toStdString()}),
                             QString::fromStdString(filter().summary())};
    map_->set_grid(*found.grid, title, true);
    return views_->setCurrentWidget(map_);
  }
  if (!found.curves) {
    return show_no_view({qtext(say::compare_page::no_curve{}), qtext(say::compare_page::no_curve_help{})});
  }
  plot_->set_curves(std::move(*found.curves));
  views_->setCurrentWidget(plot_);
}

void ComparePage::show_no_view(const EmptyWords& words) {
  facets().hide();
  no_view_->set_words(words);
  views_->setCurrentWidget(no_view_);
}

void ComparePage::resizeEvent(QResizeEvent* event) {
  ProblemPage::resizeEvent(event);
  words_->fit(height());
}

void ComparePage::show_words(const EmptyWords& words) {
  facets().hide();
  layout_chip_->hide();
  ProblemPage::show_words(words);
}

void ComparePage::size_columns() {
  const QFontMetrics metrics = table_->fontMetrics();
  QFont bold = table_->font();
  bold.setBold(true);
  const QFontMetrics of_bold(bold);
  for (int column = 0; column < model_->columnCount(); ++column) {
    int width = metrics.horizontalAdvance(model_->headerData(column, Qt::Horizontal, Qt::DisplayRole).toString()) +
                heading_padding;
    for (const TextSample& sample : longest_[static_cast<std::size_t>(column)]) {
      width = std::max(width, (sample.bold ? of_bold : metrics).horizontalAdvance(sample.text) + text_padding);
    }
    table_->setColumnWidth(column, std::min(width, widest_text));
  }
}

std::optional<int> ComparePage::current_row() const {
  const QModelIndex current = table_->currentIndex();
  if (!current.isValid()) return std::nullopt;
  return current.row();
}

void ComparePage::select_of(int row, bool of_other) {
  if (const auto point = shown_->point(line_of(row), of_other)) {
    tell_selected(*point);
  } else if (const auto partner = shown_->point(line_of(row), !of_other)) {
    tell_selected(*partner);
  }
}

bool ComparePage::show_mark(const ShownPoint& point, bool moves) {
  if (!set_ || !words().isEmpty()) return false;
  const std::optional<Row> row = set_->points()->row_of(point);
  const std::optional<std::size_t> line = row ? shown_->line_of(*row) : std::nullopt;
  if (!line) return false;
  const QModelIndex index = model_->index(model_->row_of_line(static_cast<int>(*line)), 0);
  if (moves || table_->selectionModel()->selectedRows().size() <= 1) {
    if (moves || table_->currentIndex().row() != index.row()) {
      table_->choose_row(index.row());
      table_->scrollTo(index);
    }
  }
  if (views_->currentWidget() == map_) {
    const analysis::ComparedPair* pair = shown_->pair(*line);
    const auto place = map_->grid().place_of(pair == nullptr ? *row : pair->other.front());
    if (place != map_->selected()) map_->select(place);
  }
  plot_->select(point);
  return true;
}

void ComparePage::fill_menu(QMenu& menu) {
  const std::optional<int> current = view() == table_ && words().isEmpty() ? current_row() : std::nullopt;
  if (!current) return;
  const int row = *current;
  for (const bool of_other : {false, true}) {
    const std::optional<ShownPoint> point = shown_->point(line_of(row), of_other);
    if (!point) continue;
    // By the time one is chosen the table may be another.
    menu.addAction(of_other ? qtext(say::compare_page::other_details{}) : qtext(say::compare_page::base_details{}),
                   this, [this, point] { tell_selected(*point); });
  }
  for (const bool of_other : {false, true}) {
    const std::optional<ShownPoint> point = shown_->point(line_of(row), of_other);
    if (!point) continue;
    menu.addAction(
        of_other ? qtext(say::compare_page::pin_other{}) : qtext(say::compare_page::pin_base{}), this,
        [this, point] { emit pin_wanted(point->spec, QString::fromStdString(point->run->summary.device_name)); });
  }
  const analysis::ComparedPair* pair = shown_->pair(line_of(row));
  if (const std::string command =
          pair == nullptr ? std::string() : analysis::settling_command(set_->table(), *pair, set_->view.margin);
      !command.empty()) {
    menu.addAction(qtext(say::compare_page::copy_command{}), this,
                   [command] { QApplication::clipboard()->setText(QString::fromStdString(command)); });
  }
}

void ComparePage::changeEvent(QEvent* event) {
  ProblemPage::changeEvent(event);
  const bool of_looks = event->type() == QEvent::PaletteChange || event->type() == QEvent::FontChange;
  if (!of_looks || table_ == nullptr || !set_ || !words().isEmpty()) return;
  size_columns();
}

}  // namespace attnscope::ui
