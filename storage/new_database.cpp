// SPDX-License-Identifier: Apache-2.0
#include "storage/new_database.h"

#include <sqlite3.h>

#include <chrono>

#include "profiler/files/output_file.h"
#include "storage/schema.h"

namespace attnscope {
namespace {

std::int64_t now_ms() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

}  // namespace

void create_database(const std::filesystem::path& file,
                     const std::function<void(std::unique_ptr<SQLite::Database>&)>& fill) {
  const bool over_empty = stamp_of(file).size == 0;
  TemporaryFile building(file);
  with_file_errors(file, [&] {
    std::unique_ptr<SQLite::Database> database = open_database(building.path(), DatabaseAccess::read_write);
    // A point's commit writes a page of each of some ten trees to the log, however few bytes of it are new; reading and
    // checking 6,000 points takes the same time with pages of 512 bytes to 4 KiB.
    database->exec("PRAGMA page_size = 1024");
    // Nobody else sees it yet: what fails is thrown away, and the disk is waited for once, before it gets its name.
    database->exec("PRAGMA journal_mode = MEMORY");
    database->exec("PRAGMA synchronous = OFF");
    create_schema(*database);
    if (fill) fill(database);
    use_log(*database);
  });
  building.publish(over_empty ? TemporaryFile::Over::what_is_there : TemporaryFile::Over::nothing);
}

void use_log(SQLite::Database& database) {
  if (database.execAndGet("PRAGMA journal_mode").getString() == "wal") return;
  database.exec("PRAGMA journal_mode = MEMORY");
  database.exec("PRAGMA journal_mode = WAL");
}

bool is_blank(SQLite::Database& database) {
  return database.execAndGet("PRAGMA application_id").getInt() == 0 &&
         database.execAndGet("PRAGMA user_version").getInt() == 0 &&
         database.execAndGet("SELECT count(*) FROM sqlite_schema").getInt() == 0;
}

bool is_blank(const std::filesystem::path& file) {
  try {
    return is_blank(*open_database(file, has_journal(file) ? DatabaseAccess::read_only : DatabaseAccess::immutable));
  } catch (const SQLite::Exception&) {  // whatever it is, whoever opens it will say so
    return false;
  }
}

void require_no_stray_log(const std::filesystem::path& file) {
  if (stamp_of(file).size > 0 || !has_journal(file)) return;
  throw FileError(FileError::Kind::other,
                  "{} is left of a file that was moved away or removed, and may hold its last points; put that file "
                  "back, remove the log, or give another name",
                  file.string() + "-wal");
}

void LockPatience::attach(SQLite::Database& database) {
  sqlite3_busy_handler(database.getHandle(), on_busy, this);
}

int LockPatience::on_busy(void* self, int count) {
  auto& patience = *static_cast<LockPatience*>(self);
  constexpr int pause_ms = 20;
  if (count == 0) patience.since_ms_ = now_ms();
  sqlite3_sleep(pause_ms);
  return patience.waiting_(static_cast<int>(now_ms() - patience.since_ms_)) ? 1 : 0;
}

}  // namespace attnscope
