// SPDX-License-Identifier: Apache-2.0
// A comparison as text, CSV, JSON, or JUnit's XML.
#pragma once

#include <string>
#include <vector>

#include "app/compared_sides.h"
#include "app/output.h"
#include "profiler/compare/comparison.h"

namespace attnscope {

struct ComparisonOutput {
  const ComparedSides& sides;
  const analysis::ComparisonRequest& request;
  const analysis::ComparisonResult& result;
  std::vector<const analysis::ComparedPair*> failing;  ///< what a program is told that failed
};

/// Text of a file is text in all of them: no markup, no formula, nothing that steers a terminal.
void print(const ComparisonOutput&, Output&);

}  // namespace attnscope
