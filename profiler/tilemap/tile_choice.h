// SPDX-License-Identifier: Apache-2.0
// Which tile stands for an algorithm when a sweep has several.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "profiler/points/point_table.h"

namespace attnscope::analysis {

/// What stands on the vertical axis.
enum class Ordinate { bytes, time, rate };
/// Whether a point has a value on that axis.
[[nodiscard]] bool has_value(const PointTable&, Row, Ordinate);
/// Whether it has something to show there: a value, or an end that says why it has none.
[[nodiscard]] bool shows_on(const PointTable&, Row, Ordinate);

/// A value of a knob that sweeps take beside N (Knob::beside_n); 0: the algorithm's choice.
struct SweptValue {
  std::string knob;
  std::int64_t value = 0;

  bool operator==(const SweptValue&) const = default;
};

struct TileSelection {
  enum class Rule {
    widest,   ///< the tile that covers the most N
    fastest,  ///< at each N its own
    exact,
  };
  Rule rule = Rule::widest;
  Config tile = {};  ///< for `exact`
  /// For `widest`: of an algorithm swept over that knob, the points with that value.
  std::optional<SweptValue> swept = std::nullopt;
};

using RowsByPlace = std::map<double, std::vector<Row>>;

/// Where rows stand, and which of them have a value there.
struct Placing {
  std::function<double(Row)> place;
  std::function<bool(Row)> has_value;
};
/// At its N.
[[nodiscard]] Placing over_lengths(const PointTable&, Ordinate);

/// The rows of one run of one algorithm that stand for it: one tile each place, all its rows. Of tiles that cover
/// equally many places in the run, the one that covers the most in `family` (the rows of all runs that are drawn beside
/// this one), then the fastest. A place that it does not cover has its fastest.
[[nodiscard]] RowsByPlace standing_rows(const PointTable&, std::span<const Row> rows, std::span<const Row> family,
                                        const TileSelection&, const Placing&);

/// Tiles that occur, as far as they are stated, by how many N they cover, then by size.
[[nodiscard]] std::vector<Config> tiles_of(const PointTable&, std::span<const Row> rows);

/// The values of such knobs, ascending, where one problem of an algorithm was measured with several on a device.
[[nodiscard]] std::vector<SweptValue> swept_values(const PointTable&, std::span<const Row> rows);

}  // namespace attnscope::analysis
