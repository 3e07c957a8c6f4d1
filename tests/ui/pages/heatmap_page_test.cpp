// SPDX-License-Identifier: GPL-3.0-or-later
// Page of tile maps: axes, comparisons, colors and actions of cells.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <QClipboard>
#include <QContextMenuEvent>
#include <QGuiApplication>
#include <QImage>
#include <QMenu>
#include <QSignalSpy>
#include <QTest>
#include <tuple>

#include "messages/facet.h"
#include "messages/field.h"
#include "messages/occupancy.h"
#include "messages/tile_map.h"
#include "profiler/metrics/metrics.h"
#include "profiler/plan/command_text.h"
#include "tests/ui/window_test.h"
#include "ui/pages/explorer/explorer_page.h"
#include "ui/pages/tiles/tile_heatmap_page.h"
#include "ui/plots/axis_tickers.h"
#include "ui/plots/heatmap_drawing.h"
#include "ui/plots/heatmap_text.h"
#include "ui/text/format.h"
#include "ui/text/qtext.h"

namespace attnscope::ui {
namespace {

/// A tile of FA2 with one sample.
PointRecord tile_point(int br, int bc, double nanoseconds) {
  PointRecord record = fixtures::ok_point(fixtures::spec("fa2", 1024, br, bc));
  record.kernels[0].samples_ns = {nanoseconds};
  return record;
}

std::vector<PointRecord> four_by_four() {
  std::vector<PointRecord> records;
  for (int row = 0; row < 4; ++row) {
    for (int column = 0; column < 4; ++column) {
      records.push_back(tile_point(32 * (row + 1), 32 * (column + 1), 1e6 * (1 + row) + 1e5 * column));
    }
  }
  return records;
}

class HeatmapPageTest : public WindowTest {
 protected:
  void open(const std::vector<fixtures::TestRun>& runs) {
    path = folder.filePath("maps.attnscope");
    fixtures::write_file(path, runs);
    ASSERT_EQ(workspace.open_blocking(path), QString());
    page.resize(1000, 700);
    page.show();
    wait_until_idle();
  }
  /// Color of a cell, next to its value.
  [[nodiscard]] QColor color_of(TileMap::Place place) const {
    const QImage image = page.heatmap()->grab().toImage();
    return image.pixelColor(page.heatmap()->cell_rect(place).topLeft().toPoint() + QPoint(9, 5));
  }

