// SPDX-License-Identifier: GPL-3.0-or-later
#include <gtest/gtest.h>

#include <QJsonObject>
#include <QMenu>
#include <QTest>
#include <algorithm>

#include "messages/facet_help.h"
#include "messages/field.h"
#include "tests/ui/window_test.h"
#include "ui/pages/curves/io_curve_page.h"
#include "ui/pages/facet_chip.h"
#include "ui/pages/problem_page.h"

namespace attnscope::ui {
namespace {

class FacetBarTest : public WindowTest {
 protected:
  static FacetChip& chip(const ProblemPage& page, const QString& label) {
    const auto& chips = page.findChild<FacetBar*>()->chips();
    const auto found =
        std::find_if(chips.begin(), chips.end(), [&](const FacetChip* each) { return each->label() == label; });
    if (found == chips.end()) throw std::runtime_error("no such chip");
    return **found;
  }
};

TEST_F(FacetBarTest, ChipShowsItsFacetAndValues) {
  std::vector<PointRecord> records = fixtures::memory_wall();
  for (const std::int64_t n : {512, 1024}) records.push_back(fixtures::ok_point(fixtures::spec("fa2", n, 128, 64, 64)));
  PointRecord causal = fixtures::ok_point(fixtures::spec("fa2", 2048));
  causal.spec.problem.mask = Mask::causal;
  records.push_back(causal);
  const QString path = folder.filePath("chips.attnscope");
  fixtures::write_file(path, {{"custom", records, false}});
  Workspace workspace;
  IoCurvePage page(workspace);
  page.resize(1000, 700);
  page.show();
  ASSERT_EQ(workspace.open_blocking(path), QString());
  wait_until_idle();

  FacetChip& d = chip(page, "d");
  EXPECT_EQ(d.text(), "d 128");
  EXPECT_EQ(d.accessibleName(), "d");
  EXPECT_TRUE(d.isEnabled());
  EXPECT_TRUE(d.toolTip().contains(qtext(msg::facet_help::d{})));
  emit d.menu()->aboutToShow();
  ASSERT_EQ(d.menu()->actions().size(), 2);
  EXPECT_EQ(d.menu()->actions()[0]->text(), "64");
  EXPECT_FALSE(d.menu()->actions()[0]->isChecked());
  EXPECT_TRUE(d.menu()->actions()[1]->isChecked());
  FacetChip& mask = chip(page, qtext(msg::field::mask{}));
  EXPECT_TRUE(mask.isEnabled());

  const QRect before = mask.geometry();
  d.menu()->actions()[0]->trigger();
  EXPECT_EQ(d.text(), "d 64");
  EXPECT_TRUE(page.curves().title.contains("d 64")) << page.curves().title.toStdString();
  // At d 64 all points have the full mask: the chip still offers the causal one.
  EXPECT_TRUE(mask.isVisible());
  EXPECT_TRUE(mask.isEnabled());
  EXPECT_EQ(mask.text(), qtext(msg::field::mask{}) + " full");
  EXPECT_EQ(mask.geometry(), before);
  // Arrow keys step through the values.
  QTest::keyClick(&d, Qt::Key_Down);
  EXPECT_EQ(d.text(), "d 128");
  QTest::keyClick(&d, Qt::Key_Down);
  EXPECT_EQ(d.text(), "d 128") << "the last value";
  QTest::keyClick(&d, Qt::Key_Up);
  EXPECT_EQ(d.text(), "d 64");
  QTest::keyClick(&d, Qt::Key_Return);
  EXPECT_TRUE(d.menu()->isVisible());
  d.menu()->close();
}

TEST_F(FacetBarTest, SwitchShowsItsOptionsSideBySide) {
  Workspace workspace;
  IoCurvePage page(workspace);
  page.resize(1000, 700);
  page.show();
  ASSERT_EQ(workspace.open_blocking(file), QString());
  wait_until_idle();
  auto* levels = page.findChild<SegmentedChip*>();
  ASSERT_NE(levels, nullptr);
  const auto level = [&] { return page.state()["level"].toString(); };
  EXPECT_EQ(level(), "dram");
  QTest::mouseClick(levels, Qt::LeftButton, Qt::NoModifier, QPoint(levels->width() - 10, levels->height() / 2));
  EXPECT_EQ(level(), "sm_l2");
  QTest::mouseClick(levels, Qt::RightButton, Qt::NoModifier, QPoint(10, levels->height() / 2));
  EXPECT_EQ(level(), "sm_l2");
  levels->setFocus();
  QTest::keyClick(levels, Qt::Key_Left);
  EXPECT_EQ(level(), "dram");
}

}  // namespace
}  // namespace attnscope::ui
