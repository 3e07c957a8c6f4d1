// SPDX-License-Identifier: Apache-2.0
// Geometry of the FlashAttention-3 backward kernels (sm_90a): one place for the host, which launches them, and for the
// device code. No includes, so that NVRTC can read it too.
#pragma once

namespace attnscope::fa3_backward {

/// Warpgroups that multiply, 64 keys each; one more loads.
constexpr int consumers = 2;
constexpr int threads = (consumers + 1) * 128;
/// Registers a thread starts with: the block fills the SM. Then the loading warpgroup hands most of its share over.
constexpr int launch_registers = 168;
constexpr int producer_registers = 24;
constexpr int consumer_registers = 240;

/// dK and dV of 64 keys stay in registers, so d ends at 128. Query rows are taken 64 at a time; where d leaves
/// registers for it, dP of the next 64 is under way meanwhile.
constexpr int query_rows(int d) {
  return d == 64 ? 128 : 64;
}
constexpr bool supported_tile(int br, int bc, int d) {
  return (d == 64 || d == 128) && br == query_rows(d) && bc == 64 * consumers;
}

/// Buffers of Q and of dO, with what belongs to their rows, and of dS: a warpgroup that writes one knows both to be
/// through with the product of two tiles back. In turns (a deterministic pass) dQ_i, fp32, waits in buffers, too.
constexpr int stages = 2;
constexpr int ds_buffers = 2;
constexpr int dq_buffers = 2;

/// K, V; the rings of Q and dO with LSE and D of their rows; dS, elements of `element` bytes like them; dQ; barriers
/// and the first row tile.
constexpr long long barrier_bytes = 32 * stages + 8 * ds_buffers + 16 * dq_buffers + 8;
constexpr long long shared_bytes(int br, int bc, int d, int element, bool in_turns) {
  const long long pair = 2LL * element;  // K and V; Q and dO
  return pair * d * bc + stages * (pair * d + 8) * br + ds_buffers * static_cast<long long>(element) * br * bc +
         (in_turns ? dq_buffers * 4LL * br * d : 0) + barrier_bytes;
}

/// Shared memory is what products wait for. So a thread keeps as much of V and K as it has registers for: these
/// columns.
constexpr int v_held(int d) {
  return d == 64 ? 64 : 16;
}
constexpr int k_held(int d) {
  return d == 64 ? 16 : 0;
}

/// What the warpgroups read from shared memory for one tile of scores: S, dP, dV and dK each take Q's or dO's tile, for
/// each warpgroup's 64 keys. S takes their K besides, and dP, 64 queries at a time, their V, but for what is held. dQ
/// takes dS and K, shared out by rows (at d 64) or by columns; at d 128 dK takes dS, too.
constexpr long long operand_bytes(int br, int bc, int d, int element) {
  const long long q = static_cast<long long>(br) * d;
  const long long ds = static_cast<long long>(br) * bc;
  const long long of_keys = d - k_held(d) + br / 64 * (d - v_held(d)) + (d == 64 ? consumers : 1) * d;
  return element * (4LL * consumers * q + bc * of_keys + (d == 64 ? 1 : consumers + 1) * ds);
}

/// Tiles of query rows of one head: its dQ accumulator has whole ones, as fragments of 16 rows x 8 columns that follow
/// one another, those of the same rows first.
constexpr long long row_tiles(long long n_q, int br) {
  return (n_q + br - 1) / br;
}

/// Threads of the kernels before and after: one block for each tile of query rows.
constexpr int row_threads = 256;
constexpr int row_registers = 64;  // estimated

}  // namespace attnscope::fa3_backward
