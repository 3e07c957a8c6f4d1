// SPDX-License-Identifier: GPL-3.0-or-later
// What devices are capable of: what files keep, and what the button beside the device measures.
#include <gtest/gtest.h>

#include <QAbstractItemModelTester>
#include <QComboBox>
#include <QDir>
#include <QSignalSpy>
#include <QToolButton>

#include "tests/ui/window_test.h"
#include "ui/pages/ceilings_page.h"
#include "ui/panels/collect_panel.h"
#include "ui/window/main_window.h"

namespace attnscope::ui {
namespace {

QString cell(const CeilingsPage& page, int row, const char* key) {
  return fixtures::cell_named(*page.table()->model(), row, key);
}

/// The row of a ceiling's label; -1: none.
int row_of(const CeilingsPage& page, const QString& label) {
  for (int row = 0; row < page.table()->model()->rowCount(); ++row) {
    if (cell(page, row, "ceiling") == label) return row;
  }
  return -1;
}

class CeilingsPageTest : public WindowTest {
 protected:
  /// A file that keeps a set of an H200.
  QString kept() {
    const QString path = folder.filePath("ceilings.attnscope");
    RunStore store = RunStore::open(path.toStdString(), RunStore::Mode::collect);
    const std::vector<Ceiling> ceilings{
        {.name = "l2_private_miss", .argument = 60.0 * 1024 * 1024, .value = 0.75, .unit = "1"},
        {.name = "dram_copy", .value = 4.1e12, .q1 = 4.0e12, .q3 = 4.2e12, .unit = "byte/s"},
        {.name = "dram_copy_clock", .value = 1.98e9, .unit = "hertz"},
        {.name = "l2_private_miss", .argument = 30.0 * 1024 * 1024, .value = 0.25, .unit = "1"},
        {.name = "l2_private_capacity", .value = 42.0 * 1024 * 1024, .unit = "byte", .source = CeilingSource::derived}};
    (void)store.add_ceilings(fixtures::device(), {}, ceilings);
    return path;
  }
};

TEST_F(CeilingsPageTest, ShowsWhatAFileKeeps) {
  Workspace workspace;
  CeilingsPage page(workspace);
  const QAbstractItemModelTester tester(page.table()->model());
  EXPECT_EQ(page.table()->model()->rowCount(), 0);
  ASSERT_EQ(workspace.open_now(kept()), QString());
  ASSERT_EQ(page.sets().size(), 1U);
  EXPECT_TRUE(page.sets()[0].title.startsWith("NVIDIA H200 · ")) << page.sets()[0].title.toStdString();
  EXPECT_TRUE(page.sets()[0].title.endsWith(" · ceilings.attnscope"));
  EXPECT_EQ(page.note(), QString());
  ASSERT_EQ(page.table()->model()->rowCount(), 4) << "a clock stands beside its load";
  EXPECT_EQ(cell(page, 0, "ceiling"), "DRAM copy, both ways");
  EXPECT_EQ(cell(page, 0, "value"), "4.10 TB/s");
  EXPECT_EQ(cell(page, 0, "spread"), "±2.44%");
  EXPECT_EQ(cell(page, 0, "clock"), "1980 MHz");
  EXPECT_EQ(cell(page, 0, "provenance"), "measured");
  EXPECT_EQ(cell(page, 1, "value"), "42 MiB");
  EXPECT_EQ(cell(page, 1, "provenance"), "derived");
  EXPECT_EQ(cell(page, 1, "spread"), QString());
  EXPECT_EQ(cell(page, 2, "data"), "30 MiB") << "a curve is in the order of its sizes";
  EXPECT_EQ(cell(page, 3, "value"), "0.750");
  workspace.close(folder.filePath("ceilings.attnscope"));
  EXPECT_TRUE(page.sets().empty());
}

TEST_F(CeilingsPageTest, DatasheetsStandInAndSaySo) {
  const QString other = folder.filePath("a100.attnscope");
  fixtures::write_file(other, {{"naive", fixtures::simulated_naive({1024}), true, false, "A100"}});
  Workspace workspace;
  CeilingsPage page(workspace);
  ASSERT_EQ(workspace.open_now(other), QString());
  ASSERT_EQ(page.sets().size(), 1U);
  EXPECT_FALSE(page.sets()[0].measured);
  EXPECT_TRUE(page.note().contains("was not measured: these are datasheet figures")) << page.note().toStdString();
  const int tensor = row_of(page, "Tensor cores, fp16");
  ASSERT_GE(tensor, 0) << "of no instruction";
  EXPECT_EQ(cell(page, tensor, "value"), "312 TFLOP/s");
  for (int row = 0; row < page.table()->model()->rowCount(); ++row) {
    EXPECT_EQ(cell(page, row, "provenance"), "datasheet");
  }
  // What was measured comes first, and a copy of it is no second set.
  const QString set = kept();
  const QString copy = folder.filePath("copy.attnscope");
  ASSERT_TRUE(QFile::copy(set, copy));
  ASSERT_EQ(workspace.open_now(set), QString());
  ASSERT_EQ(workspace.open_now(copy), QString());
  ASSERT_EQ(page.sets().size(), 2U);
  EXPECT_TRUE(page.sets()[0].measured);
  EXPECT_FALSE(page.sets()[1].measured);
}

TEST_F(CeilingsPageTest, TheButtonSaysWhyItIsDisabled) {
  qputenv("ATTNSCOPE_COLLECTOR", "/bin/false");
  CollectPanel panel;
  panel.form().set_database(folder.filePath("c.attnscope"));
  panel.form().set_device(QStringLiteral("simulated:H200"));
  const auto* button = panel.findChild<QToolButton*>(QStringLiteral("ceilings"));
  ASSERT_NE(button, nullptr);
  EXPECT_FALSE(button->isEnabled());
  EXPECT_TRUE(button->toolTip().contains("Simulated H200 has no ceilings to measure"))
      << button->toolTip().toStdString();
  EXPECT_EQ(panel.blocker(), QString()) << "a sweep can run there";
  qunsetenv("ATTNSCOPE_COLLECTOR");
}

#ifdef ATTNSCOPE_FAKE_GPU_LIBRARY
/// The real program, on a library that stands for a GPU.
class CeilingsButtonTest : public CeilingsPageTest {
 protected:
  static constexpr int patience_ms = 120'000;

