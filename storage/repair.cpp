// SPDX-License-Identifier: Apache-2.0
// Rows are read one by one, past what is damaged, into a file of the same schema; that is migrated and checked as any
// other, and what fails the checks is left out.
#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "messages/file.h"
#include "messages/row.h"
#include "profiler/metrics/statement.h"
#include "storage/check.h"
#include "storage/collector_lock.h"
#include "storage/database.h"
#include "storage/device_sets.h"
#include "storage/hardening.h"
#include "storage/migrations.h"
#include "storage/output_file.h"
#include "storage/points_reader.h"
#include "storage/rows.h"
#include "storage/run_digests.h"

namespace attnscope {
namespace {

using Kind = StorageError::Kind;

struct Finalizer {
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using Prepared = std::unique_ptr<sqlite3_stmt, Finalizer>;

/// Null where the database cannot even say what the table is.
Prepared prepare(SQLite::Database& database, const std::string& sql) {
  sqlite3_stmt* statement = nullptr;
  sqlite3_prepare_v2(database.getHandle(), sql.c_str(), -1, &statement, nullptr);
  return Prepared(statement);
}

struct Table {
  std::string name;
  std::string columns;  ///< "id, name"
  int count = 0;
  std::string key;  ///< what rows are found by, a whole number: "rowid", or the first column of the primary key
};

std::vector<Table> tables_of(SQLite::Database& database) {
  std::vector<Table> tables;
  SQLite::Statement names(database,
                          "SELECT name, wr FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND "
                          "name NOT LIKE 'sqlite\\_%' ESCAPE '\\'");
  while (names.executeStep()) {
    Table table{.name = names.getColumn(0).getString(), .columns = {}, .count = 0, .key = "rowid"};
    const bool without_rowid = names.getColumn(1).getInt() != 0;
    SQLite::Statement columns(database, "SELECT name, pk FROM pragma_table_info(?)");
    columns.bind(1, table.name);
    while (columns.executeStep()) {
      const std::string name = columns.getColumn(0).getString();
      table.columns += (table.count++ == 0 ? "" : ", ") + name;
      if (without_rowid && columns.getColumn(1).getInt() == 1) table.key = name;
    }
    tables.push_back(std::move(table));
  }
  return tables;
}

/// Copies what can be read of one table.
class TableSalvage {
 public:
  TableSalvage(SQLite::Database& from, SQLite::Database& to, const Table& table)
      : from_(from),
        to_(to),
        table_(table),
        insert_(prepare(to, fmt::format("INSERT OR IGNORE INTO {} ({}) VALUES ({})", table.name, table.columns,
                                        placeholders(table.count)))) {}

  /// What could not be read; empty where all was.
  Message run() {
    const std::optional<std::int64_t> stopped = scan("ASC");
    if (unreadable_) return say::row::table_unreadable{.table = table_.name};
    if (!stopped && refused_ == 0) return {};
    if (!stopped) return say::row::no_rows_of_ours{.rows = refused_, .table = table_.name};
    // From behind, up to the damage; then key by key, what lies between.
    const std::int64_t first = last_key_;
    scan("DESC");
    const std::int64_t last = last_key_;
    constexpr std::int64_t most_probes = 5'000'000;
    if (last > first && last - first < most_probes) {
      Prepared probe = prepare(from_, select("= ?1"));
      for (std::int64_t key = first; probe && key <= last; ++key) {
        sqlite3_bind_int64(probe.get(), 1, key);
        while (sqlite3_step(probe.get()) == SQLITE_ROW) take(probe.get());
        sqlite3_reset(probe.get());
      }
    }
    return say::row::part_unreadable{.table = table_.name, .key = table_.key, .first = first, .last = last};
  }

 private:
  [[nodiscard]] std::string select(std::string_view condition) const {
    return fmt::format("SELECT {0}, {1} FROM {2} {3} WHERE {0} {4}", table_.key, table_.columns, table_.name,
                       table_.key == "rowid" ? "NOT INDEXED" : "", condition);
  }

