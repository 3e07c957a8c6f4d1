// SPDX-License-Identifier: Apache-2.0
// launch and doctor --noise on the fake GPU (tests/gpu/fake).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "fake_driver.h"
#include "storage/run_store.h"
#include "sweeps.h"

namespace attnscope::testing {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class Launch : public CommandTest {
 protected:
  Outcome launch(const Words& arguments, const std::string& faults = "") {
    Process::Options options = on_fake_gpu(faults);
    const Words all = Words{"launch"} + arguments;
    return run(folder_, all, options);
  }
  static void expect_one_line(const Outcome& outcome) {
    EXPECT_EQ(outcome.out, "");
    EXPECT_THAT(outcome.err, AllOf(StartsWith("error: "), EndsWith("\n")));
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
  }
};

TEST_F(Launch, prints_point_and_median_time) {
  const Words axes{"algorithm=naive", "N=256", "d=64", "heads=2", "pass=bwd"};
  EXPECT_THAT(expect_exit(0, launch(axes)).out, AllOf(StartsWith("Device: GPU 0, "), HasSubstr("naive"),
                                                      HasSubstr("N 256 d 64"), HasSubstr("median of 10 runs")));
}

TEST_F(Launch, opens_no_counters_and_writes_no_file) {
  EXPECT_EQ(launch({"algorithm=fa2", "N=128", "d=64"}, "cupti-init=1,cupti-availability=35").exit_code, 0);
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_ / ".")) {
    EXPECT_NE(entry.path().extension(), ".attnscope") << entry.path();
  }
}

TEST_F(Launch, requires_exactly_one_point) {
  const Outcome several = expect_exit(2, launch({"algorithm=[fa1,fa2]", "N=[256,512]", "d=64"}));
  expect_one_line(several);
  EXPECT_THAT(several.err, HasSubstr(" 4 points"));
  EXPECT_THAT(expect_exit(2, launch({"N=256", "d=64"})).err, HasSubstr("one value per axis"));
  const Outcome mistyped = expect_exit(2, launch({"algorithm=fa2", "Nk=256"}));
  expect_one_line(mistyped);
}

TEST_F(Launch, requires_a_gpu) {
  const Outcome none = expect_exit(1, launch({"algorithm=fa2", "N=128", "d=64"}, "init=100"));
  expect_one_line(none);
  EXPECT_THAT(none.err, HasSubstr("GPU"));
  const Outcome simulated = expect_exit(2, launch({"algorithm=fa2", "N=128", "d=64", "--device", "simulated:A100"}));
  expect_one_line(simulated);
  EXPECT_THAT(simulated.err, HasSubstr("simulated"));
}

TEST_F(Launch, prints_reason_of_failed_point) {
  const Outcome refused = launch({"algorithm=fa2", "N=128", "d=63"});
  EXPECT_NE(refused.exit_code, 0);
  expect_one_line(refused);
  for (const char* fault : {"crash=fa2", "hang=fa2"}) {
    const Outcome outcome = expect_exit(1, launch({"algorithm=fa2", "N=128", "d=64", "--timeout", "0.3"}, fault));
    expect_one_line(outcome);
    EXPECT_THAT(outcome.err, HasSubstr(fault[0] == 'c' ? ": crashed: " : ": timeout: "));
  }
}

TEST(NoiseOnGpu, is_printed_and_stored) {
  const TemporaryFolder folder;
  const std::filesystem::path file = folder / "noise.attnscope";
  const Outcome outcome =
      expect_exit(0, run(folder,
                         {"doctor", "--noise", "--device", "0", "--algorithms", "fa2", "-a", "N=128", "-a", "d=64",
                          "-a", "heads=1", "--recordings", "4", "--rounds", "3", "-o", file},
                         on_fake_gpu("compute-output")));
  EXPECT_THAT(outcome.out, ::testing::StartsWith("4 recordings of 3 rounds, 1 points, "));
  const auto kept = RunStore::open(file, RunStore::Mode::read_only).noise();
  ASSERT_EQ(kept.size(), 1U);
  EXPECT_EQ(kept[0].noise.recordings, 4);
}

}  // namespace
}  // namespace attnscope::testing
