// SPDX-License-Identifier: Apache-2.0
// The algorithms that a program works with. An object that is passed in: tests make registries of their own.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/algorithm.h"

namespace attnscope {

class Registry {
 public:
  Registry() = default;
  Registry(Registry&&) noexcept = default;
  Registry& operator=(Registry&&) noexcept = default;
  ~Registry() = default;
  Registry(const Registry&) = delete;
  Registry& operator=(const Registry&) = delete;

  /// Throws std::invalid_argument where the name is taken, a knob of the algorithm has the name of another's and takes
  /// words where that one takes numbers, no law is stated, or no reference has the name of the one that judges it.
  void add(std::unique_ptr<const Algorithm> algorithm);

  /// In the order in which they were added.
  [[nodiscard]] const std::vector<const Algorithm*>& algorithms() const { return algorithms_; }
  /// nullptr for an unknown name.
  [[nodiscard]] const Algorithm* find(std::string_view name) const;
  /// Every knob that an algorithm states, once, with the widest range and all words that one of them has.
  [[nodiscard]] const std::vector<Knob>& knobs() const { return knobs_; }
  /// nullptr for a knob that no algorithm states.
  [[nodiscard]] const Knob* find_knob(std::string_view name) const;
  /// The same algorithms but those.
  [[nodiscard]] Registry without(const std::set<std::string, std::less<>>& names) const;

 private:
  void take(std::shared_ptr<const Algorithm> algorithm);

  std::vector<std::shared_ptr<const Algorithm>> owned_;
  std::vector<const Algorithm*> algorithms_;
  std::vector<Knob> knobs_;
  std::map<std::string, std::size_t, std::less<>> by_name_;  ///< in algorithms_
  std::map<std::string, std::size_t, std::less<>> knob_by_name_;
};

/// The algorithms of this program: softmax attention in the order in which the papers came, then what else there is.
[[nodiscard]] const Registry& built_in_algorithms();
/// What this process works with: these, and what it loaded. Any thread may look: what is loaded later makes another
/// registry, and this one with its algorithms stays as it is.
[[nodiscard]] const Registry& known_algorithms();
/// Each in the place of one of its name that is `for_reading`; the one of the other name is no longer known. What
/// Registry::add() says of each that it refuses; empty for those that are known from then on.
[[nodiscard]] std::vector<std::string> add_known_algorithms(std::vector<std::unique_ptr<const Algorithm>>,
                                                            std::string_view instead_of = {});

}  // namespace attnscope
