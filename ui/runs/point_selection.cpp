// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/runs/point_selection.h"

#include <algorithm>
#include <deque>
#include <exception>
#include <future>
#include <iterator>
#include <new>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <thread>

#include "ui/process/shared_of_many.h"
#include "ui/runs/file_contents.h"
#include "ui/text/qtext.h"

namespace attnscope::ui {
namespace {

/// So many points are looked at together where metrics are asked for: as columns they take some 8 MB.
constexpr std::size_t judged_at_a_time = 8192;

/// So many points are read together: between them is seen whether somebody still waits.
constexpr std::size_t read_at_a_time = 1024;

struct Superseded {};

/// What could not be read.
struct ReadFailure {
  QString file;
  QString error;
};

std::vector<StoredPoint> points_of(const RunStore& store, std::span<const std::int64_t> ids) {
  std::vector<StoredPoint> found;
  store.each_point_of(
      ids, [&] { found.clear(); }, [&](StoredPoint&& point) { found.push_back(std::move(point)); });
  return found;
}

/// Points of the rows of a listing, by file, in the order of the rows; each file is opened once by each thread.
class ValuesOfRows {
 public:
  ValuesOfRows(const Listing& listing, ReadProgress& progress, const Outdated& outdated)
      : listing_(listing), progress_(progress), outdated_(outdated) {}

  /// Calls visit(row, point) for each; rows that reading skips are left out. Throws ReadFailure and Superseded.
  template <class Visit>
  void each(std::span<const Row> rows, Visit&& visit) {
    std::map<QString, std::map<std::int64_t, Row>> by_file;
    for (const Row row : rows) {
      by_file[listing_.points->run_of(row)->file].emplace(listing_.points->id(row), row);
    }
    for (const auto& of_file : by_file) {
      const QString& file = of_file.first;
      const std::map<std::int64_t, Row>& row_of = of_file.second;
      std::vector<std::int64_t> ids;
      ids.reserve(row_of.size());
      for (const auto& [id, row] : row_of) ids.push_back(id);
      try {
        const std::vector<RunStore>& stores = open(file, ids.size());
        require_same(stores.front(), file, row_of);
        // Parts that are read at once are consecutive, so each has a connection to itself; who leaves waits for them.
        std::deque<std::future<std::vector<StoredPoint>>> reading;
        for (std::size_t asked = 0, taken = 0; taken < ids.size();) {
          if (outdated_()) throw Superseded();
          if (asked < ids.size() && reading.size() < stores.size()) {
            const auto some =
                std::span<const std::int64_t>(ids).subspan(asked, std::min(read_at_a_time, ids.size() - asked));
            const RunStore& store = stores[asked / read_at_a_time % stores.size()];
            reading.push_back(std::async(std::launch::async, [&store, some] { return points_of(store, some); }));
            asked += some.size();
            continue;
          }
          std::vector<StoredPoint> found = reading.front().get();
          reading.pop_front();
          for (StoredPoint& point : found) {
            const Row row = row_of.at(point.id);
            require_same(point, file, row);
            visit(row, point);
          }
          const std::size_t read = std::min(read_at_a_time, ids.size() - taken);
          taken += read;
          progress_.read += read;
        }
        require_same(stores.front(), file, row_of);
      } catch (const std::bad_alloc&) {
        throw;
      } catch (const std::exception& error) {
        throw ReadFailure{file, QString::fromUtf8(error.what())};
      }
    }
  }

  [[nodiscard]] std::map<QString, QString> skipped() const {
    std::map<QString, QString> all;
    for (const auto& [file, stores] : stores_) {
      std::vector<BadRow> rows = stores.front().bad_rows();
      for (const RunStore& store : std::span(stores).subspan(1)) {
        // Damaged runs are told by each connection, damaged points by that which read them.
        std::ranges::copy_if(store.bad_rows(), std::back_inserter(rows),
                             [](const BadRow& row) { return row.point.has_value(); });
      }
      if (QString words = skipped_rows(file, rows); !words.isEmpty()) all.emplace(file, std::move(words));
    }
    return all;
  }

