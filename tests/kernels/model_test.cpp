// SPDX-License-Identifier: Apache-2.0
// What theory says without a plan is what the plan runs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "kernels/algorithm.h"
#include "kernels/common_knobs.h"
#include "kernels/registry.h"
#include "tests/kernels/programs.h"

namespace attnscope {
namespace {

const DeviceLimits& h200() {
  return known_gpus().front();
}

std::string label(const Algorithm& algorithm, const AttentionProblem& p, const Config& config) {
  return algorithm.name() + " " + describe(p) + " " + describe(config);
}

/// All the problems and tiles that the closed forms are proved on, in each pass.
template <class Check>
int for_each_model(const Check& check) {
  int checked = 0;
  const auto each = [&](const std::vector<AttentionProblem>& problems, const std::vector<Tiling>& tiles) {
    for (const Algorithm* algorithm : built_in_algorithms().algorithms()) {
      for (AttentionProblem p : problems) {
        for (const Pass pass : {Pass::fwd, Pass::bwd, Pass::fwd_bwd}) {
          p.pass = pass;
          for (const Tiling& tile : tiles) {
            const AttentionModel model = algorithm->model(p, tile, h200());
            if (model.refusal) {
              EXPECT_TRUE(model.kernels.empty());
              continue;
            }
            SCOPED_TRACE(label(*algorithm, p, tile));
            check(*algorithm, p, tile, model);
            ++checked;
          }
        }
      }
    }
  };
  each(test::odd_problems(), test::odd_tiles());
  each(test::masked_problems(), test::dividing_tiles());
  return checked;
}

TEST(Model, IsThePlansToTheByte) {
  const int checked = for_each_model(
      [](const Algorithm& algorithm, const AttentionProblem& p, const Config& config, const AttentionModel& model) {
        const AttentionPlan plan = algorithm.plan(p, config, h200());
        ASSERT_EQ(model.kernels.size(), plan.launches.size());
        for (std::size_t i = 0; i < plan.launches.size(); ++i) {
          const KernelModel& kernel = model.kernels[i];
          const KernelLaunch& launch = plan.launches[i];
          EXPECT_EQ(kernel.name, launch.name);
          EXPECT_EQ(kernel.setup, launch.setup);
          EXPECT_EQ(kernel.grid, launch.grid);
          EXPECT_EQ(kernel.blocks(), launch.program->blocks());
          EXPECT_EQ(kernel.block, launch.block);
          EXPECT_EQ(kernel.dynamic_shared_bytes, launch.dynamic_shared_bytes);
          EXPECT_EQ(kernel.registers_per_thread, launch.registers_per_thread);
          EXPECT_EQ(kernel.matrix_flops, launch.matrix_flops);
          EXPECT_EQ(kernel.traffic, launch.traffic);
          EXPECT_EQ(kernel.on_chip, launch.on_chip);
        }
        EXPECT_EQ(model.traffic(), plan.traffic());
        EXPECT_EQ(model.working_set_bytes, algorithm.working_set_bytes(p, config, h200()));
      });
  EXPECT_GT(checked, 4000);
}

TEST(Model, OnChipPartsSumToWhatTheLaunchTakes) {
  std::map<std::string, int> with_parts;
  for_each_model([&](const Algorithm& algorithm, const AttentionProblem& /*p*/, const Config& /*config*/,
                     const AttentionModel& model) {
    for (const KernelModel& kernel : model.kernels) {
      std::int64_t shared = 0;
      std::int64_t registers = 0;
      std::set<std::string> names;
      for (const OnChipPart& part : kernel.on_chip) {
        EXPECT_GT(part.bytes, 0) << part.name;
        EXPECT_GE(part.stages, 1) << part.name;
        EXPECT_EQ(part.bytes % part.stages, 0) << part.name;
        EXPECT_TRUE(names.insert(part.name).second) << part.name << " twice";
        (part.place == OnChipPlace::shared ? shared : registers) += part.bytes;
      }
      EXPECT_EQ(shared, kernel.dynamic_shared_bytes) << kernel.name;
      EXPECT_LE(registers, std::int64_t{kernel.threads_per_block()} * kernel.registers_per_thread * 4) << kernel.name;
      with_parts[algorithm.name() + " " + kernel.name] += kernel.on_chip.empty() ? 0 : 1;
    }
  });
  // What only passes rows through holds nothing by name.
  for (const auto& [kernel, count] : with_parts) {
    const bool rows = kernel.ends_with(" dot") || kernel.ends_with(" convert") || kernel.ends_with(" combine");
    EXPECT_EQ(count == 0, rows) << kernel;
  }
}

/// Both by the formulas of the papers: a Q tile with a K and a V tile, and the sums beside them in registers.
TEST(Model, OnChipPartsByHand) {
  const AttentionProblem p{.heads_q = 8, .heads_kv = 8, .n_q = 4096, .n_k = 4096, .d = 128};
  const auto part = [](const KernelModel& kernel, const std::string& name) {
    const auto found = std::ranges::find(kernel.on_chip, name, &OnChipPart::name);
    return found == kernel.on_chip.end() ? OnChipPart{} : *found;
  };
  const Tiling tile{.br = 128, .bc = 64};
  const KernelModel fa2 = built_in_algorithms().find("fa2")->model(p, tile, h200()).kernels.at(0);
  EXPECT_EQ(part(fa2, "Q"), (OnChipPart{"Q", OnChipPlace::shared, 128 * 128 * 2, 1}));
  EXPECT_EQ(part(fa2, "K"), (OnChipPart{"K", OnChipPlace::shared, 64 * 128 * 2, 1}));
  EXPECT_EQ(part(fa2, "O"), (OnChipPart{"O", OnChipPlace::registers, 128 * 128 * 4, 1}));
  const KernelModel fa3 = built_in_algorithms().find("fa3")->model(p, tile, h200()).kernels.at(0);
  EXPECT_EQ(part(fa3, "V"), (OnChipPart{"V", OnChipPlace::shared, 2 * 64 * 128 * 2, 2}));
}

TEST(Model, ARefusalIsTheWholeAnswer) {
  const AttentionProblem p{.d = 72};
  const AttentionModel model = built_in_algorithms().find("fa2")->model(p, TileShape{}, h200());
  ASSERT_TRUE(model.refusal);
  EXPECT_THAT(text(model.refusal->reason), ::testing::HasSubstr("d 72"));
  EXPECT_EQ(model.traffic(), Traffic{});
  EXPECT_EQ(model.working_set_bytes, 0);
}

/// The counts are sums over a side of the tile grid: 2^20 tiles a side would leave no time for their product.
TEST(Model, LongSequencesUnderAMaskNeedNoWalkOverTiles) {
  for (const char* mask : {"none", "causal", "window:4096:0", "causal+lengths:ramp"}) {
    const std::int64_t n = std::int64_t{1} << 24;
    const AttentionProblem p{.mask = parse_mask(mask).value(), .batch = 2, .n_q = n, .n_k = n, .d = 64};
    const AttentionModel model = built_in_algorithms().find("fa2")->model(p, Tiling{.br = 16, .bc = 16}, h200());
    ASSERT_FALSE(model.refusal) << model.refusal->reason;
    EXPECT_GT(model.traffic().total(), 0) << mask;
  }
}

}  // namespace
}  // namespace attnscope
