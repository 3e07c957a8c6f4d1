// SPDX-License-Identifier: Apache-2.0
// What people are told of a comparison: why a pair is undecided and what would settle it, why rows stand alone, and on
// what the verdicts stand.
#pragma once

#include <string>
#include <vector>

#include "profiler/compare/comparison.h"

namespace attnscope::analysis {

/// Both sides were computed: they have no spread, and no interval.
[[nodiscard]] bool is_computed(const ComparedPair&);
/// Whether this program measured both sides, and can do so again.
[[nodiscard]] bool is_ours(const PointTable&, const ComparedPair&);
/// Whether one process can measure both in the same rounds.
[[nodiscard]] bool in_turns(const PointTable&, const ComparedPair&);
/// "recorded one after the other".
[[nodiscard]] Message undecided_words(Undecided);
/// The command that would settle a pair at that margin; empty for one that is decided, that rounds would not decide, or
/// that this program cannot measure.
[[nodiscard]] std::string settling_command(const PointTable&, const ComparedPair&, double margin);
/// Why a pair is undecided, and the command that would settle it; empty for one that is decided.
[[nodiscard]] Message settling_words(const PointTable&, const ComparedPair&, double margin);
/// Why rows of one side stand alone.
[[nodiscard]] Message left_out_words(const PointTable&, const LeftOut&);
/// "FASTER"
[[nodiscard]] Message verdict_title(Verdict);
/// "0.9520 [0.9490, 0.9550]", "[0.9490, 0.9550; assumed]" where it is; without an interval where there is none.
[[nodiscard]] std::string ratio_text(const RatioInterval&);
/// What stands below the spreads of these pairs, a sentence each.
[[nodiscard]] std::vector<Message> floor_words(const std::vector<const ComparisonResult*>&, std::size_t looks);

}  // namespace attnscope::analysis
