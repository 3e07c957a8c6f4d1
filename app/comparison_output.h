// SPDX-License-Identifier: Apache-2.0
// A comparison as text, CSV, JSON, or JUnit's XML.
#pragma once

#include <vector>

#include "app/compared_sides.h"
#include "app/output.h"
#include "profiler/compare/comparison_view.h"

namespace attnscope {

/// Compares the sides. `margin_percent`: 0 for the usual one. Throws CommandError (usage) for a word of `align` that
/// names nothing.
[[nodiscard]] analysis::ComparisonView view_of(const ComparedSides&, const std::vector<std::string>& align,
                                               double margin_percent);

/// `failing`: the pairs that JUnit reports as failures. Text of a file is text in all formats: no markup, no formula,
/// nothing that steers a terminal.
void print(const ComparedSides&, const analysis::ComparisonView&, Output&,
           const std::vector<const analysis::ComparedPair*>& failing = {});

}  // namespace attnscope
