// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/problem_page.h"

#include <QResizeEvent>
#include <QVBoxLayout>
#include <algorithm>
#include <utility>

namespace attnscope::ui {
namespace {

/// What a page took by itself when no query left points out, and the query that its points fit now; its child.
class Unfiltered : public QObject {
 public:
  using QObject::QObject;
  std::optional<ProblemFilter> filter;
  QString query;
};

Unfiltered& unfiltered_of(QObject& page) {
  const QString name = QStringLiteral("unfiltered");
  if (auto* known = page.findChild<QObject*>(name, Qt::FindDirectChildrenOnly)) return static_cast<Unfiltered&>(*known);
  auto* made = new Unfiltered(&page);
  made->setObjectName(name);
  return *made;
}

/// Whether the same was chosen by hand, of the same facets.
bool chosen_alike(const ProblemFilter& a, const ProblemFilter& b) {
  for (std::size_t f = 0; f < a.facets().size(); ++f) {
    if (a.narrows(f) != b.narrows(f) || a.chosen(f) != b.chosen(f)) return false;
  }
  return true;
}

/// What a half-written query takes by itself is not kept: each query begins from what was shown of all points.
ProblemFilter begun(QObject& page, const QString& query, const ProblemFilter& filter) {
  Unfiltered& kept = unfiltered_of(page);
  const bool another = query != kept.query;
  kept.query = query;
  return another && kept.filter && chosen_alike(*kept.filter, filter) ? *kept.filter : filter;
}

}  // namespace

ProblemPage::ProblemPage(Workspace& workspace, NewFilter new_filter, QWidget* parent)
    : Page(parent),
      workspace_(workspace),
      new_filter_(std::move(new_filter)),
      filter_(new_filter_()),
      points_(std::make_shared<const PointSet>()),
      facets_(new FacetBar(filter_, this)) {
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(10, 5, 10, 4);
  column->setSpacing(5);
  column->addWidget(facets_);
  connect(facets_, &FacetBar::chosen, this, [this] {
    touch();
    show_problem();
  });
  keep_up_with(workspace);
  connect(&aside(), &Aside::settled, this, &ProblemPage::take_followed);
}

void ProblemPage::show_anew() {
  show_points();
  take_followed();
}

void ProblemPage::take_followed() {
  if (aside().busy()) return;
  if (const auto run = std::exchange(followed_, std::nullopt)) follow(run->file, run->id, false);
}

void ProblemPage::resizeEvent(QResizeEvent* event) {
  constexpr int rows_in_a_low_page = 2;
  Page::resizeEvent(event);
  facets_->set_most_rows(event->size().height() < roomy_height ? rows_in_a_low_page : 0);
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
  if (workspace_.gathering()) {
    aside().drop();  // an earlier look would undo what was chosen since
    return;          // points_changed() follows, and then everything that is chosen by then
  }
  struct Narrowed {
    std::shared_ptr<const PointSet> points;
    std::shared_ptr<const std::vector<Row>> rows;
    std::shared_ptr<const FacetBar::Texts> texts;
    ProblemFilter filter;
  };
  const QString query = workspace_.query();
  Narrowed narrowed{workspace_.visible(), nullptr, nullptr, begun(*this, query, filter_)};
  if (narrowed.points == points_ && of == found_of_ && texts_ != nullptr) {
    narrowed.rows = candidates_;
    narrowed.texts = texts_;
  }
  const std::size_t size = narrowed.points->size();
  const auto work = [find = std::move(find), narrowed = std::move(narrowed)](const Aside::Outdated& outdated) {
    Narrowed now = narrowed;
    const analysis::PointTable& table = now.points->table();
    if (now.rows == nullptr) now.rows = std::make_shared<const std::vector<Row>>(find(table));
    if (outdated()) return now;
    now.filter.update(table, *now.rows);
    if (outdated()) return now;
    if (now.texts == nullptr) {
      now.texts = std::make_shared<const FacetBar::Texts>(FacetBar::texts_of(now.filter, table, *now.rows));
    }
    return now;
  };
  work_aside(size, work, [this, of, query, show = std::move(show)](Narrowed now) {
    points_ = std::move(now.points);
    found_of_ = of;
    candidates_ = std::move(now.rows);
    texts_ = std::move(now.texts);
    filter_ = std::move(now.filter);
    if (query.isEmpty()) unfiltered_of(*this).filter = filter_;
    facets_->refresh(*texts_);
    show();
  });
}

void ProblemPage::set_points(std::shared_ptr<const PointSet> points, std::vector<Row> candidates) {
  if (points != points_ || candidates != *candidates_ || texts_ == nullptr) {
    points_ = std::move(points);
    candidates_ = std::make_shared<const std::vector<Row>>(std::move(candidates));
    texts_ = std::make_shared<const FacetBar::Texts>(FacetBar::texts_of(filter_, points_->table(), *candidates_));
  }
  found_of_.clear();
  filter_ = begun(*this, workspace_.query(), filter_);
  filter_.update(points_->table(), *candidates_);
  if (workspace_.query().isEmpty()) unfiltered_of(*this).filter = filter_;
  facets_->refresh(*texts_);
}

bool ProblemPage::is_of_run(Row row, const QString& file, std::int64_t run) const {
  const RunInfo& info = *points_->run_of(row);
  return info.summary.id == run && info.file == file;
}

bool ProblemPage::grows(const QString& file, std::int64_t run) const {
  const auto place = workspace_.place_of(file, run);
  return place && workspace_.runs()[*place].info->summary.state == StoredRunState::running;
}

std::optional<Row> ProblemPage::row_of(const QString& file, std::int64_t run) const {
  const auto found = std::ranges::find_if(*candidates_, [&](Row row) { return is_of_run(row, file, run); });
  return found == candidates_->end() ? std::nullopt : std::optional(*found);
}

Page::Followed ProblemPage::follow(const QString& file, std::int64_t run, bool insist) {
  // What the user chose has to be asked of the points that are there now.
  if (outdated() && !touched() && !insist) {
    followed_ = Run{file, run};
    return Followed::later;
  }
  catch_up();
  if (!ProblemPage::settled() && !insist) {
    if (!touched()) followed_ = Run{file, run};
    // What the user chose stays whatever is found; of a run that has ended one has to know whether it is shown.
    if (!touched() || grows(file, run)) return Followed::later;
  }
  ProblemPage::settle();
  const auto first = row_of(file, run);
  if (!first) return Followed::no_points;
  if (std::ranges::any_of(filter_.rows(), [&](Row row) { return is_of_run(row, file, run); })) return Followed::shown;
  if (touched() && !insist) return Followed::kept;
  facets_->choose_problem_of(points_->table(), *first);
  show_problem();
  return Followed::shown;
}

bool ProblemPage::turn_to(const QString& file, std::int64_t point) {
  catch_up();
  ProblemPage::settle();
  const auto row = std::ranges::find_if(
      *candidates_, [&](Row each) { return points_->id(each) == point && points_->run_of(each)->file == file; });
  if (row == candidates_->end()) return false;
  if (std::ranges::find(filter_.rows(), *row) != filter_.rows().end()) return true;
  touch();
  facets_->choose_problem_of(points_->table(), *row);
  show_problem();
  return true;
}

QString ProblemPage::problem_of(const QString& file, std::int64_t run) const {
  const auto first = row_of(file, run);
  if (!first) return {};
  ProblemFilter filter = new_filter_();
  filter.update(points_->table(), {*first});
  return QString::fromStdString(filter.summary());
}

}  // namespace attnscope::ui
