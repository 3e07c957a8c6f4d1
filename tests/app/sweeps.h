// SPDX-License-Identifier: Apache-2.0
// Helpers and a sweep shared by the tests of the command line.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "storage/run_store.h"
#include "subprocess.h"

namespace attnscope::testing {

using Words = std::vector<std::string>;

inline Words operator+(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

/// Expects the exit code; returns the outcome.
inline Outcome expect_exit(int exit_code, Outcome outcome) {
  EXPECT_EQ(outcome.exit_code, exit_code) << outcome.command << '\n' << outcome.err << outcome.out;
  return outcome;
}

/// Like expect_exit(); also expects one line on stderr.
inline Outcome expect_error(int exit_code, Outcome outcome) {
  EXPECT_EQ(std::ranges::count(outcome.err, '\n'), 1) << outcome.command << '\n' << outcome.err;
  return expect_exit(exit_code, std::move(outcome));
}

/// Fixture with a folder and an output file.
class CommandTest : public ::testing::Test {
 protected:
  [[nodiscard]] RunSummary the_run() const {
    const auto runs = RunStore::open(file_, RunStore::Mode::read_only).runs();
    EXPECT_EQ(runs.size(), 1U);
    return runs.at(0);
  }
  [[nodiscard]] std::vector<StoredPoint> stored() const {
    return RunStore::open(file_, RunStore::Mode::read_only).points();
  }

  TemporaryFolder folder_;
  std::filesystem::path file_ = folder_ / "run.attnscope";
};

/// Reads JSON lines until `wanted` points are reported; fails if there are fewer.
inline void await_points(Process& process, std::size_t wanted) {
  for (std::size_t seen = 0; seen < wanted;) {
    const std::optional<std::string> line = process.read_line();
    ASSERT_TRUE(line);
    seen += line->starts_with("{\"event\":\"point\"") ? 1U : 0U;
  }
}

/// 64 points that take almost no time.
inline const Words sweep{"collect", "--device", "simulated",    "-a",     "N=[16:512:16]",
                         "-a",      "heads=2",  "--algorithms", "fa1,fa2"};
inline constexpr std::size_t sweep_points = 64;

inline const Process::Options slow_reader{.narrow_pipe = true};

}  // namespace attnscope::testing
