// SPDX-License-Identifier: Apache-2.0
// What a file may hold. Readers skip what lies outside, writers and imports refuse it. Internal to storage.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/messages/message.h"
#include "profiler/measure/device.h"
#include "profiler/metrics/point.h"

namespace attnscope {

inline constexpr double longest_ns = 1e18;        ///< of a time: 31 years
inline constexpr double largest_value = 1e30;     ///< of any other amount: sums and products of a few stay finite
inline constexpr std::size_t longest_name = 200;  ///< bytes of the name of a device, kernel, metric, algorithm or knob

inline constexpr std::size_t most_samples =
    800'000;  ///< of a kernel in a round: eight times what --min-samples takes, and 16 MiB of text

inline constexpr std::size_t longest_statement = std::size_t{1} << 20U;  ///< bytes: what a statement's file may have
inline constexpr std::size_t most_statement_sources = 10'000;

inline constexpr int most_rounds = 1'000'000;  ///< of a run; a round's number, from 0, is below it

/// The first thing out of bounds, as part of a sentence: "Br 9999 is not within 1 .. 4096"; empty where all is well.
[[nodiscard]] Message out_of_bounds(const PointRecord&);
[[nodiscard]] Message out_of_bounds(const DeviceLimits&);
[[nodiscard]] Message out_of_bounds(const MeasureOptions&);
[[nodiscard]] Message out_of_bounds(const MetricValue&);
/// Of its size, and of its sources' names, of which no two are the same. A point's bounds are not those of its
/// statement.
[[nodiscard]] Message out_of_bounds(const KernelStatement&);
/// Of a round's number; of how many rounds a run has.
[[nodiscard]] Message round_out_of_bounds(std::int64_t round);
[[nodiscard]] Message rounds_out_of_bounds(std::int64_t rounds);

/// The point as a file has it: a NaN is no metric, an error measure that is one is infinitely wrong, and of two metrics
/// of one name and unit the later stands.
[[nodiscard]] PointRecord as_stored(PointRecord point);

}  // namespace attnscope
