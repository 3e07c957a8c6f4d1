// SPDX-License-Identifier: Apache-2.0
// Building blocks of the FA1 and FA2 backward kernels: the products of one Q tile with one K/V tile by all warps of a
// block.
//
// With Z the dropout mask (0 or 256/keep): P = exp(scale Q K^T - LSE), dP = (dO V^T) o Z, dS = P o (dP - D),
// dV = (P o Z)^T dO, dK = scale dS^T Q, dQ = scale dS K. The scales are applied at the end.
#pragma once

#include "device/dq_accumulator.cuh"
#include "device/philox_shape.h"
#include "device/shared_tile.cuh"
#include "device/visibility.cuh"

namespace attnscope::device {

using gradient::WarpGrid;

/// Operand of a product, read by a warp in 16 x 16 cells. The summed dimension runs along the tile's rows (fragments
/// are loaded transposed) or its columns.
template <class Tile, bool SumsRows, bool Left, int Cells>
struct Factor {
  // If the warp's cell count is a power of two, the swizzle of its other cells is known at compile time.
  static constexpr bool aligned = (Cells & (Cells - 1)) == 0;
  static constexpr bool sums_rows = SumsRows;

  unsigned address;
  int first;  ///< first cell of the warp

  /// `tile`: shared address of the tile's first summed row or column.
  __device__ __forceinline__ Factor(unsigned tile, int first_cell, int lane) : first(first_cell) {
    constexpr bool by_halves = SumsRows != Left;  // lanes 8 to 15 read the tile's next rows
    if constexpr (SumsRows) {
      address = by_halves ? Tile::left_lane_address(tile, lane) : Tile::right_lane_address(tile, lane);
      if constexpr (aligned) {
        address = Tile::advance_columns(address, first);
      }
    } else {
      tile += first * 16 * Tile::row_bytes;
      address = by_halves ? Tile::left_lane_address(tile, lane) : Tile::right_lane_address(tile, lane);
    }
  }

  __device__ __forceinline__ void fetch(unsigned (&r)[4], int cell, int step) const {
    if constexpr (SumsRows) {
      const unsigned at = aligned ? Tile::advance_columns(address, cell) : Tile::advance_columns(address, first + cell);
      load_matrices_transposed(r, at + step * 16 * Tile::row_bytes);
    } else {
      load_matrices(r, Tile::advance_columns(address, step) + cell * 16 * Tile::row_bytes);
    }
  }
  __device__ __forceinline__ void advance(int steps) {
    address += SumsRows ? steps * 16 * Tile::row_bytes : 32 * steps;
  }
};

/// Cells of a matrix that this warp computes.
template <int Rows, int Columns, int Warps>
struct Part {
  static constexpr WarpGrid grid = gradient::warp_grid(Rows, Columns, Warps);
  static constexpr int all_rows = Rows / 16;
  static constexpr int all_columns = Columns / 16;
  static constexpr bool even = grid.rows * grid.down == all_rows && grid.columns * grid.across == all_columns;

  using Accumulator = float[grid.rows][2 * grid.columns][4];

  int row;     ///< first cell
  int column;  ///< first cell

  __device__ __forceinline__ explicit Part(int warp)
      : row(warp / grid.across * grid.rows), column(warp % grid.across * grid.columns) {}

  __device__ __forceinline__ bool has_row(int m) const { return even || row + m < all_rows; }
  __device__ __forceinline__ bool has_column(int n) const { return even || column + n < all_columns; }

  __device__ __forceinline__ static void clear(Accumulator& sum) {
#pragma unroll
    for (int m = 0; m < grid.rows; ++m) {
#pragma unroll
      for (int n = 0; n < 2 * grid.columns; ++n) {
        sum[m][n][0] = sum[m][n][1] = sum[m][n][2] = sum[m][n][3] = 0.0f;
      }
    }
  }

