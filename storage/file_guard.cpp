// SPDX-License-Identifier: Apache-2.0
#include "storage/file_guard.h"

#include <fmt/format.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "messages/file.h"
#include "storage/collector_lock.h"
#include "storage/migrations.h"
#include "storage/output_file.h"

namespace attnscope {
namespace {

namespace fs = std::filesystem;
using Kind = StorageError::Kind;

constexpr const char* log_suffix = "-wal";
constexpr const char* index_suffix = "-shm";
constexpr const char* journal_suffix = "-journal";

fs::path beside(const fs::path& file, const char* suffix) {
  return file.string() + suffix;
}

/// Lets SQLite bring into the file what lies beside it.
void play_in(const fs::path& file) {
  with_storage_errors(file, [&] {
    const auto database = open_database(file, DatabaseAccess::read_write);
    database->execAndGet("SELECT count(*) FROM sqlite_schema");
    database->tryExec("PRAGMA wal_checkpoint(TRUNCATE)");
  });
}

/// The other names of the file that lie in its folder.
std::vector<fs::path> other_names(const fs::path& file) {
  std::vector<fs::path> names;
  struct stat ours {};
  if (::stat(file.c_str(), &ours) != 0 || ours.st_nlink < 2) return names;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(file.parent_path(), ignored)) {
    struct stat there {};
    if (::lstat(entry.path().c_str(), &there) != 0 || there.st_ino != ours.st_ino || there.st_dev != ours.st_dev) {
      continue;
    }
    if (entry.path().filename() != file.filename()) names.push_back(entry.path());
  }
  return names;
}

/// "<stem>-rescued.attnscope", or -2, -3, ... of a folder.
fs::path rescue_name(const fs::path& folder, const fs::path& file) {
  const std::string stem = file.stem().string() + "-rescued";
  const std::string extension = file.extension().string();
  fs::path name = folder / (stem + extension);
  std::error_code ignored;
  for (int n = 2; fs::exists(fs::symlink_status(name, ignored)); ++n) {
    name = folder / fmt::format("{}-{}{}", stem, n, extension);
  }
  return name;
}

/// A copy of all that was committed, in the folder of `file`, or where that is gone among the temporary files; what
/// says where.
Message rescue(const CommittedPages& pages, SQLite::Database& database, const fs::path& file) {
  std::string why;
  std::error_code error;
  for (const fs::path& folder : {file.parent_path(), fs::temp_directory_path(error)}) {
    if (!fs::is_directory(folder, error)) continue;
    try {
      const fs::path name = rescue_name(folder, file);
      TemporaryFile copy(name);
      if (pages.whole()) {
        pages.write_to(copy.descriptor());
      } else {  // what the connection still sees
        SQLite::Statement vacuum(database, "VACUUM INTO ?");
        vacuum.bind(1, copy.path().string());
        vacuum.exec();
      }
      copy.publish(TemporaryFile::Over::nothing);
      return say::file::rescued{.rescue = name.string()};
    } catch (const std::exception& failure) {
      if (why.empty()) why = failure.what();
    }
  }
  if (why.empty()) return say::file::not_rescued_folder_gone{};
  return say::file::not_rescued{.error = why};
}

std::int64_t now_ms() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

}  // namespace

