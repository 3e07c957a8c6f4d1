// SPDX-License-Identifier: Apache-2.0
// Axes of a sweep: the fields of a point, the knobs of the algorithms, and names that stand for two fields.
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
/// (first:last:step), "mask=[full,causal,window:1024:0]", "d=64". Names are those of the fields (fields.h), of the
/// registry's knobs, and N, heads and tile, which stand for two fields each. tile is "auto", the best of each N, or
/// "128x64"; where no axis says, a curve has one tile, the best of its longest N, but for decoding and where that does
/// not run. M, in elements, is a tile by the paper's rule (tile_of_memory()), for algorithms whose traffic a side of
/// the tile divides. A knob may be 0, the algorithm's choice.
struct Axis {
  std::string name;  ///< canonical: as the table of axes spells it
  std::vector<std::string> values;
};
/// The error names the text, what is wrong with it and what would be accepted: how an axis is written only where that
/// is the mistake.
[[nodiscard]] Result<Axis, Message> parse_axis(std::string_view text, const Registry&);

/// "N (or n_q and n_k) d batch ...": every axis, for help texts.
[[nodiscard]] std::vector<std::string> axis_help(const Registry&);

/// A point on its way: what of the tile and the knobs no axis sets is chosen for the problem.
struct Draft {
  PointSpec spec{.algorithm = {}, .problem = {}, .tile = {.br = 0, .bc = 0}};  ///< a side is 0 until an axis sets it
  std::set<std::string, std::less<>> knobs = {};  ///< that axes set, also to the algorithm's choice
  bool auto_tile = false;                         ///< asked for: each N has its own
  std::int64_t m = 0;  ///< elements on chip that the paper's rule makes a tile of; 0: no axis set it
};

/// What stands on an axis, and what a value of it does.
struct AxisKind {
  /// What a value sets: the same fields, or the tile as a whole, which a memory makes one of.
  enum class Sets { fields, tile, memory };

  std::string name;
  std::vector<Field> fields = {};  ///< one, or the two that it stands for
  Sets sets = Sets::fields;
  bool words = false;
  std::int64_t smallest = 0;  ///< of numbers
  std::int64_t largest = 0;
  std::string_view fallback = {};  ///< the value when nobody sets the axis; empty: none is needed
  bool refusable = false;          ///< a kernel may lack a value of it altogether
  int nesting = 0;                 ///< as Field::nesting

  /// Empty, or why the value cannot stand on the axis. Pre: a number is in range.
  [[nodiscard]] Message wrong(std::string_view value, const Registry&) const;
  /// Pre: wrong() is empty.
  void set(Draft&, const std::string& value) const;
};
/// In nesting order, outermost first.
[[nodiscard]] std::vector<AxisKind> axis_kinds(const Registry&);

/// Whether `name` takes the place of `other`: the same axis, or one that stands for it.
[[nodiscard]] bool axis_replaces(std::string_view name, std::string_view other);
/// Why the axes of one request cannot stand together; empty when they can.
[[nodiscard]] Message axis_overlap(std::span<const Axis> axes);

}  // namespace attnscope
