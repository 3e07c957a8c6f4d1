// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/plots/plot_export.h"

#include <QGuiApplication>
#include <QSvgGenerator>

#include "ui/theme/theme.h"

namespace attnscope::ui {
namespace {

void draw_all(const PlotPicture& picture, QPaintDevice& device, const QSize& size, double pixel, bool vectors) {
  QCPPainter painter;
  painter.begin(&device);
  painter.setMode(QCPPainter::pmVectorized, vectors);
  painter.setMode(QCPPainter::pmNoCaching);
  picture.draw(painter, QRect(QPoint(0, 0), size), pixel);
}

}  // namespace

QImage image_of(const PlotPicture& picture, const QSize& size, double scale) {
  QImage image(size * scale, QImage::Format_RGB32);
  image.setDevicePixelRatio(scale);
  image.fill(plot_colors(QGuiApplication::palette()).background);
  draw_all(picture, image, size, 1 / scale, false);
  return image;
}

QString save_picture(const QString& file, const QSize& size, const PlotPicture& picture, ExistingFile existing,
                     double png_scale) {
  const auto has_extension = [&](const char* suffix) {
    return file.endsWith(QLatin1String(suffix), Qt::CaseInsensitive);
  };
  const auto draw_on = [&](auto&& page) {
    set_up_page(page, size, picture.title);
    draw_all(picture, page, size, 1, true);
    return true;
  };
  if (has_extension(".svg")) {
    return save_file(
        file,
        [&](QIODevice& out) {
          QSvgGenerator generator;
          generator.setOutputDevice(&out);
          return draw_on(generator);
        },
        existing);
  }
  if (has_extension(".pdf")) {
    return save_file(
        file, [&](QIODevice& out) { return draw_on(QPdfWriter(&out)); }, existing);
  }
  return save_image(file, image_of(picture, size, png_scale), "PNG", existing);
}

}  // namespace attnscope::ui
