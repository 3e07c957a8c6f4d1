// SPDX-License-Identifier: Apache-2.0
// LSE and D = rowsum(dO o O) of each query row of one head, for the reference; on the device because the host would
// take minutes. Each is also computed with S, P and O rounded to 16 bits, as in standard attention. Plain fp32 loops
// with a separate mask implementation, sharing nothing with the kernels under test. One source serves every dtype, head
// dimension (up to 256), mask and dropout.

#include "device/philox_shape.h"

namespace {

constexpr int warps = 4;
constexpr int rows_per_warp = 4;
constexpr int rows = warps * rows_per_warp;
constexpr int keys = 32;             // keys per tile, one per lane
constexpr int columns_per_lane = 8;  // 32 lanes hold d <= 256
constexpr int chunk = 16;            // products per partial sum: shorter sums have less rounding error
constexpr unsigned all_lanes = 0xffffffffu;
constexpr float minus_infinity = __builtin_bit_cast(float, 0xff800000u);

__device__ float to_float(unsigned short bits, int bf16) {
  if (bf16) return __uint_as_float(static_cast<unsigned>(bits) << 16);
  float value;
  asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(bits));
  return value;
}

__device__ float rounded(float value, int bf16) {
  unsigned short bits;
  if (bf16) {
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(bits) : "f"(value));
  } else {
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(value));
  }
  return to_float(bits, bf16);
}

struct Softmax {
  float max = minus_infinity;
  float sum = 0.0f;

  __device__ void add(float score) {
    if (score > max) {
      sum = sum * expf(max - score) + 1.0f;
      max = score;
    } else {
      sum += expf(score - max);
    }
  }
  __device__ float lse() {
    float highest = max;
    for (int lane = 16; lane > 0; lane /= 2) highest = fmaxf(highest, __shfl_xor_sync(all_lanes, highest, lane));
    if (highest == minus_infinity) return minus_infinity;
    float total = sum * expf(max - highest);
    for (int lane = 16; lane > 0; lane /= 2) total += __shfl_xor_sync(all_lanes, total, lane);
    return highest + logf(total);
  }
};

/// Loads rows [first, first + keys) of a matrix as fp32; zero-fills rows past its end.
__device__ void load_tile(float* tile, const unsigned short* matrix, int first, int count, int d, int stride,
                          int bf16) {
  __syncthreads();
  for (int e = static_cast<int>(threadIdx.x); e < keys * d; e += warps * 32) {
    const int row = e / d;
    const long long at = (static_cast<long long>(first) + row) * d + e % d;
    tile[row * stride + e % d] = first + row < count ? to_float(matrix[at], bf16) : 0.0f;
  }
  __syncthreads();
}

}  // namespace

