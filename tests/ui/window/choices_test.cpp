// SPDX-License-Identifier: GPL-3.0-or-later
// Choices of pages change only on request; a selected point is shown on every page.
#include <gtest/gtest.h>

#include <QDialog>
#include <QDockWidget>
#include <QJsonDocument>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QTest>
#include <QToolButton>
#include <algorithm>

#include "messages/empty_page.h"
#include "messages/field.h"
#include "messages/page.h"
#include "messages/window.h"
#include "tests/ui/window_test.h"
#include "ui/pages/curves/io_curve_page.h"
#include "ui/pages/points/points_page.h"
#include "ui/pages/problem_page.h"
#include "ui/pages/roofline/roofline_page.h"
#include "ui/pages/tiles/tile_heatmap_page.h"
#include "ui/panels/collect_panel.h"
#include "ui/panels/details_panel.h"
#include "ui/plots/heatmap_view.h"

namespace attnscope::ui {
namespace {

/// FA2 at d 128 with full and causal masks and four lengths, at d 64 with the full mask and three lengths.
std::vector<PointRecord> two_dimensions() {
  std::vector<PointRecord> records;
  for (const std::int64_t n : {512, 1024, 2048, 4096}) {
    for (const bool causal : {false, true}) {
      PointRecord record = fixtures::ok_point(fixtures::spec("fa2", n));
      if (causal) record.spec.problem.mask = Mask::causal;
      records.push_back(record);
    }
    if (n < 4096) records.push_back(fixtures::ok_point(fixtures::spec("fa2", n, 64, 64, 64)));
  }
  return records;
}

class ChoicesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    file = folder.filePath("choices.attnscope");
    fixtures::write_file(file, {{"custom", two_dimensions(), false}});
    window.resize(1280, 800);
    window.show();
    ASSERT_EQ(window.workspace().open_blocking(file), QString());
    wait_until_idle();
  }
  static FacetChip& chip(const Page& page, const QString& label) {
    const auto& chips = page.findChild<FacetBar*>()->chips();
    const auto found = std::ranges::find_if(chips, [&](const FacetChip* each) { return each->label() == label; });
    if (found == chips.end()) throw std::runtime_error("no such chip");
    return **found;
  }
  [[nodiscard]] IoCurvePage& curves() { return page_of<IoCurvePage>(window); }
  [[nodiscard]] QString mask() const { return qtext(msg::field::mask{}); }
  /// Chooses d 64 and the causal mask, which has no points, with the keyboard.
  void choose_absent() {
    QTest::keyClick(&chip(curves(), mask()), Qt::Key_Down);
    QTest::keyClick(&chip(curves(), "d"), Qt::Key_Up);
    wait_until_idle();
  }
  /// Follows the link to a target by the keyboard.
  static void follow_link(QLabel& label, const QString& target) {
    label.setFocus();
    const QString text = label.text();
    const qsizetype links_before = text.left(text.indexOf("href=\"" + target)).count("href=");
    for (qsizetype i = 0; i <= links_before; ++i) QTest::keyClick(&label, Qt::Key_Tab);
    QTest::keyClick(&label, Qt::Key_Return);
    wait_until_idle();
  }

  QTemporaryDir folder;
  QString file;
  MainWindow window{false};
};

TEST_F(ChoicesTest, ACombinationWithoutPointsStaysChosen) {
  ASSERT_TRUE(chip(curves(), "d").is_automatic());
  ASSERT_EQ(chip(curves(), "d").value(), "128");
  choose_absent();
  EXPECT_EQ(chip(curves(), "d").value(), "64");
  EXPECT_EQ(chip(curves(), mask()).value(), "causal");
  EXPECT_FALSE(chip(curves(), "d").is_automatic()) << "chosen by the user";
  EXPECT_FALSE(curves().has_plot());
  const QString text = curves().replacement_text();
  EXPECT_TRUE(text.contains("d 64, ")) << text.toStdString();
  EXPECT_TRUE(text.contains("causal")) << text.toStdString();
  // The nearest combinations change one field each.
  EXPECT_TRUE(text.contains("d 128&nbsp;")) << text.toStdString();
  EXPECT_TRUE(text.contains("full&nbsp;")) << text.toStdString();
  follow_link(*curves().findChild<EmptyState*>(), QStringLiteral("show:1"));
  EXPECT_TRUE(curves().has_plot());
  EXPECT_NE(chip(curves(), "d").value() == "64", chip(curves(), mask()).value() == "causal") << "one field changed";
}

