// SPDX-License-Identifier: GPL-3.0-or-later
// Extrapolated simulations are marked as such everywhere.
#include <gtest/gtest.h>

#include <QTextDocument>
#include <algorithm>

#include "messages/curve_plot.h"
#include "messages/details.h"
#include "profiler/metrics/metrics.h"
#include "profiler/points/point_query.h"
#include "tests/ui/window_test.h"
#include "ui/models/result_model.h"
#include "ui/pages/curves/curve_graphs.h"
#include "ui/panels/details_panel.h"
#include "ui/plots/heatmap_text.h"
#include "ui/text/format.h"
#include "ui/text/qtext.h"

namespace attnscope::ui {
namespace {

class ExtrapolatedTest : public ::testing::Test {
 protected:
  ExtrapolatedTest() {
    // Shared by all tests: each long simulation takes a second.
    static const std::vector<PointRecord> simulated = fixtures::simulated_naive({1024, 2048, 16384});
    points = fixtures::shown(simulated, true);
  }
  std::vector<fixtures::TestPoint> points;
};

TEST_F(ExtrapolatedTest, IsMarkedInDetails) {
  const auto text_of = [](const fixtures::TestPoint& point) {
    QTextDocument document;
    document.setHtml(describe_point_html(point, QPalette()));
    return document.toPlainText();
  };
  const QString whole = text_of(points[0]);
  EXPECT_TRUE(whole.contains("NVIDIA H200 · simulated unless marked\n")) << whole.toStdString();
  EXPECT_FALSE(whole.contains("extrapolated", Qt::CaseInsensitive));
  const QString part = text_of(points[2]);
  EXPECT_TRUE(part.contains("NVIDIA H200 · extrapolated unless marked\n")) << part.toStdString();
  EXPECT_TRUE(part.contains(qtext(msg::details::extrapolated{})));
  const auto origins = [&](const QString& label) {
    QStringList words;
    const QStringList lines = part.split(QLatin1Char('\n'));
    for (qsizetype i = 0; i + 1 < lines.size(); ++i) {
      if (lines[i] != label) continue;
      const QString origin = lines[i + 1].section(QLatin1Char(' '), -1);
      words << (origin == "simulated" ? origin : QStringLiteral("extrapolated"));
    }
    return words.join(QLatin1Char('|'));
  };
  const QString extrapolated = QStringLiteral("extrapolated");
  const QString in_part = extrapolated + QStringLiteral("|simulated|") + extrapolated;
  // The whole point, then qk (simulated completely), softmax and pv.
  EXPECT_TRUE(origins(metric_label("dram_read_bytes")).startsWith(in_part));
  EXPECT_TRUE(origins(metric_label(metric_key::time_median_ns)).contains(in_part));
  EXPECT_TRUE(origins(metric_label(metric_key::tflops)).startsWith(extrapolated));
  EXPECT_TRUE(origins(metric_label(metric_key::time_spread)).startsWith(extrapolated));
  EXPECT_TRUE(origins(metric_label(metric_key::l2_to_sm_bytes)).startsWith("simulated|simulated|simulated"));
}

TEST_F(ExtrapolatedTest, IsMarkedInTheTable) {
  PointsTableModel model;
  model.set_points(fixtures::set_of(points));
  const auto at = [&](int row, const char* column, int role = Qt::DisplayRole) {
    return model.data(model.index(row, model.find_column_index(QString::fromUtf8(column))), role).toString();
  };
  EXPECT_EQ(at(0, "values"), "simulated");
  EXPECT_EQ(at(0, "result"), "ok, simulated");
  EXPECT_EQ(at(2, "values"), "extrapolated");
  EXPECT_EQ(at(2, "result"), "ok, extrapolated");
  for (const char* column : {"time", "dram", "occupancy", "rate"}) {
    EXPECT_TRUE(at(2, column, Qt::ToolTipRole).contains("extrapolated")) << column;
    EXPECT_FALSE(at(0, column, Qt::ToolTipRole).contains("extrapolated")) << column;
  }
  EXPECT_FALSE(at(2, "sm_l2", Qt::ToolTipRole).contains("extrapolated"));
  const analysis::PointTable& table = model.contents()->points->table();
  EXPECT_EQ(analysis::PointQuery::parse("extrapolated", table)->rows(table).size(), 1U);
  EXPECT_EQ(analysis::PointQuery::parse("simulated", table)->rows(table).size(), 3U);
  EXPECT_EQ(analysis::PointQuery::parse("from:simulated", table)->rows(table).size(), 3U);
}

TEST_F(ExtrapolatedTest, IsMarkedInReadOutsAndLegend) {
  CurveRequest request;
  request.algorithms = {"naive"};
  const CurveSet set = fixtures::curves_of(points, request);
  const PlotColors colors = plot_colors(QPalette());
  const auto read = [&](Quantity quantity, std::size_t point) {
    const auto curve = std::ranges::find_if(
        set.curves, [&](const Curve& each) { return each.kind == CurveKind::measured && each.quantity == quantity; });
    return describe_point(set, *curve, curve->points[point], colors).rows.front();
  };
  EXPECT_EQ(read(Quantity::dram, 0).sample.kind, SampleKind::hollow);
  EXPECT_EQ(read(Quantity::dram, 0).label, "Naive · DRAM · simulated");
  EXPECT_EQ(read(Quantity::dram, 2).label, "Naive · DRAM · extrapolated");
  EXPECT_EQ(read(Quantity::sm_l2, 2).label, "Naive · SM↔L2 · simulated") << "exact";
  const LegendContent legend = CurveLegend(set).at(16384, 0, colors);
  const Message words = msg::curve_plot::extrapolated_points{.all = 6, .points = 1};
  EXPECT_TRUE(legend.notes.contains(qtext(words))) << legend.notes.join('\n').toStdString();
}

}  // namespace
}  // namespace attnscope::ui
