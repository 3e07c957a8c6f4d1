// SPDX-License-Identifier: Apache-2.0
// FlashAttention-2 backward, kernels before and after the main kernel, one block per row tile of each head. "dot"
// computes D = rowsum(dO o O) and clears dq_acc; "convert" turns dq_acc into the 16-bit dQ. A warp processes 8 rows at
// a time, four lanes each.
//
// Tile programs of block (i, head):
//   dot: load O_i, dO_i; store D_i, dq_acc_i. convert: load dq_acc_i; store dQ_i.
#include "device/dq_accumulator.cuh"

namespace attnscope::fa2_backward {

using namespace device;

constexpr int d = ATTN_D;
constexpr int br = ATTN_BR;
constexpr int group_rows = gradient::accumulator_rows;
constexpr int block_threads = gradient::row_threads;

/// Calls visit(lane, row over all instances, offset of its row group in dq_acc, whether the row exists) for the rows of
/// the block's tile, with all lanes of a warp together.
template <class Visit>
__device__ __forceinline__ void each_row(int n_q, Visit visit) {
  const int row_tiles = (n_q + br - 1) / br;
  const int instance = static_cast<int>(blockIdx.x) / row_tiles;
  const int tile_row = static_cast<int>(blockIdx.x) % row_tiles * br;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  for (int group = static_cast<int>(threadIdx.x) / 32; group < br / group_rows; group += block_threads / 32) {
    const int first = tile_row + group * group_rows;
    visit(lane, static_cast<long long>(instance) * n_q + first + lane / 4,
          instance * accumulator_size(n_q, d) + static_cast<long long>(first) * d, first + lane / 4 < n_q);
  }
}

}  // namespace attnscope::fa2_backward

/// Also zeros `turns`, one per row tile (null except for the deterministic kernel).
extern "C" __global__ void __launch_bounds__(attnscope::gradient::row_threads)
    attn_fa2_backward_dot(const unsigned short* o, const unsigned short* dout, float* delta, float* dq_acc, int* turns,
                          int n_q) {
  using namespace attnscope::fa2_backward;
  if (turns != nullptr && threadIdx.x == 0) {
    turns[blockIdx.x] = 0;
  }
  each_row(n_q, [&](int lane, long long row, long long group, bool inside) {
    float sum = 0.0f;
#pragma unroll
    for (int first = 0; first < d / 8; first += 4) {
      const int chunk = first + lane % 4;
      if (inside && (d % 32 == 0 || chunk < d / 8)) {
        const uint4 x = load_16_bytes(o + row * d + chunk * 8);
        const uint4 y = load_16_bytes(dout + row * d + chunk * 8);
        sum += dot(x.x, y.x) + dot(x.y, y.y) + dot(x.z, y.z) + dot(x.w, y.w);
      }
    }
    sum += __shfl_xor_sync(0xffffffffu, sum, 1);
    sum += __shfl_xor_sync(0xffffffffu, sum, 2);
    if (inside) {
      if (lane % 4 == 0) {
        store_float(delta + row, sum);
      }
#pragma unroll
      for (int cell = 0; cell < d / 16; ++cell) {
        AccumulatorLane::store(dq_acc + group + cell * 128, lane, 0.0f, 0.0f, 0.0f, 0.0f);
      }
    }
  });
}

extern "C" __global__ void __launch_bounds__(attnscope::gradient::row_threads)
    attn_fa2_backward_convert(const float* dq_acc, unsigned short* dq, int n_q, float scale) {
  using namespace attnscope::fa2_backward;
  each_row(n_q, [&](int lane, long long row, long long group, bool inside) {
    unsigned pairs[d / 8];
#pragma unroll
    for (int cell = 0; cell < d / 16; ++cell) {
      const float4 x = inside ? AccumulatorLane::load(dq_acc + group + cell * 128, lane) : float4{};
      pairs[2 * cell] = pack(x.x * scale, x.y * scale);
      pairs[2 * cell + 1] = pack(x.z * scale, x.w * scale);
    }
    store_row(dq + row * d, pairs, d, inside);
  });
}
