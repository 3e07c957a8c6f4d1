// SPDX-License-Identifier: Apache-2.0
#include "app/interrupt.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <ctime>
#include <string_view>
#include <system_error>
#include <utility>

#include "app/command.h"
#include "profiler/worker/link.h"

namespace attnscope {
namespace {

CancelToken token;
std::atomic<std::int64_t> cancel_time_ms{0};
static_assert(std::atomic<std::int64_t>::is_always_lock_free);

std::int64_t now_ms() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1'000'000;
}

void on_signal(int) {
  // Committed points are safe, so the second signal need not wait for the launch. timeout(1) sends its signal twice, to
  // the process and to its group, so a signal within 500 ms does not count as a second one.
  constexpr std::int64_t same_signal_ms = 500;
  if (!token.cancelled()) {
    cancel_time_ms = now_ms();
    token.cancel();
  } else if (now_ms() - cancel_time_ms > same_signal_ms) {
    ::_exit(static_cast<int>(ExitCode::partial));
  }
}

bool is_null_device(int descriptor) {
  struct stat given {};
  struct stat null_device {};
  return ::fstat(descriptor, &given) == 0 && ::stat("/dev/null", &null_device) == 0 && S_ISCHR(given.st_mode) &&
         given.st_rdev == null_device.st_rdev;
}

}  // namespace

LineReader::LineReader(std::function<void(std::string_view line)> on_line, std::function<void()> on_end,
                       int descriptor) {
  auto link =
      worker::connect_descriptors(::fcntl(descriptor, F_DUPFD_CLOEXEC, 3), ::open("/dev/null", O_WRONLY | O_CLOEXEC));
  if (!link) throw std::system_error(errno, std::generic_category(), "cannot read requests");
  thread_ = std::jthread([lines = std::move(link).value(), on_line = std::move(on_line),
                          on_end = std::move(on_end)](const std::stop_token& stop) {
    constexpr std::chrono::milliseconds poll_interval{20};
    using Status = worker::Link::ReceiveStatus;
    std::string line;
    while (!stop.stop_requested()) {
      const Status got = lines->receive(line, poll_interval);
      if (got == Status::line) on_line(line);
      if (got == Status::end) return on_end();
    }
  });
}

CancelToken& cancel_on_signals() {
  struct sigaction action {};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;
  ::sigaction(SIGINT, &action, nullptr);
  ::sigaction(SIGTERM, &action, nullptr);
  // Keeps SIGHUP ignored if nohup has set it so.
  struct sigaction before {};
  if (::sigaction(SIGHUP, nullptr, &before) == 0 && before.sa_handler != SIG_IGN) {
    ::sigaction(SIGHUP, &action, nullptr);
  }
  return token;
}

void cancel_on_stdin(CancelToken& cancel) {
  if (is_null_device(STDIN_FILENO)) return;
  static const LineReader reader(
      [&cancel](std::string_view line) {
        if (line == "cancel" || line == "cancel\r") cancel.cancel();
      },
      [&cancel] { cancel.cancel(); });
}

}  // namespace attnscope
