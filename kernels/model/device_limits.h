// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace attnscope {

/// Rates per SM and cycle that the file of a hypothetical GPU states; 0: the rate of the architecture or of similar
/// GPUs (device_rates()).
struct CustomRates {
  double tensor_flops = 0;
  double exponentials = 0;
  double l2_bytes = 0;  ///< per SM while all SMs read
};

struct DeviceLimits {
  std::string name;  ///< "NVIDIA H200"
  int compute_major = 0;
  int compute_minor = 0;
  int sm_count = 0;
  int max_threads_per_block = 1024;
  int max_threads_per_sm = 2048;
  int max_blocks_per_sm = 32;
  std::int64_t registers_per_sm = 65536;    ///< 32-bit
  std::int64_t shared_bytes_per_block = 0;  ///< dynamic shared memory a block can opt in to
  std::int64_t shared_bytes_per_sm = 0;
  std::int64_t shared_bytes_reserved = 1024;  ///< reserved by the system per resident block
  std::int64_t l2_bytes = 0;
  std::int64_t dram_bytes = 0;
  double dram_bytes_per_second = 0;  ///< datasheet peak
  double l2_bytes_per_second = 0;    ///< estimate, used only by the simulator's roofline
  double tensor_flops = 0;           ///< dense fp16/bf16 with fp32 accumulation, datasheet peak, FLOP/s
  double boost_hz = 0;               ///< SM clock from the datasheet or the driver; 0: unknown
  CustomRates custom_rates{};        ///< only for hypothetical GPUs, else 0

  /// M of the FlashAttention paper: elements (not bytes) that fit on chip per block.
  [[nodiscard]] std::int64_t sram_elements(int element_bytes) const { return shared_bytes_per_block / element_bytes; }
};

/// Dense fp16 FLOPs with fp32 accumulation per SM and clock (NVIDIA's architecture white papers).
[[nodiscard]] double tensor_flops_per_sm_clock(int compute_major, int compute_minor);

/// GPUs that can be simulated, H200 first. Sources: NVIDIA's datasheets and the table of compute capabilities in the
/// CUDA Programming Guide.
[[nodiscard]] std::span<const DeviceLimits> known_gpus();
/// Finds the first GPU whose name begins with these words. Case-insensitive, any separators, vendor and brand optional
/// ("h200", "rtx-4090", "a100" for the first A100). Returns nullptr if unknown.
[[nodiscard]] const DeviceLimits* find_gpu(std::string_view name);
/// Returns true if both names denote one GPU of the table, by product or driver name, or are equal.
[[nodiscard]] bool same_gpu(std::string_view a, std::string_view b);

struct LaunchFootprint {
  std::int64_t blocks = 1;
  int threads_per_block = 32;
  int registers_per_thread = 0;   ///< 0: unknown, not treated as a limit
  std::int64_t shared_bytes = 0;  ///< static plus dynamic
};

struct Occupancy {
  int blocks_per_sm = 0;  ///< 0: no block fits
  double warps_pct = 0;   ///< resident warps in percent of the SM's maximum, for any grid size
  /// "registers", "shared memory", "threads", "blocks"; "grid" if there are too few blocks to fill every SM
  std::string_view limiter;
};

/// Maximum registers per thread with which one block fits in the register file of an SM; at most 255.
[[nodiscard]] int max_registers_per_thread(const DeviceLimits&, int threads_per_block);

/// Shared memory that a block occupies, including the system's part.
[[nodiscard]] std::int64_t allocated_shared_bytes(const DeviceLimits&, const LaunchFootprint&);
/// Register bytes that a block occupies; 0 if unknown.
[[nodiscard]] std::int64_t allocated_register_bytes(const LaunchFootprint&);

/// Registers are allocated in units of 256 per warp from four partitions of equal size, shared memory in units of 128
/// bytes (CUDA Programming Guide, compute capabilities 8.0 to 12.x). Matches the driver's occupancy for every launch of
/// the recorded sample.
[[nodiscard]] Occupancy theoretical_occupancy(const DeviceLimits&, const LaunchFootprint&);

}  // namespace attnscope
