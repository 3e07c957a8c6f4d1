// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/messages/message.h"
#include "kernels/registry.h"

namespace attnscope {

/// Cartesian product of axes, for a set of algorithms.
struct Grid {
  std::vector<std::string_view> axes = {};   ///< in parse_axis() notation
  std::optional<Group> group = {};           ///< all algorithms of a group
  std::vector<std::string> algorithms = {};  ///< or these algorithms; if neither is set, all

  [[nodiscard]] bool includes(const Algorithm& algorithm) const {
    if (!algorithms.empty()) return std::ranges::find(algorithms, algorithm.name()) != algorithms.end();
    return !group || algorithm.facts().in_group(*group);
  }
};

struct Preset {
  std::string_view name;  ///< quick, memory-wall, tiles, paper, backward, masks, decode, law, and those of algorithms
  Message description;
  std::vector<Grid> grids;
};
[[nodiscard]] const std::vector<Preset>& presets();
/// Returns nullptr for an unknown name.
[[nodiscard]] const Preset* find_preset(std::string_view name);

}  // namespace attnscope
