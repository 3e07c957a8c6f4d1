// SPDX-License-Identifier: Apache-2.0
#include "profiler/measure/gpu/user/host_launch.h"

#include <algorithm>
#include <cmath>
#include <future>
#include <thread>
#include <utility>

#include "profiler/measure/gpu/point_abort.h"
#include "profiler/measure/gpu/user/python_kernel.h"

namespace attnscope::gpu {
namespace {

void point_to(attnscope_problem& problem, attnscope_pointers& pointers, const AttentionPlan& plan,
              const BufferResolver& address_of) {
  const auto find = [&](auto& pointer, const char* name) -> const BufferSpec* {
    const auto buffer = std::ranges::find(plan.buffers, name, &BufferSpec::name);
    if (buffer == plan.buffers.end()) return nullptr;
    pointer = reinterpret_cast<std::decay_t<decltype(pointer)>>(address_of(name));
    return &*buffer;
  };
  const auto take = [&](auto& pointer, attnscope_strides& strides, const char* name, bool queries) {
    const BufferSpec* const buffer = find(pointer, name);
    if (buffer == nullptr) return;
    const Strides stated = buffer_strides(*buffer, queries ? problem.heads_q : problem.heads_kv,
                                          queries ? problem.n_q : problem.n_k, problem.d);
    strides = {.batch = stated.batch, .head = stated.head, .row = stated.row};
  };
  take(pointers.q, problem.q, "q", true);
  take(pointers.k, problem.k, "k", false);
  take(pointers.v, problem.v, "v", false);
  take(pointers.o, problem.o, "o", true);
  take(pointers.dout, problem.dout, "dout", true);
  take(pointers.dq, problem.dq, "dq", true);
  take(pointers.dk, problem.dk, "dk", false);
  take(pointers.dv, problem.dv, "dv", false);
  (void)find(pointers.lse, "lse");
  (void)find(pointers.key_lengths, "key_lengths");
  (void)find(pointers.block_mask, "block_mask");
  (void)find(pointers.q_starts, "q_starts");
  (void)find(pointers.k_starts, "k_starts");
}

Disposition disposition_of(int status) {
  switch (status) {
    case ATTNSCOPE_UNSUPPORTED:
      return Disposition::infeasible;
    case ATTNSCOPE_OUT_OF_MEMORY:
      return Disposition::out_of_memory;
    case ATTNSCOPE_INCORRECT:
      return Disposition::incorrect;
    default:
      return Disposition::crashed;
  }
}

}  // namespace

HostArguments::HostArguments(const HostCall& call, int device, const AttentionPlan& plan,
                             const BufferResolver& address_of)
    : stated(call) {
  const AttentionProblem& p = stated.problem;
  for (const auto& [name, value] : stated.knobs) knobs.push_back({name.c_str(), value});
  problem = {.device = device,
             .dtype = p.dtype == DType::fp32   ? ATTNSCOPE_FP32
                      : p.dtype == DType::bf16 ? ATTNSCOPE_BF16
                                               : ATTNSCOPE_FP16,
             .pass = stated.pass == Pass::bwd ? ATTNSCOPE_BACKWARD : ATTNSCOPE_FORWARD,
             .batch = p.batch,
             .heads_q = p.heads_q,
             .heads_kv = p.heads_kv,
             .n_q = p.n_q,
             .n_k = p.n_k,
             .d = p.d,
             .q = {},  // set by point_to(), as the others
             .o = {},
             .dout = {},
             .dq = {},
             .k = {},
             .v = {},
             .dk = {},
             .dv = {},
             .scale = 1 / std::sqrt(static_cast<double>(p.d)),
             .window_left = p.mask.left,
             .window_right = p.mask.right,
             .mask_block = p.mask.has_block_mask() ? p.mask.block_size : 0,
             .lse_base_2 = stated.lse_base_2 ? 1 : 0,
             .deterministic = p.deterministic ? 1 : 0,
             .br = stated.tile.br,
             .bc = stated.tile.bc,
             .knob_count = static_cast<std::int64_t>(knobs.size()),
             .knobs = knobs.data()};
  point_to(problem, pointers, plan, address_of);
}

std::optional<int> call_with_limit(const HostPlace& place, std::chrono::milliseconds patience,
                                   std::shared_ptr<void> kept, std::function<int()> prepare) {
  // Use a detached thread that can be abandoned.
  std::promise<int> promise;
  std::future<int> status = promise.get_future();
  std::thread([kept, prepare = std::move(prepare), promise = std::move(promise), &context = place.context]() mutable {
    try {
      context.make_current();
      promise.set_value(prepare());
    } catch (...) {
      promise.set_exception(std::current_exception());
    }
  }).detach();
  if (status.wait_for(patience) != std::future_status::timeout) return status.get();
  static auto& lost = *new std::vector<std::shared_ptr<void>>;
  lost.push_back(std::move(kept));
  return std::nullopt;
}

void check_host_status(const HostPlace& place, int status, const Message& reason) {
  if (status == ATTNSCOPE_OK) return;
  const CUresult state = place.cuda.cuStreamQuery(place.stream);
  if (state != CUDA_SUCCESS && state != CUDA_ERROR_NOT_READY) throw DriverError(state, text(reason));
  throw PointAbort(disposition_of(status), reason);
}

}  // namespace attnscope::gpu
