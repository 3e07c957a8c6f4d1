// SPDX-License-Identifier: Apache-2.0
// Combines a GPU's partial results, one per GPU whose keys it saw: O = sum over the parts of exp(LSE_p - LSE) O_p, LSE
// = log sum exp LSE_p.
//
// Tile program of block (instance, 16 rows):
//   load LSE, then O of every part that has the rows; store O and LSE
// The first `whole` parts have all n rows of an instance, the `later` parts the rows from `first`.
#include "device/element.cuh"
#include "device/global.cuh"
#include "ringattn/ringattn_combine_shape.h"

namespace attnscope::ringattn {

using namespace device;

constexpr int d = ATTN_D;

}  // namespace attnscope::ringattn

extern "C" __global__ void __launch_bounds__(attnscope::ringattn::combine_threads(ATTN_D))
    attn_ringattn_combine(const unsigned short* o_parts, const float* lse_parts, unsigned short* o, float* lse, int n,
                          int whole, int later, int first, long long o_stride, long long lse_stride) {
  using namespace attnscope::ringattn;
  __shared__ float part_lse[max_parts][combine_rows];

  const int tiles = (n + combine_rows - 1) / combine_rows;
  const int instance = static_cast<int>(blockIdx.x) / tiles;
  const int first_row = (static_cast<int>(blockIdx.x) - instance * tiles) * combine_rows;
  const int parts = whole + later;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  for (int part = static_cast<int>(threadIdx.x) / 32; part < parts; part += combine_threads(d) / 32) {
    const int missing = part < whole ? 0 : first;
    const int row = first_row + lane;
    if (lane < combine_rows) {
      part_lse[part][lane] = row < n && row >= missing
                                 ? load_float(lse_parts + part * lse_stride +
                                              static_cast<long long>(instance) * (n - missing) + row - missing)
                                 : minus_infinity;
    }
  }
  __syncthreads();

  const int own = static_cast<int>(threadIdx.x) / (d / combine_columns);
  const int column = static_cast<int>(threadIdx.x) % (d / combine_columns) * combine_columns;
  const int row = first_row + own;
  float maximum = minus_infinity;
  for (int part = 0; part < parts; ++part) {
    maximum = fmaxf(maximum, part_lse[part][own]);
  }
  const float reference = maximum == minus_infinity ? 0.0f : maximum * log2_e;
  float sum = 0.0f;
  float sums[combine_columns] = {};
#pragma unroll 4
  for (int part = 0; part < parts; ++part) {
    const int missing = part < whole ? 0 : first;
    const float weight = exp2_fast(part_lse[part][own] * log2_e - reference);
    sum += weight;
    if (row < n && row >= missing) {
      const long long source = static_cast<long long>(instance) * (n - missing) + row - missing;
      const uint4 packed = load_16_bytes(o_parts + part * o_stride + source * d + column);
      const unsigned words[4] = {packed.x, packed.y, packed.z, packed.w};
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const float2 pair = unpack(words[i]);
        sums[2 * i] += weight * pair.x;
        sums[2 * i + 1] += weight * pair.y;
      }
    }
  }
  const float inverse = sum > 0.0f ? __fdividef(1.0f, sum) : 0.0f;
  if (row < n) {
    const long long target = static_cast<long long>(instance) * n + row;
    store_16_bytes(o + target * d + column, pack(sums[0] * inverse, sums[1] * inverse),
                   pack(sums[2] * inverse, sums[3] * inverse), pack(sums[4] * inverse, sums[5] * inverse),
                   pack(sums[6] * inverse, sums[7] * inverse));
  }
  // One request stores the block's LSE, gathered from its threads.
  __syncthreads();
  if (column == 0) {
    part_lse[0][own] = sum > 0.0f ? maximum + __log2f(sum) * ln_2 : minus_infinity;
  }
  __syncthreads();
  if (threadIdx.x < combine_rows && first_row + static_cast<int>(threadIdx.x) < n) {
    store_float(lse + static_cast<long long>(instance) * n + first_row + threadIdx.x, part_lse[0][threadIdx.x]);
  }
}
