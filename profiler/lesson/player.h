// SPDX-License-Identifier: Apache-2.0
// Plays the tile programs of a plan step by step: the very programs that the closed form is proved against and that the
// simulator plays, in the simulator's order and through its L2. What a frame shows is simulated (hits, DRAM) or counted
// from the program (all else); at the end the bytes between SM and L2 are the closed form's, to the byte.
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

/// What may differ from the GPU, so that something is to be seen of a small problem.
struct PlayerOptions {
  int sms = 0;                         ///< that the blocks are handed to; 0: the GPU's
  std::int64_t l2_bytes = 0;           ///< 0: the GPU's
  std::int64_t most_frames = 1 << 14;  ///< of a longer program nothing is played
};

/// Bytes until some moment.
struct Tally {
  std::array<Traffic, most_tensors> by_tensor{};  ///< SM<->L2
  std::int64_t l2_hit_bytes = 0;                  ///< of the loads: found in L2
  std::int64_t dram_read_bytes = 0;
  /// What made room for others, and after the last step of a launch what it left dirty: settled, as counters are read.
  std::int64_t dram_write_bytes = 0;

  [[nodiscard]] Traffic sm_l2() const;
  [[nodiscard]] const Traffic& of(Tensor tensor) const { return by_tensor.at(static_cast<std::size_t>(tensor)); }
  bool operator==(const Tally&) const = default;
};

struct FrameAccess {
  TileAccess access{};
  std::int64_t l2_bytes = 0;         ///< of access.moved_bytes(): found in L2, or stored to it
  std::int64_t dram_read_bytes = 0;  ///< the rest of them
  std::int64_t dram_write_bytes = 0;

  /// Of a load: nothing of it had to come from DRAM.
  [[nodiscard]] bool hit() const { return access.access == Access::load && dram_read_bytes == 0; }
};

struct Frame {
  std::size_t launch = 0;  ///< in TilePlayer::kernels()
  std::int64_t block = 0;
  std::int64_t step = 0;
  std::vector<FrameAccess> accesses{};
  Tally so_far{};  ///< with this step
};

/// Frames [first, last) in which every block at work makes one step, and those without an access before it.
struct Round {
  std::size_t launch = 0;
  std::size_t first = 0;
  std::size_t last = 0;
};

/// Pairs of queries and keys whose scores a step works on: rows [q, q + q_rows) of S, columns [k, k + k_rows).
struct TouchedPairs {
  std::int64_t q = 0;
  std::int64_t q_rows = 0;
  std::int64_t k = 0;
  std::int64_t k_rows = 0;
  std::int64_t head = 0;  ///< which S: TileAccess::instance of its Q

  bool operator==(const TouchedPairs&) const = default;
};

/// All that a plan does, step by step.
class TilePlayer {
 public:
  /// The error is a refusal of the algorithm, or that it is too long. Pre: invalid_reason(problem) is empty.
  [[nodiscard]] static Result<TilePlayer, Message> make(const Algorithm&, const AttentionProblem&, const Config&,
                                                        const DeviceLimits&, const PlayerOptions& = {});

  [[nodiscard]] std::span<const Frame> frames() const { return frames_; }
  /// Of every frame; nothing where it computes no scores. What the mask leaves out is in none of them.
  [[nodiscard]] std::vector<std::optional<TouchedPairs>> touched_pairs() const;
  /// All frames, in their order: what SMs do in parallel is one round.
  [[nodiscard]] std::span<const Round> rounds() const { return rounds_; }
  /// After the last one.
  [[nodiscard]] const Tally& total() const { return frames_.back().so_far; }
  /// The measured kernels, in stream order.
  [[nodiscard]] const std::vector<KernelModel>& kernels() const { return kernels_; }
  /// What the closed form says of each matrix, summed over the kernels.
  [[nodiscard]] Tally closed_form() const;
  /// Of each kernel, with what it left dirty in L2.
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
