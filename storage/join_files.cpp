// SPDX-License-Identifier: Apache-2.0
#include "storage/join_files.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <deque>
#include <functional>
#include <future>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <thread>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "messages/file.h"
#include "profiler/plan/shards.h"
#include "storage/digest.h"
#include "storage/join_source.h"
#include "storage/migrations.h"
#include "storage/rows.h"
#include "storage/run_copier.h"
#include "storage/run_digests.h"

namespace attnscope {
namespace {

/// Where a run is found.
struct Member {
  std::size_t source = 0;
  std::int64_t id = 0;
};

/// A run of the joined file.
struct JoinedRun {
  std::string uid;
  std::string started_at;
  std::size_t points = 0;  ///< of the first member
  std::vector<Member> members;
  std::int64_t target = 0;
};

using Cells = std::vector<std::string>;

/// What one file says of a run. A run that was taken up again has another state and end in a later copy; parts of one
/// plan have a device, a command line and times of their own.
struct RunRow {
  Cells plan;   ///< what no two files may say differently of one run
  Cells begun;  ///< when, and on what
  std::string state;
  std::string finished_at;
  std::string name;
  std::string note;
  bool hidden = false;
  std::string edited_at;
  int shards = 0;  ///< of its plan

  /// Of several, the least stands.
  [[nodiscard]] auto key() const { return std::tie(begun, plan); }
  bool operator==(const RunRow&) const = default;
};

/// Whose words hold, whatever the order of the files.
const RunRow& last_edited(const std::vector<RunRow>& rows) {
  return *std::ranges::max_element(
      rows, {}, [](const RunRow& row) { return std::tie(row.edited_at, row.name, row.note, row.hidden); });
}

/// What may stand at one place of a run.
struct Candidate {
  std::size_t member = 0;
  std::int64_t id = 0;
  Digest digest;
  std::string recorded_at;
  bool cancelled = false;
  std::int64_t rounds = 0;  ///< that left times
  bool ended = false;       ///< in a way after which no round follows

  /// The same point of a run of several rounds, when it had been measured more often: a later copy, and no other
  /// result.
  [[nodiscard]] bool goes_on_from(const Candidate& other) const {
    return !cancelled && !other.cancelled && recorded_at == other.recorded_at &&
           std::tie(rounds, ended) > std::tie(other.rounds, other.ended);
  }
  [[nodiscard]] bool stands_before(const Candidate& other) const {
    if (cancelled != other.cancelled) return other.cancelled;
    if (goes_on_from(other)) return true;
    if (other.goes_on_from(*this)) return false;
    const auto mine = std::tie(recorded_at, digest.high, digest.low);
    const auto its = std::tie(other.recorded_at, other.digest.high, other.digest.low);
    // A measurement stays what it was first; of cancelled ones the last says how the run ended.
    return cancelled ? mine > its : mine < its;
  }
};

/// The candidates of a place that are not each other's copies, the one that stands first.
using Place = std::vector<Candidate>;

struct Places {
  std::map<std::int64_t, Place> by_index;
  std::size_t most_of_a_member = 0;  ///< points of the file that has the most of them
  std::int64_t rounds = 1;           ///< that the plan was to have
};

Cells cells(SQLite::Statement& row, int from, int to) {
  Cells text;
  for (int i = from; i < to; ++i) text.push_back(row.getColumn(i).getString());
  return text;
}

RunRow read_run_row(SQLite::Database& database, std::int64_t id) {
  constexpr int plan_columns = 6;
  constexpr int begun_columns = 10;
  SQLite::Statement row(
      database,
      fmt::format(
          "SELECT r.plan_hash, r.planned_points, r.preset, r.options, r.provenance, r.rounds, r.started_at, "
          "d.uuid, {}, r.argv, iif(r.state = 'running', 'interrupted', r.state), coalesce(r.finished_at, "
          "r.started_at), coalesce(r.name, ''), coalesce(r.note, ''), r.hidden, coalesce(r.edited_at, ''), (SELECT "
          "count(*) FROM source.run_shards WHERE run_id = r.id) FROM source.runs r JOIN source.devices d ON d.id = "
          "r.device_id JOIN source.environments e ON e.id = r.environment_id WHERE "
          "r.id = ?",
          qualified("e", environment_columns)));
  row.bind(1, id);
  if (!row.executeStep()) throw SQLite::Exception(fmt::format("run {} is gone", id), SQLITE_CORRUPT);
  constexpr int rest = plan_columns + begun_columns;
  return {.plan = cells(row, 0, plan_columns),
          .begun = cells(row, plan_columns, rest),
          .state = row.getColumn(rest).getString(),
          .finished_at = row.getColumn(rest + 1).getString(),
          .name = row.getColumn(rest + 2).getString(),
          .note = row.getColumn(rest + 3).getString(),
          .hidden = row.getColumn(rest + 4).getInt() != 0,
          .edited_at = row.getColumn(rest + 5).getString(),
          .shards = row.getColumn(rest + 6).getInt()};
}

/// "3, 4, 7 and 12 more"
Message named(const std::vector<std::int64_t>& numbers) {
  constexpr std::size_t most = 8;
  const auto some = std::span(numbers).first(std::min(most, numbers.size()));
  const std::string list = fmt::format("{}", fmt::join(some, ", "));
  if (some.size() == numbers.size()) return Message::verbatim(list);
  return say::file::and_more{.some = list, .more = numbers.size() - some.size()};
}

Message named_places(const std::vector<std::int64_t>& places) {
  if (places.size() == 1) return say::file::one_place{.place = places.front()};
  return say::file::places{.places = named(places)};
}

class Join {
 public:
  Join(SQLite::Database& database, const std::filesystem::path& place, RunOrder order)
      : database_(database), copier_(database), current_(place), order_(order) {}