void create_database(const std::filesystem::path& file,
                     const std::function<void(std::unique_ptr<SQLite::Database>&)>& fill) {
  const bool over_empty = stamp_of(file).size == 0;
  TemporaryFile building(file);
  with_storage_errors(file, [&] {
    std::unique_ptr<SQLite::Database> database = open_database(building.path(), DatabaseAccess::read_write);
    // A point's commit writes a page of each of some ten trees to the log, however few bytes of it are new; reading and
    // checking 6,000 points takes the same time with pages of 512 bytes to 4 KiB.
    database->exec("PRAGMA page_size = 1024");
    // Nobody else sees it yet: what fails is thrown away, and the disk is waited for once, before it gets its name.
    database->exec("PRAGMA journal_mode = MEMORY");
    database->exec("PRAGMA synchronous = OFF");
    migrate(*database);
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

void settle_logs(const std::filesystem::path& file) {
  const std::int64_t size = stamp_of(file).size;
  for (const char* suffix : {log_suffix, journal_suffix}) {
    const fs::path log = beside(file, suffix);
    if (size < 0 && stamp_of(log).size > 0) {
      throw StorageError(Kind::other, say::file::orphaned_log{.log = log.string()});
    }
    // SQLite, too, gives up what lies beside an empty file.
    if (size <= 0) ::unlink(log.c_str());
  }
  if (size <= 0) {
    ::unlink(beside(file, index_suffix).c_str());
    return;
  }
  for (const fs::path& name : other_names(file)) {
    if (!has_journal(name)) continue;
    const CollectorLock lock = CollectorLock::acquire(name);
    play_in(name);
  }
  if (stamp_of(beside(file, journal_suffix)).size > 0) play_in(file);
}

void fold_logs(const std::filesystem::path& file) {
  if (has_journal(file)) {
    try {
      play_in(file);
    } catch (const StorageError&) {
      // No database, or a damaged one: its logs go with it.
    }
  }
  for (const char* suffix : {log_suffix, index_suffix, journal_suffix}) ::unlink(beside(file, suffix).c_str());
}

FileGuard::FileGuard(std::filesystem::path file, SQLite::Database& database)
    : file_(std::move(file)), database_(stamp_of(file_)), log_(stamp_of(beside(file_, log_suffix))), pages_(file_) {
  const auto count_frames = [](void* frames, sqlite3*, const char*, int count) {
    *static_cast<int*>(frames) = count;
    return SQLITE_OK;
  };
  mend_index();
  if (write_back(database, false)) {
    pages_.take(frames_);
  } else {
    pages_.give_up();
  }
  sqlite3_wal_hook(database.getHandle(), count_frames, &frames_);
}

void FileGuard::mend_index() {
  const fs::path index = beside(file_, index_suffix);
  const FileStamp there = stamp_of(index);
  if (there.size < 0 || (index_.size >= 0 && !there.same_file(index_))) return;  // that of another file
  if (there.size >= index_.size) {
    index_ = there;
  } else {
    [[maybe_unused]] const int failed = ::truncate(index.c_str(), index_.size);
  }
}

bool FileGuard::write_back(SQLite::Database& database, bool ends_log) {
  int frames = -1;
  int written = -1;
  const int mode = ends_log ? SQLITE_CHECKPOINT_TRUNCATE : SQLITE_CHECKPOINT_PASSIVE;
  const int error = sqlite3_wal_checkpoint_v2(database.getHandle(), nullptr, mode, &frames, &written);
  if (error == SQLITE_OK || frames > 0) frames_ = std::max(frames, 0);
  pages_.written_back(error == SQLITE_OK && written == frames);
  return error == SQLITE_OK && frames >= 0;
}

void FileGuard::require_in_place(SQLite::Database& database) {
  if (displaced_) throw *displaced_;
  const FileStamp there = stamp_of(file_);
  const FileStamp log = stamp_of(beside(file_, log_suffix));
  const bool database_stays = there.size >= 0 && there.same_file(database_);
  const bool log_stays = log.size >= 0 && log.same_file(log_);
  const bool database_is_ours = !database_stays || pages_.file_is_ours();
  const bool log_is_ours = !log_stays || pages_.log_is_ours(frames_);
  if (database_is_ours && log_is_ours) pages_.take(frames_);
  if (database_stays && log_stays && database_is_ours && log_is_ours) {
    constexpr int many_frames = 1000;
    if (frames_ >= many_frames) (void)write_back(database, false);
    return;
  }
  const Message where = rescue(pages_, database, file_);
  // Nothing of ours goes into what somebody else wrote.
  if (!database_is_ours) sqlite3_db_config(database.getHandle(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
  // Ours no longer belongs to anything: SQLite would play it into whatever file gets the name next.
  if (log_stays) {
    for (const char* suffix : {log_suffix, index_suffix}) ::unlink(beside(file_, suffix).c_str());
  }
  const std::string name = file_.string();
  const Message what = !database_stays     ? there.size < 0 ? Message(say::file::gone{.file = name, .where = where})
                                                            : Message(say::file::replaced{.file = name, .where = where})
                           : !database_is_ours ? Message(say::file::written_over{.file = name, .where = where})
                                           : Message(say::file::log_lost{.file = name, .where = where});
  throw displaced_.emplace(Kind::displaced, what);
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