TEST_F(ChoicesTest, MenusMarkOptionsWithoutPoints) {
  QTest::keyClick(&chip(curves(), "d"), Qt::Key_Up);
  emit chip(curves(), mask()).menu()->aboutToShow();
  const QList<QAction*> entries = chip(curves(), mask()).menu()->actions();
  ASSERT_EQ(entries.size(), 2);
  EXPECT_EQ(entries[0]->text(), "full");
  EXPECT_EQ(entries[1]->text(), qtext(msg::page::unavailable{.option = "causal"}));
}

TEST_F(ChoicesTest, CollectFillsTheForm) {
  choose_absent();
  follow_link(*curves().findChild<EmptyState*>(), QStringLiteral("collect"));
  auto* panel = window.findChild<CollectPanel*>();
  EXPECT_TRUE(panel->isVisible());
  const QStringList axes = panel->form().request().axes;
  EXPECT_TRUE(axes.contains("d=64")) << axes.join(' ').toStdString();
  EXPECT_TRUE(axes.contains("mask=causal")) << axes.join(' ').toStdString();
  EXPECT_EQ(panel->form().request().preset, "memory-wall");
}

TEST_F(ChoicesTest, AnotherFileMovesNoChoice) {
  QTest::keyClick(&chip(curves(), "d"), Qt::Key_Up);
  const QString other = folder.filePath("other.attnscope");
  fixtures::write_file(other, {{"memory-wall", fixtures::memory_wall(), false}});
  ASSERT_EQ(window.workspace().open_blocking(other), QString());
  wait_until_idle();
  EXPECT_EQ(chip(curves(), "d").value(), "64");
  window.workspace().close(file);
  wait_until_idle();
  EXPECT_EQ(chip(curves(), "d").value(), "64") << "without points, too";
  EXPECT_FALSE(curves().has_plot());
}

TEST_F(ChoicesTest, ResetViewMakesChoicesAutomatic) {
  choose_absent();
  ASSERT_FALSE(curves().has_plot());
  auto* reset = curves().findChild<QPushButton*>(QStringLiteral("reset-view"));
  ASSERT_NE(reset, nullptr);
  QTest::mouseClick(reset, Qt::LeftButton);
  wait_until_idle();
  EXPECT_TRUE(curves().has_plot());
  EXPECT_EQ(chip(curves(), "d").value(), "128");
  EXPECT_TRUE(chip(curves(), "d").is_automatic());
  EXPECT_TRUE(chip(curves(), mask()).is_automatic());
}

TEST_F(ChoicesTest, SavedChoicesWithoutPointsAreDroppedAtStart) {
  choose_absent();
  const QJsonObject absent = curves().state();
  MainWindow next(false);
  page_of<IoCurvePage>(next).restore(absent);
  ASSERT_EQ(next.workspace().open_blocking(file), QString());
  wait_until_idle();
  EXPECT_TRUE(page_of<IoCurvePage>(next).has_plot());
  EXPECT_EQ(chip(page_of<IoCurvePage>(next), "d").value(), "128");

  QTest::keyClick(&chip(curves(), mask()), Qt::Key_Up);
  ASSERT_TRUE(curves().has_plot());
  MainWindow other(false);
  page_of<IoCurvePage>(other).restore(curves().state());
  ASSERT_EQ(other.workspace().open_blocking(file), QString());
  wait_until_idle();
  EXPECT_EQ(chip(page_of<IoCurvePage>(other), "d").value(), "64") << "has points";
}

