// SPDX-License-Identifier: GPL-3.0-or-later
// How much of the window is plot.
#include "ui/window/view_modes.h"

#include <QAction>
#include <QDockWidget>
#include <QMenuBar>
#include <QStatusBar>
#include <QTest>
#include <QToolButton>
#include <cmath>
#include <limits>

#include "tests/ui/window_test.h"
#include "ui/pages/io_curve_page.h"

namespace attnscope::ui {
namespace {

class ViewModesTest : public WindowTest {
 protected:
  static bool open(const MainWindow& window, const char* panel) {
    const auto* dock = window.findChild<QDockWidget*>(QString::fromLatin1(panel));
    return dock != nullptr && dock->isVisible();
  }
  static void press(MainWindow& window, Qt::Key key, Qt::KeyboardModifiers modifiers = Qt::NoModifier) {
    QTest::keyClick(&window, key, modifiers);
    settle();
  }
  void TearDown() override { QApplication::setFont(before); }
  QFont before = QApplication::font();
};

TEST_F(ViewModesTest, PanelsBeginFoldedWhereThePlotNeedsTheRoom) {
  MainWindow narrow(false);
  narrow.resize(1024, 600);
  narrow.show();
  ASSERT_EQ(narrow.workspace().open_now(file), QString());
  settle();
  EXPECT_FALSE(open(narrow, "runs"));
  EXPECT_FALSE(open(narrow, "collect"));
  EXPECT_GE(page_of<IoCurvePage>(narrow).plot()->axisRect()->height(), 300);
  EXPECT_GE(page_of<IoCurvePage>(narrow).plot()->width(), 900);
  MainWindow wide(false);
  wide.resize(1440, 900);
  wide.show();
  EXPECT_TRUE(open(wide, "runs"));
  EXPECT_FALSE(open(wide, "collect")) << "who looks at what there is collects nothing";
}

TEST_F(ViewModesTest, AKeyOpensAndFoldsAPanel) {
  MainWindow window(false);
  window.resize(1024, 600);
  window.show();
  window.activateWindow();
  settle();
  press(window, Qt::Key_F7);
  EXPECT_TRUE(open(window, "runs"));
  EXPECT_FALSE(open(window, "collect"));
  press(window, Qt::Key_F8);
  EXPECT_TRUE(open(window, "collect"));
  press(window, Qt::Key_F7);
  EXPECT_FALSE(open(window, "runs"));
  EXPECT_EQ(window.view_modes().strip().actions().size(), 3);
}

TEST_F(ViewModesTest, APresentersViewHasNoPanelsAndGivesThemBack) {
  MainWindow window(false);
  window.resize(1440, 900);
  window.show();
  window.activateWindow();
  settle();
  press(window, Qt::Key_F8);
  ASSERT_TRUE(open(window, "runs"));
  ASSERT_TRUE(open(window, "collect"));
  ASSERT_FALSE(open(window, "details"));
  press(window, Qt::Key_F11);
  EXPECT_TRUE(window.isFullScreen());
  EXPECT_FALSE(open(window, "runs"));
  EXPECT_FALSE(window.menuBar()->isVisible());
  EXPECT_FALSE(window.statusBar()->isVisible());
  EXPECT_FALSE(window.view_modes().strip().isVisible());
  press(window, Qt::Key_2, Qt::ControlModifier);
  EXPECT_TRUE(window.page(QStringLiteral("tiles"))->isVisible()) << "the menu's keys hold without the menu";
  press(window, Qt::Key_Escape);
  EXPECT_FALSE(window.isFullScreen());
  EXPECT_TRUE(open(window, "runs"));
  EXPECT_TRUE(open(window, "collect"));
  EXPECT_FALSE(open(window, "details")) << "it was folded before";
  EXPECT_TRUE(window.menuBar()->isVisible());
}

TEST_F(ViewModesTest, APresentersViewIsReadInTheLastRow) {
  MainWindow window(false);
  window.resize(1440, 900);
  window.show();
  window.activateWindow();
  ASSERT_EQ(window.workspace().open_now(file), QString());
  settle();
  const IoPlot& plot = *page_of<IoCurvePage>(window).plot();
  const auto mark = [&] { return plot.graph(0)->scatterStyle().size(); };
  const auto metric = [&](QStyle::PixelMetric of) { return window.style()->pixelMetric(of, nullptr, &window); };
  const int own_box = metric(QStyle::PM_IndicatorWidth);
  const int own_handle = metric(QStyle::PM_SliderLength);
  window.banner().add(Banner::Topic::sample, "of a sample");
  ASSERT_TRUE(window.banner().isVisible());
  const double own_mark = mark();
  window.view_modes().set_presenting(true);
  settle();
  const double lines = window.height() / QFontMetricsF(QApplication::font()).height();
  EXPECT_NEAR(lines, 36, 1.5) << "as many as on a slide";
  const double larger = QApplication::font().pointSizeF() / before.pointSizeF();
  ASSERT_GT(larger, 1.3);
  EXPECT_NEAR(plot.font().pointSizeF() / before.pointSizeF(), larger, 1e-9);
  EXPECT_NEAR(plot.xAxis->tickLabelFont().pointSizeF() / before.pointSizeF(), larger, 1e-9);
  EXPECT_NEAR(mark() / own_mark, larger, 1e-9);
  EXPECT_EQ(metric(QStyle::PM_IndicatorWidth), qRound(own_box * larger));
  EXPECT_EQ(metric(QStyle::PM_SliderLength), qRound(own_handle * larger));
  EXPECT_FALSE(window.banner().isVisible());
  EXPECT_EQ(window.view_modes().text_scale(), 1) << "what was chosen is kept, not what is presented";
  window.view_modes().set_presenting(false);
  settle();
  EXPECT_NEAR(QApplication::font().pointSizeF(), before.pointSizeF(), 1e-9);
  EXPECT_NEAR(mark(), own_mark, 1e-9);
  EXPECT_EQ(metric(QStyle::PM_IndicatorWidth), own_box);
  EXPECT_TRUE(window.banner().isVisible());
}

TEST_F(ViewModesTest, TextGrowsAndShrinksWithinBounds) {
  MainWindow window(false);
  window.show();
  window.activateWindow();
  settle();
  const double own = before.pointSizeF();
  press(window, Qt::Key_Plus, Qt::ControlModifier);
  EXPECT_NEAR(QApplication::font().pointSizeF() / own, 1.15, 1e-9);
  EXPECT_NEAR(page_of<IoCurvePage>(window).plot()->font().pointSizeF() / own, 1.15, 1e-9) << "plots follow";
  for (const auto* chip : page_of<IoCurvePage>(window).findChildren<QToolButton*>()) {
    EXPECT_NEAR(chip->font().pointSizeF() / own, 1.15, 0.02) << chip->text().toStdString();
  }
  press(window, Qt::Key_0, Qt::ControlModifier);
  EXPECT_NEAR(QApplication::font().pointSizeF(), own, 1e-9);
  window.view_modes().set_text_scale(100);
  EXPECT_EQ(window.view_modes().text_scale(), ViewModes::most_scale);
  window.view_modes().set_text_scale(0.01);
  EXPECT_EQ(window.view_modes().text_scale(), ViewModes::least_scale);
  window.view_modes().set_text_scale(std::numeric_limits<double>::quiet_NaN());
  EXPECT_EQ(window.view_modes().text_scale(), 1);
}

}  // namespace
}  // namespace attnscope::ui
