// SPDX-License-Identifier: Apache-2.0
// Replays the tile programs of a plan step by step, in the order of the simulator and through its L2 model. Hits and
// DRAM bytes of a frame are simulated, all else is counted from the program; the final SM<->L2 bytes equal the closed
// form.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "kernels/algorithm.h"
#include "kernels/model/kernel_model.h"
#include "profiler/plan/point_spec.h"
#include "profiler/simulator/traffic_simulation.h"

namespace attnscope::analysis::lesson {

/// Options that differ from the GPU, so that small problems show L2 misses.
struct PlayerOptions {
  int sms = 0;                         ///< SMs that execute blocks; 0: the GPU's
  std::int64_t l2_bytes = 0;           ///< 0: the GPU's
  std::int64_t most_frames = 1 << 14;  ///< longer programs are rejected
};

/// Cumulative bytes.
struct Tally {
  std::array<Traffic, max_tensors> by_tensor{};  ///< SM<->L2
  std::int64_t l2_hit_bytes = 0;                 ///< of the loads
  std::int64_t dram_read_bytes = 0;
  /// Evicted dirty lines, and after the last step of a launch the remaining ones: settled, like counters.
  std::int64_t dram_write_bytes = 0;

  [[nodiscard]] Traffic sm_l2() const;
  [[nodiscard]] const Traffic& of(Tensor tensor) const { return by_tensor.at(static_cast<std::size_t>(tensor)); }
  bool operator==(const Tally&) const = default;
};

struct FrameAccess {
  TileAccess access{};
  std::int64_t l2_bytes = 0;         ///< bytes found in L2, or stored to it
  std::int64_t dram_read_bytes = 0;  ///< bytes loaded from DRAM
  std::int64_t dram_write_bytes = 0;

  /// Returns whether a load was served by L2 alone.
  [[nodiscard]] bool hit() const { return access.access == Access::load && dram_read_bytes == 0; }
};

struct Frame {
  std::size_t launch = 0;  ///< index into TilePlayer::kernels()
  std::int64_t block = 0;
  std::int64_t step = 0;
  std::vector<FrameAccess> accesses{};
  Tally so_far{};  ///< including this step
};

/// Frames [first, last): one step of every active block, and preceding steps without accesses.
struct Round {
  std::size_t launch = 0;
  std::size_t first = 0;
  std::size_t last = 0;
};

/// Query-key pairs whose scores a step computes: rows [q, q + q_rows) and columns [k, k + k_rows) of S.
struct TouchedPairs {
  std::int64_t q = 0;
  std::int64_t q_rows = 0;
  std::int64_t k = 0;
  std::int64_t k_rows = 0;
  std::int64_t head = 0;  ///< TileAccess::instance of the Q tile

  bool operator==(const TouchedPairs&) const = default;
};

class TilePlayer {
 public:
  /// Fails if the configuration is infeasible or has too many steps. Pre: invalid_reason(problem) is empty.
  [[nodiscard]] static Result<TilePlayer, Message> make(const Algorithm&, const AttentionProblem&, const Config&,
                                                        const DeviceLimits&, const PlayerOptions& = {});

  [[nodiscard]] std::span<const Frame> frames() const { return frames_; }
  /// Returns the pairs of every frame; nullopt if it computes no scores. Masked tiles are in no frame.
  [[nodiscard]] std::vector<std::optional<TouchedPairs>> touched_pairs() const;
  /// Returns all frames in order, grouped by steps that SMs execute in parallel.
  [[nodiscard]] std::span<const Round> rounds() const { return rounds_; }
  [[nodiscard]] const Tally& total() const { return frames_.back().so_far; }
  /// Returns the kernels without setup kernels, in stream order.
  [[nodiscard]] const std::vector<KernelModel>& kernels() const { return kernels_; }
  /// Returns the closed form's bytes per matrix, summed over the kernels.
  [[nodiscard]] Tally closed_form() const;
  /// Returns each kernel's simulation, including the dirty bytes left in L2.
  [[nodiscard]] const std::vector<LaunchSimulation>& simulated() const { return simulated_; }
  [[nodiscard]] const AttentionProblem& problem() const { return problem_; }
  [[nodiscard]] const Config& config() const { return config_; }

 private:
  class Recorder;

  TilePlayer() = default;
  void add_tallies();

  AttentionProblem problem_;
  Config config_;
  std::vector<KernelModel> kernels_;
  std::vector<LaunchSimulation> simulated_;
  std::vector<Frame> frames_;
  std::vector<Round> rounds_;
};

}  // namespace attnscope::analysis::lesson