TEST_F(ChoicesTest, ASelectedPointIsShownOnEveryPage) {
  window.show_page(QStringLiteral("table"));
  wait_until_idle();
  auto& table = page_of<PointsPage>(window);
  table.wait_until_idle();
  const PointSet& points = *window.workspace().visible();
  Row wanted = 0;
  while (points[wanted].spec.problem.d != 64) ++wanted;
  table.mark(points[wanted]);
  auto* view = table.findChild<PlainTable*>();
  ASSERT_TRUE(view->currentIndex().isValid());
  const QRect cell = view->visualRect(view->currentIndex());
  view->clearSelection();
  view->setCurrentIndex({});
  QTest::mouseClick(view->viewport(), Qt::LeftButton, {}, cell.center());
  const auto* details = window.findChild<DetailsPanel*>();
  ASSERT_TRUE(details->point());
  const auto* selected = window.statusBar()->findChild<QLabel*>(QStringLiteral("selected-point"));
  ASSERT_NE(selected, nullptr);
  EXPECT_TRUE(selected->isVisible());
  EXPECT_TRUE(selected->toolTip().contains("64")) << selected->toolTip().toStdString();
  for (const char* id : {"io", "roofline"}) {
    window.show_page(QString::fromLatin1(id));
    wait_until_idle();
    Page& page = *window.page(QString::fromLatin1(id));
    page.wait_until_idle();
    EXPECT_TRUE(page.is_mark_shown()) << id;
    EXPECT_EQ(chip(page, "d").value(), "64") << id;
    auto* note = page.findChild<QLabel*>(QStringLiteral("followed"));
    EXPECT_TRUE(note->isVisible()) << id << ": the page says that it changed a choice";
    EXPECT_TRUE(note->text().contains("d 64")) << note->text().toStdString();
    EXPECT_EQ(details->point()->id, points.id(wanted)) << "Details stay";
    follow_link(*note, QStringLiteral("back"));
    EXPECT_EQ(chip(page, "d").value(), "128") << id;
    EXPECT_FALSE(note->isVisible()) << id;
  }
}

TEST_F(ChoicesTest, RooflineSwitchesToTheDeviceOfTheSelectedPoint) {
  const QString other = folder.filePath("other.attnscope");
  fixtures::write_file(other, {{.preset = "custom", .points = two_dimensions(), .gpu = "NVIDIA H100 SXM"}});
  ASSERT_EQ(window.workspace().open_blocking(other), QString());
  window.show_page(QStringLiteral("roofline"));
  wait_until_idle();
  auto& page = page_of<RooflinePage>(window);
  page.wait_until_idle();
  const QString before = page.shown().device;
  const PointSet& points = *window.workspace().visible();
  Row wanted = 0;
  while (points.run_of(wanted)->file != other) ++wanted;
  ASSERT_EQ(points[wanted].spec.problem.d, 128);
  page.mark(points[wanted]);
  wait_until_idle();
  EXPECT_NE(page.shown().device, before);
  EXPECT_TRUE(page.is_mark_shown());
  auto* note = page.findChild<QLabel*>(QStringLiteral("followed"));
  EXPECT_TRUE(note->isVisible());
  EXPECT_TRUE(note->text().contains(page.shown().device)) << note->text().toStdString();
  follow_link(*note, QStringLiteral("back"));
  EXPECT_EQ(page.shown().device, before);
}

TEST_F(ChoicesTest, ChangingTheLanguageKeepsAutomaticChoices) {
  const auto saved = [this] { return curves().state()[QStringLiteral("choices")].toObject(); };
  EXPECT_TRUE(saved().isEmpty()) << "all choices are automatic";
  for (QAction* action : window.findChildren<QAction*>()) {
    if (action->text().remove('&') == QStringLiteral("中文")) action->trigger();
  }
  EXPECT_EQ(saved()[QStringLiteral("d")].toString(), QStringLiteral("128"))
      << QJsonDocument(saved()).toJson().toStdString();
}

TEST_F(ChoicesTest, EveryContextMenuOffersExploreAndReset) {
  const PointSet& points = *window.workspace().visible();
  window.select(points[0]);
  for (const char* id : {"io", "roofline", "table"}) {
    window.show_page(QString::fromLatin1(id));
    wait_until_idle();
    Page& page = *window.page(QString::fromLatin1(id));
    page.wait_until_idle();
    QStringList texts;
    QObject::connect(&page, &Page::menu_opened, &page, [&](QMenu* menu) {
      for (const QAction* action : menu->actions()) texts << action->text();
      menu->deleteLater();
    });
    QContextMenuEvent event(QContextMenuEvent::Keyboard, QPoint(5, 5), page.mapToGlobal(QPoint(5, 5)));
    QApplication::sendEvent(&page, &event);
    EXPECT_TRUE(texts.contains(qtext(msg::window::explore{}))) << id << texts.join(',').toStdString();
    EXPECT_TRUE(texts.contains(qtext(msg::window::reset_view{}))) << id;
    page.disconnect(&page);
  }
}

}  // namespace
}  // namespace attnscope::ui
