// SPDX-License-Identifier: GPL-3.0-or-later
#include <gtest/gtest.h>

#include <QAbstractItemModelTester>
#include <QSignalSpy>
#include <QTemporaryDir>

#include "kernels/common_knobs.h"
#include "messages/points_table.h"
#include "messages/run_list.h"
#include "messages/throttle.h"
#include "messages/value.h"
#include "profiler/plan/fields.h"
#include "tests/kernels/modified_algorithm.h"
#include "tests/ui/fixtures.h"
#include "ui/models/result_model.h"
#include "ui/models/runs_model.h"
#include "ui/panels/point_summary.h"
#include "ui/runs/point_set.h"
#include "ui/runs/point_settings.h"
#include "ui/text/qtext.h"

namespace attnscope::ui {
namespace {

using Mode = QAbstractItemModelTester::FailureReportingMode;

QVariant at(const PointsTableModel& model, int row, const char* column, int role = Qt::DisplayRole) {
  return model.data(model.index(row, model.find_column_index(QString::fromUtf8(column))), role);
}

TEST(PointsTableModel, CellsMatchThePoint) {
  PointsTableModel model;
  const QAbstractItemModelTester tester(&model, Mode::Fatal);
  model.set_points(fixtures::set_of(fixtures::shown(fixtures::memory_wall())));
  ASSERT_EQ(model.rowCount(), 21);
  EXPECT_EQ(at(model, 0, "algorithm").toString(), "naive");
  EXPECT_EQ(at(model, 0, "n").toString(), "256");
  EXPECT_EQ(at(model, 0, "heads").toString(), "1 × 132");
  EXPECT_EQ(at(model, 0, "over_model").toString(), "1.0010");
  EXPECT_EQ(at(model, 6, "result").toString(), "out-of-memory");
  EXPECT_TRUE(at(model, 6, "result", Qt::ToolTipRole).toString().contains("132 GiB"));
  EXPECT_EQ(at(model, 6, "dram").toString(), "") << "a missing value is not zero";
  EXPECT_EQ(at(model, 1, "values").toString(), "measured");
}

TEST(PointsTableModel, ShowsThrottledPoints) {
  PointsTableModel model;
  std::vector<PointRecord> records(2, fixtures::ok_point(fixtures::spec("fa2", 4096)));
  records[0].clocks = ClockReading{};
  records[1].clocks = ClockReading{.throttle_reasons = 4, .throttled = true};  // NVML: power cap.
  model.set_points(fixtures::set_of(fixtures::shown(records)));
  EXPECT_EQ(at(model, 0, "result").toString(), "ok");
  EXPECT_EQ(at(model, 1, "result").toString(), "ok, " + qtext(msg::points_table::throttled{}));
  EXPECT_TRUE(at(model, 1, "result", Qt::ToolTipRole).toString().contains(qtext(msg::throttle::power_cap{})));
}

TEST(PointsTableModel, ShowsRareColumnsOnlyIfSet) {
  PointsTableModel model;
  std::vector<PointRecord> records{fixtures::ok_point(fixtures::decode_spec("fa2", 4096)), fixtures::peers()[0]};
  model.set_points(fixtures::set_of(fixtures::shown(records)));
  const auto in_use = [&](const char* key) { return model.facts(model.find_column_index(key)).in_use; };
  for (const char* rare : {"dropout", "page", "deterministic", "splits", "warps", "stages"}) {
    EXPECT_FALSE(in_use(rare)) << rare;
  }
  EXPECT_TRUE(in_use("pass"));
  records[0].spec.knobs.set(knob::splits, std::int64_t{8});
  records[0].spec.problem.page = 256;
  model.set_points(fixtures::set_of(fixtures::shown(records)));
  EXPECT_TRUE(in_use("splits"));
  EXPECT_TRUE(in_use("page"));
  EXPECT_FALSE(in_use("warps"));
  EXPECT_EQ(at(model, 0, "splits").toString(), "8");
  EXPECT_EQ(at(model, 0, "mask").toString(), "full");
  EXPECT_EQ(at(model, 0, "n").toString(), "1 × 4096");
  EXPECT_EQ(at(model, 1, "algorithm").toString(), "torch-flash");
  EXPECT_EQ(at(model, 1, "br").toString(), "") << "not stated";
  EXPECT_EQ(at(model, 1, "splits").toString(), "");
  EXPECT_EQ(at(model, 1, "values").toString(), "imported");
  EXPECT_TRUE(at(model, 1, "time", Qt::ToolTipRole).toString().contains("imported"));
}

// Sets a field to a value other than its default.
void change(PointSpec& spec, const Field& field) {
  const FieldValue before = field.get(spec);
  for (const char* text : {"3", "0.25", "yes", "warm", "causal", "bf16", "bwd", "fa1", "64", "128", "zigzag"}) {
    PointSpec other = spec;
    if (set_field(field, other, text).ok() && field.get(other) != before) {
      spec = other;
      return;
    }
  }
  FAIL() << field.name;
}

TEST(PointsTableModel, EveryFieldHasAColumn) {
  for (const Field& field : point_fields()) {
    std::vector<PointRecord> records(2, fixtures::ok_point(fixtures::spec("fa2", 1024)));
    ASSERT_NO_FATAL_FAILURE(change(records[1].spec, field));
    PointsTableModel model;
    model.set_points(fixtures::set_of(fixtures::shown(records)));
    bool differs = false;
    for (int column = 0; column < model.columnCount(); ++column) {
      const auto text = [&](int row) { return model.index(row, column).data().toString(); };
      // Columns after this one are computed.
      if (model.key_of(column) == result_key) break;
      differs = differs || (model.facts(column).in_use && text(0) != text(1));
    }
    EXPECT_TRUE(differs) << field.name;
  }
}

QStringList lengths_in(const PointsTableModel& model) {
  QStringList texts;
  for (int row = 0; row < model.rowCount(); ++row) texts << at(model, row, "n").toString();
  return texts;
}

void show_by_time(PointsTableModel& model, const std::vector<PointRecord>& records, Qt::SortOrder order) {
  const auto contents = points_table(fixtures::set_of(fixtures::shown(records)));
  const auto column = static_cast<std::size_t>(find_column_index(contents->table, QStringLiteral("time")));
  model.set_contents(contents, contents->table.ordered(column, order == Qt::DescendingOrder));
}

// A file with an unknown knob adds a column, which moves the later ones.
TEST(PointsTableModel, FindsTheSortColumnByKey) {
  PointsTableModel model;
  const QAbstractItemModelTester tester(&model, Mode::Fatal);
  std::vector<PointRecord> records{
      fixtures::ok_point(fixtures::spec("fa2", 1024)),
      fixtures::failed_point(fixtures::spec("naive", 65536), Disposition::out_of_memory, "needs 132 GiB"),
      fixtures::ok_point(fixtures::spec("fa2", 2048))};
  show_by_time(model, records, Qt::DescendingOrder);
  ASSERT_EQ(lengths_in(model), (QStringList{"2048", "1024", "65536"}));
  EXPECT_EQ(model.point(2).spec.problem.n_q, 65536);
  EXPECT_EQ(model.row_of(model.point(0)), 0);
  const int before = model.find_column_index("time");

  records.push_back(fixtures::ok_point(fixtures::spec("fa2", 4096)));
  records.back().spec.knobs = {{"cluster", 4}};
  show_by_time(model, records, Qt::DescendingOrder);
  EXPECT_EQ(model.find_column_index("time"), before + 1);
  EXPECT_EQ(lengths_in(model), (QStringList{"4096", "2048", "1024", "65536"}));
}

TEST(PointsTableModel, KeepsTheSelectionWhenARoundIsAdded) {
  PointsTableModel model;
  const QAbstractItemModelTester tester(&model, Mode::Fatal);
  std::vector<PointRecord> records(2, fixtures::ok_point(fixtures::spec("fa2", 1024)));
  records[1].spec.problem.n_q = records[1].spec.problem.n_k = 2048;
  records[0].kernels[0].samples_ns = {1000};
  records[1].kernels[0].samples_ns = {2000};
  show_by_time(model, records, Qt::AscendingOrder);
  ASSERT_EQ(lengths_in(model), (QStringList{"1024", "2048"}));
  const QPersistentModelIndex selected = model.index(0, model.find_column_index("n"));
  const QSignalSpy resets(&model, &QAbstractItemModel::modelReset);
  const QSignalSpy changed(&model, &QAbstractItemModel::dataChanged);
  records[0].kernels[0].samples_ns = {3000};
  records.push_back(fixtures::ok_point(fixtures::spec("fa2", 512)));
  records[2].kernels[0].samples_ns = {500};
  show_by_time(model, records, Qt::AscendingOrder);
  EXPECT_EQ(lengths_in(model), (QStringList{"512", "2048", "1024"}));
  EXPECT_EQ(at(model, 2, "time").toString(), "3 µs");
  EXPECT_EQ(selected.row(), 2);
  EXPECT_FALSE(changed.isEmpty());
  EXPECT_TRUE(resets.isEmpty());
}

TEST(PointsTableModel, DetailsShowEveryField) {
  const std::vector<Field> settings = point_settings(built_in_algorithms(), {});
  for (const Field& field : point_fields()) {
    PointRecord record = fixtures::ok_point(fixtures::spec("fa2", 1024));
    const auto html = [&](const PointRecord& of) {
      return describe_point(*fixtures::shown({of})[0].run, of, QPalette(), settings).html;
    };
    const QString before = html(record);
    ASSERT_NO_FATAL_FAILURE(change(record.spec, field));
    EXPECT_NE(html(record), before) << field.name;
  }
}

TEST(PointsTableModel, DeclaredKnobsHaveColumns) {
  PointsTableModel model;
  const QAbstractItemModelTester tester(&model, Mode::Fatal);
  std::vector<PointRecord> records(2, fixtures::ok_point(fixtures::spec("fa2", 1024)));
  model.set_points(fixtures::set_of(fixtures::shown(records)));
  const int warps = model.find_column_index("warps");
  ASSERT_GE(warps, 0);
  EXPECT_FALSE(model.headerData(warps, Qt::Horizontal, Qt::ToolTipRole).toString().isEmpty());
  EXPECT_FALSE(model.facts(warps).in_use);
  records[1].spec.knobs = {{"warps", 4}};
  model.set_points(fixtures::set_of(fixtures::shown(records)));
  EXPECT_TRUE(model.facts(warps).in_use);
  EXPECT_EQ(at(model, 0, "warps").toString(), "");
  EXPECT_EQ(at(model, 1, "warps").toString(), "4");
}

TEST(PointsTableModel, UndeclaredKnobsOfPointsHaveColumns) {
  PointsTableModel model;
  const QAbstractItemModelTester tester(&model, Mode::Fatal);
  auto records = std::vector<PointRecord>(2, fixtures::ok_point(fixtures::spec("fa2", 1024)));
  model.set_points(fixtures::set_of(fixtures::shown(records)));
  EXPECT_EQ(model.find_column_index("order"), -1);
  records.push_back(records[0]);
  records[2].spec.knobs = {{"order", "up_and_down"}};
  model.set_points(fixtures::set_of(fixtures::shown(records)));
  EXPECT_EQ(at(model, 2, "order").toString(), "up and down");
  EXPECT_EQ(at(model, 0, "order").toString(), "");
  EXPECT_EQ(at(model, 2, "n").toString(), "1024") << "later columns moved";
}

TEST(PointSettingsTest, TitlesShowNonDefaultSettings) {
  PointSpec spec = fixtures::spec("fa2", 1024);
  EXPECT_EQ(non_default_settings(spec), QStringList());
  spec.problem.pass = Pass::bwd;
  spec.problem.dropout = 0.25;
  spec.problem.deterministic = true;
  spec.cache = CacheState::warm;
  spec.knobs = {{"raster", "heads_fastest"}, {"warps", 4}};
  EXPECT_EQ(non_default_settings(spec),
            (QStringList{"bwd", "dropout 0.25", "deterministic", qtext(msg::value::l2_state{.state = "warm"}),
                         "heads fastest", "warps 4"}));
}

TEST(PointsTableModel, SortsNumerically) {
  PointsTableModel model;
  model.set_points(fixtures::set_of(fixtures::shown(fixtures::memory_wall())));
  EXPECT_LT(at(model, 1, "n", ResultModel::sort_role).toDouble(), at(model, 2, "n", ResultModel::sort_role).toDouble());
  EXPECT_GT(at(model, 1, "dram", ResultModel::sort_role).toDouble(), 0);
  EXPECT_FALSE(at(model, 6, "dram", ResultModel::sort_role).isValid()) << "a missing value is not a number";
}

TEST(PointsTableModel, AppendsRowsOfAGrowingRun) {
  PointsTableModel model;
  const QAbstractItemModelTester tester(&model, Mode::Fatal);
  const auto points = fixtures::shown(fixtures::memory_wall());
  model.set_points(fixtures::set_of({points.begin(), points.begin() + 5}));
  const QSignalSpy reset(&model, &QAbstractItemModel::modelReset);
  const QSignalSpy inserted(&model, &QAbstractItemModel::rowsInserted);
  model.set_points(fixtures::set_of({points.begin(), points.begin() + 9}));
  EXPECT_EQ(reset.count(), 0);
  ASSERT_EQ(inserted.count(), 1);
  EXPECT_EQ(inserted[0][1].toInt(), 5);
  EXPECT_EQ(inserted[0][2].toInt(), 8);
  model.set_points(fixtures::set_of({points.begin() + 3, points.end()}));
  EXPECT_EQ(reset.count(), 1);
  EXPECT_EQ(model.rowCount(), 18);
}

// Points of two runs have the same ids.
TEST(PointsTableModel, FindsThePointOfItsRun) {
  PointsTableModel model;
  std::vector<fixtures::TestPoint> points = fixtures::shown(fixtures::memory_wall());
  for (const fixtures::TestPoint& point : fixtures::shown(fixtures::memory_wall(), false, 2)) points.push_back(point);
  model.set_points(fixtures::set_of(points));
  ASSERT_EQ(model.rowCount(), 42);
  for (const int row : {0, 20, 21, 41}) EXPECT_EQ(model.row_of(model.point(row)), row);
  EXPECT_EQ(model.point(41).run->summary.id, 2);
}

TEST(SourceNote, ListsUpToThreeDevicesAndTheDays) {
  const auto run = [](const QString& file, const std::string& device, const std::string& time, Provenance from) {
    auto info = std::make_shared<RunInfo>();
    info->file = file;
    info->summary.device_name = device;
    info->summary.started_at = time;
    info->summary.provenance = from;
    return info;
  };
  std::vector<RunPtr> runs{run("/a/x.attnscope", "A", "2026-01-03T12:00:00", Provenance::measured)};
  EXPECT_EQ(source_note(runs), QStringLiteral("A · 2026-01-03 · x.attnscope"));
  runs.push_back(run("/a/x.attnscope", "A", "2026-01-01T12:00:00", Provenance::measured));
  EXPECT_EQ(source_note(runs), QStringLiteral("A · 2026-01-01 – 2026-01-03 · x.attnscope"));
  runs.push_back(run("/b/y.attnscope", "A", "2026-01-02T12:00:00", Provenance::simulated));
  runs.push_back(run("/b/z.attnscope", "B", "2026-01-02T12:00:00", Provenance::measured));
  EXPECT_EQ(source_note(runs), QStringLiteral("A, %1 A, B · 2026-01-01 – 2026-01-03 · x.attnscope, y.attnscope, "
                                              "z.attnscope")
                                   .arg(to_qstring(Provenance::simulated)));
  runs.push_back(run("/c/w.attnscope", "C", "2026-01-02T12:00:00", Provenance::measured));
  EXPECT_TRUE(source_note(runs).contains(QStringLiteral("B, … · "))) << source_note(runs).toStdString();
  EXPECT_TRUE(source_note(runs).endsWith(QStringLiteral("z.attnscope, …")));
  EXPECT_EQ(source_note({}), QString());
}

TEST(RunsModel, MarksImportedRuns) {
  const QTemporaryDir folder;
  const QString file = folder.filePath("peers.attnscope");
  fixtures::write_file(file, {{"import:peers", fixtures::peers(), false, true}});
  Workspace workspace;
  const RunsModel model(workspace);
  ASSERT_EQ(workspace.open_blocking(file), QString());
  EXPECT_EQ(model.index(0).data(RunsModel::origin_role).toString(), "imported");
  EXPECT_EQ(model.index(0).data(RunsModel::title_role).toString(), "peers");
  EXPECT_TRUE(model.index(0).data(Qt::AccessibleTextRole).toString().endsWith("imported"));
}

TEST(RunsModel, ListsRunsAndChecksThem) {
  const QTemporaryDir folder;
  const QString file = folder.filePath("two.attnscope");
  fixtures::write_file(file, {{"quick", fixtures::memory_wall(), false}, {"tiles", fixtures::memory_wall(true), true}});
  Workspace workspace;
  RunsModel model(workspace);
  const QAbstractItemModelTester tester(&model, Mode::Fatal);
  ASSERT_EQ(workspace.open_blocking(file), QString());
  ASSERT_EQ(model.rowCount(), 2);
  EXPECT_EQ(model.index(0).data().toString(), "quick");
  EXPECT_EQ(model.index(0).data(RunsModel::origin_role).toString(), "");
  EXPECT_EQ(model.index(1).data(RunsModel::origin_role).toString(), "simulated");
  EXPECT_TRUE(model.index(0)
                  .data(RunsModel::detail_role)
                  .toString()
                  .contains(qtext(msg::run_list::points_ok{.ok = 20, .points = points_text(21)})));
  EXPECT_EQ(model.index(0).data(RunsModel::state_role).toString(), "") << "complete runs have no badge";
  const QString partial = folder.filePath("partial.attnscope");
  {
    RunStore store = RunStore::open(partial.toStdString(), RunStore::Mode::collect);
    RunHeader header;
    header.device = fixtures::device();
    header.preset = "partial";
    header.planned_points = 2;
    const std::int64_t run = store.begin_run(header);
    store.add_point(run, 0, fixtures::memory_wall()[0]);
    store.finish_run(run, StoredRunState::cancelled);
  }
  ASSERT_EQ(workspace.open_blocking(partial), QString());
  EXPECT_EQ(model.index(2).data().toString(), "partial");
  EXPECT_EQ(model.index(2).data(RunsModel::state_role).toString(), qtext(title(StoredRunState::cancelled)));
  const QString points = model.index(2).data(RunsModel::detail_role).toString();
  EXPECT_TRUE(points.endsWith(qtext(msg::run_list::points_of{.planned = 2, .points = 1}))) << points.toStdString();
  workspace.close(partial);

  EXPECT_EQ(workspace.visible()->size(), 42U);
  ASSERT_TRUE(model.setData(model.index(1), Qt::Unchecked, Qt::CheckStateRole));
  EXPECT_EQ(workspace.visible()->size(), 21U);
  workspace.close(file);
  EXPECT_EQ(model.rowCount(), 0);
}

}  // namespace
}  // namespace attnscope::ui
