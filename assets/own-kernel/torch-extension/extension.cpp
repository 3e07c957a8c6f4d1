// SPDX-License-Identifier: Apache-2.0
// PyTorch's binding of launch_attention(); attnscope does not need it.
#include <ATen/cuda/CUDAContext.h>
#include <cuda_fp16.h>
#include <torch/extension.h>

#include <tuple>

// Defined in @NAME@.cu.
cudaError_t launch_attention(const half* q, const half* k, const half* v, half* o, float* lse, int instances, int n_q,
                             int n_k, bool causal, cudaStream_t stream);

// q: [batch, heads, n_q, 64]; k, v: [batch, heads, n_k, 64]; returns o and lse.
std::tuple<torch::Tensor, torch::Tensor> forward(torch::Tensor q, torch::Tensor k, torch::Tensor v, bool causal) {
  for (const torch::Tensor& each : {q, k, v}) {
    TORCH_CHECK(each.is_cuda() && each.scalar_type() == torch::kHalf && each.is_contiguous() && each.dim() == 4 &&
                    each.size(3) == 64,
                "q, k and v must be contiguous fp16 CUDA tensors [batch, heads, N, 64]");
  }
  const auto data = [](const torch::Tensor& tensor) { return static_cast<half*>(tensor.data_ptr()); };
  torch::Tensor o = torch::empty_like(q);
  torch::Tensor lse = torch::empty({q.size(0), q.size(1), q.size(2)}, q.options().dtype(torch::kFloat));
  const cudaError_t status = launch_attention(data(q), data(k), data(v), data(o), lse.data_ptr<float>(),
                                              static_cast<int>(q.size(0) * q.size(1)), static_cast<int>(q.size(2)),
                                              static_cast<int>(k.size(2)), causal, at::cuda::getCurrentCUDAStream());
  TORCH_CHECK(status == cudaSuccess, cudaGetErrorString(status));
  return {o, lse};
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, module) {
  module.def("forward", &forward, "Attention forward");
}
