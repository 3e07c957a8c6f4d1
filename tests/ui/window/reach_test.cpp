// SPDX-License-Identifier: GPL-3.0-or-later
// That everybody reaches everything: names for who hears the window, contrast for who sees it badly, sizes for who has
// a small screen or large text.
#include <gtest/gtest.h>

#include <QAbstractButton>
#include <QAccessible>
#include <QAction>
#include <QDialog>
#include <QDockWidget>
#include <QScrollBar>
#include <QTest>
#include <QTextBrowser>
#include <algorithm>
#include <cmath>

#include "kernels/registry.h"
#include "messages/window.h"
#include "tests/ui/window_test.h"
#include "ui/pages/io_curve_page.h"
#include "ui/pages/page_list.h"
#include "ui/pages/roofline_page.h"
#include "ui/pages/tile_heatmap_page.h"
#include "ui/plots/heatmap_view.h"
#include "ui/plots/roofline_plot.h"
#include "ui/text/format.h"
#include "ui/text/qtext.h"
#include "ui/window/help.h"
#include "ui/window/view_modes.h"

namespace attnscope::ui {
namespace {

/// WCAG's contrast of two colours, 1 to 21.
double contrast_of(const QColor& a, const QColor& b) {
  const auto luminance = [](const QColor& color) {
    const auto linear = [](double channel) {
      return channel <= 0.03928 ? channel / 12.92 : std::pow((channel + 0.055) / 1.055, 2.4);
    };
    return 0.2126 * linear(color.redF()) + 0.7152 * linear(color.greenF()) + 0.0722 * linear(color.blueF());
  };
  const auto [low, high] = std::minmax(luminance(a), luminance(b));
  return (high + 0.05) / (low + 0.05);
}

TEST(Contrast, HighContrastIsHighOfEveryRole) {
  apply_theme(ThemeChoice::contrast);
  const QPalette palette = QApplication::palette();
  using enum QPalette::ColorRole;
  const std::pair<QPalette::ColorRole, QPalette::ColorRole> texts[] = {{WindowText, Window},
                                                                       {Text, Base},
                                                                       {Text, AlternateBase},
                                                                       {ButtonText, Button},
                                                                       {Link, Base},
                                                                       {ToolTipText, ToolTipBase},
                                                                       {HighlightedText, Highlight},
                                                                       {PlaceholderText, Base},
                                                                       {BrightText, Window}};
  for (const QPalette::ColorGroup group : {QPalette::Active, QPalette::Inactive, QPalette::Disabled}) {
    for (const auto& [ink, ground] : texts) {
      EXPECT_GE(contrast_of(palette.color(group, ink), palette.color(group, ground)), 7) << group << ' ' << ink;
    }
  }
  EXPECT_GE(contrast_of(palette.color(Highlight), palette.color(Base)), 3) << "the frame of what has the focus";
  const PlotColors colors = plot_colors(palette);
  for (const QColor& ink : {colors.text, colors.muted, colors.wrong}) {
    EXPECT_GE(contrast_of(ink, colors.background), 7) << ink.name().toStdString();
    EXPECT_GE(contrast_of(ink, colors.panel), 7) << ink.name().toStdString();
  }
  for (const QColor& line : {colors.axis, colors.grid, colors.hatch, colors.accent}) {
    EXPECT_GE(contrast_of(line, colors.background), 3) << line.name().toStdString();
  }
  ASSERT_TRUE(colors.dark);
  for (const Algorithm* algorithm : known_algorithms().algorithms()) {
    EXPECT_GE(contrast_of(algorithm_color(algorithm->name(), true), colors.background), 3) << algorithm->name();
  }
  for (std::size_t place = 0; place < category_colors; ++place) {
    EXPECT_GE(contrast_of(category_color(place, true), colors.background), 3) << place;
  }
  for (const Disposition end : {Disposition::ok, Disposition::infeasible, Disposition::no_counters,
                                Disposition::out_of_memory, Disposition::crashed}) {
    EXPECT_GE(contrast_of(disposition_color(end, true), colors.background), 7) << to_string(end);
  }
  EXPECT_EQ(parse_theme(to_string(ThemeChoice::contrast)), ThemeChoice::contrast);
}

class ReachTest : public WindowTest {
 protected:
  void TearDown() override { QApplication::setFont(before); }
  static std::string described(const QWidget& widget) {
    std::string all;
    for (const QWidget* each = &widget; each != nullptr; each = each->parentWidget()) {
      all += std::string(each->metaObject()->className()) + "(" + each->objectName().toStdString() + ") < ";
    }
    return all;
  }
  QFont before = QApplication::font();
};

TEST_F(ReachTest, WhatCanHaveTheFocusHasAName) {
  MainWindow window(false);
  window.resize(1600, 1000);
  window.show();
  ASSERT_EQ(window.workspace().open_now(file), QString());
  for (auto* dock : window.findChildren<QDockWidget*>()) dock->show();
  for (const PageKind& kind : page_kinds()) {
    window.show_page(to_qstring(kind.id));
    settle();
    int seen = 0;
    for (const auto* widget : window.findChildren<QWidget*>()) {
      if (!widget->isVisible() || (widget->focusPolicy() & Qt::TabFocus) == 0) continue;
      if (widget->objectName().startsWith(QLatin1String("qt_"))) continue;  // a part of one that has a name
      const auto* parent = widget->parentWidget();
      if (parent != nullptr && parent->focusProxy() == widget) continue;
      QAccessibleInterface* reader = QAccessible::queryAccessibleInterface(const_cast<QWidget*>(widget));
      ASSERT_NE(reader, nullptr);
      EXPECT_FALSE(reader->text(QAccessible::Name).isEmpty()) << kind.id << ": " << described(*widget);
      ++seen;
    }
    EXPECT_GT(seen, 5) << kind.id;
  }
}

TEST_F(ReachTest, PlotsSayWhatIsSelectedInThem) {
  MainWindow window(false);
  window.resize(1280, 800);
  window.show();
  ASSERT_EQ(window.workspace().open_now(file), QString());
  for (const char* id : {"io", "roofline"}) {
    window.show_page(QString::fromLatin1(id));
    settle();
    Page& page = *window.page(QString::fromLatin1(id));
    page.settle();
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
  settle();
  auto& map = *page_of<TileHeatmapPage>(window).heatmap();
  ASSERT_FALSE(map.grid().empty());
  map.select(map.landmark());
  EXPECT_EQ(map.accessibleDescription(), words_of(map.describe_cell(map.landmark())));
  EXPECT_FALSE(map.accessibleDescription().isEmpty());
}

TEST_F(ReachTest, TheShortcutsFitASmallScreen) {
  MainWindow window(false);
  window.resize(1024, 600);
  window.show();
  for (QAction* action : window.findChildren<QAction*>()) {
    if (action->text() == qtext(say::window::shortcuts{})) action->trigger();
  }
  auto* dialog = window.findChild<QDialog*>(QStringLiteral("shortcuts"));
  ASSERT_NE(dialog, nullptr);
  settle();
  EXPECT_LE(dialog->height(), 560);
  EXPECT_LE(dialog->width(), 1024);
  const auto* text = dialog->findChild<QTextBrowser*>();
  EXPECT_EQ(text->verticalScrollBar()->maximum(), 0);
  EXPECT_EQ(text->horizontalScrollBar()->maximum(), 0);
  EXPECT_TRUE(text->toPlainText().contains(QStringLiteral("Ctrl+9")));
}

TEST_F(ReachTest, NoPanelWidensASmallWindow) {
  MainWindow window(false);
  window.resize(800, 600);
  window.show();
  ASSERT_EQ(window.workspace().open_now(file), QString());
  for (const char* panel : {"runs", "collect", "details"}) {
    auto* dock = window.findChild<QDockWidget*>(QString::fromLatin1(panel));
    dock->show();
    for (const PageKind& kind : page_kinds()) {
      window.show_page(to_qstring(kind.id));
      settle();
      EXPECT_LE(window.width(), 800) << panel << ' ' << kind.id;
      EXPECT_LE(window.height(), 600) << panel << ' ' << kind.id;
    }
    dock->hide();
  }
}

TEST_F(ReachTest, LargeTextIsNotCutOff) {
  MainWindow window(false);
  window.resize(1280, 800);
  window.show();
  ASSERT_EQ(window.workspace().open_now(file), QString());
  window.view_modes().set_text_scale(1.5);
  for (const PageKind& kind : page_kinds()) {
    window.show_page(to_qstring(kind.id));
    settle();
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
