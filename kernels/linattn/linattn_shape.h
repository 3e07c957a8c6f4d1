// SPDX-License-Identifier: Apache-2.0
// Geometry of the linear attention kernels: one place for the host, which launches them, and for the device code. No
// includes, so that NVRTC can read it too.
#pragma once

namespace attnscope::linattn {

/// The on-chip row is swizzled in 16-byte chunks; a warp of the states' kernel owns 16 rows of KV, with all d columns
/// in its accumulators.
constexpr bool supported_head_dim(int d) {
  return d >= 16 && d <= 128 && d % 16 == 0;
}

/// Keys that are on chip at a time.
constexpr int step_keys(int bc) {
  return bc < 64 ? bc : 64;
}

/// Keys that query row `row` sees: the first so many. Causal is aligned at the bottom right.
constexpr int seen_keys(int row, int n_q, int n_k, bool causal) {
  const int seen = causal ? row - n_q + n_k + 1 : n_k;
  return seen < 0 ? 0 : seen < n_k ? seen : n_k;
}
/// Of the keys that all rows of a tile see, those whose sum is kept as a state: whole chunks of bc under a causal mask,
/// else all.
constexpr int kept_keys(int seen, int bc, bool causal) {
  return causal ? seen / bc * bc : seen;
}

/// What KV and z of so many keys are multiplied by before they are rounded to 16 bits: a power of two that makes means
/// of the sums, so that they stay in range however many keys there are. O = phi(Q) KV / phi(Q) z does not change.
constexpr float scale_of(int keys) {
  float scale = 1.0f;
  for (; keys > 1; keys = keys / 2 + keys % 2) {
    scale *= 0.5f;
  }
  return scale;
}

/// A state: KV, d rows of d columns, and z as one row more.
constexpr int state_rows(int d) {
  return d + 1;
}

constexpr int states_threads(int d) {
  return d / 16 * 32;
}
/// KV and z of one warp, the next keys on their way, and what fragments, which the compiler loads ahead, and addresses
/// take: within 15 of what it took for compute capability 9.0.
constexpr int states_register_estimate(int bc, int d) {
  return d * 7 / 8 + (step_keys(bc) - 16) * 2 / 3 + 54;
}
/// A K and a V tile, elements of `element` bytes.
constexpr long long states_shared_bytes(int bc, int d, int element) {
  return 2LL * element * d * step_keys(bc);
}

/// A warp owns 16 query rows.
constexpr int outputs_threads(int br) {
  return br / 16 * 32;
}
/// Registers a thread may use so that one block fits on an SM: each of its four parts has 16,384 of them for its share
/// of the warps and gives them out in eights; 255 at most.
constexpr int outputs_register_limit(int br) {
  const int warps_per_part = (outputs_threads(br) / 32 + 3) / 4;
  const int share = 16384 / (warps_per_part * 32) / 8 * 8;
  return share < 255 ? share : 255;
}
/// O, under a causal mask the products with a tile of keys and the same as 16-bit operands, and what fragments and
/// addresses take at least: a tile is refused where that is over the limit. Where there is room the compiler takes
/// more, within 20 of what is said here.
constexpr int outputs_register_estimate(int br, int bc, int d, bool causal) {
  const int limit = outputs_register_limit(br);
  const int least = d / 2 + (causal ? step_keys(bc) * 3 / 4 : 0) + 40;
  if (least >= limit) {
    return least;
  }
  const int taken = causal ? d * 4 / 5 + step_keys(bc) / 4 + 58 : d <= 32 ? 48 : d + 24;
  return taken < limit ? taken : limit;
}
/// Q, a state, and under a causal mask a K and a V tile.
constexpr long long outputs_shared_bytes(int br, int bc, int d, int element, bool causal) {
  return static_cast<long long>(element) * d * (br + state_rows(d) + (causal ? 2 * step_keys(bc) : 0));
}

}  // namespace attnscope::linattn
