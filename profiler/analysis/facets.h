// SPDX-License-Identifier: Apache-2.0
// What views tell points apart by, and offer as choices. Derived from the table of fields (profiler/plan/fields.h) and
// the knobs of the algorithms: what has no line of its own here is offered as its field or knob states it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/model/message.h"
#include "profiler/analysis/point_table.h"
#include "profiler/plan/fields.h"

namespace attnscope::analysis {

struct Facet {
  std::string key;  ///< "d", "mask"
  Message label;    ///< for people: "Mask"
  Message help;     ///< one sentence
  std::function<CodeColumn(const PointTable&)> encode;
  std::string stem = {};      ///< stands before the value in file names: "d128"
  std::string usual = {};     ///< the text of the value that goes without saying
  bool always_shown = false;  ///< false: not offered while there is only one value
  bool quiet = false;         ///< the usual value is taken where there is a choice, and titles do not say it either
};
using FacetPtr = std::shared_ptr<const Facet>;

/// What the points of a curve over N have in common, in the order in which it is chosen; of knobs there are none, for a
/// tile stands for its algorithm with all that it was told.
[[nodiscard]] std::vector<FacetPtr> curve_facets(std::span<const attnscope::Field> fields = point_fields());
/// What the points of a map of tiles have in common: every field but the tile, and every knob of these algorithms.
[[nodiscard]] std::vector<FacetPtr> map_facets(const Algorithms& = Algorithms::built_in(),
                                               std::span<const attnscope::Field> fields = point_fields());
/// N of keys, and the tile's extents: what the points of a curve and of a map differ in.
[[nodiscard]] FacetPtr key_length_facet();
[[nodiscard]] FacetPtr tile_facet();

/// One number for each row of the table, equal where all these facets are.
[[nodiscard]] std::vector<std::uint64_t> combined_codes(const PointTable&, std::span<const FacetPtr>);

/// "1 × 16", with K/V heads where they differ.
[[nodiscard]] std::string heads_text(const AttentionProblem&);
/// "4096", or "1 × 65536" (n_q × n_k) where they differ.
[[nodiscard]] std::string lengths_text(const AttentionProblem&);
/// "full", "causal", "window:256:0": the mask's words, where mask=none reads "full" and a long list is shortened.
[[nodiscard]] std::string mask_text(const Mask&);

}  // namespace attnscope::analysis
