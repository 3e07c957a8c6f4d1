// SPDX-License-Identifier: GPL-3.0-or-later
// The window's pictures without a window.
#pragma once

#include <QSize>
#include <QString>
#include <QStringList>

#include "ui/main_window.h"

namespace attnscope::ui {

/// Writes the plots of the files as PNG and SVG into `folder` (made when missing): curves over N of every choice of the
/// IO page's facets and number of splits, and heatmaps of time, SM<->L2 and DRAM bytes of every choice of the heatmap
/// page's. Curves are of the bytes, of the time where no bytes are known, and of the rate too where imported points
/// stand beside others. What is no facet of a page is not walked: a sweep over warps, stages, raster or fewer tiles
/// than make a map has one curve, of its widest tile. Returns the error, empty when all is written; `written` gets the
/// paths.
[[nodiscard]] QString write_plots(const QStringList& files, const QString& folder, QStringList* written);

struct Screenshot {
  QString file;
  PageId page = PageId::io;
  QSize size{1280, 800};
  ThemeChoice theme = ThemeChoice::light;
};
/// Draws the whole window on these files. Returns the error, empty when it is written.
[[nodiscard]] QString write_screenshot(const QStringList& files, const Screenshot& shot);

}  // namespace attnscope::ui
