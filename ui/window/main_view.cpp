// SPDX-License-Identifier: GPL-3.0-or-later
// State of the window as a JSON document (saved by ui/window/session.h).
#include <QAction>
#include <QDockWidget>
#include <QFileInfo>
#include <QJsonArray>
#include <QLineEdit>
#include <QScreen>
#include <algorithm>
#include <map>

#include "ui/pages/page.h"
#include "ui/panels/collect_panel.h"
#include "ui/text/format.h"
#include "ui/window/main_window.h"
#include "ui/window/query_bar.h"

namespace attnscope::ui {
namespace {

constexpr int docks_version = 1;

QString as_text(const QByteArray& bytes) {
  return QString::fromLatin1(bytes.toBase64());
}

QByteArray as_bytes(const QJsonValue& text) {
  return QByteArray::fromBase64(text.toString().toLatin1());
}

/// Moves and shrinks a window that was saved on a larger screen.
void keep_on_screen(QWidget& window) {
  if (window.isMaximized() || window.isFullScreen()) return;
  const QRect available = window.screen()->availableGeometry();
  const QSize frame = window.frameGeometry().size() - window.size();
  window.resize(window.size().boundedTo(available.size() - frame));
  const QRect outer = window.frameGeometry();
  window.move(
      std::clamp(outer.x(), available.left(), std::max(available.left(), available.right() - outer.width() + 1)),
      std::clamp(outer.y(), available.top(), std::max(available.top(), available.bottom() - outer.height() + 1)));
}

QString canonical_path(const QString& path) {
  const QFileInfo file(path);
  return file.exists() ? file.canonicalFilePath() : path;
}

}  // namespace

QJsonObject MainWindow::view() {
  const QStringList files = workspace_.requested_files();
  QJsonObject pages;
  for (const PageKind& kind : page_kinds()) {
    const QString id = to_qstring(kind.id);
    pages[id] = page(id)->state();
  }
  std::map<bool, QJsonArray> ticks;
  for (const auto& [run, checked] : workspace_.checked_runs()) {
    if (!files.contains(run.first)) continue;
    ticks[checked].append(
        QJsonObject{{QStringLiteral("file"), run.first}, {QStringLiteral("run"), QString::fromStdString(run.second)}});
  }
  std::optional<Selected> selected = pending_selection_;
  // The selected point is marked on all pages.
  if (const std::optional<ShownPoint>& point = page(page_id())->marked(); point && !selected) {
    selected = Selected{point->run->file, point->id};
  }
  capture_panels();
  QJsonObject view{{QStringLiteral("files"), QJsonArray::fromStringList(files)},
                   {QStringLiteral("page"), page_id()},
                   {QStringLiteral("pages"), pages},
                   {QStringLiteral("filter"), query_->field()->text()},
                   {QStringLiteral("unticked"), ticks[false]},
                   {QStringLiteral("ticked"), ticks[true]},
                   {QStringLiteral("panels"), panels_},
                   {QStringLiteral("window"), geometry_},
                   {QStringLiteral("collect"), collect_->state()}};
  if (selected && files.contains(selected->file)) {
    view[QStringLiteral("selection")] =
        QJsonObject{{QStringLiteral("file"), selected->file}, {QStringLiteral("point"), selected->point}};
  }
  return view;
}

void MainWindow::capture_panels() {
  if (isHidden() && !panels_.isEmpty()) return;  // a closed window has no visible panels; keep the last state
  for (const QDockWidget* dock : findChildren<QDockWidget*>()) {
    panels_[dock->objectName()] = dock->toggleViewAction()->isChecked();
  }
  geometry_ = {{QStringLiteral("geometry"), as_text(saveGeometry())},
               {QStringLiteral("docks"), as_text(saveState(docks_version))},
               {QStringLiteral("text"), text_scale()}};
}

void MainWindow::restore(const QJsonObject& view) {
  const QJsonObject pages = view[QStringLiteral("pages")].toObject();
  for (const PageKind& kind : page_kinds()) {
    const QString id = to_qstring(kind.id);
    if (pages.contains(id)) page(id)->restore(pages[id].toObject());
  }
  restore_files(view);
  if (view.contains(QStringLiteral("filter"))) query_->set_text(view[QStringLiteral("filter")].toString());
  show_page(view[QStringLiteral("page")].toString());
  restore_panels(view);
  collect_->restore(view[QStringLiteral("collect")].toObject());  // may show its panel
  select_pending();
}

void MainWindow::restore_files(const QJsonObject& view) {
  if (!view.contains(QStringLiteral("files"))) return;
  QStringList files;
  for (const auto& file : view[QStringLiteral("files")].toArray()) files << canonical_path(file.toString());
  for (const QString& file : QStringList(workspace_.files())) {
    if (!files.contains(file)) workspace_.close(file);
  }
  Workspace::CheckedRuns ticks;
  for (const bool checked : {false, true}) {
    for (const auto& run : view[checked ? QStringLiteral("ticked") : QStringLiteral("unticked")].toArray()) {
      ticks[{canonical_path(run[QStringLiteral("file")].toString()),
             run[QStringLiteral("run")].toString().toStdString()}] = checked;
    }
  }
  workspace_.set_checked_runs(ticks);
  for (const QString& file : files) {
    if (!workspace_.requested_files().contains(file)) workspace_.open(file);
  }
  pending_selection_.reset();
  if (const QJsonObject selected = view[QStringLiteral("selection")].toObject(); !selected.isEmpty()) {
    pending_selection_ = Selected{canonical_path(selected[QStringLiteral("file")].toString()),
                                  selected[QStringLiteral("point")].toInteger()};
  }
}

void MainWindow::restore_panels(const QJsonObject& view) {
  const QJsonObject place = view[QStringLiteral("window")].toObject();
  if (restoreGeometry(as_bytes(place[QStringLiteral("geometry")]))) keep_on_screen(*this);
  if (restoreState(as_bytes(place[QStringLiteral("docks")]), docks_version)) keep_panels_open();
  if (place.contains(QStringLiteral("text"))) {
    set_text_scale(place[QStringLiteral("text")].toDouble());
  }
  const QJsonObject panels = view[QStringLiteral("panels")].toObject();
  for (QDockWidget* dock : findChildren<QDockWidget*>()) {
    if (!panels[dock->objectName()].isBool()) continue;
    dock->setVisible(panels[dock->objectName()].toBool());
    keep_panels_open();
  }
}

void MainWindow::select_pending() {
  if (!pending_selection_) return;
  const std::shared_ptr<const PointSet> points = workspace_.visible();
  for (Row row = 0; row < points->size(); ++row) {
    if (points->id(row) != pending_selection_->point || points->run_of(row)->file != pending_selection_->file) continue;
    pending_selection_.reset();
    return select((*points)[row]);
  }
  if (!workspace_.is_loading()) pending_selection_.reset();
}

}  // namespace attnscope::ui
