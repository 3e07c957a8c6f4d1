// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/point_pages.h"

#include <QCoreApplication>
#include <QEvent>
#include <algorithm>
#include <chrono>
#include <exception>
#include <map>
#include <utility>

#include "messages/points_table.h"
#include "messages/window.h"
#include "ui/said.h"

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
    if (!asked_) reader_.start([files = files_] { files->store.reset(); });
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
  return {.error = page.error.isEmpty() ? said(say::points_table::row_left_out{}) : page.error};
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
  reader_.start(
      [this, files = files_, points = points_, rows = rows_, first, count, number = *asked_, of = generation_] {
        auto page = std::make_shared<Page>();
        try {
          *page = read(*files, *points, std::span(*rows).subspan(first, count));
        } catch (const std::exception& error) {
          files->store.reset();
          *page = {.points = nullptr, .row_of = {}, .error = QString::fromUtf8(error.what())};
        }
        QMetaObject::invokeMethod(
            this, [this, of, number, page] { take(of, number, page); }, Qt::QueuedConnection);
      });
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
    const std::string file = run->file.toStdString();
    if (!files.store || files.file != run->file) {
      files.store.reset();
      files.store = RunStore::open(file, RunStore::Mode::read_only);
      files.file = run->file;
    }
    std::vector<std::int64_t> ids;
    ids.reserve(place_of.size());
    for (const auto& [id, place] : place_of) ids.push_back(id);
    RunPoints& of_run = read_of_run.emplace_back();
    files.store->each_point_of(
        ids, [&] { of_run = RunPoints(); },
        [&](const StoredPoint& point) {
          if (point.run_id == run->summary.id) of_run.add(point);
        });
    if (!stamp_of(file).same_file(run->stamp)) {
      page.error = said(say::window::file_replaced{.file = file});
      return page;
    }
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
}

void PointPages::wait() {
  while (asked_) {
    reader_.waitForDone();
    QCoreApplication::sendPostedEvents(this, QEvent::MetaCall);
  }
}

}  // namespace attnscope::ui
