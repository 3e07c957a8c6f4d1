// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/runs/point_pages.h"

#include <QCoreApplication>
#include <QEvent>
#include <algorithm>
#include <chrono>
#include <exception>
#include <map>
#include <utility>

#include "messages/points_table.h"
#include "ui/runs/point_selection.h"
#include "ui/text/qtext.h"

namespace attnscope::ui {
namespace {

/// Some thousand rows around those that are seen.
constexpr std::size_t most_pages = 48;
/// Of those that somebody scrolled past nobody waits for.
constexpr std::size_t most_wanted = 4;
/// A file that stays open is in the way of a collector that ends.
constexpr std::chrono::seconds pages_kept_open{3};

}  // namespace

PointPages::PointPages(QObject* parent) : QObject(parent) {
  reader_.setMaxThreadCount(1);
  idle_.setSingleShot(true);
  idle_.setInterval(pages_kept_open);
  connect(&idle_, &QTimer::timeout, this, [this] {
    if (asked_) return;
    reader_.start([files = files_] { files->store.reset(); });
    try_again();
  });
}

PointPages::~PointPages() {
  reader_.waitForDone();
}

void PointPages::show(std::shared_ptr<const PointSet> points, std::shared_ptr<const std::vector<Row>> rows) {
  points_ = std::move(points);
  rows_ = std::move(rows);
  ++generation_;
  pages_.clear();
  recent_.clear();
  wanted_.clear();
  asked_.reset();
}

PointPages::Value PointPages::at(std::size_t place) {
  const std::size_t number = place / page_rows;
  const auto known = pages_.find(number);
  if (known == pages_.end()) {
    if (std::ranges::find(wanted_, number) == wanted_.end() && asked_ != number) {
      wanted_.push_front(number);
      if (wanted_.size() > most_wanted) wanted_.pop_back();
      if (!asked_) ask_next();
    }
    return {};
  }
  if (recent_.front() != number) {
    std::erase(recent_, number);
    recent_.push_front(number);
  }
  const Page& page = *known->second;
  const std::optional<Row> row = page.points == nullptr ? std::nullopt : page.row_of[place % page_rows];
  if (row) return {.points = page.points.get(), .row = *row};
  return {.error = page.error.isEmpty() ? qtext(say::points_table::row_left_out{}) : page.error};
}

void PointPages::ask_next() {
  if (wanted_.empty()) {
    asked_.reset();
    idle_.start();
    return;
  }
  asked_ = wanted_.front();
  wanted_.pop_front();
  const std::size_t first = *asked_ * page_rows;
  const std::size_t count = std::min(page_rows, rows_->size() - first);
  reader_.start([this, files = files_, points = points_, rows = rows_, first, count, number = *asked_,
                 of = generation_] {
    const auto page = std::make_shared<const Page>(page_of(*files, *points, std::span(*rows).subspan(first, count)));
    QMetaObject::invokeMethod(
        this, [this, of, number, page] { take(of, number, page); }, Qt::QueuedConnection);
  });
}

namespace {

/// Why rows of a page cannot be read.
struct NoPage {
  RunPtr run;
  QString error;
  bool replaced = false;
};

}  // namespace

PointPages::Page PointPages::page_of(Files& files, const PointSet& points, std::span<const Row> rows) {
  Page page;
  try {
    return read(files, points, rows);
  } catch (const NoPage& none) {
    page.error = none.error;
    page.failed = none.run;
    page.replaced = none.replaced;
  } catch (const std::exception& error) {
    page.error = QString::fromUtf8(error.what());
    page.failed = points.run_of(rows.front());
  }
  files.store.reset();
  return page;
}

PointPages::Page PointPages::read(Files& files, const PointSet& points, std::span<const Row> rows) {
  Page page;
  page.row_of.resize(rows.size());
  // By run, and each run's by id.
  std::map<RunPtr, std::map<std::int64_t, std::size_t>> places;
  for (std::size_t i = 0; i < rows.size(); ++i) places[points.run_of(rows[i])].emplace(points.id(rows[i]), i);
  std::vector<RunPoints> read_of_run;
  read_of_run.reserve(places.size());
  std::vector<PointSet::Part> parts;
  std::vector<std::size_t> place_of_row;
  for (const auto& part : places) {
    const RunPtr& run = part.first;
    const std::map<std::int64_t, std::size_t>& place_of = part.second;
    if (!files.store || files.file != run->file) {
      files.store.reset();
      files.store = RunStore::open(run->file.toStdString(), RunStore::Mode::read_only);
      files.file = run->file;
    }
    const auto require_same = [&] {
      if (!is_replaced(*files.store, *run)) return;
      throw NoPage{run,
                   qtext("{} was replaced by another file since it was read: what is shown is read anew, of that one.",
                         run->file.toStdString()),
                   true};
    };
    require_same();
    std::vector<std::int64_t> ids;
    ids.reserve(place_of.size());
    for (const auto& [id, place] : place_of) ids.push_back(id);
    RunPoints& of_run = read_of_run.emplace_back();
    bool others = false;
    const auto begin = [&] {
      of_run = RunPoints();
      others = false;
    };
    files.store->each_point_of(ids, begin, [&](const StoredPoint& point) {
      const Row row = rows[place_of.at(point.id)];
      others = others || point.run_id != run->summary.id || point.record.spec != points.table().spec(row);
      of_run.add(point);
    });
    require_same();
    if (others)
      throw NoPage{run, qtext("{} has changed since this point was read from it. Close the file and open it again.",
                              run->file.toStdString())};
    for (const Row row : of_run.rows()) place_of_row.push_back(place_of.at(of_run.id(row)));
    // What analysis knows of the run the points that are shown say already.
    parts.push_back({run, &of_run, points.table().runs()[points.table().run_index(rows[place_of.begin()->second])]});
  }
  page.points = std::make_shared<const PointSet>(parts);
  for (Row row = 0; row < page.points->size(); ++row) page.row_of[place_of_row[row]] = row;
  return page;
}

void PointPages::take(std::uint64_t of, std::size_t number, std::shared_ptr<const Page> page) {
  if (of != generation_) {
    if (!asked_) ask_next();
    return;
  }
  const RunPtr run = page->failed;
  const QString why = page->error;
  const bool replaced = page->replaced;
  pages_[number] = std::move(page);
  recent_.push_front(number);
  if (recent_.size() > most_pages) {
    pages_.erase(recent_.back());
    recent_.pop_back();
  }
  asked_.reset();
  ask_next();
  const std::size_t first = number * page_rows;
  emit arrived(first, std::min(first + page_rows, rows_->size()) - 1);
  if (run != nullptr) emit failed(run, why, replaced);
}

void PointPages::try_again() {
  std::vector<std::size_t> forgotten;
  for (const auto& [number, page] : pages_) {
    if (page->points == nullptr && !page->replaced) forgotten.push_back(number);
  }
  for (const std::size_t number : forgotten) {
    pages_.erase(number);
    std::erase(recent_, number);
  }
  for (const std::size_t number : forgotten) {
    const std::size_t first = number * page_rows;
    if (rows_ != nullptr && first < rows_->size()) emit arrived(first, std::min(first + page_rows, rows_->size()) - 1);
  }
}

void PointPages::wait() {
  while (asked_) {
    reader_.waitForDone();
    QCoreApplication::sendPostedEvents(this, QEvent::MetaCall);
  }
}

}  // namespace attnscope::ui
