// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/problem_page.h"

#include <QCoreApplication>
#include <QHBoxLayout>
#include <QPushButton>
#include <QVBoxLayout>
#include <algorithm>
#include <set>

#include "messages/page.h"
#include "profiler/plan/command_text.h"
#include "profiler/plan/fields.h"
#include "ui/models/curve_series.h"
#include "ui/text/format.h"
#include "ui/widgets/flow_layout.h"
#include "ui/widgets/persistent_menu.h"

namespace attnscope::ui {

namespace {

constexpr std::size_t offered_alternatives = 2;

}  // namespace

ProblemPage::ProblemPage(Workspace& workspace, const FilterFactory& filter_factory, QWidget* parent)
    : Page(parent),
      workspace_(workspace),
      filter_(filter_factory()),
      points_(std::make_shared<const PointSet>()),
      facets_(new FacetBar(filter_, this)),
      search_(&ProblemPage::find_points, [this](FilteredPoints now) {
        apply_search(std::move(now));
        candidates_key_ = search_key_;
        show_found();
      }) {
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(10, 5, 10, 4);
  column->setSpacing(5);
  auto* row = new QHBoxLayout;
  row->addWidget(facets_, 1);
  auto* reset = new QPushButton(qtext(msg::page::reset{}), this);
  reset->setObjectName(QStringLiteral("reset-view"));
  reset->setToolTip(plain_tooltip(qtext(msg::page::reset_help{})));
  connect(reset, &QPushButton::clicked, this, &Page::reset_view);
  row->addWidget(reset, 0, Qt::AlignTop);
  column->addLayout(row);
  choices().add_value(
      "choices", [this] { return facets_->state(); },
      [this](const QJsonValue& saved) {
        facets_->restore(saved.toObject());
        starting_ = true;
      });
  connect(facets_, &FacetBar::chosen, this, [this] {
    clear_followed();
    show_problem();
  });
  follow_visible_points(workspace);
  watch(search_);
}

void ProblemPage::set_content(QWidget* content, QWidget* below) {
  auto& column = static_cast<QVBoxLayout&>(*layout());
  add_content(column, content, workspace_);
  if (below != nullptr) column.addWidget(below);
  add_followed_note(column);
  add_error_note(column);
}

QStringList ProblemPage::options(const QString& field) const {
  QStringList ids;
  for (const std::string& id : filter_.options(field.toStdString())) ids << QString::fromStdString(id);
  return ids;
}

void ProblemPage::choose(const QString& field, const QString& id) {
  const std::size_t place = filter_.index_of(field.toStdString());
  if (place == filter_.facets().size()) return;
  filter_.choose(place, id.toStdString());
  show_problem();
}

void ProblemPage::search_points(const std::string& of, Find find, std::function<void()> show) {
  if (workspace_.is_gathering()) return cancel_search();  // points_changed() follows.
  // While the first files load, the automatic choices are those of all points that are loaded. A new query gets new
  // ones.
  if (starting_ || shown_query_ != workspace_.query()) filter_.reset_automatic();
  shown_query_ = workspace_.query();
  FilteredPoints before{workspace_.visible(), candidates_, values_, filter_};
  const bool has_values = values_ != nullptr && values_->size() == filter_.facets().size();
  if (before.points != points_ || of != candidates_key_ || !has_values) {
    before.candidates = nullptr;
    before.values = nullptr;
  }
  const std::size_t size = before.points->size();
  search_key_ = of;
  found_ = std::move(show);
  search_.request({std::move(find), std::move(before)}, size);
}

FilteredPoints ProblemPage::find_points(const SearchRequest& asked, const StaleCheck& outdated) {
  FilteredPoints now = asked.before;
  const analysis::PointTable& table = now.points->table();
  if (now.candidates == nullptr) now.candidates = std::make_shared<const std::vector<Row>>(asked.find(table));
  if (outdated()) return now;
  now.filter.update(table, *now.candidates);
  if (outdated()) return now;
  if (now.values == nullptr) {
    now.values = std::make_shared<const FacetBar::Values>(FacetBar::values_of(now.filter, table, *now.candidates));
  }
  return now;
}

void ProblemPage::apply_search(FilteredPoints now) {
  points_ = std::move(now.points);
  candidates_key_.clear();
  candidates_ = std::move(now.candidates);
  values_ = std::move(now.values);
  filter_ = std::move(now.filter);
  facets_->refresh(*values_);
}

void ProblemPage::show_found() {
  if (starting_ && !candidates_->empty() && !workspace_.is_loading()) {
    starting_ = false;
    // A start shows points: saved choices that no file has are dropped.
    if (filter_.empty() && !filter_.is_touched() && shown_query_.isEmpty()) {
      facets_->reset();
      return show_problem();
    }
  }
  const std::function<void()> show = found_;  // `show` may start another search, which replaces found_.
  show();
  restore_mark();
}

void ProblemPage::reset_choices() {
  clear_followed();
  facets_->reset();
}

void ProblemPage::add_followed_note(QBoxLayout& column) {
  followed_ = new QLabel(this);
  followed_->setObjectName(QStringLiteral("followed"));
  followed_->setTextFormat(Qt::RichText);
  followed_->setTextInteractionFlags(Qt::TextBrowserInteraction);
  followed_->setWordWrap(true);
  followed_->hide();
  column.addWidget(followed_);
  connect(followed_, &QLabel::linkActivated, this, [this] {
    const std::vector<std::function<void()>> backs = followed_backs_;
    clear_followed();
    for (const std::function<void()>& back : backs) back();
  });
}

void ProblemPage::note_followed(const QString& change, std::function<void()> back) {
  followed_changes_ << change;
  followed_backs_.insert(followed_backs_.begin(), std::move(back));
  followed_->setText(qtext(
      msg::page::followed{.changes = followed_changes_.join(QStringLiteral(", ")).toHtmlEscaped().toStdString()}));
  followed_->show();
}

void ProblemPage::clear_followed() {
  followed_changes_.clear();
  followed_backs_.clear();
  if (followed_ != nullptr) followed_->hide();
}

void ProblemPage::follow(const ShownPoint& point) {
  const std::optional<Row> row = points_->row_of(point);
  if (!row || std::ranges::find(*candidates_, *row) == candidates_->end()) return;
  if (std::ranges::find(filter_.rows(), *row) != filter_.rows().end()) return;
  using Values = std::vector<std::pair<std::size_t, analysis::FacetValue>>;
  Values before;
  Values after;
  for (std::size_t f = 0; f < filter_.facets().size(); ++f) {
    if (!filter_.is_active(f) || !filter_.state(f).has_value()) continue;
    const analysis::CodeColumn& column = points_->table().codes(*filter_.facets()[f]);
    const analysis::FacetValue& value = column.values[column.codes[*row]];
    if (value == filter_.state(f).value()) continue;
    before.emplace_back(f, filter_.state(f).value());
    after.emplace_back(f, value);
  }
  facets_->choose_problem(points_->table(), *row);
  note_followed(facets_->text_of(after), [this, before] {
    for (const auto& [f, value] : before) filter_.choose(f, value.id());
    show_problem();
  });
  show_problem();
}

std::optional<EmptyStateText> ProblemPage::absent_text(const Message& what) {
  if (!filter_.empty() || candidates_->empty()) return {};
  EmptyStateText text{
      qtext(msg::page::absent{.choices = facets_->text_of_choices().toStdString(), .what = what}).toHtmlEscaped(),
      qtext(msg::page::nearest{})};
  const std::vector<ProblemFilter::Alternative> nearest =
      filter_.nearest(points_->table(), *candidates_, offered_alternatives);
  for (const ProblemFilter::Alternative& each : nearest) {
    text.nearest.push_back({facets_->text_of(each.changes), [this, changes = each.changes] {
                              for (const auto& [f, value] : changes) filter_.choose(f, value.id());
                              clear_followed();
                              show_problem();
                            }});
  }
  text.collect = [this, axes = collected_axes(nearest.front())] { emit collect_requested(collection().preset, axes); };
  return text;
}

std::optional<EmptyStateText> ProblemPage::absent_option_text(const Message& what, IdChoice& choice) const {
  const Option* shown = choice.shown();
  if (shown == nullptr || shown->available) return {};
  const QStringList choices{facets_->text_of_choices(), shown->text};
  EmptyStateText text{
      qtext(msg::page::absent{.choices = choices.join(QStringLiteral(", ")).toStdString(), .what = what})
          .toHtmlEscaped(),
      qtext(msg::page::nearest{})};
  for (const Option& each : choice.options()) {
    if (!each.available || text.nearest.size() == offered_alternatives) continue;
    text.nearest.push_back({each.text, [&choice, id = each.id] { choice.choose(id); }});
  }
  return text;
}

QStringList ProblemPage::collected_axes(const ProblemFilter::Alternative& nearest) const {
  const analysis::PointTable& table = points_->table();
  PointSpec spec = table.spec(nearest.row);
  const std::vector<analysis::PointAxis> axes = analysis::point_axes();
  for (const auto& [f, value] : nearest.changes) {
    const analysis::CodeColumn& column = table.codes(*filter_.facets()[f]);
    const std::string& wanted = filter_.state(f).value().id();
    const analysis::PointAxis* axis = analysis::find_axis(axes, filter_.facets()[f]->key);
    std::vector<std::string> names{filter_.facets()[f]->key};
    if (axis != nullptr) names = axis->names;
    const std::vector<Row> rows = table.rows();
    const auto row =
        std::ranges::find_if(rows, [&](Row each) { return column.values[column.codes[each]].id() == wanted; });
    for (const std::string& name : names) {
      const Field* field = find_field(name);
      if (field != nullptr) {
        (void)set_field(*field, spec, row == rows.end() ? wanted : field_text(*field, table.spec(*row)));
      } else if (row != rows.end()) {
        spec.knobs = table.spec(*row).knobs;
      }
    }
  }
  QStringList arguments;
  const std::vector<std::string_view> free_axes = collection().free_axes;
  for (const std::string& argument : axis_arguments(spec)) {
    const std::string_view name = std::string_view(argument).substr(0, argument.find('='));
    if (std::ranges::find(free_axes, name) == free_axes.end()) arguments << QString::fromStdString(argument);
  }
  return arguments;
}

bool ProblemPage::show_problem_of(const std::function<bool(const ShownPoint&)>& wanted) {
  refresh_if_outdated();
  wait_until_idle();
  const auto is_wanted = [&](Row row) { return wanted((*points_)[row]); };
  const auto row = std::ranges::find_if(*candidates_, is_wanted);
  if (row == candidates_->end()) return false;
  if (std::ranges::any_of(filter_.rows(), is_wanted)) return true;
  facets_->choose_problem(points_->table(), *row);
  show_problem();
  return true;
}

bool ProblemPage::show_problem_of_run(const QString& file, std::int64_t run) {
  return show_problem_of(
      [&](const ShownPoint& point) { return point.run->summary.id == run && point.run->file == file; });
}

namespace {

QString key_of(const analysis::Facet& facet) {
  return QString::fromStdString(facet.key);
}

}  // namespace

FacetBar::FacetBar(ProblemFilter& filter, QWidget* parent)
    : QWidget(parent),
      filter_(filter),
      flow_(new FlowLayout(this, 6)),
      toggles_(new Toggles(this)),
      more_(new FacetChip({}, qtext(msg::page::options_help{}), new PersistentMenu, this)) {
  more_->setObjectName(QStringLiteral("plot-options"));
  more_->setAccessibleName(qtext(msg::page::options{}));
  more_->hide_label();
  more_->set_texts({qtext(msg::page::options{})});
  more_->show_text(qtext(msg::page::options{}));
  more_->hide();
  connect(more_->menu(), &QMenu::aboutToShow, this, &FacetBar::fill_options_menu);
  flow_->addWidget(more_);
  add_filter_chips();
}

void FacetBar::add_leading_chip(FacetChip* chip) {
  flow_->insert_widget(static_cast<int>(leading_chips_.size()), chip);
  leading_chips_.push_back(chip);
}

void FacetBar::add_filter_chips() {
  for (std::size_t f = chips_.size(); f < filter_.facets().size(); ++f) {
    const analysis::Facet& facet = *filter_.facets()[f];
    auto* chip = new FacetChip(qtext(facet.label), qtext(facet.help), this);
    flow_->insert_widget(static_cast<int>(leading_chips_.size() + f), chip);
    chips_.push_back(chip);
    connect(chip, &FacetChip::picked, this, [this, f](const QString& id) {
      filter_.choose(f, id.toStdString());
      emit chosen();
    });
  }
}

void FacetBar::schedule_fold() {
  QCoreApplication::postEvent(this, new QEvent(QEvent::LayoutRequest));
}

bool FacetBar::event(QEvent* event) {
  const bool done = QWidget::event(event);
  if (event->type() == QEvent::LayoutRequest) fold();
  return done;
}

void FacetBar::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  schedule_fold();
}

