// SPDX-License-Identifier: GPL-3.0-or-later
// The page of curves beyond N: any metric over any axis, grouped, with residuals, peaks, scales and the ratio of two.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <QClipboard>
#include <QGuiApplication>
#include <QTest>

#include "profiler/metrics/metrics.h"
#include "tests/ui/window_test.h"
#include "ui/models/shown_ceilings.h"
#include "ui/pages/io_curve_page.h"
#include "ui/text/format.h"

namespace attnscope::ui {
namespace {

class CurveAxesTest : public WindowTest {
 protected:
  void SetUp() override {
    WindowTest::SetUp();
    page.resize(1000, 700);
    page.show();
  }
  void open(const std::vector<PointRecord>& records) {
    const QString path = folder.filePath("curves.attnscope");
    fixtures::write_file(path, {{"custom", records, false}});
    ASSERT_EQ(workspace.open_now(path), QString());
    settle();
  }
  [[nodiscard]] QCPGraph* graph_called(const QString& name) const {
    for (int i = 0; i < page.plot()->graphCount(); ++i) {
      if (page.plot()->graph(i)->name() == name) return page.plot()->graph(i);
    }
    return nullptr;
  }

  Workspace workspace;
  IoCurvePage page{workspace};
};

/// Br 64 and 128 of FA2 at two N.
std::vector<PointRecord> two_tiles() {
  std::vector<PointRecord> records;
  for (const std::int64_t n : {1024, 4096}) {
    for (const int br : {64, 128}) {
      PointRecord record = fixtures::ok_point(fixtures::spec("fa2", n, br, 64));
      const double time = static_cast<double>(n) * (br == 64 ? 2000 : 1000);
      record.kernels[0].samples_ns = {0.9 * time, 0.9 * time, time, 1.1 * time, 1.1 * time};
      records.push_back(std::move(record));
    }
  }
  return records;
}

TEST_F(CurveAxesTest, TilesOverlaidAreNamed) {
  open(two_tiles());
  page.set_ordinate(Ordinate::time);
  EXPECT_TRUE(page.over_n());
  page.set_group("tile");
  EXPECT_FALSE(page.over_n());
  QCPGraph* small = graph_called("FA2 64 × 64 · Time · measured");
  QCPGraph* large = graph_called("FA2 128 × 64 · Time · measured");
  ASSERT_NE(small, nullptr) << page.curves().curves.front().label.toStdString();
  ASSERT_NE(large, nullptr);
  ASSERT_EQ(small->dataCount(), 2);
  EXPECT_DOUBLE_EQ(small->dataMainValue(1), 4096 * 2000.0);
  EXPECT_DOUBLE_EQ(large->dataMainValue(1), 4096 * 1000.0);
  EXPECT_NE(small->pen().color(), large->pen().color());
  settle();
  EXPECT_THAT(page.plot()->line_labels(), ::testing::UnorderedElementsAre("FA2 64 × 64", "FA2 128 × 64"));
  // Quartiles are drawn.
  bool bars = false;
  for (int i = 0; i < page.plot()->plottableCount(); ++i) {
    const auto* spread = qobject_cast<QCPErrorBars*>(page.plot()->plottable(i));
    bars = bars || (spread != nullptr && spread->data()->size() == 2);
  }
  EXPECT_TRUE(bars);
  EXPECT_NE(graph_called("FA2 64 × 64 · Time · model"), nullptr);
}

TEST_F(CurveAxesTest, AnyMetricOverASideOfTheTile) {
  open(two_tiles());
  page.set_axis("br");
  page.set_metric("tflops");
  page.choose("N", "4096");
  ASSERT_EQ(page.curves().axis->key(), "br");
  const Curve& curve = page.curves().curves.front();
  ASSERT_EQ(curve.points.size(), 2U);
  EXPECT_EQ(curve.points[0].n, 64);
  EXPECT_EQ(curve.points[1].n, 128);
  EXPECT_NEAR(curve.points[1].value, 2 * curve.points[0].value, 1e-9);
  EXPECT_EQ(page.plot()->xAxis->label(), "Br");
  EXPECT_EQ(page.plot()->yAxis->label(), "TFLOP/s");
  EXPECT_TRUE(page.plot()->hover_at({page.plot()->xAxis->coordToPixel(128), 300}));
  EXPECT_EQ(page.plot()->hover_content()->title, "Br 128");
  IoCurvePage other(workspace);
  other.restore(page.state());
  EXPECT_EQ(other.state(), page.state());
  EXPECT_EQ(other.curves().axis->key(), "br");
  page.set_axis("n");
  page.set_metric({});
  EXPECT_TRUE(page.over_n());
  page.set_metric("nobody's");
  EXPECT_TRUE(page.over_n());
}

TEST_F(CurveAxesTest, AModelFollowsWhatIsSupposedOfTheMemories) {
  open(two_tiles());
  page.set_ordinate(Ordinate::time);
  page.set_group("tile");
  const auto find = [this](CurveKind kind) -> const Curve& {
    const auto& all = page.curves().curves;
    return *std::ranges::find_if(all, [&](const Curve& each) { return each.kind == kind; });
  };
  const Curve measured = find(CurveKind::measured);
  const Curve model = find(CurveKind::model);
  WhatIf slow;
  slow.dram_rate = 0.25;
  workspace.suppose(slow);
  const Curve slower = find(CurveKind::model);
  ASSERT_EQ(slower.points.size(), model.points.size());
  EXPECT_GT(slower.points[0].value, 1.02 * model.points[0].value);
  EXPECT_NE(graph_called("FA2 64 × 64 · Time · model, what if DRAM rate × 0.25"), nullptr)
      << slower.label.toStdString();
  EXPECT_FALSE(page.curves().title.contains("what if")) << "that is said across the window";
  const Curve still = find(CurveKind::measured);
  EXPECT_EQ(still.label, measured.label);
  EXPECT_EQ(still.points[0].value, measured.points[0].value);
  EXPECT_EQ(still.points[0].over_theory, measured.points[0].over_theory) << "the GPU was the one that it is";
  workspace.suppose({});
  EXPECT_EQ(find(CurveKind::model).points[0].value, model.points[0].value);
}

TEST_F(CurveAxesTest, WhereTheL2EndsFollowsItsSize) {
  ASSERT_EQ(workspace.open_now(file), QString());
  ASSERT_FALSE(page.curves().boundaries.empty());
  const double before = page.curves().boundaries.front().at.n_nominal;
  WhatIf twice;
  twice.l2 = 4;
  workspace.suppose(twice);
  ASSERT_FALSE(page.curves().boundaries.empty());
  EXPECT_GT(page.curves().boundaries.front().at.n_nominal, 1.5 * before);
  // A picture leaves behind what the window says across all pages.
  const QString picture = folder.filePath("bands.svg");
  ASSERT_EQ(save_picture(picture, {1100, 720}, page.picture()), QString());
  QFile drawn(picture);
  ASSERT_TRUE(drawn.open(QIODevice::ReadOnly));
  EXPECT_TRUE(QString::fromUtf8(drawn.readAll()).contains("what if L2 size × 4"));
}

TEST_F(CurveAxesTest, ScalesAreLogarithmicOrLinear) {
  ASSERT_EQ(workspace.open_now(file), QString());
  const auto logarithmic = [&] {
    return std::pair(page.plot()->yAxis->scaleType() == QCPAxis::stLogarithmic,
                     page.plot()->xAxis->scaleType() == QCPAxis::stLogarithmic);
  };
  EXPECT_EQ(logarithmic(), std::pair(true, true));
  page.set_scale("linear log");
  EXPECT_EQ(logarithmic(), std::pair(false, true));
  page.set_scale("log linear");
  EXPECT_EQ(logarithmic(), std::pair(true, false));
  page.set_scale({});
  page.set_ordinate(Ordinate::rate);
  EXPECT_EQ(logarithmic(), std::pair(false, true)) << "rates begin at 0 by themselves";
}

TEST_F(CurveAxesTest, ResidualsStandBelow) {
  ASSERT_EQ(workspace.open_now(file), QString());
  EXPECT_EQ(page.plot()->residuals().rect(), nullptr);
  page.set_residuals(true);
  settle();
  QCPAxisRect* panel = page.plot()->residuals().rect();
  ASSERT_NE(panel, nullptr);
  const Curve* measured = nullptr;
  for (const Curve& curve : page.curves().curves) {
    if (curve.kind == CurveKind::measured && curve.quantity == Quantity::sm_l2 && curve.name.algorithm == "fa2") {
      measured = &curve;
    }
  }
  ASSERT_NE(measured, nullptr);
  bool drawn = false;
  for (QCPGraph* graph : panel->graphs()) {
    if (graph->name() != measured->label) continue;
    drawn = true;
    ASSERT_EQ(graph->dataCount(), static_cast<int>(measured->points.size()));
    for (int i = 0; i < graph->dataCount(); ++i) EXPECT_NEAR(graph->dataMainValue(i), 1.001, 1e-6);
  }
  EXPECT_TRUE(drawn);
  EXPECT_TRUE(panel->axis(QCPAxis::atLeft)->range().contains(1));
  EXPECT_EQ(panel->axis(QCPAxis::atBottom)->range(), page.plot()->xAxis->range());
  page.set_residuals(false);
  settle();
  EXPECT_EQ(page.plot()->residuals().rect(), nullptr);
}

TEST_F(CurveAxesTest, ABracketSaysHowManyTimes) {
  std::vector<PointRecord> records = two_tiles();
  open(records);
  page.set_ordinate(Ordinate::time);
  page.set_group("tile");
  page.plot()->pick("FA2 64 × 64 · Time · measured", 4096);
  EXPECT_EQ(page.plot()->bracket().words(), QString());
  page.plot()->pick("FA2 128 × 64 · Time · measured", 4096);
  EXPECT_EQ(page.plot()->bracket().words(), "2 × shorter time at N 4096: FA2 128 × 64 against FA2 64 × 64");
  QTest::keyClick(page.plot(), Qt::Key_C, Qt::ControlModifier);
  EXPECT_EQ(QGuiApplication::clipboard()->text(), page.plot()->bracket().words());
  QTest::keyClick(page.plot(), Qt::Key_Escape);
  EXPECT_EQ(page.plot()->bracket().words(), QString());
  // As with the mouse: Shift and a click on a mark.
  settle();
  for (const Curve& curve : page.curves().curves) {
    if (curve.kind != CurveKind::measured) continue;
    const QPoint at(qRound(page.plot()->xAxis->coordToPixel(curve.points[0].n)),
                    qRound(page.plot()->yAxis->coordToPixel(curve.points[0].value)));
    QTest::mouseClick(page.plot(), Qt::LeftButton, Qt::ShiftModifier, at);
    settle();
  }
  EXPECT_EQ(page.plot()->bracket().words(), "2 × shorter time at N 1024: FA2 128 × 64 against FA2 64 × 64");
}

}  // namespace
}  // namespace attnscope::ui
