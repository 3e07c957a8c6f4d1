// SPDX-License-Identifier: GPL-3.0-or-later
// Extrapolated simulations are marked as such everywhere.
#include <gtest/gtest.h>

#include <QTextDocument>

#include "messages/curve_plot.h"
#include "messages/details.h"
#include "profiler/metrics/metrics.h"
#include "profiler/points/point_query.h"
#include "tests/ui/window_test.h"
#include "ui/models/points_table.h"
#include "ui/pages/curves/curve_graphs.h"
#include "ui/pages/curves/io_plot.h"
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
  EXPECT_TRUE(whole.contains("NVIDIA H200 · simulated\n")) << whole.toStdString();
  EXPECT_FALSE(whole.contains("extrapolated", Qt::CaseInsensitive));
  const QString part = text_of(points[2]);
  EXPECT_TRUE(part.contains("NVIDIA H200 · extrapolated\n")) << part.toStdString();
  EXPECT_TRUE(part.contains(qtext(msg::details::extrapolated{})));
  const auto origins = [&](const QString& label) {
    QStringList words;
    const QStringList lines = part.split(QLatin1Char('\n'));
    for (qsizetype i = 0; i + 2 < lines.size(); ++i) {
      if (lines[i] == label) words << lines[i + 2];
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

TEST_F(ExtrapolatedTest, IsMarkedOnCurvesAndInReadOuts) {
  CurveRequest request;
  request.algorithms = {"naive"};
  const CurveSet set = fixtures::curves_of(points, request);
  const auto columns = build_hover_columns(set, plot_colors(QPalette()));
  ASSERT_EQ(columns.size(), 3U);
  const auto row_of = [&](std::size_t column, const QString& label) {
    for (const HoverRow& row : columns[column].content.rows) {
      if (row.label.startsWith(label + QStringLiteral(" · "))) return row;
    }
    ADD_FAILURE() << "no " << label.toStdString();
    return HoverRow{};
  };
  EXPECT_EQ(row_of(0, "Naive · DRAM · simulated").mark, SampleMark::hollow_disc);
  EXPECT_EQ(row_of(2, "Naive · DRAM · extrapolated").mark, SampleMark::plus_disc);
  EXPECT_EQ(row_of(2, "Naive · SM↔L2 · simulated").mark, SampleMark::hollow_square) << "exact";

  QCustomPlot plot;
  plot.addLayer(theory_layer());
  PlotLegend legend(plot);
  add_curve_graphs(plot, set.curves, legend);
  int marks = 0;
  for (int i = 0; i < plot.graphCount(); ++i) {
    const QCPGraph* graph = plot.graph(i);
    if (graph->scatterStyle().shape() != QCPScatterStyle::ssPlusCircle || graph->dataCount() == 0) continue;
    ++marks;
    ASSERT_EQ(graph->dataCount(), 1);
    EXPECT_EQ(graph->data()->at(0)->key, 16384);
  }
  EXPECT_EQ(marks, 1);
  EXPECT_EQ(plot.graph(plot.graphCount() - 1)->name(), qtext(msg::curve_plot::extrapolated{}));
}

}  // namespace
}  // namespace attnscope::ui
