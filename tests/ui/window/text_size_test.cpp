// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/window/text_size.h"

#include <QAction>
#include <QDockWidget>
#include <QMenuBar>
#include <QStatusBar>
#include <QTest>
#include <QToolButton>
#include <limits>

#include "tests/ui/window_test.h"
#include "ui/pages/curves/io_curve_page.h"

namespace attnscope::ui {
namespace {

class TextSizeTest : public WindowTest {
 protected:
  static bool open(const MainWindow& window, const char* panel) {
    const auto* dock = window.findChild<QDockWidget*>(QString::fromLatin1(panel));
    return dock != nullptr && dock->isVisible();
  }
  static void press(MainWindow& window, Qt::Key key, Qt::KeyboardModifiers modifiers = Qt::NoModifier) {
    QTest::keyClick(&window, key, modifiers);
    wait_until_idle();
  }
  void TearDown() override { QApplication::setFont(before); }
  QFont before = QApplication::font();
};

TEST_F(TextSizeTest, KeysTogglePanels) {
  MainWindow window(false);
  window.resize(1024, 600);
  window.show();
  window.activateWindow();
  wait_until_idle();
  press(window, Qt::Key_F7);
  EXPECT_TRUE(open(window, "runs"));
  EXPECT_FALSE(open(window, "collect"));
  press(window, Qt::Key_F8);
  EXPECT_TRUE(open(window, "collect"));
  press(window, Qt::Key_F7);
  EXPECT_FALSE(open(window, "runs"));
}

TEST_F(TextSizeTest, TextSizeHasLimits) {
  MainWindow window(false);
  window.show();
  window.activateWindow();
  wait_until_idle();
  const double own = before.pointSizeF();
  press(window, Qt::Key_Plus, Qt::ControlModifier);
  EXPECT_NEAR(QApplication::font().pointSizeF() / own, 1.15, 1e-9);
  EXPECT_NEAR(page_of<IoCurvePage>(window).plot()->font().pointSizeF() / own, 1.15, 1e-9) << "plots, too";
  for (const auto* chip : page_of<IoCurvePage>(window).findChildren<QToolButton*>()) {
    EXPECT_NEAR(chip->font().pointSizeF() / own, 1.15, 0.02) << chip->text().toStdString();
  }
  press(window, Qt::Key_0, Qt::ControlModifier);
  EXPECT_NEAR(QApplication::font().pointSizeF(), own, 1e-9);
  window.text_size().set_scale(100);
  EXPECT_EQ(window.text_size().scale(), TextSize::max_scale);
  window.text_size().set_scale(0.01);
  EXPECT_EQ(window.text_size().scale(), TextSize::min_scale);
  window.text_size().set_scale(std::numeric_limits<double>::quiet_NaN());
  EXPECT_EQ(window.text_size().scale(), 1);
}

}  // namespace
}  // namespace attnscope::ui
