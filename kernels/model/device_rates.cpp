// SPDX-License-Identifier: Apache-2.0
#include "kernels/model/device_rates.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace attnscope {
namespace {

/// Measured rates of a GPU relative to its peaks.
struct MeasuredShares {
  std::string_view gpu;
  double dram = 1;                ///< share of the datasheet rate, for read and write streams
  double l2_bytes_per_cycle = 0;  ///< per SM and cycle, while all SMs read from L2
};
/// NVIDIA H200: `attnscope ceilings` measures 4.5 TB/s for DRAM reads, 4.0 TB/s for copies, 7.7 to 8.7 TB/s for L2
/// reads.
constexpr MeasuredShares h200{.gpu = "NVIDIA H200", .dram = 0.9, .l2_bytes_per_cycle = 32};

/// Two NVIDIA H100 with a 700 W limit, fitted to SM clocks (cycles over time) and times of 1559 points. Error on 449
/// other points: median 1.4%, 95th percentile 8.0%.
constexpr ClockLimits h100_clock{.load = 0.069,
                                 .load_ns = 8e4,
                                 .tensor_slope = 0.36,
                                 .tensor_threshold = 0.46,
                                 .idle = 0.13,
                                 .tensor = 2.45,
                                 .dram = 0.58,
                                 .exponent = 1.75,
                                 .averaging_ns = 17e6};

/// Two H100 SXM in one machine, copies in both directions at once: 378 GB/s of 478 GB/s per direction, and the fixed
/// latency of small copies.
constexpr double h100_link_share = 0.79;
constexpr double h100_link_latency_ns = 20e3;

/// CUDA C++ Programming Guide, table "Throughput of Native Arithmetic Instructions": results per SM and cycle.
constexpr double exponentials_per_cycle = 16;
double fp32_per_cycle(const DeviceLimits& limits) {
  return limits.compute_major == 8 && limits.compute_minor == 0 ? 64 : 128;
}
/// 32 banks of 4 bytes.
constexpr double shared_bytes_per_cycle = 128;
/// On Hopper, mma.sync keeps the tensor cores busy 1.50 times as long as wgmma: counted on an H100 for all kernels
/// here. Not counted on other GPUs.
double mma_sync_share(const DeviceLimits& limits) {
  return limits.compute_major == 9 ? 2.0 / 3 : 1;
}
constexpr double l2_port_bytes_per_cycle = 64;

/// SM clock under attention of GPUs other than Hopper, fitted to the fitted half of assets/samples/published.csv. For
/// the RTX 3090, two published rates of one kernel, one at a locked clock, also give 1.79 GHz, without a model.
struct AttentionClock {
  std::string_view gpu;
  double hz;
};
constexpr std::array attention_clocks{AttentionClock{"NVIDIA A100 80GB", 1.35e9},
                                      AttentionClock{"NVIDIA A100 40GB", 1.35e9},
                                      AttentionClock{"NVIDIA GeForce RTX 3090", 1.79e9},
                                      AttentionClock{"NVIDIA GeForce RTX 4090", 2.66e9},
                                      AttentionClock{"NVIDIA L40S", 2.1e9},
                                      AttentionClock{"NVIDIA GeForce RTX 5090", 2.75e9}};

ClockLimits clock_limits(const DeviceLimits& limits, double boost) {
  if (limits.compute_major == 9) return h100_clock;
  const auto* known = std::ranges::find_if(attention_clocks,
                                           [&](const AttentionClock& each) { return same_gpu(each.gpu, limits.name); });
  return {.fixed_hz = known == attention_clocks.end() ? boost : known->hz};
}

/// See DeviceRates::validated_on; checked by published_rates_test.cpp.
std::string_view validated_on(const DeviceLimits& limits) {
  static const std::array validated{find_gpu("NVIDIA H200"),
                                    find_gpu("NVIDIA H100 SXM"),
                                    find_gpu("NVIDIA A100 80GB"),
                                    find_gpu("NVIDIA A30"),
                                    find_gpu("NVIDIA GeForce RTX 3090"),
                                    find_gpu("NVIDIA RTX A6000"),
                                    find_gpu("NVIDIA RTX A5000"),
                                    find_gpu("NVIDIA GeForce RTX 4090"),
                                    find_gpu("NVIDIA L20"),
                                    find_gpu("NVIDIA GeForce RTX 5090")};
  // Power-limited: rates of one source differ by 17% between N 2048 and 4096.
  static const DeviceLimits* const too_far = find_gpu("NVIDIA L40S");
  const DeviceLimits* known = find_gpu(limits.name);
  if (known == too_far) return {};
  if (std::ranges::find(validated, known) != validated.end()) return known->name;
  const auto* alike = std::ranges::find_if(validated, [&](const DeviceLimits* each) {
    return each->compute_major == limits.compute_major && each->compute_minor == limits.compute_minor;
  });
  return alike == validated.end() ? std::string_view() : (*alike)->name;
}

double override_or(double stated, double usual) {
  return stated > 0 ? stated : usual;
}

double find_boost_hz(const DeviceLimits& limits) {
  if (limits.boost_hz > 0) return limits.boost_hz;
  const DeviceLimits* known = find_gpu(limits.name);
  return known != nullptr ? known->boost_hz : 0;
}

/// A power of two per SM and cycle; the clock behind the datasheet's peak is near the boost clock. Without a known
/// clock, the peak was computed with the architecture's value (device_limits() of the local GPU).
double tensor_flops_per_cycle(const DeviceLimits& limits) {
  if (limits.custom_rates.tensor_flops > 0) return limits.custom_rates.tensor_flops;
  const double hz = find_boost_hz(limits);
  if (hz <= 0) return tensor_flops_per_sm_clock(limits.compute_major, limits.compute_minor);
  const double about = limits.tensor_flops / (hz * std::max(1, limits.sm_count));
  return about > 0 ? std::exp2(std::round(std::log2(about))) : 1;
}

/// Files store the peak but no clock; for GPUs outside the table, the peak was computed from the driver's clock. If
/// both are unknown: SM clocks under load are near 1.7 GHz on any GPU.
double boost_hz(const DeviceLimits& limits) {
  constexpr double default_hz = 1.7e9;
  const double hz_from_peak = limits.tensor_flops / (tensor_flops_per_cycle(limits) * std::max(1, limits.sm_count));
  return override_or(find_boost_hz(limits), override_or(hz_from_peak, default_hz));
}

UnitCosts unit_peaks(const DeviceLimits& limits) {
  return {.tensor = tensor_flops_per_cycle(limits),
          .exponential = override_or(limits.custom_rates.exponentials, exponentials_per_cycle),
          .fp32 = fp32_per_cycle(limits),
          .shared = shared_bytes_per_cycle,
          .l2 = l2_port_bytes_per_cycle};
}

}  // namespace

