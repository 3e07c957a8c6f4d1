// SPDX-License-Identifier: Apache-2.0
// Geometry of the FA1 and FA2 backward kernels, for host and device. No includes, so that NVRTC can compile it.
#pragma once

namespace attnscope::gradient {

/// Rows are swizzled in 16-byte chunks in shared memory; one MMA step covers 16 columns of d.
constexpr bool supported_head_dim(int d) {
  return d >= 16 && d <= 256 && d % 16 == 0;
}

/// Partition of a matrix of 16 x 16 cells over `down` x `across` warps. Each warp has up to rows x columns cells.
struct WarpGrid {
  int down = 0;
  int across = 0;
  int rows = 0;
  int columns = 0;

  constexpr int cells() const { return rows * columns; }
};

/// Returns the most even grid, then the most square: a warp reads rows + columns operand fragments for rows x columns
/// products.
constexpr WarpGrid warp_grid(int rows, int columns, int warps) {
  WarpGrid best;
  for (int down = 1; down <= warps; down *= 2) {
    const int across = warps / down;
    const WarpGrid grid{down, across, (rows / 16 + down - 1) / down, (columns / 16 + across - 1) / across};
    if (best.down == 0 || grid.cells() < best.cells() ||
        (grid.cells() == best.cells() && grid.rows + grid.columns < best.rows + best.columns)) {
      best = grid;
    }
  }
  return best;
}

/// Eight warps, so that each thread may use 255 registers; four where the score tile has too few cells.
constexpr int warps(int br, int bc, int d) {
  return br / 16 * (bc / 16) >= 8 || d > 128 ? 8 : 4;
}
constexpr int threads(int br, int bc, int d) {
  return 32 * warps(br, bc, d);
}
constexpr int register_limit = 255;

/// Registers per thread for a chunk: dK and dV; scores and dP of the chunk, or dQ; and a constant for fragments,
/// addresses and statistics, which is larger if the kernel loops over chunks.
constexpr int registers_for_chunk(int br, int bc, int d, int chunk) {
  const int count = warps(br, bc, d);
  const WarpGrid scores = warp_grid(br, chunk, count);
  const int kept = 2 * 8 * warp_grid(bc, d, count).cells();
  const int score_registers = 2 * 8 * scores.cells() + 4 * scores.rows;
  const int query_registers = 8 * warp_grid(br, d, count).cells();
  return kept + (score_registers > query_registers ? score_registers : query_registers) + 48 + (chunk < bc ? 8 : 0);
}

/// Columns of the score tile processed at once; divides bc. P and dS pass through shared memory, so bc costs registers
/// only for dK and dV.
constexpr int chunk_columns(int br, int bc, int d) {
  int chunk = 16;
  for (int columns = 32; columns <= bc; columns += 16) {
    if (bc % columns == 0 && registers_for_chunk(br, bc, d, columns) <= register_limit) {
      chunk = columns;
    }
  }
  return chunk;
}

/// Estimated registers per thread; a configuration above register_limit is infeasible. If registers are left, the
/// compiler uses 17 to 64 more than the chunk needs (measured on an H200), which reduces two blocks per SM to one.
constexpr int register_estimate(int br, int bc, int d) {
  constexpr int ahead = 32;
  const int least = registers_for_chunk(br, bc, d, chunk_columns(br, bc, d));
  if (least >= register_limit) {
    return least;
  }
  return least + ahead < register_limit ? least + ahead : register_limit;
}

/// Bytes for the K and V tiles, P and dS, and for each stage `operands` Q-shaped tiles (Q, dO; FA1 also O) and two fp32
/// values per row. `element` is the element size in bytes.
constexpr long long shared_bytes_of(int br, int bc, int d, int element, int operands, int stages) {
  const long long pair = 2LL * element;
  const long long stage = static_cast<long long>(element) * operands * br * d + 8LL * br;
  return pair * bc * d + pair * br * bc + stages * stage;
}

/// Two stages (the next Q tile loads during the work on the current one) if they fit in the shared memory of compute
/// capability 8.0, else one.
constexpr int stages(int br, int bc, int d, int element, int operands) {
  return shared_bytes_of(br, bc, d, element, operands, 2) <= 163LL * 1024 ? 2 : 1;
}
constexpr long long shared_bytes(int br, int bc, int d, int element, int operands) {
  return shared_bytes_of(br, bc, d, element, operands, stages(br, bc, d, element, operands));
}

/// Bytes that the warps of a block read from shared memory per score tile: both operands of five products, each warp
/// reading the rows and columns of its cells.
constexpr long long operand_bytes(int br, int bc, int d, int element) {
  const WarpGrid scores = warp_grid(br, bc, warps(br, bc, d));  // S, dP
  const WarpGrid keys = warp_grid(bc, d, warps(br, bc, d));     // dK, dV
  const WarpGrid queries = warp_grid(br, d, warps(br, bc, d));  // dQ
  const long long q = static_cast<long long>(br) * d;
  const long long kv = static_cast<long long>(bc) * d;
  const long long s = static_cast<long long>(br) * bc;
  return element * (2 * (scores.across * q + scores.down * kv) + 2 * (keys.across * s + keys.down * q) +
                    queries.across * s + queries.down * kv);
}

/// Rows per group of dq_acc; see device/gradient.cuh.
constexpr int accumulator_rows = 8;

/// Threads of FA2's dot and convert kernels (8 rows per warp at a time). row_registers() is rounded up from sm_90
/// builds.
constexpr int row_threads = 128;
constexpr int row_registers(int d) {
  return 40 + d / 2;
}

}  // namespace attnscope::gradient
