// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/algorithm.h"

namespace attnscope {

/// Flash-Decoding: few queries against many keys. Each K/V head's keys are split among thread blocks, and a second
/// kernel weighs the partial results by their LSE.
class SplitKv final : public Algorithm {
 public:
  SplitKv();

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
