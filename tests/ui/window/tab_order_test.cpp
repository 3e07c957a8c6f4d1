// SPDX-License-Identifier: GPL-3.0-or-later
// Window by keyboard, screen reader and size: Tab visits every control of all pages and dialogs, and no control is cut
// off at any window size.
#include <gtest/gtest.h>

#include <QAbstractButton>
#include <QAbstractSpinBox>
#include <QAccessible>
#include <QComboBox>
#include <QDialog>
#include <QDockWidget>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QScrollArea>
#include <QScrollBar>
#include <QStatusBar>
#include <QTableView>
#include <QTest>
#include <QTextBrowser>
#include <QToolBar>
#include <functional>
#include <map>
#include <memory>

#include "messages/window.h"
#include "tests/ui/window_test.h"
#include "ui/pages/facet_chip.h"
#include "ui/pages/page.h"
#include "ui/panels/import_dialog.h"
#include "ui/panels/report_dialog.h"
#include "ui/text/format.h"
#include "ui/text/qtext.h"
#include "ui/widgets/elided_label.h"
#include "ui/window/help.h"

namespace attnscope::ui {
namespace {

std::string path_of(const QWidget& widget) {
  std::string all;
  for (const QWidget* each = &widget; each != nullptr; each = each->parentWidget()) {
    all += std::string(each->metaObject()->className()) + "(" + each->objectName().toStdString() + ") < ";
  }
  return all;
}

QRect placed(const QWidget& widget, const QWidget& in) {
  return {widget.mapTo(&in, QPoint(0, 0)), widget.size()};
}

/// Visible part of the widget within all scroll areas.
QRect seen(const QWidget& widget, const QWidget& window) {
  QRect area = placed(widget, window);
  for (const QWidget* around = widget.parentWidget(); around != nullptr && around != &window;
       around = around->parentWidget()) {
    area &= placed(*around, window);
  }
  return area & window.rect();
}

std::string words_of(const QRect& rect) {
  return std::to_string(rect.width()) + "x" + std::to_string(rect.height()) + "+" + std::to_string(rect.x()) + "+" +
         std::to_string(rect.y());
}

QString name_of(QWidget& widget) {
  QAccessibleInterface* reader = QAccessible::queryAccessibleInterface(&widget);
  return reader == nullptr ? QString() : reader->text(QAccessible::Name);
}

/// Panel of a control; within a panel, Tab follows the reading order.
const QWidget* panel_of(const QWidget& widget) {
  for (const QWidget* each = widget.parentWidget(); each != nullptr; each = each->parentWidget()) {
    const bool panel = qobject_cast<const QDockWidget*>(each) != nullptr ||
                       qobject_cast<const Page*>(each) != nullptr || qobject_cast<const QToolBar*>(each) != nullptr ||
                       qobject_cast<const QDialog*>(each) != nullptr ||
                       qobject_cast<const QStatusBar*>(each) != nullptr;
    if (panel) return each;
  }
  return widget.window();
}

class TabOrderTest : public WindowTest {
 protected:
  void SetUp() override {
    WindowTest::SetUp();
    flash_ = QApplication::cursorFlashTime();
    QApplication::setCursorFlashTime(0);  // A blinking caret would look like a focus mark.
    qputenv("XDG_DATA_HOME", folder.path().toUtf8());
    qputenv("XDG_CONFIG_HOME", folder.path().toUtf8());
  }
  void TearDown() override {
    QApplication::setCursorFlashTime(flash_);
    apply_theme(ThemeChoice::light);
    qunsetenv("XDG_DATA_HOME");
    qunsetenv("XDG_CONFIG_HOME");
  }

