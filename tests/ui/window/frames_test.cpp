// SPDX-License-Identifier: GPL-3.0-or-later
// What one change has drawn, laid out and painted anew: no more than is another by it.
#include <gtest/gtest.h>

#include <QSignalSpy>
#include <set>
#include <utility>
#include <vector>

#include "kernels/registry.h"
#include "profiler/predict/explored_tables.h"
#include "tests/ui/window_test.h"
#include "ui/models/result_model.h"
#include "ui/pages/explorer/choices.h"
#include "ui/pages/facet_chip.h"
#include "ui/pages/page.h"
#include "ui/plots/marked_plot.h"

namespace attnscope::ui {
namespace {

TEST(FramePlot, IsDrawnOnceHoweverMuchHasChanged) {
  FramePlot plot;
  plot.resize(400, 300);
  plot.show();
  settle();
  const QSignalSpy drawn(&plot, &QCustomPlot::afterReplot);
  plot.resize(500, 300);
  plot.xAxis->setRange(0, 7);
  plot.replot(QCustomPlot::rpQueuedReplot);
  plot.resize(500, 340);
  plot.replot(QCustomPlot::rpQueuedReplot);
  EXPECT_EQ(drawn.count(), 0) << "the frame comes later";
  settle();
  EXPECT_EQ(drawn.count(), 1);
  EXPECT_EQ(plot.viewport(), QRect(0, 0, 500, 340));
}

TEST(FramePlot, IsNeverShownAsItWasOfAnotherSize) {
  FramePlot plot;
  plot.setBackground(QBrush(Qt::red));
  plot.resize(400, 300);
  plot.show();
  settle();
  plot.xAxis->setRange(3, 4);
  plot.resize(700, 500);
  const QSignalSpy drawn(&plot, &QCustomPlot::afterReplot);
  // A frame before the event loop turns.
  const QImage frame = plot.grab().toImage();
  EXPECT_EQ(drawn.count(), 1);
  EXPECT_EQ(frame.pixelColor(695, 2), QColor(Qt::red));
  EXPECT_GT(plot.axisRect()->right(), 600);
}

TEST(FramePlot, IsDrawnAlsoWhereNobodySeesIt) {
  FramePlot plot;
  plot.resize(400, 300);
  const QSignalSpy drawn(&plot, &QCustomPlot::afterReplot);
  plot.replot(QCustomPlot::rpQueuedReplot);
  plot.replot(QCustomPlot::rpQueuedReplot);
  settle();
  EXPECT_EQ(drawn.count(), 1);
}

TEST(ResultModel, SaysWhichCellsAreOthers) {
  ExplorerChoices choices = default_choices();
  const Explored first = work_out(choices);
  ASSERT_TRUE(choose(choices, QStringLiteral("n_k"), QStringLiteral("8192")).ok());
  const Explored second = work_out(choices);
  ResultModel model;
  const auto show = [&](const Explored& explored) {
    const std::vector columns{
        analysis::ExploredColumn{.title = "now", .help = {}, .exploration = &explored.exploration}};
    model.update_table(std::make_shared<const analysis::Table>(analysis::figures_table(columns, known_algorithms())));
  };
  show(first);
  QSignalSpy changed(&model, &QAbstractItemModel::dataChanged);
  const QSignalSpy reset(&model, &QAbstractItemModel::modelReset);
  show(first);
  EXPECT_EQ(changed.count(), 0) << "nothing is another";
  std::vector<QString> before;
  for (int row = 0; row < model.rowCount(); ++row) before.push_back(model.index(row, 1).data().toString());
  show(second);
  EXPECT_EQ(reset.count(), 0);
  std::set<int> said;
  for (const QList<QVariant>& signal : changed) {
    const QModelIndex cell = signal.at(0).toModelIndex();
    EXPECT_EQ(cell, signal.at(1).toModelIndex());
    EXPECT_EQ(cell.column(), 1) << "labels stay";
    said.insert(cell.row());
  }
  std::set<int> others;
  for (int row = 0; row < model.rowCount(); ++row) {
    if (model.index(row, 1).data().toString() != before[static_cast<std::size_t>(row)]) others.insert(row);
  }
  EXPECT_FALSE(others.empty());
  EXPECT_LT(others.size(), before.size()) << "the tile's shared memory does not follow N";
  EXPECT_EQ(said, others);
}

}  // namespace
}  // namespace attnscope::ui
