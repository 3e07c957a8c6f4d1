// SPDX-License-Identifier: Apache-2.0
// Prints a comparison as text, CSV, JSON or JUnit XML.
#pragma once

#include <vector>

#include "app/compared_sides.h"
#include "app/output.h"
#include "profiler/compare/comparison_view.h"

namespace attnscope {

/// Compares both sides. `margin_percent`: 0 for the default. Throws CommandError (usage) for an unknown name in
/// `align`.
[[nodiscard]] analysis::ComparisonView view_of(const ComparedSides&, const std::vector<std::string>& align,
                                               double margin_percent);

/// Prints the comparison. `failing`: pairs that JUnit reports as failures. Escapes text from files in every format.
void print(const ComparedSides&, const analysis::ComparisonView&, Output&,
           const std::vector<const analysis::ComparedPair*>& failing = {});

}  // namespace attnscope
