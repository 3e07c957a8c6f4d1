// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/window/offscreen.h"

#include <QApplication>
#include <QDir>
#include <QFileInfo>
#include <QImageWriter>

#include "profiler/tilemap/plot_list.h"
#include "ui/pages/curves/io_curve_page.h"
#include "ui/plots/heatmap_view.h"
#include "ui/plots/plot_export.h"
#include "ui/runs/samples.h"
#include "ui/text/format.h"
#include "ui/text/qtext.h"
#include "ui/window/main_window.h"
#include "ui/window/query_bar.h"

namespace attnscope::ui {
namespace {

constexpr double picture_scale = 2;

QString open_all(Workspace& workspace, QStringList files) {
  if (files.isEmpty()) files = sample_paths();
  if (files.isEmpty()) return QStringLiteral("no file given, and the recorded sample is not installed");
  for (const QString& file : files) {
    if (QString error = workspace.open_blocking(file); !error.isEmpty()) return error;
  }
  return {};
}

void collect_skipped(const Workspace& workspace, QStringList* skipped) {
  QObject::connect(&workspace, &Workspace::rows_skipped, &workspace, [skipped](const QString&, const QString& what) {
    if (skipped != nullptr) *skipped << what;
  });
}

/// Writes pictures of plots, reusing one set of views.
class PictureWriter {
 public:
  PictureWriter(std::shared_ptr<const PointSet> points, const QDir& folder, ExistingFile existing, QStringList* written)
      : points_(std::move(points)), folder_(folder), existing_(existing), written_(written) {
    curves_.resize(picture_size);
    map_.resize(picture_size);
  }

  /// Writes PNG and SVG; returns the error, empty on success.
  QString write(const analysis::Plot& plot) {
    const QString stem = to_qstring(plot.stem);
    if (plot.kind == analysis::PlotKind::maps) {
      map_.set_map(points_, analysis::build_tile_map(points_->table(), plot.filter.rows(), plot.metric), true);
      return write_both(stem, map_.picture_size(picture_size), picture_of(map_), picture_scale);
    }
    if (QString error = write_curves(plot, Quantity::dram, stem); !error.isEmpty()) return error;
    if (plot.kind != analysis::PlotKind::bytes) return {};
    return write_curves(plot, Quantity::sm_l2, stem + level_suffix(Quantity::sm_l2));
  }

 private:
  /// `level`: memory level of bytes. Writes nothing without a measured curve.
  QString write_curves(const analysis::Plot& plot, Quantity level, const QString& stem) {
    CurveRequest request;
    for (const Row row : plot.filter.rows()) request.algorithms.insert(points_->table().algorithm(row));
    request.ordinate = plot.ordinate();
    request.tile = plot.tile;
    request.dram = level == Quantity::dram;
    request.sm_l2 = level == Quantity::sm_l2;
    request.residuals = true;
    const CurveSet set = build_curves(points_, plot.filter, request);
    const auto is_measured = [](const Curve& curve) { return curve.kind == CurveKind::measured; };
    if (std::ranges::none_of(set.curves, is_measured)) return {};
    curves_.set_curves(set, {}, false);
    return write_both(stem, picture_size, picture_of(curves_, drawn_runs(set)), picture_scale);
  }

  QString write_both(const QString& stem, const QSize& size, const PlotPicture& picture, double scale) {
    for (const char* ending : {".png", ".svg"}) {
      const QString file = folder_.filePath(stem + QLatin1String(ending));
      if (QString error = save_picture(file, size, picture, existing_, scale); !error.isEmpty()) return error;
      *written_ << file;
    }
    return {};
  }

  std::shared_ptr<const PointSet> points_;
  QDir folder_;
  ExistingFile existing_;
  QStringList* written_;
  IoPlot curves_;
  HeatmapView map_;
};

}  // namespace

QString write_plots(const QStringList& files, const QString& folder, QStringList* written, ExistingFile existing,
                    QStringList* skipped) {
  if (!QDir().mkpath(folder)) return qtext("cannot create folder {}", folder.toStdString());
  apply_theme(ThemeChoice::light);
  Workspace workspace;
  collect_skipped(workspace, skipped);
  if (QString error = open_all(workspace, files); !error.isEmpty()) return error;
  const std::shared_ptr<const PointSet> points = workspace.visible();
  if (points->empty()) return QStringLiteral("no points to draw in these files");
  PictureWriter writer(points, QDir(folder), existing, written);
  for (const analysis::Plot& picture : analysis::plan_plots(points->table())) {
    if (QString error = writer.write(picture); !error.isEmpty()) return error;
  }
  return {};
}

QString write_screenshot(const QStringList& files, const Screenshot& shot, QStringList* skipped) {
  const QByteArray kind = QFileInfo(shot.file).suffix().toLatin1();
  const QByteArray format = kind.isEmpty() ? QByteArrayLiteral("png") : kind;
  const QList<QByteArray> kinds = QImageWriter::supportedImageFormats();
  if (!kinds.contains(format.toLower())) {
    return qtext("{}: unsupported image format '{}' (use one of {})", shot.file.toStdString(), kind.toStdString(),
                 (QByteArrayLiteral(".") + kinds.join(" .")).toStdString());
  }
  MainWindow window(false);
  window.set_theme(shot.theme);
  collect_skipped(window.workspace(), skipped);
  if (QString error = open_all(window.workspace(), files); !error.isEmpty()) return error;
  if (!shot.filter.isEmpty()) window.query().set_text(shot.filter);
  if (!window.query().error().isEmpty()) return window.query().error();
  if (!shot.explored.empty()) window.explore_algorithm(shot.explored);
  window.resize(shot.size);
  window.show_page(shot.page);
  window.show();
  // Layout and queued replots need several passes of the event loop.
  const auto wait_until_idle = [] {
    for (int i = 0; i < 10; ++i) QApplication::processEvents();
  };
  wait_until_idle();
  Page* page = window.page(window.page_id());
  page->wait_until_idle();
  page->prepare_screenshot();
  wait_until_idle();
  const QPixmap picture = window.grab();
  return save_image(shot.file, picture.toImage(), format.constData(), shot.existing);
}

}  // namespace attnscope::ui
