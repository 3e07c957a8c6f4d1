// SPDX-License-Identifier: Apache-2.0
#include "profiler/files/file_system.h"

#define XXH_INLINE_ALL
#include <fmt/format.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <vector>

#include "kernels/files/regular_file.h"

namespace attnscope {

FileStamp file_stamp(const std::filesystem::path& file) {
  struct stat status {};
  if (::stat(file.c_str(), &status) != 0) return {};
  return {.device = status.st_dev,
          .inode = status.st_ino,
          .size = status.st_size,
          .modified_ns = status.st_mtim.tv_sec * 1'000'000'000LL + status.st_mtim.tv_nsec};
}

std::filesystem::path home_folder() {
  const char* variable = std::getenv("HOME");
  if (variable != nullptr && *variable == '/') return variable;
  const passwd* user = getpwuid(getuid());
  return user != nullptr && user->pw_dir != nullptr && *user->pw_dir == '/' ? std::filesystem::path(user->pw_dir)
                                                                            : std::filesystem::path();
}

std::filesystem::path data_folder() {
  // The XDG specification says to ignore relative paths.
  const char* variable = std::getenv("XDG_DATA_HOME");
  if (variable != nullptr && *variable == '/') return std::filesystem::path(variable) / "attnscope";
  const std::filesystem::path home = home_folder();
  return home.empty() ? home : home / ".local" / "share" / "attnscope";
}

std::filesystem::path private_folder(const std::filesystem::path& parent) {
  const std::filesystem::path folder = parent / fmt::format("attnscope-{}", getuid());
  if (mkdir(folder.c_str(), S_IRWXU) != 0 && errno != EEXIST) return {};
  // lstat, because a symlink could have been planted by another user.
  struct stat made {};
  const bool ours = lstat(folder.c_str(), &made) == 0 && S_ISDIR(made.st_mode) && made.st_uid == getuid() &&
                    (made.st_mode & (S_IRWXG | S_IRWXO)) == 0;
  return ours ? folder : std::filesystem::path();
}

std::string file_digest(const std::filesystem::path& path) {
  if (!regular_file_error(path).empty()) return {};
  std::ifstream file(path, std::ios::binary);
  if (!file) return {};
  XXH3_state_t* state = XXH3_createState();
  XXH3_128bits_reset(state);
  std::vector<char> buffer(1 << 20);
  while (file.read(buffer.data(), static_cast<std::streamsize>(buffer.size())) || file.gcount() > 0) {
    XXH3_128bits_update(state, buffer.data(), static_cast<std::size_t>(file.gcount()));
  }
  const XXH128_hash_t digest = XXH3_128bits_digest(state);
  XXH3_freeState(state);
  return fmt::format("{:016x}{:016x}", digest.high64, digest.low64);
}

}  // namespace attnscope