void FacetBar::fold() {
  std::set<const QWidget*> folded(options_.begin(), options_.end());
  const bool has_options = std::ranges::any_of(options_, &FacetChip::is_set_visible) ||
                           std::ranges::any_of(toggles_->all(), &QAction::isVisible);
  const auto offers = [&] { return has_options || folded.size() > options_.size(); };
  const auto rows = [&] {
    QList<int> widths;
    for (int i = 0; i < flow_->count(); ++i) {
      QWidget* widget = flow_->itemAt(i)->widget();
      const auto* chip = qobject_cast<FacetChip*>(widget);
      const bool there = widget == more_ ? offers() : chip->is_set_visible();
      if (there && !folded.contains(widget)) widths << widget->sizeHint().width();
    }
    return flow_->rows_of(widths, width());
  };
  for (const std::vector<FacetChip*>* of : {&chips_, &own_}) {
    for (auto chip = of->rbegin(); chip != of->rend() && rows() > 1; ++chip) {
      if ((*chip)->is_set_visible()) folded.insert(*chip);
    }
  }
  for (const std::vector<FacetChip*>* of : {&chips_, &own_}) {
    for (FacetChip* chip : *of) chip->set_folded(folded.contains(chip));
  }
  more_->setVisible(offers());
  for (int i = 1; i < flow_->count(); ++i) setTabOrder(flow_->itemAt(i - 1)->widget(), flow_->itemAt(i)->widget());
}

