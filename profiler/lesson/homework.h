// SPDX-License-Identifier: Apache-2.0
// Homework: a page of questions and claims without answers, and its grading. A student's answers and name are in a
// hand-in code; the key is computed from the same seed and data.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/user/expression.h"
#include "profiler/lesson/claims.h"

namespace attnscope::analysis::lesson {

struct LessonTexts;

/// A question of homework/ID.json: numeric with a tolerance, or with choices.
struct HomeworkQuestion {
  std::string id{};
  double order = 0;
  std::vector<std::string> wordings{};                                   ///< the seed chooses one
  std::map<std::string, std::vector<std::int64_t>, std::less<>> vary{};  ///< values of which the seed chooses one
  std::optional<user::Expression> answer{};  ///< numeric answer in `unit`; names: `vary` and those of homework.cpp
  std::string unit{};
  double tolerance = 0;  ///< relative
  std::string right{};   ///< right choice; empty if numeric
  std::vector<std::string> wrong{};
  std::string why{};  ///< shown when graded
};

/// Reads a question. Check the card's problems.
[[nodiscard]] HomeworkQuestion read_homework(JsonCard&);

/// A question or claim for one seed.
struct HomeworkItem {
  std::string id{};  ///< "claim-..." for a claim
  std::string html{};
  std::vector<std::string> choices{};  ///< HTML; empty if numeric
  std::string unit{};
  std::string right{};   ///< letter of the right choice, or a number
  double value = 0;      ///< if numeric
  double tolerance = 0;  ///< if numeric
  std::string why{};

  /// Accepts a letter, or a number with a decimal point or comma. An empty or invalid answer is wrong.
  [[nodiscard]] bool is_right(std::string_view answer) const;
};

/// Returns questions, then claims. Skips questions that use data that are missing. Pre: seed > 0.
[[nodiscard]] std::vector<HomeworkItem> homework_items(const LessonTexts&, const Evidence&, std::uint64_t seed);

/// Returns a self-contained HTML page without answers. `data`: names of the files.
[[nodiscard]] std::string homework_page(const LessonTexts&, const std::vector<HomeworkItem>&, std::uint64_t seed,
                                        std::string_view data);

struct HandIn {
  std::uint64_t seed = 0;
  std::string data{};
  std::string name{};
  std::vector<std::string> answers{};  ///< in the order of the items
};
inline constexpr std::string_view hand_in_prefix = "attnscope1.";
/// Decodes "attnscope1.PAYLOAD.CHECKSUM". The error says what is wrong with the code.
[[nodiscard]] Result<HandIn, Message> decode_hand_in(std::string_view code);
/// Returns all hand-in codes of a text.
[[nodiscard]] std::vector<std::string> hand_in_codes(std::string_view text);

}  // namespace attnscope::analysis::lesson
