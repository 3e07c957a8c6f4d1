// SPDX-License-Identifier: GPL-3.0-or-later
// Writes a plot at any size as PNG, SVG or PDF.
#pragma once

#include <qcustomplot.h>

namespace attnscope::ui {

// As save_file(): the error, empty when the file is written.
[[nodiscard]] QString save_plot_png(QCustomPlot& plot, const QString& file, const QSize& size, double scale);
[[nodiscard]] QString save_plot_svg(QCustomPlot& plot, const QString& file, const QSize& size, const QString& title);
[[nodiscard]] QString save_plot_pdf(QCustomPlot& plot, const QString& file, const QSize& size, const QString& title);
/// By the name's ending; a PNG has twice the pixels.
[[nodiscard]] QString save_plot(QCustomPlot& plot, const QString& file, const QSize& size, const QString& title);

}  // namespace attnscope::ui
