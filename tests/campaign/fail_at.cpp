// SPDX-License-Identifier: Apache-2.0
// Preload library: kills a program at its n-th call that changes a file below a folder, or makes that call (or all
// later ones) fail. Environment variables:
//   ATTNSCOPE_FAIL_UNDER  the folder
//   ATTNSCOPE_FAIL_AT     n, from 1; nothing fails if unset
//   ATTNSCOPE_FAIL_HOW    kill (before the call), torn (halfway through a write), full (no space from there on),
//                         error (only this call fails), gone (nothing can be read or changed from there on)
//   ATTNSCOPE_FAIL_LOG    a file outside of that folder that gets a line per call
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdarg>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>

namespace {

enum class How { kill, torn, full, error, gone };
enum class Call { writes, makes, changes };  ///< `writes` and `makes` (a file) take space; `changes` does not.
enum class Verdict { go_on, tear, refuse };

struct FaultSettings {
  std::string under;
  std::string log;
  long at = 0;
  How how = How::kill;

  FaultSettings() {
    const auto variable = [](const char* name) {
      const char* value = std::getenv(name);
      return std::string(value != nullptr ? value : "");
    };
    under = variable("ATTNSCOPE_FAIL_UNDER");
    log = variable("ATTNSCOPE_FAIL_LOG");
    at = std::atol(variable("ATTNSCOPE_FAIL_AT").c_str());
    const std::string word = variable("ATTNSCOPE_FAIL_HOW");
    constexpr std::pair<std::string_view, How> words[] = {
        {"kill", How::kill}, {"torn", How::torn}, {"full", How::full}, {"error", How::error}, {"gone", How::gone}};
    for (const auto& [name, meaning] : words) {
      if (word == name) how = meaning;
    }
  }
};

const FaultSettings& orders() {
  static const FaultSettings given;
  return given;
}

std::atomic<long> calls{0};

[[noreturn]] void die() {
  ::syscall(SYS_kill, ::getpid(), SIGKILL);
  for (;;) ::pause();
}

void log(const char* name, std::string_view path) {
  const int file = static_cast<int>(
      ::syscall(SYS_openat, AT_FDCWD, orders().log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  std::string line = name;
  line.append(" ").append(path).append("\n");
  ::syscall(SYS_write, file, line.data(), line.size());
  ::syscall(SYS_close, file);
}

Verdict judge(const char* name, Call call, std::string_view path) {
  const FaultSettings& given = orders();
  if (given.under.empty() || !path.starts_with(given.under)) return Verdict::go_on;
  const long n = ++calls;
  if (!given.log.empty()) log(name, path);
  if (given.at == 0 || n < given.at) return Verdict::go_on;
  switch (given.how) {
    case How::kill:
      die();
    case How::torn:
      if (call == Call::writes) return Verdict::tear;
      die();
    case How::full:
      return call == Call::changes ? Verdict::go_on : Verdict::refuse;
    case How::error:
      return n == given.at ? Verdict::refuse : Verdict::go_on;
    case How::gone:
      return Verdict::refuse;
  }
  return Verdict::go_on;
}

/// Reads are not counted, but fail after the disk is gone.
bool unreadable(std::string_view path) {
  const FaultSettings& given = orders();
  return given.how == How::gone && given.at > 0 && calls >= given.at && !given.under.empty() &&
         path.starts_with(given.under);
}

std::string path_of(int file) {
  std::array<char, 4096> path{};
  const std::string link = "/proc/self/fd/" + std::to_string(file);
  const ssize_t length = ::readlink(link.c_str(), path.data(), path.size());
  return {path.data(), length > 0 ? static_cast<std::size_t>(length) : 0};
}

template <class F>
F* next(const char* name) {
  return reinterpret_cast<F*>(::dlsym(RTLD_NEXT, name));
}

int refused() {
  errno = orders().how == How::full ? ENOSPC : EIO;
  return -1;
}

template <class Read>
ssize_t read_bytes(int file, Read&& read) {
  return orders().how == How::gone && unreadable(path_of(file)) ? refused() : read();
}

/// Calls that write bytes; `some(n)` writes the first n bytes.
template <class Write>
ssize_t write_bytes(const char* name, int file, std::size_t size, Write&& some) {
  switch (judge(name, Call::writes, path_of(file))) {
    case Verdict::go_on:
      return some(size);
    case Verdict::tear:
      some(size / 2);
      die();
    case Verdict::refuse:
      return refused();
  }
  return -1;
}

template <class Real>
int change(const char* name, std::string_view path, Real&& real) {
  return judge(name, Call::changes, path) == Verdict::refuse ? refused() : real();
}

template <class Real>
int open_file(const char* name, const char* path, int flags, Real&& real) {
  const bool makes = (flags & (O_CREAT | O_TRUNC)) != 0;
  const bool refuse = makes ? judge(name, Call::makes, path) == Verdict::refuse : unreadable(path);
  return refuse ? refused() : real();
}

mode_t mode_of(int flags, va_list rest) {
  return (flags & O_CREAT) != 0 ? va_arg(rest, mode_t) : 0;
}

}  // namespace

#define ATTNSCOPE_OPEN(name)                                                                                          \
  int name(const char* path, int flags, ...) {                                                                        \
    va_list rest;                                                                                                     \
    va_start(rest, flags);                                                                                            \
    const mode_t mode = mode_of(flags, rest);                                                                         \
    va_end(rest);                                                                                                     \
    return open_file(#name, path, flags, [&] { return next<int(const char*, int, ...)>(#name)(path, flags, mode); }); \
  }
#define ATTNSCOPE_PWRITE(name)                                                              \
  ssize_t name(int file, const void* bytes, size_t size, off_t offset) {                    \
    return write_bytes(#name, file, size, [&](size_t n) {                                   \
      return next<ssize_t(int, const void*, size_t, off_t)>(#name)(file, bytes, n, offset); \
    });                                                                                     \
  }
#define ATTNSCOPE_PREAD(name)                                                                                      \
  ssize_t name(int file, void* bytes, size_t size, off_t offset) {                                                 \
    return read_bytes(file,                                                                                        \
                      [&] { return next<ssize_t(int, void*, size_t, off_t)>(#name)(file, bytes, size, offset); }); \
  }
#define ATTNSCOPE_ON_FILE(name)                                                       \
  int name(int file) {                                                                \
    return change(#name, path_of(file), [&] { return next<int(int)>(#name)(file); }); \
  }
#define ATTNSCOPE_ON_PATH(name)                                                      \
  int name(const char* path) {                                                       \
    return change(#name, path, [&] { return next<int(const char*)>(#name)(path); }); \
  }
#define ATTNSCOPE_ON_TWO_PATHS(name)                                                                \
  int name(const char* from, const char* to) {                                                      \
    return change(#name, to, [&] { return next<int(const char*, const char*)>(#name)(from, to); }); \
  }

extern "C" {
ATTNSCOPE_OPEN(open)
ATTNSCOPE_OPEN(open64)
ATTNSCOPE_PWRITE(pwrite)
ATTNSCOPE_PWRITE(pwrite64)
ATTNSCOPE_PREAD(pread)
ATTNSCOPE_PREAD(pread64)
ATTNSCOPE_ON_FILE(fsync)
ATTNSCOPE_ON_FILE(fdatasync)
ATTNSCOPE_ON_PATH(unlink)
ATTNSCOPE_ON_PATH(remove)
ATTNSCOPE_ON_TWO_PATHS(rename)
ATTNSCOPE_ON_TWO_PATHS(link)

ssize_t read(int file, void* bytes, size_t size) {
  return read_bytes(file, [&] { return next<ssize_t(int, void*, size_t)>("read")(file, bytes, size); });
}

ssize_t write(int file, const void* bytes, size_t size) {
  return write_bytes("write", file, size,
                     [&](size_t n) { return next<ssize_t(int, const void*, size_t)>("write")(file, bytes, n); });
}

ssize_t writev(int file, const iovec* pieces, int count) {
  size_t size = 0;
  for (int i = 0; i < count; ++i) size += pieces[i].iov_len;
  return write_bytes("writev", file, size, [&](size_t n) {
    // torn: the first half of the pieces
    return next<ssize_t(int, const iovec*, int)>("writev")(file, pieces, n == size ? count : count / 2);
  });
}

int ftruncate(int file, off_t size) {
  return change("ftruncate", path_of(file), [&] { return next<int(int, off_t)>("ftruncate")(file, size); });
}

int ftruncate64(int file, off_t size) {
  return change("ftruncate64", path_of(file), [&] { return next<int(int, off_t)>("ftruncate64")(file, size); });
}

int fchmod(int file, mode_t mode) {
  return change("fchmod", path_of(file), [&] { return next<int(int, mode_t)>("fchmod")(file, mode); });
}

int fchown(int file, uid_t owner, gid_t group) {
  return change("fchown", path_of(file), [&] { return next<int(int, uid_t, gid_t)>("fchown")(file, owner, group); });
}

int unlinkat(int folder, const char* path, int flags) {
  return change("unlinkat", path, [&] { return next<int(int, const char*, int)>("unlinkat")(folder, path, flags); });
}

int renameat2(int from_folder, const char* from, int to_folder, const char* to, unsigned flags) {
  return change("renameat2", to, [&] {
    return next<int(int, const char*, int, const char*, unsigned)>("renameat2")(from_folder, from, to_folder, to,
                                                                                flags);
  });
}
}
