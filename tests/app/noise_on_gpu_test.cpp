// SPDX-License-Identifier: Apache-2.0
// doctor --noise on the library that stands for a GPU (tests/gpu/fake).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stand_in.h"
#include "storage/run_store.h"
#include "subprocess.h"

namespace attnscope::testing {
namespace {

TEST(NoiseOnGpu, is_printed_and_kept) {
  const TemporaryFolder folder;
  const std::filesystem::path file = folder / "noise.attnscope";
  const Outcome outcome = run(folder,
                              {"doctor", "--noise", "--device", "0", "--algorithms", "fa2", "-a", "N=128", "-a", "d=64",
                               "-a", "heads=1", "--recordings", "4", "--rounds", "3", "-o", file},
                              on_stand_in("compute-output"));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, ::testing::StartsWith("4 recordings of 3 rounds, 1 points, "));
  const auto kept = RunStore::open(file, RunStore::Mode::read_only).noise();
  ASSERT_EQ(kept.size(), 1U);
  EXPECT_EQ(kept[0].noise.recordings, 4);
}

}  // namespace
}  // namespace attnscope::testing
