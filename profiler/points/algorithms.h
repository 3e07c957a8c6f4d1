// SPDX-License-Identifier: Apache-2.0
// What analysis asks of algorithms. It is handed the set that a program works with and knows none by name.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/registry.h"

namespace attnscope::analysis {

/// The algorithms that a program works with, in the order in which views list them.
class Algorithms {
 public:
  Algorithms() = default;
  explicit Algorithms(const Registry& registry);
  [[nodiscard]] static Algorithms known() { return Algorithms(known_algorithms()); }

  /// nullptr for a name that is not among them.
  [[nodiscard]] const Algorithm* find(std::string_view name) const {
    return registry_ != nullptr ? registry_->find(name) : nullptr;
  }
  /// Pre: made of one.
  [[nodiscard]] const Registry& registry() const { return *registry_; }
  /// What they can be told beside the tile.
  [[nodiscard]] std::span<const Knob> knobs() const {
    return registry_ != nullptr ? std::span<const Knob>(registry_->knobs()) : std::span<const Knob>();
  }
  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }
  /// Place in names(); their number for a name that is not among them.
  [[nodiscard]] std::size_t place(std::string_view name) const;

 private:
  const Registry* registry_ = nullptr;
  std::vector<std::string> names_;
};

/// "FA2", "Naive", "Split-KV": for legends; an algorithm that is not ours by the name that it came with.
[[nodiscard]] std::string short_title(const Algorithms&, std::string_view name);

}  // namespace attnscope::analysis
