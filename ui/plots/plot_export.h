// SPDX-License-Identifier: GPL-3.0-or-later
// A plot as others take it along: a file of any size, the clipboard.
#pragma once

#include <qcustomplot.h>
#include <functional>

#include "ui/process/save_file.h"

namespace attnscope::ui {

/// What a plot is drawn for.
enum class PlotTarget {
  screen,  ///< a reader can hover, enlarge, and sees the controls around the plot
  file     ///< a picture in a file: what it does not say, nothing says
};

struct PlotPicture {
  QString title;  ///< what is plotted, and of which problem
  /// Draws into an area. `pixel`: the extent of the target's pixel.
  std::function<void(QCPPainter&, const QRect& area, double pixel)> draw;
};

inline constexpr QSize picture_size{1100, 720};

[[nodiscard]] QImage image_of(const PlotPicture& picture, const QSize& size, double scale);
/// PNG (of twice the pixels), SVG or PDF by the name's ending. As save_file(): the error, empty when the file is
/// written.
[[nodiscard]] QString save_picture(const QString& file, const QSize& size, const PlotPicture& picture,
                                   Existing existing = Existing::any, double png_scale = 2);

}  // namespace attnscope::ui
