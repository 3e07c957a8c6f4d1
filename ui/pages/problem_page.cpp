// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/problem_page.h"

#include <QHBoxLayout>
#include <QPushButton>
#include <QVBoxLayout>
#include <algorithm>

#include "messages/page.h"
#include "profiler/plan/command_text.h"
#include "profiler/plan/fields.h"
#include "ui/text/format.h"

namespace attnscope::ui {
namespace {

constexpr std::size_t offered_alternatives = 2;

/// Returns whether both filters have the same facets and the same choices of the user.
bool has_equal_choices(const ProblemFilter& a, const ProblemFilter& b) {
  if (a.facets().size() != b.facets().size()) return false;
  for (std::size_t f = 0; f < a.facets().size(); ++f) {
    if (a.is_active(f) != b.is_active(f) || a.chosen(f) != b.chosen(f)) return false;
  }
  return true;
}

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
  choices().add([this](QJsonObject& state) { state[QStringLiteral("choices")] = facets_->state(); },
                [this](const QJsonObject& state) {
                  const QJsonValue chosen = state[QStringLiteral("choices")];
                  if (!chosen.isObject()) return;
                  facets_->restore(chosen.toObject());
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
  // While the first files load, the automatic choices are those of all points that are loaded.
  if (starting_) filter_.reset_automatic();
  FilteredPoints before = narrowed(workspace_.query());
  before.points = workspace_.visible();
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

FilteredPoints ProblemPage::narrowed(const QString& query) const {
  FilteredPoints now{points_, candidates_, values_, filter_, query};
  // Automatic choices made for a half-typed query are dropped: each query starts from the choices without a query.
  if (now.query != shown_query_ && unfiltered_ && has_equal_choices(*unfiltered_, filter_)) now.filter = *unfiltered_;
  return now;
}

void ProblemPage::apply_search(FilteredPoints now) {
  points_ = std::move(now.points);
  candidates_key_.clear();
  candidates_ = std::move(now.candidates);
  values_ = std::move(now.values);
  filter_ = std::move(now.filter);
  shown_query_ = std::move(now.query);
  if (shown_query_.isEmpty()) unfiltered_ = filter_;
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

}  // namespace attnscope::ui
