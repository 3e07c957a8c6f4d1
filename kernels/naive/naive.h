// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/algorithm.h"

namespace attnscope {

/// Standard attention: S = Q K^T, P = softmax(mask(S)) and O = P V as three kernels, S and P whole in global memory;
/// backward dV, dP, dS, dQ and dK as five, P, dP and dS whole there.
class NaiveAttention final : public Algorithm {
 public:
  NaiveAttention();

  [[nodiscard]] std::optional<PaperCount> paper_count(const AttentionProblem&, const TileShape&) const override;
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
