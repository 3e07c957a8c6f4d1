// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/offscreen.h"

#include <QApplication>
#include <QDir>
#include <QFileInfo>
#include <array>

#include "profiler/metrics/metrics.h"
#include "ui/pages/io_curve_page.h"
#include "ui/pages/points_page.h"
#include "ui/pages/tile_heatmap_page.h"
#include "ui/save_file.h"

namespace attnscope::ui {
namespace {

constexpr QSize plot_size{1100, 720};

QString open_all(Workspace& workspace, QStringList files) {
  if (files.isEmpty()) files << recorded_sample();
  for (const QString& file : files) {
    if (file.isEmpty()) return QStringLiteral("no file given, and the recorded sample is not installed");
    if (QString error = workspace.open_now(file); !error.isEmpty()) return error;
  }
  return {};
}

template <class View>
QString save_both(View* view, const QDir& folder, const QString& stem, QStringList* written) {
  const QString png = folder.filePath(stem + QStringLiteral(".png"));
  const QString svg = folder.filePath(stem + QStringLiteral(".svg"));
  if (QString error = view->save_png(png, plot_size); !error.isEmpty()) return error;
  *written << png;
  if (QString error = view->save_svg(svg, plot_size); !error.isEmpty()) return error;
  *written << svg;
  return {};
}

/// Calls `visit` with every combination of the facets' choices that has points; the first error ends it.
template <class Page, class Visit>
QString for_each_choice(Page& page, QStringList facets, Visit visit) {
  if (facets.isEmpty()) return visit();
  const QString facet = facets.takeFirst();
  const QStringList options = page.options(facet);
  // Where there is no choice the page has made it, and need not draw again.
  if (options.size() < 2) return for_each_choice(page, facets, visit);
  for (const QString& option : options) {
    page.choose(facet, option);
    if (QString error = for_each_choice(page, facets, visit); !error.isEmpty()) return error;
  }
  return {};
}

QString save_curves(IoCurvePage& page, const QDir& folder, QStringList* written) {
  const auto save = [&](Ordinate ordinate, bool only_beside_imported) -> QString {
    page.set_ordinate(ordinate);
    bool drawn = !page.curves().failed.empty();
    bool imported = false;
    for (const Curve& curve : page.curves().curves) {
      drawn = drawn || curve.kind == CurveKind::measured;
      imported = imported || curve.provenance == Provenance::imported;
    }
    if (!drawn || (only_beside_imported && !imported)) return {};
    return save_both(page.plot(), folder, page.file_stem(), written);
  };
  const auto before = written->size();
  if (QString error = save(Ordinate::bytes, false); !error.isEmpty()) return error;
  if (written->size() == before) {
    if (QString error = save(Ordinate::time, false); !error.isEmpty()) return error;
  }
  return save(Ordinate::rate, true);
}

QString save_maps(TileHeatmapPage& page, const QDir& folder, QStringList* written) {
  for (const std::string_view metric : {metric_key::time_median_ns, metric_key::l2_sm_bytes, metric_key::dram_bytes}) {
    page.set_metric(metric);
    if (!page.view()->grid().minimum) continue;
    if (QString error = save_both(page.view(), folder, page.file_stem(), written); !error.isEmpty()) return error;
  }
  return {};
}

}  // namespace

QString write_plots(const QStringList& files, const QString& folder, QStringList* written) {
  if (!QDir().mkpath(folder)) return QStringLiteral("%1 could not be made").arg(folder);
  const QDir target(folder);
  apply_theme(ThemeChoice::light);
  Workspace workspace;
  if (QString error = open_all(workspace, files); !error.isEmpty()) return error;

  IoCurvePage io(workspace);
  io.resize(plot_size);
  if (workspace.visible_points().empty()) return QStringLiteral("nothing to draw: no point in these files");
  QString failed = for_each_choice(io, io.facets(), [&]() -> QString {
    if (io.only_a_tile_map()) return {};
    const std::vector<int> splits = io.splits();
    if (splits.empty()) return save_curves(io, target, written);
    for (const int count : splits) {
      io.choose_splits(count);
      if (QString error = save_curves(io, target, written); !error.isEmpty()) return error;
    }
    return {};
  });
  if (!failed.isEmpty()) return failed;

  TileHeatmapPage tiles(workspace);
  tiles.resize(plot_size);
  if (!tiles.has_grid()) return {};
  return for_each_choice(tiles, tiles.facets(), [&] { return save_maps(tiles, target, written); });
}

QString write_screenshot(const QStringList& files, const Screenshot& shot) {
  MainWindow window(false);
  window.set_theme(shot.theme);
  if (QString error = open_all(window.workspace(), files); !error.isEmpty()) return error;
  window.resize(shot.size);
  window.show_page(shot.page);
  window.show();
  if (shot.page == PageId::tiles && window.tiles_page()->has_grid()) {
    HeatmapView* view = window.tiles_page()->view();
    view->select(view->landmark());
  }
  // Layout and the queued replots take a few turns of the loop.
  for (int i = 0; i < 10; ++i) QApplication::processEvents();
  const QPixmap picture = window.grab();
  const QByteArray format = QFileInfo(shot.file).suffix().toLatin1();
  return save_image(shot.file, picture.toImage(), format.isEmpty() ? "PNG" : format.constData());
}

}  // namespace attnscope::ui
