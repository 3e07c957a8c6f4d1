// SPDX-License-Identifier: Apache-2.0
// PyTorch's fused attention as a user-defined library kernel (assets/own-kernel/attnscope_kernel.h). The knob `backend`
// selects 1 FlashAttention-2 or 2 cuDNN. PyTorch allocates its results itself; a custom allocator returns the
// destination buffers, so that no copy is timed. Built by torch_ratios.py.
#include <ATen/ATen.h>
#include <c10/cuda/CUDAGuard.h>
#include <cuda_runtime_api.h>
#include <torch/csrc/cuda/CUDAPluggableAllocator.h>

#include <algorithm>
#include <exception>
#include <map>
#include <mutex>
#include <new>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assets/own-kernel/attnscope_kernel.h"

namespace {

enum Backend { flash = 1, cudnn = 2 };

std::string error;

/// PyTorch allocator: returns the result buffers for the first requests of matching size, and cached blocks for all
/// others.
class Memory {
 public:
  void want(std::vector<std::pair<std::size_t, void*>> places) {
    const std::lock_guard lock(mutex_);
    places_ = std::move(places);
  }
  bool all_buffers_taken() {
    const std::lock_guard lock(mutex_);
    return places_.empty();
  }
  void* take(std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    for (auto place = places_.begin(); place != places_.end(); ++place) {
      if (place->first != bytes) continue;
      void* const result = place->second;
      places_.erase(place);
      return result;
    }
    auto& kept = kept_[bytes];
    if (!kept.empty()) {
      void* const result = kept.back();
      kept.pop_back();
      return result;
    }
    void* result = nullptr;
    if (cudaMalloc(&result, bytes) != cudaSuccess) throw std::bad_alloc();
    ours_[result] = bytes;
    return result;
  }
  void give_back(void* block) {
    const std::lock_guard lock(mutex_);
    if (const auto found = ours_.find(block); found != ours_.end()) kept_[found->second].push_back(block);
  }

 private:
  std::mutex mutex_;
  std::vector<std::pair<std::size_t, void*>> places_;
  std::map<std::size_t, std::vector<void*>> kept_;
  std::map<void*, std::size_t> ours_;
};

Memory& memory() {
  static Memory* const all = [] {
    auto* const made = new Memory;
    torch::cuda::CUDAPluggableAllocator::changeCurrentAllocator(
        torch::cuda::CUDAPluggableAllocator::createCustomAllocator(
            [made](std::size_t bytes, int, cudaStream_t) { return bytes == 0 ? nullptr : made->take(bytes); },
            [made](void* block, std::size_t, int, cudaStream_t) { made->give_back(block); }));
    return made;
  }();
  return *all;
}

int backend_of(const attnscope_problem& p) {
  for (std::int64_t i = 0; i < p.knob_count; ++i) {
    if (std::string_view(p.knobs[i].name) == "backend") return static_cast<int>(p.knobs[i].value);
  }
  return flash;
}

struct Plan {
  int backend;
  bool backward;
  bool causal;
  double scale;
  int64_t n_q, n_k;
  std::size_t q_bytes, kv_bytes, lse_bytes;
  attnscope_pointers at;
  at::Tensor q, k, v, o, lse, dout, seed, none;

  Plan(const attnscope_problem& p, const attnscope_pointers& pointers)
      : backend(backend_of(p)),
        backward(p.pass == ATTNSCOPE_BACKWARD),
        causal(p.window_right == 0),
        scale(p.scale),
        n_q(p.n_q),
        n_k(p.n_k),
        q_bytes(static_cast<std::size_t>(2 * p.batch * p.heads_q * p.n_q * p.d)),
        kv_bytes(static_cast<std::size_t>(2 * p.batch * p.heads_kv * p.n_k * p.d)),
        lse_bytes(static_cast<std::size_t>(4 * p.batch * p.heads_q * p.n_q)),
        at(pointers) {
    const auto on_gpu = at::TensorOptions().device(at::kCUDA, static_cast<c10::DeviceIndex>(p.device));
    const auto element = on_gpu.dtype(p.dtype == ATTNSCOPE_BF16 ? at::kBFloat16 : at::kHalf);
    const auto matrix = [&](const void* data, int64_t heads, int64_t n, const attnscope_strides& strides) {
      return at::from_blob(const_cast<void*>(data), {p.batch, heads, n, p.d},
                           {strides.batch, strides.head, strides.row, 1}, element);
    };
    q = matrix(at.q, p.heads_q, p.n_q, p.q);
    k = matrix(at.k, p.heads_kv, p.n_k, p.k);
    v = matrix(at.v, p.heads_kv, p.n_k, p.v);
    if (!backward) return;
    o = matrix(at.o, p.heads_q, p.n_q, p.o);
    dout = matrix(at.dout, p.heads_q, p.n_q, p.dout);
    seed = at::zeros({}, on_gpu.dtype(at::kLong));
    lse = at::from_blob(at.lse, {p.batch, p.heads_q, p.n_q}, on_gpu.dtype(at::kFloat));
    if (backend == cudnn) lse = lse.unsqueeze(-1);
  }

