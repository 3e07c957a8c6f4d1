// SPDX-License-Identifier: Apache-2.0
#include "kernels/model/device_rates.h"

#include <algorithm>
#include <cmath>

namespace attnscope {
namespace {

/// What was measured of a GPU, relative to its own peaks.
struct MeasuredShares {
  std::string_view gpu;
  double dram = 1;                ///< of the datasheet's rate, for streams that read and write
  double l2_bytes_per_cycle = 0;  ///< that all SMs get from L2 at once, by SM and cycle
  PowerShares power;
};

/// The NVIDIA H200's: `attnscope ceilings` finds 4.5 TB/s of reads and 4.0 of copies, and 7.7 to 8.7 TB/s of L2 reads.
/// Its power by hand, from recorded launches that last long enough to feel the cap of 700 W: fa2 at 350 TFLOP/s
/// holds 1.85 to 1.9 GHz, fa3 at 480 TFLOP/s 1.73 GHz and at 590 TFLOP/s 1.55 to 1.65 GHz, fa1 at 230 TFLOP/s and 1.9
/// TB/s of DRAM 1.8 GHz; launches of 3.5 ms and less feel nothing of it, those of 5 ms do.
constexpr MeasuredShares h200{
    .gpu = "NVIDIA H200",
    .dram = 0.9,
    .l2_bytes_per_cycle = 32,
    .power = {.idle = 0.2, .tensor = 2.7, .dram = 0.6, .exponent = 3, .lag_ns = 25e6},
};

/// CUDA C++ Programming Guide, table "Throughput of Native Arithmetic Instructions": results of one SM in one cycle.
constexpr double exponentials_per_cycle = 16;
double fp32_per_cycle(const DeviceLimits& limits) {
  return limits.compute_major == 8 && limits.compute_minor == 0 ? 64 : 128;
}
/// 32 banks of 4 bytes.
constexpr double shared_bytes_per_cycle = 128;
/// The port of one SM.
constexpr double l2_port_bytes_per_cycle = 64;

double stated_or(double stated, double usual) {
  return stated > 0 ? stated : usual;
}

/// A file does not keep the clock. Clocks of SMs that compute lie near it, whatever the GPU.
constexpr double usual_hz = 1.7e9;
double stated_boost_hz(const DeviceLimits& limits) {
  if (limits.boost_hz > 0) return limits.boost_hz;
  const DeviceLimits* known = find_gpu(limits.name);
  return known != nullptr ? known->boost_hz : 0;
}

/// An SM does a power of two of them in a cycle; datasheets state the peak at a clock of their own, near the boost.
double tensor_flops_per_cycle(const DeviceLimits& limits, double hz) {
  if (limits.stated.tensor_flops > 0) return limits.stated.tensor_flops;
  const double about = limits.tensor_flops / (hz * std::max(1, limits.sm_count));
  return about > 0 ? std::exp2(std::round(std::log2(about))) : 1;
}

}  // namespace

DeviceRates device_rates(const DeviceLimits& limits) {
  const double stated = stated_boost_hz(limits);
  const double boost = stated > 0 ? stated : usual_hz;
  const int sms = std::max(1, limits.sm_count);
  return {.per_cycle = {.tensor = tensor_flops_per_cycle(limits, boost),
                        .exponential = stated_or(limits.stated.exponentials, exponentials_per_cycle),
                        .fp32 = fp32_per_cycle(limits),
                        .shared = shared_bytes_per_cycle,
                        .l2 = l2_port_bytes_per_cycle},
          .sm_count = sms,
          .boost_hz = boost,
          .dram_bytes_per_second = h200.dram * limits.dram_bytes_per_second,
          .l2_bytes_per_second = stated_or(limits.stated.l2_bytes, h200.l2_bytes_per_cycle) * sms * boost,
          .power = h200.power,
          .measured_on = h200.gpu,
          .inherited = limits.name != h200.gpu};
}

DeviceRates device_rates(const DeviceLimits& limits, std::span<const Ceiling> measured) {
  DeviceRates rates = device_rates(limits);
  const auto find = [&](std::string_view name) {
    const auto found = std::ranges::find_if(measured, [&](const Ceiling& ceiling) {
      return ceiling.name == name && ceiling.source == CeilingSource::measured && ceiling.value > 0;
    });
    return found == measured.end() ? 0 : found->value;
  };
  const double read = find(ceiling_key::dram_read);
  const double copy = find(ceiling_key::dram_copy);
  if (read > 0 && copy > 0) {
    rates.dram_bytes_per_second = (read + copy) / 2;
    rates.dram_measured = true;
  }
  if (const double l2 = find(ceiling_key::l2_read); l2 > 0) {
    rates.l2_bytes_per_second = l2;
    rates.l2_measured = true;
  }
  return rates;
}

}  // namespace attnscope
