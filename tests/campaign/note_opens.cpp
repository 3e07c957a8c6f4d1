// SPDX-License-Identifier: Apache-2.0
// Preloaded into a program: writes down what it looks at beyond its own business. What to note it reads from the
// environment:
//   ATTNSCOPE_NOTE_LOG   the file that gets a line for each finding
//   ATTNSCOPE_NOTE_WORD  a word; every file in whose path it stands is noted, also one that is not there. Connections
//   to
//                        the network and programs that are started are noted always.
#include <dlfcn.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

namespace {

void note(std::string_view what, std::string_view which) {
  const char* file = std::getenv("ATTNSCOPE_NOTE_LOG");
  if (file == nullptr) return;
  std::string line(what);
  line.append(" ").append(which).append("\n");
  const int log = static_cast<int>(::syscall(SYS_openat, AT_FDCWD, file, O_WRONLY | O_CREAT | O_APPEND, 0600));
  ::syscall(SYS_write, log, line.data(), line.size());
  ::syscall(SYS_close, log);
}

void look_at(const char* call, const char* path) {
  const char* word = std::getenv("ATTNSCOPE_NOTE_WORD");
  if (path == nullptr || word == nullptr) return;
  if (std::string_view(path).find(word) != std::string_view::npos) note(call, path);
}

template <class F>
F* next(const char* name) {
  return reinterpret_cast<F*>(::dlsym(RTLD_NEXT, name));
}

mode_t mode_of(int flags, va_list rest) {
  return (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(rest, mode_t) : 0;
}

}  // namespace

#define ATTNSCOPE_NOTE_OPEN(name)                                      \
  int name(const char* path, int flags, ...) {                         \
    va_list rest;                                                      \
    va_start(rest, flags);                                             \
    const mode_t mode = mode_of(flags, rest);                          \
    va_end(rest);                                                      \
    look_at(#name, path);                                              \
    return next<int(const char*, int, ...)>(#name)(path, flags, mode); \
  }
#define ATTNSCOPE_NOTE_OPENAT(name)                                                 \
  int name(int folder, const char* path, int flags, ...) {                          \
    va_list rest;                                                                   \
    va_start(rest, flags);                                                          \
    const mode_t mode = mode_of(flags, rest);                                       \
    va_end(rest);                                                                   \
    look_at(#name, path);                                                           \
    return next<int(int, const char*, int, ...)>(#name)(folder, path, flags, mode); \
  }
#define ATTNSCOPE_NOTE_FOPEN(name)                                   \
  FILE* name(const char* path, const char* mode) {                   \
    look_at(#name, path);                                            \
    return next<FILE*(const char*, const char*)>(#name)(path, mode); \
  }
#define ATTNSCOPE_NOTE_STAT(name, type)                       \
  int name(const char* path, type* found) {                   \
    look_at(#name, path);                                     \
    return next<int(const char*, type*)>(#name)(path, found); \
  }

extern "C" {
ATTNSCOPE_NOTE_OPEN(open)
ATTNSCOPE_NOTE_OPEN(open64)
ATTNSCOPE_NOTE_OPENAT(openat)
ATTNSCOPE_NOTE_OPENAT(openat64)
ATTNSCOPE_NOTE_FOPEN(fopen)
ATTNSCOPE_NOTE_FOPEN(fopen64)
ATTNSCOPE_NOTE_STAT(stat, struct stat)
ATTNSCOPE_NOTE_STAT(lstat, struct stat)
ATTNSCOPE_NOTE_STAT(stat64, struct stat64)
ATTNSCOPE_NOTE_STAT(lstat64, struct stat64)

int statx(int folder, const char* path, int flags, unsigned mask, struct statx* found) {
  look_at("statx", path);
  return next<int(int, const char*, int, unsigned, struct statx*)>("statx")(folder, path, flags, mask, found);
}

int access(const char* path, int mode) {
  look_at("access", path);
  return next<int(const char*, int)>("access")(path, mode);
}

int connect(int socket, const sockaddr* address, socklen_t length) {
  if (address->sa_family == AF_INET || address->sa_family == AF_INET6) note("connect", "to the network");
  return next<int(int, const sockaddr*, socklen_t)>("connect")(socket, address, length);
}

int execve(const char* path, char* const* words, char* const* environment) {
  note("execve", path);
  return next<int(const char*, char* const*, char* const*)>("execve")(path, words, environment);
}

int posix_spawn(pid_t* child, const char* path, const posix_spawn_file_actions_t* actions,
                const posix_spawnattr_t* attributes, char* const* words, char* const* environment) {
  note("posix_spawn", path);
  return next<decltype(posix_spawn)>("posix_spawn")(child, path, actions, attributes, words, environment);
}

int system(const char* command) {
  note("system", command);
  return next<int(const char*)>("system")(command);
}
}
