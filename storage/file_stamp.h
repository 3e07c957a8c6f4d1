// SPDX-License-Identifier: Apache-2.0
// Which file a path stands for now, and in what state.
#pragma once

#include <cstdint>
#include <filesystem>

namespace attnscope {

/// What tells one state of a file that no one should be writing from another.
struct FileStamp {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::int64_t size = -1;  ///< -1: there is no such file
  std::int64_t modified_ns = 0;

  /// A file that was removed may hand its inode on to the next: two files that were never there at once can be alike.
  [[nodiscard]] bool same_file(const FileStamp& other) const { return device == other.device && inode == other.inode; }
  bool operator==(const FileStamp&) const = default;
};
[[nodiscard]] FileStamp stamp_of(const std::filesystem::path&);

}  // namespace attnscope
