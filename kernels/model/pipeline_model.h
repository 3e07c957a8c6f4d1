// SPDX-License-Identifier: Apache-2.0
// How long a launch takes, from the work that it asks for, the device's rates and its kernel's constants: a model of
// the pipeline, not of any algorithm.
//
// A block alone on its SM takes what no other warp hides: latencies of its steps and rounds, and work that one warp a
// scheduler issues. Blocks that share an SM compete for its units: matrix, exponential and fp32 units belong to its
// four schedulers, shared memory and the port to L2 to all of it; the longer of the two sums is what a block keeps the
// SM busy with, more where its warps do not divide evenly among the schedulers. R blocks take
//   t(R) = (alone^p + (R busy)^p)^(1/p)
// To it comes what waiting for the loads of its steps takes, beyond the other blocks' work; what loads into registers
// wait where the L1, which has what shared memory leaves, has no room for all of them at a time; and what its warps
// wait for one another at barriers, a share of its work that the others fill: a block by itself has all of it, each of
// R an R-th. Equal blocks come in waves of R on every SM, the last one as full as it is. Unequal ones are dealt out in
// the launch's order (KernelWork::order, block_deal.h), each to the place that is free first; a block's work and waits
// go with its rounds and steps. Beside all that stand the device's L2 and DRAM: the 4-norm of the three, so that two of
// them near each other cost some more than one. Launching adds to it.
//
// The clock is the highest that the launches of a point hold, run again and again (ClockLimits).
//
// How busy each unit is in that time is no part of the fit: what the launch issues of it, counted (KernelUse), over
// what the unit takes in as many cycles.
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

/// What a launch keeps busy: the tensor cores, the XU (ex2), shared memory, the SMs' ports to L2, device memory.
enum class GpuUnit { tensor, exponential, shared_memory, l2_port, dram };
inline constexpr std::array gpu_units{GpuUnit::tensor, GpuUnit::exponential, GpuUnit::shared_memory, GpuUnit::l2_port,
                                      GpuUnit::dram};
/// "tensor", "exponential", "shared memory", "L2 port", "DRAM".
[[nodiscard]] std::string_view to_string(GpuUnit);
/// A number for each of them.
using UnitValues = std::array<double, gpu_units.size()>;

/// A launch as the model sees it.
struct LaunchLoad {
  KernelWork work;
  KernelTiming timing;
  double blocks = 1;
  double warps = 1;           ///< of a block
  double blocks_per_sm = 1;   ///< that it holds at once: Occupancy
  double l1_bytes = 0;        ///< that these leave of an SM's L1; 0: as many as are needed
  double l2_sm_bytes = 0;     ///< both ways
  double l2_to_sm_bytes = 0;  ///< of those
  double dram_bytes = 0;      ///< both ways, settled: with what is written back when the launch is over
  double later_bytes = 0;     ///< of those, what is
  bool starts_early = false;  ///< KernelModel::starts_early
  double runs = 1;            ///< KernelModel::runs: all else is of one
};

struct LaunchTime {
  double ns = 0;
  double clock_hz = 0;  ///< of the SMs, that they hold
  /// Nanoseconds for which each unit works: at its peak, of SMs' units evenly on all SMs, of DRAM the datasheet's.
  UnitValues busy_ns{};
  double launch_ns = 0;  ///< that launching takes
  double waves = 0;      ///< blocks over the places for them
  double hidden_ns = 0;  ///< of a launch that starts early: what lies behind the launch before it
  double idle_ns = 0;    ///< in which SMs have fewer blocks than fit, at the end
  int empty_sms = 0;     ///< that never have a block
  int sms = 0;

  [[nodiscard]] double busy(GpuUnit unit) const { return busy_ns[static_cast<std::size_t>(unit)]; }
};

/// Of a kernel whose DRAM traffic is known.
[[nodiscard]] LaunchLoad launch_load(const KernelModel&, const DeviceLimits&, double dram_bytes);

/// The launches of one point, in their order, at the clock that they hold, one after the other and again and again.
[[nodiscard]] std::vector<LaunchTime> launch_times(std::span<const LaunchLoad>, const DeviceRates&);

/// The launches run one after the other.
[[nodiscard]] double point_ns(std::span<const LaunchTime>);
/// What several GPUs do, played: `times` is of each kind of launch, by its place in the plan.
[[nodiscard]] ScheduleTimes schedule_times(const Schedule&, std::span<const LaunchTime> times, const DeviceRates&);
/// The launches of the GPU with most attention to compute, in their order; `times` themselves where there is one GPU.
[[nodiscard]] std::vector<LaunchTime> of_busiest_gpu(const Schedule&, std::span<const LaunchTime> times);
/// point_ns(), or what the schedule takes. Pre: the times are of the model's measured kernels.
[[nodiscard]] double point_ns(const Schedule&, std::span<const LaunchTime> times, const DeviceRates&);

/// What predict_times() starts from. Pre: the model has no refusal.
[[nodiscard]] std::vector<LaunchLoad> predict_loads(const AttentionModel&, const DeviceLimits&);
/// Times without anything played: DRAM bytes too are estimated by the closed form (KernelWork::distinct_bytes, and what
/// an L2 of the device's size misses of the rest). One for each measured kernel. Pre: the model has no refusal.
[[nodiscard]] std::vector<LaunchTime> predict_times(const AttentionModel&, const DeviceLimits&);
/// The same with rates of the caller's: of a device whose ceilings were measured.
[[nodiscard]] std::vector<LaunchTime> predict_times(const AttentionModel&, const DeviceLimits&, const DeviceRates&);

}  // namespace attnscope
