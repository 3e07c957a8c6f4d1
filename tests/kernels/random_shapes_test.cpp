// SPDX-License-Identifier: Apache-2.0
// Models of random shapes up to the largest valid ones: no count may overflow. With the undefined-behavior sanitizer,
// intermediate sums are checked, too. Models of random small shapes: no count is below the compulsory bytes.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "kernels/algorithm.h"
#include "kernels/model/io_model.h"
#include "kernels/model/pipeline_model.h"
#include "kernels/registry.h"
#include "tests/kernels/random_shapes.h"

namespace attnscope {
namespace {

using test::Shapes;

void expect_no_overflow(const AttentionProblem& p, const TileShape& tile, const std::string& label) {
  // All pairs of all instances, in a type that cannot overflow.
  const long double pairs =
      static_cast<long double>(p.instances()) * static_cast<long double>(p.n_q) * static_cast<long double>(p.n_k);
  EXPECT_GE(unmasked_pairs(p), 0) << label;
  EXPECT_LE(static_cast<long double>(unmasked_pairs(p)), pairs) << label;
  EXPECT_GE(compulsory_traffic(p).l2_to_sm_bytes, 0) << label;
  EXPECT_GE(compulsory_traffic(p).sm_to_l2_bytes, 0) << label;
  EXPECT_GE(static_cast<long double>(standard_attention_bytes(p)), 8 * pairs) << label;
  EXPECT_GE(flash_paper_bytes(p, tile.bc), 0) << label;
}

TEST(RandomShapes, NoCountOverflows) {
  Shapes shapes(20260727);
  const DeviceLimits& device = known_gpus().front();
  int posed = 0;
  int modeled = 0;
  for (int i = 0; i < 1200; ++i) {
    const AttentionProblem p = shapes.problem();
    if (!invalid_reason(p).empty()) continue;
    ++posed;
    const TileShape tile = shapes.tile();
    const std::string label = describe(p) + " " + std::to_string(tile.br) + "x" + std::to_string(tile.bc);
    expect_no_overflow(p, tile, label);
    for (const Algorithm* algorithm : built_in_algorithms().algorithms()) {
      const std::vector<Config> configs{Config(tile, {}), algorithm->default_config(p, device)};
      const Config& config = shapes.one_of(configs);
      EXPECT_GE(algorithm->working_set_bytes(p, config, device), 0) << algorithm->name() << " " << label;
      const AttentionModel model = algorithm->model(p, config, device);
      if (model.refusal) continue;
      ++modeled;
      EXPECT_GE(model.traffic().l2_to_sm_bytes, 0) << algorithm->name() << " " << label;
      EXPECT_GE(model.traffic().sm_to_l2_bytes, 0) << algorithm->name() << " " << label;
      const std::vector<BufferSpec> buffers = algorithm->buffers(p, config, device);
      EXPECT_GT(bytes_of(buffers), 0) << algorithm->name() << " " << label;
      if (p.n_q + p.n_k > 1 << 22) continue;  // tile programs precompute their tiles
      const AttentionPlan plan = algorithm->plan(p, config, device);
      ASSERT_EQ(plan.buffers.size(), buffers.size()) << algorithm->name() << " " << label;
      for (std::size_t b = 0; b < buffers.size(); ++b) {
        EXPECT_EQ(plan.buffers[b].name, buffers[b].name) << algorithm->name() << " " << label;
        EXPECT_EQ(plan.buffers[b].bytes, buffers[b].bytes) << buffers[b].name << " " << label;
      }
    }
  }
  EXPECT_GT(posed, 150);
  EXPECT_GT(modeled, 100);
}

/// Heads and tiles begin and end at any index in a sector.
TEST(RandomShapes, ClosedFormsMatchProgramsToTheSector) {
  Shapes shapes(20261126);
  const DeviceLimits& device = known_gpus().front();
  int walked = 0;
  for (int i = 0; i < 400; ++i) {
    const AttentionProblem p = shapes.small_problem();
    if (!invalid_reason(p).empty()) continue;
    const TileShape tile = shapes.tile();
    for (const Algorithm* algorithm : built_in_algorithms().algorithms()) {
      Config config(tile, {});
      if (algorithm->refusal(p, config, device)) config = algorithm->default_config(p, device);
      if (algorithm->refusal(p, config, device)) continue;
      for (const KernelLaunch& launch : algorithm->plan(p, config, device).launches) {
        EXPECT_EQ(launch.traffic, walk(*launch.program))
            << algorithm->name() << ' ' << launch.name << ' ' << describe(p) << ' ' << describe(config);
        EXPECT_EQ(launch.traffic.l2_to_sm_bytes % sector_bytes, 0) << algorithm->name() << ' ' << launch.name;
        EXPECT_EQ(launch.traffic.sm_to_l2_bytes % sector_bytes, 0) << algorithm->name() << ' ' << launch.name;
        ++walked;
      }
    }
  }
  EXPECT_GT(walked, 1000);
}

bool is_visible(const AttentionProblem& p, std::int64_t entry, std::int64_t i, std::int64_t j) {
  const Mask& mask = p.mask;
  const std::int64_t length = mask.lengths == Mask::Lengths::list   ? mask.length_list[static_cast<std::size_t>(entry)]
                              : mask.lengths == Mask::Lengths::ramp ? (p.n_k * (entry + 1) + p.batch - 1) / p.batch
                                                                    : p.n_k;
  const std::int64_t diagonal = i + length - p.n_q;
  return j < length && (mask.left == Mask::unlimited || j >= diagonal - mask.left) &&
         (mask.right == Mask::unlimited || j <= diagonal + mask.right) &&
         (mask.blocks == Mask::Blocks::none || mask.block_counts(i / mask.block_size, j / mask.block_size));
}

/// Compulsory bytes by marking the rows of every visible pair of every head.
Traffic touched_bytes(const AttentionProblem& p) {
  std::vector<bool> queries(static_cast<std::size_t>(p.batch * p.heads_q * p.n_q));
  std::vector<bool> keys(static_cast<std::size_t>(p.batch * p.heads_kv * p.n_k));
  for (std::int64_t entry = 0; entry < p.batch; ++entry) {
    for (std::int64_t i = 0; i < p.n_q; ++i) {
      for (std::int64_t j = 0; j < p.n_k; ++j) {
        if (!is_visible(p, entry, i, j)) continue;
        for (std::int64_t head = 0; head < p.heads_q; ++head) {
          const std::int64_t kv_head = head / (p.heads_q / p.heads_kv);
          queries[static_cast<std::size_t>((entry * p.heads_q + head) * p.n_q + i)] = true;
          keys[static_cast<std::size_t>((entry * p.heads_kv + kv_head) * p.n_k + j)] = true;
        }
      }
    }
  }
  const std::int64_t input = p.d * (p.dtype == DType::fp8 ? 1 : 2);
  const std::int64_t output = 2 * p.d;
  const std::int64_t q = std::ranges::count(queries, true);
  Traffic bytes;
  bytes.l2_to_sm_bytes = q * input + 2 * std::ranges::count(keys, true) * input;
  if (p.pass != Pass::fwd) bytes.l2_to_sm_bytes += q * input;   // dO
  if (p.pass == Pass::bwd) bytes.l2_to_sm_bytes += q * output;  // O
  const std::int64_t outputs_like_q = p.pass == Pass::fwd_bwd ? 2 : 1;
  bytes.sm_to_l2_bytes = outputs_like_q * std::ssize(queries) * output;
  if (p.pass != Pass::fwd) bytes.sm_to_l2_bytes += 2 * std::ssize(keys) * output;
  return bytes;
}

TEST(RandomShapes, CompulsoryBytesAreTheRowsOfVisiblePairs) {
  Shapes shapes(20261201);
  for (int i = 0; i < 3000; ++i) {
    AttentionProblem p = shapes.edge_problem();
    if (p.instances() * p.n_q * p.n_k > 300'000) continue;
    EXPECT_EQ(compulsory_traffic(p), touched_bytes(p)) << describe(p);
    p.mask.blocks = Mask::Blocks::none;
    EXPECT_EQ(compulsory_traffic(p), touched_bytes(p)) << describe(p);
  }
}

TEST(RandomShapes, NoModelIsBelowCompulsoryBytes) {
  Shapes shapes(20261202);
  const DeviceLimits& device = known_gpus().front();
  std::map<std::string, int> modeled;
  for (int i = 0; i < 10'000; ++i) {
    const AttentionProblem p = shapes.edge_problem();
    const Traffic least = compulsory_traffic(p);
    for (const Algorithm* algorithm : built_in_algorithms().algorithms()) {
      Config config = shapes.config(*algorithm, p, device);
      AttentionModel model = algorithm->model(p, config, device);
      if (model.refusal) model = algorithm->model(p, config = algorithm->default_config(p, device), device);
      if (model.refusal) continue;
      const std::string label = algorithm->name() + ' ' + describe(p) + " tile " + describe(config);
      ++modeled[algorithm->name()];
      double distinct = 0;
      double dram = 0;
      Traffic traffic;
      std::vector<LaunchLoad> loads = predict_loads(model, device);
      for (const KernelModel& kernel : model.kernels) {
        if (kernel.setup) continue;
        distinct += static_cast<double>(kernel.runs) * kernel.work.distinct_bytes;
        traffic += kernel.runs * kernel.traffic;
      }
      for (const LaunchLoad& load : loads) dram += static_cast<double>(load.runs) * load.dram_bytes;
      if (const auto paper = algorithm->facts().paper_column) {
        EXPECT_GE(*paper == PaperColumn::standard ? standard_attention_bytes(p) : flash_paper_bytes(p, config.tile.bc),
                  least.total())
            << label;
      }
      EXPECT_GE(traffic.l2_to_sm_bytes, least.l2_to_sm_bytes) << label;
      EXPECT_GE(traffic.sm_to_l2_bytes, least.sm_to_l2_bytes) << label;
      EXPECT_GE(distinct, static_cast<double>(least.total())) << label;
      EXPECT_GE(dram, static_cast<double>(least.total())) << label;
    }
  }
  for (const Algorithm* algorithm : built_in_algorithms().algorithms())
    EXPECT_GT(modeled[algorithm->name()], 100) << algorithm->name();
}

}  // namespace
}  // namespace attnscope
