// SPDX-License-Identifier: Apache-2.0
#include "storage/merge.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "profiler/files/output_file.h"
#include "storage/checksum.h"
#include "storage/database.h"
#include "storage/rows.h"

namespace attnscope {
namespace {

namespace fs = std::filesystem;
using Kind = FileError::Kind;

// temp.ids has one row, i: a run's id in source and target, and the offsets added to ids of points and kernels.
constexpr const char* temporary_tables = R"sql(
CREATE TEMP TABLE ids (source INTEGER, target INTEGER, points INTEGER, kernels INTEGER);
CREATE TEMP TABLE skipped (place INTEGER PRIMARY KEY);
CREATE TEMP TABLE device_of (source INTEGER PRIMARY KEY, target INTEGER NOT NULL);
CREATE TEMP TABLE environment_of (source INTEGER PRIMARY KEY, target INTEGER NOT NULL);
CREATE TEMP TABLE metric_of (source INTEGER PRIMARY KEY, target INTEGER NOT NULL);
CREATE TEMP TABLE user_kernel_of (source INTEGER PRIMARY KEY, target INTEGER NOT NULL);
CREATE TEMP TABLE set_of (source INTEGER PRIMARY KEY, target INTEGER NOT NULL);
)sql";

/// SQL expressions by referenced table: each maps the id in column {} of source row q to the target's id.
const std::map<std::string, const char*>& translations() {
  static const std::map<std::string, const char*> all{
      {"runs", "i.target"},
      {"points", "q.{} + i.points"},
      {"kernels", "q.{} + i.kernels"},
      {"devices", "(SELECT target FROM device_of WHERE source = q.{})"},
      {"environments", "(SELECT target FROM environment_of WHERE source = q.{})"},
      {"metrics", "(SELECT target FROM metric_of WHERE source = q.{})"},
      {"user_kernels", "(SELECT target FROM user_kernel_of WHERE source = q.{})"},
      {"ceiling_sets", "(SELECT target FROM set_of WHERE source = q.{})"},
      {"noise_sets", "(SELECT target FROM set_of WHERE source = q.{})"}};
  return all;
}

std::string value_of(const std::string& table, const std::string& column, const std::string& refers_to) {
  const bool is_id = column == "id";
  if (is_id && table != "runs" && table != "points" && table != "kernels") return {};  // assigned by the target
  // No collector writes to the copy of a running run.
  if (table == "runs" && column == "state") return "iif(q.state = 'running', 'interrupted', q.state)";
  if (table == "runs" && column == "finished_at") return "coalesce(q.finished_at, q.started_at)";
  const auto found = translations().find(is_id ? table : refers_to);
  return found == translations().end() ? "q." + column : fmt::format(fmt::runtime(found->second), column);
}

/// Returns an INSERT of the rows q that `from` yields, with all columns of the table.
std::string rows_of(SQLite::Database& database, const std::string& table, std::string_view from,
                    std::string_view insert = "INSERT") {
  std::string columns;
  std::string values;
  SQLite::Statement column(database,
                           "SELECT c.name, coalesce(f.\"table\", '') FROM pragma_table_info(?1) c LEFT JOIN "
                           "pragma_foreign_key_list(?1) f ON f.\"from\" = c.name ORDER BY c.cid");
  column.bind(1, table);
  while (column.executeStep()) {
    const std::string name = column.getColumn(0).getString();
    const std::string value = value_of(table, name, column.getColumn(1).getString());
    if (value.empty()) continue;
    columns += (columns.empty() ? "" : ", ") + name;
    values += (values.empty() ? "" : ", ") + value;
  }
  return fmt::format("{} INTO main.{} ({}) SELECT {} FROM {};\n", insert, table, columns, values, from);
}

/// Returns INSERTs for every table that refers to `parent`, except `left_out`. `from` yields the parent's rows p.
std::string child_rows(SQLite::Database& database, const std::string& parent, std::string_view from,
                       std::string_view left_out = "") {
  std::vector<std::pair<std::string, std::string>> tables;
  {
    SQLite::Statement found(
        database,
        "SELECT t.name, f.\"from\" FROM sqlite_schema t JOIN pragma_foreign_key_list(t.name) f WHERE "
        "t.type = 'table' AND f.\"table\" = ? ORDER BY t.name");
    found.bind(1, parent);
    while (found.executeStep()) tables.emplace_back(found.getColumn(0).getString(), found.getColumn(1).getString());
  }
  std::string sql;
  for (const auto& [table, key] : tables) {
    if (table == left_out) continue;
    sql += rows_of(database, table, fmt::format("{} CROSS JOIN source.{} q ON q.{} = p.id", from, table, key));
  }
  return sql;
}

std::string names(SQLite::Database& database) {
  constexpr const char* if_absent = "INSERT OR IGNORE";
  std::string sql;
  for (const char* table : {"devices", "environments", "metrics", "user_kernels"}) {
    sql += rows_of(database, table, fmt::format("source.{} q", table), if_absent);
  }
  sql += fmt::format(R"sql(
INSERT INTO device_of SELECT s.id, m.id FROM source.devices s JOIN main.devices m USING (uuid, simulated, ordinal, {});
INSERT INTO environment_of SELECT s.id, m.id FROM source.environments s JOIN main.environments m USING ({});
INSERT INTO metric_of SELECT s.id, m.id FROM source.metrics s JOIN main.metrics m USING (name, unit);
INSERT INTO user_kernel_of SELECT s.id, m.id FROM source.user_kernels s JOIN main.user_kernels m USING (digest);
INSERT INTO main.user_kernel_sources (user_kernel_id, name, digest, content)
  SELECT s.target, q.name, q.digest, q.content FROM source.user_kernel_sources q
  JOIN user_kernel_of s ON s.source = q.user_kernel_id WHERE true
  ON CONFLICT (user_kernel_id, name) DO UPDATE SET content = coalesce(content, excluded.content);
)sql",
                     limit_columns(), environment_columns());
  for (const auto& [sets, rows] : {std::pair("ceiling_sets", "ceilings"), std::pair("noise_sets", "noise")}) {
    sql += rows_of(database, sets, fmt::format("source.{} q", sets), if_absent) +
           fmt::format("INSERT INTO set_of SELECT s.id, m.id FROM source.{0} s JOIN main.{0} m USING (uid);\n", sets) +
           rows_of(database, rows, fmt::format("source.{} q", rows), if_absent) + "DELETE FROM set_of;\n";
  }
  return sql;
}

