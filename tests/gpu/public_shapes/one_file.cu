// SPDX-License-Identifier: Apache-2.0
// Attention with its launcher and a main() in one file, as a program to try it with: a warp per row of Q, no tiles.
// nvcc -arch=sm_90a -DHEAD_DIM=64 one_file.cu && ./a.out
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cmath>
#include <cstdlib>
#include <iostream>
#include <vector>

#ifndef HEAD_DIM
#define HEAD_DIM 64
#endif

constexpr int warps = 4;
constexpr int words = HEAD_DIM / 64;  // half2 per lane and row

__device__ float warp_sum(float value) {
  for (int other = 16; other > 0; other /= 2) value += __shfl_xor_sync(0xFFFFFFFF, value, other);
  return value;
}

__device__ float2 load_two(const half* row, int word) {
  const unsigned bits = __ldcg(reinterpret_cast<const unsigned*>(row) + word);
  return __half22float2(*reinterpret_cast<const half2*>(&bits));
}

// Computes a row of O with one warp and returns its LSE.
__device__ float attend(const half* q, const half* k, const half* v, half* o, int row, int n_q, int n_k, float scale,
                        bool causal) {
  const int lane = threadIdx.x % 32;
  const long long at = (long long)blockIdx.y * n_q + row;
  const half* key = k + (long long)blockIdx.y * n_k * HEAD_DIM;
  const half* value = v + (long long)blockIdx.y * n_k * HEAD_DIM;
  const int keys = causal ? min(n_k, row + n_k - n_q + 1) : n_k;

  float2 query[words];
  float2 out[words];
  for (int i = 0; i < words; ++i) {
    query[i] = load_two(q + at * HEAD_DIM, i * 32 + lane);
    out[i] = make_float2(0.0f, 0.0f);
  }
  float maximum = -INFINITY;
  float sum = 0.0f;
  for (int j = 0; j < keys; ++j, key += HEAD_DIM, value += HEAD_DIM) {
    float product = 0.0f;
    for (int i = 0; i < words; ++i) {
      const float2 two = load_two(key, i * 32 + lane);
      product += query[i].x * two.x + query[i].y * two.y;
    }
    const float score = warp_sum(product) * scale;
    const float highest = fmaxf(maximum, score);
    const float correction = expf(maximum - highest);
    const float weight = expf(score - highest);
    maximum = highest;
    sum = sum * correction + weight;
    for (int i = 0; i < words; ++i) {
      const float2 two = load_two(value, i * 32 + lane);
      out[i].x = out[i].x * correction + weight * two.x;
      out[i].y = out[i].y * correction + weight * two.y;
    }
  }

  const float inverse = keys > 0 ? 1.0f / sum : 0.0f;
  half2* const target = reinterpret_cast<half2*>(o + at * HEAD_DIM);
  for (int i = 0; i < words; ++i) target[i * 32 + lane] = __floats2half2_rn(out[i].x * inverse, out[i].y * inverse);
  return keys > 0 ? maximum + logf(sum) : -INFINITY;
}

// Q, O: [instances, n_q, d]; K, V: [instances, n_k, d]; LSE: [instances, n_q].
extern "C" __global__ void attention_rows(const half* q, const half* k, const half* v, half* o, float* lse, int n_q,
                                          int n_k, float scale, bool causal) {
  __shared__ float row_lse[warps];  // one request stores the LSE of the block
  const int first = blockIdx.x * warps;
  const int warp = threadIdx.x / 32;
  if (first + warp < n_q) row_lse[warp] = attend(q, k, v, o, first + warp, n_q, n_k, scale, causal);
  __syncthreads();
  const int row = first + threadIdx.x;
  if (threadIdx.x < warps && row < n_q) lse[(long long)blockIdx.y * n_q + row] = row_lse[threadIdx.x];
}

#ifndef __CUDACC_RTC__

#define CHECK(call)                                                     \
  do {                                                                  \
    const cudaError_t status = (call);                                  \
    if (status != cudaSuccess) {                                        \
      std::cerr << #call << ": " << cudaGetErrorString(status) << '\n'; \
      std::exit(1);                                                     \
    }                                                                   \
  } while (false)

void attention(const half* q, const half* k, const half* v, half* o, float* lse, int instances, int n_q, int n_k,
               bool causal) {
  const dim3 grid((n_q + warps - 1) / warps, instances);
  const float scale = 1.0f / std::sqrt(static_cast<float>(HEAD_DIM));
  attention_rows<<<grid, 32 * warps>>>(q, k, v, o, lse, n_q, n_k, scale, causal);
  CHECK(cudaGetLastError());
}

int main() {
  constexpr int instances = 4;
  constexpr int n = 256;
  constexpr std::size_t elements = std::size_t{instances} * n * HEAD_DIM;
  std::vector<half> ones(elements, __float2half(1.0f));
  half* tensors[4];
  float* lse = nullptr;
  for (half*& each : tensors) {
    CHECK(cudaMalloc(&each, elements * sizeof(half)));
    CHECK(cudaMemcpy(each, ones.data(), elements * sizeof(half), cudaMemcpyHostToDevice));
  }
  CHECK(cudaMalloc(&lse, instances * n * sizeof(float)));
  attention(tensors[0], tensors[1], tensors[2], tensors[3], lse, instances, n, n, false);
  float first = 0.0f;
  CHECK(cudaMemcpy(&first, lse, sizeof(float), cudaMemcpyDeviceToHost));
  std::cout << "LSE: " << first << ", expected: " << std::sqrt(float{HEAD_DIM}) + std::log(float{n}) << '\n';
  return 0;
}

#endif
