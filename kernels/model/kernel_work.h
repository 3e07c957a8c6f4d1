// SPDX-License-Identifier: Apache-2.0
// Work of a launch for the units of its SMs, in closed form, and constants of its kernel: input of the time model.
#pragma once

#include "kernels/model/block_order.h"

#include <array>
#include <cstdint>
#include <string_view>

namespace attnscope {

enum class MatrixInstruction : std::uint8_t {
  mma_sync,  ///< per warp; below peak on GPUs with wgmma
  wgmma,     ///< per warpgroup, from shared memory: compute capability 9.0
};
inline constexpr std::array matrix_instructions{MatrixInstruction::mma_sync, MatrixInstruction::wgmma};
/// Returns the PTX name: "mma.sync", "wgmma".
[[nodiscard]] constexpr std::string_view to_string(MatrixInstruction instruction) {
  return instruction == MatrixInstruction::wgmma ? "wgmma" : "mma.sync";
}

/// Work of all blocks of a launch as issued: tiles at ragged or masked edges count whole. Bytes between SM and L2 are
/// in KernelModel::traffic.
struct KernelWork {
  double steps = 0;                  ///< TileProgram::steps summed over all blocks; each step waits for memory
  BlockOrder order{};                ///< order of the blocks, if they differ
  double concurrent_steps = 1;       ///< steps of one block that different warps process concurrently
  double rounds = 0;                 ///< dependent chunks of the steps: product, softmax, product
  double mask_reads = 0;             ///< squares of the block mask read sequentially to find the next tile
  double tensor_flops = 0;           ///< executed by matrix instructions, whole tiles counted
  double relative_throughput = 1;    ///< throughput relative to 16-bit operands
  double exponentials = 0;           ///< ex2
  double fp32_values = 0;            ///< accumulator values that are rescaled, converted or added
  double shared_bytes = 0;           ///< operands that warps read from shared memory
  double register_bytes = 0;         ///< loads into registers that pass through L1
  double concurrent_load_bytes = 0;  ///< part of register_bytes that a block loads concurrently if L1 has room
  double distinct_bytes = 0;         ///< global memory, each byte once: DRAM traffic with an infinite L2
  double reread_bytes = 0;           ///< data that concurrent blocks reread cyclically; 0: reuse is local

  bool operator==(const KernelWork&) const = default;
};

struct UnitCosts {
  double tensor = 0;
  double exponential = 0;
  double fp32 = 0;
  double shared = 0;
  double l2 = 0;

  bool operator==(const UnitCosts&) const = default;
};

/// Instructions that a kernel issues for its work, counted on a GPU (tests/gpu/fit_use.py). Does not affect predicted
/// times.
struct UnitIssueCosts {
  MatrixInstruction instruction = MatrixInstruction::mma_sync;  ///< for tensor_flops
  double exponentials = 1;  ///< XU instructions per ex2, including reciprocals and conversions
  /// Shared memory wavefronts: per 128 bytes of operands that warps read (shared), per 128 bytes between SM and L2
  /// (l2), and per 32 exponentials and 32 fp32 values, whose rows warps exchange. Includes bank conflicts.
  UnitCosts wavefronts{};

  bool operator==(const UnitIssueCosts&) const = default;
};

/// Timing constants of a kernel, fitted to times measured on an H200 (tests/gpu/fit_times.py) and defined next to it.
/// Costs are relative to the SM cycles of an H200 at the unit's peak rate (tensor cores: that of the kernel's matrix
/// instruction). Latencies are in SM cycles. On another GPU, `busy` scales with that GPU's peak rates. Latencies,
/// `alone`, `skew` and the part of busy.tensor above 1 come from instruction issue and dependences and take as many SM
/// cycles as on an H200.
struct KernelTiming {
  double block_latency = 0;      ///< per block: before its first and after its last unit of work
  double step_latency = 0;       ///< per step: wait for its loads while other blocks of the SM work
  double round_latency = 0;      ///< per round: dependent instructions that no other warp of the block hides
  double mask_read_latency = 0;  ///< per square of the block mask that is read
  double refill_latency = 0;     ///< per refill of L1 from DRAM, beyond those with sufficient L1 capacity
  UnitCosts alone{};             ///< cost of work of one warp per scheduler that no other warp hides
  UnitCosts busy{};              ///< cost of work while warps compete for the unit; tensor: at least 1 if used
  double skew = 0;               ///< barrier waits of a block alone, relative to its work
  double overlap = 1;            ///< exponent of the norm of latency and work: 1 adds them, large values overlap them
  double launch_ns = 0;          ///< launch to first load, plus last store to end
  UnitIssueCosts use{};

  bool operator==(const KernelTiming&) const = default;
};

}  // namespace attnscope
