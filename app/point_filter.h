// SPDX-License-Identifier: Apache-2.0
// --filter: which of the points that a command reads it takes, in the window's words (point_query.h).
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "profiler/analysis/point_table.h"

namespace attnscope {

CLI::Option* add_filter_option(CLI::App& command, std::string& words);

/// Ascending; all of them where `words` is empty. Throws CommandError: for words that are none (usage), and where no
/// point fits them.
[[nodiscard]] std::vector<analysis::Row> rows_that_fit(const std::string& words, const analysis::PointTable& table);

}  // namespace attnscope