  void look_at(const std::vector<std::filesystem::path>& names, Damaged damaged);
  JoinReport run();
  /// Of all sources.
  [[nodiscard]] const UnsignedRows& unsigned_rows() const { return unsigned_rows_; }

 private:
  /// Runs that whoever edited them last deleted, and what is deleted in a source.
  void leave_out_deleted_runs();
  void put_runs_in_order();
  void copy_rows_beside_runs();
  /// As many of the runs from `first` on as one source has by itself; returns the one behind them.
  std::size_t copy_of_one_source(std::size_t first);
  /// A run that several files have.
  void unite(const JoinedRun& run);
  /// What the member at hand has of the run's points.
  void read_member(const JoinedRun& run, std::size_t m, Places& places);
  void name_conflicts(const JoinedRun& run, const std::vector<RunRow>& rows, std::size_t base, const Places& places);
  void settle_row(const JoinedRun& run, const std::vector<RunRow>& rows, const Places& places);
  /// Of plans that were cut, what no source has of them.
  void name_missing_shards();
  /// Calls `copy` with the source attached. What cannot be read is its fault, what cannot be written the target's.
  template <class Copy>
  void with_source(std::size_t source, Copy&& copy) {
    const std::string uri = current_.uri(sources_[source]);
    try {
      copier_.attach(uri);
      copy();
      copier_.detach();
    } catch (const SQLite::Exception& error) {
      StorageError named = as_storage_error(error, sources_[source].name);
      if (named.kind() == StorageError::Kind::disk_full || named.kind() == StorageError::Kind::not_writable) throw;
      throw named;
    }
  }
  [[nodiscard]] std::string name_of(const JoinedRun& run, std::size_t member) const {
    return sources_[run.members[member].source].name.string();
  }

