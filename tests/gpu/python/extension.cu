// SPDX-License-Identifier: Apache-2.0
// PyTorch extension: kernel, launcher and binding in one file. fp32, head dimension 64, no LSE.
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>
#include <torch/extension.h>

namespace {

constexpr int head_dim = 64;
constexpr int tile = 32;  // rows of Q per block, and of K and V per step
constexpr int warps = 4;
constexpr int rows_per_warp = tile / warps;
constexpr unsigned whole_warp = 0xFFFFFFFF;

__device__ float warp_max(float value) {
  for (int other = 16; other > 0; other /= 2) value = fmaxf(value, __shfl_xor_sync(whole_warp, value, other));
  return value;
}

__device__ float warp_sum(float value) {
  for (int other = 16; other > 0; other /= 2) value += __shfl_xor_sync(whole_warp, value, other);
  return value;
}

/// Copies the rows of a tile that exist; sets the others to 0.
template <int pitch>
__device__ void load_tile(float (*to)[pitch], const float* from, int first, int rows) {
  for (int i = threadIdx.x; i < tile * head_dim; i += blockDim.x) {
    const int row = i / head_dim;
    const int column = i % head_dim;
    to[row][column] = first + row < rows ? from[(long long)(first + row) * head_dim + column] : 0.0f;
  }
}

// A warp computes rows_per_warp rows: lane j has the score of key j of the tile, then columns j and j + 32 of O.
__global__ void attention_kernel(const float* q, const float* k, const float* v, float* o, int n_q, int n_k,
                                 float scale, bool causal) {
  __shared__ float q_tile[tile][head_dim];
  __shared__ float k_tile[tile][head_dim + 1];
  __shared__ float v_tile[tile][head_dim];
  const int warp = threadIdx.x / 32;
  const int lane = threadIdx.x % 32;
  const int first = blockIdx.x * tile;
  q += (long long)blockIdx.y * n_q * head_dim;
  o += (long long)blockIdx.y * n_q * head_dim;
  k += (long long)blockIdx.y * n_k * head_dim;
  v += (long long)blockIdx.y * n_k * head_dim;
  const int diagonal = n_k - n_q;
  const int end = causal ? min(n_k, first + tile + diagonal) : n_k;

  float maximum[rows_per_warp];
  float sum[rows_per_warp];
  float out[rows_per_warp][2];
  for (int r = 0; r < rows_per_warp; ++r) {
    maximum[r] = -INFINITY;
    sum[r] = out[r][0] = out[r][1] = 0.0f;
  }
  load_tile(q_tile, q, first, n_q);
  for (int begin = 0; begin < end; begin += tile) {
    __syncthreads();
    load_tile(k_tile, k, begin, n_k);
    load_tile(v_tile, v, begin, n_k);
    __syncthreads();
    for (int r = 0; r < rows_per_warp; ++r) {
      const int row = warp * rows_per_warp + r;
      const int key = begin + lane;
      float score = 0.0f;
      for (int c = 0; c < head_dim; ++c) score += q_tile[row][c] * k_tile[lane][c];
      const bool visible = key < n_k && (!causal || key <= first + row + diagonal);
      score = visible ? score * scale : -INFINITY;
      const float highest = fmaxf(maximum[r], warp_max(score));
      if (highest == -INFINITY) continue;
      const float correction = expf(maximum[r] - highest);
      const float weight = expf(score - highest);
      maximum[r] = highest;
      sum[r] = sum[r] * correction + warp_sum(weight);
      out[r][0] *= correction;
      out[r][1] *= correction;
      for (int j = 0; j < tile; ++j) {
        const float each = __shfl_sync(whole_warp, weight, j);
        out[r][0] += each * v_tile[j][lane];
        out[r][1] += each * v_tile[j][lane + 32];
      }
    }
  }
  for (int r = 0; r < rows_per_warp; ++r) {
    const int row = first + warp * rows_per_warp + r;
    if (row >= n_q) continue;
    const float factor = sum[r] > 0.0f ? 1.0f / sum[r] : 0.0f;
    o[(long long)row * head_dim + lane] = out[r][0] * factor;
    o[(long long)row * head_dim + lane + 32] = out[r][1] * factor;
  }
}

torch::Tensor forward(torch::Tensor q, torch::Tensor k, torch::Tensor v, bool causal) {
  TORCH_CHECK(q.is_cuda() && q.dtype() == torch::kFloat32 && q.size(3) == head_dim, "q must be fp32 with d = 64");
  TORCH_CHECK(q.is_contiguous() && k.is_contiguous() && v.is_contiguous(), "tensors must be contiguous");
  const int n_q = static_cast<int>(q.size(2));
  const int n_k = static_cast<int>(k.size(2));
  torch::Tensor o = torch::empty_like(q);
  const dim3 grid((n_q + tile - 1) / tile, static_cast<unsigned>(q.size(0) * q.size(1)));
  attention_kernel<<<grid, warps * 32, 0, at::cuda::getCurrentCUDAStream()>>>(
      q.data_ptr<float>(), k.data_ptr<float>(), v.data_ptr<float>(), o.data_ptr<float>(), n_q, n_k,
      1.0f / sqrtf(static_cast<float>(head_dim)), causal);
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  return o;
}

}  // namespace

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("forward", &forward, "Attention forward pass");
}
