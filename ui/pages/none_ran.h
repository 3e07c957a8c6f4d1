// SPDX-License-Identifier: GPL-3.0-or-later
// Words for pages that draw what ran, where nothing did.
#pragma once

#include <optional>

#include "profiler/points/point_table.h"
#include "ui/pages/empty_state.h"

namespace attnscope::ui {

/// Why nothing can be drawn of points none of which ran: how they ended, and a reason of each such end. Nothing where
/// one did, or there are none.
[[nodiscard]] std::optional<EmptyWords> why_none_ran(const analysis::PointTable& table);

}  // namespace attnscope::ui
