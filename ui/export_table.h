// SPDX-License-Identifier: GPL-3.0-or-later
// The ticked runs of all open files as one CSV table.
#pragma once

#include <QString>

#include "ui/workspace.h"

namespace attnscope::ui {

/// As save_file(): the error, empty when the file is written. No ticked run is an error too.
[[nodiscard]] QString save_ticked_runs(const Workspace& workspace, const QString& path);

}  // namespace attnscope::ui
