// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/plots/plot_export.h"

#include <QSvgGenerator>

#include "ui/process/save_file.h"

namespace attnscope::ui {
namespace {

void draw_vectors(QCustomPlot& plot, QPaintDevice& device, const QSize& size) {
  QCPPainter painter;
  painter.begin(&device);
  painter.setMode(QCPPainter::pmVectorized);
  painter.setMode(QCPPainter::pmNoCaching);
  plot.toPainter(&painter, size.width(), size.height());
}

}  // namespace

QString save_plot_png(QCustomPlot& plot, const QString& file, const QSize& size, double scale) {
  return save_image(file, plot.toPixmap(size.width(), size.height(), scale).toImage(), "PNG");
}

QString save_plot_svg(QCustomPlot& plot, const QString& file, const QSize& size, const QString& title) {
  return save_file(file, [&](QIODevice& out) {
    QSvgGenerator generator;
    generator.setOutputDevice(&out);
    set_up_page(generator, size, title);
    draw_vectors(plot, generator, size);
    return true;
  });
}

QString save_plot_pdf(QCustomPlot& plot, const QString& file, const QSize& size, const QString& title) {
  return save_file(file, [&](QIODevice& out) {
    QPdfWriter writer(&out);
    set_up_page(writer, size, title);
    draw_vectors(plot, writer, size);
    return true;
  });
}

QString save_plot(QCustomPlot& plot, const QString& file, const QSize& size, const QString& title) {
  if (file.endsWith(QLatin1String(".svg"), Qt::CaseInsensitive)) return save_plot_svg(plot, file, size, title);
  if (file.endsWith(QLatin1String(".pdf"), Qt::CaseInsensitive)) return save_plot_pdf(plot, file, size, title);
  return save_plot_png(plot, file, size, 2);
}

}  // namespace attnscope::ui
