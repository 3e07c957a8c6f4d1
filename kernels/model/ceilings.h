// SPDX-License-Identifier: Apache-2.0
// What a device is capable of: rates, latencies and capacities that bound every kernel. Measured by micro-benchmarks
// (profiler/measure/gpu/ceilings/ceiling_bench.h); the datasheet's stand in where a device was never measured.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/messages/message.h"
#include "kernels/model/device_limits.h"

namespace attnscope {

/// Where a ceiling comes from. `derived`: computed from measured ones.
enum class CeilingSource { measured, derived, datasheet };
/// "measured", "derived", "datasheet": the word in files and exports.
[[nodiscard]] std::string_view to_string(CeilingSource);
[[nodiscard]] Message title(CeilingSource);

struct Ceiling {
  std::string name;               ///< a key of ceiling_kinds()
  double argument = 0;            ///< of a curve: the bytes that are gone through again and again
  double value = 0;               ///< the median over rounds
  std::optional<double> q1 = {};  ///< quartiles over rounds; absent for what was not measured in rounds
  std::optional<double> q3 = {};
  std::string unit;  ///< the kind's
  CeilingSource source = CeilingSource::measured;

  bool operator==(const Ceiling&) const = default;
};

/// One line of the table: adding a ceiling is adding a line, and a load that finds it out.
struct CeilingKind {
  std::string_view key;
  std::string_view unit;  ///< "byte/s", "flop/s", "op/s", "ns", "byte", "hertz", "percent", "1"
  Saying label = nullptr;
  /// What the datasheet says of it, 0 where it says nothing; nullptr: nothing of any device.
  double (*datasheet)(const DeviceLimits&) = nullptr;
  bool curve = false;  ///< has an argument
};

[[nodiscard]] std::span<const CeilingKind> ceiling_kinds();
[[nodiscard]] const CeilingKind* find_ceiling(std::string_view key);

/// The clock that the SMs held under a load: the load's key with this behind it.
inline constexpr std::string_view ceiling_clock_suffix = "_clock";

/// What is known of a device that was not measured.
[[nodiscard]] std::vector<Ceiling> datasheet_ceilings(const DeviceLimits&);

/// A row of a table of ceilings.
struct CeilingLine {
  const CeilingKind* kind = nullptr;
  Ceiling ceiling;
  std::optional<double> clock_hz;  ///< that the SMs held under its load
};
/// In the order of ceiling_kinds(), but curves last, each by size. Without clocks, and what is not in that table.
[[nodiscard]] std::vector<CeilingLine> ceiling_lines(std::span<const Ceiling>);
/// Half the distance of the quartiles, over the value; nothing of what has none.
[[nodiscard]] std::optional<double> relative_spread(const Ceiling&);

/// Where the share of misses passes one half, between the two sizes beside it, in bytes; empty where it does not.
/// `curve`: shares (0 to 1) by argument, in any order.
[[nodiscard]] std::optional<double> half_missed(std::span<const Ceiling> curve);

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
