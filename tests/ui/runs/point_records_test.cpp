// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/runs/point_records.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <QFile>
#include <QTemporaryDir>

#include "tests/ui/window_test.h"
#include "ui/panels/details_panel.h"
#include "ui/runs/point_set.h"

namespace attnscope::ui {
namespace {

class PointRecordsTest : public WindowTest {
 protected:
  PointRecordsTest() {
    fixtures::write_file(path, {{"quick", fixtures::memory_wall(), false}});
    EXPECT_EQ(workspace.open_now(path), QString());
  }
  [[nodiscard]] ShownPoint point(Row row) const { return (*workspace.visible())[row]; }

  QTemporaryDir own;
  QString path = own.filePath(QStringLiteral("points.attnscope"));
  Workspace workspace;
  PointRecords records;
};

TEST_F(PointRecordsTest, HaveWhatColumnsLeaveOut) {
  const std::vector<PointRecord> wanted = fixtures::memory_wall();
  for (const Row row : {0U, 6U, 20U}) {
    const PointRecords::Read read = records.read(point(row));
    ASSERT_NE(read.record, nullptr) << read.error.toStdString();
    EXPECT_EQ(read.record->spec, wanted[row].spec);
    EXPECT_EQ(read.record->disposition, wanted[row].disposition);
    EXPECT_EQ(read.record->max_abs_error, wanted[row].max_abs_error);
    ASSERT_EQ(read.record->kernels.size(), wanted[row].kernels.size());
    for (std::size_t i = 0; i < wanted[row].kernels.size(); ++i) {
      EXPECT_EQ(read.record->kernels[i].kernel, wanted[row].kernels[i].kernel);
      EXPECT_EQ(read.record->kernels[i].samples_ns, wanted[row].kernels[i].samples_ns);
      EXPECT_THAT(read.record->kernels[i].metrics,
                  ::testing::UnorderedElementsAreArray(wanted[row].kernels[i].metrics));
    }
  }
}

TEST_F(PointRecordsTest, AFileThatIsGoneIsNamed) {
  DetailsPanel panel;
  panel.show_point(point(0));
  EXPECT_TRUE(panel.toPlainText().contains("Largest error")) << panel.toPlainText().toStdString();
  ASSERT_TRUE(QFile::remove(path));
  panel.show_point(point(1));
  const QString text = panel.toPlainText();
  EXPECT_TRUE(text.contains("N 512")) << "what was asked for: " << text.toStdString();
  EXPECT_TRUE(text.contains("cannot be read")) << text.toStdString();
  EXPECT_TRUE(text.contains(path)) << text.toStdString();
  EXPECT_EQ(workspace.visible()->size(), fixtures::memory_wall().size());
}

TEST_F(PointRecordsTest, AnotherFileInItsPlaceIsNotTakenForIt) {
  ASSERT_NE(records.read(point(0)).record, nullptr);
  const QString other = own.filePath(QStringLiteral("other.attnscope"));
  fixtures::write_file(other, {{"quick", fixtures::memory_wall(), false}});
  ASSERT_TRUE(QFile::remove(path));
  ASSERT_TRUE(QFile::rename(other, path));
  const PointRecords::Read read = records.read(point(1));
  EXPECT_EQ(read.record, nullptr) << "the same values, but of another run";
  EXPECT_TRUE(read.error.contains(path)) << read.error.toStdString();
  EXPECT_FALSE(read.error.contains('\n'));
  // Opened again, it is read.
  workspace.close(path);
  ASSERT_EQ(workspace.open_now(path), QString());
  EXPECT_NE(records.read(point(1)).record, nullptr);
  EXPECT_NE(records.read(point(0)).record, nullptr);
}

TEST_F(PointRecordsTest, APointThatNoRunCanHaveIsNotShown) {
  {
    SQLite::Database database(path.toStdString(), SQLite::OPEN_READWRITE);
    ASSERT_EQ(database.exec("UPDATE points SET wall_seconds = -1 WHERE plan_index = 3"), 1);
  }
  EXPECT_EQ(records.read(point(3)).record, nullptr);
  EXPECT_NE(records.read(point(4)).record, nullptr);
}

StoredPoint stored(std::int64_t id, std::size_t place, const PointRecord& record) {
  return {.id = id, .run_id = 1, .index = place, .device_uuid = "GPU", .record = record};
}

TEST(RunPoints, StandInTheOrderOfThePlanAndALaterOneReplacesAnEarlierOne) {
  const std::vector<PointRecord> wall = fixtures::memory_wall();
  RunPoints points;
  points.add(stored(1, 2, wall[2]));
  points.add(stored(2, 0, fixtures::failed_point(wall[0].spec, Disposition::cancelled, "")));
  RunPoints later;
  later.add(stored(4, 1, wall[1]));
  later.add(stored(3, 0, wall[0]));
  points.add(std::move(later));
  ASSERT_EQ(points.size(), 3U);
  std::vector<std::int64_t> ids;
  for (const Row row : points.rows()) ids.push_back(points.id(row));
  EXPECT_THAT(ids, ::testing::ElementsAre(3, 4, 1));
  EXPECT_EQ(points.last_id(), 4);
  for (std::size_t i = 0; i < points.size(); ++i) {
    EXPECT_EQ(points.columns().spec(points.rows()[i]), wall[i].spec);
    EXPECT_EQ(points.columns().disposition(points.rows()[i]), Disposition::ok);
  }
}

TEST(RunPoints, ARunIsPartOfOneThatHoldsAllOfIt) {
  const std::vector<PointRecord> wall = fixtures::memory_wall();
  RunPoints all;
  RunPoints some;
  for (std::size_t i = 0; i < wall.size(); ++i) {
    all.add(stored(static_cast<std::int64_t>(i) + 1, i, wall[i]));
    if (i % 2 == 0) some.add(stored(static_cast<std::int64_t>(i) + 50, i, wall[i]));
  }
  EXPECT_TRUE(some.is_part_of(all)) << "under other ids";
  EXPECT_FALSE(all.is_part_of(some));
  PointRecord slower = wall[1];
  for (double& sample : slower.kernels[0].samples_ns) sample *= 1.5;
  some.add(stored(99, 1, slower));
  EXPECT_FALSE(some.is_part_of(all));
}

TEST(RunPoints, HaveARowForEachSort) {
  RunPoints points;
  std::size_t place = 0;
  const auto add = [&](const PointSpec& spec) {
    points.add(stored(1, place++, fixtures::failed_point(spec, Disposition::infeasible, "not asked")));
  };
  for (const std::int64_t n : {256, 512}) {
    for (const int br : {64, 128}) add(fixtures::spec("fa2", n, br));
  }
  EXPECT_EQ(points.sorts().size(), 1U) << "lengths and tiles make no sort";
  add(fixtures::decode_spec("fa2", 512));
  PointSpec told = fixtures::spec("fa2", 256);
  told.knobs = {{"cluster", 4}};
  add(told);
  told.problem.page = 64;
  add(told);
  add(told);
  EXPECT_EQ(points.sorts().size(), 4U);
}

}  // namespace
}  // namespace attnscope::ui
