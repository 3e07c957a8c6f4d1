// SPDX-License-Identifier: Apache-2.0
// A built-in algorithm with modified facts.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kernels/registry.h"

namespace attnscope::test {

/// Keeps a reference to the algorithm.
class ModifiedAlgorithm : public Algorithm {
 public:
  ModifiedAlgorithm(const Algorithm& of, Facts facts) : Algorithm(std::move(facts)), of_(of) {}
  /// Changes the name, and optionally declares it as user-defined.
  ModifiedAlgorithm(const Algorithm& of, std::string name, bool user_defined)
      : ModifiedAlgorithm(of, stated(of.facts(), std::move(name), user_defined)) {}

  [[nodiscard]] std::int64_t working_set_bytes(const AttentionProblem& p, const Config& config,
                                               const DeviceLimits& device) const override {
    return of_.working_set_bytes(p, known(config), device);
  }
  [[nodiscard]] Config default_config(const AttentionProblem& p, const DeviceLimits& device) const override {
    return of_.default_config(p, device);
  }
  [[nodiscard]] std::optional<Refusal> refusal(const AttentionProblem& p, const Config& config,
                                               const DeviceLimits& device) const override {
    return of_.refusal(p, known(config), device);
  }
  [[nodiscard]] AttentionPlan plan(const AttentionProblem& p, const Config& config,
                                   const DeviceLimits& device) const override {
    return of_.plan(p, known(config), device);
  }

 protected:
  static Facts stated(Facts facts, std::string name, bool user_defined) {
    facts.name = std::move(name);
    facts.user_defined = user_defined;
    return facts;
  }
  /// Configuration as passed to the wrapped algorithm.
  [[nodiscard]] virtual Config known(const Config& config) const { return config; }

 private:
  const Algorithm& of_;
};

/// FA2 with additional knobs without effect, and with fixed knobs. Tests that generic code finds knobs by their
/// declarations.
class Fa2WithKnobs : public ModifiedAlgorithm {
 public:
  Fa2WithKnobs(const std::string& name, std::vector<Knob> knobs, Knobs own = {})
      : ModifiedAlgorithm(*built_in_algorithms().find("fa2"), with_knobs(name, std::move(knobs))),
        own_(std::move(own)) {}

  [[nodiscard]] Config default_config(const AttentionProblem& p, const DeviceLimits& device) const override {
    return {ModifiedAlgorithm::default_config(p, device).tile, own_};
  }

 protected:
  [[nodiscard]] Config known(const Config& config) const override { return config.tile; }

 private:
  static Facts with_knobs(const std::string& name, std::vector<Knob> knobs) {
    Facts facts = stated(built_in_algorithms().find("fa2")->facts(), name, false);
    facts.knobs = std::move(knobs);
    return facts;
  }

  Knobs own_;
};

/// One algorithm with a numeric knob and a knob with named values.
inline Registry registry_with_knobs() {
  Registry registry;
  registry.add(std::make_unique<Fa2WithKnobs>(
      "clustered", std::vector<Knob>{{.name = "cluster",
                                      .label = Message::verbatim("Cluster"),
                                      .meaning = Message::verbatim("Blocks that share loads."),
                                      .largest = 16},
                                     {.name = "order",
                                      .label = Message::verbatim("Order"),
                                      .meaning = Message::verbatim("Which way."),
                                      .words = {"up", "down"}}}));
  return registry;
}

}  // namespace attnscope::test
