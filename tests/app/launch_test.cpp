// SPDX-License-Identifier: Apache-2.0
// One point's kernels bare, on the library that stands for a GPU (tests/gpu/fake).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "stand_in.h"
#include "subprocess.h"

namespace attnscope::testing {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using Words = std::vector<std::string>;

class Launch : public ::testing::Test {
 protected:
  Outcome launch(const Words& arguments, const std::string& faults = "") {
    Process::Options options = on_stand_in(faults);
    Words all{"launch"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    return run(folder_, all, options);
  }
  static void expect_one_line(const Outcome& outcome) {
    EXPECT_EQ(outcome.out, "");
    EXPECT_THAT(outcome.err, AllOf(StartsWith("attnscope: "), EndsWith("\n")));
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
  }

  TemporaryFolder folder_;
};

TEST_F(Launch, says_what_it_launched_and_the_median_time) {
  const Words axes{"algorithm=naive", "N=256", "d=64", "heads=2", "pass=bwd"};
  const Outcome people = launch(axes);
  EXPECT_EQ(people.exit_code, 0) << people.err;
  EXPECT_THAT(people.out, AllOf(StartsWith("Device: GPU 0, "), HasSubstr("naive"), HasSubstr("N 256 d 64"),
                                HasSubstr(", the median of 10 runs from a cold L2 (quartiles ")));
}

TEST_F(Launch, opens_no_counters_and_writes_no_file) {
  EXPECT_EQ(launch({"algorithm=fa2", "N=128", "d=64"}, "cupti-init=1,cupti-availability=35").exit_code, 0);
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_ / ".")) {
    EXPECT_NE(entry.path().extension(), ".attnscope") << entry.path();
  }
}

TEST_F(Launch, takes_exactly_one_point) {
  const Outcome several = launch({"algorithm=[fa1,fa2]", "N=[256,512]", "d=64"});
  EXPECT_EQ(several.exit_code, 2);
  expect_one_line(several);
  EXPECT_THAT(several.err, HasSubstr("these axes make 4;"));
  const Outcome no_algorithm = launch({"N=256", "d=64"});
  EXPECT_EQ(no_algorithm.exit_code, 2);
  EXPECT_THAT(no_algorithm.err, HasSubstr("launch runs one point, and these axes make"));
  const Outcome mistyped = launch({"algorithm=fa2", "Nk=256"});
  EXPECT_EQ(mistyped.exit_code, 2);
  expect_one_line(mistyped);
}

TEST_F(Launch, without_a_gpu_it_says_so_in_one_line) {
  const Outcome none = launch({"algorithm=fa2", "N=128", "d=64"}, "init=100");
  EXPECT_EQ(none.exit_code, 1);
  expect_one_line(none);
  EXPECT_THAT(none.err, HasSubstr("launch needs a GPU"));
  const Outcome simulated = launch({"algorithm=fa2", "N=128", "d=64", "--device", "simulated:A100"});
  EXPECT_EQ(simulated.exit_code, 2);
  expect_one_line(simulated);
  EXPECT_THAT(simulated.err, HasSubstr("is simulated"));
}

TEST_F(Launch, a_point_that_fails_is_named_with_its_reason) {
  const Outcome refused = launch({"algorithm=fa2", "N=128", "d=63"});
  EXPECT_NE(refused.exit_code, 0);
  expect_one_line(refused);
  for (const char* fault : {"crash=fa2", "hang=fa2"}) {
    const Outcome outcome = launch({"algorithm=fa2", "N=128", "d=64", "--timeout", "0.3"}, fault);
    EXPECT_EQ(outcome.exit_code, 1) << fault;
    expect_one_line(outcome);
    EXPECT_THAT(outcome.err, HasSubstr(fault[0] == 'c' ? ": crashed: " : ": timeout: "));
  }
}

}  // namespace
}  // namespace attnscope::testing
