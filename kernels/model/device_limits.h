// SPDX-License-Identifier: Apache-2.0
// The limits of a GPU that decide what fits and how fast it could go.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace attnscope {

/// What an SM does in a cycle, as somebody states it of a GPU of their own; 0: what its architecture does, or other
/// GPUs reach (device_rates()).
struct StatedRates {
  double tensor_flops = 0;
  double exponentials = 0;
  double l2_bytes = 0;  ///< that each SM gets from L2 while all do
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
  std::int64_t shared_bytes_reserved = 1024;  ///< taken by the system for each resident block
  std::int64_t l2_bytes = 0;
  std::int64_t dram_bytes = 0;
  double dram_bytes_per_second = 0;  ///< datasheet peak
  double l2_bytes_per_second = 0;    ///< estimate, for the simulator's roofline only
  double tensor_flops = 0;           ///< dense fp16/bf16 with fp32 accumulation, datasheet peak, FLOP/s
  double boost_hz = 0;               ///< SM clock by datasheet, or by the driver; 0: unknown (files keep stated ones)
  StatedRates stated{};              ///< of a GPU of somebody's own; else 0

  /// The paper's M: elements (not bytes) that one block can hold on chip.
  [[nodiscard]] std::int64_t sram_elements(int element_bytes) const { return shared_bytes_per_block / element_bytes; }
};

/// Dense fp16 operations with fp32 accumulation of one SM in one clock (NVIDIA's architecture white papers).
[[nodiscard]] double tensor_flops_per_sm_clock(int compute_major, int compute_minor);

/// GPUs that the simulator can stand for, H200 first. Sources: NVIDIA's datasheets and the CUDA programming guide's
/// table of compute capabilities.
[[nodiscard]] std::span<const DeviceLimits> known_gpus();
/// By its name's leading words, the first that matches: case-insensitive, any separators, with or without vendor and
/// brand ("h200", "rtx-4090", "a100" for the first A100); nullptr when unknown.
[[nodiscard]] const DeviceLimits* find_gpu(std::string_view name);
/// Whether both names are of one GPU of the table, as its product or its driver is called, or are the same.
[[nodiscard]] bool same_gpu(std::string_view a, std::string_view b);

/// What one thread block takes of its SM, and how many of them there are.
struct LaunchFootprint {
  std::int64_t blocks = 1;
  int threads_per_block = 32;
  int registers_per_thread = 0;   ///< 0: unknown, taken as no limit
  std::int64_t shared_bytes = 0;  ///< static and dynamic together
};

struct Occupancy {
  int blocks_per_sm = 0;     ///< 0: not even one block fits
  double warps_pct = 0;      ///< resident warps, percent of what the SM can hold; the grid's size plays no part
  std::string_view limiter;  ///< "registers", "shared memory", "threads", "blocks"; "grid" when there are too few
                             ///< blocks to fill every SM that far
};

/// The most registers a thread may have so that one block of so many threads fits on an SM, as far as registers decide;
/// an instruction addresses 255.
[[nodiscard]] int most_registers_per_thread(const DeviceLimits&, int threads_per_block);

/// Bytes of its SM's shared memory that a block takes, with what the system adds to it.
[[nodiscard]] std::int64_t shared_bytes_taken(const DeviceLimits&, const LaunchFootprint&);
/// Bytes of its SM's registers that a block takes; 0 where they are unknown.
[[nodiscard]] std::int64_t register_bytes_taken(const LaunchFootprint&);

/// Registers are handed out in units of 256 a warp, by four partitions with a quarter of them each, shared memory in
/// units of 128 bytes (CUDA programming guide, compute capabilities 8.0 to 12.x). As the driver's own occupancy for
/// every launch of the recorded sample.
[[nodiscard]] Occupancy theoretical_occupancy(const DeviceLimits&, const LaunchFootprint&);

}  // namespace attnscope
