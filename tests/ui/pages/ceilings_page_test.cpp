// SPDX-License-Identifier: GPL-3.0-or-later
// Ceilings page: sets of open files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <QAbstractItemModelTester>
#include <QComboBox>

#include "messages/ceiling.h"
#include "tests/ui/window_test.h"
#include "ui/pages/ceilings/ceilings_page.h"
#include "ui/window/main_window.h"

namespace attnscope::ui {
namespace {

QString cell(const CeilingsPage& page, int row, const char* key) {
  return fixtures::cell_named(*page.table()->model(), row, key);
}

/// Row of a ceiling, by its label; -1: none.
int row_of(const CeilingsPage& page, const QString& label) {
  for (int row = 0; row < page.table()->model()->rowCount(); ++row) {
    if (cell(page, row, "ceiling") == label) return row;
  }
  return -1;
}

class CeilingsPageTest : public WindowTest {
 protected:
  /// A file with a set of ceilings of an H200.
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

TEST_F(CeilingsPageTest, ShowsStoredCeilings) {
  Workspace workspace;
  CeilingsPage page(workspace);
  const QAbstractItemModelTester tester(page.table()->model());
  EXPECT_EQ(page.table()->model()->rowCount(), 0);
  ASSERT_EQ(workspace.open_blocking(kept()), QString());
  ASSERT_EQ(page.sets().size(), 1U);
  EXPECT_TRUE(page.sets()[0].title.startsWith("NVIDIA H200 · ")) << page.sets()[0].title.toStdString();
  EXPECT_TRUE(page.sets()[0].title.endsWith(" · ceilings.attnscope"));
  EXPECT_EQ(page.note(), QString());
  ASSERT_EQ(page.table()->model()->rowCount(), 4) << "a clock is in the row of its ceiling";
  EXPECT_EQ(cell(page, 0, "ceiling"), qtext(msg::ceiling::dram_copy{}));
  EXPECT_EQ(cell(page, 0, "value"), "4.10 TB/s");
  EXPECT_EQ(cell(page, 0, "spread"), "±2.44%");
  EXPECT_EQ(cell(page, 0, "clock"), "1980 MHz");
  EXPECT_EQ(cell(page, 0, "provenance"), "measured");
  EXPECT_EQ(cell(page, 1, "value"), "42 MiB");
  EXPECT_EQ(cell(page, 1, "provenance"), "derived");
  EXPECT_EQ(cell(page, 1, "spread"), QString());
  EXPECT_EQ(cell(page, 2, "data"), "30 MiB") << "sorted by size";
  EXPECT_EQ(cell(page, 3, "value"), "0.750");
  workspace.close(folder.filePath("ceilings.attnscope"));
  EXPECT_TRUE(page.sets().empty());
}

TEST_F(CeilingsPageTest, DatasheetPeaksReplaceMissingMeasurements) {
  const QString other = folder.filePath("a100.attnscope");
  fixtures::write_file(other, {{"naive", fixtures::simulated_naive({1024}), true, false, "A100"}});
  Workspace workspace;
  CeilingsPage page(workspace);
  ASSERT_EQ(workspace.open_blocking(other), QString());
  ASSERT_EQ(page.sets().size(), 1U);
  EXPECT_FALSE(page.sets()[0].measured);
  EXPECT_TRUE(page.note().contains("A100")) << page.note().toStdString();
  const int tensor = row_of(page, qtext(msg::ceiling::tensor_peak{.dtype = "fp16"}));
  ASSERT_GE(tensor, 0) << "of any instruction";
  EXPECT_EQ(cell(page, tensor, "value"), "312 TFLOP/s");
  for (int row = 0; row < page.table()->model()->rowCount(); ++row) {
    EXPECT_EQ(cell(page, row, "provenance"), "datasheet");
  }
  // Measured sets come first; copies are not listed twice.
  const QString set = kept();
  const QString copy = folder.filePath("copy.attnscope");
  ASSERT_TRUE(QFile::copy(set, copy));
  ASSERT_EQ(workspace.open_blocking(set), QString());
  ASSERT_EQ(workspace.open_blocking(copy), QString());
  ASSERT_EQ(page.sets().size(), 2U);
  EXPECT_TRUE(page.sets()[0].measured);
  EXPECT_FALSE(page.sets()[1].measured);
}

// Three sets of one GPU, and the datasheets of two others.
TEST_F(CeilingsPageTest, ListsEverySetAndGpu) {
  const QString path = kept();
  for (const double value : {3e12, 2e12}) {
    RunStore store = RunStore::open(path.toStdString(), RunStore::Mode::collect);
    (void)store.add_ceilings(fixtures::device(), {},
                             std::vector<Ceiling>{{.name = "dram_copy", .value = value, .unit = "byte/s"}});
  }
  const QString other = folder.filePath("gpus.attnscope");
  fixtures::write_file(other, {{"naive", fixtures::simulated_naive({1024}), false, false},
                               {"naive", fixtures::simulated_naive({1024}), true, false, "A100"},
                               {"naive", fixtures::simulated_naive({1024}), true, false, "A100"},
                               {"naive", fixtures::simulated_naive({1024}), true, false, "H100"}});
  Workspace workspace;
  CeilingsPage page(workspace);
  ASSERT_EQ(workspace.open_blocking(path), QString());
  ASSERT_EQ(workspace.open_blocking(other), QString());
  ASSERT_EQ(page.sets().size(), 5U);
  std::vector<double> first;
  for (const ShownCeilings& set : page.sets()) {
    for (const Ceiling& ceiling : set.ceilings) {
      if (set.measured && ceiling.name == "dram_copy") first.push_back(ceiling.value);
    }
  }
  EXPECT_THAT(first, ::testing::UnorderedElementsAre(3e12, 2e12, 4.1e12));
  EXPECT_EQ(page.sets()[3].device_uuid, "GPU-A100");
  EXPECT_EQ(page.sets()[4].device_uuid, "GPU-H100");
  EXPECT_FALSE(page.sets()[4].measured);
}

}  // namespace
}  // namespace attnscope::ui
