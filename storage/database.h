// SPDX-License-Identifier: Apache-2.0
// Opening and making SQLite files the careful way, and saying in one sentence what is wrong with one. Files are
// untrusted: nothing in one is run. Internal to storage.
#pragma once

#include <SQLiteCpp/SQLiteCpp.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "profiler/files/file_error.h"
#include "profiler/files/file_system.h"

namespace attnscope {

/// For which another program's lock is waited where nobody decides otherwise.
inline constexpr int busy_timeout_ms = 5000;

enum class DatabaseAccess {
  immutable,  ///< no one writes: nothing is locked, nothing is created beside the file
  read_only,
  read_write,
};

/// SQLite's "file:" URI for opening or attaching.
std::string database_uri(const std::filesystem::path&, DatabaseAccess);

/// The connection, hardened, foreign keys on. Throws SQLite::Exception.
std::unique_ptr<SQLite::Database> open_database(const std::filesystem::path&, DatabaseAccess);

/// Large files that this process has checked: one that was not written since is not checked again. Thread-safe.
class CheckedFiles {
 public:
  [[nodiscard]] bool has(const std::filesystem::path&, const FileStamp&);
  void add(const std::filesystem::path&, const FileStamp&);

 private:
  std::mutex mutex_;
  std::map<std::string, FileStamp> known_;
};
[[nodiscard]] CheckedFiles& files_of_intact_structure();
[[nodiscard]] CheckedFiles& files_of_verified_content();

/// Throws FileError unless the file is an intact database of this schema. Returns the tables and views beside it,
/// which are ignored. `stamp`: of the file before it was opened.
std::vector<std::string> require_ours(SQLite::Database&, const std::filesystem::path&, const FileStamp& stamp);

/// What SQLite finds wrong with a file, without the line above it that names the connection's database.
[[nodiscard]] std::string without_heading(const std::string& findings);

/// Is there something beside the file (journal, write-ahead log) that belongs to its content?
[[nodiscard]] bool has_journal(const std::filesystem::path&);

/// What network file system a file lies on, or would ("NFS"); empty: none that is known. A write-ahead log is shared
/// through memory, which machines do not share.
[[nodiscard]] std::string_view network_file_system(const std::filesystem::path&);

/// SQLite's error as one of ours.
[[nodiscard]] FileError as_file_error(const SQLite::Exception&, const std::filesystem::path&);

/// Calls `action`, turning SQLite's exceptions into FileError.
template <class Action>
auto with_file_errors(const std::filesystem::path& file, Action&& action) {
  try {
    return action();
  } catch (const SQLite::Exception& error) {
    throw as_file_error(error, file);
  }
}

/// For a connection that has read nothing yet: no triggers, no extensions, limits on sizes. A reader also runs no
/// views, cannot write, and evaluates no function of the schema that could do harm. A writer opens a file only after a
/// reader has compared its schema.
void harden(SQLite::Database&, bool reads_only);

/// Compares tables, indexes and views with schema_text(). Throws FileError for a trigger, an index on a table of the
/// schema, and for anything that differs or is missing. Returns the tables and views beside the schema, which are
/// ignored: "table notes".
[[nodiscard]] std::vector<std::string> require_our_schema(SQLite::Database&, const std::filesystem::path&);

/// Makes a file of our schema, filled by `fill`, under a temporary name and renames it to `file`: over an empty file,
/// never over anything else. Throws FileError or what `fill` throws.
void create_database(const std::filesystem::path& file,
                     const std::function<void(std::unique_ptr<SQLite::Database>&)>& fill);

/// Switches a file that has a rollback journal to WAL mode. Unlike SQLite's own way, killed at any time this leaves no
/// journal, which a reader could not play back: all that changes is one page.
void use_log(SQLite::Database&);

/// A database without any table, of no program: what a collector left that was killed while it made its file.
[[nodiscard]] bool is_blank(SQLite::Database&);
[[nodiscard]] bool is_blank(const std::filesystem::path&);

/// Before a file is made: SQLite would play a log that is left beside its name into the new file. Throws FileError.
void require_no_stray_log(const std::filesystem::path& file);

/// Calls `waiting` while another program's lock is in the way, every few milliseconds, with the milliseconds waited so
/// far, until it returns false; the call that waits then fails with Kind::locked. Outlives the connection.
class LockPatience {
 public:
  explicit LockPatience(std::function<bool(int)> waiting) : waiting_(std::move(waiting)) {}
  LockPatience(const LockPatience&) = delete;
  LockPatience& operator=(const LockPatience&) = delete;

  void attach(SQLite::Database&);

 private:
  static int on_busy(void* self, int count);

  std::function<bool(int)> waiting_;
  std::int64_t since_ms_ = 0;
};

}  // namespace attnscope
