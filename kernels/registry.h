// SPDX-License-Identifier: Apache-2.0
// Registry of algorithms. Passed as an object, so that tests can create their own.
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

  /// Throws std::invalid_argument if the name is taken, the reference is unknown, or a knob is numeric while another
  /// algorithm's knob of the same name is not.
  void add(std::unique_ptr<const Algorithm> algorithm);

  [[nodiscard]] const std::vector<const Algorithm*>& algorithms() const { return algorithms_; }
  /// Returns nullptr for an unknown name.
  [[nodiscard]] const Algorithm* find(std::string_view name) const;
  /// Position in algorithms(); their number for an unknown name.
  [[nodiscard]] std::size_t place(std::string_view name) const;
  /// All knobs, each once, with the widest range and all values of any algorithm.
  [[nodiscard]] const std::vector<Knob>& knobs() const { return knobs_; }
  /// Returns nullptr for an unknown knob.
  [[nodiscard]] const Knob* find_knob(std::string_view name) const;
  /// Returns a registry without the named algorithms.
  [[nodiscard]] Registry without(const std::set<std::string, std::less<>>& names) const;

 private:
  void take(std::shared_ptr<const Algorithm> algorithm);

  std::vector<std::shared_ptr<const Algorithm>> owned_algorithms_;
  std::vector<const Algorithm*> algorithms_;
  std::vector<Knob> knobs_;
  std::map<std::string, std::size_t, std::less<>> algorithm_index_;
  std::map<std::string, std::size_t, std::less<>> knob_index_;
};

/// Built-in algorithms: softmax attention in order of publication, then the others.
[[nodiscard]] const Registry& built_in_algorithms();
/// Algorithms known to this process: built-in and loaded ones. Thread-safe: loading creates a new registry, and earlier
/// registries with their algorithms stay valid.
[[nodiscard]] const Registry& known_algorithms();
/// Adds algorithms; each replaces a `model_only` algorithm of the same name. Removes algorithm `replaced_name`. Returns
/// one text per algorithm: the error of Registry::add(), or empty on success.
[[nodiscard]] std::vector<std::string> add_known_algorithms(std::vector<std::unique_ptr<const Algorithm>>,
                                                            std::string_view replaced_name = {});
/// Removes all but the built-in algorithms from known_algorithms().
void reset_known_algorithms();

}  // namespace attnscope
