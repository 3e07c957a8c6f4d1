// SPDX-License-Identifier: Apache-2.0
// Columns that state the spread of a row's times. Internal to storage/exchange.
#pragma once

#include <optional>
#include <string_view>

#include "storage/exchange/import_rows.h"

namespace attnscope::exchange {

/// Statistics of times (unit ns), relative to the time (unit 1), or of a FLOP rate (unit Tflop/s).
namespace spread_column {
inline constexpr std::string_view deviation = "time_stddev_ns";
inline constexpr std::string_view relative_deviation = "time_stddev_relative";
inline constexpr std::string_view rate_deviation = "tflops_stddev";
}  // namespace spread_column

/// Returns the unit of a column of a spread; empty for other columns.
[[nodiscard]] std::string_view spread_unit(std::string_view column);

/// Returns the column of a statistic: "stddev", "cv", "iqr", "p20"; empty for other words. `relative`: a fraction of
/// the time.
[[nodiscard]] std::string_view spread_column_named(std::string_view word, bool relative);

/// Returns true for words of relative widths, such as "cv".
[[nodiscard]] bool is_relative_width(std::string_view word);

/// Returns the column of the same spread of a FLOP rate; empty if there is none.
[[nodiscard]] std::string_view spread_of_rate(std::string_view column);

/// Returns the other bound of a range: the maximum for the minimum; empty for other columns.
[[nodiscard]] std::string_view opposite_bound(std::string_view column);

/// Returns the standard deviation of the row's times, each of about `time`, assuming a normal distribution; nullopt if
/// the row states no spread besides quartiles. Throws ImportError if the time is not between minimum and maximum.
[[nodiscard]] std::optional<double> stated_deviation(const ImportRow& row, double time);

}  // namespace attnscope::exchange
