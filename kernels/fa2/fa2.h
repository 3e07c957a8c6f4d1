// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/algorithm.h"

namespace attnscope {

/// FlashAttention-2, Algorithm 1: a thread block keeps one Q tile and its O on chip and streams K and V past it.
class FlashAttention2 final : public Algorithm {
 public:
  FlashAttention2();

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
