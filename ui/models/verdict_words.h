// SPDX-License-Identifier: GPL-3.0-or-later
// What the window says of a comparison's rows.
#pragma once

#include <QColor>
#include <QString>
#include <QStringList>
#include <string>

#include "ui/models/comparison_set.h"

namespace attnscope::ui {

/// "FASTER", and "AMBIGUOUS" as "undecided": a verdict as the window says it.
[[nodiscard]] QString verdict_words(analysis::Verdict verdict);
/// Blue of what is faster, orange of what is slower; invalid of the others.
[[nodiscard]] QColor verdict_color(analysis::Verdict verdict, bool dark);
/// "0.952 [0.949, 0.955]"
[[nodiscard]] QString interval_words(const analysis::RatioInterval& ratio);
/// The command that would settle a pair; empty for one that is decided, or that rounds would not decide.
[[nodiscard]] std::string settling_command(const ComparisonSet& set, const analysis::ComparedPair& pair);
/// Why a pair is undecided, and the command that would settle it; empty for one that is decided.
[[nodiscard]] QString settling_words(const ComparisonSet& set, const analysis::ComparedPair& pair);
/// Why rows of one side stand alone.
[[nodiscard]] QString left_out_words(const ComparisonSet& set, const analysis::LeftOut& left);
/// What has to be known of the verdicts: how they were come by, a sentence each.
[[nodiscard]] QStringList method_words(const ComparisonSet& set);

}  // namespace attnscope::ui
