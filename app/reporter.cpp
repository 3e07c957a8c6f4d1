// SPDX-License-Identifier: Apache-2.0
#include "app/reporter.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdio>
#include <deque>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "app/output.h"
#include "profiler/units/number_format.h"

namespace attnscope {
namespace {

/// Returns false if stdout can no longer be written.
bool write_line(const Event& event) {
  const std::string line = to_json_line(event) + "\n";
  return std::fwrite(line.data(), 1, line.size(), stdout) == line.size() && std::fflush(stdout) == 0;
}

class JsonlReporter final : public Reporter {
  void handle(const Event& event) override {
    if (!write_line(event)) mark_reader_closed();
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
  void handle(const Event& event) override {
    const std::scoped_lock lock(mutex_);
    if (has_reader()) waiting_.push_back(event);
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
      mark_reader_closed();
      waiting_.clear();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Event> waiting_;
  bool closing_ = false;
  std::thread writer_;  ///< last member: the thread uses the others
};

class TextReporter final : public Reporter {
 public:
  explicit TextReporter(std::FILE* lines) : lines_(lines) {}

 private:
  void handle(const Event& event) override {
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
    rounds_ = e.rounds;
    output_ = e.database.empty() ? std::string() : format_text("run {} in {}", e.run_id, e.database);
    const std::string memory = text(Capacity(e.max_memory_bytes));
    Message counters = "counters available";
    if (e.counters != "available") counters = make_message("no counters: {}", e.counters);
    line(make_message("Sweep {}: {}, up to {} of device memory, {}", e.preset, points_text(e.total, e.rounds), memory,
                      counters));
    if (e.skipped > 0)
      line(make_message("{} of {} measurements are already done", e.skipped,
                        e.total * static_cast<std::size_t>(e.rounds)));
    if (!output_.empty()) line(make_message("Output: {}", output_));
    if (e.total > 0) line(row({"point", "status", "time", "DRAM", "SM<->L2", "configuration"}));
  }
  /// A row of the table of points, aligned with its header.
  [[nodiscard]] std::string row(const std::array<std::string, 6>& cells) const {
    const std::size_t number = std::max<std::size_t>(std::string_view("point").size(), round_words(0).size()) +
                               (2 * fmt::formatted_size("{}", total_)) + 1;
    const std::array<std::size_t, 5> widths{number, std::string_view("out-of-memory").size(), 8, 8, 8};
    std::string line;
    for (std::size_t i = 0; i < widths.size(); ++i) line += pad_to_width(cells.at(i), widths.at(i), i != 1) + "  ";
    return line + cells.back();
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
  [[nodiscard]] std::string round_words(int round) const {
    if (rounds_ <= 1) return {};
    return format_text("round {}/{}", round + 1, rounds_) + "  ";
  }
  void on(const PointEvent& e) {
    const auto bytes = [](double value) { return value > 0 ? text(Bytes(value)) : "-"; };
    std::vector<std::string> remarks;
    if (e.throttled) remarks.emplace_back("throttled");
    if (e.provenance == to_string(Provenance::extrapolated)) remarks.push_back(e.provenance);
    if (!e.reason.empty()) remarks.push_back(text(e.reason));
    line(row({fmt::format("{}{}/{}", round_words(e.round), e.index + 1, total_), e.disposition,
              e.time_median_ns > 0 ? text(Nanoseconds(e.time_median_ns)) : "-", bytes(e.dram_bytes),
              bytes(e.l2_sm_bytes),
              fmt::format("{}{}{}", e.point, remarks.empty() ? "" : ": ", fmt::join(remarks, ", "))}));
  }
  void on(const ProgressEvent& e) {
    remaining_.clear();
    if (e.remaining_s >= 0) remaining_ = " | " + format_text("{} left", text(Seconds(e.remaining_s)));
    status_.show(format_text("{}/{} points", e.done, e.total) + remaining_);
  }
  // Events of sessions and workers, which write JSON lines.
  template <class E>
  void on(const E&) {}
  void on(const LogEvent& e) {
    status_.clear();
    spdlog::log(spdlog::level::from_str(e.level), "{}", e.text);
  }
  void on(const DoneEvent& e) {
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start_;
    Message summary =
        make_message("{}: {} ok, {} infeasible, {} failed in {}", capitalized(e.state), e.ok, e.infeasible,
                     e.not_ok - std::min(e.infeasible, e.not_ok), text(Seconds(elapsed.count())));
    if (!output_.empty()) summary = make_message("{}; {}", summary, output_);
    if (!e.reason.empty()) summary = make_message("{} ({})", summary, e.reason);
    line(summary);
  }
  static std::string capitalized(std::string word) {
    if (!word.empty() && word[0] >= 'a' && word[0] <= 'z') word[0] = static_cast<char>(word[0] - 'a' + 'A');
    return word;
  }

  std::FILE* lines_;
  StatusLine status_;
  std::size_t total_ = 0;
  int rounds_ = 1;
  std::string remaining_;
  std::string output_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
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

ExitCode run_with_json_lines(const std::function<ExitCode(Reporter&)>& work) {
  std::signal(SIGPIPE, SIG_IGN);  // a closed stdin ends the work, not SIGPIPE
  const std::unique_ptr<Reporter> reporter = make_jsonl_reporter();
  try {
    const ExitCode code = work(*reporter);
    reporter->report(DoneEvent{"complete", {}, 0, 0, static_cast<int>(code)});
    return code;
  } catch (const std::exception& error) {
    report_failure(*reporter, error);
    throw;
  }
}

void report_failure(Reporter& reporter, const std::exception& error) {
  if (reporter.is_done()) return;
  const auto* known = dynamic_cast<const CommandError*>(&error);
  const ExitCode code = known != nullptr ? known->code() : ExitCode::error;
  const Message why = known != nullptr ? known->message() : Message::verbatim(one_line(explain(error)));
  reporter.report(DoneEvent{code == ExitCode::partial ? "cancelled" : "failed", why, 0, 0, static_cast<int>(code)});
}

}  // namespace attnscope
