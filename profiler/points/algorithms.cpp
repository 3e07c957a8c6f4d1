// SPDX-License-Identifier: Apache-2.0
#include "profiler/points/algorithms.h"

#include <algorithm>

namespace attnscope::analysis {

Algorithms::Algorithms(const Registry& registry) : registry_(&registry) {
  for (const Algorithm* algorithm : registry.algorithms()) names_.push_back(algorithm->name());
}

std::size_t Algorithms::place(std::string_view name) const {
  return static_cast<std::size_t>(std::ranges::find(names_, name) - names_.begin());
}

std::string short_title(const Algorithms& algorithms, std::string_view name) {
  const Algorithm* ours = algorithms.find(name);
  return ours == nullptr ? std::string(name) : ours->facts().short_title;
}

}  // namespace attnscope::analysis
