// SPDX-License-Identifier: Apache-2.0
// An algorithm with knobs that no other one has: what states them has to find them everywhere with nothing else
// changed.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kernels/registry.h"

namespace attnscope::testing {

/// FA2 with other knobs, which change nothing else, and what it takes of them by itself.
class Fa2WithKnobs : public Algorithm {
 public:
  Fa2WithKnobs(std::string name, std::vector<Knob> knobs, Knobs own = {})
      : Algorithm(stated(std::move(name), std::move(knobs))),
        fa2_(*built_in_algorithms().find("fa2")),
        own_(std::move(own)) {}

  [[nodiscard]] std::int64_t working_set_bytes(const AttentionProblem& p, const Config& config,
                                               const DeviceLimits& device) const override {
    return fa2_.working_set_bytes(p, config.tile, device);
  }
  [[nodiscard]] Config default_config(const AttentionProblem& p, const DeviceLimits& device) const override {
    return {fa2_.default_config(p, device).tile, own_};
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
  static Facts stated(std::string name, std::vector<Knob> knobs) {
    Facts facts = built_in_algorithms().find("fa2")->facts();
    facts.name = std::move(name);
    facts.knobs = std::move(knobs);
    return facts;
  }
  const Algorithm& fa2_;
  Knobs own_;
};

/// With a number and a word.
class Clustered final : public Fa2WithKnobs {
 public:
  Clustered()
      : Fa2WithKnobs("clustered", {{.name = "cluster",
                                    .label = Message::verbatim("Cluster"),
                                    .meaning = Message::verbatim("Blocks that share loads."),
                                    .largest = 16},
                                   {.name = "order",
                                    .label = Message::verbatim("Order"),
                                    .meaning = Message::verbatim("Which way."),
                                    .words = {"up", "down"}}}) {}
};

/// The only algorithm of it.
inline Registry registry_with_knobs() {
  Registry registry;
  registry.add(std::make_unique<Clustered>());
  return registry;
}

}  // namespace attnscope::testing
