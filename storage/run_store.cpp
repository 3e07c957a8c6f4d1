// SPDX-License-Identifier: Apache-2.0
#include "storage/run_store.h"

#include <fmt/format.h>
#include <sqlite3.h>
#include <unistd.h>

#include "profiler/files/output_file.h"
#include "storage/run_store_impl.h"

namespace attnscope {
namespace {

using Kind = FileError::Kind;

/// Checks the file, its lock and its logs: opening a pipe blocks.
void require_regular_files(const std::filesystem::path& file) {
  for (const char* suffix : {"", "-lock", "-wal", "-shm", "-journal"}) require_regular_file(file.string() + suffix);
}

}  // namespace

void RunStore::Impl::open_for_reading() {
  statement_cache.clear();
  verified.clear();
  database.reset();
  stamp = file_stamp(file);
  // Files that are being written, or were left with a log, need locks and a -shm file.
  followed = !lock && CollectorLock::held(file);
  try {
    other_log = followed ? std::string() : foreign_log(file);
    immutable = !followed && (!other_log.empty() || !has_journal(file));
    database = open_database(file, immutable ? DatabaseAccess::immutable : DatabaseAccess::read_only);
    require_attnscope_database(*database, file, stamp);
    content_verified = immutable && has_passed("content", file, large_file_version(file, stamp));
  } catch (const SQLite::Exception& error) {
    if ((error.getErrorCode() & 0xFF) == SQLITE_CANTOPEN && has_journal(file) && ::access(file.c_str(), R_OK) == 0) {
      throw FileError(Kind::other, "{} has a write-ahead log, which needs a writable folder (copy both files to one)",
                      file.string());
    }
    throw to_file_error(error, file);
  }
}

void RunStore::Impl::open_for_collecting() {
  const FileStamp before = file_stamp(file);
  if (before.size >= 0 && ::access(file.c_str(), W_OK) != 0) {
    throw FileError(Kind::not_writable, "cannot write {} (change its permissions, or use another file with -o)",
                    file.string());
  }
  if (const std::string_view network = network_file_system(file); !network.empty()) {
    throw FileError(
        Kind::not_writable,
        "{} is on a network file system ({}), where SQLite's write-ahead log does not work (use a local file with -o)",
        file.string(), network);
  }
  lock = CollectorLock::acquire(file);
  if (file_stamp(file).size <= 0) {
    require_no_orphaned_log(file);
    create_database(file, {});
  } else {
    // Verify the file without write access, so that a damaged or unrelated file is not changed.
    open_for_reading();
    require_no_foreign_log(file);
  }
  with_file_errors(file, [&] {
    database = open_database(file, DatabaseAccess::read_write);
    database->setBusyTimeout(collector_busy_timeout_ms);
    immutable = false;
    enable_wal(*database);
    // Commits survive the end of the process without a sync; finish_run() syncs once.
    set_synchronous(false);
    // The collector lock is held, so no other collector is running.
    database->exec(
        "UPDATE runs SET state = 'interrupted', finished_at = coalesce((SELECT max(recorded_at) FROM points WHERE "
        "run_id = runs.id), started_at) WHERE state = 'running'");
  });
  stamp = file_stamp(file);
}

SQLite::Statement& RunStore::Impl::prepare(const std::string& sql) {
  auto found = statement_cache.find(sql);
  if (found == statement_cache.end()) found = statement_cache.emplace(sql, SQLite::Statement(*database, sql)).first;
  found->second.tryReset();  // reset() repeats the error of the last step
  found->second.clearBindings();
  return found->second;
}

void RunStore::Impl::require_same_file() const {
  int moved = 0;
  sqlite3_file_control(database->getHandle(), "main", SQLITE_FCNTL_HAS_MOVED, &moved);
  if (moved != 0)
    throw FileError(Kind::other, "{} was removed, moved or replaced while it was written; further points would be lost",
                    file.string());
}

void RunStore::Impl::checkpoint() {
  // A reader may block the checkpoint. The log stays valid, so do not wait for the reader.
  constexpr int moment_ms = 1000;
  database->setBusyTimeout(moment_ms);
  sqlite3_wal_checkpoint_v2(database->getHandle(), nullptr, SQLITE_CHECKPOINT_TRUNCATE, nullptr, nullptr);
  database->setBusyTimeout(collector_busy_timeout_ms);
}

void RunStore::Impl::set_synchronous(bool waits) {
  (void)database->tryExec(waits ? "PRAGMA synchronous = FULL" : "PRAGMA synchronous = NORMAL");
}

RunStore::RunStore(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
RunStore::RunStore(RunStore&&) noexcept = default;
RunStore& RunStore::operator=(RunStore&&) noexcept = default;
RunStore::~RunStore() = default;

RunStore RunStore::open(const std::filesystem::path& file, Mode mode) {
  std::error_code error;
  auto impl = std::make_unique<Impl>();
  impl->file = resolve_symlinks(file);
  impl->mode = mode;
  if (std::filesystem::is_directory(impl->file, error)) {
    throw FileError(Kind::not_a_database, "{} is a folder (expected a file)", file.string());
  }
  require_regular_files(impl->file);
  if (mode == Mode::collect) {
    impl->open_for_collecting();
    return RunStore(std::move(impl));
  }
  const FileStamp there = file_stamp(impl->file);
  if (there.size < 0) {
    throw FileError(Kind::not_found, "{} does not exist", file.string());
  }
  if (there.size == 0 && !has_journal(impl->file)) {
    throw FileError(Kind::not_a_database, "{} is empty (expected an .attnscope file)", file.string());
  }
  impl->open_for_reading();
  return RunStore(std::move(impl));
}

void RunStore::create(const std::filesystem::path& file, const std::function<void(RunStore&)>& fill) {
  auto impl = std::make_unique<Impl>();
  const std::filesystem::path place = impl->file = resolve_symlinks(file);
  impl->mode = Mode::collect;
  require_regular_files(place);
  RunStore store(std::move(impl));
  const CollectorLock lock = CollectorLock::acquire(place);
  require_no_orphaned_log(place);
  if (file_stamp(place).size > 0) {
    throw FileError(Kind::not_writable, "{} already exists (use another file name)", place.string());
  }
  create_database(place, [&](std::unique_ptr<SQLite::Database>& database) {
    store.impl_->database = std::move(database);
    fill(store);
    store.impl_->statement_cache.clear();
    database = std::move(store.impl_->database);
  });
}

const std::filesystem::path& RunStore::file() const {
  return impl_->file;
}

}  // namespace attnscope
