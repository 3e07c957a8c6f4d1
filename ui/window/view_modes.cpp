// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/window/view_modes.h"

#include <QAction>
#include <QApplication>
#include <QDockWidget>
#include <QEvent>
#include <QFontMetricsF>
#include <QMenu>
#include <QMenuBar>
#include <QShortcut>
#include <QStatusBar>
#include <algorithm>
#include <utility>

#include "messages/window.h"
#include "ui/text/qtext.h"
#include "ui/theme/theme.h"
#include "ui/widgets/banner.h"

namespace attnscope::ui {
namespace {

constexpr double scale_step = 1.15;
constexpr int icon_side = 18;
constexpr double strip_font = 0.85;
constexpr double presented_lines = 36;  ///< of text in the height of a presenter's window, as a slide has them

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
  present_ = new QAction(qtext(say::window::present{}), this);
  present_->setCheckable(true);
  present_->setShortcut(QKeySequence(Qt::Key_F11));
  connect(present_, &QAction::toggled, this, &ViewModes::set_presenting);
  leave_ = new QShortcut(QKeySequence(Qt::Key_Escape), &window_);
  leave_->setEnabled(false);
  connect(leave_, &QShortcut::activated, this, [this] { set_presenting(false); });
  window_.installEventFilter(this);
}

void ViewModes::add_actions(QMenu& menu) {
  for (const Panel& panel : panels_) menu.addAction(panel.dock->toggleViewAction());
  menu.addSeparator();
  menu.addAction(present_);
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
  window_.addAction(present_);
  for (const Panel& panel : panels_) window_.addAction(panel.dock->toggleViewAction());
}

void ViewModes::fold_below(int width) {
  if (window_.width() >= width) return;
  for (const Panel& panel : panels_) panel.dock->hide();
}

void ViewModes::set_presenting(bool on) {
  if (on == presenting_) return;
  presenting_ = on;
  present_->setChecked(on);
  leave_->setEnabled(on);
  if (auto* banner = window_.findChild<Banner*>(); banner != nullptr) banner->set_muted(on);
  if (!on) {
    for (QWidget* widget : hidden_) widget->show();
    hidden_.clear();
    window_.setWindowState(was_full_ ? window_.windowState() | Qt::WindowFullScreen
                                     : window_.windowState() & ~Qt::WindowFullScreen);
    size_text();
    return;
  }
  std::vector<QWidget*> chrome{window_.menuBar(), window_.statusBar(), strip_};
  for (const Panel& panel : panels_) chrome.push_back(panel.dock);
  for (QWidget* widget : chrome) {
    if (widget->isHidden()) continue;
    widget->hide();
    hidden_.push_back(widget);
  }
  was_full_ = window_.isFullScreen();
  window_.setWindowState(window_.windowState() | Qt::WindowFullScreen);
  size_text();
}

bool ViewModes::eventFilter(QObject* watched, QEvent* event) {
  if (presenting_ && watched == &window_ && event->type() == QEvent::Resize) size_text();
  return QObject::eventFilter(watched, event);
}

void ViewModes::set_text_scale(double scale) {
  scale_ = scale > 0 ? std::clamp(scale, least_scale, most_scale) : 1;  // settings may hold anything
  size_text();
}

void ViewModes::size_text() {
  QFont font = QApplication::font();
  font.setPointSizeF(system_text_size());
  const double presented = window_.height() / (presented_lines * QFontMetricsF(font).height());
  font.setPointSizeF(system_text_size() * scale_ * (presenting_ ? std::max(1.0, presented) : 1));
  if (font == QApplication::font()) return;
  QApplication::setFont(font);
  font.setPointSizeF(font.pointSizeF() * strip_font);
  strip_->setFont(font);
}

}  // namespace attnscope::ui
