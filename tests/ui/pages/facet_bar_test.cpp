// SPDX-License-Identifier: GPL-3.0-or-later
#include <gtest/gtest.h>

#include <QMenu>
#include <QSignalSpy>
#include <QTest>
#include <algorithm>
#include <map>

#include "tests/ui/window_test.h"
#include "ui/pages/facet_bar.h"
#include "ui/pages/io_curve_page.h"
#include "ui/pages/law_page.h"
#include "ui/pages/tile_heatmap_page.h"
#include "ui/runs/samples.h"

namespace attnscope::ui {
namespace {

class FacetBarTest : public WindowTest {
 protected:
  /// Where all that stands in the row is, and what of it is shown.
  static std::map<QString, QRect> places(const ProblemPage& page) {
    std::map<QString, QRect> all;
    const auto* bar = page.findChild<FacetBar*>();
    int nth = 0;
    for (const QWidget* widget : bar->findChildren<QWidget*>(QString(), Qt::FindDirectChildrenOnly)) {
      const auto* chip = qobject_cast<const FacetChip*>(widget);
      const QString name = chip != nullptr ? chip->label() : QStringLiteral("other %1").arg(nth);
      ++nth;
      if (widget->isVisibleTo(bar)) all[name] = widget->geometry();
    }
    return all;
  }
  static FacetChip& chip(const ProblemPage& page, const QString& label) {
    const auto& chips = page.findChild<FacetBar*>()->chips();
    const auto found =
        std::find_if(chips.begin(), chips.end(), [&](const FacetChip* each) { return each->label() == label; });
    if (found == chips.end()) throw std::runtime_error("no such chip");
    return **found;
  }
  /// Chooses every value of every chip in turn, as the user would; nothing may move.
  static void try_all(ProblemPage& page, int& choices) {
    const std::map<QString, QRect> before = places(page);
    ASSERT_GE(before.size(), 4U);
    for (FacetChip* each : page.findChild<FacetBar*>()->chips()) {
      for (std::size_t i = 0; i < each->options().size(); ++i) {
        const QString id = each->options()[i].id;
        emit each->picked(id);
        settle();
        ++choices;
        ASSERT_EQ(places(page), before) << each->label().toStdString() << " " << id.toStdString();
      }
    }
  }
};

TEST_F(FacetBarTest, NothingMovesWhateverIsChosenOfTheSample) {
  const QString sample = recorded_sample();
  if (sample.isEmpty()) GTEST_SKIP() << "assets/samples/h200.attnscope is not there";
  MainWindow window(false);
  ASSERT_EQ(window.workspace().open_now(sample), QString());
  window.resize(1280, 800);
  window.show();
  int choices = 0;
  const std::map<QString, ProblemPage*> pages{{QStringLiteral("io"), &page_of<IoCurvePage>(window)},
                                              {QStringLiteral("tiles"), &page_of<TileHeatmapPage>(window)}};
  for (const auto& [id, page] : pages) {
    window.show_page(id);
    settle();
    ASSERT_NO_FATAL_FAILURE(try_all(*page, choices)) << id.toStdString();
  }
  EXPECT_GT(choices, 30);
}

TEST_F(FacetBarTest, WhatHasNoRoomInALowPageStandsInAMenu) {
  std::vector<PointRecord> records;
  for (const int d : {64, 128}) {
    for (const int heads : {8, 16}) {
      for (const char* mask : {"none", "causal"}) {
        for (const int tile : {32, 64, 128}) {
          for (const int bc : {32, 64, 128}) {
            PointRecord record = fixtures::ok_point(fixtures::spec("fa2", 2048, tile, bc, d));
            record.spec.problem.heads_q = record.spec.problem.heads_kv = heads;
            record.spec.problem.mask = *parse_mask(mask);
            records.push_back(std::move(record));
          }
        }
      }
    }
  }
  const QString path = folder.filePath("facets.attnscope");
  fixtures::write_file(path, {{"custom", records, false}});
  Workspace workspace;
  TileHeatmapPage page(workspace);
  page.resize(480, 560);
  page.show();
  ASSERT_EQ(workspace.open_now(path), QString());
  settle();
  const auto* bar = page.findChild<FacetBar*>();
  EXPECT_LE(bar->height(), bar->more()->sizeHint().height() + 4) << "one row";
  ASSERT_TRUE(bar->more()->isVisible());
  emit bar->more()->menu()->aboutToShow();
  QStringList offered;
  for (const QAction* action : bar->more()->menu()->actions()) offered << action->text();
  FacetChip* chosen = nullptr;
  for (FacetChip* each : bar->chips()) {
    if (!each->wanted()) continue;
    EXPECT_EQ(!each->isVisible(), offered.contains(each->text())) << each->text().toStdString();
    if (each->folded() && each->options().size() > 1) chosen = each;
  }
  ASSERT_NE(chosen, nullptr) << offered.join(", ").toStdString();
  emit chosen->menu()->aboutToShow();
  QAction* other = nullptr;
  for (QAction* action : chosen->menu()->actions()) {
    if (!action->isChecked()) other = action;
  }
  ASSERT_NE(other, nullptr);
  const QString wanted = other->text();
  other->trigger();
  settle();
  EXPECT_EQ(chosen->value(), wanted);
  page.resize(1600, 900);
  settle();
  EXPECT_TRUE(bar->more()->isVisible()) << "a heatmap has options";
  for (const FacetChip* each : bar->chips()) EXPECT_EQ(each->isVisible(), each->wanted()) << each->text().toStdString();
}

TEST_F(FacetBarTest, AChipShowsItsFacetAndOffersItsValues) {
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
  ASSERT_EQ(workspace.open_now(path), QString());
  settle();

  FacetChip& d = chip(page, "d");
  EXPECT_EQ(d.text(), "d 128");
  EXPECT_EQ(d.accessibleName(), "d");
  EXPECT_TRUE(d.isEnabled());
  EXPECT_TRUE(d.toolTip().contains("Head dimension"));
  emit d.menu()->aboutToShow();
  ASSERT_EQ(d.menu()->actions().size(), 2);
  EXPECT_EQ(d.menu()->actions()[0]->text(), "64");
  EXPECT_FALSE(d.menu()->actions()[0]->isChecked());
  EXPECT_TRUE(d.menu()->actions()[1]->isChecked());
  FacetChip& mask = chip(page, "Mask");
  EXPECT_TRUE(mask.isEnabled());

  const QRect before = mask.geometry();
  d.menu()->actions()[0]->trigger();
  EXPECT_EQ(d.text(), "d 64");
  EXPECT_TRUE(page.curves().title.contains("d 64")) << page.curves().title.toStdString();
  // At d 64 nothing is causal: what is left is said, and cannot be chosen.
  EXPECT_TRUE(mask.isVisible());
  EXPECT_FALSE(mask.isEnabled());
  EXPECT_EQ(mask.text(), "Mask full");
  EXPECT_EQ(mask.geometry(), before);
  // Keys step through the values, and open the menu.
  QTest::keyClick(&d, Qt::Key_Down);
  EXPECT_EQ(d.text(), "d 128");
  QTest::keyClick(&d, Qt::Key_Down);
  EXPECT_EQ(d.text(), "d 128") << "the last";
  QTest::keyClick(&d, Qt::Key_Up);
  EXPECT_EQ(d.text(), "d 64");
  QTest::keyClick(&d, Qt::Key_Return);
  EXPECT_TRUE(d.menu()->isVisible());
  d.menu()->close();
}

TEST_F(FacetBarTest, ALongValueIsCutAndStandsInTheTip) {
  std::vector<PointRecord> records = fixtures::memory_wall();
  PointRecord long_one = fixtures::ok_point(fixtures::spec("fa2", 2048));
  const std::string mask = "window:1000000:1000000";
  long_one.spec.problem.mask = *parse_mask(mask);
  records.push_back(long_one);
  const QString path = folder.filePath("long.attnscope");
  fixtures::write_file(path, {{"custom", records, false}});
  Workspace workspace;
  IoCurvePage page(workspace);
  page.resize(1000, 700);
  page.show();
  ASSERT_EQ(workspace.open_now(path), QString());
  page.choose("mask", QString::fromStdString(mask));
  settle();
  EXPECT_LT(chip(page, "Mask").width(), 260);
  EXPECT_TRUE(chip(page, "Mask").toolTip().contains(QString::fromStdString(mask)));
}

}  // namespace
}  // namespace attnscope::ui
