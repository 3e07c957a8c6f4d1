// SPDX-License-Identifier: Apache-2.0
// Builder for multi-GPU attention plans.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/algorithm.h"

namespace attnscope::ringattn {

/// Tokens that are contiguous in a GPU's memory: token, token + every, ...
struct TokenRange {
  std::int64_t token = 0;
  std::int64_t tokens = 0;
  std::int64_t every = 1;
};
/// Tokens of GPU `gpu` in memory order.
[[nodiscard]] std::vector<TokenRange> gpu_tokens(const AttentionProblem&, int gpu);

/// Matrix [heads, tokens, row_bytes] in a GPU's buffer.
struct Matrix {
  std::string buffer;
  std::int64_t heads = 0;
  std::int64_t tokens = 0;
  std::int64_t row_bytes = 0;
};
/// Rows that a copy moves: `tokens` tokens per head from token `from` (source stride `every`) to token `to`
/// (destination stride `to_stride`).
struct Rows {
  std::int64_t from = 0;
  std::int64_t to = 0;
  std::int64_t tokens = 0;
  std::int64_t every = 1;
  std::int64_t to_stride = 1;
};
[[nodiscard]] Transfer copy_rows(const Matrix& from, const Matrix& to, int to_gpu, const Rows& rows);

class PlanBuilder {
 public:
  PlanBuilder(const Algorithm& inner, const AttentionProblem& problem, const Config& config,
              const DeviceLimits& device);

  /// Adds the buffers "q", "k" and "v" on each GPU. Its tokens are copied from the full tensors on GPU 0 before the
  /// measurement.
  void distribute_inputs();
  /// Gathers the full O and LSE from these buffers of each GPU: stretch `i` of its tokens from buffer i, or all from
  /// one buffer.
  void gather_outputs(const std::vector<std::string>& o, const std::vector<std::string>& lse);
  void gather(int gpu, Transfer what);

  /// Adds a buffer on every GPU.
  void add_buffer(const std::string& name, std::int64_t bytes, BufferFill fill = BufferFill::poison);
  /// Adds a view of buffer `within` at byte `offset`, on every GPU.
  void add_view(const std::string& name, const std::string& within, std::int64_t offset);

  /// Argument name to buffer name, without the GPU.
  using Names = std::map<std::string, std::string>;
  /// Adds a run of launch `name` on a GPU. `make` creates the launch once; later runs only rebind its buffers.
  std::size_t launch(Operation where, const std::string& name, const Names& names,
                     const std::function<KernelLaunch()>& make);
  /// Attention launch; heads of Q are `q_rows` rows apart, those of K and V `kv_rows`.
  struct Attention {
    std::string name;
    AttentionProblem problem;
    std::int64_t q_rows = 0;
    std::int64_t kv_rows = 0;
  };
  std::size_t attention(Operation where, const Attention& what, Names names);
  std::size_t transfer(int gpu, Transfer what, std::vector<std::size_t> after);

  /// `row_bytes` 0 means rows of d elements.
  [[nodiscard]] Matrix matrix(std::string_view buffer, int gpu, std::int64_t heads, std::int64_t tokens,
                              std::int64_t row_bytes = 0) const;
  [[nodiscard]] std::int64_t tokens() const { return problem_.n_k / problem_.gpus; }
  [[nodiscard]] AttentionPlan take() { return std::move(plan_); }

 private:
  std::size_t add(Operation operation);

  const Algorithm& inner_;
  const AttentionProblem& problem_;
  const Config& config_;
  const DeviceLimits& device_;
  AttentionPlan plan_;
  std::vector<Names> names_;  ///< buffer names of each launch's first run
};

}  // namespace attnscope::ringattn
