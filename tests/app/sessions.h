// SPDX-License-Identifier: Apache-2.0
// Client of `collect --serve`.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "profiler/worker/protocol.h"
#include "profiler/worker/requests.h"
#include "subprocess.h"

namespace attnscope::testing {

inline std::string request_line(const std::string& id, std::int64_t n, std::int64_t priority = 0,
                                const std::string& algorithm = "fa2", const std::string& more = "") {
  return fmt::format(
      R"({{"request":"measure","id":"{}","priority":{},"point":{{"algorithm":"{}","N":{},"heads":1{}}}}})"
      "\n",
      id, priority, algorithm, n, more);
}

class SessionClient {
 public:
  SessionClient(const TemporaryFolder& folder, const std::vector<std::string>& arguments,
                const Process::Options& options = {})
      : process_(folder, arguments, options) {}

  void ask(const std::string& lines) { process_.write(lines); }
  Process& process() { return process_; }

  /// Returns the next event; nullopt at the end of the output. Fails on other lines.
  std::optional<Event> next() {
    const std::optional<std::string> line = process_.read_line();
    if (!line) return std::nullopt;
    const auto event = parse_event(*line);
    EXPECT_TRUE(event.ok()) << *line;
    if (!event.ok()) return next();
    note(*event);
    return *event;
  }
  /// Reads up to the next event of type E; fails if there is none.
  template <class E>
  E until() {
    while (const std::optional<Event> event = next()) {
      if (std::holds_alternative<E>(*event)) return std::get<E>(*event);
    }
    ADD_FAILURE() << "the output ended before";
    return {};
  }
  Outcome end() {
    while (next()) {
    }
    return process_.wait();
  }

  /// Answers so far, in order: "point a", "cancelled b", "refused c".
  [[nodiscard]] const std::vector<std::string>& answers() const { return answers_; }
  [[nodiscard]] const std::map<std::string, PointEvent>& points() const { return points_; }
  [[nodiscard]] const std::optional<DoneEvent>& done() const { return done_; }
  [[nodiscard]] std::size_t plans() const { return plans_; }

 private:
  void note(const Event& event) {
    if (const auto* point = std::get_if<PointEvent>(&event)) {
      answers_.push_back("point " + point->id);
      points_[point->id] = *point;
    }
    if (const auto* gone = std::get_if<CancelledEvent>(&event)) answers_.push_back("cancelled " + gone->id);
    if (const auto* refused = std::get_if<RefusedEvent>(&event)) answers_.push_back("refused " + refused->id);
    if (const auto* last = std::get_if<DoneEvent>(&event)) done_ = *last;
    if (std::holds_alternative<PlanEvent>(event)) ++plans_;
  }

  Process process_;
  std::vector<std::string> answers_;
  std::map<std::string, PointEvent> points_;
  std::optional<DoneEvent> done_;
  std::size_t plans_ = 0;
};

}  // namespace attnscope::testing