  void SetUp() override {
    CeilingsPageTest::SetUp();
    qputenv("ATTNSCOPE_COLLECTOR", ATTNSCOPE_COMMAND_PROGRAM);
    for (const char* name : libraries) qputenv(name, ATTNSCOPE_FAKE_GPU_LIBRARY);
    qputenv("ATTNSCOPE_CACHE_DIR", QFile::encodeName(folder.filePath("cubins")));
  }
  void TearDown() override {
    for (const char* name : libraries) qunsetenv(name);
    for (const char* name : {"ATTNSCOPE_CACHE_DIR", "ATTNSCOPE_COLLECTOR", "ATTNSCOPE_FAKE_GPU"}) qunsetenv(name);
  }
  /// Once the device is found, as a click would.
  void measure(MainWindow& window) {
    CollectPanel& panel = *window.collect();
    panel.form().set_database(database);
    auto* button = panel.findChild<QToolButton*>(QStringLiteral("ceilings"));
    QSignalSpy changed(&panel.form(), &CollectForm::changed);
    while (!button->isEnabled() && changed.wait(patience_ms)) {
    }
    ASSERT_TRUE(button->isEnabled()) << button->toolTip().toStdString();
    button->click();
    EXPECT_TRUE(panel.running());
    EXPECT_FALSE(button->isEnabled()) << "one at a time";
  }

  static constexpr const char* libraries[] = {"ATTNSCOPE_CUDA_LIBRARY", "ATTNSCOPE_NVRTC_LIBRARY",
                                              "ATTNSCOPE_CUPTI_LIBRARY", "ATTNSCOPE_NVML_LIBRARY"};
  QString database = folder.filePath("measured.attnscope");
};

TEST_F(CeilingsButtonTest, MeasuresKeepsAndShows) {
  MainWindow window(false);
  window.show();
  QSignalSpy kept(window.collect(), &CollectPanel::ceilings_kept);
  QSignalSpy trouble(window.collect(), &CollectPanel::trouble);
  auto& page = page_of<CeilingsPage>(window);
  QStringList progress;
  QObject::connect(window.collect(), &CollectPanel::ceilings_progressed, &window, [&] { progress << page.progress(); });
  window.banner().add(Banner::Topic::collect, QStringLiteral("of an earlier attempt"));
  ASSERT_NO_FATAL_FAILURE(measure(window));
  EXPECT_EQ(window.banner().text(), QString());
  EXPECT_TRUE(page.progress().contains("about to be measured")) << page.progress().toStdString();
  ASSERT_TRUE(kept.wait(patience_ms)) << (trouble.isEmpty() ? "" : trouble[0][0].toString().toStdString());
  EXPECT_FALSE(window.collect()->running());
  ASSERT_GE(progress.size(), 3);
  EXPECT_EQ(progress.constLast(), QString()) << "it is over";
  EXPECT_TRUE(progress[progress.size() - 2].endsWith("are being measured: 100%"))
      << progress[progress.size() - 2].toStdString();
  QSignalSpy read(&window.workspace(), &Workspace::ceilings_changed);
  ASSERT_TRUE(!page.sets().empty() || read.wait(patience_ms));
  EXPECT_TRUE(page.isVisible()) << "the window turns to them";
  ASSERT_EQ(page.sets().size(), 1U);
  EXPECT_TRUE(page.sets()[0].measured);
  EXPECT_EQ(page.sets()[0].device_name, "Fake GPU");
  const std::vector<StoredCeilings> stored =
      RunStore::open(database.toStdString(), RunStore::Mode::read_only).ceilings();
  ASSERT_EQ(stored.size(), 1U);
  EXPECT_EQ(page.sets()[0].ceilings, stored[0].ceilings);
  EXPECT_GT(page.table()->model()->rowCount(), 10);
}

TEST_F(CeilingsButtonTest, CancelledNothingIsKept) {
  MainWindow window(false);
  window.show();
  QSignalSpy ended(window.collect(), &CollectPanel::collection_ended);
  QSignalSpy kept(window.collect(), &CollectPanel::ceilings_kept);
  QSignalSpy trouble(window.collect(), &CollectPanel::trouble);
  ASSERT_NO_FATAL_FAILURE(measure(window));
  window.collect()->cancel();
  ASSERT_TRUE(ended.wait(patience_ms));
  EXPECT_TRUE(kept.isEmpty());
  EXPECT_TRUE(trouble.isEmpty());
  EXPECT_EQ(window.collect()->progress_words(), "Cancelled: nothing was kept.");
}

TEST_F(CeilingsButtonTest, AGpuThatFailsIsSaidInTheBanner) {
  MainWindow window(false);
  window.show();
  QSignalSpy ended(window.collect(), &CollectPanel::collection_ended);
  qputenv("ATTNSCOPE_FAKE_GPU", "crash=attn_ceiling");
  ASSERT_NO_FATAL_FAILURE(measure(window));
  ASSERT_TRUE(ended.wait(patience_ms));
  EXPECT_FALSE(window.banner().text().isEmpty());
}
#endif

}  // namespace
}  // namespace attnscope::ui
