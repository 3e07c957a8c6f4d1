// SPDX-License-Identifier: Apache-2.0
// An algorithm with knobs that no other one has: what states them has to find them everywhere with nothing else
// changed.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "kernels/registry.h"

namespace attnscope::testing {

/// FA2 with a knob of its own, which changes nothing else.
class Clustered final : public Algorithm {
 public:
  Clustered() : Algorithm(facts()), fa2_(*built_in_algorithms().find("fa2")) {}

  [[nodiscard]] std::int64_t working_set_bytes(const AttentionProblem& p, const Config& config,
                                               const DeviceLimits& device) const override {
    return fa2_.working_set_bytes(p, config.tile, device);
  }
  [[nodiscard]] Config default_config(const AttentionProblem& p, const DeviceLimits& device) const override {
    return fa2_.default_config(p, device).tile;
  }
  [[nodiscard]] std::optional<Refusal> refusal(const AttentionProblem& p, const Config& config,
                                               const DeviceLimits& device) const override {
    return fa2_.refusal(p, config.tile, device);
  }
  [[nodiscard]] AttentionPlan plan(const AttentionProblem& p, const Config& config,
                                   const DeviceLimits& device) const override {
    return fa2_.plan(p, config.tile, device);
  }

 protected:
  [[nodiscard]] std::vector<KernelModel> kernels(const AttentionProblem& p, const Config& config,
                                                 const DeviceLimits& device) const override {
    return fa2_.model(p, config.tile, device).kernels;
  }

 private:
  static Facts facts() {
    Facts facts = built_in_algorithms().find("fa2")->facts();
    facts.name = "clustered";
    facts.knobs = {{.name = "cluster",
                    .label = Message::verbatim("Cluster"),
                    .meaning = Message::verbatim("Blocks that share loads."),
                    .largest = 16},
                   {.name = "order",
                    .label = Message::verbatim("Order"),
                    .meaning = Message::verbatim("Which way."),
                    .words = {"up", "down"}}};
    return facts;
  }
  const Algorithm& fa2_;
};

/// The only algorithm of it.
inline Registry registry_with_knobs() {
  Registry registry;
  registry.add(std::make_unique<Clustered>());
  return registry;
}

}  // namespace attnscope::testing
