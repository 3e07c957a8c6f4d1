// SPDX-License-Identifier: Apache-2.0
// Prints a comparison as text, CSV, JSON or JUnit XML.
#pragma once

#include <optional>
#include <vector>

#include "app/compared_sides.h"
#include "app/output.h"
#include "profiler/compare/comparison_view.h"

namespace attnscope {

/// Adds --tiles.
void add_tiles_option(CLI::App& command, std::optional<analysis::ComparedTiles>& tiles);

/// Compares both sides. `margin_percent`: 0 for the default. Throws CommandError (usage) for an unknown name in
/// `align`, or if it contradicts `tiles`.
[[nodiscard]] analysis::ComparisonView view_of(const ComparedSides&, const std::vector<std::string>& align,
                                               double margin_percent,
                                               std::optional<analysis::ComparedTiles> tiles = {});

/// Prints the comparison. `failing`: pairs that JUnit reports as failures. Escapes text from files in every format.
void print(const ComparedSides&, const analysis::ComparisonView&, Output&,
           const std::vector<const analysis::ComparedPair*>& failing = {});

}  // namespace attnscope
