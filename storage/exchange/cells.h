// SPDX-License-Identifier: Apache-2.0
// Fields of a table that is written, and how CSV and JSON have them. Internal to storage/exchange.
#pragma once

#include <array>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "kernels/model/knobs.h"
#include "profiler/metrics/point.h"
#include "profiler/plan/fields.h"

namespace attnscope::exchange {

/// What a field holds; monostate: there is no such value.
using Cell = std::variant<std::monostate, std::string, std::int64_t, double, bool>;

/// None where the text is empty.
[[nodiscard]] Cell text_cell(std::string_view text);
/// None where there is no number, or one that is not finite.
[[nodiscard]] Cell number_cell(const std::optional<double>& number);
/// The field of a point.
[[nodiscard]] Cell field_cell(const Field& field, const PointSpec& spec);
[[nodiscard]] Cell knob_cell(const KnobValue& value);

/// Why a point ended as it did: an English text and its code.
namespace reason_column {
inline constexpr std::string_view words = "reason";
inline constexpr std::string_view code = "reason_code";
}  // namespace reason_column
/// In tables of rows.
namespace round_column {
inline constexpr std::string_view round = "round";
inline constexpr std::string_view samples = "samples_ns";
}  // namespace round_column
/// In the order taken, with spaces between them; of several rounds none, for they stand with their rounds.
[[nodiscard]] Cell samples_cell(const PointRecord& record, const KernelRecord& kernel);

/// A text as csv_text() has it, a number in its shortest form.
[[nodiscard]] std::string csv_field(const Cell& cell);
[[nodiscard]] nlohmann::ordered_json json_value(const Cell& cell);

}  // namespace attnscope::exchange

/// What a table of one row a value has beside the fields of a point and the knobs.
namespace attnscope::exchange::long_column {

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

/// These differ between the rows of one point.
inline constexpr std::array of_a_value{
    kernel, metric, value, unit, provenance, q1, q3, samples, round_column::round, round_column::samples};

}  // namespace attnscope::exchange::long_column
