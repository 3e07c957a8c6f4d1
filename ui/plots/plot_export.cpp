// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/plots/plot_export.h"

#include <QSvgGenerator>

#include "ui/process/save_file.h"

namespace attnscope::ui {

QString save_picture(const QString& file, const QSize& size, const QString& title,
                     const std::function<void(QPaintDevice&)>& vectors, const std::function<QImage()>& pixels) {
  const auto ends_in = [&](const char* suffix) { return file.endsWith(QLatin1String(suffix), Qt::CaseInsensitive); };
  if (ends_in(".svg")) {
    return save_file(file, [&](QIODevice& out) {
      QSvgGenerator generator;
      generator.setOutputDevice(&out);
      set_up_page(generator, size, title);
      vectors(generator);
      return true;
    });
  }
  if (ends_in(".pdf")) {
    return save_file(file, [&](QIODevice& out) {
      QPdfWriter writer(&out);
      set_up_page(writer, size, title);
      vectors(writer);
      return true;
    });
  }
  return save_image(file, pixels(), "PNG");
}

QString save_plot(QCustomPlot& plot, const QString& file, const QSize& size, const QString& title) {
  const auto vectors = [&](QPaintDevice& device) {
    QCPPainter painter;
    painter.begin(&device);
    painter.setMode(QCPPainter::pmVectorized);
    painter.setMode(QCPPainter::pmNoCaching);
    plot.toPainter(&painter, size.width(), size.height());
  };
  return save_picture(file, size, title, vectors,
                      [&] { return plot.toPixmap(size.width(), size.height(), 2).toImage(); });
}

}  // namespace attnscope::ui