void FacetBar::fill_options_menu() {
  // Submenus belong to the chips and switches to the bar, so clear() only removes their entries.
  QMenu& menu = *more_->menu();
  menu.clear();
  menu.addActions(toggles_->all());
  for (const std::vector<FacetChip*>* of : {&options_, &own_, &chips_}) {
    menu.addSeparator();
    for (FacetChip* chip : *of) {
      if (!chip->is_folded() || !chip->is_set_visible()) continue;
      QAction* entry = menu.addMenu(chip->menu());
      entry->setText(chip->text());
      entry->setEnabled(chip->isEnabled());
    }
  }
}

QJsonObject FacetBar::state() const {
  QJsonObject state;
  for (std::size_t f = 0; f < filter_.facets().size(); ++f) {
    const std::string& chosen = filter_.chosen(f);
    if (!chosen.empty()) state[key_of(*filter_.facets()[f])] = QString::fromStdString(chosen);
  }
  return state;
}

void FacetBar::restore(const QJsonObject& state) {
  for (std::size_t f = 0; f < filter_.facets().size(); ++f) {
    const QJsonValue value = state[key_of(*filter_.facets()[f])];
    if (value.isString()) filter_.restore(f, value.toString().toStdString());
  }
}

void FacetBar::keep_choices() {
  for (std::size_t f = 0; f < filter_.facets().size(); ++f) {
    if (!filter_.is_active(f) || !filter_.state(f).has_value()) continue;
    const std::string id = filter_.state(f).value().id();
    filter_.choose(f, id);
  }
}

