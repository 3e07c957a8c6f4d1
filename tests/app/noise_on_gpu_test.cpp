// SPDX-License-Identifier: Apache-2.0
// doctor --noise --jsonl, as the window runs it, on the library that stands for a GPU (tests/gpu/fake).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <variant>

#include "profiler/measure/events.h"
#include "stand_in.h"
#include "storage/run_store.h"
#include "subprocess.h"

namespace attnscope::testing {
namespace {

class NoiseOnGpu : public ::testing::Test {
 protected:
  [[nodiscard]] std::vector<StoredNoise> kept() const {
    return RunStore::open(file_, RunStore::Mode::read_only).noise();
  }
  /// Reads until so many of all rounds' points are done; at the end the last event, else the progress.
  static Event read_until(Process& process, std::size_t done) {
    for (;;) {
      const std::optional<std::string> line = process.read_line();
      if (!line) throw std::runtime_error("no such event");
      const auto event = parse_event(*line);
      if (!event) throw std::runtime_error("no event: " + *line);
      if (std::holds_alternative<DoneEvent>(*event)) return *event;
      const auto* progress = std::get_if<ProgressEvent>(&*event);
      if (progress != nullptr && progress->done >= done) return *event;
    }
  }

  TemporaryFolder folder_;
  std::filesystem::path file_ = folder_ / "noise.attnscope";
  std::vector<std::string> arguments_{"doctor", "--noise",  "--jsonl", "--device", "0",  "--algorithms", "fa2",
                                      "-a",     "N=128",    "-a",      "d=64",     "-a", "heads=1",      "--recordings",
                                      "5",      "--rounds", "3",       "-o",       file_};
};

TEST_F(NoiseOnGpu, lines_say_how_far_it_is_what_was_found_and_how_it_ended) {
  Process process(folder_, arguments_, on_stand_in("compute-output"));
  const Event first = read_until(process, 1);
  ASSERT_TRUE(std::holds_alternative<ProgressEvent>(first));
  EXPECT_EQ(std::get<ProgressEvent>(first).total, 15U) << "five recordings of three rounds of a point";
  const Event last = read_until(process, 16);
  ASSERT_TRUE(std::holds_alternative<DoneEvent>(last));
  EXPECT_EQ(std::get<DoneEvent>(last).state, "complete");
  EXPECT_EQ(process.wait().exit_code, 0);
  ASSERT_EQ(kept().size(), 1U);
  EXPECT_EQ(kept()[0].noise.recordings, 5);
}

TEST_F(NoiseOnGpu, cancelled_it_keeps_what_whole_recordings_say) {
  Process process(folder_, arguments_, on_stand_in("compute-output"));
  (void)read_until(process, 7);  // the third of five
  process.write("cancel\n");
  const Event last = read_until(process, 16);
  ASSERT_TRUE(std::holds_alternative<DoneEvent>(last));
  const auto& done = std::get<DoneEvent>(last);
  EXPECT_EQ(process.wait().exit_code, 5);
  // Where the sign came too late to stop the third, it is whole as well.
  ASSERT_EQ(done.state, "cancelled");
  ASSERT_EQ(kept().size(), 1U);
  EXPECT_GE(kept()[0].noise.recordings, 2);
  EXPECT_LT(kept()[0].noise.recordings, 5);
  EXPECT_EQ(text(done.reason),
            "cancelled: this is what " + std::to_string(kept()[0].noise.recordings) + " whole recordings say");
}

TEST_F(NoiseOnGpu, cancelled_before_the_second_keeps_nothing) {
  Process process(folder_, arguments_, on_stand_in("compute-output"));
  process.write("cancel\n");
  const Outcome outcome = process.wait();
  EXPECT_EQ(outcome.exit_code, 5) << outcome.err;
  EXPECT_TRUE(kept().empty());
  EXPECT_THAT(outcome.err, ::testing::HasSubstr("nothing was kept"));
}

}  // namespace
}  // namespace attnscope::testing
