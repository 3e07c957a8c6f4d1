// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/messages/message.h"
#include "kernels/registry.h"

namespace attnscope {

struct PresetInfo {
  std::string_view name;  ///< quick, memory-wall, tiles, paper, backward, masks, decode, law, and those of algorithms
  Message description;
};
[[nodiscard]] std::span<const PresetInfo> presets();

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

/// Returns an empty span for an unknown name.
[[nodiscard]] std::span<const Grid> preset_grids(std::string_view name);

}  // namespace attnscope
