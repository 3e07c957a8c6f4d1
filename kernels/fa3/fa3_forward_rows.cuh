// SPDX-License-Identifier: Apache-2.0
// Softmax and key-tile loop of the forward kernel with 16-bit operands; included by fa3_forward.cuh.
#pragma once

namespace attnscope::fa3 {

/// Scores, statistics and accumulator of this thread's two rows, g and g + 8 of the warp's 16.
struct ThreadRows {
  float o[d / 8][4];
  float s[bc / 8][4];
  unsigned p[bc / 8][2];
  float maximum[2];
  float sum[2];
  float correction[2];
  bool risen;

  __device__ __forceinline__ void clear() {
    maximum[0] = maximum[1] = minus_infinity;
    sum[0] = sum[1] = 0.0f;
#pragma unroll
    for (int n = 0; n < d / 8; ++n) {
      o[n][0] = o[n][1] = o[n][2] = o[n][3] = 0.0f;
    }
  }

  /// s = exp(scale * (s - maximum)); `scale` includes log2(e). As in lazy_softmax(), the maximum is updated only if a
  /// row of the warp has risen by more than lazy_rise. `risen` is then true, and earlier sums and products must be
  /// multiplied by `correction`.
  __device__ __forceinline__ void lazy_exponentials(float scale) {
    float highest[2];
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      float largest[2] = {fmaxf(maximum[half], s[0][half * 2]), s[0][half * 2 + 1]};
#pragma unroll
      for (int n = 1; n < bc / 8; ++n) {
        largest[0] = fmaxf(largest[0], s[n][half * 2]);
        largest[1] = fmaxf(largest[1], s[n][half * 2 + 1]);
      }
      highest[half] = fmaxf(largest[0], largest[1]);
      highest[half] = fmaxf(highest[half], __shfl_xor_sync(0xffffffffu, highest[half], 1));
      highest[half] = fmaxf(highest[half], __shfl_xor_sync(0xffffffffu, highest[half], 2));
    }
    risen = __any_sync(0xffffffffu,
                       (highest[0] - maximum[0]) * scale > lazy_rise || (highest[1] - maximum[1]) * scale > lazy_rise);
    if (risen) {  // one branch for both rows: with one per row the compiler predicates it, which costs 4% of a pass
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        correction[half] = exp2_fast(maximum[half] * scale - reference_of(highest[half], scale));
        sum[half] *= correction[half];
        maximum[half] = highest[half];
      }
    }
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const float reference = reference_of(maximum[half], scale);
      float part[2] = {0.0f, 0.0f};
#pragma unroll
      for (int n = 0; n < bc / 8; ++n) {
        part[0] += s[n][half * 2] = exp2_fast(s[n][half * 2] * scale - reference);
        part[1] += s[n][half * 2 + 1] = exp2_fast(s[n][half * 2 + 1] * scale - reference);
      }
      sum[half] += part[0] + part[1];
    }
  }

  __device__ __forceinline__ float log_reference(int half, float scale) const {
    return maximum[half] * scale;
  }

  __device__ __forceinline__ void rescale() {
    if (!risen) {
      return;
    }
#pragma unroll
    for (int n = 0; n < d / 8; ++n) {
      o[n][0] *= correction[0];
      o[n][1] *= correction[0];
      o[n][2] *= correction[1];
      o[n][3] *= correction[1];
    }
  }

  __device__ __forceinline__ void pack_scores() {
#pragma unroll
    for (int n = 0; n < bc / 8; ++n) {
      p[n][0] = pack(s[n][0], s[n][1]);
      p[n][1] = pack(s[n][2], s[n][3]);
    }
  }
};

struct Multiplier : Group<ThreadRows> {
  __device__ __forceinline__ void queue_pv() {
    begin_products();
    queue_values<bc, d>(rows.o, rows.p, v_tile());
    commit_products();
  }

  /// Multiplies the key tiles from `column` to before `seen`; returns the next column.
  __device__ __forceinline__ int multiply_seen(const RowTile& tile, int row, int column, int seen) {
    const Visibility view = a.view(tile.instance);
    const float scale_log2 = a.scale * log2_e;
    const int warp_row = row + static_cast<int>(threadIdx.x) % warpgroup_threads / 32 * 16;
    const int thread_row = warp_row + static_cast<int>(threadIdx.x) % 32 / 4;
    const auto softmax = [&](int column) {
      if (!view.whole(warp_row, 16, column, bc)) {
        mask_scores(rows.s, thread_row, column, view);
      }
      rows.lazy_exponentials(scale_log2);
    };
    const auto pack_scores = [&](int column) {
      rows.pack_scores();
      if constexpr (has_dropout) {
        drop<bc, bc % 32 == 0>(rows.p, warp_row, column, dropout_of(tile.instance, a.keep, a.seed));
      }
    };
    const auto wait_s = [&](int next) {
      pin(rows.s);
      if (separate_o && next >= seen) {
        release_q();
      }
      shared.keys.release(key_at);
    };

    int next = view.next_key_tile<bc>(tile.row, column + bc, tile.end);
    shared.keys.wait(key_at);
    acquire_turn();
    queue_s();
    release_turn();
    wait_products<0>();
    wait_s(next);
    softmax(column);
    pack_scores(column);
    column = next;
#pragma unroll 1
    while (column < seen) {
      shared.keys.wait(key_at);
      acquire_turn();
      pin(rows.o);
      pin(rows.p);
      queue_s();
      shared.values.wait(value_at);
      queue_pv();
      next = view.next_key_tile<bc>(tile.row, column + bc, tile.end);
      release_turn();
      wait_products<1>();
      wait_s(next);
      softmax(column);
      wait_products<0>();
      pin(rows.o);
      pin(rows.p);
      shared.values.release(value_at);
      rows.rescale();
      pack_scores(column);
      column = next;
    }
    shared.values.wait(value_at);
    pin(rows.o);
    pin(rows.p);
    queue_pv();
    wait_products<0>();
    pin(rows.o);
    shared.values.release(value_at);
    return column;
  }
};

}  // namespace attnscope::fa3
