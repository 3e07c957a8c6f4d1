// SPDX-License-Identifier: Apache-2.0
// What a sweep says while it runs: the same events, as JSON lines for programs or as text for people.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

#include "app/command.h"
#include "profiler/measure/events.h"

namespace attnscope {

class Reporter {
 public:
  virtual ~Reporter() = default;
  virtual void report(const Event&) = 0;
  /// In place of the plan's event, in a process that goes on where another one, which reported it, left off.
  virtual void go_on([[maybe_unused]] std::size_t planned_points, [[maybe_unused]] int rounds) {}
  /// Has the last event, "done", been reported?
  [[nodiscard]] virtual bool ended() const = 0;
  /// False once stdout cannot be written any more: whoever was listening is gone.
  [[nodiscard]] virtual bool listened_to() const { return true; }
  /// Returns when all that was reported is written, or cannot be.
  virtual void flush() {}
};

/// One JSON line an event, flushed.
std::unique_ptr<Reporter> make_jsonl_reporter();

/// The same, for several threads at once: report() only takes the event, and a thread of its own writes it, so that a
/// reader who is slow keeps nobody from reading what he asks for. flush(), and its end, wait until all is written.
std::unique_ptr<Reporter> make_session_reporter();

/// The other one, for several threads; it has to live as long.
std::unique_ptr<Reporter> make_locked_reporter(Reporter& other);

/// A line a point on `lines` (null: none) and, where stderr is a terminal, a progress line below; logs on stderr.
std::unique_ptr<Reporter> make_text_reporter(std::FILE* lines);

/// For the window, and for scripts: what `work` does as JSON lines, of which the last says how it ended; what it throws
/// is thrown on.
ExitCode report_to_programs(const std::function<ExitCode(Reporter&)>& work);

}  // namespace attnscope
