// SPDX-License-Identifier: GPL-3.0-or-later
// Where the points of a picture come from, in one line: pictures travel without the window.
#pragma once

#include <QString>
#include <vector>

#include "ui/runs/point_set.h"

namespace attnscope::ui {

/// "NVIDIA H200 · 2026-11-21 · h200.attnscope": the GPUs, the days on which the runs began and the files, of several
/// the first few. Empty without runs.
[[nodiscard]] QString source_note(const std::vector<RunPtr>& runs);

}  // namespace attnscope::ui
