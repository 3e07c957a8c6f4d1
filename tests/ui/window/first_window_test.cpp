// SPDX-License-Identifier: GPL-3.0-or-later
// The first window shows the recorded sample.
#include <gtest/gtest.h>

#include <QDockWidget>
#include <QTemporaryDir>
#include <QTest>
#include <QToolButton>

#include "tests/ui/window_test.h"
#include "ui/runs/samples.h"

namespace attnscope::ui {
namespace {

TEST(FirstWindow, SaysThatItShowsARecordedSampleUntilThatIsClosed) {
  if (recorded_samples().isEmpty()) GTEST_SKIP() << "assets/samples/h200.attnscope is not there";
  MainWindow window(false);
  window.open_files({});
  ASSERT_TRUE(QTest::qWaitFor([&] { return !window.banner().text().isEmpty(); }));
  EXPECT_EQ(window.banner().text(),
            "h200.attnscope is a recorded sample: an NVIDIA H200, measured on 2026-11-29, not on this machine.");
  window.show();
  auto* collect = window.findChild<QDockWidget*>(QStringLiteral("collect"));
  EXPECT_FALSE(collect->isVisible());
  window.banner().findChild<QToolButton*>(QStringLiteral("action"))->click();
  EXPECT_TRUE(collect->isVisible());

  MainWindow other(false);
  other.open_files({});
  ASSERT_TRUE(QTest::qWaitFor([&] { return !other.banner().text().isEmpty(); }));
  const QTemporaryDir folder;
  const QString own = folder.filePath("own.attnscope");
  fixtures::write_file(own, {{"memory-wall", fixtures::memory_wall(), false}});
  ASSERT_EQ(other.workspace().open_now(own), QString());
  EXPECT_TRUE(other.banner().text().contains("recorded sample")) << "its points are drawn beside one's own";
  other.workspace().close(recorded_sample());
  EXPECT_EQ(other.banner().text(), QString());
}

}  // namespace
}  // namespace attnscope::ui
