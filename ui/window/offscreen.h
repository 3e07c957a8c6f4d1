// SPDX-License-Identifier: GPL-3.0-or-later
// Renders plots and screenshots without showing a window.
#pragma once

#include <QSize>
#include <QString>
#include <QStringList>
#include <string>

#include "ui/process/save_file.h"
#include "ui/theme/theme.h"

namespace attnscope::ui {

/// Writes the plots of analysis::plan_plots() into `folder` (created if missing) as PNG and SVG, with GPU, date and
/// file. Axes that no page facet covers (warps, stages, raster, too few tiles for a map) yield one curve, of the widest
/// tile. Returns the error, empty on success. `written`: paths; `skipped`: one sentence per file with skipped rows.
[[nodiscard]] QString write_plots(const QStringList& files, const QString& folder, QStringList* written,
                                  ExistingFile existing = ExistingFile::same_kind, QStringList* skipped = nullptr);

struct Screenshot {
  QString file;
  QString page;
  QSize size{1280, 800};
  ThemeChoice theme = ThemeChoice::light;
  QString filter = {};  ///< query of the query bar
  ExistingFile existing = ExistingFile::same_kind;
  std::string explored = {};  ///< algorithm shown in the explorer; empty: default
};
/// Renders the whole window with these files. Returns the error, empty on success. `skipped`: as for write_plots().
[[nodiscard]] QString write_screenshot(const QStringList& files, const Screenshot& shot,
                                       QStringList* skipped = nullptr);

}  // namespace attnscope::ui
