// SPDX-License-Identifier: GPL-3.0-or-later
#include <gtest/gtest.h>

#include <QClipboard>
#include <QContextMenuEvent>
#include <QMenu>
#include <algorithm>

#include "messages/facet.h"
#include "messages/window.h"
#include "profiler/metrics/metrics.h"
#include "tests/ui/window_test.h"
#include "ui/pages/curves/io_curve_page.h"
#include "ui/pages/points/points_page.h"
#include "ui/text/qtext.h"
#include "ui/text/values.h"
#include "ui/theme/theme.h"
#include "ui/window/offscreen.h"

namespace attnscope::ui {
namespace {

class ExportTest : public WindowTest {
 protected:
  void show_page(const char* id) {
    window.resize(1280, 800);
    window.show();
    ASSERT_EQ(window.workspace().open_blocking(file), QString());
    window.show_page(QString::fromLatin1(id));
    wait_until_idle();
  }
  /// Opens the context menu by keyboard.
  [[nodiscard]] QMenu* open_menu() {
    QWidget& view = *window.page(window.page_id())->view();
    QContextMenuEvent event(QContextMenuEvent::Keyboard, view.rect().center(), view.mapToGlobal(view.rect().center()));
    QApplication::sendEvent(&view, &event);
    return qobject_cast<QMenu*>(QApplication::activePopupWidget());
  }
  static QAction* entry(const QMenu& menu, const QString& text) {
    for (QAction* action : menu.actions()) {
      if (action->text() == text) return action;
    }
    return nullptr;
  }
  MainWindow window{false};
};

QStringList lines_on_clipboard() {
  return QGuiApplication::clipboard()->text().trimmed().split(u'\n');
}

TEST_F(ExportTest, MenuCopiesTheShownCurves) {
  ASSERT_NO_FATAL_FAILURE(show_page("io"));
  auto& page = page_of<IoCurvePage>(window);
  page.restore({{"level", "sm_l2"}});
  QMenu* menu = open_menu();
  ASSERT_NE(menu, nullptr);
  EXPECT_FALSE(entry(*menu, qtext(msg::window::copy_command{}))->isEnabled()) << "nothing is selected";
  entry(*menu, qtext(msg::window::copy_values{}))->trigger();
  menu->close();
  std::size_t points = 0;
  for (const Curve& curve : page.curves().curves) points += curve.points.size();
  const QStringList lines = lines_on_clipboard();
  ASSERT_EQ(static_cast<std::size_t>(lines.size()), points + 1);
  EXPECT_TRUE(lines[0].startsWith("curve\torigin\tmetric\tunit\tn\tvalue")) << lines[0].toStdString();
  // A point of the file, with its byte count.
  const std::vector<PointRecord> all = fixtures::memory_wall();
  const auto wanted =
      std::ranges::find(all, std::string("fa2"), [](const PointRecord& each) { return each.spec.algorithm; });
  ASSERT_NE(wanted, all.end());
  const KernelRecord& kernel = wanted->kernels.front();
  const double bytes = *kernel.metric(metric_key::l2_to_sm_bytes) + *kernel.metric(metric_key::sm_to_l2_bytes);
  const QString cells = QStringLiteral("l2_sm_bytes\tbyte\t%1\t%2\t")
                            .arg(plain_number(static_cast<double>(wanted->spec.problem.n_k)), plain_number(bytes));
  EXPECT_TRUE(std::ranges::any_of(lines, [&](const QString& line) { return line.contains(cells); }))
      << cells.toStdString() << '\n'
      << lines.join(u'\n').toStdString();
}

TEST_F(ExportTest, CopiesTheCommandOfTheSelectedPoint) {
  ASSERT_NO_FATAL_FAILURE(show_page("table"));
  auto& page = page_of<PointsPage>(window);
  page.table()->select_only_row(0);
  wait_until_idle();
  QMenu* menu = open_menu();
  ASSERT_NE(menu, nullptr);
  QAction* copy = entry(*menu, qtext(msg::window::copy_command{}));
  ASSERT_TRUE(copy->isEnabled());
  EXPECT_FALSE(entry(*menu, qtext(msg::window::copy_picture{}))->isEnabled()) << "a table has no picture";
  copy->trigger();
  menu->close();
  const QString command = QGuiApplication::clipboard()->text();
  EXPECT_TRUE(command.startsWith("attnscope collect")) << command.toStdString();
  const QString n = page.values().lines[0][page.values().keys.indexOf(qtext(msg::facet::n{}))];
  EXPECT_TRUE(command.contains(n)) << command.toStdString();
}

TEST_F(ExportTest, DoesNotCopyHiddenColumns) {
  ASSERT_NO_FATAL_FAILURE(show_page("table"));
  auto& page = page_of<PointsPage>(window);
  const QString n = qtext(msg::facet::n{});
  ASSERT_TRUE(page.values().keys.contains(n));
  QMenu* menu = open_menu();
  ASSERT_NE(menu, nullptr);
  QMenu* columns = menu->actions().value(1)->menu();  // after Explore
  ASSERT_NE(columns, nullptr);
  entry(*columns, n)->trigger();
  menu->close();
  EXPECT_FALSE(page.values().keys.contains(n));
  EXPECT_EQ(page.state()["hidden_columns"].toArray().size(), 1);
  page.restore({{"hidden_columns", QJsonArray()}});
  EXPECT_TRUE(page.values().keys.contains(n));
}

TEST_F(ExportTest, ClipboardAndFilePicturesAreEqual) {
  ASSERT_NO_FATAL_FAILURE(show_page("io"));
  const auto save = [&](const QString& path) { return save_picture(path, picture_size, window.page("io")->picture()); };
  // Warm-up: the first rendering of a font size may differ from later ones by a fraction of a pixel.
  ASSERT_EQ(save(folder.filePath("first.png")), QString());
  QMenu* menu = open_menu();
  ASSERT_NE(menu, nullptr);
  entry(*menu, qtext(msg::window::copy_picture{}))->trigger();
  menu->close();
  const QImage copied = QGuiApplication::clipboard()->image();
  EXPECT_EQ(copied.size(), picture_size * 2);
  const QString saved = folder.filePath("picture.png");
  ASSERT_EQ(save(saved), QString());
  EXPECT_EQ(QImage(saved).convertToFormat(copied.format()), copied);
}

TEST(ShownValuesTest, CsvQuotesTextOnly) {
  const ShownValues values{.keys = {"a", "b [ns]"}, .lines = {{"x, \"y\"", "-1.5"}, {"=cmd()", "2e-05"}}};
  EXPECT_EQ(to_csv(values).toStdString(), "a,b [ns]\n\"x, \"\"y\"\"\",-1.5\n'=cmd(),2e-05\n");
  EXPECT_EQ(to_tsv({.keys = {"a"}, .lines = {{"two\n\tlines"}}}), "a\ntwo lines\n");
}

}  // namespace
}  // namespace attnscope::ui