/// Copies runs of an attached file of the same schema, "source", into "main". All members throw SQLite::Exception.
class RowCopier {
 public:
  explicit RowCopier(SQLite::Database& target) : target_(target) {
    target_.exec("PRAGMA temp_store = MEMORY");
    target_.exec(temporary_tables);
    const std::string run = "temp.ids i CROSS JOIN source.runs {0} ON {0}.id = i.source";
    const std::string points =
        "temp.ids i CROSS JOIN source.points {0} ON {0}.run_id = i.source AND {0}.plan_index NOT IN (SELECT place FROM "
        "skipped)";
    const auto rows = [](const std::string& from, const char* row) { return fmt::format(fmt::runtime(from), row); };
    names_ = names(target_);
    run_ = rows_of(target_, "runs", rows(run, "q")) + child_rows(target_, "runs", rows(run, "p"), "points");
    points_ = rows_of(target_, "points", rows(points, "q")) + child_rows(target_, "points", rows(points, "p")) +
              child_rows(target_, "kernels", rows(points, "o") + " CROSS JOIN source.kernels p ON p.point_id = o.id");
  }

  /// Attaches the source and copies rows that belong to no run: devices, environments, metrics, user-defined kernels
  /// and their sources, ceiling sets and noise sets. Existing rows are kept.
  void attach(const std::string& uri) {
    SQLite::Statement attach(target_, "ATTACH ? AS source");
    attach.bind(1, uri);
    attach.exec();
    in_transaction(names_);
  }
  void detach() {
    target_.exec("DETACH source");
    target_.exec(
        "DELETE FROM device_of; DELETE FROM environment_of; DELETE FROM metric_of; DELETE FROM user_kernel_of");
  }
  /// Copies the run's row and all rows that refer to it, except points.
  void copy_run(std::int64_t source, std::int64_t target) {
    in_transaction(fmt::format("DELETE FROM ids; INSERT INTO ids VALUES ({}, {}, 0, 0);", source, target) + run_);
  }
  /// Adds points and their rows to the run, except those at the plan indices in temp.skipped (place).
  void copy_points(std::int64_t source, std::int64_t target) {
    // New ids follow the existing ones, in the source's order.
    constexpr const char* offsets = R"sql(
DELETE FROM ids;
INSERT INTO ids SELECT {0}, {1},
  (SELECT coalesce(max(id), 0) FROM main.points) - (SELECT coalesce(min(id), 0) FROM source.points WHERE run_id = {0}) + 1,
  (SELECT coalesce(max(id), 0) FROM main.kernels) - (SELECT coalesce(min(k.id), 0) FROM source.points p
    JOIN source.kernels k ON k.point_id = p.id WHERE p.run_id = {0}) + 1;
)sql";
    in_transaction(fmt::format(offsets, source, target) + points_);
  }

 private:
  void in_transaction(const std::string& sql) {
    SQLite::Transaction transaction(target_);
    target_.exec(sql);
    transaction.commit();
  }

  SQLite::Database& target_;
  // SQL, generated from the target's tables.
  std::string names_;
  std::string run_;
  std::string points_;
};

