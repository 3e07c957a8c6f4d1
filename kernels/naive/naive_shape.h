// SPDX-License-Identifier: Apache-2.0
// Geometry of the kernels of standard attention: one place for the host, which launches them, and for the device
// code. No includes, so that NVRTC can read it too.
#pragma once

namespace attnscope::naive {

constexpr bool supported_head_dim(int d) {
  return d >= 16 && d <= 256 && d % 16 == 0;
}

/// Elements from one row of S or P to the next: a whole number of 32-byte sectors. The columns from n_k on hold zeros
/// and are written and read like the others.
constexpr long long row_stride(long long n_k) {
  return (n_k + 15) / 16 * 16;
}

/// Registers a thread may use so that one block fits on an SM: each of its four parts has 16,384 of them for its share
/// of the warps and gives them out in eights; 255 at most.
constexpr int register_limit(int threads) {
  const int warps = (threads / 32 + 3) / 4;
  const int share = 16384 / (warps * 32) / 8 * 8;
  return share < 255 ? share : 255;
}

// --- qk: a br x bc tile of S = scale Q K^T, or of dP = dO V^T ------------------------------------------------------

/// Rows of one warp.
constexpr int qk_rows_per_warp(int br) {
  return br % 32 == 0 ? 32 : 16;
}
constexpr int qk_threads(int br) {
  return br / qk_rows_per_warp(br) * 32;
}
/// Columns that a warp works on at a time, at most.
constexpr int qk_chunk_columns(int br, int bc) {
  const int widest = qk_threads(br) > 256 ? 32 : 64;
  return bc < widest ? bc : widest;
}
constexpr int qk_register_estimate(int br, int bc) {
  return qk_rows_per_warp(br) * qk_chunk_columns(br, bc) / 32 + 56;
}
/// Whole rows of Q and K, all of d.
constexpr long long qk_shared_bytes(int br, int bc, int d, int element) {
  return static_cast<long long>(element) * d * (br + bc);
}

// --- softmax and ds: whole rows on chip, in registers ---------------------------------------------------------------

/// 16-byte pieces of one matrix's row that one thread holds, at most: softmax has S alone, ds both P and dP.
constexpr int softmax_pieces = 8;
constexpr int ds_pieces = 4;
/// The longest row that one block can hold; a longer one is read twice.
constexpr long long max_row_columns(int pieces) {
  return 32LL * 32 * 8 * pieces;
}
constexpr bool long_rows(long long n_k, int pieces) {
  return n_k > max_row_columns(pieces);
}
/// Warps that share a row: as few as hold it, since long streams by few threads come closest to the memory's bandwidth.
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
/// Columns between two waits for memory where a row does not fit: pieces that one of 1024 threads loads at once.
constexpr int long_row_pieces = 4;
constexpr int long_row_step = 1024 * 8 * long_row_pieces;

// --- pv: a br x d tile of O = P V, or of dQ = scale dS K -----------------------------------------------------------

/// Columns of P and rows of V in one step of the pipeline.
constexpr int pv_step = 64;
constexpr int pv_rows_per_warp(int br, int d) {
  return br % 32 == 0 && d <= 128 ? 32 : 16;
}
/// Warps that share a warp's rows: where few rows leave few warps, each takes a part of every step's columns.
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
/// Steps in flight. Few rows mean few blocks: what they do not keep in flight together, each has to by itself.
constexpr int pv_stages(int br, int d, int element) {
  int stages = 3;
  while (pv_column_warps(br, d) > 1 && stages < 8 && (stages + 1) * pv_stage_bytes(br, d, element) <= 96LL * 1024) {
    ++stages;
  }
  return stages;
}
/// O accumulator, fragments of V on their way to it, and addresses.
constexpr int pv_register_estimate(int br, int d) {
  return pv_rows_per_warp(br, d) * d / 32 + d / 4 + 32;
}
/// The stages; at the end the accumulators of the warps that share rows take their place.
constexpr long long pv_shared_bytes(int br, int d, int element) {
  return pv_stages(br, d, element) * pv_stage_bytes(br, d, element);
}
static_assert(pv_shared_bytes(16, 256, 2) >= 4LL * (pv_column_warps(16, 256) - 1) * 16 * 256);

// --- tn: a bc x d tile of dV = P^T dO, or of dK = scale dS^T Q: pv with the left matrix transposed -----------------

/// Query rows in one step of the pipeline, and steps in flight.
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