 private:
  /// As many connections as so many points are worth.
  const std::vector<RunStore>& open(const QString& file, std::size_t points) {
    constexpr std::size_t most_readers = 4;
    const std::size_t cores = std::max(1U, std::thread::hardware_concurrency());
    const std::size_t worth = std::clamp(points / read_at_a_time, std::size_t{1}, std::min(cores, most_readers));
    std::vector<RunStore>& stores = stores_[file];
    while (stores.size() < worth) stores.push_back(RunStore::open(file.toStdString(), RunStore::Mode::read_only));
    return stores;
  }
  /// All runs that these rows are of.
  void require_same(const RunStore& store, const QString& file, const std::map<std::int64_t, Row>& rows) const {
    std::set<const RunInfo*> runs;
    for (const auto& [id, row] : rows) runs.insert(listing_.points->run_of(row).get());
    if (std::ranges::none_of(runs, [&](const RunInfo* run) { return is_replaced(store, *run); })) return;
    throw ReadFailure{
        file, qtext("{} was replaced by another file since it was read: what is shown is read anew, of that one.",
                    file.toStdString())};
  }
  void require_same(const StoredPoint& point, const QString& file, Row row) const {
    const bool same = point.run_id == listing_.points->run_of(row)->summary.id &&
                      point.record.spec == listing_.points->table().spec(row);
    if (!same)
      throw ReadFailure{file,
                        qtext("{} has changed since this point was read from it. Close the file and open it again.",
                              file.toStdString())};
  }

