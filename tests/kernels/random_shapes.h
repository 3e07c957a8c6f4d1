// SPDX-License-Identifier: Apache-2.0
// Random problems and configurations.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "kernels/algorithm.h"

namespace attnscope::test {

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
  /// A valid small problem, often with rows that see nothing. Each rarely supported feature is in a part of them.
  [[nodiscard]] AttentionProblem edge_problem() {
    while (true) {
      AttentionProblem p{.dtype = one_of<DType>({DType::fp16, DType::bf16, DType::fp8}),
                         .pass = one_of<Pass>({Pass::fwd, Pass::bwd, Pass::fwd_bwd}),
                         .batch = extent(2.5),
                         .heads_kv = extent(3),
                         .n_q = one_of<std::int64_t>({1, extent(4), extent(9)}),
                         .n_k = one_of<std::int64_t>({1, extent(4), extent(9), extent(9)}),
                         .d = one_of<std::int64_t>({16, 64, 64, 80, 128})};
      p.heads_q = p.heads_kv * one_of<std::int64_t>({1, 1, 2, 3, 8});
      if (flip()) p.n_q = p.n_k;
      if (flip()) set_edge_mask(p);
      if (flip()) set_edge_features(p);
      if (invalid_reason(p).empty()) return p;
    }
  }
  /// The default configuration, a random tile, or the default tile with a random knob.
  [[nodiscard]] Config config(const Algorithm& algorithm, const AttentionProblem& p, const DeviceLimits& device) {
    if (flip()) return {tile(), {}};
    Config config = algorithm.default_config(p, device);
    for (const Knob& knob : algorithm.facts().knobs) {
      if (flip()) continue;
      if (!knob.words.empty()) {
        config.knobs.set(knob.name, one_of(knob.words) == knob.words.front() ? "" : knob.words.back());
      } else {
        config.knobs.set(knob.name, knob.values.empty() ? std::min(knob.largest, extent(4)) : one_of(knob.values));
      }
    }
    return config;
  }
  [[nodiscard]] TileShape tile() {
    return {.br = 16 * static_cast<int>(extent(4)), .bc = 16 * static_cast<int>(extent(4))};
  }

 private:
  [[nodiscard]] bool flip() { return one_of<int>({0, 1}) == 0; }
  void set_edge_features(AttentionProblem& p) {
    p.dropout = one_of<double>({0, 0, 0.25});
    p.page = one_of<std::int64_t>({0, 16, 64});
    p.deterministic = flip();
    p.gpus = one_of<int>({1, 2, 3});
    p.gpu_order = one_of<GpuOrder>({gpu_orders.begin(), gpu_orders.end()});
  }
  void set_edge_mask(AttentionProblem& p) {
    const auto side = [&] { return one_of<std::int64_t>({Mask::unlimited, Mask::unlimited, 0, extent(6)}); };
    p.mask.left = side();
    p.mask.right = side();
    p.mask.lengths =
        one_of<Mask::Lengths>({Mask::Lengths::full, Mask::Lengths::full, Mask::Lengths::ramp, Mask::Lengths::list});
    for (std::int64_t b = 0; b < p.batch && p.mask.lengths == Mask::Lengths::list; ++b)
      p.mask.length_list.push_back(one_of<std::int64_t>({0, extent(9) - 1, p.n_k}));
    p.mask.blocks = one_of<Mask::Blocks>(
        {Mask::Blocks::none, Mask::Blocks::none, Mask::Blocks::butterfly, Mask::Blocks::stride, Mask::Blocks::random});
    if (p.mask.has_block_mask()) p.mask.block_size = 16 * extent(3);
    if (p.mask.blocks == Mask::Blocks::stride || p.mask.blocks == Mask::Blocks::random)
      p.mask.block_parameter = extent(5);
  }

  std::mt19937_64 random_;
};

}  // namespace attnscope::test
