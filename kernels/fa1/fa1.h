// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/algorithm.h"

namespace attnscope {

/// FlashAttention, Algorithm 1: K/V tiles in the outer loop, Q tiles in the inner one, O, l and m in global memory.
class FlashAttention1 final : public Algorithm {
 public:
  FlashAttention1();

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

namespace fa1 {
/// Bytes that the forward pass's blocks cycle through when so many heads run at once.
[[nodiscard]] std::int64_t working_set_bytes(const AttentionProblem&, std::int64_t heads_at_once);
}  // namespace fa1

}  // namespace attnscope