  /// The key before which a damaged page stopped it; nothing where it came to the end.
  std::optional<std::int64_t> scan(std::string_view order) {
    const Prepared rows = prepare(from_, select(fmt::format("IS NOT NULL ORDER BY {} {}", table_.key, order)));
    unreadable_ = rows == nullptr;
    if (unreadable_) return std::nullopt;
    int step = SQLITE_ROW;
    while ((step = sqlite3_step(rows.get())) == SQLITE_ROW) {
      last_key_ = sqlite3_column_int64(rows.get(), 0);
      take(rows.get());
    }
    return step == SQLITE_DONE ? std::nullopt : std::optional(last_key_);
  }

  void take(sqlite3_stmt* row) {
    for (int i = 0; i < table_.count; ++i) sqlite3_bind_value(insert_.get(), i + 1, sqlite3_column_value(row, i + 1));
    // Of another type than the column's, against a CHECK, or with a key that is there.
    const bool done = sqlite3_step(insert_.get()) == SQLITE_DONE && sqlite3_changes(to_.getHandle()) == 1;
    if (!done) ++refused_;
    sqlite3_reset(insert_.get());
  }

  SQLite::Database& from_;
  SQLite::Database& to_;
  const Table& table_;
  Prepared insert_;
  bool unreadable_ = false;
  std::int64_t last_key_ = 0;
  std::size_t refused_ = 0;
};

/// Whether there were any.
bool remove_strays(SQLite::Database& database, const std::string& table, const std::string& condition,
                   std::vector<Message>& removed) {
  const int gone = database.exec(fmt::format("DELETE FROM {} WHERE {}", table, condition));
  if (gone == 1) removed.push_back(say::row::one_stray{.table = table});
  if (gone > 1) removed.push_back(say::row::strays{.rows = gone, .table = table});
  return gone > 0;
}

/// Rows whose run, point, kernel, device or metric is gone.
std::vector<Message> remove_orphans(SQLite::Database& database, const std::vector<Table>& tables) {
  std::vector<Message> removed;
  for (bool again = true; again;) {
    again = false;
    for (const Table& table : tables) {
      std::vector<std::string> conditions;
      SQLite::Statement keys(database, "SELECT \"from\", \"table\", \"to\" FROM pragma_foreign_key_list(?)");
      keys.bind(1, table.name);
      while (keys.executeStep()) {
        conditions.push_back(fmt::format("{0} IS NOT NULL AND {0} NOT IN (SELECT {1} FROM {2})",
                                         keys.getColumn(0).getString(), keys.getColumn(2).getString(),
                                         keys.getColumn(1).getString()));
      }
      for (const std::string& condition : conditions) again |= remove_strays(database, table.name, condition, removed);
    }
  }
  return removed;
}

/// What is not ours stays behind, and is named. Of a schema that cannot be read nobody knows.
std::vector<Message> left_behind(SQLite::Database& from, int version) {
  std::vector<Message> named;
  try {
    for (const std::string& object : foreign_objects(from, version)) named.push_back(say::row::extra{.object = object});
  } catch (const SQLite::Exception&) {  // its tables are named as unreadable
  }
  return named;
}

/// The file, or a copy of it whose definitions are mended.
struct Source {
  std::optional<TemporaryFile> copy;
  std::unique_ptr<SQLite::Database> database;
};

bool reads_as_ours(SQLite::Database& database) {
  try {
    const int version = database.execAndGet("PRAGMA user_version").getInt();
    return version < 1 || version > newest_schema() || tables_are_ours(database, version);
  } catch (const SQLite::Exception&) {
    return false;
  }
}

Source source_of(const std::filesystem::path& file, const std::filesystem::path& scratch) {
  const bool written = CollectorLock::held(file) || has_journal(file);
  Source source{.copy = {},
                .database = open_database(file, written ? DatabaseAccess::read_only : DatabaseAccess::immutable)};
  if (written || reads_as_ours(*source.database)) return source;
  source.database.reset();
  source.copy.emplace(scratch.string() + ".mended");
  std::error_code error;
  std::filesystem::copy_file(file, source.copy->path(), std::filesystem::copy_options::overwrite_existing, error);
  if (const int code = error.value(); code == ENOSPC || code == EDQUOT || code == EFBIG) {
    throw StorageError(Kind::disk_full, say::file::no_space{.file = scratch.string()});
  }
  if (error) throw StorageError(Kind::other, say::file::unreadable{.file = file.string(), .error = error.message()});
  mend_definitions(source.copy->path());
  source.database = open_database(source.copy->path(), DatabaseAccess::immutable);
  read_past_definitions(*source.database);
  return source;
}

/// A file of the same schema at `scratch`, with the rows of `file`.
std::vector<Message> salvage_rows(const std::filesystem::path& file, const std::filesystem::path& scratch) {
  const Source source = source_of(file, scratch);
  const auto& from = source.database;
  const int version = from->execAndGet("PRAGMA user_version").getInt();
  const bool ours = from->execAndGet("PRAGMA application_id").getInt() == application_id;
  if (!ours || version < 1 || version > newest_schema()) {
    throw StorageError(Kind::foreign, say::file::not_ours_to_save{.file = file.string(), .known = newest_schema()});
  }
  try {
    require_known_needs(*from, file, version);
  } catch (const SQLite::Exception&) {  // the table is named as unreadable
  }
  const auto to = open_database(scratch, DatabaseAccess::read_write);
  to->exec("PRAGMA journal_mode = MEMORY");
  migrate(*to, migrations().first(static_cast<std::size_t>(version)));
  to->exec("PRAGMA foreign_keys = OFF; PRAGMA synchronous = OFF");
  std::vector<Message> left = left_behind(*from, version);
  const std::size_t not_ours = left.size();
  const std::vector<Table> tables = tables_of(*to);
  SQLite::Transaction transaction(*to);
  for (const Table& table : tables) {
    if (version >= digests_since && table.name == "totals") to->exec("DELETE FROM totals");
    if (Message lost = TableSalvage(*from, *to, table).run(); !lost.empty()) left.push_back(std::move(lost));
  }
  if (version >= digests_since) to->exec("INSERT OR IGNORE INTO totals SELECT 1, count(*) FROM runs");
  for (Message& lost : remove_orphans(*to, tables)) left.push_back(std::move(lost));
  transaction.commit();
  migrate(*to);
  const std::int64_t unchecked = to->execAndGet("SELECT count(*) FROM points WHERE digest IS NULL").getInt64();
  if (left.size() > not_ours && unchecked > 0) left.emplace_back(say::row::values_unchecked{.points = unchecked});
  return left;
}

/// The runs and devices that have a point which is what was written: its digest is of the run's uid and the device's
/// uuid, too.
struct Confirmed {
  std::set<std::int64_t> runs;
  std::set<std::int64_t> devices;
};

Confirmed confirmed_by_points(SQLite::Database& database) {
  KnownRuns known;
  SQLite::Statement runs(database, "SELECT id, uid FROM runs");
  while (runs.executeStep()) {
    known.good[runs.getColumn(0).getInt64()] = {.uid = runs.getColumn(1).getString(), .written = {}};
  }
  std::map<std::string, SQLite::Statement> statements;
  const auto select = [&](std::string_view what) -> SQLite::Statement& {
    const std::string sql = fmt::format(fmt::runtime(what), "true");
    return statements.emplace(sql, SQLite::Statement(database, sql)).first->second;
  };
  PointsReader reader(select, newest_schema(), known);
  Confirmed confirmed;
  std::set<std::int64_t> good;
  for (const StoredPoint& point : reader.read()) good.insert(point.id);
  SQLite::Statement points(database, "SELECT id, run_id, device_id FROM points WHERE digest IS NOT NULL");
  while (points.executeStep()) {
    if (!good.contains(points.getColumn(0).getInt64())) continue;
    confirmed.runs.insert(points.getColumn(1).getInt64());
    confirmed.devices.insert(points.getColumn(2).getInt64());
  }
  return confirmed;
}

/// A row that is not what was written, and stays.
struct Unverified {
  std::string_view table;
  std::int64_t id = 0;
  Message said;
};

/// A run with one wrong word would take its points with it, and a device all its runs: what points confirm has no
/// digest from now on. What else is wrong with such a row is looked at as with any other.
std::vector<Unverified> keep_confirmed_rows(SQLite::Database& database) {
  const auto runs = run_digests(database);
  const auto devices = device_digests(database);
  const auto differs = [](const auto& row) { return row.second == DigestState::differs; };
  if (std::ranges::none_of(runs, differs) && std::ranges::none_of(devices, differs)) return {};
  const Confirmed confirmed = confirmed_by_points(database);
  std::vector<Unverified> kept;
  for (const std::int64_t device : confirmed.devices) {
    if (devices.at(device) != DigestState::differs) continue;
    kept.push_back({"devices", device, say::row::device_unverified{.device = device}});
  }
  for (const std::int64_t run : confirmed.runs) {
    if (runs.at(run) == DigestState::differs) kept.push_back({"runs", run, say::row::run_unverified{.run = run}});
  }
  for (const Unverified& row : kept) {
    database.exec(fmt::format("UPDATE {} SET digest = NULL WHERE id = {}", row.table, row.id));
  }
  return kept;
}

/// A point whose statement is damaged is what was measured all the same: it stays, without it and without a digest.
void remove_statements_but(SQLite::Database& database, const std::set<std::string>& whole) {
  std::vector<std::int64_t> damaged;
  {
    SQLite::Statement query(database, "SELECT id, digest FROM statements");
    while (query.executeStep()) {
      if (!whole.contains(query.getColumn(1).getString())) damaged.push_back(query.getColumn(0).getInt64());
    }
  }
  for (const std::int64_t id : damaged) {
    database.exec(fmt::format("UPDATE points SET statement_id = NULL, digest = NULL WHERE statement_id = {}", id));
    database.exec(fmt::format("DELETE FROM statements WHERE id = {}", id));
  }
}

/// Edits that nobody can undo would stand before those that somebody can.
void remove_lost_edits(SQLite::Database& database, std::vector<Message>& removed) {
  remove_strays(database, "run_edits", "run_uid NOT IN (SELECT uid FROM runs)", removed);
  std::vector<std::pair<std::int64_t, std::string>> damaged;
  {
    SQLite::Statement edits(database, fmt::format("SELECT step, run_uid, {} FROM run_edits", logged_words));
    while (edits.executeStep()) {
      if (words_from(edits.getColumn(2).getString()) && words_from(edits.getColumn(3).getString())) continue;
      damaged.emplace_back(edits.getColumn(0).getInt64(), edits.getColumn(1).getString());
    }
  }
  if (damaged.empty()) return;
  removed.push_back(say::row::no_rows_of_ours{.rows = damaged.size(), .table = "run_edits"});
  for (const auto& [step, run] : damaged) {
    SQLite::Statement remove(database, "DELETE FROM run_edits WHERE step = ? AND run_uid = ?");
    Binder(remove) << step << run;
    remove.exec();
  }
}

/// Takes away what is not as it was written. The scratch file is one that opens.
Salvage remove_bad_rows(const std::filesystem::path& scratch) {
  Salvage salvage;
  std::vector<BadRow> bad;
  std::vector<Unverified> kept;
  std::set<std::string> whole_statements;
  {
    const auto database = open_database(scratch, DatabaseAccess::read_write);
    database->exec("PRAGMA journal_mode = MEMORY");
    kept = keep_confirmed_rows(*database);
  }
  {
    const RunStore store = RunStore::open(scratch, RunStore::Mode::read_only);
    salvage.runs = store.runs(true).size();
    salvage.points = store.points({}, 0, true).size();
    for (const auto& statement : store.statements(true)) whole_statements.insert(digest_of(*statement));
    bad = store.bad_rows();
  }
  const auto database = open_database(scratch, DatabaseAccess::read_write);
  database->exec("PRAGMA journal_mode = MEMORY");
  SQLite::Transaction transaction(*database);
  const auto remove = [&](const char* sql, std::int64_t id) {
    SQLite::Statement statement(*database, sql);
    statement.bind(1, id);
    statement.exec();
  };
  for (const BadRow& row : bad) {
    salvage.left.push_back(say::row::at{.where = row.where, .why = row.why});
    if (row.point) remove("DELETE FROM points WHERE id = ?", *row.point);
    if (row.bad_run) remove("DELETE FROM runs WHERE id = ?", *row.bad_run);
    if (row.bad_words) {
      remove("UPDATE runs SET name = NULL, note = NULL, hidden = 0 WHERE id = ?", *row.bad_words);
      remove("DELETE FROM run_tags WHERE run_id = ?", *row.bad_words);
    }
  }
  remove_lost_edits(*database, salvage.left);
  remove_statements_but(*database, whole_statements);
  for (const std::int64_t set : remove_changed_sets(*database, ceiling_sets)) {
    salvage.left.push_back(say::row::changed_ceilings{.set = set});
  }
  for (const std::int64_t set : remove_changed_sets(*database, noise_sets)) {
    salvage.left.push_back(say::row::changed_noise{.set = set});
  }
  // What lost points can be measured again.
  std::vector<std::int64_t> incomplete;
  {
    SQLite::Statement query(
        *database,
        "SELECT id FROM runs r WHERE provenance <> 'imported' AND state = 'complete' AND point_count "
        "> (SELECT count(*) FROM points WHERE run_id = r.id)");
    while (query.executeStep()) incomplete.push_back(query.getColumn(0).getInt64());
  }
  for (const std::int64_t run : incomplete) {
    const bool signs = run_digest(*database, run) == DigestState::equal;
    remove("UPDATE runs SET state = 'interrupted' WHERE id = ?", run);
    if (signs) sign_run(*database, run);
  }
  database->exec(
      "DELETE FROM devices WHERE id NOT IN (SELECT device_id FROM runs UNION SELECT device_id FROM points UNION SELECT "
      "device_id FROM point_devices UNION SELECT device_id FROM ceiling_sets UNION SELECT device_id FROM noise_sets)");
  for (Unverified& row : kept) {
    const std::string there = fmt::format("SELECT count(*) FROM {} WHERE id = {}", row.table, row.id);
    if (database->execAndGet(there).getInt() != 0) salvage.left.push_back(std::move(row.said));
  }
  count_points_anew(*database);
  transaction.commit();
  database->exec("VACUUM");
  return salvage;
}

}  // namespace

Salvage repair_file(const std::filesystem::path& file, const std::filesystem::path& target) {
  std::error_code error;
  require_regular(file);  // to open a pipe takes as long as nobody writes into it
  if (std::filesystem::is_directory(file, error)) {
    throw StorageError(Kind::not_a_database, say::file::is_folder{.file = file.string()});
  }
  if (stamp_of(file).size < 0) throw StorageError(Kind::not_found, say::file::missing{.file = file.string()});
  if (std::filesystem::exists(std::filesystem::symlink_status(target, error))) {
    throw StorageError(Kind::other, say::file::saved_goes_into_new{.file = target.string()});
  }
  TemporaryFile scratch(target);
  std::vector<Message> left;
  try {
    left = with_storage_errors(file, [&] { return salvage_rows(file, scratch.path()); });
  } catch (const StorageError& named) {
    if (named.kind() != Kind::disk_full) throw;
    throw StorageError(Kind::disk_full, say::file::no_space{.file = target.string()});  // only that one is written
  }
  Salvage salvage = with_storage_errors(target, [&] { return remove_bad_rows(scratch.path()); });
  salvage.left.insert(salvage.left.begin(), left.begin(), left.end());
  scratch.publish(TemporaryFile::Over::nothing);
  return salvage;
}

}  // namespace attnscope
