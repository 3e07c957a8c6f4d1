// SPDX-License-Identifier: Apache-2.0
// Folders of the user, and which file a path stands for now, in what state.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

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

/// This very program, as a file.
inline constexpr const char* own_program = "/proc/self/exe";

/// The user's home folder: HOME, else what the system's table of users says; empty where neither names one. Never a
/// relative path, which would be a folder of wherever one stands.
[[nodiscard]] std::filesystem::path home_folder();

/// Where the programs keep what people make: $XDG_DATA_HOME/attnscope, else in the home folder; empty where there is
/// none.
[[nodiscard]] std::filesystem::path data_folder();

/// A folder of this user's alone (mode 700) below `parent`, made where it is missing; empty where another user has made
/// something of that name, or it cannot be made.
[[nodiscard]] std::filesystem::path private_folder(const std::filesystem::path& parent);

/// Of a file's bytes, in 32 digits (XXH3); empty where it cannot be read.
[[nodiscard]] std::string file_digest(const std::filesystem::path& file);

}  // namespace attnscope
