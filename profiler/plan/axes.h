// SPDX-License-Identifier: Apache-2.0
// Sweep axes: the fields of a point, the knobs of the algorithms, and names that set two fields at once.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/messages/message.h"
#include "kernels/model/result.h"
#include "kernels/registry.h"
#include "profiler/plan/fields.h"

namespace attnscope {

/// One axis in nvbench's notation: "N=[1024,2048]", "N[pow2]=[8,14]" (2^8 ... 2^14), "N=[1024:4096:1024]"
/// (first:last:step), "mask=[full,causal,window:1024:0]", "d=64". Names: fields (fields.h), knobs of the registry, and
/// N, heads and tile, which set two fields each.
/// tile is "128x64" or "auto" (the best tile for each N). Without a tile axis, all points of a curve use the best tile
/// of its largest N, except for decoding algorithms and if that tile is infeasible. M is a number of on-chip elements
/// that sets the tile by the paper's rule (tile_of_memory()); it applies to algorithms whose traffic depends on a tile
/// side. Knob value 0 leaves the choice to the algorithm.
struct Axis {
  std::string name;  ///< canonical spelling, as in axis_definitions()
  std::vector<std::string> values;
};
/// Returns an error that names the text, the problem and the accepted values.
[[nodiscard]] Result<Axis, Message> parse_axis(std::string_view text, const Registry&);

[[nodiscard]] std::vector<std::string> axis_help(const Registry&);

/// Partial point during expansion. Tile sides and knobs that no axis sets are chosen later for the problem.
struct PartialPoint {
  /// br and bc are 0 until an axis sets them
  PointSpec spec{.algorithm = {}, .problem = {}, .tile = {.br = 0, .bc = 0}};
  std::set<std::string, std::less<>> knobs = {};  ///< set by an axis, including to 0 (algorithm's choice)
  bool auto_tile = false;                         ///< tile=auto: best tile for each N
  std::int64_t m = 0;                             ///< on-chip elements from axis M; 0 if not set
};

/// Values that an axis accepts and the fields that it sets.
struct AxisDef {
  /// Target of a value: `fields`, the whole tile, or the tile derived from an on-chip memory size.
  enum class AxisTarget { fields, tile, memory };

  std::string name;
  std::vector<Field> fields = {};  ///< one, or two for N and heads
  AxisTarget sets = AxisTarget::fields;
  bool words = false;
  std::int64_t smallest = 0;
  std::int64_t largest = 0;
  std::string_view fallback = {};  ///< value without such an axis; empty if none is needed
  bool can_be_infeasible = false;  ///< kernels may be unable to run some values
  int nesting = 0;

  /// Returns why the axis does not accept the value; empty if it does. Pre: a number is in range.
  [[nodiscard]] Message rejection_reason(std::string_view value, const Registry&) const;
  /// Pre: the axis accepts the value.
  void set(PartialPoint&, const std::string& value) const;
};
/// All axes in nesting order, outermost first.
[[nodiscard]] std::vector<AxisDef> axis_definitions(const Registry&);

/// Returns true if setting `name` overrides `other`: the same axis, or one that sets the same fields.
[[nodiscard]] bool axis_replaces(std::string_view name, std::string_view other);
/// Returns why the axes conflict; empty if they do not.
[[nodiscard]] Message axis_overlap(std::span<const Axis> axes);

}  // namespace attnscope
