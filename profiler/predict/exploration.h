// SPDX-License-Identifier: Apache-2.0
// Full model of one configuration on one device: on-chip memory, occupancy, bytes, FLOPs, time. Uses closed forms only
// (Algorithm::model(), predict_times()), fast enough for interactive sliders. All values are modeled.
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

/// A point, and parameters that no kernel has.
struct ExploredPoint {
  PointSpec spec;
  /// Extra shared memory reserved with each block. Reduces the number of resident blocks; blocks do not use it.
  std::int64_t padding_bytes = 0;

  bool operator==(const ExploredPoint&) const = default;
};

/// Use of a range of on-chip memory.
enum class SpanKind {
  part,     ///< a named buffer: OnChipPart
  unnamed,  ///< registers for addresses, fragments and temporaries
  padding,
  reserved,  ///< shared memory that the system reserves per block, and rounding
};
struct MemorySpan {
  SpanKind kind = SpanKind::part;
  std::string name{};
  std::int64_t offset = 0;  ///< bytes from the start of the block
  std::int64_t bytes = 0;   ///< all stages together
  int stages = 1;           ///< buffers of a ring, bytes / stages each

  bool operator==(const MemorySpan&) const = default;
};

/// Layout of an SM's shared memory or registers.
struct MemoryMap {
  OnChipMemory place = OnChipMemory::shared;
  std::vector<MemorySpan> block;  ///< one block, contiguous; sizes sum to block_bytes
  std::int64_t block_bytes = 0;   ///< that a block occupies on the SM
  std::int64_t sm_bytes = 0;      ///< capacity of the SM
  int blocks = 0;
  std::int64_t block_limit = 0;  ///< maximum for one block
  std::int64_t reserved = 0;     ///< part of block_bytes and block_limit that the system takes

  /// Needed and available bytes of one block, without the system's part.
  [[nodiscard]] std::int64_t needed() const { return block_bytes - reserved; }
  [[nodiscard]] std::int64_t available() const { return block_limit - reserved; }
  [[nodiscard]] std::int64_t free_bytes() const { return sm_bytes - blocks * block_bytes; }
  [[nodiscard]] std::int64_t overrun() const { return std::max<std::int64_t>(0, block_bytes - block_limit); }
};

struct ExploredKernel {
  std::string name;
  std::int64_t blocks = 0;
  std::int64_t launched_blocks = 0;  ///< smaller than `blocks` for persistent kernels
  int threads_per_block = 0;
  int registers_per_thread = 0;
  std::int64_t shared_bytes = 0;  ///< per block
  Occupancy occupancy;
  MemoryMap shared;
  MemoryMap registers;
  std::vector<OperandTraffic> operands;  ///< SM<->L2
  double dram_bytes = 0;                 ///< closed form: KernelWork::distinct_bytes and L2 misses
  double executed_flops = 0;             ///< see KernelWork::tensor_flops
  std::optional<double> waves{};         ///< empty: registers, and so the occupancy, are known only after compilation
  LaunchTime time;                       ///< zeros if times are not predicted
};

struct Exploration {
  ExploredPoint point;
  std::string device;
  std::optional<Refusal> refusal;  ///< if set, only `nearest`, `overrun` and the members above are valid
  std::optional<Config> nearest;   ///< with a refusal: see nearest_tile()
  std::optional<Config> fastest;   ///< with a refusal: the usual tile with the shortest predicted time
  /// If a block exceeds its on-chip memory: one hypothetical block per kernel, of which only maps and sizes are
  /// valid. The overrun is the part beyond block_limit.
  std::vector<ExploredKernel> overrun;
  std::vector<ExploredKernel> kernels;   ///< in stream order
  std::vector<OperandTraffic> operands;  ///< sums over the kernels, one per matrix
  Traffic traffic;
  std::int64_t compulsory_bytes = 0;  ///< each input read once, each output written once
  double dram_bytes = 0;
  double nominal_flops = 0;                ///< see Facts::nominal_flops
  double executed_flops = 0;               ///< see AttentionModel::executed_flops()
  double ns = 0;                           ///< predicted, see point_ns()
  bool can_predict_time = true;            ///< if false, time and all values derived from it are 0 and invalid
  bool times_validated = true;             ///< see DeviceRates::validated_on; if false, can_predict_time is false
  SpeedOfLight light{};                    ///< several GPUs: of the busiest GPU while it computes
  std::int64_t link_bytes = 0;             ///< between GPUs
  std::optional<ScheduleTimes> sharing{};  ///< several GPUs only
  /// GPU on which the rates (as shares of peak) were measured, and whether this GPU only inherits them.
  std::string_view rates_measured_on;
  bool rates_inherited = false;
  bool dram_rate_measured = false;  ///< from the given ceilings of this GPU
  bool l2_rate_measured = false;
  LinkRate link{};  ///< copies between GPUs
  bool link_rate_measured = false;

  /// Index of the slowest kernel. Pre: no refusal.
  [[nodiscard]] std::size_t longest() const;
  /// Nominal FLOPs per SM<->L2 byte and per DRAM byte; 0 without bytes.
  [[nodiscard]] double l2_intensity() const;
  [[nodiscard]] double dram_intensity() const;
  /// Per GPU.
  [[nodiscard]] double flops_per_second() const;
};

/// Evaluates the model. Pre: the registry has the point's algorithm. `measured`: ceilings of such a GPU; missing rates
/// come from the device table.
[[nodiscard]] Exploration explore(const ExploredPoint&, const DeviceLimits&, const Registry&,
                                  std::span<const Ceiling> measured = {});

/// Returns true if explore() takes some 100 µs at most. False for block masks (tiles are counted one by one), long
/// length lists and many GPUs.
[[nodiscard]] bool is_fast_to_model(const AttentionProblem&);

}  // namespace attnscope::analysis
