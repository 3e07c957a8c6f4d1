// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "kernels/registry.h"
#include "profiler/lesson/claims.h"
#include "tests/profiler/points/fixtures.h"

namespace attnscope::analysis::lesson {

inline Evidence make_evidence(const PointTable& table) {
  return {.points = table, .rows = table.rows(), .gpu = fixtures::h200(), .registry = built_in_algorithms()};
}

inline KnownNames known_names() {
  return {.value = [](std::string_view name) { return name == "n"; }, .term = [](std::string_view) { return false; }};
}

/// Returns a card with these members. Throws if it has problems.
inline Claim card(const nlohmann::json& members) {
  nlohmann::json all{{"source", "me"}, {"title", "x"}};
  all.update(members);
  std::vector<TextProblem> problems;
  const auto claim = read_claim("claims/mine.json", all.dump(), "en", known_names(), built_in_algorithms(), problems);
  if (!claim) throw std::invalid_argument(english_text(problems.front().why));
  return *claim;
}

}  // namespace attnscope::analysis::lesson
