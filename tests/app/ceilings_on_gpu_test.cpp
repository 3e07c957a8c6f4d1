// SPDX-License-Identifier: Apache-2.0
// ceilings --jsonl, as the window runs it, on the library that stands for a GPU (tests/gpu/fake).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <variant>

#include "profiler/measure/events.h"
#include "storage/run_store.h"
#include "subprocess.h"

namespace attnscope::testing {
namespace {

using ::testing::HasSubstr;

class CeilingsOnGpu : public ::testing::Test {
 protected:
  static Process::Options gpu(const std::string& faults = "") {
    Process::Options options;
    for (const char* library : {"CUDA", "NVRTC", "CUPTI", "NVML"}) {
      options.environment[std::string("ATTNSCOPE_") + library + "_LIBRARY"] = ATTNSCOPE_FAKE_GPU_LIBRARY;
    }
    options.environment["ATTNSCOPE_FAKE_GPU"] = faults;
    return options;
  }
  template <class Kind>
  static std::vector<Kind> events(const std::string& lines) {
    std::vector<Kind> found;
    std::istringstream in(lines);
    for (std::string line; std::getline(in, line);) {
      const auto event = parse_event(line);
      EXPECT_TRUE(event) << line;
      if (event && std::holds_alternative<Kind>(*event)) found.push_back(std::get<Kind>(*event));
    }
    return found;
  }
  [[nodiscard]] std::size_t sets_kept() const {
    return RunStore::open(file_, RunStore::Mode::read_only).ceilings().size();
  }

  TemporaryFolder folder_;
  std::filesystem::path file_ = folder_ / "ceilings.attnscope";
  std::vector<std::string> arguments_{"ceilings", "--jsonl", "--rounds", "4", "--device", "0", "-o", file_};
};

TEST_F(CeilingsOnGpu, lines_say_how_far_it_is_and_how_it_ended) {
  const Outcome outcome = run(folder_, arguments_, gpu("throttle=4"));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const auto progress = events<ProgressEvent>(outcome.out);
  ASSERT_EQ(progress.size(), 4U) << "one a round";
  for (std::size_t i = 0; i < progress.size(); ++i) {
    EXPECT_EQ(progress[i].done, i + 1);
    EXPECT_EQ(progress[i].total, 4U);
  }
  const auto done = events<DoneEvent>(outcome.out);
  ASSERT_EQ(done.size(), 1U);
  EXPECT_EQ(done[0].state, "complete");
  EXPECT_EQ(sets_kept(), 1U);
}

TEST_F(CeilingsOnGpu, cancelled_on_stdin_keeps_nothing) {
  Process process(folder_, arguments_, gpu());
  process.write("cancel\n");
  const Outcome outcome = process.wait();
  EXPECT_EQ(outcome.exit_code, 5) << outcome.err;
  const auto done = events<DoneEvent>(outcome.out);
  ASSERT_EQ(done.size(), 1U);
  EXPECT_EQ(done[0].state, "cancelled");
  EXPECT_EQ(done[0].exit_code, 5);
  EXPECT_EQ(sets_kept(), 0U);
}

TEST_F(CeilingsOnGpu, what_fails_ends_in_a_line_too) {
  const Outcome crashed = run(folder_, arguments_, gpu("crash=attn_ceiling"));
  EXPECT_EQ(crashed.exit_code, 1);
  const auto done = events<DoneEvent>(crashed.out);
  ASSERT_EQ(done.size(), 1U);
  EXPECT_EQ(done[0].state, "failed");
  EXPECT_THAT(crashed.err, HasSubstr(text(done[0].reason)));

  const Outcome simulated = run(folder_, {"ceilings", "--jsonl", "--device", "simulated", "-o", file_});
  EXPECT_EQ(simulated.exit_code, 2);
  ASSERT_EQ(events<DoneEvent>(simulated.out).size(), 1U);
  EXPECT_EQ(events<DoneEvent>(simulated.out)[0].state, "failed");
  EXPECT_EQ(run(folder_, {"ceilings", "--jsonl", "--device", "0"}).exit_code, 2) << "nobody would see the figures";
}

}  // namespace
}  // namespace attnscope::testing
