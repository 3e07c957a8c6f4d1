// SPDX-License-Identifier: Apache-2.0
// Softmax and row sums of the forward kernel with 8-bit operands. With one scale per block of Q, K and V:
//
//   P = 2^(c Q K^T - reference), c = scale log2(e) q_scale k_scale, rounded to e4m3
//   O += v_scale (P V),  l += P 1
//
// Tensor cores accumulate 8-bit products with about 14 bits and truncate the rest, so a large sum loses part of
// everything added to it (1.6% over 1024 keys of one sign, half of it over 65,536). Therefore P V of each key tile
// starts at zero and is added to O in fp32, which also applies v_scale for free. l comes from columns of ones next to
// V: it sums the rounded P and saves an addition per score.
//
// The exponential unit is as busy as the tensor cores, so the kernel does not wait for row maxima. Exponentials use the
// reference of the previous tiles; if one is too large for e4m3, P, O and l are scaled down afterwards. The bound |q|
// |k| on scores tells in advance that fp32 does not overflow until then.
#pragma once

namespace attnscope::fa3 {

/// Number of tiles (8 columns each) per 8 whose P is computed directly as e4m3 bits.
constexpr int linear_tiles = linear_tile_count(d, ATTN_GIVEN_MASK);

/// Exponent of P of the row's largest score when its reference is set: exact in e4m3, with headroom below 448, at the
/// cost of the smallest P.
constexpr float initial_exponent = 6.0f;
/// Maximum exponent of P after a P beyond 448 has moved the reference. Next to one large key the other P are small; a
/// higher value keeps more of them above e4m3's smallest.
constexpr float rescaled_exponent = 7.0f;
/// Largest exponent that is safe in fp32.
constexpr float safe_exponent = 110.0f;

/// P V is computed `part_columns` columns of O at a time to save registers; the last part includes the 8 columns of
/// ones.
constexpr int part_columns = 64;
constexpr int parts = d / part_columns;
static_assert(!fp8 || d % part_columns == 0);

/// Added to e4m3 bytes, sets the top bit of bytes that have reached 448.
constexpr unsigned top_bit_offset = 0x02020202u;

struct Fp8Rows {
  float o[d / 8][4];
  float s[bc / 8][4];
  /// P of two key tiles (double-buffered), four scores each: columns 2t, 2t + 1, 8 + 2t, 9 + 2t of 16.
  unsigned p[2][bc / 16][2];
  float part[part_columns / 8 + 1][4];
  float reference[2];  ///< base-2 exponent
  float sum[2];
  float pending[2];  ///< correction of parts in flight for a reference that has risen since

  __device__ __forceinline__ void clear() {
    reference[0] = reference[1] = minus_infinity;
    sum[0] = sum[1] = 0.0f;
    clear_pending();
#pragma unroll
    for (int n = 0; n < d / 8; ++n) {
      o[n][0] = o[n][1] = o[n][2] = o[n][3] = 0.0f;
    }
  }
  __device__ __forceinline__ float log_reference(int half, float) const {
    return reference[half] * ln_2;
  }

  __device__ __forceinline__ void rescale(const float (&correction)[2]) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      sum[half] *= correction[half];
#pragma unroll
      for (int n = 0; n < d / 8; ++n) {
        o[n][half * 2] *= correction[half];
        o[n][half * 2 + 1] *= correction[half];
      }
    }
  }

  __device__ __forceinline__ void clear_pending() {
    pending[0] = pending[1] = 1.0f;
  }

  /// Largest score (or exponential) of a row in columns 8 First .. 8 Last.
  template <int First, int Last>
  __device__ __forceinline__ float largest(int half) const {
    float most[2] = {s[First][half * 2], s[First][half * 2 + 1]};
#pragma unroll
    for (int n = First + 1; n < Last; ++n) {
      most[0] = fmaxf(most[0], s[n][half * 2]);
      most[1] = fmaxf(most[1], s[n][half * 2 + 1]);
    }
    most[0] = fmaxf(most[0], most[1]);
    most[0] = fmaxf(most[0], __shfl_xor_sync(0xffffffffu, most[0], 1));
    return fmaxf(most[0], __shfl_xor_sync(0xffffffffu, most[0], 2));
  }

  /// Returns whether exponentials of scores up to `bound` could overflow in a row of the warp; always true for a row's
  /// first keys.
  __device__ __forceinline__ bool may_overflow(float bound) const {
    return __any_sync(0xffffffffu, bound - reference[0] > safe_exponent || bound - reference[1] > safe_exponent);
  }
  /// Raises the reference to the scores of this tile if needed.
  __device__ __forceinline__ void raise_reference(float c, bool needed) {
    if (needed) {
      float correction[2];
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const float before = reference[half];
        reference[half] = fmaxf(before, largest<0, bc / 8>(half) * c - initial_exponent);
        correction[half] = exp2_fast(before - reference_of(reference[half], 1.0f));
        pending[half] *= correction[half];
      }
      rescale(correction);
    }
  }

  /// s = P, unrounded, of columns 8 First .. 8 Last; columns for which linear() is true keep their scores.
  template <int First, int Last>
  __device__ __forceinline__ void exponentials(float c) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const float from = reference_of(reference[half], 1.0f);
