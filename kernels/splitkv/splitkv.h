// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/algorithm.h"

namespace attnscope {

/// Flash-Decoding: few queries against many keys. Each K/V head's keys are split among thread blocks, and a second
/// kernel weighs the partial results by their LSE.
class SplitKv final : public Algorithm {
 public:
  [[nodiscard]] std::string_view name() const override;
  [[nodiscard]] std::string_view title() const override;
  [[nodiscard]] std::string_view source() const override;
  [[nodiscard]] std::string_view tile_meaning() const override;
  [[nodiscard]] bool tile_decides_traffic() const override;
  [[nodiscard]] Growth growth() const override;
  [[nodiscard]] std::optional<PaperCount> paper_count(const AttentionProblem&, const TileShape&) const override;
  [[nodiscard]] std::int64_t working_set_bytes(const AttentionProblem&, const TileShape&,
                                               const DeviceLimits&) const override;
  [[nodiscard]] std::span<const int> head_dims() const override;
  [[nodiscard]] TileShape default_tile(const AttentionProblem&, const DeviceLimits&) const override;
  [[nodiscard]] std::optional<Refusal> refusal(const AttentionProblem&, const TileShape&,
                                               const DeviceLimits&) const override;
  [[nodiscard]] AttentionPlan plan(const AttentionProblem&, const TileShape&, const DeviceLimits&) const override;
};

}  // namespace attnscope
