// SPDX-License-Identifier: Apache-2.0
// Names of exported columns other than fields, knobs and metrics. Internal to storage/exchange.
#pragma once

#include <array>
#include <string_view>

namespace attnscope::exchange {

namespace reason_column {
inline constexpr std::string_view words = "reason";
inline constexpr std::string_view code = "reason_code";
}  // namespace reason_column
namespace round_column {
inline constexpr std::string_view round = "round";
inline constexpr std::string_view samples = "samples_ns";
}  // namespace round_column

/// Columns of the long format: one row per value.
namespace long_column {
inline constexpr std::string_view run_uid = "run_uid";
inline constexpr std::string_view plan_index = "plan_index";
inline constexpr std::string_view device = "device";
inline constexpr std::string_view disposition = "disposition";
inline constexpr std::string_view throttled = "throttled";
inline constexpr std::string_view kernel = "kernel";
inline constexpr std::string_view metric = "metric";
inline constexpr std::string_view value = "value";
inline constexpr std::string_view unit = "unit";
inline constexpr std::string_view provenance = "provenance";
inline constexpr std::string_view q1 = "q1";
inline constexpr std::string_view q3 = "q3";
inline constexpr std::string_view samples = "samples";

/// Columns that differ between the rows of one point.
inline constexpr std::array value_columns{
    kernel, metric, value, unit, provenance, q1, q3, samples, round_column::round, round_column::samples};
}  // namespace long_column

}  // namespace attnscope::exchange
