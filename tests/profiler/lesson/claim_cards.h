// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "kernels/registry.h"
#include "profiler/lesson/claims.h"
#include "tests/profiler/points/fixtures.h"

namespace attnscope::analysis::lesson {

inline Evidence make_evidence(const PointTable& table) {
  return {.points = table, .rows = table.rows(), .gpu = fixtures::h200(), .registry = built_in_algorithms()};
}

/// Returns a card with these lines. Throws if it has problems.
inline Claim card(std::initializer_list<std::pair<std::string, std::string>> lines) {
  Document document{.file = "claims/mine.md"};
  document.front.entries = {{"source", {"me", 1}}, {"title.en", {"x", 1}}};
  for (const auto& [key, value] : lines) {
    if (!value.empty()) document.front.entries[key] = {value, 1};
  }
  std::vector<TextProblem> problems;
  const auto claim = read_claim(document, "en", {"en", "zh"}, built_in_algorithms(), problems);
  if (!claim) throw std::invalid_argument(english_text(problems.front().why));
  return *claim;
}

}  // namespace attnscope::analysis::lesson
