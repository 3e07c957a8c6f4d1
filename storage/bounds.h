// SPDX-License-Identifier: Apache-2.0
// Limits on the values in a file. Readers skip rows outside of them; writers and imports reject such values. Internal
// to storage.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/messages/message.h"
#include "profiler/measure/device.h"
#include "profiler/metrics/point.h"

namespace attnscope {

inline constexpr double longest_ns = 1e18;  ///< Upper bound of a time: 31 years.
/// Upper bound of any other amount; sums and products of a few stay finite.
inline constexpr double largest_value = 1e30;
inline constexpr std::size_t longest_name = 200;  ///< Bytes of the name of a device, kernel, metric, algorithm or knob.

inline constexpr std::size_t most_samples =
    800'000;  ///< Samples per kernel and round: eight times the maximum of --min-samples, about 16 MiB of text.

inline constexpr std::size_t longest_statement = std::size_t{1} << 20U;  ///< Bytes of a kernel's manifest.
inline constexpr std::size_t most_statement_sources = 10'000;

inline constexpr int most_rounds = 1'000'000;  ///< Rounds per run; round numbers are 0 .. most_rounds - 1.

/// Returns the first violation as part of a sentence, "Br 9999 is not within 1 .. 4096"; empty if there is none.
[[nodiscard]] Message out_of_bounds(const PointRecord&);
[[nodiscard]] Message out_of_bounds(const DeviceLimits&);
[[nodiscard]] Message out_of_bounds(const MeasureOptions&);
[[nodiscard]] Message out_of_bounds(const MetricValue&);
/// Checks the size and that source names are unique. The check of a point does not include its statement.
[[nodiscard]] Message out_of_bounds(const StoredManifest&);
[[nodiscard]] Message round_out_of_bounds(std::int64_t round);
[[nodiscard]] Message rounds_out_of_bounds(std::int64_t rounds);

/// Returns the point as it is stored: metrics that are NaN are dropped, error measures that are NaN become infinite,
/// and of two metrics with equal name and unit the later one is kept.
[[nodiscard]] PointRecord as_stored(PointRecord point);

}  // namespace attnscope
