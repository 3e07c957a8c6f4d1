// SPDX-License-Identifier: Apache-2.0
// Names of exported columns other than fields, knobs and metrics. Internal to storage/exchange.
#pragma once

#include <array>
#include <string_view>

namespace attnscope::exchange {

template <class Limits, class Visit>
void for_each_limit(Limits& limits, const Visit& visit) {
  visit("sm_count", limits.sm_count);
  visit("max_threads_per_block", limits.max_threads_per_block);
  visit("max_threads_per_sm", limits.max_threads_per_sm);
  visit("max_blocks_per_sm", limits.max_blocks_per_sm);
  visit("registers_per_sm", limits.registers_per_sm);
  visit("shared_bytes_per_block", limits.shared_bytes_per_block);
  visit("shared_bytes_per_sm", limits.shared_bytes_per_sm);
  visit("shared_bytes_reserved", limits.shared_bytes_reserved);
  visit("l2_bytes", limits.l2_bytes);
  visit("dram_bytes", limits.dram_bytes);
  visit("dram_bytes_per_second", limits.dram_bytes_per_second);
  visit("l2_bytes_per_second", limits.l2_bytes_per_second);
  visit("tensor_flops", limits.tensor_flops);
}

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