  /// sum += product over `Steps` x 16 summed rows or columns. `Tight`: no registers are left for prefetched fragments.
  template <int Steps, bool Tight = false, class LeftFactor, class RightFactor>
  __device__ __forceinline__ void multiply(Accumulator& sum, LeftFactor left, RightFactor right) const {
    // Full unrolling would make the compiler prefetch too many fragments and spill accumulators. The unrolled part
    // covers a whole period of the swizzle, which exists along columns only.
    constexpr bool rows_only = LeftFactor::sums_rows && RightFactor::sums_rows;
    constexpr int unrolled = Tight && rows_only ? 1 : Steps % 4 == 0 ? 4 : Steps % 2 == 0 ? 2 : Steps < 6 ? Steps : 1;
#pragma unroll 1
    for (int first = 0; first < Steps; first += unrolled) {
#pragma unroll
      for (int step = 0; step < unrolled; ++step) {
        unsigned a[grid.rows][4];
#pragma unroll
        for (int m = 0; m < grid.rows; ++m) {
          if (has_row(m)) {
            left.fetch(a[m], m, step);
          }
        }
#pragma unroll
        for (int n = 0; n < grid.columns; ++n) {
          if (has_column(n)) {
            unsigned b[4];
            right.fetch(b, n, step);
#pragma unroll
            for (int m = 0; m < grid.rows; ++m) {
              if (has_row(m)) {
                mma(sum[m][2 * n], a[m], b[0], b[1]);
                mma(sum[m][2 * n + 1], a[m], b[2], b[3]);
              }
            }
          }
        }
      }
      left.advance(unrolled);
      right.advance(unrolled);
    }
  }
};

__device__ __forceinline__ float load_shared_float(unsigned address) {
  float value;
  asm volatile("ld.shared.f32 %0, [%1];" : "=f"(value) : "r"(address));
  return value;
}
__device__ __forceinline__ void load_shared_16_bytes(unsigned (&r)[4], unsigned address) {
  asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(address));
}
__device__ __forceinline__ void store_shared_float(unsigned address, float value) {
  asm volatile("st.shared.f32 [%0], %1;" ::"r"(address), "f"(value) : "memory");
}
__device__ __forceinline__ void store_shared_pair(unsigned address, unsigned pair) {
  asm volatile("st.shared.u32 [%0], %1;" ::"r"(address), "r"(pair) : "memory");
}

struct DropoutStream {
  int keep;
  unsigned seed;
};

/// One K/V tile with its dK and dV; processes one Q tile after another.
template <int Br, int Bc, int D>
struct TileGradients {
  static constexpr int warps = gradient::warps(Br, Bc, D);
  static constexpr int chunk = gradient::chunk_columns(Br, Bc, D);

  using Tile = SharedTile<D>;
  using Scores = SharedTile<Bc>;
  using ScorePart = Part<Br, chunk, warps>;
  using KeyPart = Part<Bc, D, warps>;
  using QueryPart = Part<Br, D, warps>;
  static constexpr WarpGrid score_grid = ScorePart::grid;
  static constexpr WarpGrid key_grid = KeyPart::grid;
  static constexpr WarpGrid query_grid = QueryPart::grid;

  typename KeyPart::Accumulator dk;
  typename KeyPart::Accumulator dv;
  unsigned k, v, p, ds;  ///< shared addresses of the tiles
  int thread;
  int first_key;
  float scale;  ///< includes log2(e)

  // Recomputed at each use: values kept across the loop over Q tiles would take registers from the accumulators.
  __device__ __forceinline__ int warp() const { return force_recompute(thread) / 32; }
  __device__ __forceinline__ int lane() const { return force_recompute(thread) % 32; }

  __device__ __forceinline__ void clear() {
    KeyPart::clear(dk);
    KeyPart::clear(dv);
  }

