// SPDX-License-Identifier: Apache-2.0
// Opens and creates SQLite files and turns SQLite's errors into FileError. Files are untrusted: no SQL of a file is
// executed. Internal to storage.
#pragma once

#include <SQLiteCpp/SQLiteCpp.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "profiler/files/file_error.h"
#include "profiler/files/file_system.h"

namespace attnscope {

/// Returns tables, indexes and views as SQL. A point's columns come from the table of fields (profiler/plan/fields.h).
[[nodiscard]] const std::string& schema_text();
/// Creates the schema in an empty database. Throws SQLite::Exception.
void create_schema(SQLite::Database&);

/// Longest wait for another program's lock.
inline constexpr int busy_timeout_ms = 5000;
inline constexpr int collector_busy_timeout_ms = 60'000;  ///< a lock ends a sweep after this time

enum class DatabaseAccess {
  immutable,  ///< no other process writes: takes no locks and creates no -shm file
  read_only,
  read_write,
};

std::string database_uri(const std::filesystem::path&, DatabaseAccess);

/// Opens a hardened connection with foreign keys on. Throws SQLite::Exception.
std::unique_ptr<SQLite::Database> open_database(const std::filesystem::path&, DatabaseAccess);

/// Returns true if this process has passed the check of this version of the file before; viewers open files often.
/// False if `version` is empty. Thread-safe.
[[nodiscard]] bool has_passed(const std::string& check, const std::filesystem::path&, const std::string& version);
void note_passed(const std::string& check, const std::filesystem::path&, const std::string& version);
/// Returns the version of a large file; empty for others, which are checked again each time.
[[nodiscard]] std::string large_file_version(const std::filesystem::path&, const FileStamp&);

/// Throws FileError unless the file is an intact database of this schema, without other tables, indexes, views and
/// triggers. `stamp`: stamp of the file before it was opened.
void require_attnscope_database(SQLite::Database&, const std::filesystem::path&, const FileStamp& stamp);

/// Returns SQLite's findings without the heading line that names the database.
[[nodiscard]] std::string strip_heading(const std::string& findings);

/// Returns true if a rollback journal or write-ahead log with content exists; it may belong to another file.
[[nodiscard]] bool has_journal(const std::filesystem::path&);

/// Returns the network file system ("NFS") that the file is or would be on; empty if none is known. A write-ahead log
/// needs shared memory, which does not work across machines.
[[nodiscard]] std::string_view network_file_system(const std::filesystem::path&);

[[nodiscard]] FileError to_file_error(const SQLite::Exception&, const std::filesystem::path&);

template <class Action>
auto with_file_errors(const std::filesystem::path& file, Action&& action) {
  try {
    return action();
  } catch (const SQLite::Exception& error) {
    throw to_file_error(error, file);
  }
}

/// Restricts a new connection: no triggers, no extensions, size limits. Readers also get no views, no writes, and no
/// unsafe functions in the schema. A writer opens a file only after a reader has verified its schema.
void restrict_connection(SQLite::Database&, bool read_only_access);

/// Creates a database with the schema under a temporary name, calls `fill`, then renames it to `file`. Replaces an
/// empty file, never any other. Throws FileError or what `fill` throws.
void create_database(const std::filesystem::path& file,
                     const std::function<void(std::unique_ptr<SQLite::Database>&)>& fill);

/// Switches a file from rollback journal to WAL mode. Unlike SQLite's own switch, a kill at any time leaves no journal,
/// because only one page changes.
void enable_wal(SQLite::Database&);

/// Returns the logs of an intact file that belong to another file: with them it is damaged, or lacks content that it
/// has without them. Empty if there are none. Pre: no collector writes the file. Throws SQLite::Exception and
/// FileError.
[[nodiscard]] std::string foreign_log(const std::filesystem::path& file);

/// Throws FileError if foreign_log() is not empty. Call before writing to a file: SQLite would replay the log into it.
void require_no_foreign_log(const std::filesystem::path& file);

/// Throws FileError if a log exists without its file. Call before creating a file.
void require_no_orphaned_log(const std::filesystem::path& file);

/// One collector per file: an open-file-description lock on "<file>-lock", which the kernel releases when the process
/// ends, even if killed. The lock is on a separate file because closing any descriptor of the database would drop
/// SQLite's POSIX locks on it.
class CollectorLock {
 public:
  /// Throws FileError: locked or not_writable.
  static CollectorLock acquire(const std::filesystem::path& file);
  /// Returns true if another process, or another store of this process, collects into `file`. Neither locks nor writes.
  [[nodiscard]] static bool held(const std::filesystem::path& file);

  CollectorLock(CollectorLock&& other) noexcept;
  CollectorLock& operator=(CollectorLock&& other) noexcept;
  ~CollectorLock();

 private:
  CollectorLock(std::filesystem::path path, int descriptor) : path_(std::move(path)), descriptor_(descriptor) {}

  std::filesystem::path path_;
  int descriptor_ = -1;
};

}  // namespace attnscope
