// SPDX-License-Identifier: Apache-2.0
#include "app/worker_service.h"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdio>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "app/devices.h"
#include "app/interrupt.h"
#include "profiler/measure/device.h"
#include "profiler/worker/protocol.h"
#include "profiler/worker/worker_loop.h"

namespace attnscope {
namespace {

constexpr std::chrono::milliseconds poll_interval{100};

/// Writes events as JSON lines; detects a closed reader.
class Lines {
 public:
  explicit Lines(int out) : out_(::fdopen(::fcntl(out, F_DUPFD_CLOEXEC, 3), "w")) {
    if (out_ == nullptr) throw std::system_error(errno, std::generic_category(), "output of the worker");
  }
  Lines(const Lines&) = delete;
  Lines& operator=(const Lines&) = delete;
  ~Lines() { (void)std::fclose(out_); }

  void send(const Event& event) {
    const std::string line = to_json_line(event) + "\n";
    const std::lock_guard lock(mutex_);
    if (std::fwrite(line.data(), 1, line.size(), out_) != line.size() || std::fflush(out_) != 0) gone_ = true;
  }
  [[nodiscard]] bool gone() const { return gone_; }

 private:
  std::FILE* out_;
  std::mutex mutex_;
  std::atomic<bool> gone_ = false;
};

/// Queue of unanswered requests. A thread reads them, so that a cancel request reaches the measurement in progress.
class Inbox {
 public:
  /// The end of the input, when the supervisor has exited, cancels `all`.
  Inbox(int in, Lines& lines, CancelToken& all)
      : lines_(lines),
        all_(all),
        reader_([this](std::string_view line) { take(line); }, [this] { all_.cancel(); }, in) {}

  /// Returns the next request and its cancel token; nullopt at the end of input.
  struct Asked {
    WorkerRequest request;
    std::shared_ptr<CancelToken> cancel;
  };
  std::optional<Asked> next() {
    std::unique_lock lock(mutex_);
    current_.reset();
    // Polls, because a cancel does not notify the condition variable.
    while (!all_.cancelled() && requests_.empty()) came_.wait_for(lock, poll_interval);
    if (all_.cancelled()) return std::nullopt;
    current_ = std::move(requests_.front());
    requests_.pop_front();
    return current_;
  }

 private:
  void take(std::string_view line) {
    auto request = parse_worker_request(line);
    if (!request) return lines_.send(RefusedEvent{.request = {}, .id = {}, .reason = request.error()});
    const std::lock_guard lock(mutex_);
    if (request->request == "cancel") {
      if (current_ && current_->request.id == request->id) current_->cancel->cancel();
      for (const Asked& waiting : requests_) {
        if (waiting.request.id == request->id) waiting.cancel->cancel();
      }
      return;
    }
    requests_.push_back({std::move(request).value(), std::make_shared<CancelToken>(&all_)});
    came_.notify_one();
  }

  Lines& lines_;
  CancelToken& all_;
  std::mutex mutex_;
  std::condition_variable came_;
  std::deque<Asked> requests_;
  std::optional<Asked> current_;
  LineReader reader_;  ///< last member: the thread uses the others
};

/// Opens the device of the options. Throws CommandError.
OpenedDevice open_requested_device(const WorkerOptions& options) {
  if (options.uuid.empty()) return open_device_in_process(options.device, !options.no_counters);
  return open_device_by_uuid(options.uuid, !options.no_counters);
}

}  // namespace

std::shared_ptr<WorkerOptions> add_worker_options(CLI::App& command) {
  auto options = std::make_shared<WorkerOptions>();
  command.add_option("-d,--device", options->device, "Device to open")->type_name("DEVICE");
  command.add_option("--uuid", options->uuid)->group("");
  command.add_flag("--no-counters", options->no_counters, "Measure time and occupancy only");
  return options;
}

ExitCode serve_worker(const WorkerOptions& options, int in, int out, CancelToken& cancel) {
  const OpenedDevice opened = open_requested_device(options);
  Lines lines(out);
  WorkerLoop loop(*opened.device, [&](const Event& event) { lines.send(event); });
  loop.send_device_event(program_version(), opened.simulation_reason);
  Inbox inbox(in, lines, cancel);
  while (auto asked = inbox.next()) {
    loop.answer(asked->request, *asked->cancel);
    // the supervisor starts a new worker for the remaining points
    if (!opened.device->usable()) leave(ExitCode::partial);
    if (lines.gone() || cancel.cancelled()) break;
  }
  return ExitCode::ok;
}

void send_worker_failure(const CommandError& error, int out) {
  Lines(out).send(DoneEvent{.state = "failed", .reason = error.message(), .exit_code = static_cast<int>(error.code())});
}

Action add_worker(CLI::App& command) {
  return [options = add_worker_options(command)] {
    CancelToken& cancel = cancel_on_signals();
    std::signal(SIGPIPE, SIG_IGN);
    // Redirects stdout to stderr, so that output of libraries does not mix with the protocol.
    const int out = ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
    ::dup2(STDERR_FILENO, STDOUT_FILENO);
    try {
      return serve_worker(*options, STDIN_FILENO, out, cancel);
    } catch (const CommandError& error) {
      send_worker_failure(error, out);
      throw;
    }
  };
}

}  // namespace attnscope
