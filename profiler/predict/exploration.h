// SPDX-License-Identifier: Apache-2.0
// What theory says of one configuration on one device, whole: what a block holds on chip, occupancy, bytes, operations,
// time. Closed (Algorithm::model(), predict_times()), so that it can be asked again at every movement of a slider.
// Everything in it is modelled.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/model/device_limits.h"
#include "kernels/model/kernel_model.h"
#include "kernels/model/pipeline_model.h"
#include "kernels/registry.h"
#include "profiler/plan/point_spec.h"
#include "profiler/predict/speed_of_light.h"

namespace attnscope::analysis {

/// What is explored: a point, and what no kernel can be told.
struct ExploredPoint {
  PointSpec spec;
  /// Bytes of shared memory that are taken from the SM with each block beside what it uses: fewer blocks fit, and
  /// nothing else about them changes.
  std::int64_t padding_bytes = 0;

  bool operator==(const ExploredPoint&) const = default;
};

/// What a stretch of on-chip memory is there for.
enum class SpanKind {
  part,      ///< what the algorithm keeps there: OnChipPart
  unnamed,   ///< registers for addresses, fragments, temporaries
  padding,   ///< ExploredPoint::padding_bytes
  reserved,  ///< shared memory that the system takes with each block, and rounding
};
struct MemorySpan {
  SpanKind kind = SpanKind::part;
  std::string name{};       ///< of a part
  std::int64_t offset = 0;  ///< bytes, within the block
  std::int64_t bytes = 0;   ///< all stages together
  int stages = 1;           ///< buffers of a ring, of bytes / stages each

  bool operator==(const MemorySpan&) const = default;
};

/// How an SM's shared memory, or its registers, are shared out.
struct MemoryMap {
  OnChipPlace place = OnChipPlace::shared;
  std::vector<MemorySpan> block;  ///< one block, whole: the spans follow one another and sum to block_bytes
  std::int64_t block_bytes = 0;   ///< that a block takes of the SM
  std::int64_t sm_bytes = 0;      ///< that the SM has
  int blocks = 0;                 ///< on the SM at once
  std::int64_t block_limit = 0;   ///< that a block may take of it

  [[nodiscard]] std::int64_t free_bytes() const { return sm_bytes - blocks * block_bytes; }
  [[nodiscard]] std::int64_t overrun() const { return std::max<std::int64_t>(0, block_bytes - block_limit); }
};

/// One measured kernel of the configuration.
struct ExploredKernel {
  std::string name;
  std::int64_t blocks = 0;           ///< of the grid
  std::int64_t launched_blocks = 0;  ///< fewer where a persistent launch takes them in turn
  int threads_per_block = 0;
  int registers_per_thread = 0;
  std::int64_t shared_bytes = 0;  ///< that a block uses
  Occupancy occupancy;
  MemoryMap shared;
  MemoryMap registers;
  std::vector<OperandTraffic> operands;  ///< between SM and L2
  double dram_bytes = 0;                 ///< estimated by the closed form: KernelWork::distinct_bytes and L2 misses
  double tensor_flops = 0;               ///< executed, tiles counted whole
  LaunchTime time;
};

struct Exploration {
  ExploredPoint point;
  std::string device;              ///< DeviceLimits::name
  std::optional<Refusal> refusal;  ///< with it, only `nearest`, `overrun` and the above are set
  std::optional<Config> nearest;   ///< with a refusal: nearest_tile()
  /// With a refusal for want of room on chip: one block of each kernel as it would be, of which the maps and sizes are
  /// set. What it takes beyond block_limit is the overrun.
  std::vector<ExploredKernel> overrun;
  std::vector<ExploredKernel> kernels;   ///< in stream order
  std::vector<OperandTraffic> operands;  ///< sums over the kernels, each matrix once
  Traffic traffic;
  std::int64_t compulsory_bytes = 0;  ///< each input read and each output written once
  double dram_bytes = 0;
  double flops = 0;             ///< by the algorithm's own count: Facts::flops
  double tensor_flops = 0;      ///< executed
  double ns = 0;                ///< predicted: point_ns()
  bool predicts_time = true;    ///< else what follows from a time, DRAM bytes among it, is 0 and means nothing
  SpeedOfLight light{};         ///< of several GPUs that of the busiest, while it computes
  std::int64_t link_bytes = 0;  ///< between GPUs
  std::optional<ScheduleTimes> sharing{};  ///< of several GPUs
  /// The GPU that shares of peaks were measured on, and whether this one inherits them from it.
  std::string_view rates_of;
  bool rates_inherited = false;
  bool dram_rate_measured = false;  ///< on this GPU: of the ceilings that were given
  bool l2_rate_measured = false;
  LinkRate link{};  ///< of copies between GPUs
  bool link_rate_measured = false;

  /// The kernel that takes longest. Pre: no refusal.
  [[nodiscard]] std::size_t longest() const;
  /// FLOPs of visible pairs for each byte between SM and L2, and for each byte of DRAM; 0 without bytes.
  [[nodiscard]] double l2_intensity() const;
  [[nodiscard]] double dram_intensity() const;
  /// Of one GPU, where several share the problem.
  [[nodiscard]] double flops_per_second() const;
};

/// Pre: the registry has the point's algorithm. `measured`: ceilings of such a GPU; rates that it lacks are the
/// table's.
[[nodiscard]] Exploration explore(const ExploredPoint&, const DeviceLimits&, const Registry&,
                                  std::span<const Ceiling> measured = {});

/// Whether explore() of such a problem is a matter of some hundred microseconds: block masks, whose squares are
/// counted, long lists of lengths and many GPUs are none.
[[nodiscard]] bool is_quick(const AttentionProblem&);

}  // namespace attnscope::analysis
