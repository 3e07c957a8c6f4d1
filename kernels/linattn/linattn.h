// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/algorithm.h"

namespace attnscope {

/// Linear attention: O_i = phi(Q_i) KV_i / phi(Q_i) z_i with phi(x) = elu(x) + 1, KV_i the sum of phi(K_j)^T V_j and
/// z_i that of phi(K_j) over the keys j that row i sees. Forward, full and causal.
///
/// One kernel sums the keys up, chunk by chunk under a causal mask, and keeps the state at the end of each; another one
/// makes rows of O out of a state and, under a causal mask, out of the keys between it and the diagonal.
class LinearAttention final : public Algorithm {
 public:
  LinearAttention();

  [[nodiscard]] Config default_config(const AttentionProblem&, const DeviceLimits&) const override;
  [[nodiscard]] std::optional<Refusal> refusal(const AttentionProblem&, const Config&,
                                               const DeviceLimits&) const override;
  [[nodiscard]] std::int64_t working_set_bytes(const AttentionProblem&, const Config&,
                                               const DeviceLimits&) const override;
  [[nodiscard]] AttentionPlan plan(const AttentionProblem&, const Config&, const DeviceLimits&) const override;
  [[nodiscard]] std::vector<BufferSpec> buffers(const AttentionProblem&, const Config&,
                                                const DeviceLimits&) const override;

 protected:
  [[nodiscard]] std::vector<KernelModel> kernels(const AttentionProblem&, const Config&,
                                                 const DeviceLimits&) const override;
};

}  // namespace attnscope
