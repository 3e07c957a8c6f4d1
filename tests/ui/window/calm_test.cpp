// SPDX-License-Identifier: GPL-3.0-or-later
// How many controls stand around a picture, and how much of the window it holds: on the recorded sample.
#include <gtest/gtest.h>

#include <QAbstractButton>
#include <QAbstractSpinBox>
#include <QComboBox>
#include <QDockWidget>
#include <QLineEdit>
#include <QSlider>
#include <QTabBar>
#include <QTemporaryDir>
#include <QTest>
#include <QToolButton>

#include "tests/ui/window_test.h"
#include "ui/pages/io_curve_page.h"
#include "ui/runs/samples.h"

namespace attnscope::ui {
namespace {

/// What can be operated and is seen; a compound counts once.
int controls_in(const QWidget& within) {
  int count = 0;
  for (const QWidget* widget : within.findChildren<QWidget*>()) {
    const bool control =
        qobject_cast<const QAbstractButton*>(widget) != nullptr || qobject_cast<const QComboBox*>(widget) != nullptr ||
        qobject_cast<const QLineEdit*>(widget) != nullptr || qobject_cast<const QSlider*>(widget) != nullptr ||
        qobject_cast<const QAbstractSpinBox*>(widget) != nullptr;
    const QWidget* parent = widget->parentWidget();
    const bool part =
        qobject_cast<const QComboBox*>(parent) != nullptr || qobject_cast<const QAbstractSpinBox*>(parent) != nullptr ||
        qobject_cast<const QLineEdit*>(parent) != nullptr || qobject_cast<const QTabBar*>(parent) != nullptr;
    count += control && !part && widget->isVisible() && !widget->visibleRegion().isEmpty() ? 1 : 0;
  }
  return count;
}

class CalmWindow : public ::testing::Test {
 protected:
  void SetUp() override {
    if (recorded_samples().isEmpty()) GTEST_SKIP() << "assets/samples/h200.attnscope is not there";
    for (const QString& sample : recorded_samples()) ASSERT_EQ(window.workspace().open_now(sample), QString());
    window.banner().clear_all();  // the line on the sample, once it is read
  }
  Page& turn_to(const char* id, const QSize& size) {
    window.resize(size);
    window.show();
    window.show_page(QString::fromLatin1(id));
    Page& page = *window.page(QString::fromLatin1(id));
    page.settle();
    settle();
    return page;
  }
  MainWindow window{false};
};

/// Of pages whose plot shares the page with a table that says the same in numbers, both count.
struct Expected {
  const char* page;
  int controls;  ///< at most, on the page
  int share;     ///< of the window at 1280 x 800, in percent, that the plot holds at least
  int height;    ///< of the plot at 1024 x 600, in pixels, at least
};

TEST_F(CalmWindow, ThePictureHasTheRoom) {
  // The explorer has no plot, table and ceilings are one, and a comparison begins with its verdicts in words.
  for (const Expected& expected : {Expected{"io", 9, 60, 320}, Expected{"tiles", 9, 60, 320},
                                   Expected{"roofline", 9, 60, 320}, Expected{"law", 9, 60, 320}}) {
    SCOPED_TRACE(expected.page);
    Page& page = turn_to(expected.page, {1280, 800});
    EXPECT_LE(controls_in(page), expected.controls);
    EXPECT_LE(controls_in(window), expected.controls + 4) << "the filter, and three panels to be opened";
    const QSize view = page.view()->size();
    EXPECT_GE(100 * view.width() * view.height(), expected.share * 1280 * 800) << view.width() << "x" << view.height();
    EXPECT_GE(turn_to(expected.page, {1024, 600}).view()->height(), expected.height);
  }
}

TEST_F(CalmWindow, TheQuotientOfTheoryHasItsPanelAlsoInASmallWindow) {
  for (const QSize& size : {QSize(1280, 800), QSize(1024, 600)}) {
    auto& page = dynamic_cast<IoCurvePage&>(turn_to("io", size));
    page.set_residuals(true);
    settle();
    ASSERT_NE(page.plot()->residuals().rect(), nullptr);
    const QRect both = page.plot()->axisRect()->outerRect() | page.plot()->residuals().rect()->outerRect();
    EXPECT_GE(both.height(), 320);
    EXPECT_GE(page.plot()->residuals().rect()->height(), 50);
  }
}

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