  /// Presses Tab until it reaches the first widget again, and checks each stop.
  static int walk(QWidget& window, const std::string& where) {
    window.activateWindow();
    EXPECT_TRUE(QTest::qWaitForWindowActive(&window)) << where;
    wait_until_idle();
    constexpr int most = 300;
    std::vector<const QWidget*> stops;
    const QWidget* before = nullptr;
    std::map<const QWidget*, int> turns;
    bool round = false;
    for (int i = 0; i < most; ++i) {
      QWidget* const from = QApplication::focusWidget();
      QTest::keyClick(from == nullptr ? &window : from, Qt::Key_Tab);
      wait_until_idle();
      QWidget* const stop = QApplication::focusWidget();
      if (stop == nullptr) {
        ADD_FAILURE() << where << ": no focus after " << (from == nullptr ? "" : path_of(*from));
        break;
      }
      if (stop == before) continue;  // Still in the same widget, on its next link.
      round = !stops.empty() && stop == stops.front();
      if (round) break;
      if (std::ranges::find(stops, stop) != stops.end()) {
        ADD_FAILURE() << where << ": Tab does not return to the first stop, but to " << path_of(*stop);
        break;
      }
      stops.push_back(stop);
      look_at(*stop, before, window, turns, where);
      before = stop;
    }
    EXPECT_TRUE(round) << where;
    return static_cast<int>(stops.size());
  }

  static void look_at(QWidget& stop, const QWidget* before, QWidget& window, std::map<const QWidget*, int>& turns,
                      const std::string& where) {
    const auto location = [&] { return where + ": " + path_of(stop); };
    EXPECT_TRUE(stop.isVisible()) << location();
    EXPECT_FALSE(name_of(stop).isEmpty()) << "no name: " << location();
    const QRect area = seen(stop, window);
    EXPECT_FALSE(area.isEmpty()) << "not visible: " << location() << words_of(placed(stop, window));
    if (before != nullptr && panel_of(*before) == panel_of(stop)) {
      const QRect last = seen(*before, window);
      const bool up = area.bottom() < last.top() && area.left() < last.right();
      const bool back = area.right() < last.left() && std::abs(area.center().y() - last.center().y()) < 8;
      // The walk starts inside a panel and may return to it once.
      if (up || back) {
        EXPECT_LE(++turns[panel_of(stop)], 1)
            << "out of order: " << location() << words_of(area) << " after " << path_of(*before) << words_of(last);
      }
    }
    const QImage with = stop.grab().toImage();
    stop.clearFocus();
    wait_until_idle();
    const QImage without = stop.grab().toImage();
    stop.setFocus(Qt::TabFocusReason);
    wait_until_idle();
    EXPECT_NE(with, without) << "no focus mark: " << location();
    EXPECT_EQ(QApplication::focusWidget(), &stop) << location();
  }

  /// Checks that each control has room for its text.
  static int expect_whole(QWidget& window, const std::string& where) {
    int sampled_rows = 0;
    for (auto* widget : window.findChildren<QWidget*>()) {
      const bool control = qobject_cast<QAbstractButton*>(widget) != nullptr ||
                           qobject_cast<QLineEdit*>(widget) != nullptr || qobject_cast<QComboBox*>(widget) != nullptr ||
                           qobject_cast<QLabel*>(widget) != nullptr ||
                           qobject_cast<QAbstractSpinBox*>(widget) != nullptr;
      if (!control || !widget->isVisible() || widget->objectName().startsWith(QLatin1String("qt_"))) continue;
      if (widget->window() != &window) continue;
      expect_inside(*widget, window, where);
      expect_text_fits(*widget, where);
      ++sampled_rows;
    }
    return sampled_rows;
  }

