// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/problem_page.h"

#include <QVBoxLayout>
#include <algorithm>
#include <utility>

namespace attnscope::ui {
namespace {

/// Returns whether both filters have the same facets and the same choices of the user.
bool chosen_alike(const ProblemFilter& a, const ProblemFilter& b) {
  if (a.facets().size() != b.facets().size()) return false;
  for (std::size_t f = 0; f < a.facets().size(); ++f) {
    if (a.is_active(f) != b.is_active(f) || a.chosen(f) != b.chosen(f)) return false;
  }
  return true;
}

}  // namespace

ProblemPage::ProblemPage(Workspace& workspace, const NewFilter& new_filter, QWidget* parent)
    : Page(parent),
      workspace_(workspace),
      filter_(new_filter()),
      points_(std::make_shared<const PointSet>()),
      facets_(new FacetBar(filter_, this)),
      look_(&ProblemPage::look, [this](Narrowed now) {
        take(std::move(now));
        found_of_ = looks_for_;
        const std::function<void()> show = found_;  // `show` may start another search, which replaces found_.
        show();
      }) {
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(10, 5, 10, 4);
  column->setSpacing(5);
  column->addWidget(facets_);
  choices().keep_all_of("choices", *facets_);
  connect(facets_, &FacetBar::chosen, this, [this] { show_problem(); });
  keep_up_with(workspace);
  watch(look_);
}

void ProblemPage::set_content(QWidget* content, QWidget* below) {
  auto* both = new QWidget(this);
  stack_ = new QStackedLayout(both);
  stack_->setContentsMargins(0, 0, 0, 0);
  empty_ = new EmptyState(both, &workspace_);
  stack_->addWidget(content);
  stack_->addWidget(empty_);
  auto* column = static_cast<QVBoxLayout*>(layout());
  column->addWidget(both, 1);
  if (below != nullptr) column->addWidget(below);
  note_ = new ErrorNote(this);
  column->addWidget(note_);
}

void ProblemPage::show_content(const std::set<SimulatedPart>& parts) {
  note_->show_for(parts);
  stack_->setCurrentIndex(0);
}

void ProblemPage::show_words(const EmptyWords& words) {
  note_->show_for({});
  empty_->set_text(words);
  stack_->setCurrentWidget(empty_);
}

QString ProblemPage::words() const {
  return stack_->currentWidget() == empty_ ? empty_->text() : QString();
}

void ProblemPage::show_anew() {
  show_points();
}

QStringList ProblemPage::options(const QString& field) const {
  QStringList ids;
  for (const std::string& id : filter_.options(field.toStdString())) ids << QString::fromStdString(id);
  return ids;
}

void ProblemPage::choose(const QString& field, const QString& id) {
  const std::size_t place = filter_.place_of(field.toStdString());
  if (place == filter_.facets().size()) return;
  filter_.choose(place, id.toStdString());
  show_problem();
}

void ProblemPage::look_through(const std::string& of, Find find, std::function<void()> show) {
  if (workspace_.gathering()) return stop_looking();  // points_changed() follows.
  Narrowed before = narrowed(workspace_.query());
  before.points = workspace_.visible();
  const bool has_texts = texts_ != nullptr && texts_->size() == filter_.facets().size();
  if (before.points != points_ || of != found_of_ || !has_texts) {
    before.candidates = nullptr;
    before.texts = nullptr;
  }
  const std::size_t size = before.points->size();
  looks_for_ = of;
  found_ = std::move(show);
  look_.ask({std::move(find), std::move(before)}, size);
}

Narrowed ProblemPage::look(const SearchRequest& asked, const StaleCheck& outdated) {
  Narrowed now = asked.before;
  const analysis::PointTable& table = now.points->table();
  if (now.candidates == nullptr) now.candidates = std::make_shared<const std::vector<Row>>(asked.find(table));
  if (outdated()) return now;
  now.filter.update(table, *now.candidates);
  if (outdated()) return now;
  if (now.texts == nullptr) {
    now.texts = std::make_shared<const FacetBar::Texts>(FacetBar::texts_of(now.filter, table, *now.candidates));
  }
  return now;
}

Narrowed ProblemPage::narrowed(const QString& query) const {
  Narrowed now{points_, candidates_, texts_, filter_, query};
  // Automatic choices made for a half-typed query are dropped: each query starts from the choices without a query.
  if (now.query != taken_of_ && unfiltered_ && chosen_alike(*unfiltered_, filter_)) now.filter = *unfiltered_;
  return now;
}

void ProblemPage::take(Narrowed now) {
  points_ = std::move(now.points);
  found_of_.clear();
  candidates_ = std::move(now.candidates);
  texts_ = std::move(now.texts);
  filter_ = std::move(now.filter);
  taken_of_ = std::move(now.query);
  if (taken_of_.isEmpty()) unfiltered_ = filter_;
  facets_->refresh(*texts_);
}

bool ProblemPage::turn_to_problem_of(const std::function<bool(const ShownPoint&)>& wanted) {
  catch_up();
  settle();
  const auto is_wanted = [&](Row row) { return wanted((*points_)[row]); };
  const auto row = std::ranges::find_if(*candidates_, is_wanted);
  if (row == candidates_->end()) return false;
  if (std::ranges::any_of(filter_.rows(), is_wanted)) return true;
  facets_->choose_problem_of(points_->table(), *row);
  show_problem();
  return true;
}

bool ProblemPage::turn_to_run(const QString& file, std::int64_t run) {
  return turn_to_problem_of(
      [&](const ShownPoint& point) { return point.run->summary.id == run && point.run->file == file; });
}

}  // namespace attnscope::ui
