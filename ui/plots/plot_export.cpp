// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/plots/plot_export.h"

#include <QGuiApplication>
#include <QSvgGenerator>
#include <algorithm>
#include <utility>

#include "ui/plots/curve_style.h"
#include "ui/plots/plot_parts.h"
#include "ui/runs/source_note.h"
#include "ui/text/format.h"
#include "ui/theme/theme.h"

namespace attnscope::ui {
namespace {

/// A slide is laid out for a width of this many pixels and drawn as large as it is wanted: its type is large.
constexpr double slide_width = 800;
constexpr int slide_margin = 24;
constexpr double title_size = 1.9;  ///< of the font of plots

/// Lines break between settings, not within.
QString unbroken(const QString& words) {
  QStringList parts = words.split(QStringLiteral(" · "));
  for (QString& part : parts) part.replace(QLatin1Char(' '), QChar::Nbsp);
  return parts.join(QStringLiteral(" · "));
}

void draw_slide(const PlotPicture& picture, QCPPainter& painter, const QRect& area, double pixel) {
  const double scale = area.width() / slide_width;
  const PlotColors colors = plot_colors(QGuiApplication::palette());
  painter.save();
  painter.translate(area.topLeft());
  painter.scale(scale, scale);
  const QRect page(0, 0, static_cast<int>(slide_width), static_cast<int>(area.height() / scale));
  painter.fillRect(page, colors.background);
  QRect room = page.adjusted(slide_margin, slide_margin - 4, -slide_margin, -10);
  const auto write = [&](const QFont& font, const QColor& color, const QString& words, bool at_foot) {
    painter.setFont(font);
    painter.setPen(color);
    const int place = static_cast<int>(Qt::AlignLeft | (at_foot ? Qt::AlignBottom : Qt::AlignTop));
    const bool fits = painter.boundingRect(room, place | Qt::TextWordWrap, words).width() <= room.width();
    const int flags = place | (fits ? Qt::TextWordWrap : Qt::TextWrapAnywhere);  // one word may be a line and more
    QRect drawn;
    painter.drawText(room, flags, words, &drawn);
    at_foot ? room.setBottom(drawn.top() - 4) : room.setTop(drawn.bottom() + 4);
  };
  const QFont font = QGuiApplication::font();
  QFont large = bold(font);
  large.setPointSizeF(font.pointSizeF() * title_size);
  write(large, colors.text, picture.sentence.isEmpty() ? unbroken(picture.title) : picture.sentence, false);
  const SourceParts source = source_parts(picture.runs);
  const bool names_device = picture.title.contains(source.devices);
  QStringList below{names_device ? QString() : source.devices, source.days};
  if (!picture.sentence.isEmpty()) below << unbroken(picture.title);
  below << picture.tiles;
  below.removeAll(QString());
  write(font, colors.muted, below.join(QStringLiteral(" · ")), false);
  write(small_font(font), colors.muted, footer_words(picture.runs, picture.note), true);
  picture.draw(painter, QRect(0, room.top(), page.width(), room.height()), pixel / scale, true);
  painter.restore();
}

void draw_all(const PlotPicture& picture, QPaintDevice& device, const QSize& size, double pixel, bool vectors) {
  QCPPainter painter;
  painter.begin(&device);
  painter.setMode(QCPPainter::pmVectorized, vectors);
  painter.setMode(QCPPainter::pmNoCaching);
  picture.draw(painter, QRect(QPoint(0, 0), size), pixel, false);
}

}  // namespace

PlotPicture as_slide(PlotPicture picture) {
  PlotPicture slide = picture;
  slide.draw = [picture = std::move(picture)](QCPPainter& painter, const QRect& area, double pixel, bool /*bare*/) {
    draw_slide(picture, painter, area, pixel);
  };
  return slide;
}

QImage image_of(const PlotPicture& picture, const QSize& size, double scale) {
  QImage image(size * scale, QImage::Format_RGB32);
  image.setDevicePixelRatio(scale);
  image.fill(plot_colors(QGuiApplication::palette()).background);
  draw_all(picture, image, size, 1 / scale, false);
  return image;
}

QString save_picture(const QString& file, const QSize& size, const PlotPicture& picture, Existing existing,
                     double png_scale) {
  const auto ends_in = [&](const char* suffix) { return file.endsWith(QLatin1String(suffix), Qt::CaseInsensitive); };
  const auto draw_on = [&](auto&& page) {
    set_up_page(page, size, picture.title);
    draw_all(picture, page, size, 1, true);
    return true;
  };
  if (ends_in(".svg")) {
    return save_file(
        file,
        [&](QIODevice& out) {
          QSvgGenerator generator;
          generator.setOutputDevice(&out);
          return draw_on(generator);
        },
        existing);
  }
  if (ends_in(".pdf")) {
    return save_file(
        file, [&](QIODevice& out) { return draw_on(QPdfWriter(&out)); }, existing);
  }
  return save_image(file, image_of(picture, size, png_scale), "PNG", existing);
}

}  // namespace attnscope::ui
