// SPDX-License-Identifier: Apache-2.0
// One collector a file: a lock that dies with its process, so that a killed collector leaves none behind.
#pragma once

#include <filesystem>

namespace attnscope {

/// An open-file-description lock on "<file>-lock": a file of its own, so that readers may ask for it without opening
/// the database, since closing any descriptor of that drops SQLite's POSIX locks on it.
class CollectorLock {
 public:
  /// Throws FileError: locked (with the holder's process id) or not_writable.
  static CollectorLock acquire(const std::filesystem::path& file);
  /// Does another process, or another store of this one, collect into `file`? Takes nothing, writes nothing.
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