  const Listing& listing_;
  ReadProgress& progress_;
  const Outdated& outdated_;
  std::map<QString, std::vector<RunStore>> stores_;
};

/// All points, whether they fit or not.
Listing list_all(const SelectionAsk& ask) {
  std::vector<PointSet::Part> parts;
  parts.reserve(ask.large.size());
  for (const SelectionAsk::Part& part : ask.large) parts.push_back({part.run, &part.settings->points, part.told});
  Listing listing;
  listing.points = make_shared_of_many<PointSet>(parts, *ask.ticked, ask.others);
  const auto large = std::ranges::count_if(parts, [](const auto& part) { return !part.points->empty(); });
  listing.without_values.assign(listing.points->table().runs().size(), false);
  std::fill_n(listing.without_values.begin(), large, true);
  return listing;
}

void add_point(Selection& selection, const RunPtr& run, const StoredPoint& point) {
  selection.points[{run->file, run->summary.id}].add(point);
}

/// Leaves the rows that fit what is asked of metrics, and takes the values of the latest of those that lacked them.
void judge_metrics(const SelectionAsk& ask, Listing& listing, ValuesOfRows& values, ReadProgress& progress,
                   Selection& selection) {
  const auto split = std::ranges::find_if(listing.rows, [&](Row row) { return !listing.lacks_values(row); });
  std::vector<Row> others;  // of files that are in memory, which stand last
  if (split != listing.rows.end()) {
    const std::vector<Row> given(split, listing.rows.end());
    const PointSet alone(*listing.points, given);
    const std::vector<Row> fit = ask.query.rows(alone.table());
    others.reserve(fit.size());
    for (const Row row : fit) others.push_back(given[row]);
  }
  const std::vector<Row> candidates(listing.rows.begin(), split);
  progress.total = candidates.size();
  std::vector<Row> fitting;
  std::size_t kept = 0;
  selection.reads = true;
  // From the latest on, for of those the values are kept.
  for (std::size_t end = candidates.size(); end > 0;) {
    const std::size_t begin = end - std::min(end, judged_at_a_time);
    std::vector<std::pair<Row, StoredPoint>> some;
    values.each(std::span(candidates).subspan(begin, end - begin),
                [&](Row row, StoredPoint& point) { some.emplace_back(row, std::move(point)); });
    std::ranges::sort(some, {}, &std::pair<Row, StoredPoint>::first);
    analysis::PointTableBuilder builder;
    std::map<analysis::RunIndex, analysis::RunIndex> known;
    for (const auto& [row, point] : some) {
      const analysis::RunIndex run = listing.points->table().run_index(row);
      if (!known.contains(run)) known[run] = builder.add_run(listing.points->table().runs()[run]);
      builder.add(known[run], point.record, point.index);
    }
    const analysis::PointTable table = std::move(builder).finish();
    const std::vector<Row> fit = ask.query.rows(table);
    for (auto row = fit.rbegin(); row != fit.rend(); ++row) {
      const auto& [of_listing, point] = some[*row];
      fitting.push_back(of_listing);
      if (kept++ < ask.most) add_point(selection, listing.points->run_of(of_listing), point);
    }
    end = begin;
  }
  std::ranges::reverse(fitting);
  fitting.insert(fitting.end(), others.begin(), others.end());
  listing.rows = std::move(fitting);
}

/// Takes the values of the latest of the rows that fit, unless all of them are in memory.
void take_latest(const SelectionAsk& ask, const Listing& listing, ValuesOfRows& values, ReadProgress& progress,
                 Selection& selection) {
  std::vector<Row> chosen;
  for (auto row = listing.rows.rbegin(); row != listing.rows.rend() && chosen.size() < ask.most; ++row) {
    if (listing.lacks_values(*row)) chosen.push_back(*row);
  }
  std::ranges::reverse(chosen);
  std::map<const RunInfo*, std::vector<std::int64_t>> loaded;
  for (const SelectionAsk::Part& part : ask.large) {
    std::ranges::sort(loaded.emplace(part.run.get(), part.loaded).first->second);
  }
  const bool all_there = std::ranges::all_of(chosen, [&](Row row) {
    const auto of_run = loaded.find(listing.points->run_of(row).get());
    return of_run != loaded.end() && std::ranges::binary_search(of_run->second, listing.points->id(row));
  });
  if (all_there) return;
  selection.reads = true;
  progress.total = chosen.size();
  values.each(chosen,
              [&](Row row, const StoredPoint& point) { add_point(selection, listing.points->run_of(row), point); });
}

}  // namespace

bool is_replaced(const RunStore& store, const RunInfo& run) {
  const bool same = stamp_of(run.file.toStdString()).same_file(run.stamp) && store.schema_version() >= settings_since &&
                    store.run_uid(run.summary.id) == std::optional(run.summary.uid);
  return !same;
}

QString skipped_rows(const QString& path, std::span<const BadRow> rows) {
  if (rows.empty()) return {};
  const BadRow& first = rows.front();
  const std::string file = path.toStdString();
  if (rows.size() == 1) {
    return qtext("1 row of {} is not what was written and is left out: {}: {}", file, first.where, first.why);
  }
  return qtext("{} rows of {} are not what was written and are left out: {}: {}", rows.size(), file, first.where,
               first.why);
}

Selection select_points(const SelectionAsk& ask, const Outdated& outdated) {
  ReadProgress& progress = *ask.progress;
  Selection selection;
  try {
    Listing listing =
        ask.before != nullptr ? Listing{ask.before->points, ask.before->without_values, {}} : list_all(ask);
    if (outdated()) return {};
    listing.rows = ask.query.without_metrics().rows(listing.points->table());
    if (outdated()) return {};
    ValuesOfRows values(listing, progress, outdated);
    if (ask.query.asks_for_metrics()) {
      judge_metrics(ask, listing, values, progress, selection);
    } else {
      take_latest(ask, listing, values, progress, selection);
    }
    for (auto& [run, points] : selection.points) points.shrink();
    selection.skipped = values.skipped();
    selection.listing = make_shared_of_many<Listing>(std::move(listing));
  } catch (const Superseded&) {
    return {};
  } catch (const ReadFailure& failure) {
    selection = {};
    selection.file = failure.file;
    selection.error = failure.error;
  } catch (const std::bad_alloc&) {
    selection = {};
    selection.file = ask.large.front().run->file;
    selection.error = out_of_memory(selection.file);
  }
  return selection;
}

}  // namespace attnscope::ui