double link_peak_bytes_per_second(const DeviceLimits& limits) {
  switch (limits.compute_major * 10 + limits.compute_minor) {
    case 80:
      return 12 * 25e9;
    case 90:
      return limits.name.find("PCIe") == std::string::npos ? 18 * 26.5625e9 : 63e9;
    case 100:
    case 103:
      return 18 * 50e9;
    case 120:
      return 63e9;  // PCI Express 5.0, 16 lanes
    default:
      return 31.5e9;  // PCI Express 4.0
  }
}

UnitCosts DeviceRates::peaks(MatrixInstruction instruction) const {
  UnitCosts all = per_cycle;
  if (instruction == MatrixInstruction::mma_sync) all.tensor *= mma_sync_share;
  return all;
}

UnitCosts DeviceRates::fitted_peaks(MatrixInstruction instruction) const {
  UnitCosts all = fitted_per_cycle;
  if (instruction == MatrixInstruction::mma_sync) all.tensor *= fitted_mma_sync_share;
  return all;
}

DeviceRates device_rates(const DeviceLimits& limits) {
  const double boost = boost_hz(limits);
  const int sms = std::max(1, limits.sm_count);
  const DeviceLimits& fitted = *find_gpu(h200.gpu);
  return {.per_cycle = unit_peaks(limits),
          .mma_sync_share = mma_sync_share(limits),
          .fitted_per_cycle = unit_peaks(fitted),
          .fitted_mma_sync_share = mma_sync_share(fitted),
          .sm_count = sms,
          .boost_hz = boost,
          .dram_peak_bytes_per_second = limits.dram_bytes_per_second,
          .dram_bytes_per_second = h200.dram * limits.dram_bytes_per_second,
          .l2_bytes_per_second = override_or(limits.custom_rates.l2_bytes, h200.l2_bytes_per_cycle) * sms * boost,
          .clock = clock_limits(limits, boost),
          .measured_on = h200.gpu,
          .inherited = limits.name != h200.gpu,
          .validated_on = validated_on(limits),
          .link = {.bytes_per_second = h100_link_share * link_peak_bytes_per_second(limits),
                   .latency_ns = h100_link_latency_ns}};
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
  const double link = find(ceiling_key::peer_copy_both_ways);
  const double latency = find(ceiling_key::peer_copy_latency);
  if (link > 0 && latency > 0) {
    rates.link = {.bytes_per_second = link, .latency_ns = latency};
    rates.link_measured = true;
  }
  return rates;
}

}  // namespace attnscope
