// SPDX-License-Identifier: Apache-2.0
// Library through which attnscope calls launch_attention(); attnscope_kernel.h documents the functions.
#include <cuda_fp16.h>
#include <cuda_runtime_api.h>

#include <new>
#include <string>

#include "attnscope_kernel.h"

// Defined in @NAME@.cu.
cudaError_t launch_attention(const half* q, const half* k, const half* v, half* o, float* lse, int instances, int n_q,
                             int n_k, bool causal, cudaStream_t stream);

namespace {

struct Plan {
  attnscope_problem problem;
  attnscope_pointers pointers;
};

std::string error;

int failed(int status, const char* reason) {
  error = reason;
  return status;
}

// The manifest already restricts dtype, d and mask.
int supported(const attnscope_problem* problem) {
  if (problem->heads_q != problem->heads_kv)
    return failed(ATTNSCOPE_UNSUPPORTED, "as many K/V heads as query heads only");
  return ATTNSCOPE_OK;
}

int workspace(const attnscope_problem*, size_t* bytes) {
  *bytes = 0;
  return ATTNSCOPE_OK;
}

int prepare(const attnscope_problem* problem, const attnscope_pointers* pointers, void*, void** plan) {
  *plan = new (std::nothrow) Plan{*problem, *pointers};
  return *plan != nullptr ? ATTNSCOPE_OK : failed(ATTNSCOPE_ERROR, "out of host memory");
}

int launch(void* plan, void* stream) {
  const auto& [problem, at] = *static_cast<const Plan*>(plan);
  const cudaError_t status =
      launch_attention(static_cast<const half*>(at.q), static_cast<const half*>(at.k), static_cast<const half*>(at.v),
                       static_cast<half*>(at.o), at.lse, static_cast<int>(problem.batch * problem.heads_q),
                       static_cast<int>(problem.n_q), static_cast<int>(problem.n_k), problem.window_right == 0,
                       static_cast<cudaStream_t>(stream));
  return status == cudaSuccess ? ATTNSCOPE_OK : failed(ATTNSCOPE_ERROR, cudaGetErrorString(status));
}

void release(void* plan) {
  delete static_cast<Plan*>(plan);
}

const char* last_error() {
  return error.c_str();
}

}  // namespace

extern "C" const attnscope_kernel* attnscope_kernel_v1() {
  static const attnscope_kernel table{
      ATTNSCOPE_KERNEL_VERSION, supported, workspace, prepare, launch, release, last_error};
  return &table;
}
