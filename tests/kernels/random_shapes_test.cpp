// SPDX-License-Identifier: Apache-2.0
// Models of random shapes up to the largest valid ones: no count may overflow. With the undefined-behavior sanitizer,
// intermediate sums are checked, too.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <random>
#include <string>

#include "kernels/algorithm.h"
#include "kernels/common_knobs.h"
#include "kernels/model/io_model.h"
#include "kernels/registry.h"

namespace attnscope {
namespace {

class Shapes {
 public:
  explicit Shapes(std::uint64_t seed) : random_(seed) {}

  [[nodiscard]] std::int64_t extent(double max_bits) {
    return static_cast<std::int64_t>(std::exp2(std::uniform_real_distribution<double>(0, max_bits)(random_)));
  }
  template <class T>
  [[nodiscard]] const T& one_of(const std::vector<T>& values) {
    return values[std::uniform_int_distribution<std::size_t>(0, values.size() - 1)(random_)];
  }
  [[nodiscard]] std::string mask(std::int64_t n_k) {
    const std::int64_t size = 16 * extent(12);
    const std::vector<std::string> windows{"full",
                                           "full",
                                           "causal",
                                           "window:" + std::to_string(extent(29)) + ":0",
                                           "window:inf:" + std::to_string(extent(29)),
                                           "window:" + std::to_string(extent(20)) + ":" + std::to_string(n_k)};
    const std::vector<std::string> lengths{"", "", "+lengths:ramp"};
    const std::string blocks = "+blocks:" + std::to_string(size) + ":";
    const std::vector<std::string> patterns{"", "", blocks + "butterfly", blocks + "stride5", blocks + "random25"};
    return one_of(windows) + one_of(lengths) + one_of(patterns);
  }
  [[nodiscard]] AttentionProblem problem() {
    const std::vector<std::int64_t> dims{1, 16, 64, 80, 128, 256, extent(12)};
    AttentionProblem p{.dtype = one_of<DType>({DType::fp16, DType::bf16}),
                       .pass = one_of<Pass>({Pass::fwd, Pass::bwd, Pass::fwd_bwd}),
                       .batch = extent(40),
                       .heads_kv = extent(12),
                       .n_q = extent(31),
                       .n_k = extent(31),
                       .d = one_of(dims)};
    if (one_of<int>({0, 1}) == 0) p.batch = extent(8);
    if (one_of<int>({0, 1, 2}) == 0) p.n_q = 1 + extent(4);
    p.heads_q = p.heads_kv * extent(6);
    p.page = one_of<std::int64_t>({0, 0, 16, 4096, 1 << 24});
    p.mask = parse_mask(mask(p.n_k)).value();
    return p;
  }
  /// A problem whose tile programs are short.
  [[nodiscard]] AttentionProblem small_problem() {
    AttentionProblem p = problem();
    p.batch = extent(3);
    p.heads_kv = extent(3);
    p.heads_q = p.heads_kv * extent(3);
    p.n_q = extent(9);
    p.n_k = extent(9);
    p.d = one_of<std::int64_t>({16, 48, 64, 80, 128});
    p.page = one_of<std::int64_t>({0, 0, 16, 64});
    p.mask = parse_mask(mask(p.n_k)).value();
    return p;
  }
  [[nodiscard]] TileShape tile() {
    return {.br = 16 * static_cast<int>(extent(4)), .bc = 16 * static_cast<int>(extent(4))};
  }

 private:
  std::mt19937_64 random_;
};

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

}  // namespace
}  // namespace attnscope