// q, k, v, dout: matrices of the head. result: [4, n_q]: LSE, D, LSE in 16 bits, D in 16 bits.
// length: number of unpadded keys; left, right: window, negative if unlimited. Grid: ceil(n_q / 16) blocks of
// 128 threads; shared memory: 4 (32 (d | 1) + 16 d + 2 16 32) bytes.
extern "C" __global__ void __launch_bounds__(warps * 32)
    attn_row_statistics(const unsigned short* q, const unsigned short* k, const unsigned short* v,
                        const unsigned short* dout, float* result, const unsigned char* block_mask, int bf16, int n_q,
                        int d, float scale, int length, int left, int right, int mask_block, int block_columns,
                        int keep, int seed, int instance) {
  extern __shared__ float shared[];
  const int stride = d | 1;  // odd: the lanes' rows lie in different banks
  float* const tile = shared;
  float* const query = tile + keys * stride;
  float* const weight = query + rows * d;
  float* const weight16 = weight + rows * keys;

  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int block_row = static_cast<int>(blockIdx.x) * rows;
  const int first_row = block_row + warp * rows_per_warp;
  for (int e = static_cast<int>(threadIdx.x); e < rows * d; e += warps * 32) {
    const long long at = static_cast<long long>(block_row) * d + e;
    query[e] = block_row + e / d < n_q ? to_float(q[at], bf16) : 0.0f;
  }

  const auto sees = [&](int row, int key) {
    const long long diagonal = static_cast<long long>(row) + length - n_q;
    if (row >= n_q || key >= length) return false;
    if (left >= 0 && key < diagonal - left) return false;
    if (right >= 0 && key > diagonal + right) return false;
    return block_mask == nullptr || block_mask[row / mask_block * block_columns + key / mask_block] != 0;
  };
  const auto score = [&](float(&s)[rows_per_warp]) {
    for (int r = 0; r < rows_per_warp; ++r) s[r] = 0.0f;
    for (int begin = 0; begin < d; begin += chunk) {
      float part[rows_per_warp] = {};
      for (int c = begin; c < min(begin + chunk, d); ++c) {
        const float x = tile[lane * stride + c];
        for (int r = 0; r < rows_per_warp; ++r) part[r] += query[(warp * rows_per_warp + r) * d + c] * x;
      }
      for (int r = 0; r < rows_per_warp; ++r) s[r] += part[r];
    }
    for (int r = 0; r < rows_per_warp; ++r) s[r] *= scale;
  };

  Softmax exact[rows_per_warp];
  Softmax rounded_scores[rows_per_warp];
  float s[rows_per_warp];
  for (int first = 0; first < length; first += keys) {
    load_tile(tile, k, first, length, d, stride, bf16);
    score(s);
    for (int r = 0; r < rows_per_warp; ++r) {
      if (!sees(first_row + r, first + lane)) continue;
      exact[r].add(s[r]);
      rounded_scores[r].add(rounded(s[r], bf16));
    }
  }
  float lse[rows_per_warp];
  float lse16[rows_per_warp];
  for (int r = 0; r < rows_per_warp; ++r) {
    lse[r] = exact[r].lse();
    lse16[r] = rounded_scores[r].lse();
    if (lane == 0 && first_row + r < n_q) {
      result[first_row + r] = lse[r];
      result[2ll * n_q + first_row + r] = lse16[r];
    }
  }

  float o[rows_per_warp][columns_per_lane] = {};
  float o16[rows_per_warp][columns_per_lane] = {};
  for (int first = 0; first < length; first += keys) {
    load_tile(tile, k, first, length, d, stride, bf16);
    score(s);
    for (int r = 0; r < rows_per_warp; ++r) {
      const int row = first_row + r;
      const bool counts = sees(row, first + lane);
      float p = counts ? expf(s[r] - lse[r]) : 0.0f;
      float p16 = counts ? rounded(expf(rounded(s[r], bf16) - lse16[r]), bf16) : 0.0f;
      if (keep < 256) {
        const unsigned byte = attnscope::dropout_byte(static_cast<unsigned>(seed), static_cast<unsigned>(instance),
                                                      static_cast<unsigned>(row), static_cast<unsigned>(first + lane));
        const float factor = byte < static_cast<unsigned>(keep) ? 256.0f / static_cast<float>(keep) : 0.0f;
        p *= factor;
        p16 = rounded(p16 * factor, bf16);
      }
      weight[(warp * rows_per_warp + r) * keys + lane] = p;
      weight16[(warp * rows_per_warp + r) * keys + lane] = p16;
    }
    load_tile(tile, v, first, length, d, stride, bf16);
    for (int j = 0; j < keys; ++j) {
#pragma unroll
      for (int m = 0; m < columns_per_lane; ++m) {
        const int column = lane + 32 * m;
        const float x = column < d ? tile[j * stride + column] : 0.0f;
        for (int r = 0; r < rows_per_warp; ++r) {
          o[r][m] += weight[(warp * rows_per_warp + r) * keys + j] * x;
          o16[r][m] += weight16[(warp * rows_per_warp + r) * keys + j] * x;
        }
      }
    }
  }
  for (int r = 0; r < rows_per_warp; ++r) {
    const int row = first_row + r;
    float delta = 0.0f;
    float delta16 = 0.0f;
#pragma unroll
    for (int m = 0; m < columns_per_lane; ++m) {
      const int column = lane + 32 * m;
      if (row >= n_q || column >= d) continue;
      const float gradient = to_float(dout[static_cast<long long>(row) * d + column], bf16);
      delta += o[r][m] * gradient;
      delta16 += rounded(o16[r][m], bf16) * gradient;
    }
    for (int other = 16; other > 0; other /= 2) {
      delta += __shfl_xor_sync(all_lanes, delta, other);
      delta16 += __shfl_xor_sync(all_lanes, delta16, other);
    }
    if (lane == 0 && row < n_q) {
      result[1ll * n_q + row] = delta;
      result[3ll * n_q + row] = delta16;
    }
  }
}
