// SPDX-License-Identifier: GPL-3.0-or-later
// Accessibility: descriptions of plots, and large text.
#include <gtest/gtest.h>

#include <QAbstractButton>
#include <QAccessible>
#include <QSignalSpy>
#include <QTableView>
#include <QTest>

#include "tests/ui/window_test.h"
#include "ui/pages/curves/io_curve_page.h"
#include "ui/pages/page.h"
#include "ui/pages/roofline/roofline_page.h"
#include "ui/pages/tiles/tile_heatmap_page.h"
#include "ui/plots/heatmap_view.h"
#include "ui/text/format.h"
#include "ui/text/qtext.h"

namespace attnscope::ui {
namespace {

class AccessibilityTest : public WindowTest {
 protected:
  void TearDown() override { QApplication::setFont(before); }
  QFont before = QApplication::font();
};

TEST_F(AccessibilityTest, PlotsDescribeTheSelection) {
  MainWindow window(false);
  window.resize(1280, 800);
  window.show();
  ASSERT_EQ(window.workspace().open_blocking(file), QString());
  for (const char* id : {"io", "roofline"}) {
    window.show_page(QString::fromLatin1(id));
    wait_until_idle();
    Page& page = *window.page(QString::fromLatin1(id));
    page.wait_until_idle();
    QWidget& plot = *page.view();
    QTest::keyClick(&plot, Qt::Key_Right);
    const QString first = plot.accessibleDescription();
    EXPECT_TRUE(first.contains(QStringLiteral("256")) || first.contains(QStringLiteral("N ")))
        << id << first.toStdString();
    QTest::keyClick(&plot, Qt::Key_Right);
    QTest::keyClick(&plot, Qt::Key_Right);
    EXPECT_NE(plot.accessibleDescription(), first) << id;
    EXPECT_FALSE(plot.accessibleName().isEmpty()) << id;
  }
  window.show_page(QStringLiteral("tiles"));
  wait_until_idle();
  auto& map = *page_of<TileHeatmapPage>(window).heatmap();
  ASSERT_FALSE(map.map().empty());
  map.select(map.initial_cell());
  EXPECT_EQ(map.accessibleDescription(), display_text(map.describe_cell(map.initial_cell())));
  EXPECT_FALSE(map.accessibleDescription().isEmpty());
}

TEST_F(AccessibilityTest, PlotsAreChartsWithNameValueAndSelection) {
  MainWindow window(false);
  window.resize(1280, 800);
  window.show();
  ASSERT_EQ(window.workspace().open_blocking(file), QString());
  for (const char* id : {"io", "roofline", "tiles", "law"}) {
    window.show_page(QString::fromLatin1(id));
    wait_until_idle();
    Page& page = *window.page(QString::fromLatin1(id));
    page.wait_until_idle();
    if (!page.has_plot()) continue;  // the sample has no law
    QWidget& plot =
        qobject_cast<TileHeatmapPage*>(&page) != nullptr ? *page_of<TileHeatmapPage>(window).heatmap() : *page.view();
    QAccessibleInterface* chart = QAccessible::queryAccessibleInterface(&plot);
    ASSERT_NE(chart, nullptr) << id;
    EXPECT_EQ(chart->role(), QAccessible::Chart) << id;
    EXPECT_FALSE(chart->text(QAccessible::Name).isEmpty()) << id;
    if (const auto* map = qobject_cast<HeatmapView*>(&plot)) {
      EXPECT_EQ(chart->text(QAccessible::Name), map->title().headline);
    } else {
      const auto& points = static_cast<PointPlot&>(plot);
      EXPECT_EQ(chart->text(QAccessible::Name), points.headline().isEmpty() ? points.title() : points.headline()) << id;
    }
    plot.setFocus();
    QTest::keyClick(&plot, Qt::Key_Right);
    const QString value = chart->text(QAccessible::Value);
    EXPECT_FALSE(value.isEmpty()) << id;
    QSignalSpy selected(&page, &Page::point_selected);
    ASSERT_NE(chart->actionInterface(), nullptr);
    chart->actionInterface()->doAction(QAccessibleActionInterface::pressAction());
    EXPECT_EQ(selected.count(), 1) << id;
    EXPECT_EQ(chart->text(QAccessible::Value), value) << id << ": the selected mark is that of the cursor";
  }
}

TEST_F(AccessibilityTest, CtrlTShowsTheTableOfThePlot) {
  MainWindow window(false);
  window.resize(1280, 800);
  window.show();
  window.activateWindow();
  ASSERT_EQ(window.workspace().open_blocking(file), QString());
  window.show_page(QStringLiteral("tiles"));
  wait_until_idle();
  trigger(window, QKeySequence(QStringLiteral("Ctrl+T")));
  const auto* table = window.findChild<QTableView*>(QStringLiteral("plot-table"));
  ASSERT_NE(table, nullptr);
  EXPECT_TRUE(table->isVisible());
  const ShownValues values = page_of<TileHeatmapPage>(window).values();
  const QAbstractItemModel& model = *table->model();
  ASSERT_EQ(model.rowCount(), static_cast<int>(values.lines.size()));
  for (int row = 0; row < model.rowCount(); ++row) {
    for (int column = 0; column < model.columnCount(); ++column) {
      EXPECT_EQ(model.index(row, column).data().toString(), values.lines[static_cast<std::size_t>(row)][column]);
    }
  }
}

// WCAG 2.2: text 4.5:1, borders of controls and marks 3:1.
TEST_F(AccessibilityTest, ControlsHaveContrast) {
  const auto contrast = [](const QColor& a, const QColor& b) {
    return style::contrast_ratio(a.rgb() & RGB_MASK, b.rgb() & RGB_MASK);
  };
  for (const ThemeChoice theme : {ThemeChoice::light, ThemeChoice::dark, ThemeChoice::contrast}) {
    apply_theme(theme);
    const QPalette palette = QApplication::palette();
    const std::pair<QPalette::ColorRole, QPalette::ColorRole> texts[] = {
        {QPalette::WindowText, QPalette::Window},         {QPalette::Text, QPalette::Base},
        {QPalette::Text, QPalette::AlternateBase},        {QPalette::ButtonText, QPalette::Button},
        {QPalette::HighlightedText, QPalette::Highlight}, {QPalette::ToolTipText, QPalette::ToolTipBase},
        {QPalette::PlaceholderText, QPalette::Base},      {QPalette::Link, QPalette::Base}};
    for (const auto& [text, ground] : texts) {
      EXPECT_GE(contrast(palette.color(text), palette.color(ground)), 4.5)
          << to_string(theme).toStdString() << ": " << text << " on " << ground;
    }
    const PlotColors colors = plot_colors(palette);
    for (const QPalette::ColorRole ground : {QPalette::Window, QPalette::Base}) {
      EXPECT_GE(contrast(colors.axis, palette.color(ground)), 3) << to_string(theme).toStdString();
      EXPECT_GE(contrast(palette.color(QPalette::Highlight), palette.color(ground)), 3)
          << to_string(theme).toStdString();
    }
  }
  apply_theme(ThemeChoice::light);
}

TEST_F(AccessibilityTest, LargeTextFits) {
  MainWindow window(false);
  window.resize(1280, 800);
  window.show();
  ASSERT_EQ(window.workspace().open_blocking(file), QString());
  set_text_scale(2);
  for (const PageKind& kind : page_kinds()) {
    window.show_page(to_qstring(kind.id));
    wait_until_idle();
    EXPECT_LE(window.width(), 1280) << kind.id;
    EXPECT_LE(window.height(), 800) << kind.id;
    for (const auto* button : window.findChildren<QAbstractButton*>()) {
      if (!button->isVisible() || button->text().isEmpty()) continue;
      EXPECT_GE(button->height(), button->fontMetrics().height()) << kind.id << ": " << button->text().toStdString();
    }
  }
}

}  // namespace
}  // namespace attnscope::ui
