// SPDX-License-Identifier: Apache-2.0
// Reports the events of a sweep as JSON lines or as text.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <variant>

#include "app/command.h"
#include "profiler/worker/protocol.h"

namespace attnscope {

class Reporter {
 public:
  virtual ~Reporter() = default;
  /// Thread-safe.
  void report(const Event& event) {
    const std::scoped_lock lock(mutex_);
    ended_ = ended_ || std::holds_alternative<DoneEvent>(event);
    handle(event);
  }
  /// Returns whether the last event, "done", was reported.
  [[nodiscard]] bool is_done() const { return ended_; }
  /// Returns false once stdout can no longer be written.
  [[nodiscard]] bool has_reader() const { return has_reader_; }

 protected:
  virtual void handle(const Event&) = 0;
  void mark_reader_closed() { has_reader_ = false; }

 private:
  std::mutex mutex_;
  std::atomic<bool> ended_ = false;
  std::atomic<bool> has_reader_ = true;
};

/// Limits the rate of progress events to four a second, and measures elapsed time.
class ProgressThrottle {
 public:
  /// Returns whether an event is due; always true for the last one.
  [[nodiscard]] bool is_due(bool last) {
    const Clock::time_point now = Clock::now();
    if (!last && now - last_ < std::chrono::milliseconds(250)) return false;
    last_ = now;
    return true;
  }
  [[nodiscard]] double elapsed_s() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point start_ = Clock::now();
  Clock::time_point last_{};
};

/// Writes one JSON line per event and flushes it.
std::unique_ptr<Reporter> make_jsonl_reporter();

/// Reporter of `collect --serve`. report() queues the event and a writer thread prints it, so that a slow reader does
/// not block requests. The destructor waits until the queue is empty.
std::unique_ptr<Reporter> make_session_reporter();

/// Prints a table row per point to `lines` (may be null), and a status line if stderr is a terminal. Logs to stderr.
std::unique_ptr<Reporter> make_text_reporter(std::FILE* lines);

/// Runs `work` and reports its events as JSON lines; the last one is "done". Rethrows exceptions.
ExitCode run_with_json_lines(const std::function<ExitCode(Reporter&)>& work);

/// Reports "done" with the exception, unless it was reported.
void report_failure(Reporter&, const std::exception&);

}  // namespace attnscope
