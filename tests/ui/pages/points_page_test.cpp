// SPDX-License-Identifier: GPL-3.0-or-later
#include <gtest/gtest.h>

#include <QHeaderView>
#include <QMenu>
#include <QTest>

#include "messages/empty_page.h"
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
    ASSERT_EQ(workspace.open_blocking(path), QString());
    wait_until_idle();
  }
  [[nodiscard]] int column(const char* key) const {
    return dynamic_cast<const ResultModel&>(*table->model()).find_column_index(QLatin1String(key));
  }
  [[nodiscard]] QString heading(const char* key, int role = Qt::DisplayRole) const {
    return table->model()->headerData(column(key), Qt::Horizontal, role).toString();
  }
  [[nodiscard]] QStringList shown(const char* key) const {
    QStringList texts;
    for (int row = 0; row < table->model()->rowCount(); ++row) {
      texts << table->model()->index(row, column(key)).data().toString();
    }
    return texts;
  }
  [[nodiscard]] QString common() const { return page.findChild<QLabel*>("common")->text(); }
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
  for (const char* key : {"time", "dram", "occupancy"}) {
    table->sortByColumn(column(key), Qt::AscendingOrder);
    EXPECT_EQ(shown("n").constLast(), "65536") << key;
    table->sortByColumn(column(key), Qt::DescendingOrder);
    EXPECT_EQ(shown("n").constLast(), "65536") << key;
  }
  table->sortByColumn(column("time"), Qt::AscendingOrder);
  EXPECT_EQ(shown("n"), (QStringList{"512", "1024", "2048", "65536"}));
  table->sortByColumn(column("time"), Qt::DescendingOrder);
  EXPECT_EQ(shown("n"), (QStringList{"2048", "1024", "512", "65536"}));
  // Rows without a reason are last.
  table->sortByColumn(column("reason"), Qt::DescendingOrder);
  EXPECT_EQ(shown("n").constFirst(), "65536");
  table->sortByColumn(column("reason"), Qt::AscendingOrder);
  EXPECT_EQ(shown("n").constFirst(), "65536");
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
  const auto cell = [&](const QStringList& line, const char* key) {
    const auto at = header.indexOf(heading(key, copy_role));
    EXPECT_GE(at, 0) << key << " in " << lines[0].toStdString();
    return line.value(at);
  };
  EXPECT_TRUE(heading("time", copy_role).endsWith("[ns]"));
  EXPECT_TRUE(heading("dram", copy_role).endsWith("[byte]"));
  const KernelRecord& all = *records[0].kernel("all");
  EXPECT_EQ(cell(first, "algorithm"), "fa2");
  EXPECT_EQ(cell(first, "n"), "1024");
  EXPECT_DOUBLE_EQ(cell(first, "time").toDouble(), summarize(all.samples_ns)->median);
  double dram = 0;
  for (const MetricValue& value : all.metrics) {
    if (value.name == metric_key::dram_read_bytes || value.name == metric_key::dram_write_bytes) dram += value.value;
  }
  EXPECT_DOUBLE_EQ(cell(first, "dram").toDouble(), dram);
  bool number = false;
  cell(first, "over_model").toDouble(&number);
  EXPECT_TRUE(number) << cell(first, "over_model").toStdString();
  EXPECT_EQ(cell(second, "time"), "");
  EXPECT_EQ(cell(second, "result"), "out-of-memory");
}

TEST_F(PointsPageTest, ShowsCommonValuesOnceAndCopiesThem) {
  std::vector<PointRecord> records;
  for (const std::int64_t n : {512, 1024}) records.push_back(fixtures::ok_point(fixtures::spec("fa2", n)));
  ASSERT_NO_FATAL_FAILURE(show(records));
  for (const char* key : {"mask", "type", "reason"}) EXPECT_TRUE(table->isColumnHidden(column(key))) << key;
  for (const char* key : {"algorithm", "n", "time"}) EXPECT_FALSE(table->isColumnHidden(column(key))) << key;
  EXPECT_TRUE(common().contains(heading("mask") + " full")) << common().toStdString();
  EXPECT_FALSE(common().contains(heading("reason"))) << "no point has a reason";
  table->selectAll();
  EXPECT_TRUE(to_tsv(page.table()->selected_values()).contains("\tfull\t"));
  QMenu menu;
  page.fill_menu(menu);
  for (QAction* action : menu.findChildren<QAction*>()) {
    if (action->text() != heading("mask")) continue;
    EXPECT_FALSE(action->isChecked());
    action->trigger();
  }
  EXPECT_FALSE(table->isColumnHidden(column("mask")));
  EXPECT_FALSE(common().contains(heading("mask")));
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
    return shown("n");
  };
  EXPECT_FALSE(workspace.set_query(QStringLiteral("64")).empty()) << "a number without a field";
  EXPECT_EQ(left("fa"), (QStringList{"512", "640", "4096", "1024", "2048"})) << "part of a name";
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
  ASSERT_EQ(workspace.open_blocking(path), QString());
  wait_until_idle();
  const auto left = [&](const char* words) {
    EXPECT_TRUE(workspace.set_query(QString::fromUtf8(words)).empty()) << words;
    return shown("n");
  };
  EXPECT_EQ(left("fa2"), QStringList{"2048"});
  EXPECT_EQ(left("bwd"), QStringList{"1024"});
  EXPECT_EQ(left("run=tiles"), (QStringList{"512", "1024", "2048"})) << "runs are filtered by name";
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
  EXPECT_TRUE(words->text().contains(qtext(msg::empty_page::all_filtered{.points = points_text(2)})))
      << words->text().toStdString();
  EXPECT_TRUE(words->text().contains("splitkv &lt;b&gt;")) << words->text().toStdString();
  EXPECT_TRUE(words->text().contains("href=\"clear\"")) << words->text().toStdString();
  emit words->linkActivated(QStringLiteral("clear"));
  EXPECT_EQ(workspace.query(), QString());
  EXPECT_TRUE(table->isVisible());
  EXPECT_EQ(shown("n"), (QStringList{"512", "1024"}));
}

}  // namespace
}  // namespace attnscope::ui