struct Source {
  fs::path name;  ///< path as given
  fs::path file;  ///< symlinks resolved
  bool written = false;
  FileStamp stamp;
};

struct Member {
  std::size_t source = 0;
  std::int64_t id = 0;
  std::string started_at;
  std::size_t points = 0;
  StoredRunState state = StoredRunState::running;
  std::size_t shards = 0;  ///< number of shards it has
};

struct MergedRun {
  std::string uid;
  std::vector<Member> members;  ///< earliest start first, then most points
  std::int64_t target = 0;
};

enum class RunOrder {
  by_start,  ///< sorted by start, then by uid; keeps deleted runs
  as_given   ///< in the order of the sources, with unchanged ids if there is one source; drops deleted runs
};

/// Returns SQL for the recorded values of places that both copies have.
std::string facts(std::string_view schema, std::int64_t run) {
  return fmt::format(R"sql(
SELECT p.plan_index AS place, 'recorded' AS name, p.recorded_at AS value FROM {0}.points p
  WHERE p.run_id = {1} AND p.disposition <> 'cancelled' AND p.plan_index IN (SELECT place FROM temp.skipped)
UNION ALL SELECT p.plan_index, p.disposition, p.reason FROM {0}.points p
  WHERE p.run_id = {1} AND p.disposition NOT IN ('ok', 'no-counters', 'cancelled') AND p.plan_index IN
    (SELECT place FROM temp.skipped)
UNION ALL SELECT p.plan_index, k.name || ' samples ' || t.round, t.samples_ns FROM {0}.points p
  JOIN {0}.kernels k ON k.point_id = p.id JOIN {0}.timing_samples t ON t.kernel_id = k.id
  WHERE p.run_id = {1} AND p.disposition <> 'cancelled' AND p.plan_index IN (SELECT place FROM temp.skipped)
UNION ALL SELECT p.plan_index, k.name || ' ' || m.name || ' ' || v.round, v.value FROM {0}.points p
  JOIN {0}.kernels k ON k.point_id = p.id JOIN {0}.metric_values v ON v.kernel_id = k.id
  JOIN {0}.metrics m ON m.id = v.metric_id
  WHERE p.run_id = {1} AND p.disposition <> 'cancelled' AND p.plan_index IN (SELECT place FROM temp.skipped))sql",
                     schema, run);
}

