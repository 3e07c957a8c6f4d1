// SPDX-License-Identifier: Apache-2.0
// What rows are told apart by, as numbers that are equal where the texts are: of 100,000 rows a text each takes longer
// than all that is asked of them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/points/point_table.h"

namespace attnscope::analysis {

/// Equal for rows that are alike in one thing. The table has to outlive it.
using RowKey = std::function<std::uint64_t(Row)>;

/// A field's value. Throws std::logic_error for an unknown name.
[[nodiscard]] RowKey key_of_field(const PointTable&, std::string_view field);
/// All knobs, by their words.
[[nodiscard]] RowKey key_of_knobs(const PointTable&);
/// One knob's value, where it has none that of an empty text.
[[nodiscard]] RowKey key_of_knob(const PointTable&, std::string_view name);
/// The device's name.
[[nodiscard]] RowKey key_of_device(const PointTable&);
/// Br and Bc.
[[nodiscard]] RowKey key_of_extents(const PointTable&);

/// "br=64 bc=32 ", of a row's knobs.
[[nodiscard]] std::string words_of_knobs(const Knobs&);

/// Whether both sides have a key in common.
[[nodiscard]] bool share_a_key(const RowKey&, std::span<const Row> base, std::span<const Row> other);
/// Whether they have the same ones.
[[nodiscard]] bool have_the_same_keys(const RowKey&, std::span<const Row> base, std::span<const Row> other);

/// The rows of two sides that are alike in all of some things, in the order in which the first of them stands: those of
/// the base first. Rows keep their order.
class RowGroups {
 public:
  RowGroups(std::span<const RowKey> keys, std::span<const Row> base, std::span<const Row> other);

  using Sides = std::array<std::span<const Row>, 2>;
  [[nodiscard]] std::size_t size() const { return begin_.size() / 2; }
  [[nodiscard]] Sides operator[](std::size_t group) const { return {side(2 * group), side(2 * group + 1)}; }

 private:
  [[nodiscard]] std::span<const Row> side(std::size_t at) const {
    return std::span<const Row>(rows_).subspan(begin_[at], begin_[at + 1] - begin_[at]);
  }

  std::vector<Row> rows_;           ///< side by side of group by group
  std::vector<std::size_t> begin_;  ///< where each side begins; one more at the end
};

/// Whether two rows were asked for the same: spec(a) == spec(b), field by field.
[[nodiscard]] bool same_spec(const PointTable&, Row a, Row b);

}  // namespace attnscope::analysis
