// SPDX-License-Identifier: GPL-3.0-or-later
// What the table of points shows as one CSV table: the points of the ticked runs of all open files that the filter
// leaves.
#pragma once

#include <QString>

#include "storage/exchange/export.h"
#include "ui/runs/workspace.h"

namespace attnscope::ui {

struct SavedTable {
  QString error = {};  ///< as save_file(): empty when the file is written whole
  bool nothing_to_write = false;
  ExportCount written = {};
  RunPtr replaced = {};  ///< set: nothing was written, for this run's file is not the one that was read
};
/// Points are read from their files again. No ticked run, and none that the filter leaves, are errors too.
[[nodiscard]] SavedTable save_shown_points(const Workspace& workspace, const QString& path);

}  // namespace attnscope::ui
