// SPDX-License-Identifier: Apache-2.0
#include "profiler/plan/text.h"
#include "kernels/messages/message.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace attnscope {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(Text, NearMatchesComeNearestFirstAndFarOnesNotAtAll) {
  const std::vector<std::string> names{"dram__bytes_write.sum", "dram__bytes_read.sum", "sm__cycles_elapsed.max"};
  EXPECT_THAT(near_matches("dram__byte_read.sum", names), ElementsAre("dram__bytes_read.sum", "dram__bytes_write.sum"));
  EXPECT_THAT(near_matches("temperature", names), IsEmpty());
  EXPECT_THAT(near_matches("cycles", names), ElementsAre("sm__cycles_elapsed.max"));
  EXPECT_THAT(near_matches("dram__byte_read.sum", names, 1), ElementsAre("dram__bytes_read.sum"));
}

TEST(Text, CaseIsNoDistance) {
  const std::vector<std::string> names{"N", "d"};
  EXPECT_THAT(near_matches("n", names), ElementsAre("N"));
}

TEST(Text, JoinOr) {
  const std::vector<std::string> words{"a", "b", "c"};
  const auto asked = [&](std::size_t count) {
    return format_text("unknown preset 'x'; did you mean {}?", join_or(std::span(words).first(count)));
  };
  EXPECT_EQ(asked(3), "unknown preset 'x'; did you mean a, b or c?");
  EXPECT_EQ(asked(2), "unknown preset 'x'; did you mean a or b?");
  EXPECT_EQ(asked(1), "unknown preset 'x'; did you mean a?");
}

}  // namespace
}  // namespace attnscope