class Join {
 public:
  Join(SQLite::Database& database, RunOrder order) : database_(database), order_(order), copier_(database) {}

  void look_at(const std::vector<fs::path>& names, DamagedFilePolicy damaged);
  MergeReport run();

 private:
  void look_at(const fs::path& name);
  void sort_runs();
  void merge_run(const MergedRun& run);
  /// Adds another copy of the run, or another shard of its plan. Pre: the source is attached.
  void add(const MergedRun& run, std::size_t member);
  void report_missing_shards(const MergedRun& run);
  void attach(std::size_t source);
  void detach();
  [[nodiscard]] std::string name_of(const MergedRun& run, std::size_t member) const {
    return sources_[run.members[member].source].name.string();
  }

  SQLite::Database& database_;
  RunOrder order_;
  RowCopier copier_;
  std::vector<Source> sources_;
  std::vector<MergedRun> runs_;
  std::unordered_map<std::string, std::size_t> places_;  ///< index in runs_ by uid, before sorting
  const Source* attached_ = nullptr;
  MergeReport report_;
};

void Join::look_at(const std::vector<fs::path>& names, DamagedFilePolicy damaged) {
  for (const fs::path& name : names) {
    try {
      look_at(name);
    } catch (const FileError& error) {
      if (damaged == DamagedFilePolicy::refuse || !is_damage(error.kind())) throw;
      report_.left_out.emplace_back(make_message("skipped: {}", error.message()));
    }
  }
  report_.files = sources_.size();
  if (sources_.empty())
    throw FileError(Kind::damaged, "all files are damaged, nothing was merged; {}", report_.left_out.front());
}

void Join::look_at(const fs::path& name) {
  const FileCheck check = check_file(name);
  if (!check.ok()) {
    const Message why = check.invalid_rows.empty()
                            ? check.damage.front()
                            : make_message("{}: {}", check.invalid_rows.front().where, check.invalid_rows.front().why);
    throw FileError(Kind::damaged, "{} is damaged: {} (restore a backup, then merge again)", name.string(), why);
  }
  const RunStore store = RunStore::open(name, RunStore::Mode::read_only);
  report_.not_copied.insert(report_.not_copied.end(), check.warnings.begin(), check.warnings.end());
  std::int64_t ids_before = 0;
  for (const MergedRun& run : runs_) ids_before = std::max(ids_before, run.target);
  for (const RunSummary& run : store.runs(true)) {
    const auto [found, is_new] = places_.try_emplace(run.uid, runs_.size());
    if (is_new) runs_.push_back({run.uid, {}, ids_before + run.id});
    runs_[found->second].members.push_back(
        {sources_.size(), run.id, run.started_at, run.points, run.state, run.shards.size()});
  }
  sources_.push_back({name, store.file(), store.reads_log(), file_stamp(store.file())});
}

void Join::sort_runs() {
  for (MergedRun& run : runs_) {
    std::ranges::stable_sort(run.members, [](const Member& a, const Member& b) {
      return std::tie(a.started_at, b.points) < std::tie(b.started_at, a.points);
    });
  }
  if (order_ == RunOrder::as_given) return;
  std::ranges::sort(runs_, [](const MergedRun& a, const MergedRun& b) {
    return std::tie(a.members.front().started_at, a.uid) < std::tie(b.members.front().started_at, b.uid);
  });
  for (std::size_t i = 0; i < runs_.size(); ++i) runs_[i].target = static_cast<std::int64_t>(i) + 1;
}