  /// Zeros the entries that the mask hides. `row` and `key` belong to the lane's first element. Called behind a branch:
  /// if the compiler predicated it, unmasked tiles would pay for the compares.
  __device__ __forceinline__ static void clear_unseen(typename ScorePart::Accumulator& s, int row, int key,
                                                      const Visibility& sees) {
#pragma unroll
    for (int m = 0; m < score_grid.rows; ++m) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int first = sees.first(row + m * 16 + half * 8) - key;
        const int last = sees.last(row + m * 16 + half * 8) - key;
#pragma unroll
        for (int n = 0; n < 2 * score_grid.columns; ++n) {
#pragma unroll
          for (int e = 0; e < 2; ++e) {
            if ((bounded_left && n * 8 + e < first) || n * 8 + e >= last) {
              s[m][n][half * 2 + e] = 0.0f;
            }
          }
        }
      }
    }
  }

  /// Writes P o Z and dS of a Q tile to shared memory as 16-bit values. `shift`: shared address of the per-row
  /// exponents to subtract (LSE log2(e); +infinity for a row without visible keys). `delta`: shared address of the
  /// rows' D. Every warp calls `after_scores` once, before it reads either.
  template <class AfterScores>
  __device__ __forceinline__ void differentiate(unsigned q, unsigned dout, unsigned shift, unsigned delta,
                                                const Visibility& sees, int first_row, unsigned instance,
                                                const DropoutStream& dropout, AfterScores after_scores) const {
    const ScorePart part(warp());
    const int lane = this->lane();
#pragma unroll 1
    for (int column = 0; column < Bc; column += chunk) {
      typename ScorePart::Accumulator s;
      ScorePart::clear(s);
      part.template multiply<D / 16>(
          s, Factor<Tile, false, true, score_grid.rows>(q, part.row, lane),
          Factor<Tile, false, false, score_grid.columns>(k + column * Tile::row_bytes, part.column, lane));
      if (column == 0) {
        after_scores();
      }

      const int row = first_row + part.row * 16;
      const int key = first_key + column + part.column * 16;
#pragma unroll
      for (int m = 0; m < score_grid.rows; ++m) {
        if (!part.has_row(m)) {
          continue;
        }
#pragma unroll
        for (int half = 0; half < 2; ++half) {
          const float exponent = load_shared_float(shift + ((part.row + m) * 16 + half * 8 + lane / 4) * 4);
#pragma unroll
          for (int n = 0; n < 2 * score_grid.columns; ++n) {
            s[m][n][half * 2] = exp2_fast(s[m][n][half * 2] * scale - exponent);
            s[m][n][half * 2 + 1] = exp2_fast(s[m][n][half * 2 + 1] * scale - exponent);
          }
        }
      }
      if (!sees.whole(row, score_grid.rows * 16, key, score_grid.columns * 16)) {
        clear_unseen(s, row + lane / 4, key + lane % 4 * 2, sees);
      }
#pragma unroll
      for (int m = 0; m < score_grid.rows; ++m) {
        if (!part.has_row(m)) {
          continue;
        }
#if ATTN_DROPOUT
        drop(s[m], lane, first_row + (part.row + m) * 16, key, instance, dropout);
#endif
        store<true>(p, lane, s[m], part, m, column);
      }

      typename ScorePart::Accumulator dp;
      ScorePart::clear(dp);
      part.template multiply<D / 16>(
          dp, Factor<Tile, false, true, score_grid.rows>(dout, part.row, lane),
          Factor<Tile, false, false, score_grid.columns>(v + column * Tile::row_bytes, part.column, lane));
#if ATTN_DROPOUT
      const float kept = 256.0f / static_cast<float>(dropout.keep);
#endif
#pragma unroll
      for (int m = 0; m < score_grid.rows; ++m) {
        if (!part.has_row(m)) {
          continue;
        }
#pragma unroll
        for (int half = 0; half < 2; ++half) {
          const float row_delta = load_shared_float(delta + ((part.row + m) * 16 + half * 8 + lane / 4) * 4);
#pragma unroll
          for (int n = 0; n < 2 * score_grid.columns; ++n) {
#pragma unroll
            for (int e = 0; e < 2; ++e) {
              const float weight = s[m][n][half * 2 + e];
              float& gradient = dp[m][n][half * 2 + e];
#if ATTN_DROPOUT
              const bool dropped = __float_as_int(weight) < 0;
              gradient = fabsf(weight) * ((dropped ? 0.0f : gradient * kept) - row_delta);
#else
              gradient = weight * (gradient - row_delta);
#endif
            }
          }
        }
        store<false>(ds, lane, dp[m], part, m, column);
      }
    }
  }

  /// dV += P^T dO without the dropout scale; dK += dS^T Q without the softmax scale.
  __device__ __forceinline__ void add_values(unsigned dout) {
    add_keys_of(dv, p, dout);
  }
  __device__ __forceinline__ void add_keys(unsigned q) {
    add_keys_of(dk, ds, q);
  }

  /// dQ += dS K without the softmax scale.
  __device__ __forceinline__ void add_queries(typename QueryPart::Accumulator& dq) const {
    const QueryPart part(warp());
    const int lane = this->lane();
    part.template multiply<Bc / 16>(dq, Factor<Scores, false, true, query_grid.rows>(ds, part.row, lane),
                                    Factor<Tile, true, false, query_grid.columns>(k, part.column, lane));
  }

  /// Calls visit(row in the tile, column, m, n, half) for each 8 x 16 block of dQ that this warp owns; m, n and half
  /// index its elements in `dq`.
  template <class Visit>
  __device__ __forceinline__ void each_query_block(Visit visit) const {
    const QueryPart part(warp());
#pragma unroll
    for (int m = 0; m < query_grid.rows; ++m) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
#pragma unroll
        for (int n = 0; n < query_grid.columns; ++n) {
          if (part.has_row(m) && part.has_column(n)) {
            visit((part.row + m) * 16 + half * 8, (part.column + n) * 16, m, n, half);
          }
        }
      }
    }
  }

  /// Stores dQ. `target` is the tile's first row; `inside` rows exist.
  __device__ __forceinline__ void store_queries(Element* target, const typename QueryPart::Accumulator& dq, int inside,
                                                float scale_q) const {
    const QueryPart part(warp());
    const int lane = this->lane();
#pragma unroll
    for (int m = 0; m < query_grid.rows; ++m) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int row = (part.row + m) * 16 + half * 8 + lane / 4;
        store_scaled<query_grid.columns>(target + static_cast<long long>(row) * D + part.column * 16, dq[m], half,
                                         scale_q, D - part.column * 16, part.has_row(m) && row < inside);
      }
    }
  }

  /// Stores dK and dV. `target_k` and `target_v` are the tile's first rows; `inside` rows exist.
  __device__ __forceinline__ void store_keys(Element* target_k, Element* target_v, int inside, float scale_k,
                                             float scale_v) const {
    const KeyPart part(warp());
    const int lane = this->lane();
#pragma unroll
    for (int m = 0; m < key_grid.rows; ++m) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int row = (part.row + m) * 16 + half * 8 + lane / 4;
        const long long at = static_cast<long long>(row) * D + part.column * 16;
        store_scaled<key_grid.columns>(target_k + at, dk[m], half, scale_k, D - part.column * 16,
                                       part.has_row(m) && row < inside);
        store_scaled<key_grid.columns>(target_v + at, dv[m], half, scale_v, D - part.column * 16,
                                       part.has_row(m) && row < inside);
      }
    }
  }

 private:
  __device__ __forceinline__ void add_keys_of(typename KeyPart::Accumulator& sum, unsigned weights, unsigned rows) {
    const KeyPart part(warp());
    const int lane = this->lane();
    part.template multiply<Br / 16, (D > 128)>(sum, Factor<Scores, true, true, key_grid.rows>(weights, part.row, lane),
                                               Factor<Tile, true, false, key_grid.columns>(rows, part.column, lane));
  }

  template <int Cells>
  __device__ __forceinline__ static void store_scaled(Element* row, const float (&sum)[2 * Cells][4], int half,
                                                      float scale, int columns, bool inside) {
    unsigned pairs[2 * Cells];
#pragma unroll
    for (int n = 0; n < 2 * Cells; ++n) {
      pairs[n] = pack(sum[n][half * 2] * scale, sum[n][half * 2 + 1] * scale);
    }
    store_row(row, pairs, columns, inside);
  }

  /// Stores 16 rows of this warp's part of P o Z or dS. Dropped entries of P have their sign bit set.
  template <bool DropNegative>
  __device__ __forceinline__ static void store(unsigned tile, int lane, const float (&s)[2 * score_grid.columns][4],
                                               const ScorePart& part, int m, int column) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int row = (part.row + m) * 16 + half * 8 + lane / 4;
      const unsigned first = tile + lane % 4 * 4;
