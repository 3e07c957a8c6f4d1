// SPDX-License-Identifier: Apache-2.0
#include "storage/database.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <map>
#include <mutex>
#include <optional>

#include "profiler/files/output_file.h"
#include "profiler/plan/text.h"
#include "storage/checksum.h"
#include "storage/run_store.h"

namespace attnscope {
namespace {

using Kind = FileError::Kind;

}  // namespace

std::string database_uri(const std::filesystem::path& file, DatabaseAccess access) {
  std::string text = "file:";
  for (const char c : std::filesystem::absolute(file).string()) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '/' || c == '.' || c == '-' || c == '_';
    text += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  switch (access) {
    case DatabaseAccess::immutable:
      return text + "?mode=ro&immutable=1";
    case DatabaseAccess::read_only:
      return text + "?mode=ro";
    case DatabaseAccess::read_write:
      return text + "?mode=rwc";
  }
  return text;
}

std::unique_ptr<SQLite::Database> open_database(const std::filesystem::path& file, DatabaseAccess access) {
  // Each reading thread has its own connection; SQLite's mutex would take a tenth of the time to read many points.
  const int flags = access == DatabaseAccess::read_write ? SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE
                                                         : SQLite::OPEN_READONLY | SQLite::OPEN_NOMUTEX;
  auto database =
      std::make_unique<SQLite::Database>(database_uri(file, access), flags | SQLite::OPEN_URI, busy_timeout_ms);
  restrict_connection(*database, access != DatabaseAccess::read_write);
  database->exec("PRAGMA foreign_keys = ON");
  return database;
}

namespace {

std::string to_string(const FileStamp& stamp) {
  return fmt::format("{} {} {} {}", stamp.device, stamp.inode, stamp.size, stamp.modified_ns);
}

struct PassedChecks {
  std::mutex mutex;
  std::map<std::pair<std::string, std::string>, std::string> versions;  ///< key: check and file
};
PassedChecks& passed_checks() {
  static PassedChecks checks;
  return checks;
}

}  // namespace

bool has_passed(const std::string& check, const std::filesystem::path& file, const std::string& version) {
  const std::lock_guard lock(passed_checks().mutex);
  const auto& versions = passed_checks().versions;
  const auto known = versions.find({check, file.string()});
  return known != versions.end() && known->second == version && !version.empty();
}

void note_passed(const std::string& check, const std::filesystem::path& file, const std::string& version) {
  const std::lock_guard lock(passed_checks().mutex);
  passed_checks().versions[{check, file.string()}] = version;
}

std::string large_file_version(const std::filesystem::path& file, const FileStamp& stamp) {
  constexpr std::int64_t min_size = std::int64_t{16} << 20;  // bytes
  // The stamp does not cover a log.
  return stamp.size < min_size || has_journal(file) ? std::string() : to_string(stamp);
}

namespace {

/// SQL of tables, indexes, views and triggers by type and name, "table runs"; SQLite's own are left out.
std::map<std::string, std::string> definitions_of(SQLite::Database& database) {
  std::map<std::string, std::string> found;
  SQLite::Statement query(database,
                          "SELECT type, name, tbl_name || ': ' || sql FROM sqlite_schema WHERE sql IS NOT NULL");
  while (query.executeStep()) {
    const std::string name = query.getColumn(1).getString();
    const std::string type = query.getColumn(0).getString();
    if (type == "table" && name.starts_with("sqlite_")) continue;
    found[fmt::format("{} {}", type, printable(name))] = query.getColumn(2).getString();
  }
  return found;
}

/// Throws FileError if a table, index or view of schema_text() is missing or differs, or if there are others, which may
/// change what statements do.
void require_schema(SQLite::Database& database, const std::filesystem::path& file) {
  static const std::map<std::string, std::string> ours = [] {
    SQLite::Database fresh(":memory:", SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
    create_schema(fresh);
    return definitions_of(fresh);
  }();
  const std::map<std::string, std::string> found = definitions_of(database);
  const auto refuse = [&](std::string_view verb, const std::string& what) {
    throw FileError(Kind::foreign, "{} {} {}, so it was not written by attnscope (use an unmodified copy)",
                    file.string(), verb, what);
  };
  for (const auto& [name, sql] : found) {
    if (!ours.contains(name)) refuse("has an unexpected", name);
    if (ours.at(name) != sql) refuse("has a modified", name);
  }
  for (const auto& [name, sql] : ours) {
    if (!found.contains(name)) refuse("lacks", name);
  }
}

}  // namespace

void require_attnscope_database(SQLite::Database& database, const std::filesystem::path& file, const FileStamp& stamp) {
  const int id = database.execAndGet("PRAGMA application_id").getInt();
  const int version = database.execAndGet("PRAGMA user_version").getInt();
  if (id != application_id) {
    throw FileError(Kind::foreign, "{} is an SQLite database of another program (expected an .attnscope file)",
                    file.string());
  }
  if (version != schema_version) {
    throw FileError(Kind::other_schema,
                    "{} has schema version {}; this attnscope supports version {} (measure again, or use the attnscope "
                    "that wrote it)",
                    file.string(), version, schema_version);
  }
  require_schema(database, file);
  if (has_passed("structure", file, large_file_version(file, stamp))) return;
  const std::string check = database.execAndGet("PRAGMA quick_check(1)").getString();
  if (check != "ok") {
    const std::string finding = strip_heading(check);
    throw FileError(Kind::damaged, "{} is damaged: {} (restore a backup, or recover data with `sqlite3 FILE .recover`)",
                    file.string(), finding.substr(0, finding.find('\n')));
  }
  note_passed("structure", file, large_file_version(file, stamp));
}

std::string strip_heading(const std::string& findings) {
  return findings.starts_with("***") ? findings.substr(std::min(findings.size(), findings.find('\n') + 1)) : findings;
}

bool has_journal(const std::filesystem::path& file) {
  return file_stamp(file.string() + "-wal").size > 0 || file_stamp(file.string() + "-journal").size > 0;
}

std::string_view network_file_system(const std::filesystem::path& file) {
  constexpr std::array<std::pair<std::uint32_t, std::string_view>, 9> systems{{{0x6969, "NFS"},
                                                                               {0xFF534D42, "CIFS"},
                                                                               {0xFE534D42, "SMB"},
                                                                               {0x517B, "SMB"},
                                                                               {0x5346414F, "AFS"},
                                                                               {0x0BD00BD0, "Lustre"},
                                                                               {0x47504653, "GPFS"},
                                                                               {0x19830326, "BeeGFS"},
                                                                               {0x00C36400, "CephFS"}}};
  struct statfs found {};
  const std::filesystem::path folder = std::filesystem::absolute(file).parent_path();
  if (::statfs(file.c_str(), &found) != 0 && ::statfs(folder.c_str(), &found) != 0) return {};
  const auto type = static_cast<std::uint32_t>(found.f_type);
  const auto* system = std::ranges::find(systems, type, [](const auto& each) { return each.first; });
  return system == systems.end() ? std::string_view() : system->second;
}

FileError to_file_error(const SQLite::Exception& error, const std::filesystem::path& file) {
  const std::string name = file.string();
  const int code = error.getErrorCode() & 0xFF;
  const int extended = error.getExtendedErrorCode();
  // SQLite reports ENOSPC as FULL, a quota or size limit as a failed write.
  if (code == SQLITE_FULL || extended == SQLITE_IOERR_WRITE || extended == SQLITE_IOERR_SHMSIZE) {
    return {Kind::disk_full, make_message("no space left to write {} (free some space and try again)", name)};
  }
  switch (code) {
    case SQLITE_NOTADB:
      return {Kind::not_a_database,
              make_message("{} is not an .attnscope file (`attnscope import` converts JSON and CSV)", name)};
    case SQLITE_CORRUPT:
      return {Kind::damaged,
              make_message("{} is damaged: {} (restore a backup, or recover data with `sqlite3 FILE .recover`)", name,
                           error.what())};
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return {Kind::locked, make_message("{} is locked by another program (close it and try again)", name)};
    case SQLITE_READONLY:
    case SQLITE_PERM:
      return {Kind::not_writable, make_message("cannot write {} (change its permissions, or use another file)", name)};
    case SQLITE_CANTOPEN:
      return {Kind::other,
              make_message("cannot open {} (check its folder, its permissions, and the limit of open files)", name)};
    default:
      return {Kind::other, make_message("{}: {} (SQLite error {})", name, error.what(), extended)};
  }
}

void restrict_connection(SQLite::Database& database, bool read_only_access) {
  sqlite3* const handle = database.getHandle();
  const auto set = [&](int option, int value) { sqlite3_db_config(handle, option, value, nullptr); };
  set(SQLITE_DBCONFIG_DEFENSIVE, 1);
  // The schema's CHECKs call json_type(), which SQLite does not consider safe. A writer opens the file after a reader
  // has verified its schema.
  set(SQLITE_DBCONFIG_TRUSTED_SCHEMA, read_only_access ? 0 : 1);
  set(SQLITE_DBCONFIG_ENABLE_TRIGGER, 0);
  set(SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0);
  set(SQLITE_DBCONFIG_DQS_DDL, 0);
  set(SQLITE_DBCONFIG_DQS_DML, 0);
  if (read_only_access) set(SQLITE_DBCONFIG_ENABLE_VIEW, 0);

  // The largest value is a kernel's samples; 64 MiB are about three million of them.
  sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, 64 << 20);
  sqlite3_limit(handle, SQLITE_LIMIT_SQL_LENGTH, 1 << 20);
  sqlite3_limit(handle, SQLITE_LIMIT_COLUMN, 500);
  sqlite3_limit(handle, SQLITE_LIMIT_EXPR_DEPTH, 200);
  sqlite3_limit(handle, SQLITE_LIMIT_COMPOUND_SELECT, 10);
  sqlite3_limit(handle, SQLITE_LIMIT_VDBE_OP, 1 << 20);
  sqlite3_limit(handle, SQLITE_LIMIT_ATTACHED, 1);
  sqlite3_limit(handle, SQLITE_LIMIT_TRIGGER_DEPTH, 10);  // cascading deletes count as triggers
  sqlite3_limit(handle, SQLITE_LIMIT_WORKER_THREADS, 0);
  database.exec("PRAGMA cell_size_check = ON");
  if (read_only_access) database.exec("PRAGMA query_only = ON");
}

void create_database(const std::filesystem::path& file,
                     const std::function<void(std::unique_ptr<SQLite::Database>&)>& fill) {
  const bool replaces_empty = file_stamp(file).size == 0;
  TemporaryFile building(file);
  with_file_errors(file, [&] {
    std::unique_ptr<SQLite::Database> database = open_database(building.path(), DatabaseAccess::read_write);
    // Committing a point writes a page of about ten b-trees to the log, so small pages save I/O. Reading 6,000 points
    // takes the same time with pages of 512 bytes to 4 KiB.
    database->exec("PRAGMA page_size = 1024");
    // The file is not visible yet: errors discard it, and it is synced once, before it is renamed.
    database->exec("PRAGMA journal_mode = MEMORY");
    database->exec("PRAGMA synchronous = OFF");
    create_schema(*database);
    if (fill) fill(database);
    enable_wal(*database);
  });
  building.publish(replaces_empty ? TemporaryFile::OverwriteMode::existing_file
                                  : TemporaryFile::OverwriteMode::nothing);
}

void enable_wal(SQLite::Database& database) {
  if (database.execAndGet("PRAGMA journal_mode").getString() == "wal") return;
  database.exec("PRAGMA journal_mode = MEMORY");
  database.exec("PRAGMA journal_mode = WAL");
}

namespace {

/// Returns the logs of the file that have content.
std::vector<std::string> log_names(const std::filesystem::path& file) {
  std::vector<std::string> names;
  for (const char* suffix : {"-wal", "-journal"}) {
    std::string name = file.string() + suffix;
    if (file_stamp(name).size > 0) names.push_back(std::move(name));
  }
  return names;
}

/// Returns true if SQLite would ignore the whole log. Zeros are a log whose begin was lost in a power failure.
bool has_other_content(const std::filesystem::path& log) {
  if (!log.string().ends_with("-wal")) return false;
  constexpr std::array<std::string_view, 2> headers{std::string_view("\x37\x7f\x06\x82"),
                                                    std::string_view("\x37\x7f\x06\x83")};
  std::string begin(4, '\0');
  std::ifstream(log, std::ios::binary).read(begin.data(), static_cast<std::streamsize>(begin.size()));
  return std::ranges::count(headers, begin) == 0 && begin != std::string(4, '\0');
}

/// Amounts that only grow while a file is written.
struct Progress {
  std::map<std::int64_t, std::string> runs;  ///< uid by run id
  std::int64_t last_point = 0;
  std::int64_t values = 0;
  std::int64_t sets = 0;  ///< sets of ceilings and noise
  std::string last_edit;

