// SPDX-License-Identifier: Apache-2.0
// Rates of a device's units, for predicting times. Peaks come from datasheets and architecture tables. The share of
// memory peaks that kernels reach was measured on one GPU, clock limits on two of another kind; other GPUs inherit
// both.
#pragma once

#include <span>
#include <string_view>

#include "kernels/model/ceilings.h"
#include "kernels/model/device_limits.h"
#include "kernels/model/kernel_work.h"
#include "kernels/model/schedule.h"

namespace attnscope {

/// Limits of the SM clock: any load lowers it, busy tensor cores lower it further, and power stays within the board's
/// limit. Powers are shares of that limit. SM power at clock f is (f / boost)^exponent times that at boost for the same
/// work in the same time, since voltage falls with the clock.
struct ClockLimits {
  double fixed_hz = 0;      ///< if set, the clock under any load; the other limits do not apply
  double load = 0;          ///< share of the clock lost under any load
  double load_ns = 0;       ///< duration of a launch from which `load` applies
  double tensor_slope = 0;  ///< further share lost per unit of tensor core utilization beyond `tensor_threshold`
  double tensor_threshold = 1;
  double idle = 0;
  double tensor = 0;        ///< power of attention kernels with tensor cores always busy, at boost clock
  double dram = 0;          ///< power of DRAM at its peak rate
  double exponent = 1;      ///< SM power is proportional to clock to this power
  double averaging_ns = 0;  ///< averaging time of the power regulator; shorter loads are not limited
};

struct DeviceRates {
  UnitCosts per_cycle;         ///< per SM: FLOPs, ex2, fp32 values, bytes of shared memory, bytes from L2
  double mma_sync_share = 1;   ///< share of per_cycle.tensor that mma.sync reaches
  UnitCosts fitted_per_cycle;  ///< per_cycle of the GPU on which kernel constants were fitted
  double fitted_mma_sync_share = 1;
  int sm_count = 1;
  double boost_hz = 0;
  double dram_peak_bytes_per_second = 0;
  double dram_bytes_per_second = 0;  ///< achieved by kernels
  double l2_bytes_per_second = 0;    ///< achieved by kernels, all SMs together
  ClockLimits clock;
  std::string_view measured_on;  ///< GPU on which shares of peaks were measured
  bool inherited = false;        ///< shares were measured on another GPU
  /// GPU whose recording or published rates validate predicted times: this one if it has any, else one of its compute
  /// capability. Empty: not validated; no predicted time is shown. See profiler/predict/published_errors.h.
  std::string_view validated_on{};
  bool dram_measured = false;  ///< DRAM rate was measured on this device
  bool l2_measured = false;    ///< L2 rate was measured on this device
  LinkRate link{};             ///< to another GPU of the same machine
  bool link_measured = false;  ///< link was measured on this machine

  /// Peak rates; tensor cores: with this matrix instruction.
  [[nodiscard]] UnitCosts peaks(MatrixInstruction) const;
  /// Same, on the GPU on which kernel constants were fitted.
  [[nodiscard]] UnitCosts fitted_peaks(MatrixInstruction) const;
};

/// Datasheet rate of copies to another GPU of the machine, in bytes per second and direction: NVLink if servers with
/// this GPU have it, else PCI Express.
[[nodiscard]] double link_peak_bytes_per_second(const DeviceLimits&);

/// Rates from datasheet peaks, clocks and unit counts of this GPU. Achievable shares were measured on one GPU
/// (MeasuredShares in device_rates.cpp), clock limits on two of another kind; other GPUs inherit them.
[[nodiscard]] DeviceRates device_rates(const DeviceLimits&);
/// Same as device_rates(), with rates measured on this device: DRAM is the mean of read and copy, L2 is the read rate.
/// Peaks per cycle stay those of the architecture, since kernel constants are multiples of them. Rates missing from
/// `measured` keep their default.
[[nodiscard]] DeviceRates device_rates(const DeviceLimits&, std::span<const Ceiling> measured);

}  // namespace attnscope
