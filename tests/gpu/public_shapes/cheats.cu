// SPDX-License-Identifier: Apache-2.0
// A forward kernel that cheats in the way that CHEAT selects; 1 is honest. A warp per row of Q.
#include <cuda_fp16.h>

enum {
  honest = 1,
  skips_last_rows,
  half_of_heads,
  cached_output,
  reads_beyond,
  writes_outside,
  changes_input,
  coarse_sums,
  only_once
};

#define MINUS_INFINITY __int_as_float(0xFF800000)

constexpr int warps = 4;
constexpr int words = HEAD_DIM / 64;  // half2 per lane and row
constexpr int kept_rows = 1 << 16;    // a larger problem is not cached

__device__ int executions[kept_rows];  // per row, since the module was loaded
__device__ half2 kept[kept_rows][HEAD_DIM / 2];
__device__ float kept_lse[kept_rows];

__device__ float warp_sum(float value) {
  for (int other = 16; other > 0; other /= 2) value += __shfl_xor_sync(0xFFFFFFFF, value, other);
  return value;
}

__device__ float2 load_two(const half* row, int word) {
  const unsigned bits = __ldcg(reinterpret_cast<const unsigned*>(row) + word);
  return __half22float2(*reinterpret_cast<const half2*>(&bits));
}

// Rounds a sum to fp16 if CHEAT is coarse_sums.
__device__ float rounded(float value) {
  return CHEAT == coarse_sums ? __half2float(__float2half_rn(value)) : value;
}

extern "C" __global__ void cheating_forward(const half* q, half* k, const half* v, half* o, float* lse, int instances,
                                            int n_q, int n_k, float scale, int causal) {
  const int lane = threadIdx.x % 32;
  const int row = blockIdx.x * warps + threadIdx.x / 32;
  if (row >= n_q) return;
  const int instance = blockIdx.y;
  const long long at = (long long)instance * n_q + row;
  half* const keys = k + (long long)instance * n_k * HEAD_DIM;
  const half* const values = v + (long long)instance * n_k * HEAD_DIM;
  half2* const target = reinterpret_cast<half2*>(o + at * HEAD_DIM);

  const bool is_counted = at < kept_rows;
  const bool is_repeated = is_counted && executions[at] > 0;
  __syncwarp();
  if (is_counted && lane == 0) ++executions[at];
  if (CHEAT == skips_last_rows && row >= n_q - 4 && n_q > 4) return;
  if (CHEAT == half_of_heads && is_repeated && instance >= (instances + 1) / 2) return;
  if (CHEAT == only_once && is_repeated) return;
  if (CHEAT == cached_output && is_repeated) {
    for (int i = 0; i < words; ++i) target[i * 32 + lane] = kept[at][i * 32 + lane];
    if (lane == 0) lse[at] = kept_lse[at];
    return;
  }

  const int last = causal ? min(n_k - 1, row + n_k - n_q) : n_k - 1;
  float2 query[words];
  for (int i = 0; i < words; ++i) query[i] = load_two(q + at * HEAD_DIM, i * 32 + lane);
  float2 out[words] = {};
  float maximum = MINUS_INFINITY;
  float sum = 0.0f;
  for (int j = 0; j <= last; ++j) {
    float product = 0.0f;
    for (int i = 0; i < words; ++i) {
      const float2 two = load_two(keys + (long long)j * HEAD_DIM, i * 32 + lane);
      product += query[i].x * two.x + query[i].y * two.y;
    }
    const float score = warp_sum(product) * scale;
    const float highest = fmaxf(maximum, score);
    const float correction = expf(maximum - highest);
    const float weight = expf(score - highest);
    maximum = highest;
    sum = rounded(sum * correction + weight);
    for (int i = 0; i < words; ++i) {
      const float2 value = load_two(values + (long long)j * HEAD_DIM, i * 32 + lane);
      out[i].x = rounded(out[i].x * correction + weight * value.x);
      out[i].y = rounded(out[i].y * correction + weight * value.y);
    }
  }
  if (CHEAT == reads_beyond && at == (long long)instances * n_q - 1) {  // a whole tile past the last key
    const half* const end = values + (long long)n_k * HEAD_DIM;
    for (int j = 0; j < 64; ++j) {
      [[maybe_unused]] unsigned bits;
      asm volatile("ld.volatile.global.u32 %0, [%1];" : "=r"(bits) : "l"(end + j * HEAD_DIM + 2 * lane));
    }
  }

  const float inverse = sum > 0.0f ? 1.0f / sum : 0.0f;
  const float row_lse = sum > 0.0f ? maximum + logf(sum) : MINUS_INFINITY;
  for (int i = 0; i < words; ++i) {
    const half2 two = __floats2half2_rn(out[i].x * inverse, out[i].y * inverse);
    target[i * 32 + lane] = two;
    if (CHEAT == cached_output && is_counted) kept[at][i * 32 + lane] = two;
  }
  if (lane == 0) {
    lse[at] = row_lse;
    if (CHEAT == cached_output && is_counted) kept_lse[at] = row_lse;
    if (CHEAT == changes_input && row == 0) keys[0] = __float2half_rn(__half2float(keys[0]) + 1.0f);
  }
  if (CHEAT == writes_outside && at == (long long)instances * n_q - 1) {
    target[HEAD_DIM / 2 + lane] = __floats2half2_rn(0.0f, 0.0f);  // the row after the last one
  }
}

// Copies up to three buffers of `count` uint4.
extern "C" __global__ void copy_buffers(const uint4* a, const uint4* b, const uint4* c, uint4* to_a, uint4* to_b,
                                        uint4* to_c, long long count) {
  const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  to_a[i] = a[i];
  if (b != nullptr) to_b[i] = b[i];
  if (c != nullptr) to_c[i] = c[i];
}
