// SPDX-License-Identifier: Apache-2.0
// Geometry of the FA3 backward kernels (sm_90a), for host and device. No includes, so that NVRTC can compile it.
#pragma once

namespace attnscope::fa3_backward {

/// Consumer warpgroups, 64 keys each; one producer warpgroup more.
constexpr int consumers = 2;
constexpr int threads = (consumers + 1) * 128;
/// Registers per thread at launch (the block fills the SM); the producer warpgroup then releases most of its share.
constexpr int launch_registers = 168;
constexpr int producer_registers = 24;
constexpr int consumer_registers = 240;

/// dK and dV of 64 keys stay in registers, so d is at most 128. Query rows are processed 64 at a time; at d 64,
/// registers allow dP of the next 64 rows to overlap.
constexpr int query_rows(int d) {
  return d == 64 ? 128 : 64;
}
constexpr bool supported_tile(int br, int bc, int d) {
  return (d == 64 || d == 128) && br == query_rows(d) && bc == 64 * consumers;
}

/// Buffers of Q and dO with their row statistics, and of dS. A warpgroup that writes a dS buffer knows that both
/// warpgroups have finished the product of two tiles before. A deterministic pass also buffers the fp32 dQ_i.
constexpr int stages = 2;
constexpr int ds_buffers = 2;
constexpr int dq_buffers = 2;

/// Bytes for K and V; the rings of Q and dO with LSE and D of their rows; dS (elements of `element` bytes); dQ;
/// barriers and the first row tile.
constexpr long long barrier_bytes = 32 * stages + 8 * ds_buffers + 16 * dq_buffers + 8;
constexpr long long shared_bytes(int br, int bc, int d, int element, bool deterministic) {
  const long long pair = 2LL * element;  // K and V; Q and dO
  return pair * d * bc + stages * (pair * d + 8) * br + ds_buffers * static_cast<long long>(element) * br * bc +
         (deterministic ? dq_buffers * 4LL * br * d : 0) + barrier_bytes;
}

/// Products are limited by shared-memory reads, so each thread keeps as many columns of V and K in registers as fit.
constexpr int v_register_columns(int d) {
  return d == 64 ? 64 : 16;
}
constexpr int k_register_columns(int d) {
  return d == 64 ? 16 : 0;
}

/// Bytes that the warpgroups read from shared memory per score tile. S, dP, dV and dK each read the tile of Q or dO
/// once per warpgroup. S also reads the warpgroup's K, and dP its V once per 64 queries, except for the columns kept in
/// registers. dQ reads dS and K, split over the warpgroups by rows (d 64) or columns; at d 128 dK reads dS, too.
constexpr long long operand_bytes(int br, int bc, int d, int element) {
  const long long q = static_cast<long long>(br) * d;
  const long long ds = static_cast<long long>(br) * bc;
  const long long of_keys =
      d - k_register_columns(d) + br / 64 * (d - v_register_columns(d)) + (d == 64 ? consumers : 1) * d;
  return element * (4LL * consumers * q + bc * of_keys + (d == 64 ? 1 : consumers + 1) * ds);
}

/// Query row tiles of one head. Its dQ accumulator consists of whole tiles, stored as fragments of 16 rows x 8 columns,
/// those of the same rows first.
constexpr long long row_tiles(long long n_q, int br) {
  return (n_q + br - 1) / br;
}

/// Threads of the dot and convert kernels; one block per query row tile.
constexpr int row_threads = 256;
constexpr int row_registers = 64;  // estimated

}  // namespace attnscope::fa3_backward
