// SPDX-License-Identifier: Apache-2.0
// What a sweep says while it runs: the same events, as JSON lines for programs or as text for people.
#pragma once

#include <atomic>
#include <cstddef>
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
  /// May be called on any thread.
  void report(const Event& event) {
    const std::scoped_lock lock(mutex_);
    ended_ = ended_ || std::holds_alternative<DoneEvent>(event);
    take(event);
  }
  /// Has the last event, "done", been reported?
  [[nodiscard]] bool ended() const { return ended_; }
  /// False once stdout cannot be written any more: whoever was listening is gone.
  [[nodiscard]] bool listened_to() const { return listened_to_; }

 protected:
  virtual void take(const Event&) = 0;
  void stop_listening() { listened_to_ = false; }

 private:
  std::mutex mutex_;
  std::atomic<bool> ended_ = false;
  std::atomic<bool> listened_to_ = true;
};

/// One JSON line an event, flushed.
std::unique_ptr<Reporter> make_jsonl_reporter();

/// Reporter of a session. report() queues the event and a writer thread prints it, so a slow reader does not block
/// requests. The destructor waits until the queue is empty.
std::unique_ptr<Reporter> make_session_reporter();

/// A line a point on `lines` (null: none) and, where stderr is a terminal, a progress line below; logs on stderr.
std::unique_ptr<Reporter> make_text_reporter(std::FILE* lines);

/// For the window, and for scripts: what `work` does as JSON lines, of which the last says how it ended; what it throws
/// is thrown on.
ExitCode report_to_programs(const std::function<ExitCode(Reporter&)>& work);

}  // namespace attnscope
