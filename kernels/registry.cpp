// SPDX-License-Identifier: Apache-2.0
#include "kernels/registry.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <stdexcept>
#include <utility>

#include "kernels/oracle/reference.h"

/// Built-in algorithms, softmax attention in order of publication: kernels/NAME defines make_NAME().
#define ATTNSCOPE_ALGORITHMS(ADD) \
  ADD(naive)                      \
  ADD(fa1)                        \
  ADD(fa2)                        \
  ADD(splitkv)                    \
  ADD(fa3)                        \
  ADD(linattn)                    \
  ADD(ring)                       \
  ADD(allgather)                  \
  ADD(ulysses)

namespace attnscope {

#define ATTNSCOPE_DECLARE(NAME) std::unique_ptr<const Algorithm> make_##NAME();
ATTNSCOPE_ALGORITHMS(ATTNSCOPE_DECLARE)

void Registry::add(std::unique_ptr<const Algorithm> algorithm) {
  take(std::move(algorithm));
}

void Registry::take(std::shared_ptr<const Algorithm> algorithm) {
  const Facts& facts = algorithm->facts();
  if (find(facts.name) != nullptr) {
    throw std::invalid_argument(fmt::format("algorithm '{}' already exists", facts.name));
  }
  if (find_reference(facts.reference) == nullptr) {
    throw std::invalid_argument(fmt::format("algorithm '{}': unknown reference '{}'", facts.name, facts.reference));
  }
  for (const Knob& knob : facts.knobs) {
    const Knob* const known = find_knob(knob.name);
    if (known != nullptr && known->words.empty() != knob.words.empty()) {
      throw std::invalid_argument(fmt::format(
          "knob '{}' of {}: another algorithm has a knob of this name and a different type", knob.name, facts.name));
    }
  }
  for (const Knob& knob : facts.knobs) {
    const auto [place, is_new] = knob_index_.try_emplace(knob.name, knobs_.size());
    if (is_new) {
      knobs_.push_back(knob);
      continue;
    }
    Knob& known = knobs_[place->second];
    known.largest = std::max(known.largest, knob.largest);
    if (known.values.empty() || knob.values.empty()) {
      known.values.clear();  // one of the two accepts a range
    } else {
      for (const std::int64_t value : knob.values) {
        if (std::ranges::find(known.values, value) == known.values.end()) known.values.push_back(value);
      }
    }
    for (const std::string& word : knob.words) {
      if (std::ranges::find(known.words, word) == known.words.end()) known.words.push_back(word);
    }
  }
  algorithm_index_.emplace(facts.name, algorithms_.size());
  algorithms_.push_back(algorithm.get());
  owned_algorithms_.push_back(std::move(algorithm));
}

Registry Registry::without(const std::set<std::string, std::less<>>& names) const {
  Registry others;
  for (const auto& each : owned_algorithms_) {
    if (!names.contains(each->name())) others.take(each);
  }
  return others;
}

std::size_t Registry::place(std::string_view name) const {
  const auto found = algorithm_index_.find(name);
  return found == algorithm_index_.end() ? algorithms_.size() : found->second;
}

const Algorithm* Registry::find(std::string_view name) const {
  const auto found = algorithm_index_.find(name);
  return found == algorithm_index_.end() ? nullptr : algorithms_[found->second];
}

const Knob* Registry::find_knob(std::string_view name) const {
  const auto found = knob_index_.find(name);
  return found == knob_index_.end() ? nullptr : &knobs_[found->second];
}

namespace {

Registry make_built_in_registry() {
  Registry all;
#define ATTNSCOPE_ADD(NAME) all.add(make_##NAME());
  ATTNSCOPE_ALGORITHMS(ATTNSCOPE_ADD)
  return all;
}

/// All registries that this process has used; the last one is current.
struct RegistryHistory {
  std::mutex mutex;
  std::vector<std::unique_ptr<const Registry>> all;
  std::atomic<const Registry*> current = &built_in_algorithms();

  void use(Registry next) {
    all.push_back(std::make_unique<const Registry>(std::move(next)));
    current = all.back().get();
  }
};

RegistryHistory& process_registries() {
  static RegistryHistory versions;
  return versions;
}

}  // namespace

const Registry& built_in_algorithms() {
  static const Registry registry = make_built_in_registry();
  return registry;
}

const Registry& known_algorithms() {
  return *process_registries().current;
}

std::vector<std::string> add_known_algorithms(std::vector<std::unique_ptr<const Algorithm>> algorithms,
                                              std::string_view replaced_name) {
  RegistryHistory& versions = process_registries();
  const std::lock_guard lock(versions.mutex);
  const Registry& now = known_algorithms();
  std::set<std::string, std::less<>> gone{std::string(replaced_name)};
  for (const auto& each : algorithms) {
    const Algorithm* const known = now.find(each->name());
    if (known != nullptr && known->facts().model_only) gone.insert(each->name());
  }
  Registry next = now.without(gone);
  std::vector<std::string> refused;
  refused.reserve(algorithms.size());
  std::size_t added = 0;
  for (auto& each : algorithms) {
    try {
      next.add(std::move(each));
      refused.emplace_back();
      ++added;
    } catch (const std::invalid_argument& error) {
      refused.emplace_back(error.what());
    }
  }
  if (added > 0) versions.use(std::move(next));
  return refused;
}

void reset_known_algorithms() {
  RegistryHistory& versions = process_registries();
  const std::lock_guard lock(versions.mutex);
  versions.current = &built_in_algorithms();
}

}  // namespace attnscope
