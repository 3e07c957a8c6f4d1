// SPDX-License-Identifier: Apache-2.0
// Facets: properties by which views group and filter points. Generated from the point fields (profiler/plan/fields.h)
// and knobs; some combine several fields.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/messages/message.h"
#include "profiler/plan/fields.h"
#include "profiler/points/point_table.h"

namespace attnscope::analysis {

struct Facet {
  std::string key;  ///< "d", "mask"
  Message label;    ///< display name: "Mask"
  Message help;
  std::function<CodeColumn(const PointTable&)> encode;
  std::string stem = {};      ///< prefix of the value in file names: "d128"
  std::string usual = {};     ///< text of the default value
  bool always_shown = false;  ///< false: hidden while there is only one value
  bool quiet = false;         ///< selected by default if available, and omitted from titles
  bool titled = false;        ///< shown in titles although `quiet`
};
using FacetPtr = std::shared_ptr<const Facet>;

/// Fields shown as one value ("4096", "1 × 16", "128 × 64"); Field::parts has their names. The tile is last.
[[nodiscard]] std::span<const attnscope::Field> field_groups();
/// Returns the group that contains `field`; nullptr if there is none.
[[nodiscard]] const attnscope::Field* group_of(std::string_view field);

/// Facets on which all points of a curve over N agree, in selection order. No knobs: a curve may mix the knobs that its
/// algorithm chose.
[[nodiscard]] std::vector<FacetPtr> curve_facets();
/// Facets on which all points of a tile map agree: every field except the tile, and every knob of the known algorithms.
[[nodiscard]] std::vector<FacetPtr> map_facets();
/// Key of the device facet, the only one that is neither a field nor a knob.
inline constexpr std::string_view device_facet_key = "device";

/// An axis of a plot: a facet with the fields or the knob that it covers.
struct PointAxis {
  FacetPtr facet;
  std::vector<std::string> names = {};  ///< names of the covered fields or the knob; empty for the device
  bool number = false;                  ///< values are numbers, in FacetValue::order

  [[nodiscard]] const std::string& key() const { return facet->key; }
  [[nodiscard]] bool covers_field(std::string_view name) const;
};
/// Every field and knob, and the groups N, batch x heads and tile.
[[nodiscard]] std::vector<PointAxis> point_axes();
/// Returns nullptr for an unknown key.
[[nodiscard]] const PointAxis* find_axis(std::span<const PointAxis>, std::string_view key);
/// Facets of all fields and knobs that none of the axes covers. If an axis covers part of a field group, the other
/// fields of the group become separate facets.
[[nodiscard]] std::vector<FacetPtr> fixed_facets(std::span<const PointAxis> axes);
/// All facets that fixed_facets() can return.
[[nodiscard]] std::vector<FacetPtr> all_map_facets();
/// Facet whose values are the occurring pairs of values of both axes.
[[nodiscard]] FacetPtr combined_facet(const PointAxis& a, const PointAxis& b);

/// N of keys, and the tile: the facets that vary within a curve and a tile map.
[[nodiscard]] FacetPtr key_length_facet();
[[nodiscard]] FacetPtr tile_facet();

/// One code per table row, equal for rows that agree in all facets.
[[nodiscard]] std::vector<std::uint64_t> combined_codes(const PointTable&, std::span<const FacetPtr>);

/// "1 × 16", with the number of K/V heads if it differs.
[[nodiscard]] std::string heads_text(const AttentionProblem&);
/// "4096", or "1 × 65536" (n_q × n_k) if they differ.
[[nodiscard]] std::string lengths_text(const AttentionProblem&);

/// Lower case for use within a sentence, except N, n_q and "L2 before launch".
[[nodiscard]] std::string lower_label(std::string label);
/// Localized text of a value; only "auto" is translated.
[[nodiscard]] std::string localized_text(const FacetValue&);

}  // namespace attnscope::analysis
