// SPDX-License-Identifier: Apache-2.0
#include "kernels/registry.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <stdexcept>
#include <utility>

#include "kernels/fa1/fa1.h"
#include "kernels/fa2/fa2.h"
#include "kernels/fa3/fa3.h"
#include "kernels/linattn/linattn.h"
#include "kernels/naive/naive.h"
#include "kernels/oracle/references.h"
#include "kernels/splitkv/splitkv.h"

namespace attnscope {

void Registry::add(std::unique_ptr<const Algorithm> algorithm) {
  take(std::move(algorithm));
}

void Registry::take(std::shared_ptr<const Algorithm> algorithm) {
  const Facts& facts = algorithm->facts();
  if (find(facts.name) != nullptr) {
    throw std::invalid_argument(fmt::format("there is an algorithm '{}' already", facts.name));
  }
  if (facts.law == nullptr) {
    throw std::invalid_argument(fmt::format("{} does not say by which law its bytes grow", facts.name));
  }
  if (find_reference(facts.reference) == nullptr) {
    throw std::invalid_argument(
        fmt::format("nothing judges {}: there is no reference '{}'", facts.name, facts.reference));
  }
  for (const Knob& knob : facts.knobs) {
    const auto known = std::ranges::find(knobs_, knob.name, &Knob::name);
    if (known == knobs_.end()) {
      knobs_.push_back(knob);
      continue;
    }
    if (known->words.empty() != knob.words.empty()) {
      throw std::invalid_argument(
          fmt::format("knob '{}' of {} takes words where another algorithm's takes numbers, or the other way round",
                      knob.name, facts.name));
    }
    known->largest = std::max(known->largest, knob.largest);
    for (const std::string& word : knob.words) {
      if (std::ranges::find(known->words, word) == known->words.end()) known->words.push_back(word);
    }
  }
  algorithms_.push_back(algorithm.get());
  owned_.push_back(std::move(algorithm));
}

Registry Registry::without(std::string_view name) const {
  Registry others;
  for (const auto& each : owned_) {
    if (each->name() != name) others.take(each);
  }
  return others;
}

const Algorithm* Registry::find(std::string_view name) const {
  const auto found = std::ranges::find(algorithms_, name, &Algorithm::name);
  return found == algorithms_.end() ? nullptr : *found;
}

const Knob* Registry::find_knob(std::string_view name) const {
  const auto found = std::ranges::find(knobs_, name, &Knob::name);
  return found == knobs_.end() ? nullptr : &*found;
}

namespace {

Registry all_built_in() {
  Registry all;
  all.add(std::make_unique<NaiveAttention>());
  all.add(std::make_unique<FlashAttention1>());
  all.add(std::make_unique<FlashAttention2>());
  all.add(std::make_unique<SplitKv>());
  all.add(std::make_unique<FlashAttention3>());
  all.add(std::make_unique<LinearAttention>());
  return all;
}

/// Every registry that the process worked with; the last one is in use.
struct Versions {
  std::mutex mutex;
  std::vector<std::unique_ptr<const Registry>> all;
  std::atomic<const Registry*> in_use = &built_in_algorithms();

  void use(Registry next) {
    all.push_back(std::make_unique<const Registry>(std::move(next)));
    in_use = all.back().get();
  }
};

Versions& of_this_process() {
  static Versions versions;
  return versions;
}

}  // namespace

const Registry& built_in_algorithms() {
  static const Registry registry = all_built_in();
  return registry;
}

const Registry& known_algorithms() {
  return *of_this_process().in_use;
}

void add_known_algorithm(std::unique_ptr<const Algorithm> algorithm) {
  Versions& versions = of_this_process();
  const std::lock_guard lock(versions.mutex);
  const Algorithm* const known = known_algorithms().find(algorithm->name());
  const bool replaces = known != nullptr && known->facts().for_reading;
  Registry next = known_algorithms().without(replaces ? algorithm->name() : std::string_view());
  next.add(std::move(algorithm));
  versions.use(std::move(next));
}

void replace_known_algorithm(std::unique_ptr<const Algorithm> algorithm) {
  Versions& versions = of_this_process();
  const std::lock_guard lock(versions.mutex);
  Registry next = known_algorithms().without(algorithm->name());
  next.add(std::move(algorithm));
  versions.use(std::move(next));
}

}  // namespace attnscope