void FacetBar::choose_problem(const analysis::PointTable& table, analysis::Row row) {
  for (std::size_t f = 0; f < filter_.facets().size(); ++f) {
    if (!filter_.is_active(f)) continue;
    const analysis::CodeColumn& column = table.codes(*filter_.facets()[f]);
    const std::string& id = column.values[column.codes[row]].id();
    if (!filter_.state(f).has_value() || filter_.state(f).value().id() != id) filter_.choose(f, id);
  }
}

QString FacetBar::text_of(const std::vector<std::pair<std::size_t, analysis::FacetValue>>& values) const {
  QStringList words;
  for (const auto& [f, value] : values) {
    const analysis::Facet& facet = *filter_.facets()[f];
    const QString text = facet_value_text(facet, value);
    // A word needs no label.
    const bool number = !text.isEmpty() && text.front().isDigit();
    words << (number || facet.quiet ? lowercase_label(qtext(facet.label)) + QLatin1Char(' ') + text : text);
  }
  return words.join(QStringLiteral(", "));
}

QString FacetBar::text_of_choices() const {
  std::vector<std::pair<std::size_t, analysis::FacetValue>> values;
  for (std::size_t f = 0; f < filter_.facets().size(); ++f) {
    const ProblemFilter::State& state = filter_.state(f);
    const analysis::Facet& facet = *filter_.facets()[f];
    if (!state.has_value() || !chips_[f]->is_set_visible()) continue;
    if (!facet.quiet || state.value().text != facet.usual) values.emplace_back(f, state.value());
  }
  return text_of(values);
}

