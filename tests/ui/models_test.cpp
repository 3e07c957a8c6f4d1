// SPDX-License-Identifier: GPL-3.0-or-later
#include <gtest/gtest.h>

#include <QAbstractItemModelTester>
#include <QSignalSpy>
#include <QTemporaryDir>

#include "kernels/common_knobs.h"
#include "tests/ui/fixtures.h"
#include "ui/models/points_table_model.h"
#include "ui/models/runs_model.h"

namespace attnscope::ui {
namespace {

using Mode = QAbstractItemModelTester::FailureReportingMode;

QVariant at(const PointsTableModel& model, int row, const char* column, int role = Qt::DisplayRole) {
  return model.data(model.index(row, model.column_of(QString::fromUtf8(column))), role);
}

TEST(PointsTableModel, CellsSayWhatThePointSays) {
  PointsTableModel model;
  const QAbstractItemModelTester tester(&model, Mode::Fatal);
  model.set_points(fixtures::shown(fixtures::memory_wall()));
  ASSERT_EQ(model.rowCount(), 21);
  EXPECT_EQ(at(model, 0, "Algorithm").toString(), "naive");
  EXPECT_EQ(at(model, 0, "N").toString(), "256");
  EXPECT_EQ(at(model, 0, "Batch × heads").toString(), "1 × 132");
  EXPECT_EQ(at(model, 0, "÷ model").toString(), "1.0010");
  EXPECT_EQ(at(model, 6, "Result").toString(), "out-of-memory");
  EXPECT_TRUE(at(model, 6, "Result", Qt::ToolTipRole).toString().contains("132 GiB"));
  EXPECT_EQ(at(model, 6, "DRAM").toString(), "") << "a value that is not there is no zero";
  EXPECT_EQ(at(model, 1, "Values").toString(), "measured");
}

TEST(PointsTableModel, AThrottledPointSaysSo) {
  PointsTableModel model;
  std::vector<PointRecord> records(2, fixtures::ok_point(fixtures::spec("fa2", 4096)));
  records[0].clocks = ClockReading{};
  records[1].clocks = ClockReading{.throttle_reasons = 4, .throttled = true};  // NVML's power cap
  model.set_points(fixtures::shown(records));
  EXPECT_EQ(at(model, 0, "Result").toString(), "ok");
  EXPECT_EQ(at(model, 1, "Result").toString(), "ok, throttled");
  EXPECT_TRUE(at(model, 1, "Result", Qt::ToolTipRole).toString().contains("power cap"));
}

TEST(PointsTableModel, RareColumnsShowOnlyWhereTheyAreSet) {
  PointsTableModel model;
  std::vector<PointRecord> records{fixtures::ok_point(fixtures::decode_spec("fa2", 4096)), fixtures::peers()[0]};
  model.set_points(fixtures::shown(records));
  const auto in_use = [&](const char* heading) { return model.column_in_use(model.column_of(heading)); };
  for (const char* rare : {"Dropout", "Page", "Deterministic", "Splits", "Warps", "Stages"}) {
    EXPECT_FALSE(in_use(rare)) << rare;
  }
  EXPECT_TRUE(in_use("Pass"));
  records[0].spec.knobs.set(knob::splits, std::int64_t{8});
  records[0].spec.problem.page = 256;
  model.set_points(fixtures::shown(records));
  EXPECT_TRUE(in_use("Splits"));
  EXPECT_TRUE(in_use("Page"));
  EXPECT_FALSE(in_use("Warps"));
  EXPECT_EQ(at(model, 0, "Splits").toString(), "8");
  EXPECT_EQ(at(model, 0, "Mask").toString(), "full");
  EXPECT_EQ(at(model, 0, "N").toString(), "1 × 4096");
  EXPECT_EQ(at(model, 1, "Algorithm").toString(), "torch-flash");
  EXPECT_EQ(at(model, 1, "Br").toString(), "") << "not stated";
  EXPECT_EQ(at(model, 1, "Splits").toString(), "");
  EXPECT_EQ(at(model, 1, "Values").toString(), "imported");
  EXPECT_TRUE(at(model, 1, "Time", Qt::ToolTipRole).toString().contains("imported"));
}

TEST(PointsTableModel, SortsNumbersAsNumbers) {
  PointsTableModel model;
  model.set_points(fixtures::shown(fixtures::memory_wall()));
  EXPECT_LT(at(model, 1, "N", TableModel::sort_role).toDouble(), at(model, 2, "N", TableModel::sort_role).toDouble());
  EXPECT_GT(at(model, 1, "DRAM", TableModel::sort_role).toDouble(), 0);
  EXPECT_FALSE(at(model, 6, "DRAM", TableModel::sort_role).isValid()) << "a value that is not there is no number";
}

TEST(PointsTableModel, GrowsInPlaceWhileARunIsFollowed) {
  PointsTableModel model;
  const QAbstractItemModelTester tester(&model, Mode::Fatal);
  const auto points = fixtures::shown(fixtures::memory_wall());
  model.set_points({points.begin(), points.begin() + 5});
  const QSignalSpy reset(&model, &QAbstractItemModel::modelReset);
  const QSignalSpy inserted(&model, &QAbstractItemModel::rowsInserted);
  model.set_points({points.begin(), points.begin() + 9});
  EXPECT_EQ(reset.count(), 0);
  ASSERT_EQ(inserted.count(), 1);
  EXPECT_EQ(inserted[0][1].toInt(), 5);
  EXPECT_EQ(inserted[0][2].toInt(), 8);
  model.set_points({points.begin() + 3, points.end()});
  EXPECT_EQ(reset.count(), 1);
  EXPECT_EQ(model.rowCount(), 18);
}

TEST(RunsModel, ImportedRunsSayso) {
  const QTemporaryDir folder;
  const QString file = folder.filePath("peers.attnscope");
  fixtures::write_file(file, {{"import:peers", fixtures::peers(), false, true}});
  Workspace workspace;
  const RunsModel model(workspace);
  ASSERT_EQ(workspace.open_now(file), QString());
  EXPECT_EQ(model.index(0).data(RunsModel::origin_role).toString(), "imported");
  EXPECT_EQ(model.index(0).data(RunsModel::title_role).toString(), "peers");
  EXPECT_TRUE(model.index(0).data(Qt::AccessibleTextRole).toString().endsWith(", imported"));
}

TEST(RunsModel, ListsRunsAndChecksThem) {
  const QTemporaryDir folder;
  const QString file = folder.filePath("two.attnscope");
  fixtures::write_file(file, {{"quick", fixtures::memory_wall(), false}, {"tiles", fixtures::memory_wall(true), true}});
  Workspace workspace;
  RunsModel model(workspace);
  const QAbstractItemModelTester tester(&model, Mode::Fatal);
  ASSERT_EQ(workspace.open_now(file), QString());
  ASSERT_EQ(model.rowCount(), 2);
  EXPECT_EQ(model.index(0).data().toString(), "quick");
  EXPECT_EQ(model.index(0).data(RunsModel::origin_role).toString(), "");
  EXPECT_EQ(model.index(1).data(RunsModel::origin_role).toString(), "simulated");
  EXPECT_TRUE(model.index(0).data(RunsModel::detail_role).toString().contains("21 points, 20 ok"));
  EXPECT_EQ(model.index(0).data(RunsModel::state_role).toString(), "") << "complete needs no badge";

  EXPECT_EQ(workspace.visible_points().size(), 42U);
  ASSERT_TRUE(model.setData(model.index(1), Qt::Unchecked, Qt::CheckStateRole));
  EXPECT_EQ(workspace.visible_points().size(), 21U);
  workspace.close(file);
  EXPECT_EQ(model.rowCount(), 0);
}

}  // namespace
}  // namespace attnscope::ui
