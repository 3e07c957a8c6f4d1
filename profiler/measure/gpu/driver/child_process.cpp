// SPDX-License-Identifier: Apache-2.0
#include "profiler/measure/gpu/driver/child_process.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <string_view>

namespace attnscope::gpu {
namespace {

constexpr std::size_t max_output_bytes = std::size_t{1} << 20U;
using Deadline = std::chrono::steady_clock::time_point;

std::vector<char*> pointers_to(std::vector<std::string>& words) {
  std::vector<char*> pointers;
  pointers.reserve(words.size() + 1);
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
}

/// Returns the errno of a failed start, or 0. `output`: both outputs of the child; it closes when the child executes.
int start(const std::vector<std::string>& words, const std::filesystem::path& temporary, int output, pid_t& child) {
  std::vector<std::string> arguments = words;
  std::vector<std::string> environment{"TMPDIR=" + temporary.string()};
  for (char** each = environ; *each != nullptr; ++each) {
    if (!std::string_view(*each).starts_with("TMPDIR=")) environment.emplace_back(*each);
  }
  posix_spawn_file_actions_t files;
  ::posix_spawn_file_actions_init(&files);
  ::posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&files, output, STDOUT_FILENO);
  ::posix_spawn_file_actions_adddup2(&files, output, STDERR_FILENO);
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);  // so that its children can be killed, too
  ::posix_spawnattr_setpgroup(&attributes, 0);
  const int failed = ::posix_spawn(&child, arguments.front().c_str(), &files, &attributes,
                                   pointers_to(arguments).data(), pointers_to(environment).data());
  ::posix_spawn_file_actions_destroy(&files);
  ::posix_spawnattr_destroy(&attributes);
  return failed;
}

/// Reads until the end of the output. Returns false at the deadline.
bool read_all(int from, Deadline until, std::string& text) {
  std::array<char, 65'536> buffer{};
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
    if (left.count() <= 0) return false;
    pollfd watched{from, POLLIN, 0};
    if (::poll(&watched, 1, static_cast<int>(std::min<long>(left.count(), 1000))) <= 0) continue;
    const ssize_t length = ::read(from, buffer.data(), buffer.size());
    if (length < 0 && errno == EINTR) continue;
    if (length <= 0) return true;
    text.append(buffer.data(), std::min(static_cast<std::size_t>(length), max_output_bytes - text.size()));
  }
}

}  // namespace

ChildOutput run_child(const std::vector<std::string>& words, const std::filesystem::path& temporary,
                      std::chrono::milliseconds limit) {
  const Deadline until = std::chrono::steady_clock::now() + limit;
  ChildOutput result;
  std::array<int, 2> ends{-1, -1};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    result.text = std::strerror(errno);
    return result;
  }
  pid_t child = -1;
  const int failed = start(words, temporary, ends[1], child);
  ::close(ends[1]);
  if (failed != 0) {
    result.text = std::strerror(failed);
  } else {
    result.timed_out = !read_all(ends[0], until, result.text);
    int status = 0;
    pid_t ended = 0;
    while (!result.timed_out && (ended = ::waitpid(child, &status, WNOHANG)) == 0) {
      result.timed_out = std::chrono::steady_clock::now() >= until;
      ::poll(nullptr, 0, 2);
    }
    if (result.timed_out) {
      ::kill(-child, SIGKILL);
      ::waitpid(child, &status, 0);
    } else if (ended == child && WIFEXITED(status)) {
      result.exit_code = WEXITSTATUS(status);
    }
  }
  ::close(ends[0]);
  return result;
}

}  // namespace attnscope::gpu
