// SPDX-License-Identifier: Apache-2.0
#include "profiler/measure/accuracy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "kernels/registry.h"

namespace attnscope {
namespace {

TEST(MeanInterval, IsStudents) {
  const MeanInterval of_three = mean_interval({1, 2, 3});
  EXPECT_DOUBLE_EQ(of_three.mean, 2);
  EXPECT_NEAR(of_three.high - 2, 4.302653 / std::sqrt(3.0), 1e-6);  // t of 2 degrees of freedom, tabulated
  EXPECT_NEAR(2 - of_three.low, of_three.high - 2, 1e-12);
}

TEST(AccuracyLines, AreThePapersRowsThatTheDeviceRuns) {
  const auto words = [](const char* gpu) {
    std::vector<std::string> all;
    for (const AccuracyLine& line : accuracy_lines(built_in_algorithms(), *find_gpu(gpu))) {
      all.push_back(line.spec.algorithm + " " + std::string(to_string(line.spec.problem.dtype)) +
                    describe(line.spec.knobs));
    }
    return all;
  };
  EXPECT_THAT(words("H200"),
              testing::ElementsAre("naive fp16", "fa3 fp16", "fa3 fp8",
                                   testing::AllOf(testing::StartsWith("fa3 fp8"), testing::HasSubstr("hadamard"))));
  EXPECT_THAT(words("A100 80GB"), testing::ElementsAre("naive fp16"));
}

}  // namespace
}  // namespace attnscope
