// SPDX-License-Identifier: Apache-2.0
// File lock: one collector per file. The kernel releases it when the process ends, even if killed.
#pragma once

#include <filesystem>

namespace attnscope {

/// Open-file-description lock on "<file>-lock". The lock is on a separate file because closing any descriptor of the
/// database would drop SQLite's POSIX locks on it.
class CollectorLock {
 public:
  /// Throws FileError: locked (with the process id of the holder) or not_writable.
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