FacetBar::Values FacetBar::values_of(const ProblemFilter& filter, const analysis::PointTable& table,
                                     const std::vector<Row>& rows) {
  Values values;
  for (const analysis::FacetPtr& facet : filter.facets()) {
    const analysis::CodeColumn& column = table.codes(*facet);
    std::vector<bool> there(column.values.size());
    for (const Row row : rows) there[column.codes[row]] = true;
    std::vector<Option>& of_facet = values.emplace_back();
    for (std::size_t code = 0; code < there.size(); ++code) {
      const analysis::FacetValue& value = column.values[code];
      if (!there[code]) continue;
      of_facet.push_back({.text = facet_value_text(*facet, value),
                          .id = QString::fromStdString(value.id()),
                          .full = QString::fromStdString(value.full)});
    }
  }
  return values;
}

FacetChip* FacetBar::add_chip(IdChoice& choice, const Message& label, const Message& help) {
  return insert(choice.attach_editor(new FacetChip(qtext(label), qtext(help), this)));
}

FacetChip* FacetBar::add_switch(IdChoice& choice, const Message& label, const Message& help) {
  return insert(choice.attach_editor(new SegmentedChip(qtext(label), qtext(help), this)));
}

FacetChip* FacetBar::insert(FacetChip* chip) {
  flow_->insert_widget(flow_->indexOf(more_), chip);
  own_.push_back(chip);
  return chip;
}

FacetChip* FacetBar::add_option(IdChoice& choice, const Message& label, const Message& help) {
  FacetChip* chip = choice.attach_editor(new FacetChip(qtext(label), qtext(help), this));
  chip->set_folded(true);
  options_.push_back(chip);
  return chip;
}

void FacetBar::refresh(const Values& values) {
  add_filter_chips();
  for (std::size_t f = 0; f < chips_.size(); ++f) {
    const ProblemFilter::State& state = filter_.state(f);
    std::vector<Option> options = values[f];
    const QString chosen = state.has_value() ? QString::fromStdString(state.value().id()) : QString();
    if (state.has_value() && std::ranges::find(options, chosen, &Option::id) == options.end()) {
      options.push_back({.text = facet_value_text(*filter_.facets()[f], state.value()), .id = chosen});
    }
    chips_[f]->setVisible(filter_.is_active(f) &&
                          (options.size() > 1 || (options.size() == 1 && filter_.facets()[f]->always_shown)));
    std::set<QString> available;
    for (const analysis::FacetValue& value : state.options) available.insert(QString::fromStdString(value.id()));
    for (Option& option : options) option.available = available.contains(option.id);
    const auto current = std::ranges::find(options, chosen, &Option::id);
    const int place = state.has_value() ? static_cast<int>(current - options.begin()) : -1;
    chips_[f]->show_options(options, place);
    chips_[f]->set_automatic(state.has_value() && filter_.chosen(f).empty());
  }
  schedule_fold();  // The options may change the chip's width.
}

}  // namespace attnscope::ui
