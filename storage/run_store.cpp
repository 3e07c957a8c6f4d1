// SPDX-License-Identifier: Apache-2.0
#include "storage/run_store.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>
#include <sqlite3.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <tuple>
#include <utility>

#include "profiler/files/output_file.h"
#include "storage/run_store_impl.h"
#include "storage/schema.h"
#include "storage/statement_rows.h"

namespace attnscope {
namespace {

using Kind = FileError::Kind;
using nlohmann::json;

}  // namespace

void RunStore::Impl::connect(DatabaseAccess access) {
  database = open_database(file, access);
  if (patience) patience->attach(*database);
}

void RunStore::Impl::open_for_reading() {
  statements.clear();
  point_counts.reset();
  verified.clear();
  database.reset();
  stamp = stamp_of(file);
  // Only a file that no one writes, nor left half written, may be opened without locks and without a -shm file.
  followed = !lock && CollectorLock::held(file);
  immutable = !followed && !has_journal(file);
  try {
    connect(immutable ? DatabaseAccess::immutable : DatabaseAccess::read_only);
    extras = require_ours(*database, file, stamp);
    content_verified = immutable && files_of_verified_content().has(file, stamp);
  } catch (const SQLite::Exception& error) {
    if ((error.getErrorCode() & 0xFF) == SQLITE_CANTOPEN && has_journal(file) && ::access(file.c_str(), R_OK) == 0) {
      throw FileError(Kind::other,
                      "{} has a write-ahead log that needs a writable folder to be read; copy both files to one",
                      file.string());
    }
    throw as_file_error(error, file);
  }
}

void RunStore::Impl::open_for_collecting() {
  const FileStamp before = stamp_of(file);
  if (before.size >= 0 && ::access(file.c_str(), W_OK) != 0) {
    throw FileError(Kind::not_writable, "{} cannot be written; give another file with -o, or change its permissions",
                    file.string());
  }
  if (const std::string_view network = network_file_system(file); !network.empty()) {
    throw FileError(Kind::not_writable,
                    "{} lies on a network file system ({}), on which SQLite's write-ahead log does not work; name a "
                    "file on a local disk with -o, and copy it when the run has ended",
                    file.string(), network);
  }
  lock = CollectorLock::acquire(file);
  if (stamp_of(file).size <= 0) {
    require_no_stray_log(file);
    create_database(file, {});
  } else if (!is_blank(file)) {
    // Who the file belongs to is asked without write access: nothing of a foreign or damaged file may change.
    open_for_reading();
  }
  with_file_errors(file, [&] {
    connect(DatabaseAccess::read_write);
    immutable = false;
    use_log(*database);
    // A commit outlives this process with no wait for the disk; finish_run() waits for it once.
    wait_for_disk(false);
    if (is_blank(*database)) create_schema(*database);
    // The lock is ours: whoever left a run `running` is gone.
    end_abandoned_runs();
  });
  stamp = stamp_of(file);
}

void RunStore::Impl::end_abandoned_runs() {
  database->exec(
      "UPDATE runs SET state = 'interrupted', finished_at = coalesce((SELECT max(recorded_at) FROM points WHERE run_id "
      "= "
      "runs.id), started_at) WHERE state = 'running'");
}

SQLite::Statement& RunStore::Impl::statement(const std::string& sql) {
  auto found = statements.find(sql);
  if (found == statements.end()) found = statements.emplace(sql, SQLite::Statement(*database, sql)).first;
  found->second.tryReset();  // reset() throws again what the last use of it threw
  found->second.clearBindings();
  return found->second;
}

std::int64_t RunStore::Impl::scalar(SQLite::Statement& query) {
  query.executeStep();
  const std::int64_t value = query.getColumn(0).getInt64();
  query.reset();
  return value;
}

void RunStore::Impl::require_in_place() const {
  int moved = 0;
  sqlite3_file_control(database->getHandle(), "main", SQLITE_FCNTL_HAS_MOVED, &moved);
  if (moved != 0)
    throw FileError(
        Kind::other,
        "{} was removed, moved or replaced while it was written; what is collected from here on would be lost",
        file.string());
}

void RunStore::Impl::checkpoint() {
  // A reader that stays holds the log back. What is in it is not lost by that, so nobody waits for his end.
  constexpr int moment_ms = 1000;
  database->setBusyTimeout(moment_ms);
  sqlite3_wal_checkpoint_v2(database->getHandle(), nullptr, SQLITE_CHECKPOINT_TRUNCATE, nullptr, nullptr);
  if (patience) {
    patience->attach(*database);
  } else {
    database->setBusyTimeout(busy_timeout_ms);
  }
}

void RunStore::Impl::wait_for_disk(bool waits) {
  (void)database->tryExec(waits ? "PRAGMA synchronous = FULL" : "PRAGMA synchronous = NORMAL");
}

RunStore::RunStore(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
RunStore::RunStore(RunStore&&) noexcept = default;
RunStore& RunStore::operator=(RunStore&&) noexcept = default;
RunStore::~RunStore() = default;

RunStore RunStore::open(const std::filesystem::path& file, Mode mode, std::function<bool(int)> while_locked) {
  std::error_code error;
  auto impl = std::make_unique<Impl>();
  impl->file = behind_links(file);
  impl->mode = mode;
  if (while_locked) impl->patience.emplace(std::move(while_locked));
  if (std::filesystem::is_directory(impl->file, error)) {
    throw FileError(Kind::not_a_database, "{} is a folder; give a file", file.string());
  }
  require_regular(impl->file);
  if (mode == Mode::collect) {
    impl->open_for_collecting();
    return RunStore(std::move(impl));
  }
  const FileStamp there = stamp_of(impl->file);
  if (there.size < 0) {
    throw FileError(Kind::not_found, "{} does not exist", file.string());
  }
  if (there.size == 0 && !has_journal(impl->file)) {
    throw FileError(Kind::not_a_database, "{} is empty; give a file that attnscope wrote", file.string());
  }
  impl->open_for_reading();
  return RunStore(std::move(impl));
}

void RunStore::create(const std::filesystem::path& file, const std::function<void(RunStore&)>& fill) {
  auto impl = std::make_unique<Impl>();
  const std::filesystem::path place = impl->file = behind_links(file);
  impl->mode = Mode::collect;
  require_regular(place);
  RunStore store(std::move(impl));
  const CollectorLock lock = CollectorLock::acquire(place);
  require_no_stray_log(place);
  if (stamp_of(place).size > 0) {
    throw FileError(Kind::not_writable, "{} is there already; give another file", place.string());
  }
  create_database(place, [&](std::unique_ptr<SQLite::Database>& database) {
    store.impl_->database = std::move(database);
    fill(store);
    store.impl_->statements.clear();
    database = std::move(store.impl_->database);
  });
}

std::int64_t RunStore::begin_run(const RunHeader& header) {
  return impl_->write([&] { return impl_->insert_run(header); });
}

std::int64_t RunStore::add_point(std::int64_t run, std::size_t index, const PointRecord& record) {
  return impl_->add_point(run, index, record, nullptr);
}

std::int64_t RunStore::add_point(std::int64_t run, std::size_t index, const PointRecord& record,
                                 const DeviceInfo& device) {
  return impl_->add_point(run, index, record, &device);
}

std::int64_t RunStore::add_round(std::int64_t run, std::size_t index, int round, const PointRecord& measured) {
  return impl_->write([&] { return impl_->extend_point(run, index, round, measured); });
}

void RunStore::finish_run(std::int64_t run, StoredRunState state) {
  impl_->write_on_disk([&] {
    impl_->set_state(run, state);
    return run;
  });
  impl_->checkpoint();
}

void RunStore::reopen_run(std::int64_t run) {
  impl_->write([&] {
    const std::vector<RunSummary> runs = impl_->read_runs(nullptr);
    const auto found = std::ranges::find(runs, run, &RunSummary::id);
    if (found == runs.end() || found->integrity == RunIntegrity::damaged) {
      throw FileError(Kind::damaged, "{}: run {} is damaged and cannot be continued", file().string(), run);
    }
    impl_->set_state(run, StoredRunState::running);
    return run;
  });
  impl_->has_points = true;
}

std::vector<std::int64_t> RunStore::add_complete_runs(std::span<const CompleteRun> runs,
                                                      const std::function<void()>& proceed) {
  const auto add_all = [&] {
    std::vector<std::int64_t> added;
    for (const CompleteRun& run : runs) {
      const std::int64_t id = added.emplace_back(impl_->insert_run(run.header));
      for (std::size_t i = 0; i < run.points.size(); ++i) {
        if (proceed) proceed();
        impl_->insert_point(id, i, run.points[i]);
      }
      impl_->set_state(id, StoredRunState::complete);
    }
    return added;
  };
  std::vector<std::int64_t> ids = impl_->write_on_disk(add_all);
  impl_->checkpoint();
  return ids;
}

std::string RunStore::add_ceilings(const DeviceInfo& device, const Environment& environment,
                                   std::span<const Ceiling> ceilings) {
  std::string uid = impl_->write_on_disk([&] { return impl_->insert_ceilings(device, environment, ceilings); });
  impl_->checkpoint();
  return uid;
}

std::string RunStore::add_noise(const DeviceInfo& device, const Environment& environment,
                                const analysis::RecordingNoise& noise) {
  std::string uid = impl_->write_on_disk([&] { return impl_->insert_noise(device, environment, noise); });
  impl_->checkpoint();
  return uid;
}

std::optional<std::int64_t> RunStore::resume_run(const RunHeader& header) {
  return impl_->write([&]() -> std::optional<std::int64_t> {
    // As readers see them: what was added to a run that they skip, nobody would read.
    const std::vector<RunSummary> runs = impl_->read_runs(nullptr);
    const auto found = std::find_if(runs.rbegin(), runs.rend(), [&](const RunSummary& run) {
      return run.device_uuid == header.device.uuid && run.plan_hash == header.plan_hash &&
             run.state != StoredRunState::complete && run.integrity != RunIntegrity::damaged;
    });
    if (found == runs.rend()) return std::nullopt;
    impl_->set_state(found->id, StoredRunState::running);
    impl_->has_points = true;
    return found->id;
  });
}

std::vector<std::size_t> RunStore::finished_indices(std::int64_t run) const {
  return impl_->read([&] {
    SQLite::Statement& query = impl_->statement(
        "SELECT plan_index FROM points WHERE run_id = ? AND disposition <> 'cancelled' ORDER BY plan_index");
    query.bind(1, run);
    std::vector<std::size_t> indices;
    while (query.executeStep()) indices.push_back(static_cast<std::size_t>(query.getColumn(0).getInt64()));
    return indices;
  });
}

std::vector<MeasuredRounds> RunStore::measured_rounds(std::int64_t run) const {
  return impl_->read([&] {
    SQLite::Statement& query = impl_->statement(
        "SELECT DISTINCT p.plan_index, p.disposition, d.uuid, t.round FROM points p LEFT JOIN devices d ON d.id = "
        "p.device_id LEFT JOIN kernels k ON k.point_id = p.id LEFT JOIN timing_samples t ON t.kernel_id = k.id WHERE "
        "p.run_id = ? AND p.disposition <> 'cancelled' ORDER BY p.plan_index, t.round");
    query.bind(1, run);
    std::vector<MeasuredRounds> points;
    while (query.executeStep()) {
      const auto index = static_cast<std::size_t>(query.getColumn(0).getInt64());
      if (points.empty() || points.back().index != index) {
        // A word that nobody knows is none of those after which a point is measured again.
        const auto disposition = parse_disposition(query.getColumn(1).getString());
        points.push_back({.index = index,
                          .disposition = disposition ? *disposition : Disposition::crashed,
                          .rounds = {},
                          .device_uuid = query.getColumn(2).getString()});
      }
      if (!query.getColumn(3).isNull()) points.back().rounds.push_back(query.getColumn(3).getInt());
    }
    return points;
  });
}

std::vector<RunSummary> RunStore::runs(bool deleted_too) const {
  return impl_->read([&] { return impl_->read_runs(nullptr, deleted_too); });
}

std::vector<StoredPoint> RunStore::points(std::span<const std::int64_t> runs, std::int64_t after_id,
                                          bool deleted_too) const {
  std::vector<StoredPoint> points;
  each_point(
      runs, after_id, [&] { points.clear(); }, [&](StoredPoint&& point) { points.push_back(std::move(point)); },
      deleted_too);
  return points;
}

void RunStore::each_point(std::span<const std::int64_t> runs, std::int64_t after_id, const std::function<void()>& begin,
                          const std::function<void(StoredPoint&&)>& visit, bool deleted_too) const {
  impl_->read([&] {
    begin();
    SQLite::Transaction snapshot(*impl_->database);
    impl_->read_points(impl_->point_ids(runs, after_id), visit, deleted_too);
    snapshot.commit();
    return true;
  });
}

std::optional<StoredPoint> RunStore::point(std::int64_t id) const {
  return impl_->read([&] {
    std::optional<StoredPoint> found;
    SQLite::Transaction snapshot(*impl_->database);
    impl_->read_points({&id, 1}, [&](StoredPoint&& point) { found = std::move(point); });
    snapshot.commit();
    return found;
  });
}

std::vector<std::shared_ptr<const KernelStatement>> RunStore::statements(bool contents) const {
  return impl_->read([&] {
    std::vector<std::shared_ptr<const KernelStatement>> all;
    const auto select = [&](std::string_view sql) -> SQLite::Statement& { return impl_->statement(std::string(sql)); };
    const auto note = [&](std::int64_t id, const Message& why) {
      impl_->note({make_message("statement {}", id), why});
    };
    for (auto& [id, row] : read_statements(select, contents, note)) {
      if (row.statement) all.push_back(std::move(row.statement));
    }
    std::ranges::sort(all, {}, [](const auto& each) { return std::tie(each->text, each->host_code); });
    return all;
  });
}

std::map<std::string, std::vector<std::string>> RunStore::algorithms_by_statement() const {
  return impl_->read([&] {
    std::map<std::string, std::vector<std::string>> all;
    SQLite::Statement& query = impl_->statement(
        "SELECT DISTINCT u.digest, p.algorithm FROM points p JOIN user_kernels u ON u.id = p.user_kernel_id ORDER BY "
        "p.algorithm");
    while (query.executeStep()) all[query.getColumn(0).getString()].push_back(query.getColumn(1).getString());
    return all;
  });
}

std::vector<StoredCeilings> RunStore::ceilings() const {
  return impl_->read([&] { return impl_->read_ceilings(); });
}

std::vector<StoredNoise> RunStore::noise() const {
  return impl_->read([&] { return impl_->read_noise(); });
}

std::vector<BadRow> RunStore::bad_rows() const {
  std::vector<BadRow> rows;
  rows.reserve(impl_->bad.size());
  for (const auto& [where, row] : impl_->bad) rows.push_back(row);
  return rows;
}

std::vector<std::string> RunStore::extras() const {
  return impl_->extras;
}

std::vector<Message> RunStore::structural_damage() const {
  return impl_->read([&] {
    std::vector<Message> found;
    constexpr std::size_t enough = 100;
    SQLite::Statement integrity(*impl_->database, fmt::format("PRAGMA integrity_check({})", enough));
    while (integrity.executeStep()) {
      std::string words = without_heading(integrity.getColumn(0).getString());
      if (words != "ok") found.push_back(Message::verbatim(std::move(words)));
    }
    SQLite::Statement references(*impl_->database, "PRAGMA foreign_key_check");
    std::map<std::pair<std::string, std::string>, std::int64_t> orphans;  // by their table and that of what is gone
    while (references.executeStep()) {
      ++orphans[{references.getColumn(0).getString(), references.getColumn(2).getString()}];
    }
    for (const auto& [tables, rows] : orphans) {
      const auto& [table, other] = tables;
      if (rows == 1) {
        found.push_back(make_message("1 row of {} lacks its row of {}", table, other));
      } else {
        found.push_back(make_message("{} rows of {} lack their row of {}", rows, table, other));
      }
    }
    return found;
  });
}

std::optional<std::string> RunStore::run_uid(std::int64_t run) const {
  return impl_->read([&]() -> std::optional<std::string> {
    SQLite::Statement& query = impl_->statement("SELECT uid FROM runs WHERE id = ?");
    query.bind(1, run);
    std::optional<std::string> uid;
    while (query.executeStep()) uid = query.getColumn(0).getString();
    return uid;
  });
}

const std::filesystem::path& RunStore::file() const {
  return impl_->file;
}

}  // namespace attnscope
