// SPDX-License-Identifier: GPL-3.0-or-later
// The window's pictures without a window.
#pragma once

#include <QSize>
#include <QString>
#include <QStringList>
#include <string>

#include "ui/process/save_file.h"
#include "ui/theme/theme.h"

namespace attnscope::ui {

/// Writes the pictures of the files that analysis::plan_plots() has into `folder` (made when missing), as PNG and SVG,
/// each with the GPU, the day and the file that it is of.
/// What is no facet of a page is not walked: a sweep over warps, stages, raster or fewer tiles than make a map has one
/// curve, of its widest tile. Returns the error, empty when all is written; `written` gets the paths, `skipped` a
/// sentence for each file of which rows were left out.
[[nodiscard]] QString write_plots(const QStringList& files, const QString& folder, QStringList* written,
                                  Existing existing = Existing::of_its_kind, QStringList* skipped = nullptr);

struct Screenshot {
  QString file;
  QString page;  ///< its id
  QSize size{1280, 800};
  ThemeChoice theme = ThemeChoice::light;
  QString filter = {};  ///< as the window's query bar takes it
  Existing existing = Existing::of_its_kind;
  std::string explored = {};  ///< an algorithm that the explorer turns to; empty: its usual one
};
/// Draws the whole window on these files. Returns the error, empty when it is written; `skipped` as above.
[[nodiscard]] QString write_screenshot(const QStringList& files, const Screenshot& shot,
                                       QStringList* skipped = nullptr);

}  // namespace attnscope::ui
