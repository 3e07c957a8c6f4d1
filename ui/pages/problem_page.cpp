// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/problem_page.h"

#include <QVBoxLayout>
#include <algorithm>
#include <utility>

namespace attnscope::ui {
namespace {

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
        const std::function<void()> show = found_;  // `show` may start another search, which replaces found_.
        show();
      }) {
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(10, 5, 10, 4);
  column->setSpacing(5);
  column->addWidget(facets_);
  choices().add_group("choices", *facets_);
  connect(facets_, &FacetBar::chosen, this, [this] { show_problem(); });
  follow_visible_points(workspace);
  watch(search_);
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

void ProblemPage::show_content(const std::set<SimulatedGroup>& parts) {
  note_->show_errors(parts);
  stack_->setCurrentIndex(0);
}

void ProblemPage::show_text(const EmptyStateText& words) {
  note_->show_errors({});
  empty_->set_text(words);
  stack_->setCurrentWidget(empty_);
}

QString ProblemPage::replacement_text() const {
  return stack_->currentWidget() == empty_ ? empty_->text() : QString();
}

void ProblemPage::rebuild_page() {
  show_points();
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
  FilteredPoints before = narrowed(workspace_.query());
  before.points = workspace_.visible();
  const bool has_texts = texts_ != nullptr && texts_->size() == filter_.facets().size();
  if (before.points != points_ || of != candidates_key_ || !has_texts) {
    before.candidates = nullptr;
    before.texts = nullptr;
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
  if (now.texts == nullptr) {
    now.texts = std::make_shared<const FacetBar::Texts>(FacetBar::texts_of(now.filter, table, *now.candidates));
  }
  return now;
}

FilteredPoints ProblemPage::narrowed(const QString& query) const {
  FilteredPoints now{points_, candidates_, texts_, filter_, query};
  // Automatic choices made for a half-typed query are dropped: each query starts from the choices without a query.
  if (now.query != shown_query_ && unfiltered_ && has_equal_choices(*unfiltered_, filter_)) now.filter = *unfiltered_;
  return now;
}

void ProblemPage::apply_search(FilteredPoints now) {
  points_ = std::move(now.points);
  candidates_key_.clear();
  candidates_ = std::move(now.candidates);
  texts_ = std::move(now.texts);
  filter_ = std::move(now.filter);
  shown_query_ = std::move(now.query);
  if (shown_query_.isEmpty()) unfiltered_ = filter_;
  facets_->refresh(*texts_);
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
