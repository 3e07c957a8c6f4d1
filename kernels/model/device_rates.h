// SPDX-License-Identifier: Apache-2.0
// How fast a device's units are: what times are predicted with. Datasheets and architecture tables give them; how far
// below its peak a memory stays was measured on one GPU, what holds the clock on two of another kind, and the others
// inherit it.
#pragma once

#include <span>
#include <string_view>

#include "kernels/model/ceilings.h"
#include "kernels/model/device_limits.h"
#include "kernels/model/kernel_work.h"
#include "kernels/model/schedule.h"

namespace attnscope {

/// What holds the clock below its highest: a GPU under load runs below it at once, further where its tensor cores are
/// busy, and its power stays within the board's cap. Power is given as shares of the cap. At a clock f, that of the SMs
/// is (f / boost)^exponent of that at boost for the same work in the same time: with the clock the voltage falls.
struct ClockLimits {
  double load = 0;     ///< share of the clock that any load costs
  double load_ns = 0;  ///< of a launch after which it does
  double surge = 0;    ///< further share for each of the time beyond `surge_from` that the tensor cores are busy
  double surge_from = 1;
  double idle = 0;      ///< power drawn without work
  double tensor = 0;    ///< added by attention kernels whose tensor cores are busy all the time, at boost clock
  double dram = 0;      ///< added by DRAM at its peak rate
  double exponent = 1;  ///< of the clock
  double lag_ns = 0;    ///< that the regulator averages over: shorter loads do not feel the cap
};

struct DeviceRates {
  UnitCosts per_cycle;        ///< of an SM: flop, ex2, fp32 values, bytes of shared memory, bytes from L2
  double mma_sync_share = 1;  ///< of per_cycle.tensor that mma.sync reaches
  int sm_count = 1;
  double boost_hz = 0;
  double dram_peak_bytes_per_second = 0;  ///< by datasheet
  double dram_bytes_per_second = 0;       ///< that kernels reach
  double l2_bytes_per_second = 0;         ///< that kernels reach, of all SMs together
  ClockLimits clock;
  std::string_view measured_on;  ///< the GPU that shares of peaks were measured on
  bool inherited = false;        ///< from another GPU than this one
  bool dram_measured = false;    ///< that rate was measured on this device
  bool l2_measured = false;      ///< the L2's rate was measured on this device
  LinkRate link{};               ///< to another such GPU of the machine
  bool link_measured = false;    ///< on this machine
};

/// What a GPU sends to others of its machine by datasheet, bytes a second one way: over NVLink where its kind has it in
/// servers of several, else over PCI Express.
[[nodiscard]] double link_peak_bytes_per_second(const DeviceLimits&);

/// What is relative was measured on one GPU (MeasuredShares in the source), what holds the clock on two of another
/// kind. Every other GPU inherits it; peaks, clocks and counts of units are its own, by datasheet.
[[nodiscard]] DeviceRates device_rates(const DeviceLimits&);
/// The same, with the rates that were measured on this very device: DRAM's is half way between reading and copying,
/// L2's that of reads. Peaks by cycle stay the architecture's, as the kernels' constants are multiples of them; so does
/// whatever `measured` lacks.
[[nodiscard]] DeviceRates device_rates(const DeviceLimits&, std::span<const Ceiling> measured);

}  // namespace attnscope