  SQLite::Database& database_;
  RunCopier copier_;
  CurrentSource current_;
  RunOrder order_;
  std::vector<JoinSource> sources_;
  std::vector<JoinedRun> runs_;
  std::set<std::string> deleted_;                               ///< uids of runs that are left out
  std::map<std::string, std::vector<std::size_t>> unfinished_;  ///< by uid, members that did not come to their end
  UnsignedRows unsigned_rows_;
  JoinReport report_;
};

void Join::look_at(const std::vector<std::filesystem::path>& names, Damaged damaged) {
  // Looking at a file takes longer than copying it: some are looked at meanwhile.
  const std::size_t ahead = std::clamp<std::size_t>(std::thread::hardware_concurrency(), 1, 4);
  std::deque<std::future<JoinSource>> coming;
  std::size_t next = 0;
  for (const std::filesystem::path& name : names) {
    for (; next < names.size() && coming.size() < ahead; ++next) {
      coming.push_back(std::async(std::launch::async, look_at_source, std::cref(names[next])));
    }
    std::future<JoinSource> looked = std::move(coming.front());
    coming.pop_front();
    try {
      JoinSource source = looked.get();
      source.has_rows_beside_runs =
          with_storage_errors(name, [&] { return copier_.meet(uri_of(source), source.version); });
      if (!source.extras.empty()) {
        report_.not_copied.emplace_back(say::file::extras_not_copied{
            .file = name.string(), .extras = fmt::format("{}", fmt::join(source.extras, ", "))});
      }
      if (source.unchecked > 0) {
        report_.unverified.emplace_back(
            say::file::points_signed_now{.file = name.string(), .points = source.unchecked});
      }
      if (const std::size_t rows = source.unsigned_rows.count(); rows > 0) {
        report_.unverified.emplace_back(say::file::rows_unsigned{.file = name.string(), .rows = rows});
      }
      unsigned_rows_.add(source.unsigned_rows);
      sources_.push_back(std::move(source));
    } catch (const StorageError& error) {
      if (damaged == Damaged::refuse || !is_damage(error.kind())) throw;
      report_.left_out.emplace_back(say::file::damaged_left_out{.error = error.message()});
    }
  }
  report_.files = sources_.size();
  if (sources_.empty()) {
    throw StorageError(StorageError::Kind::damaged, say::file::all_damaged{.error = report_.left_out.front()});
  }
}

void Join::leave_out_deleted_runs() {
  // When, whether it left the run there (of two edits in one second that one holds), and the source.
  std::unordered_map<std::string, std::tuple<std::string, bool, std::size_t>> last_edits;
  for (std::size_t i = 0; i < sources_.size(); ++i) {
    for (const JoinSource::Run& run : sources_[i].runs) {
      auto& last = last_edits[run.uid];
      last = std::max(last, {run.edited_at, !run.deleted, i});
    }
  }
  for (JoinSource& source : sources_) {
    std::erase_if(source.runs, [&](const JoinSource::Run& run) {
      const auto& [when, stays, by] = last_edits.at(run.uid);
      if (!stays && !run.deleted) {
        report_.not_copied.emplace_back(say::file::deleted_not_copied{
            .file = source.name.string(), .run = run.uid, .other = sources_[by].name.string()});
      }
      if (!stays) deleted_.insert(run.uid);
      return run.deleted || !stays;
    });
  }
}

void Join::put_runs_in_order() {
  std::unordered_map<std::string, std::size_t> by_uid;
  std::int64_t ids = 0;
  for (std::size_t i = 0; i < sources_.size(); ++i) {
    const std::int64_t ids_before = ids;
    for (const JoinSource::Run& run : sources_[i].runs) {
      const auto [found, is_new] = by_uid.try_emplace(run.uid, runs_.size());
      if (is_new) {
        ids = std::max(ids, ids_before + run.id);
        runs_.push_back({run.uid, run.started_at, run.points, {}, ids_before + run.id});
      }
      JoinedRun& joined = runs_[found->second];
      joined.started_at = std::min(joined.started_at, run.started_at);
      joined.members.push_back({i, run.id});
    }
  }
  if (order_ == RunOrder::as_given) return;
  std::ranges::sort(runs_, {}, [](const JoinedRun& run) { return std::tie(run.started_at, run.uid); });
  for (std::size_t i = 0; i < runs_.size(); ++i) runs_[i].target = static_cast<std::int64_t>(i) + 1;
}

JoinReport Join::run() {
  leave_out_deleted_runs();
  put_runs_in_order();
  copier_.write_names(deleted_);
  copy_rows_beside_runs();
  for (std::size_t i = 0; i < runs_.size();) {
    if (runs_[i].members.size() == 1) {
      i = copy_of_one_source(i);
    } else {
      unite(runs_[i]);
      ++i;
    }
  }
  // What a reader has to know follows from what is there now.
  database_.exec("INSERT OR IGNORE INTO needs SELECT 'gpus' WHERE EXISTS (SELECT 1 FROM points WHERE gpus > 1)");
  report_.runs = runs_.size();
  report_.points = static_cast<std::size_t>(database_.execAndGet("SELECT count(*) FROM points").getInt64());
  if (order_ == RunOrder::by_start) name_missing_shards();
  return std::move(report_);
}

void Join::name_missing_shards() {
  // Of a plan that was cut, a part may have come to its end: it is not the plan's.
  database_.exec(
      "UPDATE runs SET state = 'interrupted' WHERE state = 'complete' AND (SELECT count(*) < max(shards) FROM "
      "run_shards WHERE run_id = runs.id)");
  SQLite::Statement rows(database_,
                         "SELECT r.id, r.state, s.shards, s.shard FROM runs r JOIN run_shards s ON s.run_id = r.id "
                         "WHERE r.state <> 'complete' ORDER BY r.id, s.shards, s.shard");
  std::map<std::tuple<std::int64_t, int, std::string>, std::vector<std::int64_t>> there;
  while (rows.executeStep()) {
    there[{rows.getColumn(0).getInt64(), rows.getColumn(2).getInt(), rows.getColumn(1).getString()}].push_back(
        rows.getColumn(3).getInt64());
  }
  for (const auto& [cut, shards] : there) {
    const auto& [id, count, state] = cut;
    const JoinedRun& run = *std::ranges::find(runs_, id, &JoinedRun::target);
    std::vector<std::int64_t> missing;
    for (std::int64_t shard = 1; shard <= std::min(count, most_shards); ++shard) {
      if (!std::ranges::binary_search(shards, shard)) missing.push_back(shard);
    }
    if (!missing.empty()) {
      report_.missing.emplace_back(say::file::shards_missing{.run = run.uid, .count = count, .shards = named(missing)});
    }
    // Which of its files is not whole, the others say.
    for (const std::size_t member : unfinished_[run.uid]) {
      report_.missing.emplace_back(
          say::file::shard_unfinished{.file = name_of(run, member), .run = run.uid, .state = state});
    }
    if (missing.empty() && unfinished_[run.uid].empty()) {
      report_.missing.emplace_back(
          say::file::shard_unfinished{.file = name_of(run, 0), .run = run.uid, .state = state});
    }
  }
}

void Join::copy_rows_beside_runs() {
  for (std::size_t i = 0; i < sources_.size(); ++i) {
    if (!sources_[i].has_rows_beside_runs) continue;
    with_source(i, [&] { copier_.copy_rows_beside_runs(); });
  }
}

std::size_t Join::copy_of_one_source(std::size_t first) {
  constexpr std::size_t points_at_once = 50'000;
  const std::size_t source = runs_[first].members.front().source;
  std::vector<IdPair> some;
  std::size_t points = 0;
  std::size_t next = first;
  for (; next < runs_.size(); ++next) {
    const JoinedRun& run = runs_[next];
    const bool same = run.members.size() == 1 && run.members.front().source == source;
    if (!same || (!some.empty() && points + run.points > points_at_once)) break;
    some.push_back({.source = run.members.front().id, .target = run.target});
    points += run.points;
  }
  with_source(source, [&] {
    copier_.copy_runs(some);
    copier_.copy_points_of_runs(some);
  });
  return next;
}

void Join::read_member(const JoinedRun& run, std::size_t m, Places& places) {
  SQLite::Statement rounds(database_, "SELECT rounds FROM source.runs WHERE id = ?");
  rounds.bind(1, run.members[m].id);
  if (rounds.executeStep()) places.rounds = std::max(places.rounds, rounds.getColumn(0).getInt64());
  SQLite::Statement points(
      database_,
      fmt::format("SELECT p.plan_index, p.id, p.digest, p.recorded_at, p.disposition = 'cancelled', {}, p.disposition "
                  "NOT IN ('ok', 'no-counters') FROM source.points p WHERE p.run_id = ?",
                  places.rounds > 1
                      ? "(SELECT count(DISTINCT t.round) FROM source.kernels k JOIN source.timing_samples "
                        "t ON t.kernel_id = k.id WHERE k.point_id = p.id)"
                      : "1"));
  points.bind(1, run.members[m].id);
  std::size_t count = 0;
  for (; points.executeStep(); ++count) {
    Candidate candidate{.member = m,
                        .id = points.getColumn(1).getInt64(),
                        .digest = parse_digest(points.getColumn(2).getString()).value_or(Digest()),
                        .recorded_at = points.getColumn(3).getString(),
                        .cancelled = points.getColumn(4).getInt() != 0,
                        .rounds = points.getColumn(5).getInt64(),
                        .ended = points.getColumn(6).getInt() != 0};
    Place& place = places.by_index[points.getColumn(0).getInt64()];
    if (std::ranges::find(place, candidate.digest, &Candidate::digest) != place.end()) continue;
    const bool stands = !place.empty() && candidate.stands_before(place.front());
    place.push_back(std::move(candidate));
    if (stands) std::swap(place.front(), place.back());
  }
  places.most_of_a_member = std::max(places.most_of_a_member, count);
}

void Join::name_conflicts(const JoinedRun& run, const std::vector<RunRow>& rows, std::size_t base,
                          const Places& places) {
  for (std::size_t m = 0; m < rows.size(); ++m) {
    if (rows[m].plan == rows[base].plan) continue;
    report_.conflicts.emplace_back(
        say::file::runs_conflict{.run = run.uid, .kept = name_of(run, base), .other = name_of(run, m)});
  }
  std::map<std::pair<std::size_t, std::size_t>, std::vector<std::int64_t>> pairs;  // kept, other
  for (const auto& [index, place] : places.by_index) {
    for (const Candidate& other : place) {
      if (other.cancelled || other.digest == place.front().digest || place.front().goes_on_from(other)) continue;
      pairs[{place.front().member, other.member}].push_back(index);
    }
  }
  for (const auto& [pair, indices] : pairs) {
    report_.conflicts.emplace_back(say::file::points_conflict{.run = run.uid,
                                                              .places = named_places(indices),
                                                              .kept = name_of(run, pair.first),
                                                              .other = name_of(run, pair.second)});
  }
}

void Join::settle_row(const JoinedRun& run, const std::vector<RunRow>& rows, const Places& places) {
  std::string state = rows.front().state;
  const bool differ = std::ranges::any_of(rows, [&](const RunRow& row) { return row != rows.front(); });
  const bool more_points = places.most_of_a_member < places.by_index.size();
  if (differ || more_points) {
    const auto measured = std::ranges::count_if(places.by_index, [&](const auto& place) {
      const Candidate& stands = place.second.front();
      return !stands.cancelled && (places.rounds == 1 || stands.ended || stands.rounds >= places.rounds);
    });
    const std::int64_t planned =
        database_.execAndGet(fmt::format("SELECT planned_points FROM runs WHERE id = {}", run.target)).getInt64();
    constexpr std::array<const char*, 3> unfinished{"interrupted", "cancelled", "failed"};
    std::size_t worst = 0;
    for (const RunRow& row : rows) {
      const auto found = std::ranges::find(unfinished, row.state);
      if (found != unfinished.end()) worst = std::max(worst, static_cast<std::size_t>(found - unfinished.begin()));
    }
    state = measured >= planned ? "complete" : unfinished.at(worst);
  }
  for (std::size_t m = 0; m < rows.size(); ++m) {
    // What several shards were merged into before is nobody's to go on with.
    if (rows[m].state != "complete" && rows[m].shards < 2) unfinished_[run.uid].push_back(m);
  }
  const RunRow& edited = last_edited(rows);
  SQLite::Statement update(database_,
                           "UPDATE runs SET state = ?, finished_at = ?, name = nullif(?, ''), note = nullif(?, ''), "
                           "hidden = ?, edited_at = nullif(?, '') WHERE id = ?");
  Binder(update) << state << std::ranges::max(rows, {}, &RunRow::finished_at).finished_at << edited.name << edited.note
                 << edited.hidden << edited.edited_at << run.target;
  update.exec();
}

void Join::unite(const JoinedRun& run) {
  std::vector<RunRow> rows;
  Places places;
  for (std::size_t m = 0; m < run.members.size(); ++m) {
    with_source(run.members[m].source, [&] {
      rows.push_back(read_run_row(database_, run.members[m].id));
      read_member(run, m, places);
    });
  }
  const auto base = static_cast<std::size_t>(
      std::ranges::min_element(rows, {}, [](const RunRow& row) { return row.key(); }) - rows.begin());
  name_conflicts(run, rows, base, places);

  std::vector<std::vector<IdPair>> chosen(run.members.size());
  std::int64_t id = copier_.next_point();
  for (const auto& [index, place] : places.by_index) {
    chosen[place.front().member].push_back({.source = place.front().id, .target = id++});
  }
  with_source(run.members[base].source, [&] {
    const IdPair row{.source = run.members[base].id, .target = run.target};
    copier_.copy_runs({&row, 1});
  });
  for (std::size_t m = 0; m < run.members.size(); ++m) {
    with_source(run.members[m].source, [&] {
      copier_.copy_words_of_run({.source = run.members[m].id, .target = run.target});
      if (!chosen[m].empty()) copier_.copy_points(chosen[m], run.target);
    });
  }
  settle_row(run, rows, places);
  // A tag that was taken away stays away: of tags, too, the last edit holds.
  const RunRow& last = last_edited(rows);
  if (last.edited_at.empty() || std::ranges::count(rows, last.edited_at, &RunRow::edited_at) > 1) return;
  const Member& edited = run.members[static_cast<std::size_t>(&last - rows.data())];
  with_source(edited.source, [&] {
    database_.exec(
        fmt::format("DELETE FROM run_tags WHERE run_id = {0}; INSERT INTO run_tags SELECT {0}, tag FROM "
                    "source.run_tags WHERE run_id = {1}",
                    run.target, edited.id));
  });
}

}  // namespace

bool is_damage(StorageError::Kind kind) {
  using Kind = StorageError::Kind;
  return kind == Kind::damaged || kind == Kind::not_a_database || kind == Kind::foreign;
}

JoinReport join_files(SQLite::Database& database, const std::vector<std::filesystem::path>& sources,
                      const std::filesystem::path& place, RunOrder order, Damaged damaged) {
  // What fails is thrown away, and the disk is waited for once, before the file gets its name.
  database.exec("PRAGMA journal_mode = MEMORY");
  database.exec("PRAGMA synchronous = OFF");
  migrate(database);
  database.exec("VACUUM");  // tables that were rebuilt on the way to the newest schema leave gaps
  Join join(database, place, order);
  join.look_at(sources, damaged);
  JoinReport report = join.run();
  sign_rows(database, join.unsigned_rows());
  return report;
}

}  // namespace attnscope
