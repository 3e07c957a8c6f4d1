// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>

#include "kernels/registry.h"

namespace attnscope::test {

class FactsOnlyAlgorithm final : public Algorithm {
 public:
  using Algorithm::Algorithm;
  [[nodiscard]] std::int64_t working_set_bytes(const AttentionProblem&, const Config&,
                                               const DeviceLimits&) const override {
    throw std::logic_error("not asked");
  }
  [[nodiscard]] Config default_config(const AttentionProblem&, const DeviceLimits&) const override {
    throw std::logic_error("not asked");
  }
  [[nodiscard]] std::optional<Refusal> refusal(const AttentionProblem&, const Config&,
                                               const DeviceLimits&) const override {
    throw std::logic_error("not asked");
  }
  [[nodiscard]] AttentionPlan plan(const AttentionProblem&, const Config&, const DeviceLimits&) const override {
    throw std::logic_error("not asked");
  }
};

}  // namespace attnscope::test
