// SPDX-License-Identifier: Apache-2.0
// What tests of claims judge, and by which points.
#pragma once

#include <initializer_list>
#include <string>
#include <utility>

#include "kernels/registry.h"
#include "profiler/lesson/claims.h"
#include "tests/profiler/points/fixtures.h"

namespace attnscope::analysis::lesson {

inline Evidence evidence_of(const PointTable& table) {
  return {.points = table, .rows = table.rows(), .gpu = fixtures::h200(), .registry = built_in_algorithms()};
}

inline Front card(std::initializer_list<std::pair<std::string, std::string>> entries) {
  Front front;
  for (const auto& [key, value] : entries) front.entries[key].value = value;
  return front;
}

}  // namespace attnscope::analysis::lesson
