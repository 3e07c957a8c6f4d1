// SPDX-License-Identifier: GPL-3.0-or-later
// Explorer with unlisted GPUs: from a file, and with what-if factors.
#include <gtest/gtest.h>

#include <QComboBox>
#include <QFile>
#include <QPushButton>
#include <QTemporaryDir>

#include "kernels/model/gpu_values.h"
#include "tests/ui/window_test.h"
#include "ui/pages/explorer/explorer_page.h"

namespace attnscope::ui {
namespace {

QString gpu_file(const QTemporaryDir& folder, const char* text) {
  QFile file(folder.filePath("gpu.json"));
  EXPECT_TRUE(file.open(QIODevice::WriteOnly | QIODevice::Truncate));
  file.write(text);
  return file.fileName();
}

TEST(ExplorerGpuTest, KeepsAGpuFromAFileInTheList) {
  const QTemporaryDir folder;
  Workspace workspace;
  ExplorerPage page(workspace);
  wait_until_idle();
  const QString fat = R"({"name": "fat", "from": "H200", "values": {"shared_kib_per_sm": 456}})";
  ASSERT_EQ(page.open_gpu(gpu_file(folder, qPrintable(fat))), QString());
  wait_until_idle();
  EXPECT_EQ(page.shown()->exploration.device, "fat");
  EXPECT_EQ(page.shown()->exploration.kernels.at(0).shared.sm_bytes, 456 * 1024);
  EXPECT_TRUE(page.shown()->exploration.rates_inherited);
  const QJsonObject state = page.state();
  page.edit("device", "NVIDIA H200", -1);
  page.edit("device", "fat", -1);
  wait_until_idle();
  EXPECT_EQ(page.shown()->exploration.device, "fat");
  page.edit("device", "NVIDIA H200", -1);
  page.restore(state);
  wait_until_idle();
  EXPECT_EQ(page.shown()->exploration.device, "fat");
  const auto* devices = page.findChild<QComboBox*>(QStringLiteral("device"));
  EXPECT_EQ(devices->currentText(), "fat");
  const QString wrong = page.open_gpu(gpu_file(folder, R"({"name": "fat", "from": "H200", "values": {"sms": 1}})"));
  EXPECT_TRUE(wrong.contains("gpu.json") && wrong.contains("'sms'")) << wrong.toStdString();
  EXPECT_EQ(page.chosen_state().choices.device, "fat");
  ASSERT_EQ(page.open_gpu(gpu_file(folder, qPrintable(QString(fat).replace("456", "300")))), QString());
  wait_until_idle();
  EXPECT_EQ(page.shown()->exploration.kernels.at(0).shared.sm_bytes, 300 * 1024);
  page.findChild<QUndoStack*>()->undo();
  wait_until_idle();
  EXPECT_EQ(page.shown()->exploration.kernels.at(0).shared.sm_bytes, 456 * 1024);
  EXPECT_EQ(devices->findText("fat"), devices->count() - 1) << "once";
}

TEST(ExplorerGpuTest, AppliesAndUndoesWhatIfFactors) {
  Workspace workspace;
  ExplorerPage page(workspace);
  wait_until_idle();
  const auto dram_ns = [](const analysis::Exploration& e) { return e.light.of(GpuUnit::dram) * e.ns; };
  const double before = dram_ns(page.shown()->exploration);
  page.edit("what_if_dram", "200", -1);
  page.edit("what_if_shared", "200", -1);
  wait_until_idle();
  const analysis::Exploration& doubled = page.shown()->exploration;
  const std::string name = doubled.device;
  EXPECT_TRUE(name.starts_with("NVIDIA H200, ")) << name;
  EXPECT_EQ(QString::fromStdString(name).count("x2"), 2) << name;
  EXPECT_NEAR(dram_ns(doubled) / before, 0.5, 1e-9);
  EXPECT_EQ(doubled.kernels.at(0).shared.sm_bytes, 2 * find_gpu("h200")->shared_bytes_per_sm);
  page.edit("what_if_dram", "a lot", -1);
  page.edit("what_if_dram", "nan", -1);
  page.edit("what_if_dram", "100000", -1);
  wait_until_idle();
  EXPECT_EQ(page.shown()->exploration.device, name);
  ExplorerPage other(workspace);
  other.restore(page.state());
  wait_until_idle();
  EXPECT_EQ(other.shown()->exploration.device, page.shown()->exploration.device);
  const auto* measure = page.findChild<QPushButton*>(QStringLiteral("measure"));
  ASSERT_NE(measure, nullptr);
  EXPECT_FALSE(measure->isEnabled()) << "a what-if GPU cannot be measured";
}

}  // namespace
}  // namespace attnscope::ui
