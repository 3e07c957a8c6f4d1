// SPDX-License-Identifier: GPL-3.0-or-later
// What tests of the window and its pages share.
#pragma once

#include <gtest/gtest.h>

#include <QApplication>
#include <QTemporaryDir>

#include "tests/ui/fixtures.h"
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

/// The window knows its pages by their interface alone; tests know which they want. As it is once it is turned to.
template <class Kind>
Kind& page_of(MainWindow& window) {
  auto* page = window.findChild<Kind*>();
  if (page == nullptr) throw std::runtime_error("the window has no such page");
  page->catch_up();
  return *page;
}

/// Lets queued layouts and replots happen.
inline void settle() {
  for (int i = 0; i < 10; ++i) QApplication::processEvents();
}

}  // namespace attnscope::ui
