// SPDX-License-Identifier: Apache-2.0
// Opening SQLite files the careful way, and saying in one sentence what is wrong with one. Internal to storage.
#pragma once

#include <SQLiteCpp/SQLiteCpp.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <string>
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

}  // namespace attnscope
