// SPDX-License-Identifier: GPL-3.0-or-later
// Writes pictures of any size as PNG, SVG or PDF, by the name's ending.
#pragma once

#include <qcustomplot.h>

#include <functional>

namespace attnscope::ui {

/// `vectors` draws an SVG or a PDF, `pixels` makes what a PNG has. As save_file(): the error, empty when the file is
/// written.
[[nodiscard]] QString save_picture(const QString& file, const QSize& size, const QString& title,
                                   const std::function<void(QPaintDevice&)>& vectors,
                                   const std::function<QImage()>& pixels);
/// A PNG has twice the pixels.
[[nodiscard]] QString save_plot(QCustomPlot& plot, const QString& file, const QSize& size, const QString& title);

}  // namespace attnscope::ui
