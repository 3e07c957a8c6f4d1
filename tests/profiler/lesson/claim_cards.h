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

inline Evidence evidence_of(const PointTable& table) {
  return {.points = table, .rows = table.rows(), .gpu = fixtures::h200(), .registry = built_in_algorithms()};
}

/// Returns a file of the lesson with these members.
inline JsonCard json_card(const std::string& path, const nlohmann::json& members) {
  static const Glossary no_terms;
  return {path, members.dump(), "en", no_terms};
}

/// Returns a card with these members. Throws if it has problems.
inline Claim card(const nlohmann::json& members) {
  nlohmann::json all{{"source", "me"}, {"title", "x"}};
  all.update(members);
  JsonCard read = json_card("claims/mine.json", all);
  Claim claim = read_claim(read, built_in_algorithms());
  read.finish();
  if (!read.problems().empty()) throw std::invalid_argument(english_text(read.problems().front()));
  return claim;
}

}  // namespace attnscope::analysis::lesson
