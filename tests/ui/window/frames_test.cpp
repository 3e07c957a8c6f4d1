// SPDX-License-Identifier: GPL-3.0-or-later
// What one change has drawn, laid out and painted anew: no more than is another by it.
#include <gtest/gtest.h>

#include <QPainter>
#include <QSignalSpy>
#include <QStandardItemModel>
#include <QStyledItemDelegate>
#include <set>
#include <utility>
#include <vector>

#include "tests/ui/window_test.h"
#include "ui/explorer/card_words.h"
#include "ui/explorer/choices.h"
#include "ui/explorer/figures_model.h"
#include "ui/pages/facet_chip.h"
#include "ui/pages/page.h"
#include "ui/plots/frame_plot.h"
#include "ui/widgets/plain_cells.h"

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

/// A cell of a table as a delegate draws it, 240 pixels wide.
QImage drawn_cell(const QStyledItemDelegate& delegate, const QModelIndex& index) {
  QImage image(240, 23, QImage::Format_ARGB32_Premultiplied);
  image.fill(Qt::white);
  QPainter painter(&image);
  QStyleOptionViewItem option;
  option.rect = image.rect();
  option.font = QApplication::font();
  option.fontMetrics = QFontMetrics(option.font);
  option.palette = QApplication::palette();
  option.state = QStyle::State_Enabled | QStyle::State_Active;
  option.displayAlignment = Qt::AlignLeft | Qt::AlignVCenter;
  option.decorationSize = QSize(16, 16);
  delegate.paint(&painter, option, index);
  return image;
}

TEST(PlainCells, DrawAndMeasureTextsAsAnyViewDoes) {
  const PlainCells plain;
  const QStyledItemDelegate any;
  QStandardItemModel model(1, 1);
  const QModelIndex cell = model.index(0, 0);
  QFont bold = QApplication::font();
  bold.setBold(true);
  for (const char* words : {"FlashAttention-2", "AV, Te, To, LT", "office flag", "128 × 64 · causal", "1.2 µs", "−3.5%",
                            "N ≤ 4\u2009096", "–", "σ 0.3", "naïve", "注意"}) {
    SCOPED_TRACE(words);
    for (const Qt::Alignment side : {Qt::AlignLeft, Qt::AlignRight}) {
      for (const QFont& font : {QApplication::font(), bold}) {
        model.setData(cell, QString::fromUtf8(words), Qt::DisplayRole);
        model.setData(cell, QVariant::fromValue(side | Qt::AlignVCenter), Qt::TextAlignmentRole);
        model.setData(cell, font, Qt::FontRole);
        model.setData(cell, QColor(Qt::darkRed), Qt::ForegroundRole);
        EXPECT_EQ(drawn_cell(plain, cell), drawn_cell(any, cell)) << side << font.bold();
        EXPECT_EQ(plain.sizeHint({}, cell).width(), any.sizeHint({}, cell).width());
      }
    }
  }
}

TEST(PlainCells, LeaveIconsBoxesAndBackgroundsToTheStyle) {
  const PlainCells plain;
  const QStyledItemDelegate any;
  QStandardItemModel model(1, 1);
  const QModelIndex cell = model.index(0, 0);
  for (const auto& [role, value] : {std::pair(Qt::DecorationRole, QVariant(QColor(Qt::blue))),
                                    std::pair(Qt::BackgroundRole, QVariant(QBrush(Qt::yellow))),
                                    std::pair(Qt::CheckStateRole, QVariant(int{Qt::Checked}))}) {
    model.clearItemData(cell);
    model.setData(cell, QStringLiteral("fa2"), Qt::DisplayRole);
    const QImage bare = drawn_cell(plain, cell);
    model.setData(cell, value, role);
    EXPECT_EQ(drawn_cell(plain, cell), drawn_cell(any, cell)) << role;
    EXPECT_NE(drawn_cell(plain, cell), bare) << role;
  }
}

TEST(PlainCells, ShowThatATextIsCutOff) {
  const PlainCells plain;
  QStandardItemModel model(1, 1);
  const QModelIndex cell = model.index(0, 0);
  model.setData(cell, QString(80, QLatin1Char('m')), Qt::DisplayRole);
  const QImage image = drawn_cell(plain, cell);
  const int margin = QApplication::style()->pixelMetric(QStyle::PM_FocusFrameHMargin) + 1;
  int last = 0;
  for (int x = 0; x < image.width(); ++x) {
    for (int y = 0; y < image.height(); ++y) {
      if (image.pixelColor(x, y) != QColor(Qt::white)) last = x;
    }
  }
  EXPECT_LT(last, image.width() - margin);
  EXPECT_GT(last, image.width() - margin - 20);
}

TEST(FiguresModel, SaysWhichCellsAreOthers) {
  ExplorerChoices choices = default_choices();
  const Explored first = work_out(choices);
  ASSERT_TRUE(choose(choices, QStringLiteral("n_k"), QStringLiteral("8192")).ok());
  const Explored second = work_out(choices);
  FiguresModel model;
  const auto column = [](const Explored& explored) {
    return FiguresModel::Column{.title = QStringLiteral("now"), .help = {}, .exploration = &explored.exploration};
  };
  model.set_columns({column(first)});
  QSignalSpy changed(&model, &QAbstractItemModel::dataChanged);
  const QSignalSpy reset(&model, &QAbstractItemModel::modelReset);
  model.set_columns({column(first)});
  EXPECT_EQ(changed.count(), 0) << "nothing is another";
  std::vector<QString> before;
  for (int row = 0; row < model.rowCount(); ++row) before.push_back(model.index(row, 1).data().toString());
  model.set_columns({column(second)});
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
