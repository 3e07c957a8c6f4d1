// SPDX-License-Identifier: GPL-3.0-or-later
// Curves over axes other than N: any metric over any axis, groups, residuals, peaks, scales and ratios.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <QClipboard>
#include <QGuiApplication>
#include <QTest>

#include "messages/curves.h"
#include "messages/field.h"
#include "profiler/metrics/metrics.h"
#include "tests/ui/window_test.h"
#include "ui/pages/ceilings/ceilings_page.h"
#include "ui/pages/curves/io_curve_page.h"
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
    ASSERT_EQ(workspace.open_blocking(path), QString());
    wait_until_idle();
  }
  [[nodiscard]] QCPGraph* graph_named(const QString& name) const {
    for (int i = 0; i < page.plot()->graphCount(); ++i) {
      if (page.plot()->graph(i)->name() == name) return page.plot()->graph(i);
    }
    return nullptr;
  }

  Workspace workspace;
  IoCurvePage page{workspace};
};

/// FA2 with Br 64 and 128 at two N.
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

TEST_F(CurveAxesTest, LabelsOverlaidTiles) {
  open(two_tiles());
  page.restore({{"plot", "time"}});
  EXPECT_TRUE(page.is_over_n());
  page.restore({{"group", "tile"}});
  EXPECT_FALSE(page.is_over_n());
  const QString time = metric_label(metric_key::time_median_ns);
  QCPGraph* small = graph_named(QStringLiteral("FA2 64 × 64 · %1 · measured").arg(time));
  QCPGraph* large = graph_named(QStringLiteral("FA2 128 × 64 · %1 · measured").arg(time));
  ASSERT_NE(small, nullptr) << page.curves().curves.front().label;
  ASSERT_NE(large, nullptr);
  ASSERT_EQ(small->dataCount(), 2);
  EXPECT_DOUBLE_EQ(small->dataMainValue(1), 4096 * 2000.0);
  EXPECT_DOUBLE_EQ(large->dataMainValue(1), 4096 * 1000.0);
  EXPECT_NE(small->pen().color(), large->pen().color());
  wait_until_idle();
  EXPECT_THAT(page.plot()->line_labels(), ::testing::UnorderedElementsAre("FA2 64 × 64", "FA2 128 × 64"));
  // Error bars show the quartiles.
  bool bars = false;
  for (int i = 0; i < page.plot()->plottableCount(); ++i) {
    const auto* spread = qobject_cast<QCPErrorBars*>(page.plot()->plottable(i));
    bars = bars || (spread != nullptr && spread->data()->size() == 2);
  }
  EXPECT_TRUE(bars);
  EXPECT_NE(graph_named(qtext(msg::curves::model_of{.owner = "FA2 64 × 64", .quantity = time.toStdString()})), nullptr);
}

TEST_F(CurveAxesTest, PlotsAnyMetricOverTileSize) {
  open(two_tiles());
  page.restore({{"over", "br"}});
  page.restore({{"metric", "tflops"}});
  page.choose("n", "4096");
  ASSERT_EQ(page.curves().axis->key(), "br");
  const Curve& curve = page.curves().curves.front();
  ASSERT_EQ(curve.points.size(), 2U);
  EXPECT_EQ(curve.points[0].n, 64);
  EXPECT_EQ(curve.points[1].n, 128);
  EXPECT_NEAR(curve.points[1].value, 2 * curve.points[0].value, 1e-9);
  EXPECT_EQ(page.plot()->xAxis->label(), qtext(msg::field::br{}));
  EXPECT_EQ(page.plot()->yAxis->label(), metric_label(metric_key::tflops));
  wait_until_idle();
  page.plot()->replot();
  EXPECT_TRUE(page.plot()->hover_at({page.plot()->xAxis->coordToPixel(128), 300}));
  EXPECT_EQ(page.plot()->legend_table().content().corner, "Br 128");
  IoCurvePage other(workspace);
  other.restore(page.state());
  EXPECT_EQ(other.state(), page.state());
  EXPECT_EQ(other.curves().axis->key(), "br");
  page.restore({{"over", ""}});
  page.restore({{"metric", ""}});
  EXPECT_TRUE(page.is_over_n());
  page.restore({{"metric", "nobody's"}});
  EXPECT_TRUE(page.is_over_n());
}

TEST_F(CurveAxesTest, SupportsLogarithmicAndLinearScales) {
  ASSERT_EQ(workspace.open_blocking(file), QString());
  const auto logarithmic = [&] {
    return std::pair(page.plot()->yAxis->scaleType() == QCPAxis::stLogarithmic,
                     page.plot()->xAxis->scaleType() == QCPAxis::stLogarithmic);
  };
  EXPECT_EQ(logarithmic(), std::pair(true, true));
  page.restore({{"scale", "linear log"}});
  EXPECT_EQ(logarithmic(), std::pair(false, true));
  page.restore({{"scale", "log linear"}});
  EXPECT_EQ(logarithmic(), std::pair(true, false));
  page.restore({{"scale", ""}});
  page.restore({{"plot", "tflops"}});
  EXPECT_EQ(logarithmic(), std::pair(false, true)) << "the rate axis starts at 0";
}

TEST_F(CurveAxesTest, ShowsResidualsBelowThePlot) {
  ASSERT_EQ(workspace.open_blocking(file), QString());
  page.restore({{"level", "sm_l2"}});
  EXPECT_TRUE(page.plot()->residuals().empty());
  page.restore({{"show", QJsonObject{{"residuals", true}}}});
  wait_until_idle();
  ASSERT_EQ(page.plot()->residuals().size(), 1U);
  QCPAxisRect* panel = page.plot()->residuals().front();
  const Curve* measured = nullptr;
  for (const Curve& curve : page.curves().curves) {
    if (curve.kind == CurveKind::measured && curve.name.algorithm == "fa2") measured = &curve;
  }
  ASSERT_NE(measured, nullptr);
  bool drawn = false;
  for (QCPGraph* graph : panel->graphs()) {
    if (graph->name() != to_qstring(measured->label)) continue;
    drawn = true;
    ASSERT_EQ(graph->dataCount(), static_cast<int>(measured->points.size()));
    for (int i = 0; i < graph->dataCount(); ++i) EXPECT_NEAR(graph->dataMainValue(i), 1.001, 1e-6);
  }
  EXPECT_TRUE(drawn);
  EXPECT_TRUE(panel->axis(QCPAxis::atLeft)->range().contains(1));
  EXPECT_EQ(panel->axis(QCPAxis::atBottom)->range(), page.plot()->xAxis->range());
  page.restore({{"show", QJsonObject{{"residuals", false}}}});
  wait_until_idle();
  EXPECT_TRUE(page.plot()->residuals().empty());
}

}  // namespace
}  // namespace attnscope::ui