void Join::attach(std::size_t source) {
  const Source& wanted = sources_[source];
  if (attached_ == &wanted) return;
  detach();
  copier_.attach(database_uri(wanted.file, wanted.written ? DatabaseAccess::read_only : DatabaseAccess::immutable));
  attached_ = &wanted;
}

void Join::detach() {
  if (attached_ == nullptr) return;
  copier_.detach();
  const Source& source = *std::exchange(attached_, nullptr);
  if (source.written || file_stamp(source.file) == source.stamp) return;
  throw FileError(Kind::other, "{} changed while it was read (try again when no program writes it)",
                  source.name.string());
}

MergeReport Join::run() {
  sort_runs();
  for (const MergedRun& run : runs_) merge_run(run);
  // copies rows that belong to no run, also from files without runs
  for (std::size_t i = 0; i < sources_.size(); ++i) attach(i);
  detach();
  if (order_ == RunOrder::as_given && database_.exec("DELETE FROM runs WHERE deleted = 1") > 0) {
    database_.exec(
        "DELETE FROM user_kernels WHERE id NOT IN (SELECT user_kernel_id FROM points WHERE user_kernel_id IS NOT "
        "NULL)");
    database_.exec("VACUUM");
  }
  database_.exec("UPDATE totals SET runs = (SELECT count(*) FROM runs)");
  const auto count = [this](const char* query) {
    return static_cast<std::size_t>(database_.execAndGet(query).getInt64());
  };
  report_.runs = count("SELECT count(*) FROM runs WHERE deleted = 0");
  report_.points = count("SELECT count(*) FROM points WHERE run_id IN (SELECT id FROM runs WHERE deleted = 0)");
  return std::move(report_);
}

void Join::merge_run(const MergedRun& run) {
  for (std::size_t m = 0; m < run.members.size(); ++m) {
    const Source& source = sources_[run.members[m].source];
    try {
      attach(run.members[m].source);
      database_.exec("DELETE FROM temp.skipped");
      if (m == 0) {
        copier_.copy_run(run.members[m].id, run.target);
        copier_.copy_points(run.members[m].id, run.target);
      } else {
        add(run, m);
      }
    } catch (const SQLite::Exception& error) {  // a write error is the target's
      const FileError named = to_file_error(error, source.name);
      if (named.kind() == Kind::disk_full || named.kind() == Kind::not_writable) throw;
      throw named;
    }
  }
  const bool cut = std::ranges::any_of(run.members, [](const Member& member) { return member.shards > 0; });
  if (run.members.size() == 1 && (!cut || order_ == RunOrder::as_given)) return;
  // The merged run is complete if a complete copy has all points and shards, or if all rounds of every planned point
  // were measured.
  const Member& base = run.members.front();
  database_.exec(fmt::format(R"sql(
UPDATE runs AS r SET state = iif(
  ({1} AND coalesce((SELECT count(*) >= max(shards) FROM run_shards WHERE run_id = r.id), true) AND
    (SELECT count(*) FROM points WHERE run_id = r.id) = {2}) OR
  (SELECT count(*) FROM points p WHERE p.run_id = r.id AND p.disposition <> 'cancelled' AND
    (r.rounds = 1 OR p.disposition NOT IN ('ok', 'no-counters') OR (SELECT count(DISTINCT t.round) FROM kernels k
      JOIN timing_samples t ON t.kernel_id = k.id WHERE k.point_id = p.id) >= r.rounds)) >= r.planned_points,
  'complete', iif(state = 'complete', 'interrupted', state)), checksum = NULL WHERE id = {0})sql",
                             run.target, base.state == StoredRunState::complete, base.points));
  // The sources were verified. An interrupted run stays unverified, like that of a killed collector.
  const std::string state = fmt::format("SELECT state FROM runs WHERE id = {}", run.target);
  if (database_.execAndGet(state).getString() != "interrupted") store_checksum(database_, run.target);
  if (cut && order_ == RunOrder::by_start) report_missing_shards(run);
}

