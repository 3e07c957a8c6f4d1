// SPDX-License-Identifier: Apache-2.0
#include "storage/join_source.h"

#include <SQLiteCpp/SQLiteCpp.h>

#include <unordered_map>
#include <utility>

#include "messages/file.h"
#include "messages/row.h"
#include "storage/collector_lock.h"
#include "storage/migrations.h"
#include "storage/run_digests.h"

namespace attnscope {
namespace {

/// Points that are read at once: what a file holds may be more than fits into memory.
constexpr std::size_t points_at_once = 10'000;

bool is_written(const std::filesystem::path& file) {
  return CollectorLock::held(file) || has_journal(file);
}

/// A run's points follow each other; all of a small file come at once, with those whose run is gone.
void read_points(const RunStore& store, const std::vector<RunSummary>& runs, std::size_t& unchecked) {
  std::size_t all = 0;
  for (const RunSummary& run : runs) all += run.points;
  const auto read = [&](const std::vector<std::int64_t>& some) {
    (void)store.points(some);
    unchecked += store.unchecked_points();
  };
  if (all <= points_at_once) return read({});
  std::vector<std::int64_t> some;
  std::size_t points = 0;
  for (const RunSummary& run : runs) {
    if (!some.empty() && points + run.points > points_at_once) {
      read(std::exchange(some, {}));
      points = 0;
    }
    some.push_back(run.id);
    points += run.points;
  }
  if (!some.empty()) read(some);
}

}  // namespace

std::string uri_of(const JoinSource& source) {
  return database_uri(source.file, is_written(source.file) ? DatabaseAccess::read_only : DatabaseAccess::immutable);
}

JoinSource look_at_source(const std::filesystem::path& name) {
  const RunStore store = RunStore::open(name, RunStore::Mode::read_only);
  JoinSource source{.name = name,
                    .file = store.file(),
                    .version = store.schema_version(),
                    .runs = {},
                    .extras = store.extras(),
                    .stamp = stamp_of(store.file()),
                    .unsigned_rows = {},
                    .as_it_is = false};
  const std::vector<RunSummary> runs = store.runs(true);
  read_points(store, runs, source.unchecked);
  const std::vector<BadRow> bad = store.bad_rows();
  const std::vector<Message> damage = store.structural_damage();
  if (!bad.empty() || !damage.empty()) {
    throw StorageError(
        StorageError::Kind::damaged,
        say::file::damaged_not_copied{
            .file = name.string(),
            .error = bad.empty() ? damage.front() : say::row::at{.where = bad.front().where, .why = bad.front().why}});
  }
  std::unordered_map<std::int64_t, std::string> edited;
  with_storage_errors(name, [&] {
    const bool written = is_written(source.file);
    const auto database = open_database(source.file, written ? DatabaseAccess::read_only : DatabaseAccess::immutable);
    source.unsigned_rows = unsigned_rows(*database);
    if (source.version < room_since) return;
    SQLite::Statement edits(*database, "SELECT id, edited_at FROM runs WHERE edited_at IS NOT NULL");
    while (edits.executeStep()) edited[edits.getColumn(0).getInt64()] = edits.getColumn(1).getString();
  });
  for (const RunSummary& run : runs) {
    source.runs.push_back({run.id, run.uid, run.started_at, run.points, run.words.deleted, edited[run.id]});
  }
  source.as_it_is = source.version == newest_schema() && source.unchecked == 0 && !is_written(source.file);
  return source;
}

std::string CurrentSource::uri(const JoinSource& source) {
  if (source.as_it_is) {
    if (stamp_of(source.file) == source.stamp && !is_written(source.file)) {
      return database_uri(source.file, DatabaseAccess::immutable);
    }
    throw StorageError(StorageError::Kind::other, say::file::changed_while_read{.file = source.name.string()});
  }
  for (const auto& [file, copy] : copies_) {
    if (file == source.file) return database_uri(copy.path(), DatabaseAccess::immutable);
  }
  constexpr std::size_t most_copies = 16;  // each holds a descriptor
  if (copies_.size() == most_copies) copies_.pop_front();
  TemporaryFile copy(place_);
  with_storage_errors(source.name, [&] {
    SQLite::Database old(uri_of(source), SQLite::OPEN_READONLY | SQLite::OPEN_URI);
    SQLite::Statement vacuum(old, "VACUUM INTO ?");
    vacuum.bind(1, copy.path().string());
    vacuum.exec();
  });
  with_storage_errors(place_, [&] {
    const auto database = open_database(copy.path(), DatabaseAccess::read_write);
    database->exec("PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF");
    migrate(*database);
    sign_rows(*database);
  });
  copies_.emplace_back(source.file, std::move(copy));
  return database_uri(copies_.back().second.path(), DatabaseAccess::immutable);
}

}  // namespace attnscope
