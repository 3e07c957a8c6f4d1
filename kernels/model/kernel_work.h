// SPDX-License-Identifier: Apache-2.0
// What a launch asks of the units of its SMs, closed, and how its kernel goes about it: what a time is predicted from.
#pragma once

#include "kernels/model/block_order.h"

#include <array>
#include <cstdint>
#include <string_view>

namespace attnscope {

enum class MatrixInstruction : std::uint8_t {
  mma_sync,  ///< of a warp; below the peak on GPUs that have a wider one
  wgmma,     ///< of four warps, from shared memory: compute capability 9.0
};
inline constexpr std::array matrix_instructions{MatrixInstruction::mma_sync, MatrixInstruction::wgmma};
/// PTX's name: "mma.sync", "wgmma".
[[nodiscard]] constexpr std::string_view to_string(MatrixInstruction instruction) {
  return instruction == MatrixInstruction::wgmma ? "wgmma" : "mma.sync";
}

/// Work of all blocks of a launch together, as the kernel issues it: tiles at ragged or masked edges count whole. The
/// bytes between SM and L2 are KernelModel::traffic.
struct KernelWork {
  double steps = 0;             ///< between two waits for memory: TileProgram::steps, summed over the blocks
  BlockOrder order{};           ///< in which the blocks come, where they differ in them
  double steps_at_once = 1;     ///< of one block, that different warps work on at the same time
  double rounds = 0;            ///< pieces of steps that each wait for the one before: product, softmax, product
  double squares_read = 0;      ///< of the block mask, one after the other, until it is known which tile comes next
  double tensor_flops = 0;      ///< of the matrix instructions
  double products_at_once = 1;  ///< products of these operands in the time of one of 16 bits
  double exponentials = 0;      ///< ex2
  double fp32_values = 0;       ///< of accumulators that are rescaled, converted or added up
  double shared_bytes = 0;      ///< that warps read from shared memory as operands
  double register_bytes = 0;    ///< that are loaded into registers and have a place in the L1 on their way
  double loaded_at_once = 0;    ///< bytes of these that a block loads at a time, where the L1 has room for them
  double distinct_bytes = 0;    ///< of global memory, each read or written byte once: what DRAM sees with an endless L2
  double cycled_bytes = 0;      ///< that the blocks at work pass through again and again; 0: what is reread is near by

  bool operator==(const KernelWork&) const = default;
};

/// One number for each kind of unit of an SM.
struct UnitCosts {
  double tensor = 0;
  double exponential = 0;
  double fp32 = 0;
  double shared = 0;
  double l2 = 0;

  bool operator==(const UnitCosts&) const = default;
};

/// What a kernel issues of its SM's units for its work: counted on a GPU (tests/gpu/fit_use.py), no part of a time.
struct KernelUse {
  MatrixInstruction instruction = MatrixInstruction::mma_sync;  ///< of tensor_flops
  double exponentials = 1;  ///< XU instructions for each ex2; reciprocals and conversions are XU instructions, too
  /// Wavefronts of shared memory: for each 128 bytes that warps read as operands (shared) and that pass between SM and
  /// L2 (l2), and for each 32 exponentials and 32 fp32 values, whose rows warps exchange. Bank conflicts are in them.
  UnitCosts wavefronts{};

  bool operator==(const KernelUse&) const = default;
};

/// How a kernel uses an SM: constants of its design, fitted to measured times (tests/gpu/fit_times.py) and stated
/// beside it. Costs are in cycles for each cycle that the unit's peak rate would take (DeviceRates): 1 is the peak.
/// Latencies are SM cycles.
struct KernelTiming {
  double block_latency = 0;   ///< of a block: until its first work can begin, and after its last
  double step_latency = 0;    ///< of a step: what waiting for its loads takes, while other blocks of the SM work
  double round_latency = 0;   ///< of a round: dependent instructions that no other warp of the block covers
  double square_latency = 0;  ///< of a square of the block mask that is read
  double refill_latency = 0;  ///< of a fill of the L1 from DRAM, beyond those that loads need if it has room for all
  UnitCosts alone{};          ///< of work by one warp a scheduler that no other warp hides
  UnitCosts busy{};           ///< of work while warps compete for the unit
  double skew = 0;            ///< of a block by itself: warps wait for one another at barriers, over its work
  double overlap = 1;         ///< exponent of the norm that joins latency and work: 1 they add up, large they hide
  double launch_ns = 0;       ///< from the launch to the first block's first load, and from the last store to the end
  KernelUse use{};

  bool operator==(const KernelTiming&) const = default;
};

}  // namespace attnscope
