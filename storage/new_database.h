// SPDX-License-Identifier: Apache-2.0
// Opens files for writing. Internal to storage.
#pragma once

#include <SQLiteCpp/SQLiteCpp.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>

#include "storage/database.h"

namespace attnscope {

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
