// SPDX-License-Identifier: GPL-3.0-or-later
// Export of a plot to a file of any size or to the clipboard.
#pragma once

#include <qcustomplot.h>
#include <functional>

#include "ui/process/save_file.h"

namespace attnscope::ui {

/// Medium that a plot is drawn for.
enum class PlotTarget {
  screen,  ///< Interactive: hover, zoom, controls around the plot.
  file     ///< A picture file, which has to be self-contained.
};

struct PlotPicture {
  QString title;  ///< Plotted quantity and problem.
  /// Draws into an area. `pixel`: size of a target pixel.
  std::function<void(QCPPainter&, const QRect& area, double pixel)> draw;
};

inline constexpr QSize picture_size{1100, 720};

[[nodiscard]] QImage image_of(const PlotPicture& picture, const QSize& size, double scale);
/// Writes PNG (at twice the resolution), SVG or PDF, by file name extension. Returns the error; empty on success, as
/// save_file().
[[nodiscard]] QString save_picture(const QString& file, const QSize& size, const PlotPicture& picture,
                                   ExistingFile existing = ExistingFile::any, double png_scale = 2);

}  // namespace attnscope::ui
