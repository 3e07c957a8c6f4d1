// SPDX-License-Identifier: Apache-2.0
// Multi-GPU points: collected, compared with one GPU, exported, and rejected if several devices share a sweep.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "sweeps.h"

namespace attnscope::testing {
namespace {

using ::testing::HasSubstr;
using ScalingCommand = CommandTest;

const Words multi_gpu_points{"collect", "--algorithms", "ring,ulysses", "-a",       "N=2048", "-a",          "d=64",
                             "-a",      "heads=4",      "-a",           "gpus=1,2", "-a",     "mask=causal", "--quiet"};

TEST_F(ScalingCommand, ComparesWithOneGpu) {
  const auto file = folder_ / "a.attnscope";
  ASSERT_EQ(run(folder_, multi_gpu_points + Words{"--device", "simulated", "-o", file}).exit_code, 0);
  const Outcome outcome = expect_exit(0, run(folder_, {"scaling", "--format", "json", file}));
  const auto rows = nlohmann::json::parse(outcome.out).at("rows");
  ASSERT_EQ(rows.size(), 2U);
  for (const auto& row : rows) {
    EXPECT_EQ(row.at("gpus"), 2);
    EXPECT_EQ(row.at("link_bytes"), row.at("model_link_bytes"));
    EXPECT_GT(row.at("efficiency").get<double>(), 0.1);
    EXPECT_LT(row.at("efficiency").get<double>(), 1.0);
  }
  EXPECT_EQ(rows[0].at("link_bytes"), 2 * 4 * 2048 * 64 * 2) << "K and V of four heads once";
  // A combine time of 0 ns must survive export and import.
  ASSERT_EQ(run(folder_, {"export", file, "--format", "csv", "-o", folder_ / "a.csv"}).exit_code, 0);
  expect_exit(0, run(folder_, {"import", folder_ / "a.csv", "-o", folder_ / "b.attnscope"}));
  const auto again = nlohmann::json::parse(run(folder_, {"scaling", "--json", folder_ / "b.attnscope"}).out).at("rows");
  ASSERT_EQ(again.size(), 2U);
  for (const char* key : {"time_ns", "efficiency", "gpu_combine_ns", "link_bytes", "overlap_from"}) {
    EXPECT_EQ(again[1].at(key), rows[1].at(key)) << key;
  }
  expect_exit(1, run(folder_, {"scaling", "--filter", "fa2", file}));
}

TEST_F(ScalingCommand, ModelPrintsTotals) {
  const Outcome outcome = expect_exit(0, run(folder_, {"model", "--algorithms", "ulysses", "-a", "N=2048", "-a", "d=64",
                                                       "-a", "heads=4", "-a", "gpus=2", "--json"}));
  const auto rows = nlohmann::json::parse(outcome.out).at("rows");
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].at("kernel"), "all");
  EXPECT_EQ(rows[1].at("runs"), 2);
  EXPECT_EQ(rows[0].at("model_l2_to_sm_bytes").get<double>(), 2 * rows[1].at("model_l2_to_sm_bytes").get<double>());
  // Half of Q, K, V and O of four heads.
  EXPECT_EQ(rows[0].at("model_link_bytes"), 4 * 4 * 2048 * 64 * 2 / 2);
  EXPECT_EQ(rows[0].at("link_rate"), "assumed");
}

TEST_F(ScalingCommand, OneProcessMeasuresAllGpus) {
  const Outcome outcome =
      expect_exit(2, run(folder_, multi_gpu_points + Words{"--device", "simulated*2", "-o", folder_ / "a.attnscope"}));
  EXPECT_THAT(outcome.err, HasSubstr("--device 0"));
}

}  // namespace
}  // namespace attnscope::testing
