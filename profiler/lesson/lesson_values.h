// SPDX-License-Identifier: Apache-2.0
// Values that lesson texts insert with {{name}}: data of the loaded points and their GPU, each with its origin.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "profiler/lesson/evidence.h"

namespace attnscope::analysis::lesson {

/// Head dimension of the race, the roofline and the backward pass.
inline constexpr std::int64_t head_dimension = 64;

struct LessonValue {
  std::string text;
  /// Key of the lesson's texts: "measured", "modeled", "datasheet", ...; empty if it has none.
  std::string_view origin;
};

struct ValueDefinition {
  std::string_view name;
  std::optional<LessonValue> (*of)(const Evidence&) = nullptr;
};
/// Null if unknown.
[[nodiscard]] const ValueDefinition* find_value(std::string_view name);

/// Returns the blocks of the kernel that moves the most bytes; 0 for an unknown algorithm.
[[nodiscard]] double largest_kernel_blocks(const Evidence&, Row);

}  // namespace attnscope::analysis::lesson
