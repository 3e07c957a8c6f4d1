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
constexpr std::array<std::string_view, 6> dropped_variables{"TMPDIR", "NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS",
                                                            "CPATH",  "C_INCLUDE_PATH",     "CPLUS_INCLUDE_PATH"};
using Deadline = std::chrono::steady_clock::time_point;

std::vector<char*> pointers_to(std::vector<std::string>& strings) {
  std::vector<char*> pointers;
  pointers.reserve(strings.size() + 1);
  for (std::string& each : strings) pointers.push_back(each.data());
  pointers.push_back(nullptr);
  return pointers;
}

/// Returns the errno of a failed start, or 0. `output`: both outputs of the child; it closes when the child executes.
int start(std::vector<std::string> arguments, const std::filesystem::path& temporary, int output, pid_t& child) {
  std::vector<std::string> environment{"TMPDIR=" + temporary.string()};
  for (char** each = environ; *each != nullptr; ++each) {
    const std::string_view variable = *each;
    const std::string_view name = variable.substr(0, variable.find('='));
    if (std::ranges::find(dropped_variables, name) == dropped_variables.end()) environment.emplace_back(variable);
  }
  posix_spawn_file_actions_t files;
  ::posix_spawn_file_actions_init(&files);
  ::posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&files, output, STDOUT_FILENO);
  ::posix_spawn_file_actions_adddup2(&files, output, STDERR_FILENO);
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);  // a timeout kills the whole group
  ::posix_spawnattr_setpgroup(&attributes, 0);
  const int failed = ::posix_spawn(&child, arguments.front().c_str(), &files, &attributes,
                                   pointers_to(arguments).data(), pointers_to(environment).data());
  ::posix_spawn_file_actions_destroy(&files);
  ::posix_spawnattr_destroy(&attributes);
  return failed;
}

/// Returns true if the deadline has passed or `cancel` is set, and records which one.
bool must_end(ChildOutput& result, Deadline until, const CancelToken& cancel) {
  result.cancelled = cancel.cancelled();
  result.timed_out = !result.cancelled && std::chrono::steady_clock::now() >= until;
  return result.cancelled || result.timed_out;
}

/// Reads until the end of the output. Returns false if the child must end.
bool read_all(int from, Deadline until, const CancelToken& cancel, ChildOutput& result) {
  constexpr int poll_ms = 50;
  std::array<char, 65'536> buffer{};
  while (!must_end(result, until, cancel)) {
    pollfd watched{from, POLLIN, 0};
    if (::poll(&watched, 1, poll_ms) <= 0) continue;
    const ssize_t length = ::read(from, buffer.data(), buffer.size());
    if (length < 0 && errno == EINTR) continue;
    if (length <= 0) return true;
    result.text.append(buffer.data(),
                       std::min(static_cast<std::size_t>(length), max_output_bytes - result.text.size()));
  }
  return false;
}

}  // namespace

ChildOutput run_child(const std::vector<std::string>& arguments, const std::filesystem::path& temporary,
                      std::chrono::milliseconds limit, const CancelToken& cancel) {
  const Deadline until = std::chrono::steady_clock::now() + limit;
  ChildOutput result;
  std::array<int, 2> pipe{-1, -1};
  if (::pipe2(pipe.data(), O_CLOEXEC) != 0) {
    result.text = std::strerror(errno);
    return result;
  }
  pid_t child = -1;
  const int failed = start(arguments, temporary, pipe[1], child);
  ::close(pipe[1]);
  if (failed != 0) {
    result.text = std::strerror(failed);
  } else {
    bool kill = !read_all(pipe[0], until, cancel, result);
    int status = 0;
    pid_t ended = 0;
    while (!kill && (ended = ::waitpid(child, &status, WNOHANG)) == 0) {
      kill = must_end(result, until, cancel);
      ::poll(nullptr, 0, 2);
    }
    if (kill) {
      ::kill(-child, SIGKILL);
      ::waitpid(child, &status, 0);
    } else if (ended == child && WIFEXITED(status)) {
      result.exit_code = WEXITSTATUS(status);
    }
  }
  ::close(pipe[0]);
  return result;
}

}  // namespace attnscope::gpu