#pragma unroll
      for (int n = 0; n < 2 * score_grid.columns; ++n) {
        if (part.has_column(n / 2)) {
          float low = s[n][half * 2];
          float high = s[n][half * 2 + 1];
#if ATTN_DROPOUT
          if (DropNegative) {
            low = fmaxf(low, 0.0f);
            high = fmaxf(high, 0.0f);
          }
#endif
          store_shared_pair(first + Scores::offset(row, column / 8 + part.column * 2 + n), pack(low, high));
        }
      }
    }
  }

#if ATTN_DROPOUT
  /// Sets the sign bit of the dropped entries of 16 rows. Philox returns the bytes of 32 columns at a time.
  __device__ __forceinline__ static void drop(float (&s)[2 * score_grid.columns][4], int lane, int row, int key,
                                              unsigned instance, const DropoutStream& dropout) {
    constexpr bool whole_calls = score_grid.columns % 2 == 0 && Bc % 32 == 0 && chunk % 32 == 0;
    Philox4 bytes;
#pragma unroll
    for (int n = 0; n < score_grid.columns; ++n) {
      const int column = key + n * 16;
      if (!whole_calls || n % 2 == 0) {
        bytes = dropout_bytes(dropout.seed, instance, row + lane / 4, column + lane % 4 * 2);
      }
      const bool right = whole_calls ? n % 2 == 1 : column % 32 != 0;
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        // Bytes 0 and 1 belong to the first 8 columns, 2 and 3 to the next 8, and so on; 8 bytes per half.
        const unsigned four = right ? bytes.word[half * 2 + 1] : bytes.word[half * 2];
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          if ((four >> (8 * i) & 0xFFu) >= static_cast<unsigned>(dropout.keep)) {
            float& weight = s[2 * n + i / 2][half * 2 + i % 2];
            weight = -weight;
          }
        }
      }
    }
  }
#endif
};

}  // namespace attnscope::device