void Join::add(const MergedRun& run, std::size_t member) {
  const std::int64_t id = run.members[member].id;
  const auto count = [&](const std::string& from) {
    return database_.execAndGet("SELECT count(*) FROM " + from).getInt64();
  };
  std::vector<std::string> earlier;
  for (std::size_t m = 0; m < member; ++m) earlier.push_back(name_of(run, m));
  const auto differ = [&](Message what) {
    return FileError(Kind::other, "run {} in {} differs from its copy in {}: {} (merge only one of them)", run.uid,
                     name_of(run, member), fmt::join(earlier, ", "), what);
  };
  constexpr const char* plan = "plan_hash, planned_points, preset, options, provenance, rounds";
  if (count(
          fmt::format("(SELECT {0} FROM main.runs WHERE id = {1} INTERSECT SELECT {0} FROM source.runs WHERE id = {2})",
                      plan, run.target, id)) == 0) {
    throw differ("different plan");
  }
  SQLite::Transaction transaction(database_);
  database_.exec(fmt::format(R"sql(
INSERT INTO temp.skipped SELECT plan_index FROM source.points WHERE run_id = {1}
  INTERSECT SELECT plan_index FROM main.points WHERE run_id = {0};
CREATE TEMP TABLE only_there AS SELECT DISTINCT place FROM (SELECT * FROM ({3}) EXCEPT SELECT * FROM ({2}));
CREATE TEMP TABLE only_here AS SELECT DISTINCT place FROM (SELECT * FROM ({2}) EXCEPT SELECT * FROM ({3}));
)sql",
                             run.target, id, facts("main", run.target), facts("source", id)));
  SQLite::Statement conflict(database_,
                             "SELECT min(place) FROM only_there WHERE place IN (SELECT place FROM only_here)");
  if (conflict.executeStep() && !conflict.getColumn(0).isNull()) {
    throw differ(make_message("different values at plan index {}", conflict.getColumn(0).getInt64()));
  }
  conflict.reset();
  // Keep the copy of a point with more rounds, and a measured one rather than a cancelled one. Keep the last edit of
  // text and flags.
  database_.exec(fmt::format(R"sql(
DELETE FROM main.points WHERE run_id = {0} AND plan_index IN (SELECT place FROM only_there);
DELETE FROM temp.skipped WHERE place IN (SELECT place FROM only_there);
DROP TABLE only_there;
DROP TABLE only_here;
INSERT OR IGNORE INTO main.run_shards SELECT {0}, shard, shards FROM source.run_shards WHERE run_id = {1};
UPDATE main.runs SET finished_at = max(finished_at, (SELECT coalesce(finished_at, started_at) FROM source.runs WHERE
  id = {1})) WHERE id = {0};
)sql",
                             run.target, id));
  // Edits of the same second are ordered by content, so that the order of files does not matter.
  if (count(
          fmt::format("main.runs m, source.runs s WHERE m.id = {} AND s.id = {} AND "
                      "(coalesce(m.edited_at, ''), m.deleted, m.hidden, coalesce(m.name, ''), coalesce(m.note, '')) "
                      "< (coalesce(s.edited_at, ''), s.deleted, s.hidden, coalesce(s.name, ''), coalesce(s.note, ''))",
                      run.target, id)) > 0) {
    database_.exec(fmt::format(R"sql(
UPDATE main.runs SET (name, note, hidden, deleted, edited_at) = (SELECT name, note, hidden, deleted, edited_at FROM
  source.runs WHERE id = {1}) WHERE id = {0};
DELETE FROM main.run_tags WHERE run_id = {0};
INSERT INTO main.run_tags SELECT {0}, tag FROM source.run_tags WHERE run_id = {1};
)sql",
                               run.target, id));
  }
  transaction.commit();
  copier_.copy_points(id, run.target);
}

