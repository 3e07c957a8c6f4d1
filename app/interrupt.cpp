// SPDX-License-Identifier: Apache-2.0
#include "app/interrupt.h"

#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <string>
#include <thread>

#include "app/command.h"

namespace attnscope {
namespace {

CancelToken token;

void on_signal(int) {
  // What is committed is safe, so a second signal need not wait for a launch that does not end.
  if (token.cancelled()) ::_exit(static_cast<int>(ExitCode::partial));
  token.cancel();
}

bool is_null_device(int descriptor) {
  struct stat given {};
  struct stat null_device {};
  return ::fstat(descriptor, &given) == 0 && ::stat("/dev/null", &null_device) == 0 && S_ISCHR(given.st_mode) &&
         given.st_rdev == null_device.st_rdev;
}

void watch_stdin(CancelToken& cancel) {
  std::string line;
  std::array<char, 256> buffer{};
  for (;;) {
    const ssize_t length = ::read(STDIN_FILENO, buffer.data(), buffer.size());
    if (length < 0 && errno == EINTR) continue;
    if (length <= 0) return cancel.cancel();
    for (const char c : std::string_view(buffer.data(), static_cast<std::size_t>(length))) {
      if (c != '\n') {
        line += c;
        continue;
      }
      if (line == "cancel" || line == "cancel\r") cancel.cancel();
      line.clear();
    }
  }
}

}  // namespace

CancelToken& cancel_on_signals() {
  struct sigaction action {};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;
  ::sigaction(SIGINT, &action, nullptr);
  ::sigaction(SIGTERM, &action, nullptr);
  return token;
}

void cancel_on_stdin(CancelToken& cancel) {
  if (is_null_device(STDIN_FILENO)) return;
  // Detached: a read of stdin cannot be ended from here, and the token lives as long as the process.
  std::thread(watch_stdin, std::ref(cancel)).detach();
}

}  // namespace attnscope
