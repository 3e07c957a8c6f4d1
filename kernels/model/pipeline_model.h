// SPDX-License-Identifier: Apache-2.0
// Predicts the time of a launch from its work, the device's rates and the kernel's constants. Independent of the
// algorithm.
//
// A block alone on its SM takes `alone` cycles: latencies of its steps and rounds, and work that one warp per scheduler
// issues. Blocks that share an SM compete for its units: matrix, exponential and fp32 units belong to the four
// schedulers, shared memory and the L2 port to the whole SM. The longer of the two sums is `busy`, more if warps do not
// divide evenly among the schedulers. R blocks take
//   t(R) = (alone^p + (R busy)^p)^(1/p)
// plus three waits: for the loads of steps, beyond the other blocks' work; for loads into registers if L1 (the rest of
// shared memory) has no room for all of them; and for other warps at barriers, a share of the work that other blocks
// fill, 1/R per block.
//
// Equal blocks run in waves of R per SM, the last one possibly partial. Unequal blocks start in launch order
// (KernelWork::order), each in the first free slot; work and waits of a block are proportional to its rounds and steps.
// The times of SMs, L2 and DRAM combine as their 4-norm, so that two similar times cost more than the longer one.
// Launch overhead is added.
//
// The clock is the highest that repeated launches of the point sustain (ClockLimits).
//
// Utilization is not fitted: it is the counted work of a unit (UnitIssueCosts) over its capacity in the predicted time.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "kernels/model/device_limits.h"
#include "kernels/model/device_rates.h"
#include "kernels/model/kernel_model.h"

namespace attnscope {

/// Units with a utilization: tensor cores, XU (ex2), shared memory, L2 ports of the SMs, device memory.
enum class GpuUnit { tensor, exponential, shared_memory, l2_port, dram };
inline constexpr std::array gpu_units{GpuUnit::tensor, GpuUnit::exponential, GpuUnit::shared_memory, GpuUnit::l2_port,
                                      GpuUnit::dram};
/// Returns "tensor", "exponential", "shared memory", "L2 port" or "DRAM".
[[nodiscard]] std::string_view to_string(GpuUnit);
using UnitValues = std::array<double, gpu_units.size()>;

struct LaunchLoad {
  KernelWork work;
  KernelTiming timing;
  double blocks = 1;
  double warps = 1;          ///< per block
  double blocks_per_sm = 1;  ///< resident at once: Occupancy
  double l1_bytes = 0;       ///< L1 of an SM that shared memory leaves; 0: unlimited
  double l2_sm_bytes = 0;    ///< both directions
  double l2_to_sm_bytes = 0;
  double dram_bytes = 0;       ///< both directions, settled: including write-back after the launch
  double writeback_bytes = 0;  ///< part of dram_bytes that is written back after the launch
  bool starts_early = false;   ///< KernelModel::starts_early
  double runs = 1;             ///< KernelModel::runs; other values are per run
};

struct LaunchTime {
  double ns = 0;
  double clock_hz = 0;  ///< sustained SM clock
  /// Time that each unit needs at its peak rate: SM units with all SMs equally loaded, DRAM by its datasheet.
  UnitValues busy_ns{};
  double launch_ns = 0;
  double waves = 0;
  double hidden_ns = 0;  ///< overlapped with the previous launch (starts_early)
  double idle_ns = 0;    ///< at the end, while SMs have fewer blocks than fit
  int empty_sms = 0;     ///< SMs that never get a block
  int sms = 0;

  [[nodiscard]] double busy(GpuUnit unit) const { return busy_ns[static_cast<std::size_t>(unit)]; }
};

[[nodiscard]] LaunchLoad launch_load(const KernelModel&, const DeviceLimits&, double dram_bytes);

/// Times of the launches of one point, run in order and repeatedly, at the clock that they sustain.
[[nodiscard]] std::vector<LaunchTime> launch_times(std::span<const LaunchLoad>, const DeviceRates&);

[[nodiscard]] double point_ns(std::span<const LaunchTime>);
/// Simulates the schedule of several GPUs. `times`: one per kind of launch, by its index in the plan.
[[nodiscard]] ScheduleTimes schedule_times(const Schedule&, std::span<const LaunchTime> times, const DeviceRates&);
/// Launches of the GPU with the most attention work, in order; `times` unchanged for a single GPU.
[[nodiscard]] std::vector<LaunchTime> busiest_gpu_launches(const Schedule&, std::span<const LaunchTime> times);
/// Time of the schedule, or of consecutive launches for a single GPU. Pre: `times` are of the measured kernels.
[[nodiscard]] double point_ns(const Schedule&, std::span<const LaunchTime> times, const DeviceRates&);

/// Input of predict_times(). Pre: the model has no refusal.
[[nodiscard]] std::vector<LaunchLoad> predict_loads(const AttentionModel&, const DeviceLimits&);
/// Predicts the time of each measured kernel without simulation. DRAM bytes are estimated in closed form:
/// KernelWork::distinct_bytes plus estimated L2 misses. Pre: the model has no refusal.
[[nodiscard]] std::vector<LaunchTime> predict_times(const AttentionModel&, const DeviceLimits&);
/// Same, with given rates, such as those of a device with measured ceilings.
[[nodiscard]] std::vector<LaunchTime> predict_times(const AttentionModel&, const DeviceLimits&, const DeviceRates&);

}  // namespace attnscope
