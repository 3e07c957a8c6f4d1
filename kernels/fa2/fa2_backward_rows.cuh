// SPDX-License-Identifier: Apache-2.0
// What FlashAttention-2's backward pass does before and after its main kernel, row by row: D = rowsum(dO o O) and
// dq_acc = 0; and dq_acc to the 16-bit dQ. A warp does 8 rows, four lanes each.
//
// Tile programs of block b, rows 32 b .. 32 b + 31 of an instance:
//   dot: load O, dO; store D, dq_acc. convert: load dq_acc; store dQ.
#include "device/gradient.cuh"

namespace attnscope::fa2_backward {

using namespace device;

constexpr int d = ATTN_D;

/// A lane's row, and where its group of rows lies in dq_acc.
struct Place {
  int lane;
  bool inside;
  long long row;    ///< of all instances
  long long group;  ///< first float of the 8 rows in dq_acc
};

__device__ __forceinline__ Place place(int n_q) {
  const int blocks = (n_q + gradient::block_rows - 1) / gradient::block_rows;
  const int instance = static_cast<int>(blockIdx.x) / blocks;
  const int thread = static_cast<int>(threadIdx.x);
  const int first = static_cast<int>(blockIdx.x) % blocks * gradient::block_rows + thread / 32 * 8;
  Place at;
  at.lane = thread % 32;
  at.inside = first + at.lane / 4 < n_q;
  at.row = static_cast<long long>(instance) * n_q + first + at.lane / 4;
  at.group = instance * accumulator_size(n_q, d) + static_cast<long long>(first) * d;
  return at;
}

}  // namespace attnscope::fa2_backward

/// `turns` (not null for the deterministic kernel) are zeroed too, `turn_count` of them.
extern "C" __global__ void __launch_bounds__(attnscope::gradient::row_threads)
    attn_fa2_backward_dot(const unsigned short* o, const unsigned short* dout, float* delta, float* dq_acc, int* turns,
                          int turn_count, int n_q) {
  using namespace attnscope::fa2_backward;
  const Place at = place(n_q);
  const int index = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (turns != nullptr && index < turn_count) {
    turns[index] = 0;
  }
  float sum = 0.0f;
#pragma unroll
  for (int first = 0; first < d / 8; first += 4) {
    const int chunk = first + at.lane % 4;
    if (at.inside && (d % 32 == 0 || chunk < d / 8)) {
      const uint4 x = load_16_bytes(o + at.row * d + chunk * 8);
      const uint4 y = load_16_bytes(dout + at.row * d + chunk * 8);
      const unsigned left[4] = {x.x, x.y, x.z, x.w};
      const unsigned right[4] = {y.x, y.y, y.z, y.w};
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const float2 a = unpack(left[i]);
        const float2 b = unpack(right[i]);
        sum += a.x * b.x + a.y * b.y;
      }
    }
  }
  sum += __shfl_xor_sync(0xffffffffu, sum, 1);
  sum += __shfl_xor_sync(0xffffffffu, sum, 2);
  if (!at.inside) {
    return;
  }
  if (at.lane % 4 == 0) {
    store_float(delta + at.row, sum);
  }
#pragma unroll
  for (int cell = 0; cell < d / 16; ++cell) {
    AccumulatorLane::store(dq_acc + at.group + cell * 128, at.lane, 0.0f, 0.0f, 0.0f, 0.0f);
  }
}

extern "C" __global__ void __launch_bounds__(attnscope::gradient::row_threads)
    attn_fa2_backward_convert(const float* dq_acc, unsigned short* dq, int n_q, float scale) {
  using namespace attnscope::fa2_backward;
  const Place at = place(n_q);
  unsigned pairs[d / 8];
#pragma unroll
  for (int cell = 0; cell < d / 16; ++cell) {
    const float4 x = at.inside ? AccumulatorLane::load(dq_acc + at.group + cell * 128, at.lane) : float4{};
    pairs[2 * cell] = pack(x.x * scale, x.y * scale);
    pairs[2 * cell + 1] = pack(x.z * scale, x.w * scale);
  }
  store_row(dq + at.row * d, pairs, d, at.inside);
}
