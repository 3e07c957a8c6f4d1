// SPDX-License-Identifier: Apache-2.0
// Geometry of the standard attention kernels, for host and device. No includes, so that NVRTC can compile it.
#pragma once

namespace attnscope::naive {

constexpr bool supported_head_dim(int d) {
  return d >= 16 && d <= 256 && d % 16 == 0;
}

/// Row stride of S and P in elements: whole 32-byte sectors. Columns from n_k are zero and are read and written like
/// the others.
constexpr long long row_stride(long long n_k) {
  return (n_k + 15) / 16 * 16;
}

/// Registers per thread with which one block fits on an SM: 16,384 per SM partition, in units of 8, at most 255.
constexpr int register_limit(int threads) {
  const int warps = (threads / 32 + 3) / 4;
  const int share = 16384 / (warps * 32) / 8 * 8;
  return share < 255 ? share : 255;
}

// --- qk: a br x bc tile of S = scale Q K^T, or of dP = dO V^T ------------------------------------------------------

constexpr int qk_rows_per_warp(int br) {
  return br % 32 == 0 ? 32 : 16;
}
constexpr int qk_threads(int br) {
  return br / qk_rows_per_warp(br) * 32;
}
constexpr int qk_chunk_columns(int br, int bc) {
  const int widest = qk_threads(br) > 256 ? 32 : 64;
  return bc < widest ? bc : widest;
}
constexpr int qk_register_estimate(int br, int bc) {
  return qk_rows_per_warp(br) * qk_chunk_columns(br, bc) / 32 + 56;
}
/// Bytes of the Q and K tiles (all d columns).
constexpr long long qk_shared_bytes(int br, int bc, int d, int element) {
  return static_cast<long long>(element) * d * (br + bc);
}

// --- softmax and ds: whole rows on chip, in registers ---------------------------------------------------------------

/// Maximum 16-byte pieces of one matrix row per thread: softmax holds S only, ds holds P and dP.
constexpr int softmax_pieces = 8;
constexpr int ds_pieces = 4;
/// Longest row that fits in one block; longer rows are read twice.
constexpr long long max_row_columns(int pieces) {
  return 32LL * 32 * 8 * pieces;
}
constexpr bool has_long_rows(long long n_k, int pieces) {
  return n_k > max_row_columns(pieces);
}
/// Warps per row: as few as can hold it, since long streams by few threads achieve the highest bandwidth.
constexpr int warps_per_row(long long n_k, int pieces) {
  int warps = 1;
  while (warps < 32 && warps * 32LL * 8 * pieces < n_k) {
    warps *= 2;
  }
  return warps;
}
constexpr int row_threads(long long n_k, int pieces) {
  return warps_per_row(n_k, pieces) == 1 ? 256 : 32 * warps_per_row(n_k, pieces);
}
constexpr int rows_per_block(long long n_k, int pieces) {
  return row_threads(n_k, pieces) / 32 / warps_per_row(n_k, pieces);
}
constexpr int row_register_estimate = 64;
/// Columns per step of a row that does not fit: pieces that each of 1024 threads loads at once.
constexpr int long_row_pieces = 4;
constexpr int long_row_step = 1024 * 8 * long_row_pieces;

// --- pv: a br x d tile of O = P V, or of dQ = scale dS K -----------------------------------------------------------

/// Columns of P and rows of V per pipeline step.
constexpr int pv_step = 64;
constexpr int pv_rows_per_warp(int br, int d) {
  return br % 32 == 0 && d <= 128 ? 32 : 16;
}
/// Warps that share query rows: if few rows leave few warps, each takes a part of every step's columns.
constexpr int pv_column_warps(int br, int d) {
  const int row_warps = br / pv_rows_per_warp(br, d);
  return row_warps == 1 ? 4 : row_warps == 2 ? 2 : 1;
}
constexpr int pv_threads(int br, int d) {
  return br / pv_rows_per_warp(br, d) * pv_column_warps(br, d) * 32;
}
constexpr long long pv_stage_bytes(int br, int d, int element) {
  return static_cast<long long>(element) * pv_step * (br + d);
}
/// Steps in flight. With few rows there are few blocks, so each must keep more steps in flight.
constexpr int pv_stages(int br, int d, int element) {
  int stages = 3;
  while (pv_column_warps(br, d) > 1 && stages < 8 && (stages + 1) * pv_stage_bytes(br, d, element) <= 96LL * 1024) {
    ++stages;
  }
  return stages;
}
/// Estimated registers per thread: O accumulator, fragments of V in flight, and addresses.
constexpr int pv_register_estimate(int br, int d) {
  return pv_rows_per_warp(br, d) * d / 32 + d / 4 + 32;
}
/// Bytes of the stages, which the accumulators of warps that share rows reuse at the end.
constexpr long long pv_shared_bytes(int br, int d, int element) {
  return pv_stages(br, d, element) * pv_stage_bytes(br, d, element);
}
static_assert(pv_shared_bytes(16, 256, 2) >= 4LL * (pv_column_warps(16, 256) - 1) * 16 * 256);

// --- tn: a bc x d tile of dV = P^T dO, or of dK = scale dS^T Q: pv with the left matrix transposed -----------------

/// Query rows per pipeline step, and steps in flight.
constexpr int tn_step = 64;
constexpr int tn_stages = 3;
constexpr int tn_rows_per_warp(int bc, int d) {
  return pv_rows_per_warp(bc, d);
}
constexpr int tn_threads(int bc, int d) {
  return bc / tn_rows_per_warp(bc, d) * 32;
}
constexpr int tn_register_estimate(int bc, int d) {
  return pv_register_estimate(bc, d);
}
constexpr long long tn_shared_bytes(int bc, int d, int element) {
  return static_cast<long long>(element) * tn_stages * tn_step * (bc + d);
}

}  // namespace attnscope::naive
