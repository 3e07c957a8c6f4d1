// SPDX-License-Identifier: Apache-2.0
// Rates, latencies and capacities of a device that bound every kernel. Measured by microbenchmarks
// (profiler/measure/gpu/ceilings/ceiling_bench.h); datasheet values if the device was never measured.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/messages/message.h"
#include "kernels/model/device_limits.h"

namespace attnscope {

enum class CeilingSource { measured, derived, datasheet };
/// Returns "measured", "derived" or "datasheet", as used in files and exports.
[[nodiscard]] std::string_view to_string(CeilingSource);
[[nodiscard]] Message title(CeilingSource);

struct Ceiling {
  std::string name;     ///< a key of ceiling_kinds()
  double argument = 0;  ///< for a curve: working set in bytes
  double value = 0;
  std::optional<double> q1 = {};  ///< quartiles over rounds; empty if not measured in rounds
  std::optional<double> q3 = {};
  std::string unit;
  CeilingSource source = CeilingSource::measured;

  bool operator==(const Ceiling&) const = default;
};

/// Row of the table of ceilings. A new ceiling needs a row and a microbenchmark.
struct CeilingKind {
  std::string_view key;
  std::string_view unit;  ///< "byte/s", "flop/s", "op/s", "ns", "byte", "hertz", "percent", "1"
  MessageFunction label = nullptr;
  /// Datasheet value, 0 if unknown; nullptr if no datasheet has it.
  double (*datasheet)(const DeviceLimits&) = nullptr;
  bool curve = false;  ///< measured over a range of arguments
};

[[nodiscard]] std::span<const CeilingKind> ceiling_kinds();
[[nodiscard]] const CeilingKind* find_ceiling(std::string_view key);

/// Suffix of the SM clock under a load: the load's key with this suffix.
inline constexpr std::string_view ceiling_clock_suffix = "_clock";

[[nodiscard]] std::vector<Ceiling> datasheet_ceilings(const DeviceLimits&);

struct CeilingRow {
  const CeilingKind* kind = nullptr;
  Ceiling ceiling;
  std::optional<double> clock_hz;
};
/// Rows in the order of ceiling_kinds(), curves last and sorted by size. Excludes clocks and unknown keys.
[[nodiscard]] std::vector<CeilingRow> ceiling_rows(std::span<const Ceiling>);
/// Half the interquartile range divided by the value; empty without quartiles.
[[nodiscard]] std::optional<double> relative_spread(const Ceiling&);

/// Working set in bytes at which the miss ratio passes 0.5, interpolated; empty if it never does. `curve`: miss ratios
/// (0 to 1) by argument, in any order.
[[nodiscard]] std::optional<double> half_miss_size(std::span<const Ceiling> curve);

namespace ceiling_key {
inline constexpr std::string_view dram_read = "dram_read";
inline constexpr std::string_view dram_write = "dram_write";
inline constexpr std::string_view dram_copy = "dram_copy";
inline constexpr std::string_view dram_copy_driver = "dram_copy_driver";
inline constexpr std::string_view peer_copy = "peer_copy";
inline constexpr std::string_view peer_copy_both_ways = "peer_copy_both_ways";
inline constexpr std::string_view peer_copy_latency = "peer_copy_latency";
inline constexpr std::string_view l2_read = "l2_read";
inline constexpr std::string_view l2_shared_read = "l2_shared_read";
inline constexpr std::string_view l2_shared_miss = "l2_shared_miss";
inline constexpr std::string_view l2_shared_capacity = "l2_shared_capacity";
inline constexpr std::string_view l2_private_read = "l2_private_read";
inline constexpr std::string_view l2_private_miss = "l2_private_miss";
inline constexpr std::string_view l2_private_capacity = "l2_private_capacity";
inline constexpr std::string_view shared_memory_read = "shared_memory_read";
inline constexpr std::string_view mma_fp16 = "mma_fp16";
inline constexpr std::string_view mma_bf16 = "mma_bf16";
inline constexpr std::string_view wgmma_fp16 = "wgmma_fp16";
inline constexpr std::string_view wgmma_bf16 = "wgmma_bf16";
inline constexpr std::string_view wgmma_fp8 = "wgmma_fp8";
inline constexpr std::string_view fma_fp32 = "fma_fp32";
inline constexpr std::string_view exp2_fp32 = "exp2_fp32";
inline constexpr std::string_view launch_overhead = "launch_overhead";
inline constexpr std::string_view latency_shared_memory = "latency_shared_memory";
inline constexpr std::string_view latency_l1 = "latency_l1";
inline constexpr std::string_view latency_l2 = "latency_l2";
inline constexpr std::string_view latency_dram = "latency_dram";
inline constexpr std::string_view others_use = "other_processes_pct";
inline constexpr std::string_view throttle_reasons = "throttle_reasons";
}  // namespace ceiling_key

}  // namespace attnscope