void Join::report_missing_shards(const MergedRun& run) {
  std::vector<std::int64_t> there;
  std::int64_t shards = 0;
  SQLite::Statement rows(database_,
                         "SELECT s.shard, s.shards FROM run_shards s JOIN runs r ON r.id = s.run_id WHERE r.id = ? AND "
                         "r.state <> 'complete' ORDER BY s.shard");
  rows.bind(1, run.target);
  while (rows.executeStep()) {
    there.push_back(rows.getColumn(0).getInt64());
    shards = rows.getColumn(1).getInt64();
  }
  if (there.empty()) return;
  std::vector<std::int64_t> missing;
  for (std::int64_t shard = 1; shard <= std::min<std::int64_t>(shards, max_shards); ++shard) {
    if (!std::ranges::binary_search(there, shard)) missing.push_back(shard);
  }
  if (!missing.empty()) {
    report_.missing.emplace_back(
        make_message("run {}: its plan has {} shards; missing: {}", run.uid, shards, fmt::join(missing, ", ")));
  }
  for (std::size_t m = 0; m < run.members.size(); ++m) {
    // Merged shards cannot be resumed.
    if (run.members[m].state == StoredRunState::complete || run.members[m].shards > 1) continue;
    report_.missing.emplace_back(
        make_message("{}: its shard of run {} is {} (finish it with --resume, then merge again)", name_of(run, m),
                     run.uid, to_string(run.members[m].state)));
  }
}

MergeReport build_merged_file(const fs::path& building, const fs::path& target, const std::vector<fs::path>& sources,
                              RunOrder order, DamagedFilePolicy damaged) {
  return with_file_errors(target, [&] {
    const auto database = open_database(building, DatabaseAccess::read_write);
    // Errors discard the file, and it is synced once, before it is renamed.
    database->exec("PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF");
    create_schema(*database);
    Join join(*database, order);
    join.look_at(sources, damaged);
    return join.run();
  });
}

/// Removes a log that a killed collector left, which SQLite would replay into the new file. Throws FileError for a log
/// of another file.
void remove_journals(const fs::path& file) {
  if (!has_journal(file)) return;
  with_file_errors(file, [&] { require_no_foreign_log(file); });
  try {  // closing the last connection checkpoints the log
    open_database(file, DatabaseAccess::read_write)->execAndGet("SELECT count(*) FROM sqlite_schema");
  } catch (const SQLite::Exception&) {  // not a database, or damaged
  }
  for (const char* suffix : {"-wal", "-shm", "-journal"}) fs::remove(file.string() + suffix);
}

}  // namespace

MergeReport write_compact_copy(const std::vector<fs::path>& sources, const fs::path& target, bool replace_any) {
  OutputFile out(target, file_kind::measurements,
                 replace_any ? OutputFile::ExistingFile::any : OutputFile::ExistingFile::same_kind);
  if (out.temporary_path().empty())
    throw FileError(Kind::not_writable, "{} is a pipe or device (name a file)", target.string());
  const CollectorLock lock = CollectorLock::acquire(out.final_path());
  MergeReport report =
      build_merged_file(out.temporary_path(), target, sources, RunOrder::as_given, DamagedFilePolicy::refuse);
  remove_journals(out.final_path());
  out.commit();
  return report;
}

MergeReport merge_files(const std::vector<fs::path>& sources, const fs::path& target, DamagedFilePolicy damaged) {
  const fs::path place = resolve_symlinks(target);
  std::error_code error;
  const CollectorLock lock = CollectorLock::acquire(place);
  if (fs::exists(fs::symlink_status(place, error))) {
    throw FileError(Kind::not_writable, "{} already exists (use another file name)", target.string());
  }
  require_no_orphaned_log(place);
  TemporaryFile building(place);
  MergeReport report = build_merged_file(building.path(), target, sources, RunOrder::by_start, damaged);
  building.publish(TemporaryFile::OverwriteMode::nothing);
  return report;
}

}  // namespace attnscope
