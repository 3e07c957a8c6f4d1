// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/window/window_view.h"

#include <QAction>
#include <QDockWidget>
#include <QFileInfo>
#include <QJsonArray>
#include <QLineEdit>
#include <QScreen>
#include <algorithm>
#include <map>

#include "ui/pages/page_list.h"
#include "ui/panels/collect_panel.h"
#include "ui/text/format.h"
#include "ui/window/main_window.h"
#include "ui/window/query_bar.h"
#include "ui/window/text_size.h"

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

WindowView::WindowView(MainWindow& window) : QObject(&window), window_(window) {
  connect(&window_.workspace(), &Workspace::points_changed, this, &WindowView::select);
}

QJsonObject WindowView::view() {
  const Workspace& workspace = window_.workspace();
  const QStringList files = workspace.requested_files();
  QJsonObject pages;
  for (const PageKind& kind : page_kinds()) {
    const QString id = to_qstring(kind.id);
    pages[id] = window_.page(id)->state();
  }
  std::map<bool, QJsonArray> ticks;
  for (const auto& [run, checked] : workspace.checked_runs()) {
    if (!files.contains(run.first)) continue;
    ticks[checked].append(
        QJsonObject{{QStringLiteral("file"), run.first}, {QStringLiteral("run"), QString::fromStdString(run.second)}});
  }
  std::optional<Selected> selected = pending_selection_;
  // The selected point is marked on all pages.
  if (const std::optional<ShownPoint>& point = window_.page(window_.page_id())->marked(); point && !selected) {
    selected = Selected{point->run->file, point->id};
  }
  capture_panels();
  QJsonObject view{{QStringLiteral("files"), QJsonArray::fromStringList(files)},
                   {QStringLiteral("page"), window_.page_id()},
                   {QStringLiteral("pages"), pages},
                   {QStringLiteral("filter"), window_.query().field()->text()},
                   {QStringLiteral("unticked"), ticks[false]},
                   {QStringLiteral("ticked"), ticks[true]},
                   {QStringLiteral("panels"), panels_},
                   {QStringLiteral("window"), place_},
                   {QStringLiteral("collect"), window_.collect()->state()}};
  if (selected && files.contains(selected->file)) {
    view[QStringLiteral("selection")] =
        QJsonObject{{QStringLiteral("file"), selected->file}, {QStringLiteral("point"), selected->point}};
  }
  return view;
}

void WindowView::capture_panels() {
  if (window_.isHidden() && !panels_.isEmpty()) return;  // a closed window has no visible panels; keep the last state
  for (const QDockWidget* dock : window_.findChildren<QDockWidget*>()) {
    panels_[dock->objectName()] = dock->toggleViewAction()->isChecked();
  }
  place_ = {{QStringLiteral("geometry"), as_text(window_.saveGeometry())},
            {QStringLiteral("docks"), as_text(window_.saveState(docks_version))},
            {QStringLiteral("text"), window_.text_size().scale()}};
}

void WindowView::restore(const QJsonObject& view) {
  const QJsonObject pages = view[QStringLiteral("pages")].toObject();
  for (const PageKind& kind : page_kinds()) {
    const QString id = to_qstring(kind.id);
    if (pages.contains(id)) window_.page(id)->restore(pages[id].toObject());
  }
  restore_files(view);
  if (view.contains(QStringLiteral("filter"))) window_.query().set_text(view[QStringLiteral("filter")].toString());
  window_.show_page(view[QStringLiteral("page")].toString());
  restore_panels(view);
  window_.collect()->restore(view[QStringLiteral("collect")].toObject());  // may show its panel
  select();
}

void WindowView::restore_files(const QJsonObject& view) {
  if (!view.contains(QStringLiteral("files"))) return;
  Workspace& workspace = window_.workspace();
  QStringList files;
  for (const auto& file : view[QStringLiteral("files")].toArray()) files << canonical_path(file.toString());
  for (const QString& file : QStringList(workspace.files())) {
    if (!files.contains(file)) workspace.close(file);
  }
  Workspace::CheckedRuns ticks;
  for (const bool checked : {false, true}) {
    for (const auto& run : view[checked ? QStringLiteral("ticked") : QStringLiteral("unticked")].toArray()) {
      ticks[{canonical_path(run[QStringLiteral("file")].toString()),
             run[QStringLiteral("run")].toString().toStdString()}] = checked;
    }
  }
  workspace.set_checked_runs(ticks);
  for (const QString& file : files) {
    if (!workspace.requested_files().contains(file)) workspace.open(file);
  }
  pending_selection_.reset();
  if (const QJsonObject selected = view[QStringLiteral("selection")].toObject(); !selected.isEmpty()) {
    pending_selection_ = Selected{canonical_path(selected[QStringLiteral("file")].toString()),
                                  selected[QStringLiteral("point")].toInteger()};
  }
}

void WindowView::restore_panels(const QJsonObject& view) {
  const QJsonObject place = view[QStringLiteral("window")].toObject();
  if (window_.restoreGeometry(as_bytes(place[QStringLiteral("geometry")]))) keep_on_screen(window_);
  if (window_.restoreState(as_bytes(place[QStringLiteral("docks")]), docks_version)) window_.keep_panels_open();
  if (place.contains(QStringLiteral("text"))) {
    window_.text_size().set_scale(place[QStringLiteral("text")].toDouble());
  }
  const QJsonObject panels = view[QStringLiteral("panels")].toObject();
  for (QDockWidget* dock : window_.findChildren<QDockWidget*>()) {
    if (!panels[dock->objectName()].isBool()) continue;
    dock->setVisible(panels[dock->objectName()].toBool());
    window_.keep_panels_open();
  }
}

void WindowView::select() {
  if (!pending_selection_) return;
  const std::shared_ptr<const PointSet> points = window_.workspace().visible();
  for (Row row = 0; row < points->size(); ++row) {
    if (points->id(row) != pending_selection_->point || points->run_of(row)->file != pending_selection_->file) continue;
    pending_selection_.reset();
    return window_.select((*points)[row]);
  }
  if (!window_.workspace().is_loading()) pending_selection_.reset();
}

}  // namespace attnscope::ui
