// SPDX-License-Identifier: Apache-2.0
// What views tell points apart by, and offer as choices: the fields of a point (profiler/plan/fields.h) and the knobs
// of the algorithms as they state themselves, a few fields together.
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
  Message label;    ///< for people: "Mask"
  Message help;     ///< one sentence
  std::function<CodeColumn(const PointTable&)> encode;
  std::string stem = {};      ///< stands before the value in file names: "d128"
  std::string usual = {};     ///< the text of the value that goes without saying
  bool always_shown = false;  ///< false: not offered while there is only one value
  bool quiet = false;         ///< the usual value is taken where there is a choice, and titles do not say it either
  bool titled = false;        ///< but titles say it, though it is quiet
};
using FacetPtr = std::shared_ptr<const Facet>;

/// Fields that views read together ("4096", "1 × 16", "128 × 64"), each as one field with Field::parts. The tile last.
[[nodiscard]] std::span<const attnscope::Field> field_groups();
/// The one that a field is in; nullptr where it stands alone.
[[nodiscard]] const attnscope::Field* group_of(std::string_view field);

/// What the points of a curve over N have in common, in the order in which it is chosen; of knobs there are none, for a
/// tile stands for its algorithm with all that it was told.
[[nodiscard]] std::vector<FacetPtr> curve_facets(std::span<const attnscope::Field> fields = point_fields());
/// What the points of a map of tiles have in common: every field but the tile, and every knob of these algorithms.
[[nodiscard]] std::vector<FacetPtr> map_facets(const Algorithms& = Algorithms::known(),
                                               std::span<const attnscope::Field> fields = point_fields());
/// The key of the facet that says where points come from: no field, and no part of a configuration.
inline constexpr std::string_view device_facet_key = "device";

/// What points can be laid out by: a facet, and the fields that it speaks for, or the knob.
struct PointAxis {
  FacetPtr facet;
  std::vector<std::string> names = {};  ///< of the fields, or of the knob; none of the device
  bool number = false;                  ///< its values are numbers: FacetValue::order

  [[nodiscard]] const std::string& key() const { return facet->key; }
  [[nodiscard]] bool speaks_for(std::string_view name) const;
};
/// Every field by itself and every knob, and N, batch x heads and the tile, which stand for several fields each.
[[nodiscard]] std::vector<PointAxis> point_axes(const Algorithms& = Algorithms::known(),
                                                std::span<const attnscope::Field> fields = point_fields());
/// By its key; nullptr for an unknown one.
[[nodiscard]] const PointAxis* find_axis(std::span<const PointAxis>, std::string_view key);
/// What points have in common that are laid out by these axes: every field and knob that none of them speaks for. Of
/// fields that are one choice elsewhere each is one by itself where an axis has taken another of them.
[[nodiscard]] std::vector<FacetPtr> facets_beside(std::span<const PointAxis> axes,
                                                  const Algorithms& = Algorithms::known(),
                                                  std::span<const attnscope::Field> fields = point_fields());
/// All that facets_beside() may give, each once.
[[nodiscard]] std::vector<FacetPtr> all_map_facets(const Algorithms& = Algorithms::known(),
                                                   std::span<const attnscope::Field> fields = point_fields());
/// Of two axes together: a value each pair that there is.
[[nodiscard]] FacetPtr facet_of_both(const PointAxis& a, const PointAxis& b);
/// The table of fields that a table of points was made with.
[[nodiscard]] std::vector<attnscope::Field> table_fields(const PointTable&);

/// N of keys, and the tile's extents: what the points of a curve and of a map differ in.
[[nodiscard]] FacetPtr key_length_facet();
[[nodiscard]] FacetPtr tile_facet();

/// One number for each row of the table, equal where all these facets are.
[[nodiscard]] std::vector<std::uint64_t> combined_codes(const PointTable&, std::span<const FacetPtr>);

/// "1 × 16", with K/V heads where they differ.
[[nodiscard]] std::string heads_text(const AttentionProblem&);
/// "4096", or "1 × 65536" (n_q × n_k) where they differ.
[[nodiscard]] std::string lengths_text(const AttentionProblem&);

/// A value's text in the words of whoever reads it: what is left to an algorithm has another in each language.
[[nodiscard]] std::string shown_text(const FacetValue&);

}  // namespace attnscope::analysis
