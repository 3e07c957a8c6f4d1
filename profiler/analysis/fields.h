// SPDX-License-Identifier: Apache-2.0
// The fields that points are told apart by, one line a field: what views offer as choices.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "profiler/analysis/point_table.h"

namespace attnscope::analysis {

struct Field {
  std::string_view key;    ///< "d", "mask"
  std::string_view label;  ///< for people: "Mask"
  std::string_view help;   ///< one sentence
  std::function<CodeColumn(const PointTable&)> encode;
  std::string_view stem = {};   ///< stands before the value in file names: "d128"
  std::string_view usual = {};  ///< the text of the value that goes without saying
  bool always_shown = false;    ///< false: not offered while there is only one value
  bool quiet = false;           ///< the usual value is taken where there is a choice, and titles do not say it either
};

/// nullptr for an unknown key.
[[nodiscard]] const Field* find_field(std::string_view key);
[[nodiscard]] std::span<const Field> point_fields();

/// What the points of a curve over N have in common, in the order in which it is chosen.
[[nodiscard]] std::vector<const Field*> curve_fields();
/// What the points of a map of tiles have in common.
[[nodiscard]] std::vector<const Field*> map_fields();
/// N of keys, and the tile's extents: what the points of a curve and of a map differ in.
[[nodiscard]] const Field& key_length_field();
[[nodiscard]] const Field& tile_field();

/// One number for each row of the table, equal where all these fields are.
[[nodiscard]] std::vector<std::uint64_t> combined_codes(const PointTable&, std::span<const Field* const>);

/// "1 × 16", with K/V heads where they differ.
[[nodiscard]] std::string heads_text(const AttentionProblem&);
/// "4096", or "1 × 65536" (n_q × n_k) where they differ.
[[nodiscard]] std::string lengths_text(const AttentionProblem&);
/// "full", "causal", "window:256:0": the mask's words, where mask=none reads "full" and a long list is shortened.
[[nodiscard]] std::string mask_text(const Mask&);

}  // namespace attnscope::analysis
