// SPDX-License-Identifier: Apache-2.0
// Finds the tiles that `auto` picks, by measuring every tile that runs.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "kernels/tile_table.h"
#include "profiler/device.h"

namespace attnscope {

struct TuneRequest {
  std::vector<std::string> algorithms;
  std::vector<Pass> passes;
  std::vector<Mask> masks;  ///< Mask::none, Mask::causal
  std::vector<std::int64_t> head_dims;
  std::vector<std::int64_t> lengths;  ///< N; each cell has batch = tokens / N
  std::int64_t tokens = 16'384;
  std::int64_t hidden = 2'048;  ///< heads = hidden / d
  DType dtype = DType::fp16;
};

/// One tile at one length.
struct TuneSample {
  TileShape tile;
  std::int64_t n = 0;
  double median_ns = 0;
};

struct TuneResult {
  TileChoice choice;
  std::size_t tiles = 0;            ///< that were measured
  double worst_ratio = 1;           ///< of the chosen tile to the fastest one, over the lengths
  std::vector<TuneSample> samples;  ///< all of them
};

/// Called with each finished line, and with each tile that could not be measured: its point's record.
struct TuneObserver {
  std::function<void(const TuneResult&)> on_choice;
  std::function<void(const PointRecord&)> on_failure;
};

/// The tiles tried: Br and Bc over the steps below, without those that the algorithm refuses on the device.
[[nodiscard]] std::vector<TileShape> tune_candidates(const Algorithm&, const AttentionProblem&, const DeviceLimits&);

/// For each algorithm, pass, mask and d (those that the algorithm takes): measures every candidate at the middle
/// length, then, with other warps and stages for the fastest, those within 15% of the fastest at every length, and
/// chooses the tile whose worst ratio to the fastest at any length is smallest, of those within 1% of that the one with
/// the smallest mean ratio. Cold L2, no counters, outputs unchecked. Stops at a cancel with what is finished.
[[nodiscard]] std::vector<TuneResult> tune(Device&, const TuneRequest&, const TuneObserver&, const CancelToken&);

/// `old` with the lines that `found` replaces, sorted.
[[nodiscard]] std::vector<TileChoice> merge_choices(std::span<const TileChoice> old, std::span<const TuneResult> found);

}  // namespace attnscope
