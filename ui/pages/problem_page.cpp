// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/problem_page.h"

#include <QResizeEvent>
#include <QVBoxLayout>
#include <algorithm>
#include <utility>

namespace attnscope::ui {

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
  if (workspace_.gathering()) return;  // points_changed() follows, and then everything that is chosen by then
  struct Narrowed {
    std::shared_ptr<const PointSet> points;
    std::shared_ptr<const std::vector<Row>> rows;
    std::shared_ptr<const FacetBar::Texts> texts;
    ProblemFilter filter;
  };
  Narrowed narrowed{workspace_.visible(), nullptr, nullptr, filter_};
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
  work_aside(size, work, [this, of, show = std::move(show)](Narrowed now) {
    points_ = std::move(now.points);
    found_of_ = of;
    candidates_ = std::move(now.rows);
    texts_ = std::move(now.texts);
    filter_ = std::move(now.filter);
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
  filter_.update(points_->table(), *candidates_);
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

QString ProblemPage::problem_of(const QString& file, std::int64_t run) const {
  const auto first = row_of(file, run);
  if (!first) return {};
  ProblemFilter filter = new_filter_();
  filter.update(points_->table(), {*first});
  return QString::fromStdString(filter.summary());
}

}  // namespace attnscope::ui
