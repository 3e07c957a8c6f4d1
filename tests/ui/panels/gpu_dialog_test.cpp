// SPDX-License-Identifier: GPL-3.0-or-later
// GPUs of one's own in the window: made, kept, chosen in the explorer and on the collect form.
#include <gtest/gtest.h>

#include <QDoubleSpinBox>
#include <QFile>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QSignalSpy>
#include <algorithm>

#include "kernels/model/gpu_values.h"
#include "tests/ui/window_test.h"
#include "ui/pages/explorer_page.h"
#include "ui/panels/collect_form.h"
#include "ui/panels/collect_panel.h"
#include "ui/panels/gpu_dialog.h"
#include "ui/process/own_gpu_list.h"

namespace attnscope::ui {
namespace {

class OwnGpuTest : public ::testing::Test {
 protected:
  void SetUp() override {
    qputenv("ATTNSCOPE_COLLECTOR", ATTNSCOPE_COMMAND_PROGRAM);
    QFile::remove(OwnGpuList::instance().file());
    OwnGpuList::instance().reload();
  }
  void TearDown() override {
    SetUp();
    qunsetenv("ATTNSCOPE_COLLECTOR");
  }
  static void keep(const char* name, const char* key, double value) { keep_as(name, key, value, {}); }
  static void keep_as(const char* name, const char* key, double value) { keep_as(name, key, value, name); }
  static void keep_as(const char* name, const char* key, double value, const QString& before) {
    OwnGpu gpu{.limits = own_gpu_like(*find_gpu("h200"), name), .from = "NVIDIA H200"};
    find_gpu_value(key)->set(gpu.limits, value);
    ASSERT_EQ(OwnGpuList::instance().save(gpu, before), QString());
  }
};

QDoubleSpinBox& box(const GpuDialog& dialog, const char* key) {
  return *dialog.findChild<QDoubleSpinBox*>(QString::fromLatin1(key));
}

QString label(const GpuDialog& dialog, const char* name) {
  return dialog.findChild<QLabel*>(QString::fromLatin1(name))->text();
}

TEST_F(OwnGpuTest, EachValueSaysItsUnitAndWhereItComesFrom) {
  GpuDialog dialog(QStringLiteral("NVIDIA H200"));
  EXPECT_EQ(box(dialog, "sm_count").value(), 132);
  EXPECT_EQ(box(dialog, "l2_mib").suffix(), " MiB");
  EXPECT_EQ(label(dialog, "source-l2_mib"), "NVIDIA H200, datasheet");
  EXPECT_EQ(label(dialog, "source-registers_per_sm"), "compute capability 9.0");
  EXPECT_EQ(label(dialog, "source-l2_bytes_per_clock"), "as measured on an NVIDIA H200");
  box(dialog, "l2_mib").setValue(120);
  EXPECT_EQ(label(dialog, "source-l2_mib"), "stated; 60 on an NVIDIA H200");
  box(dialog, "sm_count").setValue(264);
  EXPECT_TRUE(label(dialog, "peaks").contains("2.14 PFLOP/s")) << label(dialog, "peaks").toStdString();
}

TEST_F(OwnGpuTest, IsKeptByNameAndComesBack) {
  GpuDialog dialog(QStringLiteral("NVIDIA A100 80GB"));
  auto* name = dialog.findChild<QLineEdit*>(QStringLiteral("name"));
  dialog.save();
  EXPECT_FALSE(dialog.error().isEmpty()) << "it has no name";
  name->setText("H200");
  dialog.save();
  EXPECT_TRUE(dialog.error().contains("public GPU")) << dialog.error().toStdString();
  name->setText("A100 twice");
  box(dialog, "dram_gb_per_second").setValue(4078);
  dialog.save();
  EXPECT_EQ(dialog.error(), QString());
  EXPECT_EQ(dialog.shown(), "A100 twice");
  OwnGpuList::instance().reload();
  const OwnGpu* kept = OwnGpuList::instance().find("A100 twice");
  ASSERT_NE(kept, nullptr);
  EXPECT_EQ(kept->limits.dram_bytes_per_second, 4078e9);
  EXPECT_EQ(kept->from, "NVIDIA A100 80GB");
  // Renamed, it is the same one.
  name->setText("A100 x2");
  dialog.save();
  EXPECT_EQ(OwnGpuList::instance().gpus().size(), 1U);
  dialog.remove();
  EXPECT_TRUE(OwnGpuList::instance().gpus().empty());
}

TEST_F(OwnGpuTest, AFileThatIsNotUnderstoodIsSaidAndKept) {
  keep("mine", "l2_mib", 120);
  QFile file(OwnGpuList::instance().file());
  ASSERT_TRUE(file.open(QIODevice::WriteOnly | QIODevice::Truncate));
  file.write("{\"version\": 1, \"gpus\": [7]}");
  file.close();
  GpuDialog dialog(QStringLiteral("NVIDIA H200"));
  EXPECT_TRUE(dialog.error().contains("GPU 1 is no object")) << dialog.error().toStdString();
  dialog.findChild<QLineEdit*>(QStringLiteral("name"))->setText("other");
  dialog.save();
  EXPECT_TRUE(dialog.error().contains("GPU 1 is no object"));
  ASSERT_TRUE(file.open(QIODevice::ReadOnly));
  EXPECT_EQ(file.readAll(), "{\"version\": 1, \"gpus\": [7]}") << "what somebody wrote by hand";
}

TEST_F(OwnGpuTest, TheExplorerTakesThemAndFollowsTheirValues) {
  keep("fat", "shared_kib_per_sm", 456);
  Workspace workspace;
  ExplorerPage page(workspace);
  settle();
  page.edit("device", "fat", -1);
  settle();
  ASSERT_NE(page.shown(), nullptr);
  EXPECT_EQ(page.shown()->exploration.device, "fat");
  EXPECT_EQ(page.shown()->exploration.kernels.at(0).shared.sm_bytes, 456 * 1024);
  EXPECT_TRUE(page.shown()->exploration.rates_inherited);
  OwnGpu changed = *OwnGpuList::instance().find("fat");
  find_gpu_value("shared_kib_per_sm")->set(changed.limits, 300);
  ASSERT_EQ(OwnGpuList::instance().save(changed, "fat"), QString());
  settle();
  EXPECT_EQ(page.shown()->exploration.kernels.at(0).shared.sm_bytes, 300 * 1024);
  ASSERT_EQ(OwnGpuList::instance().remove("fat"), QString());
  settle();
  EXPECT_EQ(page.shown()->exploration.device, known_gpus().front().name);
}

TEST_F(OwnGpuTest, WhatIfMultipliesAndIsUndone) {
  Workspace workspace;
  ExplorerPage page(workspace);
  settle();
  const auto dram_ns = [](const analysis::Exploration& e) { return e.light.of(GpuUnit::dram) * e.ns; };
  const double before = dram_ns(page.shown()->exploration);
  page.edit("what_if_dram", "200", -1);
  page.edit("what_if_shared", "200", -1);
  settle();
  const analysis::Exploration& doubled = page.shown()->exploration;
  EXPECT_EQ(doubled.device, "NVIDIA H200, shared memory x2, DRAM rate x2");
  EXPECT_NEAR(dram_ns(doubled) / before, 0.5, 1e-9);
  EXPECT_EQ(doubled.kernels.at(0).shared.sm_bytes, 2 * find_gpu("h200")->shared_bytes_per_sm);
  page.edit("what_if_dram", "a lot", -1);
  page.edit("what_if_dram", "nan", -1);
  page.edit("what_if_dram", "100000", -1);
  settle();
  EXPECT_EQ(page.shown()->exploration.device, "NVIDIA H200, shared memory x2, DRAM rate x2");
  ExplorerPage other(workspace);
  other.restore(page.state());
  settle();
  EXPECT_EQ(other.shown()->exploration.device, page.shown()->exploration.device);
  const auto* measure = page.findChild<QPushButton*>(QStringLiteral("measure"));
  ASSERT_NE(measure, nullptr);
  EXPECT_FALSE(measure->isEnabled()) << "nobody has it, and nobody saved it";
}

TEST_F(OwnGpuTest, ASweepRunsOnSeveralOneAfterAnother) {
  keep("fat", "l2_mib", 120);
  QTemporaryDir folder;
  CollectPanel panel;
  CollectForm& form = panel.form();
  form.set_device("simulated:fat");
  EXPECT_EQ(form.request().device, "simulated:fat");
  form.set_also({"simulated:A100 80GB", "simulated:fat", "simulated:none"});
  EXPECT_EQ(form.also(), QStringList{"simulated:A100 80GB"}) << "each once, and those that there are";
  form.set_preset({});
  form.set_axes("N=256 d=64 heads=2");
  form.set_database(folder.filePath("several.attnscope"));
  ASSERT_EQ(panel.blocker(), QString());
  EXPECT_TRUE(form.check().plan.contains("A100 80GB")) << form.check().plan.toStdString();
  QSignalSpy ended(&panel, &CollectPanel::collection_ended);
  panel.findChild<QPushButton*>(QStringLiteral("start"))->click();
  for (int i = 0; i < 2; ++i) {
    const bool there = ended.count() > i || ended.wait(60000);
    ASSERT_TRUE(there) << i;
  }
  settle();
  EXPECT_FALSE(panel.running());
  const std::vector<RunSummary> runs =
      RunStore::open(folder.filePath("several.attnscope").toStdString(), RunStore::Mode::read_only).runs();
  ASSERT_EQ(runs.size(), 2U);
  EXPECT_EQ(runs[0].device_name, "fat");
  EXPECT_EQ(runs[0].limits.l2_bytes, 120 * 1024 * 1024);
  EXPECT_EQ(runs[0].l2_from, "NVIDIA H200") << "how it gives way was measured there";
  EXPECT_EQ(runs[1].device_name, "NVIDIA A100 80GB");
  Workspace workspace;
  ASSERT_EQ(workspace.open_now(folder.filePath("several.attnscope")), QString());
  const auto points = workspace.visible();
  ASSERT_EQ(points->table().runs().size(), 2U);
  EXPECT_EQ(points->table().runs()[0].limits.stated.exponentials, 16);
  keep_as("fat", "l2_mib", 240);
  Workspace later;
  ASSERT_EQ(later.open_now(folder.filePath("several.attnscope")), QString());
  EXPECT_EQ(later.visible()->table().runs()[0].limits.stated.exponentials, 16) << "of the GPU as it was then";
}

}  // namespace
}  // namespace attnscope::ui
