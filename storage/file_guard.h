// SPDX-License-Identifier: Apache-2.0
// The files that a collector writes, as things in folders: made whole, and still where they were at every commit.
// Internal to storage.
#pragma once

#include <SQLiteCpp/SQLiteCpp.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "storage/committed_pages.h"
#include "storage/database.h"

namespace attnscope {

/// Makes a file with the newest schema, filled by `fill`, and puts it at `file` whole: over an empty file, never over
/// anything else. Nothing is left beside it. Throws StorageError or what `fill` throws.
void create_database(const std::filesystem::path& file,
                     const std::function<void(std::unique_ptr<SQLite::Database>&)>& fill);

/// Turns a file that has a rollback journal to a write-ahead log. Unlike SQLite's own way, killed at any time this
/// leaves no journal, which nobody who only reads could play back: all that changes is one page.
void use_log(SQLite::Database&);

/// A database without any table, of no program: what a collector left that was killed while it made its file.
[[nodiscard]] bool is_blank(SQLite::Database&);
[[nodiscard]] bool is_blank(const std::filesystem::path&);

/// Before a file is made or opened for writing, with its lock held: refuses logs that another file left at its name,
/// which SQLite would play into the new one, and plays in what the file's other names (hard links) in this folder or a
/// rollback journal still hold of it. Throws StorageError.
void settle_logs(const std::filesystem::path& file);

/// Brings what logs hold into the file, as far as they can be read, and removes them: before it is replaced.
void fold_logs(const std::filesystem::path& file);

/// Tells when what a connection writes is no longer what its name stands for, or is no longer there.
class FileGuard {
 public:
  /// Of a file that a connection in WAL mode has read from. Outlives the connection, whose checkpoints are its own from
  /// here on.
  FileGuard(std::filesystem::path file, SQLite::Database&);
  FileGuard(const FileGuard&) = delete;
  FileGuard& operator=(const FileGuard&) = delete;
  ~FileGuard() = default;

  /// Before each use of the connection. It has the index of its log mapped: where somebody cut that short, looking at
  /// it would end the process. With its length back, SQLite makes it anew.
  void mend_index();
  /// After each commit, and after what failed. Throws StorageError (Kind::displaced) if the file, or its log, was
  /// removed, moved away or replaced, emptied or written over. Everything that was committed is then in a file beside
  /// it, which the message names; but for the last commit where that may have read what somebody else wrote. From then
  /// on throws at each call.
  void require_in_place(SQLite::Database&);
  /// The log into the file itself, as much of it as readers let; with `ends_log` nothing is left of it. Whether that
  /// was done.
  bool write_back(SQLite::Database&, bool ends_log);

 private:
  std::filesystem::path file_;
  FileStamp database_;
  FileStamp log_;
  FileStamp index_;
  CommittedPages pages_;
  int frames_ = 0;  ///< that the log has
  std::optional<StorageError> displaced_;
};

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
