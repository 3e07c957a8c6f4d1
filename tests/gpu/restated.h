// SPDX-License-Identifier: Apache-2.0
// A built-in algorithm under another name, and as a user's where it is to be judged like one.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "kernels/algorithm.h"

namespace attnscope {

class Restated final : public Algorithm {
 public:
  /// Keeps a reference.
  Restated(const Algorithm& of, std::string name, bool foreign)
      : Algorithm(stated(of.facts(), std::move(name), foreign)), of_(of) {}

  [[nodiscard]] std::int64_t working_set_bytes(const AttentionProblem& p, const Config& config,
                                               const DeviceLimits& device) const override {
    return of_.working_set_bytes(p, config, device);
  }
  [[nodiscard]] Config default_config(const AttentionProblem& p, const DeviceLimits& device) const override {
    return of_.default_config(p, device);
  }
  [[nodiscard]] std::optional<Refusal> refusal(const AttentionProblem& p, const Config& config,
                                               const DeviceLimits& device) const override {
    return of_.refusal(p, config, device);
  }
  [[nodiscard]] AttentionPlan plan(const AttentionProblem& p, const Config& config,
                                   const DeviceLimits& device) const override {
    return of_.plan(p, config, device);
  }

 protected:
  [[nodiscard]] std::vector<KernelModel> kernels(const AttentionProblem& p, const Config& config,
                                                 const DeviceLimits& device) const override {
    return of_.model(p, config, device).kernels;
  }

 private:
  static Facts stated(Facts facts, std::string name, bool foreign) {
    facts.name = std::move(name);
    facts.foreign = foreign;
    return facts;
  }
  const Algorithm& of_;
};

}  // namespace attnscope
