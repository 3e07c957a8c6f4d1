// SPDX-License-Identifier: Apache-2.0
// What the plans over several GPUs are put together from.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/algorithm.h"

namespace attnscope::ringattn {

/// Tokens of the sequence that lie one after the other in a GPU's memory: token, token + every, ...
struct Stretch {
  std::int64_t token = 0;
  std::int64_t tokens = 0;
  std::int64_t every = 1;
};
/// What GPU `gpu` has, in the order in which it lies there.
[[nodiscard]] std::vector<Stretch> tokens_of(const AttentionProblem&, int gpu);

/// A matrix of [heads, tokens, row_bytes] on a GPU.
struct Matrix {
  std::string buffer;
  std::int64_t heads = 0;
  std::int64_t tokens = 0;
  std::int64_t row_bytes = 0;
};
/// Rows of both that a copy takes over: of each head `tokens` from token `from` on, `every` apart in the source and
/// `to_every` apart where they come to.
struct Rows {
  std::int64_t from = 0;
  std::int64_t to = 0;
  std::int64_t tokens = 0;
  std::int64_t every = 1;
  std::int64_t to_every = 1;
};
[[nodiscard]] Transfer copy_rows(const Matrix& from, const Matrix& to, int to_gpu, const Rows& rows);

/// Puts a plan together, operation by operation.
class PlanMaker {
 public:
  PlanMaker(const Algorithm& inner, const AttentionProblem& problem, const Config& config, const DeviceLimits& device);

  /// "q", "k" and "v" on each GPU: its tokens of the whole ones on GPU 0, which are copied before anything is measured.
  void share_inputs();
  /// The whole O and LSE are made of what lies in these buffers of each GPU: its stretch `i` in the i-th, or all in
  /// one.
  void gather_outputs(const std::vector<std::string>& o, const std::vector<std::string>& lse);
  void gather(int gpu, Transfer what);

  /// A buffer on every GPU.
  void add_buffer(const std::string& name, std::int64_t bytes, BufferFill fill = BufferFill::poison);
  /// Another name, on every GPU, for what lies in one from byte `offset` on.
  void add_part(const std::string& name, const std::string& within, std::int64_t offset);

  /// Buffers without the GPU, by the names that a launch's arguments have.
  using Names = std::map<std::string, std::string>;
  /// A launch on a GPU: the one of that name, which `make` makes once, with its buffers in place of the first one's.
  std::size_t launch(Operation where, const std::string& name, const Names& names,
                     const std::function<KernelLaunch()>& make);
  /// One of attention: heads of Q are `q_rows` rows apart, and those of K and V `kv_rows`.
  struct Attention {
    std::string name;
    AttentionProblem problem;
    std::int64_t q_rows = 0;
    std::int64_t kv_rows = 0;
  };
  std::size_t attention(Operation where, const Attention& what, Names names);
  std::size_t transfer(int gpu, Transfer what, std::vector<std::size_t> after);

  /// `row_bytes` 0: rows of d elements.
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
  std::vector<Names> names_;  ///< of each launch's first run
};

}  // namespace attnscope::ringattn