  void forward() const {
    memory().want({{q_bytes, at.o}, {lse_bytes, at.lse}});
    if (backend == cudnn) {
      at::_scaled_dot_product_cudnn_attention(q, k, v, {}, true, 0.0, causal, false, scale);
    } else {
      at::_scaled_dot_product_flash_attention(q, k, v, 0.0, causal, false, scale);
    }
  }
  void gradients() const {
    memory().want({{q_bytes, at.dq}, {kv_bytes, at.dk}, {kv_bytes, at.dv}});
    if (backend == cudnn) {
      at::_scaled_dot_product_cudnn_attention_backward(dout, q, k, v, o, lse, seed, seed, none, none, none, n_q, n_k,
                                                       0.0, causal, scale);
    } else {
      at::_scaled_dot_product_flash_attention_backward(dout, q, k, v, o, lse, none, none, n_q, n_k, 0.0, causal, seed,
                                                       seed, scale);
    }
  }
};

template <class Work>
int guarded(const Work& work) {
  try {
    return work();
  } catch (const std::bad_alloc&) {
    error = "no memory is left on the GPU";
    return ATTNSCOPE_OUT_OF_MEMORY;
  } catch (const std::exception& failure) {
    error = failure.what();
    error.resize(std::min(error.find('\n'), error.size()));
    return ATTNSCOPE_ERROR;
  }
}

int supported(const attnscope_problem* p) {
  const bool full = p->window_left == -1 && p->window_right == -1;
  if (p->heads_q == p->heads_kv && (full || (p->window_left == -1 && p->window_right == 0 && p->n_q == p->n_k))) {
    return ATTNSCOPE_OK;
  }
  error = "only full and square causal attention, a K/V head for each query head";
  return ATTNSCOPE_UNSUPPORTED;
}

int workspace(const attnscope_problem*, std::size_t* bytes) {
  *bytes = 0;
  return ATTNSCOPE_OK;
}

int launch(void* plan, void* stream) {
  return guarded([&] {
    const auto& of = *static_cast<const Plan*>(plan);
    const at::InferenceMode no_graph;
    const c10::cuda::CUDAStreamGuard on(c10::cuda::getStreamFromExternal(
        static_cast<cudaStream_t>(stream), static_cast<c10::DeviceIndex>(of.q.device().index())));
    of.backward ? of.gradients() : of.forward();
    if (memory().all_buffers_taken()) return static_cast<int>(ATTNSCOPE_OK);
    error = "PyTorch's results are of other sizes than the program's";
    return static_cast<int>(ATTNSCOPE_ERROR);
  });
}

int prepare(const attnscope_problem* p, const attnscope_pointers* at, void* stream, void** plan) {
  return guarded([&] {
    memory();
    *plan = new Plan(*p, *at);
    const int status = launch(*plan, stream);  // cuDNN selects its kernel
    cudaStreamSynchronize(static_cast<cudaStream_t>(stream));
    return status;
  });
}

void release(void* plan) {
  delete static_cast<Plan*>(plan);
}

const char* last_error() {
  return error.c_str();
}

}  // namespace

extern "C" const attnscope_kernel* attnscope_kernel_v1(void) {
  static const attnscope_kernel kernel{
      ATTNSCOPE_KERNEL_VERSION, supported, workspace, prepare, launch, release, last_error};
  return &kernel;
}
