// SPDX-License-Identifier: Apache-2.0
// Finds the tiles that `auto` picks, by measuring every tile that runs.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "kernels/tile_table.h"
#include "profiler/measure/device.h"

namespace attnscope {

struct TuneRequest {
  std::vector<std::string> algorithms;
  std::vector<Pass> passes;
  std::vector<Mask> masks;  ///< Mask::none, Mask::causal
  std::vector<std::int64_t> head_dims;
  std::vector<std::int64_t> lengths;         ///< N of self-attention; each cell has batch = tokens / N
  std::vector<std::int64_t> decode_lengths;  ///< n_k of algorithms made for decoding; n_q 1, batch 1
  std::int64_t tokens = 16'384;
  DType dtype = DType::fp16;
};

/// What was found at one length.
struct TuneCell {
  std::int64_t n = 0;
  double fastest_ns = 0;
  Config now{};       ///< auto_config()'s
  double now_ns = 0;  ///< 0: it could not be measured
  Config chosen{};
  double chosen_ns = 0;

  /// To the fastest; 0 where the tile could not be measured.
  [[nodiscard]] double now_ratio() const { return now_ns / fastest_ns; }
  [[nodiscard]] double chosen_ratio() const { return chosen_ns / fastest_ns; }
};

/// One algorithm, pass, mask and d.
struct TuneResult {
  std::vector<TileChoice> choices;  ///< by ascending n; never empty
  std::size_t tiles = 0;            ///< that were measured
  std::vector<TuneCell> cells;      ///< by ascending n
};

/// Called with each finished result, with each tile that could not be measured: its point's record, and with each
/// length at which none could, which has no TuneCell: the problem there.
struct TuneObserver {
  std::function<void(const TuneResult&)> on_result;
  std::function<void(const PointRecord&)> on_failure;
  std::function<void(const Algorithm&, const AttentionProblem&)> on_untimed{};
};

/// The tiles tried: Br and Bc over steps, with values around the algorithm's own of the knob that states how
/// (Knob::around), without those that the algorithm refuses on the device; first of them the algorithm's own.
[[nodiscard]] std::vector<Config> tune_candidates(const Algorithm&, const AttentionProblem&, const DeviceLimits&);

/// For each algorithm, pass, mask and d (those that the algorithm takes): screens the candidates at every length with
/// few samples (but for those that were far off at two lengths before), then Knob::variants of the leaders, and
/// measures what is within 10% of the fastest at a length again with more samples. Takes the fastest at each length,
/// but the tile of the length before where it is within 1%, and the algorithm's own choice where it is within 2%.
/// Tiles whose kernels use local memory are no choice: what they spill is traffic that no model has.
/// Cold L2, no counters, outputs unchecked. Stops at a cancel with what is finished.
[[nodiscard]] std::vector<TuneResult> tune(Device&, const TuneRequest&, const TuneObserver&, const CancelToken&);

/// `old` with those of its lines replaced whose n lies between the shortest and the longest length that `found` has for
/// them, sorted.
[[nodiscard]] std::vector<TileChoice> merge_choices(std::span<const TileChoice> old, std::span<const TuneResult> found);

}  // namespace attnscope
