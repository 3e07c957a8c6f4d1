// SPDX-License-Identifier: Apache-2.0
// Geometry of the backward kernels of FA1 and FA2: one place for the host, which launches them, and for the device
// code. No includes, so that NVRTC can read it too.
#pragma once

namespace attnscope::gradient {

/// The on-chip row is swizzled in 16-byte chunks; one product step covers 16 columns of d.
constexpr bool supported_head_dim(int d) {
  return d >= 16 && d <= 256 && d % 16 == 0;
}

/// A matrix cut into cells of 16 x 16, shared by down x across warps; each has up to rows x columns of them.
struct WarpGrid {
  int down = 0;
  int across = 0;
  int rows = 0;
  int columns = 0;

  constexpr int cells() const { return rows * columns; }
};

/// As even as possible, then as square as possible: a warp reads rows + columns operand fragments for every
/// rows x columns products.
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

/// Eight warps, which leaves each thread all the registers it can address; four where the score tile has too few cells.
constexpr int warps(int br, int bc, int d) {
  return br / 16 * (bc / 16) >= 8 || d > 128 ? 8 : 4;
}
constexpr int threads(int br, int bc, int d) {
  return 32 * warps(br, bc, d);
}
constexpr int register_limit = 255;

/// dK and dV; beside them the scores and dP of one chunk, or dQ; and what fragments, addresses and statistics take:
/// some more where chunks are looped over.
constexpr int registers_for_chunk(int br, int bc, int d, int chunk) {
  const int count = warps(br, bc, d);
  const WarpGrid scores = warp_grid(br, chunk, count);
  const int kept = 2 * 8 * warp_grid(bc, d, count).cells();
  const int of_scores = 2 * 8 * scores.cells() + 4 * scores.rows;
  const int of_queries = 8 * warp_grid(br, d, count).cells();
  return kept + (of_scores > of_queries ? of_scores : of_queries) + 48 + (chunk < bc ? 8 : 0);
}

/// Columns of the score tile that are worked on at a time: a divisor of bc. P and dS go through shared memory, so that
/// bc costs registers by dK and dV alone.
constexpr int chunk_columns(int br, int bc, int d) {
  int chunk = 16;
  for (int columns = 32; columns <= bc; columns += 16) {
    if (bc % columns == 0 && registers_for_chunk(br, bc, d, columns) <= register_limit) {
      chunk = columns;
    }
  }
  return chunk;
}

/// Registers a thread needs, estimated; a configuration above register_limit is refused. Where there is room the
/// compiler takes more than the chunk is chosen by: 17 to 64 more on an H200, which leaves one block an SM where the
/// bare need would leave two.
constexpr int register_estimate(int br, int bc, int d) {
  constexpr int ahead = 32;
  const int least = registers_for_chunk(br, bc, d, chunk_columns(br, bc, d));
  if (least >= register_limit) {
    return least;
  }
  return least + ahead < register_limit ? least + ahead : register_limit;
}

/// K and V tiles, P and dS; `operands` Q-shaped tiles (Q, dO; FA1 also O), all of elements of `element` bytes, and two
/// fp32 values a row, in each stage.
constexpr long long shared_bytes_of(int br, int bc, int d, int element, int operands, int stages) {
  const long long pair = 2LL * element;
  const long long stage = static_cast<long long>(element) * operands * br * d + 8LL * br;
  return pair * bc * d + pair * br * bc + stages * stage;
}

/// Two stages, the next Q tile arriving during the work on this one, where a block of compute capability 8.0 has room
/// for them; else one.
constexpr int stages(int br, int bc, int d, int element, int operands) {
  return shared_bytes_of(br, bc, d, element, operands, 2) <= 163LL * 1024 ? 2 : 1;
}
constexpr long long shared_bytes(int br, int bc, int d, int element, int operands) {
  return shared_bytes_of(br, bc, d, element, operands, stages(br, bc, d, element, operands));
}

/// That the warps of a block read from shared memory for one tile of scores: both operands of five products, each warp
/// the rows and columns that its cells need.
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

/// Rows of dq_acc that lie together, see device/gradient.cuh.
constexpr int accumulator_rows = 8;

/// Threads of FA2's dot and convert, 8 rows a warp at a time, and their registers (compiled for sm_90, rounded up).
constexpr int row_threads = 128;
constexpr int row_registers(int d) {
  return 40 + d / 2;
}

}  // namespace attnscope::gradient
