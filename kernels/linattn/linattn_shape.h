// SPDX-License-Identifier: Apache-2.0
// Geometry of the linear attention kernels, for host and device. No includes, so that NVRTC can compile it.
#pragma once

namespace attnscope::linattn {

/// Rows are swizzled in 16-byte chunks in shared memory; a warp of the states kernel owns 16 rows of KV with all d
/// columns in its accumulators.
constexpr bool supported_head_dim(int d) {
  return d >= 16 && d <= 128 && d % 16 == 0;
}

/// Keys on chip at a time.
constexpr int step_keys(int bc) {
  return bc < 64 ? bc : 64;
}

/// Number of leading keys that query row `row` sees. Causal masks are aligned at the bottom right.
constexpr int visible_key_count(int row, int n_q, int n_k, bool causal) {
  const int seen = causal ? row - n_q + n_k + 1 : n_k;
  return seen < 0 ? 0 : seen < n_k ? seen : n_k;
}
/// Number of keys covered by a state, among those that all rows of a tile see: whole chunks of bc under a causal mask,
/// else all.
constexpr int state_keys(int seen, int bc, bool causal) {
  return causal ? seen / bc * bc : seen;
}

/// Scale of KV and z for `keys` keys before rounding to 16 bits: a power of two that turns sums into means, so that
/// they stay in range for any number of keys. O = phi(Q) KV / phi(Q) z does not change.
constexpr float scale_of(int keys) {
  float scale = 1.0f;
  for (; keys > 1; keys = keys / 2 + keys % 2) {
    scale *= 0.5f;
  }
  return scale;
}

/// Rows of a state: d rows of KV and one row of z.
constexpr int state_rows(int d) {
  return d + 1;
}

constexpr int states_threads(int d) {
  return d / 16 * 32;
}
/// Estimated registers per thread: KV and z of one warp, the prefetched keys, and a constant for prefetched fragments
/// and addresses. Within 15 of the compiler's count for compute capability 9.0.
constexpr int states_register_estimate(int bc, int d) {
  return d * 7 / 8 + (step_keys(bc) - 16) * 2 / 3 + 54;
}
/// Bytes of a K and a V tile; `element`: element size in bytes.
constexpr long long states_shared_bytes(int bc, int d, int element) {
  return 2LL * element * d * step_keys(bc);
}

/// A warp owns 16 query rows.
constexpr int outputs_threads(int br) {
  return br / 16 * 32;
}
/// Registers per thread with which one block fits on an SM: 16,384 per SM partition, in units of 8, at most 255.
constexpr int outputs_register_limit(int br) {
  const int warps_per_part = (outputs_threads(br) / 32 + 3) / 4;
  const int share = 16384 / (warps_per_part * 32) / 8 * 8;
  return share < 255 ? share : 255;
}
/// Estimated registers per thread: O; with a causal mask the products with a key tile and the same as 16-bit operands;
/// and a minimum for fragments and addresses. A tile is infeasible if that exceeds the limit. If registers are left,
/// the compiler uses more; the estimate is within 20 of its count.
constexpr int outputs_register_estimate(int br, int bc, int d, bool causal) {
  const int limit = outputs_register_limit(br);
  const int least = d / 2 + (causal ? step_keys(bc) * 3 / 4 : 0) + 40;
  if (least >= limit) {
    return least;
  }
  const int taken = causal ? d * 4 / 5 + step_keys(bc) / 4 + 58 : d <= 32 ? 48 : d + 24;
  return taken < limit ? taken : limit;
}
/// Bytes of Q, a state and, with a causal mask, a K and a V tile.
constexpr long long outputs_shared_bytes(int br, int bc, int d, int element, bool causal) {
  return static_cast<long long>(element) * d * (br + state_rows(d) + (causal ? 2 * step_keys(bc) : 0));
}

}  // namespace attnscope::linattn
