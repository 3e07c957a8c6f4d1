// SPDX-License-Identifier: Apache-2.0
// Flash-Decoding, second kernel: O = sum over the splits of exp(LSE_s - LSE) O_s, LSE = log sum exp LSE_s.
//
// Tile program of block (K/V head, eight of its packed rows, 16 columns of d), S splits with keys:
//   load partial LSE, load partial O of all S splits; store O, and LSE with the first columns
// The splits with keys follow from the entry's length alone, without reading the partial LSE. A row that sees no key of
// a split has LSE -inf there and weight zero; a row that sees no key at all gets O = 0, LSE = -inf. The kernel starts
// early (programmatic dependent launch), which hides its launch latency.
#include "device/early_start.cuh"
#include "device/global.cuh"
#include "splitkv/splitkv_shape.h"

namespace attnscope::splitkv {

using namespace device;

constexpr int d = ATTN_D;
constexpr bool lengths = (ATTN_MASK & 4) != 0;
constexpr int at_once = combine_splits;

}  // namespace attnscope::splitkv

extern "C" __global__ void __launch_bounds__(attnscope::splitkv::combine_warps * 32)
    attn_splitkv_combine(const float* o_part, const float* lse_part, unsigned short* o, float* lse, int group, int n_q,
                         int n_k, int splits, int heads_q, int left, int right, const int* key_lengths,
                         const unsigned char* block_mask, int mask_block, int keep, unsigned seed) {
  using namespace attnscope::splitkv;
  __shared__ float4 sums_o[combine_warps][32];
  __shared__ float sums[combine_warps][combine_rows];
  __shared__ float maxima[combine_warps][combine_rows];

  constexpr int slices = d / combine_columns;
  const int rows = group * n_q;
  const int row_groups = (rows + combine_rows - 1) / combine_rows;
  const unsigned block = blockIdx.x / slices;
  const int slice = static_cast<int>(blockIdx.x - block * slices);
  const int kv = static_cast<int>(block / static_cast<unsigned>(row_groups));
  const int first_row = (static_cast<int>(block) - kv * row_groups) * combine_rows;

  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int row = lane / 4;  // four lanes hold 16 columns of a row
  const bool inside = first_row + row < rows;

  int length = n_k;
  if constexpr (lengths) {
    __shared__ int shared_length;  // read by one thread, since every read past L1 is traffic
    if (threadIdx.x == 0) {
      shared_length = __ldcg(key_lengths + kv / (heads_q / group));
    }
    __syncthreads();
    length = shared_length;
  }
  const int used = nonempty_split_count(length, splits);
  const long long first_part = static_cast<long long>(kv) * splits;
  const int lse_stride = lse_rows(rows);
  const int o_stride = rows * d;
  const float* const split_lse = lse_part + first_part * lse_stride + first_row + row;
  const float* const split_o =
      o_part + first_part * o_stride + (first_row + row) * d + slice * combine_columns + lane % 4 * 4;

  wait_for_previous_launch();
  float maximum = minus_infinity;
  float sum = 0.0f;
  float4 sum_o = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
  int split = warp;
#pragma unroll 1
  do {
    float part_lse[at_once];
    uint4 part_o[at_once];
#pragma unroll
    for (int i = 0; i < at_once; ++i) {
      const int s = split + i * combine_warps;
      part_lse[i] = minus_infinity;
      part_o[i] = make_uint4(0, 0, 0, 0);
      if (s < used) {
        part_lse[i] = load_float(split_lse + static_cast<long long>(s) * lse_stride);
      }
      if (s < used && inside) {
        part_o[i] = load_16_bytes(split_o + static_cast<long long>(s) * o_stride);
      }
    }
    const float before = maximum;
#pragma unroll
    for (int i = 0; i < at_once; ++i) {
      maximum = fmaxf(maximum, part_lse[i]);
    }
    const float reference = maximum == minus_infinity ? 0.0f : maximum * log2_e;
    const float correction = exp2_fast(before * log2_e - reference);
    sum *= correction;
    sum_o.x *= correction;
    sum_o.y *= correction;
    sum_o.z *= correction;
    sum_o.w *= correction;
#pragma unroll
    for (int i = 0; i < at_once; ++i) {
      const float weight = exp2_fast(part_lse[i] * log2_e - reference);
      sum += weight;
      sum_o.x += weight * __uint_as_float(part_o[i].x);
      sum_o.y += weight * __uint_as_float(part_o[i].y);
      sum_o.z += weight * __uint_as_float(part_o[i].z);
      sum_o.w += weight * __uint_as_float(part_o[i].w);
    }
    split += at_once * combine_warps;
  } while (split < used);
  sums_o[warp][lane] = sum_o;
  if (lane % 4 == 0) {
    sums[warp][row] = sum;
    maxima[warp][row] = maximum;
  }
  __syncthreads();
  if (warp == 0) {
    float parts[combine_warps];
    maximum = minus_infinity;
#pragma unroll
    for (int w = 0; w < combine_warps; ++w) {
      parts[w] = maxima[w][row];
      maximum = fmaxf(maximum, parts[w]);
    }
    const float reference = maximum == minus_infinity ? 0.0f : maximum * log2_e;
    sum = 0.0f;
    sum_o = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
#pragma unroll
    for (int w = 0; w < combine_warps; ++w) {
      const float weight = exp2_fast(parts[w] * log2_e - reference);
      const float4 part = sums_o[w][lane];
      sum += weight * sums[w][row];
      sum_o.x += weight * part.x;
      sum_o.y += weight * part.y;
      sum_o.z += weight * part.z;
      sum_o.w += weight * part.w;
    }
    const float inverse = sum > 0.0f ? __fdividef(1.0f, sum) : 0.0f;
    if (inside) {
      const long long out_row = static_cast<long long>(kv) * rows + first_row + row;
      store_8_bytes(o + out_row * d + slice * combine_columns + lane % 4 * 4,
                    pack(sum_o.x * inverse, sum_o.y * inverse), pack(sum_o.z * inverse, sum_o.w * inverse));
      if (slice == 0 && lane % 4 == 0) {
        store_float(lse + out_row, sum > 0.0f ? maximum + __log2f(sum) * ln_2 : minus_infinity);
      }
    }
  }
}