#pragma unroll
      for (int n = First; n < Last; ++n) {
        if (!linear(n)) {
          s[n][half * 2] = exp2_fast(s[n][half * 2] * c - from);
          s[n][half * 2 + 1] = exp2_fast(s[n][half * 2 + 1] * c - from);
        }
      }
    }
  }
  /// Returns whether P of tile `n` is computed directly as e4m3 bits.
  __device__ static constexpr bool linear(int n) {
    return n % 2 == 1 && n / 2 % 4 < linear_tiles;
  }
  /// 2^x as e4m3 in the lowest byte. The bits are 8 (x + 7) for integer x; linear interpolation between is off by at
  /// most 4%, e4m3's own rounding by 6%. `offset` is 8 (7 - reference) plus a correction of the mean.
  __device__ __forceinline__ static unsigned e4m3_linear(float s, float c_8, float offset) {
    float clamped;
    asm("fma.rn.sat.f32 %0, %1, %2, %3;" : "=f"(clamped) : "f"(s), "f"(c_8), "f"(offset));
    return __float_as_uint(fmaf(clamped, 126.0f, 12582912.0f));  // 1.5 * 2^23: rounds to a whole number
  }

  /// Called after round_columns() of the same columns: if rows of the warp have risen too high for e4m3, gives them a
  /// new reference. Pre: parts of P V in flight have not been added yet.
  template <int Next, int First, int Last>
  __device__ __forceinline__ void lower_risen_rows(unsigned high, float c) {
    if (__any_sync(0xffffffffu, (high & 0x80808080u) != 0)) {
      float correction[2];
#pragma unroll
      for (int half = 0; half < 2; ++half) {
#pragma unroll
        for (int n = First; n < Last; ++n) {
          if (linear(n)) {
            s[n][half * 2] = exp2_fast(s[n][half * 2] * c - reference_of(reference[half], 1.0f));
            s[n][half * 2 + 1] = exp2_fast(s[n][half * 2 + 1] * c - reference_of(reference[half], 1.0f));
          }
        }
        const float rise = fmaxf(0.0f, ceilf(__log2f(largest<First, Last>(half)) - rescaled_exponent));
        reference[half] += rise;
        correction[half] = exp2_fast(-rise);
        pending[half] *= correction[half];
#pragma unroll
        for (int n = First; n < Last; ++n) {
          s[n][half * 2] *= correction[half];
          s[n][half * 2 + 1] *= correction[half];
        }
#pragma unroll
        for (int m = 0; m < First / 2; ++m) {
          p[Next][m][half] = scale_e4m3(p[Next][m][half], correction[half]);
        }
      }
      rescale(correction);
      round_columns<Next, First, Last, false>(c);
    }
  }
  /// Packs P of columns 8 First .. 8 Last into the left operand P[Next] of P V, in the key order of V. Top bits of the
  /// result are set if some P has reached 448.
  template <int Next, int First, int Last, bool Lines = true>
  __device__ __forceinline__ unsigned round_columns(float c) {
    unsigned high = 0;
    const float c_8 = c * (8.0f / 126.0f);
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const float offset = (56.0f - 0.46f) / 126.0f - reference_of(reference[half], 1.0f) * (8.0f / 126.0f);
#pragma unroll
      for (int m = First / 2; m < Last / 2; ++m) {
        const float* const low = &s[2 * m][half * 2];
        const float* const upper = &s[2 * m + 1][half * 2];
        if (Lines && linear(2 * m + 1)) {
          p[Next][m][half] =
              pack_e4m3(low[0], low[1], e4m3_linear(upper[0], c_8, offset), e4m3_linear(upper[1], c_8, offset));
        } else {
          p[Next][m][half] = pack_e4m3(low[0], low[1], upper[0], upper[1]);
        }
        high |= p[Next][m][half] + top_bit_offset;
      }
    }
    return high;
  }

  /// Adds part `Part` of a key tile's P V to O; the last part also adds the column of ones to l.
  template <int Part>
  __device__ __forceinline__ void add_view(float value_scale) {
    const float factor[2] = {pending[0] * value_scale, pending[1] * value_scale};
#pragma unroll
    for (int n = 0; n < part_columns / 8; ++n) {
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        float& to = o[Part * (part_columns / 8) + n][e];
        to = fmaf(part[n][e], factor[e / 2], to);
      }
    }
    if constexpr (Part == parts - 1) {
      sum[0] = fmaf(part[part_columns / 8][0], pending[0], sum[0]);
      sum[1] = fmaf(part[part_columns / 8][2], pending[1], sum[1]);
      clear_pending();
    }
  }
};

