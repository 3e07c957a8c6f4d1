// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace attnscope {

/// Identifies one version of a file; a changed stamp means the file was replaced or modified.
struct FileStamp {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::int64_t size = -1;  ///< -1 if there is no such file
  std::int64_t modified_ns = 0;

  /// Compares device and inode. File systems reuse inodes, so a deleted file and a later one can match.
  [[nodiscard]] bool same_file(const FileStamp& other) const { return device == other.device && inode == other.inode; }
  bool operator==(const FileStamp&) const = default;
};
[[nodiscard]] FileStamp file_stamp(const std::filesystem::path&);

inline constexpr const char* executable_path = "/proc/self/exe";

/// Returns $HOME if it is absolute, else the home folder of the user database; empty if neither is available.
[[nodiscard]] std::filesystem::path home_folder();

/// User data folder: $XDG_DATA_HOME/attnscope, else ~/.local/share/attnscope; empty if there is no home folder.
[[nodiscard]] std::filesystem::path data_folder();

/// Returns the folder attnscope-UID below `parent`, created with mode 700 if missing. Returns an empty path if it
/// cannot be created or another user owns it.
[[nodiscard]] std::filesystem::path private_folder(const std::filesystem::path& parent);

/// XXH3 128-bit digest of a file's content in 32 hexadecimal digits; empty if it cannot be read.
[[nodiscard]] std::string file_digest(const std::filesystem::path& file);

}  // namespace attnscope
