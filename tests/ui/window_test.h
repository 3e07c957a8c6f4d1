// SPDX-License-Identifier: GPL-3.0-or-later
// Helpers for tests of the window and its pages.
#pragma once

#include <gtest/gtest.h>

#include <QAction>
#include <QApplication>
#include <QDesktopServices>
#include <QPushButton>
#include <QTemporaryDir>
#include <QTextBrowser>

#include "tests/ui/fixtures.h"
#include "ui/pages/explorer/cards.h"
#include "ui/plots/heatmap_view.h"
#include "ui/text/format.h"
#include "ui/text/qtext.h"
#include "ui/window/main_window.h"

namespace attnscope::ui {

class WindowTest : public ::testing::Test {
 protected:
  void SetUp() override {
    file = folder.filePath("sample.attnscope");
    fixtures::write_file(file,
                         {{"memory-wall", fixtures::memory_wall(), false}, {"tiles", fixtures::tile_sweep(), false}});
  }
  QTemporaryDir folder;
  QString file;
};

/// Returns the page of that type, refreshed as if it were shown.
template <class Kind>
Kind& page_of(MainWindow& window) {
  auto* page = window.findChild<Kind*>();
  if (page == nullptr) throw std::runtime_error("the window has no such page");
  page->refresh_if_outdated();
  return *page;
}

/// A window with the test's file.
class OpenedWindowTest : public WindowTest {
 protected:
  void SetUp() override {
    WindowTest::SetUp();
    ASSERT_EQ(window.workspace().open_blocking(file), QString());
  }
  MainWindow window{false};
};

/// Triggers the menu entry with that shortcut.
inline void trigger(MainWindow& window, const QKeySequence& shortcut) {
  for (QAction* action : window.findChildren<QAction*>()) {
    if (action->shortcut() == shortcut) action->trigger();
  }
}

/// Returns the text up to the first argument; the arguments of `message` are "|".
inline QString text_before_arguments(const Message& message) {
  return qtext(message).section('|', 0, 0);
}

/// Measured or simulated time among the explorer's bars; empty: none.
inline QString measured_time(const BarList& bars) {
  for (const BarLine& line : bars.lines()) {
    if (line.title == to_qstring(Provenance::measured) || line.title == to_qstring(Provenance::simulated)) {
      return line.words;
    }
  }
  return {};
}

/// Legend of a map whose cells show their values.
inline QString caption_of(const HeatmapView& view) {
  return heatmap_caption(view.points(), view.map(), true, PlotTarget::screen);
}

/// Returns why a collection cannot start; empty if it can.
inline QString start_blocker(const QWidget& panel) {
  return panel.findChild<QPushButton*>(QStringLiteral("start"))->toolTip();
}

/// Receives URLs instead of a browser.
class UrlReceiver : public QTextBrowser {
 public:
  UrlReceiver() { QDesktopServices::setUrlHandler(QStringLiteral("file"), this, "setSource"); }
  ~UrlReceiver() override { QDesktopServices::unsetUrlHandler(QStringLiteral("file")); }
  QList<QUrl> asked;

 protected:
  void doSetSource(const QUrl& name, QTextDocument::ResourceType /*type*/) override { asked << name; }
};

/// Processes queued layouts and replots.
inline void wait_until_idle() {
  for (int i = 0; i < 10; ++i) QApplication::processEvents();
}

}  // namespace attnscope::ui
