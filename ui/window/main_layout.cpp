// SPDX-License-Identifier: GPL-3.0-or-later
// Places of panels and filter, which depend on the size of the window.
#include <QAction>
#include <QDockWidget>
#include <QTabBar>
#include <QVBoxLayout>
#include <algorithm>
#include <utility>

#include "messages/window.h"
#include "ui/panels/collect_panel.h"
#include "ui/panels/details_panel.h"
#include "ui/panels/runs_panel.h"
#include "ui/text/qtext.h"
#include "ui/window/main_window.h"
#include "ui/window/query_bar.h"
#include "ui/window/sample_banner.h"

namespace attnscope::ui {
namespace {

/// In narrower windows, panels are hidden initially to leave room for the plot.
constexpr int min_panels_width = 1400;
/// In narrower windows Details is a strip of two lines below the page.
constexpr int min_column_width = 1100;
constexpr int details_width = 340;

}  // namespace

void MainWindow::build_docks() {
  const auto add_dock = [this](const QString& title, const QString& name, QWidget* content, Qt::DockWidgetArea area) {
    auto* dock = new QDockWidget(title, this);
    dock->setObjectName(name);
    dock->setWidget(content);
    addDockWidget(area, dock);
    return dock;
  };
  runs_ = new RunsPanel(workspace_, this);
  collect_ = new CollectPanel(this);
  details_ = new DetailsPanel(this);
  QDockWidget* runs = add_dock(qtext(msg::window::runs{}), QStringLiteral("runs"), runs_, Qt::LeftDockWidgetArea);
  QDockWidget* collect =
      add_dock(qtext(msg::window::collect{}), QStringLiteral("collect"), collect_, Qt::LeftDockWidgetArea);
  details_dock_ = add_dock(qtext(msg::window::details{}), QStringLiteral("details"), details_, Qt::RightDockWidgetArea);
  for (QDockWidget* asked_for : {collect, details_dock_}) asked_for->hide();
  // After the layout, which knows the height then.
  connect(collect->toggleViewAction(), &QAction::toggled, this, &MainWindow::fit_collect_dock, Qt::QueuedConnection);
  const std::pair<QDockWidget*, Qt::Key> keys[] = {
      {runs, Qt::Key_F7}, {collect, Qt::Key_F8}, {details_dock_, Qt::Key_F9}};
  for (const auto& [dock, key] : keys) dock->toggleViewAction()->setShortcut(QKeySequence(key));
  resizeDocks({runs, collect}, {260, 440}, Qt::Vertical);
  resizeDocks({runs}, {250}, Qt::Horizontal);
  resizeDocks({details_dock_}, {details_width}, Qt::Horizontal);
}

void MainWindow::fit_collect_dock() {
  auto* collect = static_cast<QDockWidget*>(collect_->parentWidget());
  auto* runs = static_cast<QDockWidget*>(runs_->parentWidget());
  const bool apart = collect->isFloating() || runs->isFloating() || dockWidgetArea(collect) != dockWidgetArea(runs);
  if (apart || collect->isHidden() || runs->isHidden()) return;
  constexpr int title = 26;
  constexpr int least_runs = 140;
  const int wanted = collect_->sizeHint().height() + title;
  const int all = centralWidget()->height();
  if (all >= wanted + least_runs) return resizeDocks({runs, collect}, {all - wanted, wanted}, Qt::Vertical);
  tabifyDockWidget(runs, collect);
  collect->raise();
}

void MainWindow::place_details(bool restored) {
  const bool strip = width() < min_column_width;
  if (details_dock_ == nullptr || details_dock_->isFloating()) return;
  if (strip == details_->is_strip() && !restored) return;
  details_->set_strip(strip);
  const bool visible = details_dock_->isVisible();
  addDockWidget(strip ? Qt::BottomDockWidgetArea : Qt::RightDockWidgetArea, details_dock_);
  details_dock_->setVisible(visible);
  if (!strip) resizeDocks({details_dock_}, {details_width}, Qt::Horizontal);
}

void MainWindow::resizeEvent(QResizeEvent* event) {
  QMainWindow::resizeEvent(event);
  place_details();
}

void MainWindow::showEvent(QShowEvent* event) {
  if (std::exchange(hide_panels_initially_, false) && width() < min_panels_width) {
    for (QDockWidget* dock : findChildren<QDockWidget*>()) dock->hide();
  }
  QMainWindow::showEvent(event);
}

bool MainWindow::eventFilter(QObject* watched, QEvent* event) {
  const bool sized = event->type() == QEvent::Resize || event->type() == QEvent::FontChange;
  // After the layout, which must not lose the filter while it is at work.
  if (sized && !std::exchange(filter_pending_, true)) {
    QMetaObject::invokeMethod(this, &MainWindow::place_filter, Qt::QueuedConnection);
  }
  return QMainWindow::eventFilter(watched, event);
}

void MainWindow::place_filter() {
  constexpr int narrowest = 110;
  constexpr int widest = 420;
  constexpr int gap = 8;
  filter_pending_ = false;
  const bool low = is_low_window(*this);
  const bool moves = std::exchange(filter_in_tabs_, low) != low;
  // Without icons, more of the filter fits.
  if (moves) tabs_->setIconSize(low ? QSize(0, 0) : QSize());
  query_->set_compact(low ? std::clamp(tabs_->width() - tabs_->tabBar()->sizeHint().width() - gap, narrowest, widest)
                          : 0);
  if (!moves) return;
  tabs_->setCornerWidget(low ? query_ : nullptr, Qt::TopRightCorner);
  if (!low) static_cast<QVBoxLayout*>(centralWidget()->layout())->insertWidget(0, query_);
  query_->show();
}

}  // namespace attnscope::ui
