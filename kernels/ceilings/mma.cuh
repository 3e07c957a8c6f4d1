// SPDX-License-Identifier: Apache-2.0
// Tensor-core throughput of mma.sync in the dtype of ATTN_BF16. Operands are in registers, with eight independent
// products per warp. Elements have random signs and magnitudes as in attention, because the data affects power and thus
// the clock.
#include "ceilings/stopwatch.cuh"
#include "device/ceiling_shape.h"
#include "device/mma.cuh"

using namespace attnscope::device;

// Runs `iterations` x mma_products products of 16 x 8 x 16 per warp.
extern "C" __global__ void attn_ceiling_mma(unsigned long long* report, int iterations) {
  const unsigned seed = (blockIdx.x * blockDim.x + threadIdx.x) * 2654435761u;
  unsigned a[4];
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    a[i] = attnscope::ceiling_operand(seed + i * 40503u);
  }
  const unsigned b[2] = {attnscope::ceiling_operand(seed ^ 0x5bd1e995u), attnscope::ceiling_operand(~seed)};
  float d[attnscope::mma_products][4] = {};
  const Stopwatch begin = Stopwatch::now();
  for (int i = 0; i < iterations; ++i) {
#pragma unroll
    for (int p = 0; p < attnscope::mma_products; ++p) {
      mma(d[p], a, b[p % 2], b[1 - p % 2]);
    }
  }
  float sum = 0;
#pragma unroll
  for (int p = 0; p < attnscope::mma_products; ++p) {
    sum += d[p][0] + d[p][1] + d[p][2] + d[p][3];
  }
  finish(report, begin, __float_as_uint(sum));
}