  QString path;
  Workspace workspace;
  TileHeatmapPage page{workspace};
};

TEST_F(HeatmapPageTest, UsesAnyTwoAxes) {
  ASSERT_EQ(workspace.open_blocking(file), QString());
  page.restore({{"rows", "algorithm"}, {"columns", "n"}});
  page.restore({{"metric", to_qstring(metric_key::l2_sm_bytes)}});
  const TileMap& map = page.heatmap()->map();
  ASSERT_EQ(map.y.size(), 3U);
  EXPECT_EQ(map.y.values[2].text, "fa2");
  ASSERT_EQ(map.x.size(), 7U) << "N 256 ... 16384";
  for (int row = 0; row < 3; ++row) {
    for (int column = 0; column < 7; ++column) {
      const TileCell& cell = map.at({row, column});
      ASSERT_TRUE(cell.disposition);
      const PointRecord record = fixtures::record_of(page.heatmap()->point_at({row, column}));
      EXPECT_EQ(record.spec.algorithm, map.y.values[static_cast<std::size_t>(row)].text);
      EXPECT_EQ(record.spec.problem.n_k, map.x.values[static_cast<std::size_t>(column)].order);
      if (cell.value) {
        EXPECT_DOUBLE_EQ(*cell.value, evaluate(metric_key::l2_sm_bytes, record)->value);
      }
    }
  }
  EXPECT_FALSE(page.options("heads").isEmpty()) << "fields that are not on an axis can be chosen";
  EXPECT_TRUE(page.heatmap()->title().of.contains(qtext(msg::tile_map::fastest_tiles{})));
  EXPECT_TRUE(page.options("n").isEmpty());
  EXPECT_TRUE(page.options("algorithm").isEmpty());
  EXPECT_EQ(page.heatmap()->describe_cell({2, 1}).title,
            QStringLiteral("%1 FA2 × %2 512").arg(qtext(msg::field::algorithm{}), qtext(msg::facet::n{})));
  EXPECT_TRUE(map.best.empty()) << "bytes of different problems are not comparable";
  page.restore({{"rows", "br"}, {"columns", "bc"}});
  EXPECT_EQ(page.heatmap()->map().y.axis.key(), "br");
  EXPECT_GE(page.heatmap()->map().y.size(), 12U);
  page.restore({{"rows", "br"}, {"columns", "tile"}});
  EXPECT_EQ(page.heatmap()->map().x.axis.key(), "bc") << "both axes have Br";
}

TEST_F(HeatmapPageTest, OmitsAxisFieldsFromTheTitle) {
  std::vector<PointRecord> records;
  for (const std::int64_t n : {1024, 2048}) {
    for (const std::int64_t warps : {4, 8}) {
      PointSpec spec = fixtures::spec("fa2", n);
      spec.knobs.set("warps", warps);
      records.push_back(fixtures::ok_point(spec));
    }
  }
  open({{"custom", records, false}});
  page.restore({{"rows", "warps"}, {"columns", "n"}});
  ASSERT_TRUE(page.has_map());
  EXPECT_EQ(page.heatmap()->map().y.values.size(), 2U);
  EXPECT_FALSE(page.heatmap()->title().of.contains("warps")) << page.heatmap()->title().of.toStdString();
  EXPECT_FALSE(page.heatmap()->title().of.contains("N 1024")) << page.heatmap()->title().of.toStdString();
}

TEST_F(HeatmapPageTest, SavesAndRestoresChoices) {
  open({{"tiles", four_by_four(), false}});
  page.restore({{"rows", "bc"}, {"columns", "br"}});
  page.restore({{"as", "best"}});
  page.restore({{"metric", to_qstring(metric_key::tflops)}});
  TileHeatmapPage other(workspace);
  other.restore(page.state());
  EXPECT_EQ(other.state(), page.state());
  EXPECT_EQ(other.heatmap()->map().x.axis.key(), "br");
  EXPECT_EQ(other.heatmap()->map().shown.as, analysis::Comparison::share_of_best);
  EXPECT_EQ(other.heatmap()->map().metric, metric_key::tflops);
  other.restore({{"rows", "nobody's"}, {"as", 7}});
  EXPECT_EQ(other.heatmap()->map().x.axis.key(), "br") << "unknown values change nothing";
}

TEST_F(HeatmapPageTest, RatiosDivergeAroundOne) {
  std::vector<PointRecord> records = four_by_four();
  for (PointRecord& record : records) {
    double factor =
        evaluate(metric_key::model_l2_sm_bytes, record)->value / evaluate(metric_key::l2_sm_bytes, record)->value;
    if (record.spec.tile == TileShape{32, 32}) factor /= 2;
    if (record.spec.tile == TileShape{128, 128}) factor *= 2;
    for (MetricValue& metric : record.kernels[0].metrics) {
      if (metric.name == metric_key::l2_to_sm_bytes || metric.name == metric_key::sm_to_l2_bytes)
        metric.value *= factor;
    }
  }
  open({{"now", records, false}});
  page.restore({{"metric", to_qstring(metric_key::l2_sm_bytes)}});
  ASSERT_EQ(page.comparison().options().size(), 3U) << "value, best and model";
  page.restore({{"as", "model"}});
  const TileMap& map = page.heatmap()->map();
  ASSERT_EQ(map.shown.as, analysis::Comparison::over_model);
  EXPECT_NEAR(*map.at({0, 0}).value, 0.5, 1e-9);
  EXPECT_NEAR(*map.at({3, 3}).value, 2, 1e-9);
  EXPECT_NEAR(*map.at({1, 1}).value, 1, 1e-9);
  EXPECT_EQ(color_of({1, 1}), QColor(style::diverging(0.5, false))) << "equal: white";
  EXPECT_EQ(color_of({0, 0}), QColor(style::diverging(0, false))) << "half the bytes: blue";
  EXPECT_EQ(color_of({3, 3}), QColor(style::diverging(1, false)));
  EXPECT_TRUE(caption_of(*page.heatmap()).contains(qtext(msg::tile_map::blue_is_better{})));
  EXPECT_TRUE(page.heatmap()->title().what.contains(qtext(msg::tile_map::divided_by{.what = msg::tile_map::model{}})))
      << page.heatmap()->title().what.toStdString();
  const HoverContent read = page.heatmap()->describe_cell({0, 0});
  EXPECT_EQ(read.rows[0].value, format_number(0.5, 4) + QStringLiteral(" ×"));
  EXPECT_EQ(read.rows[1].value, qtext(Bytes(*map.at({0, 0}).own)));
  EXPECT_EQ(read.rows[2].value, qtext(Bytes(*map.at({0, 0}).over)));
}

TEST_F(HeatmapPageTest, TimesAreColoredBySlowdown) {
  std::vector<PointRecord> records = four_by_four();
  const double fastest = 1e6;
  const std::vector<double> slowdowns{1, 1.02, 1.08, 1.2, 1.4, 1.8, 11};
  for (std::size_t i = 0; i < records.size(); ++i) {
    records[i].kernels[0].samples_ns = {fastest * slowdowns[std::min(i, slowdowns.size() - 1)]};
  }
  apply_theme(ThemeChoice::light);
  open({{"tiles", records, false}});
  page.show();
  wait_until_idle();
  HeatmapView& view = *page.heatmap();
  const auto bin_color = [](std::size_t bin) { return QColor(style::slowdown_color(bin).light); };
  const std::vector<std::size_t> bins{0, 0, 1, 2, 3, 4, 5};
  for (std::size_t i = 0; i < bins.size(); ++i) {
    const TileMap::Place place{static_cast<int>(i) / 4, static_cast<int>(i) % 4};
    EXPECT_EQ(color_of(place), bin_color(bins[i])) << "one outlier does not change the others: " << i;
  }
  EXPECT_EQ(view.title().headline, qtext(msg::tile_map::headline{.next = "32 × " + view.map().x.values[2].text,
                                                                 .percent = 3,
                                                                 .slowdown = "+8.0%",
                                                                 .tile = "32 × 32",
                                                                 .time = text(Nanoseconds(fastest))}));
  EXPECT_EQ(view.title().causes, qtext(msg::occupancy::both{.limiter = msg::occupancy::shared_memory{}, .warps = 16}))
      << "the bottleneck is not named, because no unit was counted";
  const HoverContent read = view.describe_cell({0, 2});
  EXPECT_EQ(read.rows[1].label, qtext(msg::tile_map::vs_fastest{}));
  EXPECT_EQ(read.rows[1].value, "+8.0%");
  // A click on the key highlights the cells of a bin, and another one resets it.
  std::optional<QPoint> second;
  for (int x = 0; x < view.width() && !second; x += 4) {
    for (int y = 0; y < view.height() && !second; y += 4) {
      if (view.bin_at(QPoint(x, y)) == 1U) second = QPoint(x + 6, y + 6);
    }
  }
  ASSERT_TRUE(second);
  QTest::mouseClick(&view, Qt::LeftButton, {}, *second);
  EXPECT_EQ(view.highlighted_bin(), 1U);
  EXPECT_EQ(color_of({0, 2}), bin_color(1));
  EXPECT_NE(color_of({0, 0}), bin_color(0)) << "faded";
  QTest::keyClick(&view, Qt::Key_2);
  EXPECT_FALSE(view.highlighted_bin());
  page.restore({{"metric", to_qstring(metric_key::tflops)}});
  EXPECT_TRUE(view.title().headline.isEmpty());
}

TEST_F(HeatmapPageTest, OutlinesThePlateau) {
  std::vector<PointRecord> records = four_by_four();
  records[1].kernels[0].samples_ns = {1.02e6};
  records[4].kernels[0].samples_ns = {1.029e6};
  apply_theme(ThemeChoice::light);
  open({{"tiles", records, false}});
  page.restore({{"metric", to_qstring(metric_key::tflops)}});
  EXPECT_EQ(page.heatmap()->map().plateau.size(), 3U);
  EXPECT_TRUE(caption_of(*page.heatmap()).contains(qtext(msg::tile_map::plateau{.percent = 3, .tiles = 3})))
      << caption_of(*page.heatmap()).toStdString();
  EXPECT_TRUE(page.heatmap()->describe_cell({0, 1}).notes.contains(qtext(msg::tile_map::on_plateau{.percent = 3})));
  // The outline runs along the right edge of the plateau's last cell, not between its cells.
  const QColor line = plot_colors(page.palette()).text;
  const QImage image = page.heatmap()->grab().toImage();
  const auto drawn = [&](const QPointF& at) {
    for (int x = -3; x <= 3; ++x) {
      for (int y = 0; y < 8; ++y) {  // Between two dots.
        if (image.pixelColor(at.toPoint() + QPoint(x, y)) == line) return true;
      }
    }
    return false;
  };
  const QRectF last = page.heatmap()->cell_rect({0, 1});
  EXPECT_TRUE(drawn({last.right(), last.top() + 6}));
  const QRectF above = page.heatmap()->cell_rect({2, 1});
  EXPECT_FALSE(drawn({above.right(), above.top() + 6}));
}

/// Triggers an entry of a cell's context menu.
void trigger_cell_entry(TileHeatmapPage& page, TileMap::Place place, const char* entry) {
  page.heatmap()->select(place);
  const auto opened = QObject::connect(&page, &Page::menu_opened, &page, [entry](QMenu* menu) {
    for (QAction* action : menu->actions()) {
      if (action->objectName() == QLatin1String(entry)) action->trigger();
    }
    menu->clear();
  });
  QContextMenuEvent event(QContextMenuEvent::Keyboard, QPoint(), QPoint());
  QApplication::sendEvent(&page, &event);
  QObject::disconnect(opened);
}

TEST_F(HeatmapPageTest, CellMenuCopiesValueAndCommandAndPins) {
  open({{"tiles", four_by_four(), false}});
  trigger_cell_entry(page, {0, 1}, "value");
  EXPECT_EQ(QGuiApplication::clipboard()->text(), qtext(Nanoseconds(1.1e6)));
  trigger_cell_entry(page, {0, 1}, "launch");
  EXPECT_TRUE(QGuiApplication::clipboard()->text().startsWith("attnscope launch algorithm=fa2 "));
  MainWindow window(false);
  ASSERT_EQ(window.workspace().open_blocking(path), QString());
  auto& tiles = page_of<TileHeatmapPage>(window);
  auto& explorer = page_of<ExplorerPage>(window);
  for (int column = 0; column < 4; ++column) trigger_cell_entry(tiles, {0, column}, "pin");
  wait_until_idle();
  const auto& pin = explorer.chosen_state().pin;
  ASSERT_TRUE(pin) << "replaces the previous pin";
  EXPECT_EQ(pin->point.spec.tile, (TileShape{32, 128}));
  EXPECT_EQ(pin->device, "NVIDIA H200");
  trigger_cell_entry(tiles, {1, 1}, "explore");
  wait_until_idle();
  EXPECT_EQ(window.page_id(), QStringLiteral("explorer"));
  EXPECT_EQ(explorer.chosen_state().choices.point.spec.tile, (TileShape{64, 64}));
}

}  // namespace
}  // namespace attnscope::ui
