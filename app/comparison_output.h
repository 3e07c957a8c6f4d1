// SPDX-License-Identifier: Apache-2.0
// A comparison as text, CSV, JSON, Markdown or one page of HTML.
#pragma once

#include <iosfwd>
#include <string>

#include "app/compared_sides.h"
#include "profiler/analysis/comparison.h"

namespace attnscope {

enum class ComparisonFormat { text, csv, json, markdown, html };

struct ComparisonOutput {
  const ComparedSides& sides;
  const analysis::ComparisonRequest& request;
  const analysis::ComparisonResult& result;
};

/// Text of a file is text in all of them: no markup, no formula, nothing that steers a terminal.
void print(const ComparisonOutput&, ComparisonFormat, std::ostream&);

}  // namespace attnscope
