// SPDX-License-Identifier: GPL-3.0-or-later
// What plots show, for other programs.
#pragma once

#include <span>

#include "ui/text/values.h"

namespace attnscope::ui {

struct CurveSet;
struct HeatmapGrid;

/// Every point of the curves that are drawn, theory's too.
[[nodiscard]] ShownValues values_of(const CurveSet& set);
/// Every cell; of one that has no value how it ended.
[[nodiscard]] ShownValues values_of(std::span<const HeatmapGrid* const> maps);

}  // namespace attnscope::ui