  /// Checks that the widget is inside every parent that does not scroll.
  static void expect_inside(const QWidget& widget, const QWidget& window, const std::string& where) {
    for (const QWidget* around = widget.parentWidget(); around != nullptr; around = around->parentWidget()) {
      const auto* area = qobject_cast<const QAbstractScrollArea*>(around->parentWidget());
      QRect room = around->rect();
      const QRect place = placed(widget, *around);
      if (area != nullptr && area->viewport() == around) {
        if (area->verticalScrollBar()->maximum() > 0) room.setTop(std::min(room.top(), place.top()));
        if (area->verticalScrollBar()->maximum() > 0) room.setBottom(std::max(room.bottom(), place.bottom()));
        if (area->horizontalScrollBar()->maximum() > 0) room.setLeft(std::min(room.left(), place.left()));
        if (area->horizontalScrollBar()->maximum() > 0) room.setRight(std::max(room.right(), place.right()));
      }
      EXPECT_TRUE(room.contains(place)) << "cut off: " << where << ": " << path_of(widget) << words_of(place) << " in "
                                        << path_of(*around) << words_of(room);
      if (around == &window || !room.contains(place) || (area != nullptr && area->viewport() == around)) return;
    }
  }

  static void expect_text_fits(const QWidget& widget, const std::string& where) {
    if (qobject_cast<const ElidedLabel*>(&widget) != nullptr || qobject_cast<const FacetChip*>(&widget) != nullptr)
      return;
    if (const auto* label = qobject_cast<const QLabel*>(&widget)) {
      if (label->text().isEmpty()) return;
      const int height = label->wordWrap() ? label->heightForWidth(label->width()) : label->minimumSizeHint().height();
      EXPECT_TRUE(label->height() >= height &&
                  (label->wordWrap() || label->width() >= label->minimumSizeHint().width()))
          << "no room for “" << label->text().toStdString() << "”: " << where << ": " << path_of(widget)
          << words_of(widget.rect()) << " of " << label->minimumSizeHint().width() << 'x' << height;
    } else if (const auto* button = qobject_cast<const QAbstractButton*>(&widget)) {
      QString text = button->text();
      const int wanted = button->fontMetrics().horizontalAdvance(text.remove(QLatin1Char('&')));
      EXPECT_TRUE(button->width() >= wanted && button->height() >= button->fontMetrics().height())
          << "no room for “" << text.toStdString() << "”: " << where << ": " << path_of(widget)
          << words_of(widget.rect());
    }
  }

