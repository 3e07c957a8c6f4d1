// SPDX-License-Identifier: Apache-2.0
// What {{names}} in the lesson's texts stand for: numbers of the model and of the points in hand, each with where it
// comes from. Another value is one line in the table.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/lesson/claims.h"

namespace attnscope::analysis::lesson {

/// Values set by a step's front matter or by the seed of an export.
struct Setting {
  std::int64_t n = 8192;
  std::int64_t d = 64;
  std::int64_t heads = 32;
  std::int64_t batch = 8;
  // Names of algorithms.
  std::string slow{};   ///< scores in memory
  std::string first{};  ///< the one that the fast one improved upon
  std::string fast{};
  std::string split{};            ///< for decoding
  std::int64_t tile = 128;        ///< rows and keys of the tiles that questions speak of
  std::int64_t load_bytes = 128;  ///< that a warp waits for
  std::size_t pair = 0;           ///< which of the last pairs of points questions compare: 0 the very last

  [[nodiscard]] AttentionProblem one_head() const;
  [[nodiscard]] AttentionProblem all_heads() const;
};
[[nodiscard]] Setting read_setting(FrontReader&);
/// `seed` 0 leaves the text's own numbers; any other picks them, so that what is right stays right.
[[nodiscard]] Setting varied(Setting setting, std::uint64_t seed);

struct LessonValue {
  std::string text;
  /// "measured", "modeled", "datasheet", ...: a key of the lesson's words.
  std::string_view origin;
};

/// Where a number comes from that is computed of measured ones, or of others.
[[nodiscard]] std::string_view origin_of(Provenance);

struct ValueName {
  std::string_view name;
  std::optional<LessonValue> (*of)(const Setting&, const Evidence&) = nullptr;
};
/// Returns nullptr if there is none.
[[nodiscard]] const ValueName* find_value(std::string_view name);

/// In which order a question shows its choices: another one with another seed, so that no letter is right more often.
[[nodiscard]] std::vector<std::size_t> order_of_choices(const Question&, std::uint64_t seed);

/// Whether the data have every number that the question itself names: one that asks of what is not there is not asked.
[[nodiscard]] bool asks_what_is_there(const Question&, const Setting&, const Evidence&);

}  // namespace attnscope::analysis::lesson
