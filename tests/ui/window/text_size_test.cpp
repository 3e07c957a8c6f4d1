// SPDX-License-Identifier: GPL-3.0-or-later
// Text size, panels, recent files and number editors.

#include <QAction>
#include <QDockWidget>
#include <QMenu>
#include <QMenuBar>
#include <QSettings>
#include <QSignalSpy>
#include <QSlider>
#include <QSpinBox>
#include <QStatusBar>
#include <QTest>
#include <QToolButton>
#include <limits>

#include "tests/ui/window_test.h"
#include "ui/pages/curves/io_curve_page.h"
#include "ui/widgets/number_editor.h"

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
  set_text_scale(100);
  EXPECT_EQ(text_scale(), max_text_scale);
  set_text_scale(0.01);
  EXPECT_EQ(text_scale(), min_text_scale);
  set_text_scale(std::numeric_limits<double>::quiet_NaN());
  EXPECT_EQ(text_scale(), 1);
}

TEST(RecentFilesMenu, ListsTheLastEightFilesOnce) {
  QSettings().remove(QStringLiteral("files/recent"));
  const auto menu_of = [](MainWindow& window) { return window.findChild<QMenu*>(QStringLiteral("recent")); };
  const auto paths = [&](MainWindow& window) {
    QStringList all;
    for (const QAction* action : menu_of(window)->actions()) all << action->statusTip();
    return all;
  };
  MainWindow window(true);
  EXPECT_FALSE(menu_of(window)->isEnabled());
  QStringList expected;
  for (int i = 1; i <= 9; ++i) {
    const QString path = QStringLiteral("/a/%1.attnscope").arg(i);
    emit window.workspace().opened(path);
    expected.prepend(path);
  }
  expected.removeLast();
  EXPECT_EQ(paths(window), expected);
  emit window.workspace().opened(expected[3]);
  expected.move(3, 0);
  EXPECT_EQ(paths(window), expected);
  MainWindow next(true);
  EXPECT_EQ(paths(next), expected) << "saved";
  MainWindow another(false);
  EXPECT_TRUE(menu_of(another)->isEmpty());
  QSignalSpy failed(&window.workspace(), &Workspace::open_failed);
  menu_of(window)->actions()[1]->trigger();
  ASSERT_TRUE(failed.wait());
  EXPECT_EQ(failed[0][0].toString(), expected[1]);
  QSettings().remove(QStringLiteral("files/recent"));
}

TEST(NumberEditors, StepAlongTheirStops) {
  EXPECT_EQ(slider_stops(3, 17), (std::vector{3, 4, 6, 8, 12, 16, 17}));
  EXPECT_EQ(slider_stops(1, 1), std::vector{1});
  QWidget parent;
  NumberEditor editor(QStringLiteral("n"), 1, 200, 1, {16, 32, 64, 128}, &parent);
  editor.set_stops({16, 32, 64, 128}, true);
  struct Step {
    int from;
    int steps;
    int to;
  };
  for (const Step& step : {Step{64, 1, 128}, Step{64, -1, 32}, Step{128, 1, 128}, Step{16, -1, 16}, Step{70, 1, 128},
                           Step{70, -1, 64}, Step{16, 2, 64}, Step{1, 1, 16}, Step{200, -1, 128}}) {
    editor.spin()->setValue(step.from);
    editor.spin()->stepBy(step.steps);
    EXPECT_EQ(editor.spin()->value(), step.to) << step.from << " " << step.steps;
  }
  // The slider shows the nearest stop, and the larger one of two at equal distance.
  for (const auto& [value, place] : {std::pair(1, 0), {23, 0}, {24, 1}, {25, 1}, {95, 2}, {96, 3}, {200, 3}}) {
    editor.show_value(value);
    EXPECT_EQ(editor.slider()->value(), place) << value;
  }
  QSignalSpy chosen(&editor, &NumberEditor::value_chosen);
  editor.slider()->setValue(1);
  EXPECT_EQ(editor.spin()->value(), 32);
  ASSERT_EQ(chosen.size(), 1);
  EXPECT_EQ(chosen[0][0].toInt(), 32);
}

}  // namespace
}  // namespace attnscope::ui