 private:
  int flash_ = 0;
};

TEST_F(TabOrderTest, PageTabStopsAreNamedVisibleAndOrdered) {
  MainWindow window(false);
  window.resize(1600, 1000);
  window.show();
  ASSERT_EQ(window.workspace().open_blocking(file), QString());
  for (const PageKind& kind : page_kinds()) {
    window.show_page(to_qstring(kind.id));
    wait_until_idle();
    window.page(to_qstring(kind.id))->wait_until_idle();
    EXPECT_GT(walk(window, std::string(kind.id)), 4) << kind.id;
  }
}

TEST_F(TabOrderTest, DialogTabStopsAreNamedVisibleAndOrdered) {
  qputenv("ATTNSCOPE_COLLECTOR", ATTNSCOPE_COMMAND_PROGRAM);
  const QString table = folder.filePath("peer.csv");
  QFile out(table);
  ASSERT_TRUE(out.open(QIODevice::WriteOnly));
  out.write("algorithm,N,heads,d,note,time_ns\nfa2,64,1,64,hm,1000\n");
  out.close();
  for (const ThemeChoice theme : {ThemeChoice::light, ThemeChoice::contrast}) {
    MainWindow window(false);
    window.set_theme(theme);
    window.show();
    ASSERT_EQ(window.workspace().open_blocking(file), QString());
    const std::pair<const char*, std::function<QDialog*()>> dialogs[] = {
        {"import", [&] { return new ImportDialog(table, &window); }},
        {"report", [&] { return new ReportDialog(window.workspace(), &window); }},
    };
    for (const auto& [name, make] : dialogs) {
      const std::unique_ptr<QDialog> dialog(make());
      dialog->show();
      if (const auto* imports = qobject_cast<ImportDialog*>(dialog.get())) {
        ASSERT_TRUE(QTest::qWaitFor([&] { return !imports->is_busy(); }, 60'000));
      }
      wait_until_idle();
      const std::string where = std::string(name) + " " + to_string(theme).toStdString();
      EXPECT_FALSE(dialog->windowTitle().isEmpty()) << where;
      EXPECT_GT(walk(*dialog, where), 2) << where;
      EXPECT_GT(expect_whole(*dialog, where), 5) << where;
    }
  }
  qunsetenv("ATTNSCOPE_COLLECTOR");
}

TEST_F(TabOrderTest, ScreenReadersGetColumnsAndValues) {
  MainWindow window(false);
  window.resize(1600, 1000);
  window.show();
  ASSERT_EQ(window.workspace().open_blocking(file), QString());
  int cells = 0;
  int chips = 0;
  for (const PageKind& kind : page_kinds()) {
    window.show_page(to_qstring(kind.id));
    wait_until_idle();
    Page& page = *window.page(to_qstring(kind.id));
    page.wait_until_idle();
    for (auto* table : page.findChildren<QTableView*>()) {
      if (!table->isVisible() || table->model()->rowCount() == 0) continue;
      QAccessibleInterface* reader = QAccessible::queryAccessibleInterface(table);
      ASSERT_NE(reader->tableInterface(), nullptr) << kind.id;
      for (int column = 0; column < table->model()->columnCount(); ++column) {
        if (table->isColumnHidden(column)) continue;
        QAccessibleInterface* cell = reader->tableInterface()->cellAt(0, column);
        ASSERT_NE(cell, nullptr) << kind.id << column;
        const QString shown = table->model()->index(0, column).data().toString();
        const QString header = table->model()->headerData(column, Qt::Horizontal).toString();
        EXPECT_EQ(cell->text(QAccessible::Name), shown) << kind.id << ' ' << header.toStdString();
        const auto headers = cell->tableCellInterface()->columnHeaderCells();
        ASSERT_EQ(headers.size(), 1) << kind.id;
        EXPECT_EQ(headers[0]->text(QAccessible::Name), header) << kind.id;
        EXPECT_FALSE(header.isEmpty()) << kind.id << ' ' << column;
        ++cells;
      }
    }
    for (auto* chip : page.findChildren<FacetChip*>()) {
      if (!chip->isVisible()) continue;
      QAccessibleInterface* reader = QAccessible::queryAccessibleInterface(chip);
      EXPECT_FALSE(reader->text(QAccessible::Name).isEmpty()) << kind.id;
      EXPECT_TRUE(reader->text(QAccessible::Description).contains(chip->value()))
          << kind.id << ": " << reader->text(QAccessible::Description).toStdString();
      EXPECT_FALSE(chip->value().isEmpty()) << kind.id << ": " << reader->text(QAccessible::Name).toStdString();
      ++chips;
    }
  }
  EXPECT_GT(cells, 20);
  EXPECT_GT(chips, 10);
}

TEST_F(TabOrderTest, ControlsFitAtEveryWindowSize) {
  MainWindow window(false);
  window.show();
  ASSERT_EQ(window.workspace().open_blocking(file), QString());
  for (const QSize size : {QSize(800, 600), QSize(1024, 600), QSize(1280, 800), QSize(2560, 1440), QSize(3840, 2160)}) {
    window.resize(size);
    for (const PageKind& kind : page_kinds()) {
      window.show_page(to_qstring(kind.id));
      wait_until_idle();
      window.page(to_qstring(kind.id))->wait_until_idle();
      wait_until_idle();
      const std::string where = std::string(kind.id) + " " + std::to_string(size.width());
      EXPECT_EQ(window.width(), size.width()) << where;
      EXPECT_EQ(window.height(), size.height()) << where;
      EXPECT_GT(expect_whole(window, where), 3) << where;
    }
  }
}

}  // namespace
}  // namespace attnscope::ui
