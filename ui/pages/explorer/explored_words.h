// SPDX-License-Identifier: GPL-3.0-or-later
// What the explorer says of a configuration.
#pragma once

#include <QString>

#include "ui/pages/explorer/choices.h"
#include "ui/pages/explorer/recorded_points.h"

namespace attnscope::ui {

/// Of a point: the device's own words, then all that is chosen.
[[nodiscard]] QString help_of(const ExplorerChoices& choices);
/// Whether it runs, how long and bound by what, or why it does not and what does.
[[nodiscard]] QString verdict_words(const analysis::Exploration& exploration);
/// Which tile the paper's rule picks of M, and why not a larger one; empty where the tile is chosen by hand.
[[nodiscard]] QString rule_words(const Explored& explored);
[[nodiscard]] QString occupancy_words(const analysis::ExploredKernel& kernel, bool predicts_time);
/// Of what was recorded near the configuration: which point, how long it took, of which run.
[[nodiscard]] QString recorded_words(const RecordedPoints::Found& found);
/// What bounds a kernel of which nothing is predicted, as it was counted; else how to count it.
[[nodiscard]] QString counted_words(const PointRecord& record, const std::string& kernel);
/// What the shares are of, and where the rates come from that they are worked out with.
[[nodiscard]] QString rates_note(const Explored& explored);
/// How far predictions of such points were off.
[[nodiscard]] QString prediction_words(const Explored& explored);

}  // namespace attnscope::ui
