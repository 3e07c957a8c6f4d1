// SPDX-License-Identifier: Apache-2.0
// Values that lesson texts insert with {{name}}: modeled numbers and data of the loaded points, each with its origin.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/lesson/claims.h"
#include "profiler/lesson/front_matter_reader.h"

namespace attnscope::analysis::lesson {

/// Values set by a step's front matter or by the seed of an exported lesson.
struct Setting {
  std::int64_t n = 4096;
  std::int64_t d = 64;
  std::int64_t tile = 128;  ///< rows and keys of the tiles in questions
  std::size_t pair = 0;     ///< which pair of points questions compare, counted from the longest N
};
[[nodiscard]] Setting read_setting(FrontMatterReader&);
/// Returns a variation of the setting; 0 returns it unchanged. Correct choices stay correct.
[[nodiscard]] Setting vary_setting(Setting setting, std::uint64_t seed);

struct LessonValue {
  std::string text;
  /// Key of the lesson's texts: "measured", "modeled", "datasheet", ...
  std::string_view origin;
};

/// Returns the origin of a value computed from values of this provenance.
[[nodiscard]] std::string_view origin_of(Provenance);

struct ValueDefinition {
  std::string_view name;
  std::optional<LessonValue> (*of)(const Setting&, const Evidence&) = nullptr;
};
[[nodiscard]] const ValueDefinition* find_value(std::string_view name);

/// Returns the blocks of the kernel that moves the most bytes; 0 for an unknown algorithm.
[[nodiscard]] double largest_kernel_blocks(const Evidence&, Row);

/// Returns a permutation of the choices that depends on the seed, so that no letter is correct more often.
[[nodiscard]] std::vector<std::size_t> shuffled_choices(const Question&, std::uint64_t seed);

/// Returns whether the data have all values in the question's text; otherwise the question is skipped.
[[nodiscard]] bool has_question_data(const Question&, const Setting&, const Evidence&);

}  // namespace attnscope::analysis::lesson
