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

inline constexpr double max_time_ns = 1e18;  ///< Upper bound of a time: 31 years.
/// Lower bound of a time other than 0: 1 ps. Rates of shorter times overflow.
inline constexpr double min_time_ns = 1e-3;
/// Upper bound of any other amount; sums and products of a few stay finite.
inline constexpr double max_value = 1e30;
inline constexpr std::size_t max_name_length =
    200;  ///< Bytes of the name of a device, kernel, metric, algorithm or knob.

inline constexpr std::size_t max_round_samples =
    800'000;  ///< Samples per kernel and round: eight times the maximum of --min-samples, about 16 MiB of text.

inline constexpr std::size_t max_manifest_sources = 10'000;

/// Memory that a row takes while points are read, in units of about 100 bytes; a row of any other table takes 1.
inline constexpr std::size_t kernel_weight = 5;
inline constexpr std::size_t round_weight = 2;

inline constexpr std::size_t max_table_rows = 100'000;  ///< Runs of a file, metrics of a file, rows of a set.
/// Invalid rows that are named. Further ones are skipped, too.
inline constexpr std::size_t max_invalid_rows = 100'000;

/// Limits of memory while a point is read.
struct ReadLimits {
  std::size_t point_values = 1'000'000;    ///< weight of all rows that refer to a point or its kernels
  std::size_t point_samples = 16'000'000;  ///< timing samples of all rounds and kernels
};

inline constexpr int max_rounds = 1'000'000;  ///< Rounds per run; round numbers are 0 .. max_rounds - 1.

/// Returns the first violation as part of a sentence, "Br 9999 is not within 1 .. 4096"; empty if there is none.
[[nodiscard]] Message bounds_error(const PointRecord&);
[[nodiscard]] Message bounds_error(const DeviceLimits&);
[[nodiscard]] Message bounds_error(const MeasureOptions&);
[[nodiscard]] Message bounds_error(const MetricValue&);
/// Checks the size and that source names are unique. The check of a point does not include its manifest.
[[nodiscard]] Message bounds_error(const StoredManifest&);
/// Applies ReadLimits to a point.
[[nodiscard]] Message point_size_error(std::size_t values, std::size_t samples, const ReadLimits& limits = {});
[[nodiscard]] Message round_index_error(std::int64_t round);
[[nodiscard]] Message round_count_error(std::int64_t rounds);

/// Returns the point as it is stored: metrics that are NaN are dropped, error measures that are NaN become infinite,
/// and of two metrics with equal name and unit the later one is kept.
[[nodiscard]] PointRecord stored_form(PointRecord point);

}  // namespace attnscope
