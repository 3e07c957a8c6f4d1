// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/window/filter_place.h"

#include <QEvent>
#include <QMainWindow>
#include <QTabBar>
#include <QTabWidget>
#include <QVBoxLayout>
#include <algorithm>
#include <utility>

#include "ui/theme/theme.h"
#include "ui/window/query_bar.h"

namespace attnscope::ui {
namespace {

constexpr int narrowest = 110;
constexpr int widest = 420;
constexpr int field_gap = 8;

}  // namespace

bool is_low_window(const QWidget& window) {
  constexpr int lowest = 700;
  return window.height() < lowest * font_scale(window.font());
}

FilterPlace::FilterPlace(QMainWindow& window, QTabWidget& tabs, QueryBar& query)
    : QObject(&window), window_(window), tabs_(tabs), query_(query) {
  window.installEventFilter(this);
  tabs.installEventFilter(this);
}

bool FilterPlace::eventFilter(QObject* watched, QEvent* event) {
  const bool sized = event->type() == QEvent::Resize || event->type() == QEvent::FontChange;
  // After the layout, which must not lose the filter while it is at work.
  if (sized && !std::exchange(waiting_, true)) {
    QMetaObject::invokeMethod(this, &FilterPlace::place, Qt::QueuedConnection);
  }
  return QObject::eventFilter(watched, event);
}

void FilterPlace::place() {
  waiting_ = false;
  const bool low = is_low_window(window_);
  const bool moves = std::exchange(low_, low) != low;
  // Without icons, more of the filter fits.
  if (moves) tabs_.setIconSize(low ? QSize(0, 0) : QSize());
  query_.set_compact(low ? std::clamp(tabs_.width() - tabs_.tabBar()->sizeHint().width() - field_gap, narrowest, widest)
                         : 0);
  if (!moves) return;
  if (low) {
    tabs_.setCornerWidget(&query_, Qt::TopRightCorner);
  } else {
    tabs_.setCornerWidget(nullptr, Qt::TopRightCorner);
    static_cast<QVBoxLayout*>(window_.centralWidget()->layout())->insertWidget(0, &query_);
  }
  query_.show();
}

}  // namespace attnscope::ui
