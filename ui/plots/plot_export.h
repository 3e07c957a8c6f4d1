// SPDX-License-Identifier: GPL-3.0-or-later
// A plot as others take it along: a file of any size, the clipboard, a slide.
#pragma once

#include <qcustomplot.h>

#include <functional>
#include <vector>

#include "ui/process/save_file.h"
#include "ui/runs/point_set.h"

namespace attnscope::ui {

struct PlotPicture {
  QString title;             ///< what is plotted, and of which problem
  QString sentence = {};     ///< what the data say; empty: nothing that is decided
  std::vector<RunPtr> runs;  ///< whose points are drawn
  QString tiles = {};        ///< which ones are drawn, where neither the title nor an axis says it
  QString note = {};         ///< what else has to be said of them: "what if: L2 25 MB"
  /// Draws into an area. `pixel`: the extent of the target's pixel. `bare`: title and source stand around it.
  std::function<void(QCPPainter&, const QRect& area, double pixel, bool bare)> draw;
};

inline constexpr QSize picture_size{1100, 720};
inline constexpr QSize slide_size{1280, 720};

/// The same under a sentence in large type, with GPU, day and problem below that, and at the foot where the values come
/// from. For areas of 16:9.
[[nodiscard]] PlotPicture as_slide(PlotPicture picture);

[[nodiscard]] QImage image_of(const PlotPicture& picture, const QSize& size, double scale);
/// PNG (of twice the pixels), SVG or PDF by the name's ending. As save_file(): the error, empty when the file is
/// written.
[[nodiscard]] QString save_picture(const QString& file, const QSize& size, const PlotPicture& picture,
                                   Existing existing = Existing::any, double png_scale = 2);

}  // namespace attnscope::ui
