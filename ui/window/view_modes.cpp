// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/window/view_modes.h"

#include <QAction>
#include <QApplication>
#include <QDockWidget>
#include <QMenu>
#include <QMenuBar>
#include <algorithm>
#include <utility>

#include "messages/window.h"
#include "ui/text/qtext.h"
#include "ui/theme/theme.h"

namespace attnscope::ui {
namespace {

constexpr double scale_step = 1.15;
constexpr int icon_side = 18;
constexpr double strip_font = 0.85;

}  // namespace

ViewModes::ViewModes(QMainWindow& window, std::vector<Panel> panels)
    : QObject(&window), window_(window), panels_(std::move(panels)) {
  strip_ = new QToolBar(qtext(say::window::panels{}), &window_);
  strip_->setObjectName(QStringLiteral("panels"));
  strip_->setMovable(false);
  strip_->setToolButtonStyle(Qt::ToolButtonTextUnderIcon);
  strip_->setIconSize({icon_side, icon_side});
  strip_->setContextMenuPolicy(Qt::PreventContextMenu);  // it would hide the strip for good
  QFont font = strip_->font();
  font.setPointSizeF(font.pointSizeF() * strip_font);
  strip_->setFont(font);
  for (const Panel& panel : panels_) {
    QAction* toggle = panel.dock->toggleViewAction();
    toggle->setIcon(QIcon(QStringLiteral(":/icons/panel-%1.svg").arg(panel.dock->objectName())));
    toggle->setShortcut(panel.key);
    strip_->addAction(toggle);
  }
  window_.addToolBar(Qt::LeftToolBarArea, strip_);
}

void ViewModes::add_actions(QMenu& menu) {
  for (const Panel& panel : panels_) menu.addAction(panel.dock->toggleViewAction());
  menu.addSeparator();
  QMenu* text = menu.addMenu(qtext(say::window::text_size{}));
  const auto add = [&](const QString& words, const QList<QKeySequence>& keys, double factor) {
    QAction* action =
        text->addAction(words, this, [this, factor] { set_text_scale(factor == 0 ? 1 : scale_ * factor); });
    action->setShortcuts(keys);
  };
  // Where plus needs Shift, the key without it counts as well.
  add(qtext(say::window::text_larger{}), {QKeySequence::ZoomIn, QKeySequence(QStringLiteral("Ctrl+="))}, scale_step);
  add(qtext(say::window::text_smaller{}), {QKeySequence::ZoomOut}, 1 / scale_step);
  add(qtext(say::window::text_own{}), {QKeySequence(QStringLiteral("Ctrl+0"))}, 0);
}

void ViewModes::keep_keys() {
  for (QAction* action : window_.menuBar()->findChildren<QAction*>()) {
    // Those of some widgets alone would come between another widget and its own.
    const bool of_the_window = action->shortcutContext() == Qt::WindowShortcut;
    if (of_the_window && !action->shortcut().isEmpty()) window_.addAction(action);
  }
  for (const Panel& panel : panels_) window_.addAction(panel.dock->toggleViewAction());
}

void ViewModes::fold_below(int width) {
  if (window_.width() >= width) return;
  for (const Panel& panel : panels_) panel.dock->hide();
}

void ViewModes::set_text_scale(double scale) {
  scale_ = scale > 0 ? std::clamp(scale, least_scale, most_scale) : 1;  // settings may hold anything
  size_text();
}

void ViewModes::size_text() {
  QFont font = QApplication::font();
  font.setPointSizeF(system_text_size() * scale_);
  if (font == QApplication::font()) return;
  QApplication::setFont(font);
  font.setPointSizeF(font.pointSizeF() * strip_font);
  strip_->setFont(font);
}

}  // namespace attnscope::ui