  [[nodiscard]] bool continues(const Progress& earlier) const {
    const bool grows = last_point >= earlier.last_point && sets >= earlier.sets && last_edit >= earlier.last_edit;
    // Points of a group that is measured again lose their values and get new ids.
    return std::ranges::includes(runs, earlier.runs) && grows &&
           (last_point > earlier.last_point || values >= earlier.values);
  }
};

/// Checks indexes, references and checksums, which the check at open does not.
bool is_consistent(SQLite::Database& database) {
  if (database.execAndGet("PRAGMA integrity_check(1)").getString() != "ok") return false;
  if (SQLite::Statement(database, "PRAGMA foreign_key_check").executeStep()) return false;
  SQLite::Statement runs(database, "SELECT id, checksum FROM runs WHERE checksum IS NOT NULL");
  while (runs.executeStep()) {
    if (runs.getColumn(1).getString() != to_string(checksum_of_run(database, runs.getColumn(0).getInt64())))
      return false;
  }
  return true;
}

/// Returns nullopt if the file is damaged, read that way. Throws SQLite::Exception and FileError for other errors.
std::optional<Progress> read_intact(const std::filesystem::path& file, DatabaseAccess access, bool thorough) {
  try {
    const auto database = open_database(file, access);
    require_attnscope_database(*database, file, file_stamp(file));
    if (thorough && !is_consistent(*database)) return std::nullopt;
    Progress progress;
    SQLite::Statement runs(*database, "SELECT id, uid FROM runs");
    while (runs.executeStep()) progress.runs[runs.getColumn(0).getInt64()] = runs.getColumn(1).getString();
    SQLite::Statement amounts(
        *database,
        "SELECT coalesce((SELECT max(seq) FROM sqlite_sequence WHERE name = 'points'), 0), (SELECT count(*) FROM "
        "timing_samples) + (SELECT count(*) FROM metric_values), (SELECT count(*) FROM ceiling_sets) + (SELECT "
        "count(*) FROM noise_sets), coalesce((SELECT max(edited_at) FROM runs), '')");
    if (amounts.executeStep()) {
      progress.last_point = amounts.getColumn(0).getInt64();
      progress.values = amounts.getColumn(1).getInt64();
      progress.sets = amounts.getColumn(2).getInt64();
      progress.last_edit = amounts.getColumn(3).getString();
    }
    return progress;
  } catch (const SQLite::Exception& error) {
    const int code = error.getErrorCode() & 0xFF;
    // A rollback journal that must be replayed makes the file unreadable without write access.
    const bool needs_rollback = error.getExtendedErrorCode() == SQLITE_READONLY_ROLLBACK;
    if (code != SQLITE_CORRUPT && code != SQLITE_NOTADB && code != SQLITE_ERROR && !needs_rollback) throw;
  } catch (const FileError& error) {
    if (error.kind() != Kind::other_schema && !is_damage(error.kind())) throw;
  }
  return std::nullopt;
}

bool has_foreign_log(const std::filesystem::path& file) {
  // Read the file first: a program that writes it now only adds to it.
  const std::optional<Progress> alone = read_intact(file, DatabaseAccess::immutable, false);
  if (!alone) return false;  // killed while the log was written back
  if (std::ranges::any_of(log_names(file), has_other_content)) return true;
  const std::optional<Progress> replayed = read_intact(file, DatabaseAccess::read_only, true);
  return replayed ? !replayed->continues(*alone) : read_intact(file, DatabaseAccess::immutable, true).has_value();
}

}  // namespace

bool is_damage(FileError::Kind kind) {
  return kind == Kind::damaged || kind == Kind::not_a_database || kind == Kind::foreign;
}

std::string foreign_log(const std::filesystem::path& file) {
  const std::vector<std::string> logs = log_names(file);
  if (logs.empty()) return {};
  std::string version = to_string(file_stamp(file));
  for (const std::string& log : logs) version += ", " + to_string(file_stamp(log));
  if (has_passed("log", file, version)) return {};
  if (has_foreign_log(file)) return fmt::format("{}", fmt::join(logs, ", "));
  note_passed("log", file, version);
  return {};
}

void require_no_foreign_log(const std::filesystem::path& file) {
  const std::string log = foreign_log(file);
  if (log.empty()) return;
  throw FileError(Kind::other,
                  "cannot write {}: {} is the log of another file (rename it, or remove it if that file is not needed)",
                  file.string(), log);
}

void require_no_orphaned_log(const std::filesystem::path& file) {
  const std::vector<std::string> logs = log_names(file);
  if (file_stamp(file).size > 0 || logs.empty()) return;
  throw FileError(
      Kind::other,
      "{} belongs to a file that was moved or removed (restore that file, delete the log, or use another name)",
      fmt::join(logs, ", "));
}

namespace {

std::filesystem::path lock_path(const std::filesystem::path& file) {
  return file.string() + "-lock";
}

struct flock whole_file(short type) {
  struct flock request {};
  request.l_type = type;
  request.l_whence = SEEK_SET;
  return request;
}

/// Returns false if the previous holder removed the file between open() and the lock, which then protects nothing.
bool refers_to_path(int descriptor, const std::filesystem::path& path) {
  struct stat ours {};
  struct stat there {};
  return ::fstat(descriptor, &ours) == 0 && ::stat(path.c_str(), &there) == 0 && ours.st_ino == there.st_ino &&
         ours.st_dev == there.st_dev;
}

}  // namespace

CollectorLock CollectorLock::acquire(const std::filesystem::path& file) {
  const std::filesystem::path path = lock_path(file);
  for (;;) {
    const int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0666);
    if (descriptor < 0) {
      throw FileError(FileError::Kind::not_writable,
                      "cannot write {}: cannot create {} in its folder ({}); use another folder with -o", file.string(),
                      path.filename().string(), std::strerror(errno));
    }
    CollectorLock lock(path, descriptor);
    struct flock request = whole_file(F_WRLCK);
    if (::fcntl(descriptor, F_OFD_SETLK, &request) != 0) {
      lock.path_.clear();  // do not remove the holder's file
      throw FileError(FileError::Kind::locked, "{} is in use by another collector (wait for it, or use another file)",
                      file.string());
    }
    if (refers_to_path(descriptor, path)) return lock;
    lock.path_.clear();
  }
}

bool CollectorLock::held(const std::filesystem::path& file) {
  const int descriptor = ::open(lock_path(file).c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) return false;
  struct flock request = whole_file(F_RDLCK);
  const bool held = ::fcntl(descriptor, F_OFD_GETLK, &request) == 0 && request.l_type != F_UNLCK;
  ::close(descriptor);
  return held;
}

CollectorLock::CollectorLock(CollectorLock&& other) noexcept
    : path_(std::exchange(other.path_, {})), descriptor_(std::exchange(other.descriptor_, -1)) {}

CollectorLock& CollectorLock::operator=(CollectorLock&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

CollectorLock::~CollectorLock() {
  if (descriptor_ < 0) return;
  // Remove the file while still locked, and only if it is the locked one.
  if (!path_.empty() && refers_to_path(descriptor_, path_)) ::unlink(path_.c_str());
  ::close(descriptor_);
}

}  // namespace attnscope
