// SPDX-License-Identifier: Apache-2.0
// The memory hierarchy as a picture that moves: loads that leave for every level at one moment and come back after its
// latency, each waited for before the next leaves; and pipes, as wide as the level's bandwidth, which the bytes that
// are under way fill (Little's law). Window and browser draw these numbers and compute none.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "profiler/lesson/hierarchy.h"
#include "profiler/lesson/texts.h"

namespace attnscope::analysis::lesson {

/// A moment of the clock, all levels at the same one.
struct FlowFrame {
  double ns = 0;
  double tensor_flops = 0;  ///< that the tensor cores could have done since the beginning
  /// By rung: latencies that have passed. 2.4: two loads are back, the third is at 0.4 of its way. Nothing where nobody
  /// measured a latency.
  std::vector<std::optional<double>> trips{};
};

/// So many bytes of loads are under way of every SM, at every moment.
struct FlowLoad {
  std::int64_t bytes_per_sm = 0;
  struct Rung {
    double bytes_per_second = 0;  ///< in-flight bytes over the latency, the bandwidth at the most
    double share = 0;             ///< of the bandwidth: 0 to 1
  };
  std::vector<std::optional<Rung>> rungs{};  ///< nothing without latency or bandwidth
};

/// What of a rung does not move.
struct FlowLane {
  Rung rung = Rung::registers;
  double pipe = 0;    ///< its diameter over the widest's: cross-sections are as the bandwidths
  double square = 0;  ///< the side of a square over the largest's: areas are as the sizes; 0: nobody says
};

struct HierarchyFlow {
  std::vector<FlowLane> lanes{};
  /// The longest latency and a little more; one alone, at 0 ns, where no latency is known.
  std::vector<FlowFrame> frames{};
  double frame_ns = 0;  ///< from one frame to the next; 0: nothing moves
  /// Powers of two of lines of 128 bytes; none where no latency is known.
  std::vector<FlowLoad> loads{};
  std::size_t first_load = 0;  ///< that is shown at first: the last that leaves DRAM short of its bandwidth

  /// How many times slower than the GPU it is shown at so many frames a second.
  [[nodiscard]] double stretch(double frames_per_second) const;
};

/// `sms`: among which the bytes under way are divided.
[[nodiscard]] HierarchyFlow hierarchy_flow(const Hierarchy&, int sms);

/// The sentences beside the picture, in the lesson's language: the clock, a lane's load, a lane's bandwidth.
[[nodiscard]] std::string clock_text(const LessonTexts&, const HierarchyFlow&, const FlowFrame&);
[[nodiscard]] std::string trips_text(const LessonTexts&, const std::optional<double>& trips);
[[nodiscard]] std::string load_text(const LessonTexts&, const FlowLoad&);
[[nodiscard]] std::string reached_text(const LessonTexts&, const HierarchyRung&, const std::optional<FlowLoad::Rung>&);
/// "Shared memory": the lesson's word.
[[nodiscard]] std::string rung_title(const LessonTexts&, Rung);

}  // namespace attnscope::analysis::lesson
