// SPDX-License-Identifier: Apache-2.0
// The algorithms that a program works with. An object that is passed in: tests make registries of their own.
#pragma once

#include <memory>
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

  /// The same for one of that name: what pointed to it before, goes on pointing to what it was.
  void replace(std::unique_ptr<const Algorithm> algorithm);

  /// In the order in which they were added.
  [[nodiscard]] const std::vector<const Algorithm*>& algorithms() const { return algorithms_; }
  /// nullptr for an unknown name.
  [[nodiscard]] const Algorithm* find(std::string_view name) const;
  /// Every knob that an algorithm states, once, with the widest range and all words that one of them has.
  [[nodiscard]] const std::vector<Knob>& knobs() const { return knobs_; }
  /// nullptr for a knob that no algorithm states.
  [[nodiscard]] const Knob* find_knob(std::string_view name) const;

 private:
  /// Throws where they do not fit to the others'.
  void take_facts(const Facts&);

  std::vector<std::unique_ptr<const Algorithm>> owned_;
  std::vector<const Algorithm*> algorithms_;
  std::vector<Knob> knobs_;
};

/// The algorithms of this program: softmax attention in the order in which the papers came, then what else there is.
[[nodiscard]] const Registry& built_in_algorithms();
/// What this process works with: these, and what it loaded.
[[nodiscard]] const Registry& known_algorithms();
/// Throws as Registry::add() does. Pre: no other thread looks.
void add_known_algorithm(std::unique_ptr<const Algorithm>);
/// In the place of the one of that name. Throws and needs the same.
void replace_known_algorithm(std::unique_ptr<const Algorithm>);

}  // namespace attnscope
