// SPDX-License-Identifier: Apache-2.0
// Attention in host memory, which is that of the fake GPU, with C functions in place of the Python package.
#pragma once

#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "fake_graphs.h"
#include "kernels/oracle/reference.h"
#include "profiler/measure/gpu/user/python_kernel.h"

namespace attnscope::test {

/// A call of the function for one fp16 problem.
class FunctionCall {
 public:
  static constexpr std::int64_t heads = 2;
  static constexpr std::int64_t rows = 32;
  static constexpr std::int64_t d = 16;
  static constexpr std::int64_t head_bytes = rows * d * 2;
  static constexpr std::int64_t matrix_bytes = heads * head_bytes;
  static AttentionProblem problem(Pass pass) {
    return {.pass = pass, .batch = 1, .heads_q = heads, .heads_kv = heads, .n_q = rows, .n_k = rows, .d = d};
  }

  FunctionCall(bool backward, const attnscope_pointers& at, CUstream stream, std::int64_t tag)
      : backward_(backward), at_(at), stream_(stream), tag_(tag) {
    attnscope_memory_tag(tag);
    result_ = allocate((backward ? 3 : 1) * matrix_bytes);
    if (backward) saved_ = allocate(matrix_bytes);
  }
  FunctionCall(const FunctionCall&) = delete;
  FunctionCall& operator=(const FunctionCall&) = delete;
  ~FunctionCall() {
    free(result_);
    if (backward_) free(saved_);
    attnscope_memory_release(tag_);
    for (CUgraph graph : graphs_) cuGraphDestroy(graph);
  }

  [[nodiscard]] bool is_backward() const { return backward_; }
  [[nodiscard]] CUstream stream() const { return stream_; }
  /// O, or the gradients one after another.
  [[nodiscard]] unsigned char* result() const { return result_; }
  unsigned char* allocate(std::int64_t bytes) {
    return static_cast<unsigned char*>(attnscope_malloc(bytes, 0, stream_));
  }
  void free(void* memory) { attnscope_free(memory, 0, 0, stream_); }
  CUgraph capture(const std::function<void(CUstream)>& work) { return graphs_.emplace_back(fake::capture_graph(work)); }

  /// What the backward pass needs.
  void compute_saved() { *saved_ = 1; }
  /// O of these heads; or all gradients, if the forward pass ran before.
  void compute(std::int64_t first_head = 0, std::int64_t end_head = heads) {
    if (backward_ && *saved_ != 1) return;  // leaves NaN
    const AttentionProblem p = problem(backward_ ? Pass::bwd : Pass::fwd);
    const auto matrix = [&](Tensor tensor, std::int64_t head) {
      const void* const address = tensor == Tensor::q   ? at_.q
                                  : tensor == Tensor::k ? at_.k
                                  : tensor == Tensor::v ? at_.v
                                                        : at_.dout;
      return decode(DType::fp16, {static_cast<const std::byte*>(address) + head * head_bytes, head_bytes});
    };
    std::vector<RowId> computed = all_rows(p);
    std::erase_if(computed, [&](const RowId& row) { return row.instance < first_head || row.instance >= end_head; });
    const Reference exact = reference_attention(p, matrix, {.rows = computed, .keys = all_keys(p), .threads = 1});
    unsigned char* to = result_ + first_head * head_bytes;
    const auto store = [&](const ReferenceTensor& tensor) {
      const std::vector<std::byte> bytes = encode(DType::fp16, tensor.naive);
      std::memcpy(to, bytes.data(), bytes.size());
      to += bytes.size();
    };
    if (!backward_) return store(exact.o);
    for (const ReferenceTensor* each : {&exact.dq, &exact.dk, &exact.dv}) store(*each);
  }
  void copy_results(CUstream stream) const {
    auto from = reinterpret_cast<CUdeviceptr>(result_);
    for (void* to : backward_ ? std::vector{at_.dq, at_.dk, at_.dv} : std::vector{at_.o}) {
      cuMemcpyDtoDAsync(reinterpret_cast<CUdeviceptr>(to), from, matrix_bytes, stream);
      from += matrix_bytes;
    }
  }

 private:
  bool backward_;
  attnscope_pointers at_;
  CUstream stream_;
  std::int64_t tag_;
  unsigned char* result_ = nullptr;
  unsigned char* saved_ = nullptr;  ///< O of the forward pass; the first byte is 1 instead
  std::vector<CUgraph> graphs_;
};

using FunctionWork = std::function<void(FunctionCall&, CUstream)>;

/// One kernel.
inline void compute_attention(FunctionCall& call, CUstream stream) {
  fake::launch(
      stream, call.is_backward() ? "gradients" : "attention", [&call] { call.compute(); }, 5);
}

/// The function and its package.
class AttentionFunction {
 public:
  AttentionFunction() { current() = this; }
  AttentionFunction(const AttentionFunction&) = delete;
  AttentionFunction& operator=(const AttentionFunction&) = delete;
  ~AttentionFunction() { current() = nullptr; }

  // A test chooses these.
  FunctionWork work = compute_attention;      ///< of a call
  FunctionWork captured = compute_attention;  ///< of a call that is captured; empty: it cannot be captured
  attnscope_python_plan plan{};               ///< of which prepare() sets the graphs
  int status = ATTNSCOPE_OK;                  ///< of all functions
  std::string error;
  std::function<void()> at_prepare = [] {};

  attnscope_problem problem{};  ///< of the last call
  std::string place;            ///< its file and entry

  [[nodiscard]] static const attnscope_python& table() {
    static const attnscope_python functions{
        .version = ATTNSCOPE_PYTHON_VERSION,
        .describe = nullptr,
        .prepare = prepare,
        .call = [](void* handle) { return run(handle, current()->work); },
        .copy_results =
            [](void* handle) {
              return run(handle, [](const FunctionCall& call, CUstream stream) { call.copy_results(stream); });
            },
        .release = [](void* handle) { delete static_cast<FunctionCall*>(handle); },
        .last_error = [] { return current()->error.c_str(); },
    };
    return functions;
  }

 private:
  static AttentionFunction*& current() {
    static AttentionFunction* function = nullptr;
    return function;
  }
  static int run(void* handle, const FunctionWork& work) {
    auto& call = *static_cast<FunctionCall*>(handle);
    work(call, call.stream());
    return current()->status;
  }
  static int prepare(const char* file, const char* entry, const attnscope_problem* problem,
                     const attnscope_pointers* pointers, void* stream, attnscope_python_plan* plan) {
    AttentionFunction& self = *current();
    self.at_prepare();
    self.place = std::string(file) + ":" + entry;
    self.problem = *problem;
    if (self.status != ATTNSCOPE_OK) return self.status;
    static std::int64_t tag = 0;
    const bool backward = problem->pass == ATTNSCOPE_BACKWARD;
    auto call = std::make_unique<FunctionCall>(backward, *pointers, static_cast<CUstream>(stream), ++tag);
    if (backward) call->compute_saved();
    self.work(*call, call->stream());
    attnscope_memory_tag(0);
    *plan = self.plan;
    plan->memory = tag;
    if (self.captured) {
      const auto forward = [at = call.get()](CUstream to) {
        fake::launch(to, "forward", [at] { at->compute_saved(); });
      };
      if (backward) plan->before = call->capture(forward);
      plan->measured = call->capture([&](CUstream to) { self.captured(*call, to); });
      plan->after = call->capture([&](CUstream to) { call->copy_results(to); });
    }
    plan->handle = call.release();
    return ATTNSCOPE_OK;
  }
};

}  // namespace attnscope::test
