// SPDX-License-Identifier: GPL-3.0-or-later
// Comparisons large enough for background threads: later choices count, and results of an earlier filter are dropped.
#include <gtest/gtest.h>

#include <QTemporaryDir>
#include <algorithm>
#include <functional>
#include <memory>
#include <vector>

#include "tests/ui/window_test.h"
#include "ui/pages/compare/compare_page.h"
#include "ui/process/background_task.h"

namespace attnscope::ui {
namespace {

constexpr int many_heads = 2600;  ///< Each with four points in either run.

/// FA2 over N, Br and heads; the later run is 1.5x slower for every second number of heads.
std::vector<PointRecord> many_points(bool later) {
  std::vector<PointRecord> points;
  for (int heads = 1; heads <= many_heads; ++heads) {
    for (const std::int64_t n : {1024, 2048}) {
      for (const int br : {64, 128}) {
        PointRecord& record = points.emplace_back();
        record.spec = fixtures::spec("fa2", n, br);
        record.spec.problem.heads_q = record.spec.problem.heads_kv = heads;
        KernelRecord sum;
        const double ns = 1e3 * heads + br + static_cast<double>(n) * (later && heads % 2 == 0 ? 1.5e3 : 1e3);
        sum.samples_ns = {ns, ns, ns};
        record.kernels.push_back(std::move(sum));
      }
    }
  }
  return points;
}

class LargeComparisonTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder = std::make_unique<QTemporaryDir>();
    for (const bool later : {false, true}) {
      fixtures::write_in_transaction(file(), {later ? "after" : "before", many_points(later), false});
    }
  }
  static void TearDownTestSuite() { folder.reset(); }
  void SetUp() override {
    ASSERT_EQ(workspace.open_blocking(file()), QString());
    ASSERT_GT(workspace.visible()->size(), max_synchronous_points);
    page.resize(1100, 700);
    page.show();
    page.wait_until_idle();
    ASSERT_EQ(page.replacement_text(), QString());
  }
  static QString file() { return folder->filePath(QStringLiteral("many.attnscope")); }
  [[nodiscard]] std::vector<double> ratios() const {
    std::vector<double> shown;
    const QAbstractItemModel& rows = *page.table()->model();
    const int column = page.model().find_column_index(QStringLiteral("ratio"));
    for (int row = 0; row < rows.rowCount(); ++row) {
      shown.push_back(rows.index(row, column).data(ResultModel::sort_role).toDouble());
    }
    return shown;
  }
  static std::unique_ptr<QTemporaryDir> folder;
  Workspace workspace;
  ComparePage page{workspace};
};

std::unique_ptr<QTemporaryDir> LargeComparisonTest::folder;

TEST_F(LargeComparisonTest, CopiesHeadsAsTextAndSortsNumerically) {
  const QAbstractItemModel& rows = page.model();
  const int heads = page.model().find_column_index(QStringLiteral("heads"));
  ASSERT_GE(heads, 0);
  EXPECT_EQ(rows.index(0, heads).data(ResultModel::copy_role), rows.index(0, heads).data());
  EXPECT_TRUE(rows.index(0, heads).data().toString().startsWith("1 × "));
  EXPECT_GE(rows.index(0, heads).data(ResultModel::sort_role).toDouble(), 1);
}

TEST_F(LargeComparisonTest, SortsInTheBackgroundByTheLastRequest) {
  ASSERT_EQ(ratios().size(), 4U * many_heads);
  const int ratio = page.model().find_column_index(QStringLiteral("ratio"));
  page.table()->sortByColumn(ratio, Qt::AscendingOrder);
  EXPECT_FALSE(page.is_up_to_date());
  page.table()->sortByColumn(ratio, Qt::DescendingOrder);
  page.wait_until_idle();
  EXPECT_TRUE(page.is_up_to_date());
  EXPECT_TRUE(std::ranges::is_sorted(ratios(), std::greater()));
  EXPECT_GT(ratios().front(), 1.4);
  EXPECT_DOUBLE_EQ(ratios().back(), 1);
  EXPECT_EQ(page.state()["sorted_by"], "ratio");
  page.restore({{"margin", 3}});  // Compared again, and shown in that order.
  page.wait_until_idle();
  EXPECT_TRUE(std::ranges::is_sorted(ratios(), std::greater()));
  EXPECT_DOUBLE_EQ(page.comparison()->view.margin, 0.03);
}

TEST_F(LargeComparisonTest, KeepsChoicesMadeDuringAFilter) {
  ASSERT_TRUE(workspace.set_query(QStringLiteral("heads<=1000")).empty());
  ASSERT_TRUE(workspace.set_query(QStringLiteral("heads<=650 heads>=11")).empty());
  page.restore({{"margin", 2}});
  EXPECT_FALSE(page.is_up_to_date());
  page.wait_until_idle();
  EXPECT_EQ(page.comparison()->points(), workspace.visible());
  EXPECT_EQ(ratios().size(), 4U * 640);
  EXPECT_DOUBLE_EQ(page.comparison()->view.margin, 0.02) << "the margin that was chosen last";
  const analysis::ComparisonView& view = page.comparison()->view;
  EXPECT_EQ(view.count(analysis::Verdict::slower), 1280U);
  EXPECT_EQ(view.count(analysis::Verdict::ambiguous), 1280U);
  EXPECT_EQ(view.count(analysis::Verdict::faster) + view.count(analysis::Verdict::same) + view.left_out, 0U);
  ASSERT_TRUE(workspace.set_query(QString()).empty());
  page.wait_until_idle();
  EXPECT_EQ(ratios().size(), 4U * many_heads);
}

}  // namespace
}  // namespace attnscope::ui
