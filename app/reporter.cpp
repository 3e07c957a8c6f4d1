// SPDX-License-Identifier: Apache-2.0
#include "app/reporter.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <type_traits>
#include <variant>

#include "app/format.h"

namespace attnscope {
namespace {

class JsonlReporter final : public Reporter {
 public:
  void report(const Event& event) override {
    const std::string line = to_json_line(event) + "\n";
    const bool written = std::fwrite(line.data(), 1, line.size(), stdout) == line.size() && std::fflush(stdout) == 0;
    listened_to_ = listened_to_ && written;
    ended_ = ended_ || std::holds_alternative<DoneEvent>(event);
  }
  [[nodiscard]] bool ended() const override { return ended_; }
  [[nodiscard]] bool listened_to() const override { return listened_to_; }

 private:
  bool listened_to_ = true;
  bool ended_ = false;
};

/// One line at the bottom of a terminal that is written over; nothing where stderr is no terminal.
class StatusLine {
 public:
  void show(const std::string& text) {
    const auto now = std::chrono::steady_clock::now();
    if (!terminal_ || (shown_ && now - last_ < std::chrono::milliseconds(50))) return;
    last_ = now;
    winsize size{};
    const std::size_t width = ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1 ? size.ws_col - 1U : 79;
    fmt::print(stderr, "\r\033[K{}", text.substr(0, width));
    std::fflush(stderr);
    shown_ = true;
  }
  void clear() {
    if (!shown_) return;
    fmt::print(stderr, "\r\033[K");
    std::fflush(stderr);
    shown_ = false;
  }

 private:
  bool terminal_ = ::isatty(STDERR_FILENO) == 1;
  bool shown_ = false;
  std::chrono::steady_clock::time_point last_;
};

class TextReporter final : public Reporter {
 public:
  explicit TextReporter(std::FILE* lines) : lines_(lines) {}

  void report(const Event& event) override {
    std::visit([this](const auto& e) { on(e); }, event);
    ended_ = ended_ || std::holds_alternative<DoneEvent>(event);
  }
  void go_on(std::size_t planned_points) override { total_ = planned_points; }
  [[nodiscard]] bool ended() const override { return ended_; }

 private:
  template <class... Parts>
  void line(fmt::format_string<Parts...> format, Parts&&... parts) {
    status_.clear();
    if (lines_ == nullptr) return;
    fmt::print(lines_, format, std::forward<Parts>(parts)...);
    std::fputc('\n', lines_);
    std::fflush(lines_);
  }

  void on(const PlanEvent& e) {
    total_ = e.total;
    line("{}: {} points{}, at most {} of device memory; counters {}", e.preset, e.total,
         e.skipped > 0 ? fmt::format(", {} of them done before", e.skipped) : "",
         format_traffic(static_cast<double>(e.max_memory_bytes)),
         e.counters == "available" ? e.counters : "not available: " + e.counters);
    if (!e.database.empty()) line("into {} (run {})", e.database, e.run_id);
  }
  void on(const BuildEvent& e) {
    status_.show(fmt::format("compiled {}/{}: {}", e.done, e.total, e.kernel));
    if (!e.error.empty()) line("compile error in {}: {}", e.kernel, e.error.substr(0, e.error.find('\n')));
  }
  void on(const StartedEvent& e) { status_.show(fmt::format("{}/{} {}{}", e.index + 1, total_, e.point, remaining_)); }
  void on(const PointEvent& e) {
    std::string result = e.disposition;
    if (e.time_median_ns > 0) result += "  " + format_time(e.time_median_ns);
    if (e.dram_bytes > 0) result += fmt::format("  DRAM {}", format_traffic(e.dram_bytes));
    if (e.l2_sm_bytes > 0) result += fmt::format("  SM<->L2 {}", format_traffic(e.l2_sm_bytes));
    if (e.throttled) result += "  (throttled)";
    if (e.provenance == to_string(Provenance::extrapolated)) result += fmt::format("  ({})", e.provenance);
    if (!e.reason.empty()) result += ": " + text(e.reason);
    line("{:>{}}/{}  {}  {}", e.index + 1, fmt::formatted_size("{}", total_), total_, e.point, result);
  }
  void on(const ProgressEvent& e) {
    remaining_ = e.remaining_s < 0 ? "" : fmt::format(" | {} left", format_duration(e.remaining_s));
    status_.show(fmt::format("{}/{} points{}", e.done, e.total, remaining_));
  }
  void on(const LogEvent& e) {
    status_.clear();
    spdlog::log(spdlog::level::from_str(e.level), "{}", e.text);
  }
  void on(const DoneEvent& e) {
    line("{}{}: {} points ok, {} not", e.state, e.reason.empty() ? "" : " (" + text(e.reason) + ")", e.ok, e.not_ok);
  }

  std::FILE* lines_;
  StatusLine status_;
  bool ended_ = false;
  std::size_t total_ = 0;
  std::string remaining_;
};

}  // namespace

std::unique_ptr<Reporter> make_jsonl_reporter() {
  return std::make_unique<JsonlReporter>();
}

std::unique_ptr<Reporter> make_text_reporter(std::FILE* lines) {
  return std::make_unique<TextReporter>(lines);
}

}  // namespace attnscope
