// SPDX-License-Identifier: GPL-3.0-or-later
#include <gtest/gtest.h>

#include <QHeaderView>
#include <QMenu>
#include <QTest>

#include "profiler/metrics/metrics.h"
#include "tests/ui/window_test.h"
#include "ui/pages/points/points_page.h"

namespace attnscope::ui {
namespace {

class PointsPageTest : public WindowTest {
 protected:
  void show(const std::vector<PointRecord>& records) {
    const QString path = folder.filePath("points.attnscope");
    fixtures::write_file(path, {{"custom", records, false}});
    page.resize(1200, 700);
    page.show();
    ASSERT_EQ(workspace.open_now(path), QString());
    settle();
  }
  [[nodiscard]] int column(const char* heading) const {
    for (int i = 0; i < table->model()->columnCount(); ++i) {
      if (table->model()->headerData(i, Qt::Horizontal).toString() == QString::fromUtf8(heading)) return i;
    }
    return -1;
  }
  [[nodiscard]] QStringList shown(const char* heading) const {
    QStringList texts;
    for (int row = 0; row < table->model()->rowCount(); ++row) {
      texts << table->model()->index(row, column(heading)).data().toString();
    }
    return texts;
  }
  Workspace workspace;
  PointsPage page{workspace};
  QTableView* table = page.table();
};

TEST_F(PointsPageTest, SortsMissingValuesLast) {
  std::vector<PointRecord> records;
  for (const std::int64_t n : {2048, 512, 1024}) records.push_back(fixtures::ok_point(fixtures::spec("fa2", n)));
  records.insert(records.begin() + 1,
                 fixtures::failed_point(fixtures::spec("naive", 65536), Disposition::out_of_memory, "needs 132 GiB"));
  ASSERT_NO_FATAL_FAILURE(show(records));
  for (const char* heading : {"Time", "DRAM", "Occupancy"}) {
    table->sortByColumn(column(heading), Qt::AscendingOrder);
    EXPECT_EQ(shown("N").constLast(), "65536") << heading;
    table->sortByColumn(column(heading), Qt::DescendingOrder);
    EXPECT_EQ(shown("N").constLast(), "65536") << heading;
  }
  table->sortByColumn(column("Time"), Qt::AscendingOrder);
  EXPECT_EQ(shown("N"), (QStringList{"512", "1024", "2048", "65536"}));
  table->sortByColumn(column("Time"), Qt::DescendingOrder);
  EXPECT_EQ(shown("N"), (QStringList{"2048", "1024", "512", "65536"}));
  // Rows without a reason are last.
  table->sortByColumn(column("Reason"), Qt::DescendingOrder);
  EXPECT_EQ(shown("N").constFirst(), "65536");
  table->sortByColumn(column("Reason"), Qt::AscendingOrder);
  EXPECT_EQ(shown("N").constFirst(), "65536");
}

TEST_F(PointsPageTest, CopiesRowsInBaseUnits) {
  std::vector<PointRecord> records{
      fixtures::ok_point(fixtures::spec("fa2", 1024)),
      fixtures::failed_point(fixtures::spec("naive", 65536), Disposition::out_of_memory, "needs 132 GiB")};
  ASSERT_NO_FATAL_FAILURE(show(records));
  table->selectAll();
  const QStringList lines = to_tsv(page.table()->selected_values()).trimmed().split('\n');
  ASSERT_EQ(lines.size(), 3);
  const QStringList header = lines[0].split('\t');
  const QStringList first = lines[1].split('\t');
  const QStringList second = lines[2].split('\t');
  ASSERT_EQ(first.size(), header.size());
  ASSERT_EQ(second.size(), header.size());
  const auto cell = [&](const QStringList& line, const char* heading) {
    const auto at = header.indexOf(QString::fromUtf8(heading));
    EXPECT_GE(at, 0) << heading << " in " << lines[0].toStdString();
    return line.value(at);
  };
  const KernelRecord& all = *records[0].kernel("all");
  EXPECT_EQ(cell(first, "Algorithm"), "fa2");
  EXPECT_EQ(cell(first, "N"), "1024");
  EXPECT_DOUBLE_EQ(cell(first, "Time [ns]").toDouble(), summarize(all.samples_ns)->median);
  double dram = 0;
  for (const MetricValue& value : all.metrics) {
    if (value.name == metric_key::dram_read_bytes || value.name == metric_key::dram_write_bytes) dram += value.value;
  }
  EXPECT_DOUBLE_EQ(cell(first, "DRAM [byte]").toDouble(), dram);
  bool number = false;
  cell(first, "÷ model").toDouble(&number);
  EXPECT_TRUE(number) << cell(first, "÷ model").toStdString();
  EXPECT_EQ(cell(second, "Time [ns]"), "");
  EXPECT_EQ(cell(second, "Result"), "out-of-memory");
}

TEST_F(PointsPageTest, ShowsCommonValuesOnceAndCopiesThem) {
  std::vector<PointRecord> records;
  for (const std::int64_t n : {512, 1024}) records.push_back(fixtures::ok_point(fixtures::spec("fa2", n)));
  ASSERT_NO_FATAL_FAILURE(show(records));
  for (const char* heading : {"Mask", "Type", "Reason"}) EXPECT_TRUE(table->isColumnHidden(column(heading))) << heading;
  for (const char* heading : {"Algorithm", "N", "Time"})
    EXPECT_FALSE(table->isColumnHidden(column(heading))) << heading;
  EXPECT_TRUE(page.common().contains("Mask full")) << page.common().toStdString();
  EXPECT_FALSE(page.common().contains("Reason")) << "nobody has one";
  table->selectAll();
  EXPECT_TRUE(to_tsv(page.table()->selected_values()).contains("\tfull\t"));
  QMenu menu;
  page.fill_menu(menu);
  for (QAction* action : menu.findChildren<QAction*>()) {
    if (action->text() != "Mask") continue;
    EXPECT_FALSE(action->isChecked());
    action->trigger();
  }
  EXPECT_FALSE(table->isColumnHidden(column("Mask")));
  EXPECT_FALSE(page.common().contains("Mask"));
}

TEST_F(PointsPageTest, SelectsOnlyTheMarkedPointWithCtrl) {
  ASSERT_NO_FATAL_FAILURE(
      show({fixtures::ok_point(fixtures::spec("fa2", 1024)), fixtures::ok_point(fixtures::spec("fa2", 2048))}));
  QTest::keyPress(table, Qt::Key_Control, Qt::ControlModifier);
  const std::shared_ptr<const PointSet> points = workspace.visible();
  for (const Row row : {0U, 1U, 1U}) {
    page.mark((*points)[row]);
    const QModelIndexList selected = table->selectionModel()->selectedRows();
    ASSERT_EQ(selected.size(), 1);
    EXPECT_EQ(selected[0].row(), static_cast<int>(row));
  }
  QTest::keyRelease(table, Qt::Key_Control);
}

TEST_F(PointsPageTest, NumbersInFiltersMatchExactly) {
  std::vector<PointRecord> records;
  const auto add = [&](const char* algorithm, std::int64_t n, int br, int bc, std::int64_t d, int heads) {
    PointSpec spec = fixtures::spec(algorithm, n, br, bc, d);
    spec.problem.heads_q = spec.problem.heads_kv = heads;
    records.push_back(fixtures::ok_point(spec));
  };
  add("fa1", 512, 128, 32, 128, 64);   // Differs in heads only.
  add("fa1", 640, 128, 128, 128, 16);  // N contains 64.
  add("fa1", 4096, 128, 32, 64, 16);   // Differs in d.
  add("fa1", 1024, 64, 128, 128, 16);  // Differs in Br.
  add("fa2", 2048, 128, 64, 128, 16);  // Differs in Bc.
  ASSERT_NO_FATAL_FAILURE(show(records));
  const auto left = [&](const char* words) {
    EXPECT_TRUE(workspace.set_query(QString::fromUtf8(words)).empty()) << words;
    return shown("N");
  };
  EXPECT_FALSE(workspace.set_query(QStringLiteral("64")).empty()) << "a number names no field";
  EXPECT_EQ(left("fa"), (QStringList{"512", "640", "4096", "1024", "2048"})) << "a word may be part of one";
  EXPECT_EQ(left("N:4k"), QStringList{"4096"});
  EXPECT_EQ(left("tile:128x64"), QStringList{"2048"});
  EXPECT_EQ(left("heads=64"), QStringList{"512"});
  EXPECT_EQ(left("d=64"), QStringList{"4096"});
  EXPECT_EQ(left("BR=64"), QStringList{"1024"});
  EXPECT_EQ(left(""), (QStringList{"512", "640", "4096", "1024", "2048"}));
}

TEST_F(PointsPageTest, FilterTextMatchesPointsOnly) {
  PointSpec backward = fixtures::spec("fa1", 1024);
  backward.problem.pass = Pass::bwd;
  const std::vector<PointRecord> records{fixtures::ok_point(fixtures::spec("fa1", 512)), fixtures::ok_point(backward),
                                         fixtures::ok_point(fixtures::spec("fa2", 2048))};
  const QString path = folder.filePath("titled.attnscope");
  fixtures::write_file(path, {{"tiles fa1/fa2 fwd/bwd", records, false}});
  page.resize(1200, 700);
  page.show();
  ASSERT_EQ(workspace.open_now(path), QString());
  settle();
  const auto left = [&](const char* words) {
    EXPECT_TRUE(workspace.set_query(QString::fromUtf8(words)).empty()) << words;
    return shown("N");
  };
  EXPECT_EQ(left("fa2"), QStringList{"2048"});
  EXPECT_EQ(left("bwd"), QStringList{"1024"});
  EXPECT_EQ(left("run=tiles"), (QStringList{"512", "1024", "2048"})) << "a run is asked for by name";
  EXPECT_EQ(left("run=quick"), QStringList());
}

TEST_F(PointsPageTest, EmptyFilterResultOffersToClearTheFilter) {
  ASSERT_NO_FATAL_FAILURE(
      show({fixtures::ok_point(fixtures::spec("fa1", 512)), fixtures::ok_point(fixtures::spec("fa2", 1024))}));
  auto* words = page.findChild<EmptyState*>();
  ASSERT_NE(words, nullptr);
  EXPECT_FALSE(words->isVisible());
  ASSERT_TRUE(workspace.set_query("\"splitkv <b>\"").empty());
  EXPECT_TRUE(words->isVisible());
  EXPECT_TRUE(words->text().contains("The filter hides all 2 points")) << words->text().toStdString();
  EXPECT_TRUE(words->text().contains("splitkv &lt;b&gt;")) << words->text().toStdString();
  EXPECT_TRUE(words->text().contains("Clear the filter")) << words->text().toStdString();
  emit words->linkActivated(QStringLiteral("clear"));
  EXPECT_EQ(workspace.query(), QString());
  EXPECT_TRUE(table->isVisible());
  EXPECT_EQ(shown("N"), (QStringList{"512", "1024"}));
}

}  // namespace
}  // namespace attnscope::ui
