// SPDX-License-Identifier: Apache-2.0
#include "app/reporter.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <condition_variable>
#include <csignal>
#include <cstdio>
#include <deque>
#include <mutex>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <variant>

#include "app/status_line.h"
#include "profiler/plan/text.h"
#include "profiler/units/spelling.h"

namespace attnscope {
namespace {

/// False where nobody reads it any more.
bool write_line(const Event& event) {
  const std::string line = to_json_line(event) + "\n";
  return std::fwrite(line.data(), 1, line.size(), stdout) == line.size() && std::fflush(stdout) == 0;
}

class JsonlReporter final : public Reporter {
  void take(const Event& event) override {
    if (!write_line(event)) stop_listening();
  }
};

class SessionReporter final : public Reporter {
 public:
  SessionReporter() : writer_([this] { write(); }) {}
  SessionReporter(const SessionReporter&) = delete;
  SessionReporter& operator=(const SessionReporter&) = delete;
  ~SessionReporter() override {
    {
      const std::scoped_lock lock(mutex_);
      closing_ = true;
    }
    changed_.notify_all();
    writer_.join();
  }

 private:
  void take(const Event& event) override {
    const std::scoped_lock lock(mutex_);
    if (listened_to()) waiting_.push_back(event);
    changed_.notify_all();
  }

  void write() {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [this] { return closing_ || !waiting_.empty(); });
      if (waiting_.empty()) return;
      const Event event = std::move(waiting_.front());
      waiting_.pop_front();
      lock.unlock();
      const bool written = write_line(event);
      lock.lock();
      if (written) continue;
      stop_listening();
      waiting_.clear();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Event> waiting_;
  bool closing_ = false;
  std::thread writer_;  ///< the last: it uses the others
};

class TextReporter final : public Reporter {
 public:
  explicit TextReporter(std::FILE* lines) : lines_(lines) {}

 private:
  void take(const Event& event) override {
    std::visit([this](const auto& e) { on(e); }, event);
  }
  void line(const std::string& words) {
    status_.clear();
    if (lines_ == nullptr) return;
    fmt::print(lines_, "{}\n", words);
    std::fflush(lines_);
  }
  void line(const Message& message) { line(text(message)); }

  void on(const PlanEvent& e) {
    total_ = e.total;
    const std::string memory = text(Bytes(e.max_memory_bytes));
    Message counters = "available";
    if (e.counters != "available") counters = make_message("not available: {}", e.counters);
    rounds_ = e.rounds;
    const Message points = counted_points(e.total, e.rounds);
    if (e.skipped > 0 && e.rounds > 1) {
      line(make_message("{}: {}, {} of {} measurements done before, at most {} of device memory; counters {}", e.preset,
                        points, e.skipped, e.total * static_cast<std::size_t>(e.rounds), memory, counters));
    } else if (e.skipped > 0) {
      line(make_message("{}: {}, {} of them done before, at most {} of device memory; counters {}", e.preset, points,
                        e.skipped, memory, counters));
    } else {
      line(make_message("{}: {}, at most {} of device memory; counters {}", e.preset, points, memory, counters));
    }
    if (!e.database.empty()) line(make_message("into {} (run {})", e.database, e.run_id));
  }
  void on(const BuildEvent& e) {
    status_.show(format_text("compiled {}/{}: {}", e.done, e.total, e.kernel));
    if (e.error.empty()) return;
    const std::string error = text(e.error);
    line(make_message("compile error in {}: {}", e.kernel, error.substr(0, error.find('\n'))));
  }
  void on(const StartedEvent& e) {
    status_.show(fmt::format("{}{}/{} {}{}", round_words(e.round), e.index + 1, total_, e.point, remaining_));
  }
  /// Before what is said of a point; empty where there is one round.
  [[nodiscard]] std::string round_words(int round) const {
    if (rounds_ <= 1) return {};
    return format_text("round {}/{}", round + 1, rounds_) + "  ";
  }
  void on(const PointEvent& e) {
    std::string result = e.disposition;
    if (e.time_median_ns > 0) result += "  " + text(Nanoseconds(e.time_median_ns));
    const auto add = [&result](const Message& part) { result += "  " + text(part); };
    if (e.dram_bytes > 0) add(make_message("DRAM {}", text(Bytes(e.dram_bytes))));
    if (e.l2_sm_bytes > 0) add(make_message("SM<->L2 {}", text(Bytes(e.l2_sm_bytes))));
    if (e.throttled) add("(throttled)");
    if (e.provenance == to_string(Provenance::extrapolated)) result += fmt::format("  ({})", e.provenance);
    if (!e.reason.empty()) result += ": " + text(e.reason);
    line(fmt::format("{}{:>{}}/{}  {}  {}", round_words(e.round), e.index + 1, fmt::formatted_size("{}", total_),
                     total_, e.point, result));
  }
  void on(const ProgressEvent& e) {
    remaining_.clear();
    if (e.remaining_s >= 0) remaining_ = " | " + format_text("{} left", text(Seconds(e.remaining_s)));
    status_.show(format_text("{}/{} points", e.done, e.total) + remaining_);
  }
  // Those of sessions and workers, which write JSON lines.
  template <class E>
  void on(const E&) {}
  void on(const LogEvent& e) {
    status_.clear();
    spdlog::log(spdlog::level::from_str(e.level), "{}", e.text);
  }
  void on(const DoneEvent& e) {
    if (e.reason.empty()) {
      line(make_message("{}: {} ok, {} not", e.state, counted_points(e.ok, 1), e.not_ok));
    } else {
      line(make_message("{} ({}): {} ok, {} not", e.state, e.reason, counted_points(e.ok, 1), e.not_ok));
    }
  }

  std::FILE* lines_;
  StatusLine status_;
  std::size_t total_ = 0;
  int rounds_ = 1;
  std::string remaining_;
};

}  // namespace

std::unique_ptr<Reporter> make_jsonl_reporter() {
  return std::make_unique<JsonlReporter>();
}

std::unique_ptr<Reporter> make_session_reporter() {
  return std::make_unique<SessionReporter>();
}

std::unique_ptr<Reporter> make_text_reporter(std::FILE* lines) {
  return std::make_unique<TextReporter>(lines);
}

ExitCode report_to_programs(const std::function<ExitCode(Reporter&)>& work) {
  std::signal(SIGPIPE, SIG_IGN);  // a reader that went away is known by the end of stdin
  const std::unique_ptr<Reporter> reporter = make_jsonl_reporter();
  const auto end = [&](const char* state, ExitCode code, const Message& why) {
    reporter->report(DoneEvent{state, why, 0, 0, static_cast<int>(code)});
  };
  try {
    const ExitCode code = work(*reporter);
    end("complete", code, {});
    return code;
  } catch (const CommandError& error) {
    end(error.code() == ExitCode::partial ? "cancelled" : "failed", error.code(), error.message());
    throw;
  } catch (const std::exception& error) {
    end("failed", ExitCode::error, Message::verbatim(one_line(explain(error))));
    throw;
  }
}

}  // namespace attnscope
