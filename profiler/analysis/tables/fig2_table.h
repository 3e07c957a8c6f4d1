// SPDX-License-Identifier: Apache-2.0
// Fig. 2 of the FlashAttention paper (arXiv 2205.14135v2) beside points: a row for each of its numbers.
#pragma once

#include <vector>

#include "profiler/analysis/paper_table.h"
#include "profiler/analysis/tables/table.h"

namespace attnscope::analysis {

/// Fig. 2 left, then Fig. 2 middle, with the titles of algorithms and provenances, or the words that programs read.
/// Points and rows have to outlive it.
[[nodiscard]] Table fig2_table(const PointTable&, const PaperTable&, bool titles);
/// Why ours differ from the paper's, a sentence each; none where nothing was compared.
[[nodiscard]] std::vector<Message> fig2_notes(const PointTable&, const PaperTable&);

}  // namespace attnscope::analysis
