// SPDX-License-Identifier: GPL-3.0-or-later
// The window's pictures without a window.
#pragma once

#include <QSize>
#include <QString>
#include <QStringList>

#include "ui/main_window.h"

namespace attnscope::ui {

/// Writes the curves of each d, pass, n_q and mask, and the heatmaps of time, SM<->L2 and DRAM bytes, of the files as
/// PNG and SVG into `folder` (made when missing): the bytes, the time where no bytes are known, and the rate too where
/// imported points stand beside others. Returns the error, empty when all is written; `written` gets the paths.
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
