// SPDX-License-Identifier: Apache-2.0
#include "kernels/files/regular_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace attnscope {
namespace {

Message system_error(int error) {
  if (error == ENOENT || error == ENOTDIR) return "file not found";
  if (error == ELOOP) return "symlink loop (choose another file)";
  return make_message("cannot read the file: {}", std::strerror(error));
}

Message too_large(std::uintmax_t max_bytes) {
  return make_message("the file exceeds {} KiB", max_bytes / 1024);
}

Message error_of(const struct stat& status, std::uintmax_t max_bytes) {
  if (S_ISDIR(status.st_mode)) return "a folder, not a file";
  if (!S_ISREG(status.st_mode)) return "a device, pipe or socket (choose a regular file)";
  return static_cast<std::uintmax_t>(status.st_size) > max_bytes ? too_large(max_bytes) : Message();
}

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  [[nodiscard]] int number() const { return number_; }

 private:
  int number_;
};

}  // namespace

Message regular_file_error(const std::filesystem::path& file, std::uintmax_t max_bytes) {
  struct stat status {};
  return ::stat(file.c_str(), &status) == 0 ? error_of(status, max_bytes) : system_error(errno);
}

Result<std::string, Message> read_regular_file(const std::filesystem::path& file, std::uintmax_t max_bytes) {
  // Before open(), which can have an effect on a device.
  if (Message error = regular_file_error(file, max_bytes); !error.empty()) return Failure{std::move(error)};
  const Descriptor in(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
  struct stat status {};
  if (in.number() < 0 || ::fstat(in.number(), &status) != 0) return Failure{system_error(errno)};
  if (Message error = error_of(status, max_bytes); !error.empty()) return Failure{std::move(error)};
  // One byte more, to see the end. A file in /proc has the size 0.
  std::string text(std::max<std::size_t>(static_cast<std::size_t>(status.st_size) + 1, 4096), '\0');
  for (std::size_t length = 0;;) {
    const ssize_t got = ::read(in.number(), text.data() + length, text.size() - length);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return Failure{system_error(errno)};
    if (got == 0) return text.substr(0, length);
    length += static_cast<std::size_t>(got);
    if (length > max_bytes) return Failure{too_large(max_bytes)};
    if (length == text.size()) text.resize(2 * length);
  }
}

}  // namespace attnscope
