// SPDX-License-Identifier: Apache-2.0
// Sessions on a faulty GPU (tests/gpu/fake): each fault costs one point, and a new worker measures the rest.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "fake_driver.h"
#include "sessions.h"
#include "storage/run_store.h"
#include "subprocess.h"

namespace attnscope::testing {
namespace {

using Mode = RunStore::Mode;
using Words = std::vector<std::string>;

class ServeFaults : public ::testing::Test {
 protected:
  [[nodiscard]] Words command(const Words& more = {}) const {
    Words words{"collect", "--serve", "--device", "gpu", "--no-verify", "--timeout", "0.1", "-o", file_};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
  [[nodiscard]] RunSummary the_run() const {
    const auto runs = RunStore::open(file_, Mode::read_only).runs();
    EXPECT_EQ(runs.size(), 1U);
    return runs.at(0);
  }

  TemporaryFolder folder_;
  std::filesystem::path file_ = folder_ / "explore.attnscope";
};

TEST_F(ServeFaults, crash_and_hang_cost_one_point) {
  for (const auto& [fault, disposition] : {std::pair("crash=fa1", "crashed"), std::pair("hang=fa1", "timeout")}) {
    std::filesystem::remove(file_);
    SessionClient client(folder_, command(), on_fake_gpu(fault));
    client.ask(request_line("a", 16) + request_line("bad", 16, 0, "fa1") + request_line("b", 32) +
               request_line("c", 48, 9) + request_line("worse", 32, 0, "fa1") + request_line("d", 64) + end_line() +
               "\n");
    const Outcome outcome = client.end();
    EXPECT_EQ(outcome.exit_code, 5) << outcome.err;
    EXPECT_EQ(client.answers().size(), 6U) << "each once";
    EXPECT_EQ(client.plans(), 1U) << "one session, over several workers";
    for (const char* id : {"a", "b", "c", "d"}) EXPECT_EQ(client.points().at(id).disposition, "ok") << id;
    for (const char* id : {"bad", "worse"}) EXPECT_EQ(client.points().at(id).disposition, disposition) << id;
    EXPECT_EQ(client.done()->state, "complete");
    EXPECT_EQ(the_run().state, StoredRunState::complete);
    const auto points = RunStore::open(file_, Mode::read_only).points();
    ASSERT_EQ(points.size(), 6U);
    for (std::size_t i = 0; i < points.size(); ++i) EXPECT_EQ(points[i].index, i) << "all points are in one run";
  }
}

TEST_F(ServeFaults, session_ends_after_repeated_crashes) {
  SessionClient client(folder_, command(), on_fake_gpu("crash=fa1"));
  std::string lines;
  for (int i = 0; i < 9; ++i) lines += request_line(std::to_string(i), 16 + i, 0, "fa1");
  client.ask(lines);
  const Outcome outcome = client.end();
  EXPECT_EQ(outcome.exit_code, 5) << outcome.err;
  EXPECT_EQ(client.done()->state, "device-lost");
  EXPECT_EQ(client.points().size(), 6U);
  EXPECT_EQ(client.answers().size(), 9U) << "the others are cancelled by ID";
  EXPECT_EQ(the_run().state, StoredRunState::failed);
}

TEST_F(ServeFaults, utilization_applies_to_every_point) {
  SessionClient client(folder_, command({"--utilization"}), on_fake_gpu(""));
  client.ask(request_line("a", 16) + end_line() + "\n");
  EXPECT_EQ(client.end().exit_code, 0);
  const auto points = RunStore::open(file_, Mode::read_only).points();
  ASSERT_EQ(points.size(), 1U);
  EXPECT_TRUE(points[0].record.kernels.front().metric("tensor_pipe_pct").has_value());
}

TEST_F(ServeFaults, missing_required_counters_exit_with_3) {
  SessionClient client(folder_, command({"--require-counters"}), on_fake_gpu("cupti-availability=35"));
  EXPECT_EQ(client.end().exit_code, 3);
  EXPECT_EQ(client.done()->state, "failed");
  EXPECT_FALSE(std::filesystem::exists(file_));
}

}  // namespace
}  // namespace attnscope::testing