template <int Value>
struct Constant {
  static constexpr int value = Value;
};

struct Multiplier : Group<Fp8Rows> {
  template <int Now, int Part>
  __device__ __forceinline__ void queue_part() {
    begin_products();
    queue_value_part<Part * part_columns, part_columns + (Part == parts - 1 ? ones_rows(1) : 0), bc, ValueTile>(
        rows.part, rows.p[Now], v_tile());
    commit_products();
  }
  template <int Part>
  __device__ __forceinline__ void add_next_part() {
    wait_products<0>();
    pin(rows.part);
    rows.template add_view<Part>(load_shared(shared.values.scale_of(value_at)));
  }

  /// Keeps the computation of `high` before the following wait, which it is meant to overlap: ptxas would move it
  /// behind. The store never executes.
  __device__ __forceinline__ void order_before_wait(unsigned high) const {
    asm volatile("{.reg .pred p; setp.lt.s32 p, %0, 0; @p st.shared.u32 [%1], %1;}" ::"r"(a.n_k), "r"(high) : "memory");
  }

  /// Multiplies the key tiles from `column` to before `seen`; returns the next column. Exponentials overlap the product
  /// P V of the previous tile, part by part.
  __device__ __forceinline__ int multiply_seen(const RowTile& tile, int row, int column, int seen) {
    const Visibility view = a.view(tile.instance);
    int next = 0;
    float c = 0.0f;
    bool overflow = false;
    const auto read_scales = [&] {
      const float2 q = load_shared_pair(shared.q_scales + 16 * mine);
      const float2 k = load_shared_pair(shared.keys.scale_of(key_at));
      const float scale_log2 = a.scale * log2_e;
      c = scale_log2 * q.x * k.x;
      overflow = rows.may_overflow(scale_log2 * q.y * k.y);
      next = view.next_key_tile<bc>(tile.row, column + bc, tile.end);
    };
    const auto begin_softmax = [&] {
      pin(rows.s);
      if (next >= seen) {
        release_q();
      }
      shared.keys.release(key_at);
      if (!view.whole(row, group_rows, column, bc)) {
        const int thread = force_recompute(static_cast<int>(threadIdx.x)) % warpgroup_threads;
        mask_scores(rows.s, row + thread / 32 * 16 + thread % 32 / 4, column, view);
      }
      rows.raise_reference(c, overflow);
    };

    const auto last_parts = [&](auto now) {
      constexpr int Now = decltype(now)::value;
      shared.values.wait(value_at);
      queue_part<Now, 0>();
      add_next_part<0>();
      if constexpr (parts == 2) {
        queue_part<Now, parts - 1>();
        add_next_part<parts - 1>();
      }
      shared.values.release(value_at);
    };
    const auto step = [&](auto now) {
      constexpr int Now = decltype(now)::value;
      shared.keys.wait(key_at);
      acquire_turn();
      pin(rows.part);
      pin(rows.p[Now]);
      queue_s();
      shared.values.wait(value_at);
      queue_part<Now, 0>();
      read_scales();
      wait_products<1>();
      release_turn();  // not earlier: the other warpgroup needs S only when this one's softmax runs
      begin_softmax();
      rows.exponentials<0, bc / 16>(c);
      unsigned high = rows.round_columns<1 - Now, 0, bc / 16>(c);
      order_before_wait(high);
      if constexpr (parts == 2) {
        add_next_part<0>();
        queue_part<Now, parts - 1>();
        rows.lower_risen_rows<1 - Now, 0, bc / 16>(high, c);
      }
      rows.exponentials<bc / 16, bc / 8>(c);
      if constexpr (parts == 2) {
        high = rows.round_columns<1 - Now, bc / 16, bc / 8>(c);
      } else {
        high |= rows.round_columns<1 - Now, bc / 16, bc / 8>(c);
      }
      order_before_wait(high);
      add_next_part<parts - 1>();
      pin(rows.p[Now]);
      shared.values.release(value_at);
      rows.lower_risen_rows<1 - Now, bc / 8 - bc / 8 / parts, bc / 8>(high, c);
      rows.clear_pending();
      column = next;
    };

    shared.keys.wait(key_at);
    acquire_turn();
    queue_s();
    release_turn();
    read_scales();
    wait_products<0>();
    begin_softmax();
    rows.exponentials<0, bc / 8>(c);
    rows.lower_risen_rows<0, 0, bc / 8>(rows.round_columns<0, 0, bc / 8>(c), c);
    rows.clear_pending();
    column = next;
#pragma unroll 1
    while (true) {
      if (column >= seen) {
        last_parts(Constant<0>{});
        break;
      }
      step(Constant<0>{});
      if (column >= seen) {
        last_parts(Constant<1>{});
        break;
      }
      step(Constant<1>{});
    }
    return column;
  }
};

}  // namespace attnscope::fa3
