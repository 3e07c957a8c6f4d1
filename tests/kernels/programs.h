// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/algorithm.h"
#include "kernels/common_knobs.h"
#include "kernels/embedded_sources.h"
#include "kernels/model/device_limits.h"
#include "kernels/model/mask.h"
#include "tests/kernels/tiling.h"
#include "tests/sanitized.h"

namespace attnscope::test {

inline const DeviceLimits& h200() {
  return *find_gpu("H200");
}

inline Mask mask_of(std::string_view words) {
  return parse_mask(words).value();
}

inline std::string label(const Algorithm& algorithm, const AttentionProblem& p, const Tiling& tile) {
  return algorithm.name() + " " + describe(p) + " tile " + describe(tile);
}
inline std::string label(const Algorithm& algorithm, const AttentionProblem& p, const Config& config) {
  return algorithm.name() + " " + describe(p) + " " + describe(config);
}

/// Parameter names in the kernel's source; pointers are prefixed with '*'.
inline std::vector<std::string> parameter_names(const KernelSource& source) {
  const auto sources = embedded_sources();
  const auto found = std::ranges::find(sources, source.file, &EmbeddedSource::path);
  if (found == sources.end()) return {};
  const std::string text(found->text);
  const std::size_t begin = text.find(source.entry + "(") + source.entry.size() + 1;
  std::string list = text.substr(begin, text.find(')', begin) - begin) + ",";
  std::vector<std::string> names;
  for (std::size_t at = 0; at < list.size();) {
    const std::size_t comma = list.find(',', at);
    std::string one = list.substr(at, comma - at);
    const bool pointer = one.find('*') != std::string::npos;
    std::string name = one.substr(one.find_last_of(" *\n") + 1);
    if (pointer) name.insert(name.begin(), '*');
    names.push_back(std::move(name));
    at = comma + 1;
  }
  return names;
}

/// With sanitizers (tests/sanitized.h), every `nth` problem only; these take the same code paths.
inline std::vector<AttentionProblem> reduce_for_sanitizers(std::vector<AttentionProblem> problems, std::size_t nth) {
  if (!sanitized()) return problems;
  std::vector<AttentionProblem> some;
  for (std::size_t i = 0; i < problems.size(); i += nth) some.push_back(problems[i]);
  return some;
}

/// Small problems with every irregularity: ragged edges, one row, empty rows, GQA, both masks.
inline std::vector<AttentionProblem> irregular_problems() {
  std::vector<AttentionProblem> problems;
  for (const Mask& mask : {Mask::none, Mask::causal}) {
    for (const std::int64_t n_q : {1, 15, 64, 65, 113, 239}) {
      for (const std::int64_t n_k : {1, 16, 63, 128, 203, 257}) {
        const std::int64_t d = (n_q + n_k) % 3 == 0 ? 80 : (n_q + n_k) % 3 == 1 ? 64 : 128;
        const std::int64_t heads_kv = n_q % 2 == 0 ? 1 : 2;
        problems.push_back({.dtype = n_k % 2 == 0 ? DType::fp16 : DType::bf16,
                            .mask = mask,
                            .batch = 1 + n_k % 2,
                            .heads_q = heads_kv * (1 + n_k % 3),
                            .heads_kv = heads_kv,
                            .n_q = n_q,
                            .n_k = n_k,
                            .d = d});
      }
    }
  }
  for (const char* mask : {"full", "causal", "window:20:7", "causal+lengths:ramp"}) {
    for (const auto& [n_q, n_k] : {std::pair{1, 257}, std::pair{239, 128}, std::pair{130, 300}}) {
      problems.push_back({.dtype = DType::fp8,
                          .mask = parse_mask(mask).value(),
                          .batch = 2,
                          .heads_q = 4,
                          .heads_kv = 2,
                          .n_q = n_q,
                          .n_k = n_k,
                          .d = n_k % 2 == 0 ? 64 : 128});
    }
  }
  return reduce_for_sanitizers(std::move(problems), 5);  // keeps all n_q and all n_k
}

/// Small problems with every kind of mask, for tiles that divide mask blocks of 96.
inline std::vector<AttentionProblem> masked_problems() {
  std::vector<AttentionProblem> problems;
  for (const char* mask :
       {"window:5:3", "window:20:0", "window:0:0", "window:inf:20", "window:64:inf", "window:0:150", "lengths:ramp",
        "lengths:0/30/1", "causal+lengths:ramp", "window:40:9+lengths:90/0/201", "blocks:96:butterfly",
        "blocks:96:random30", "causal+blocks:96:random0", "window:100:20+lengths:100/17/201+blocks:96:random50"}) {
    for (const auto& [n_q, n_k] :
         {std::pair{1, 257}, std::pair{257, 201}, std::pair{239, 239}, std::pair{130, 300}, std::pair{300, 210}}) {
      problems.push_back({.mask = parse_mask(mask).value(),
                          .batch = 3,
                          .heads_q = n_q % 2 == 0 ? 4 : 2,
                          .heads_kv = 2,
                          .n_q = n_q,
                          .n_k = n_k,
                          .d = n_k % 2 == 0 ? 80 : 32});
    }
  }
  return reduce_for_sanitizers(std::move(problems), 3);  // keeps all masks and shapes
}

inline std::vector<Tiling> tiles_dividing_96() {
  return {{.br = 16, .bc = 16},
          {.br = 48, .bc = 32, .raster = Raster::heads_fastest},
          {.br = 96, .bc = 48},
          {.br = 32, .bc = 96}};
}

/// Returns true if the algorithm does not support the configuration, such as many queries in a decoding kernel.
inline bool refused(const Algorithm& algorithm, const AttentionProblem& p, const Tiling& tile) {
  const auto refusal = algorithm.refusal(p, tile, known_gpus().front());
  return refusal && refusal->cause == Refusal::Cause::shape;
}

inline std::vector<Tiling> irregular_tiles() {
  std::vector<Tiling> tiles;
  for (const Raster raster : {Raster::q_fastest, Raster::heads_fastest}) {
    for (const auto& [br, bc] : {std::pair{16, 16}, std::pair{64, 64}, std::pair{128, 128}, std::pair{48, 112},
                                 std::pair{80, 32}, std::pair{16, 256}, std::pair{256, 16}}) {
      tiles.push_back({.br = br, .bc = bc, .raster = raster});
    }
  }
  return tiles;
}

inline std::vector<TileAccess> all_accesses(const TileProgram& program) {
  std::vector<TileAccess> accesses;
  for (std::int64_t block = 0; block < program.blocks(); ++block) {
    for (std::int64_t step = 0; step < program.steps(block); ++step) program.visit(block, step, accesses);
  }
  return accesses;
}

}  // namespace attnscope::test
