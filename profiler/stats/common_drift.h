// SPDX-License-Identifier: Apache-2.0
// What everything measured in one recording goes through alike: a clock that wanders or steps, a GPU that warms up. A
// round measures its points in shuffled order, so that neighbours in it are of all sorts of points, and what they have
// in common is the moment.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace attnscope::analysis {

/// One time of one thing that is measured again and again.
struct TimedValue {
  std::size_t series = 0;  ///< which thing, from 0
  double moment = 0;       ///< the whole part: which round of which recording; the rest: how far in it
  double log = 0;          ///< logarithm of the time
};

/// The drift at each value's moment, up to a constant: the mean of what some dozens of neighbours in its round, itself
/// not among them, lie above the means of their series, in turns with those means (Hastie and Tibshirani's backfitting,
/// Stat. Sci. 1 (1986) 297). Empty where a round has too few neighbours to tell. Pre: every `series` is below `count`.
[[nodiscard]] std::vector<double> common_drift(std::span<const TimedValue> values, std::size_t count);

}  // namespace attnscope::analysis
