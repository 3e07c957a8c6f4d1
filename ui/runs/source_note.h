// SPDX-License-Identifier: GPL-3.0-or-later
// Where the points of a picture come from, in one line: pictures travel without the window.
#pragma once

#include <QString>
#include <vector>

#include "ui/runs/point_set.h"

namespace attnscope::ui {

/// Of several the first few; empty without runs.
struct SourceParts {
  QString devices;  ///< "NVIDIA H200"
  QString days;     ///< on which the runs began
  QString files;
};
[[nodiscard]] SourceParts source_parts(const std::vector<RunPtr>& runs);
/// "measured · h200.attnscope · Attnscope 1.4": what a slide has at its foot, with a note behind it.
[[nodiscard]] QString footer_words(const std::vector<RunPtr>& runs, const QString& note);
/// "NVIDIA H200 · 2026-11-21 · h200.attnscope": the GPUs, the days on which the runs began and the files, of several
/// the first few. Empty without runs.
[[nodiscard]] QString source_note(const std::vector<RunPtr>& runs);

}  // namespace attnscope::ui
