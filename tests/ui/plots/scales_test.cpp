// SPDX-License-Identifier: GPL-3.0-or-later
// Color scales of maps, ticks of axes and markers of values, at and around each limit.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <utility>
#include <vector>

#include "ui/plots/axis_tickers.h"
#include "ui/plots/heatmap_drawing.h"
#include "ui/plots/plot_parts.h"

namespace attnscope::ui {
namespace {

TileMap map_of(BetterDirection better, double low, double high, analysis::Comparison as = analysis::Comparison::none) {
  TileMap map;
  map.better = better;
  map.shown.as = as;
  map.minimum = low;
  map.maximum = high;
  return map;
}

TEST(HeatmapScale, BetterValuesAreBright) {
  struct Case {
    BetterDirection better;
    bool log;
    double value;
    double brightness;  ///< 0 to 1.
  };
  for (const Case& at :
       {Case{BetterDirection::less, false, 1, 1}, Case{BetterDirection::less, false, 101, 0},
        Case{BetterDirection::less, false, 26, 0.75}, Case{BetterDirection::more, false, 1, 0},
        Case{BetterDirection::more, false, 101, 1}, Case{BetterDirection::more, false, 26, 0.25},
        Case{BetterDirection::neither, false, 26, 0.25}, Case{BetterDirection::neither, false, 101, 1},
        Case{BetterDirection::more, true, std::sqrt(101), 0.5}, Case{BetterDirection::less, true, std::sqrt(101), 0.5},
        Case{BetterDirection::more, false, 0.5, 0}, Case{BetterDirection::more, false, 200, 1}}) {
    const HeatmapColors colors(map_of(at.better, 1, 101), at.log);
    EXPECT_EQ(colors.at(at.value, false), QColor(style::viridis(at.brightness)))
        << at.value << " " << static_cast<int>(at.better);
  }
}

TEST(HeatmapScale, BetterRatiosAreBlue) {
  for (const auto& [better, blue] : {std::pair{BetterDirection::less, 0.5}, std::pair{BetterDirection::more, 2.0},
                                     std::pair{BetterDirection::neither, 0.5}}) {
    const HeatmapColors colors(map_of(better, 0.5, 2, analysis::Comparison::over_model), false);
    ASSERT_TRUE(colors.is_diverging());
    EXPECT_EQ(colors.at(blue, false), QColor(style::diverging(0, false)));
    EXPECT_EQ(colors.at(1 / blue, false), QColor(style::diverging(1, false)));
    EXPECT_EQ(colors.at(1, false), QColor(style::diverging(0.5, false)));
  }
}

TEST(HeatmapScale, RatioScaleIsSymmetricAroundOne) {
  // Ratios of 1.2 to 4, and 0.25 to 0.8: the scale is symmetric although the map is not.
  for (const double far : {4.0, 0.25}) {
    const double near = far > 1 ? 1.2 : 0.8;
    const HeatmapColors colors(
        map_of(BetterDirection::less, std::min(near, far), std::max(near, far), analysis::Comparison::over_model),
        false);
    EXPECT_EQ(colors.at(far, false), QColor(style::diverging(far > 1 ? 1 : 0, false)));
    EXPECT_EQ(colors.at(std::sqrt(far), false), QColor(style::diverging(far > 1 ? 0.75 : 0.25, false)));
    EXPECT_NEAR(far > 1 ? colors.low() : colors.high(), 1, 0.021);
  }
}

TEST(HeatmapScale, PositionAndValueAreInverse) {
  for (const bool log : {false, true}) {
    const HeatmapColors colors(map_of(BetterDirection::more, 2, 50), log);
    EXPECT_EQ(colors.is_logarithmic(), log);
    for (const double share : {0.0, 0.25, 0.5, 1.0})
      EXPECT_NEAR(colors.scale_position(colors.value_at(share)), share, 1e-12);
    EXPECT_EQ(colors.scale_position(1), 0);
    EXPECT_EQ(colors.scale_position(51), 1);
    EXPECT_FALSE(colors.is_uniform());
  }
  EXPECT_FALSE(HeatmapColors(map_of(BetterDirection::more, 0, 50), true).is_logarithmic()) << "0 has no logarithm";
  const HeatmapColors one(map_of(BetterDirection::less, 3, 3), false);
  EXPECT_TRUE(one.is_uniform());
  EXPECT_EQ(one.at(3, true), QColor(style::viridis(0.5)));
}

TEST(RoundTicks, IncludesBothLimits) {
  using ::testing::DoubleEq;
  using ::testing::Pointwise;
  EXPECT_THAT(round_ticks(0.2, 0.8, 4, false), Pointwise(DoubleEq(), {0.2, 0.4, 0.6, 0.8}));
  EXPECT_THAT(round_ticks(0.2, 0.8, 3, false), Pointwise(DoubleEq(), {0.5})) << "four would be too many";
  EXPECT_THAT(round_ticks(-0.8, 0.2, 4, false), Pointwise(DoubleEq(), {-0.5, 0.0}));
  EXPECT_THAT(round_ticks(1, 10, 5, true), Pointwise(DoubleEq(), {1.0, 2.0, 5.0, 10.0})) << "a decade";
  EXPECT_THAT(round_ticks(1, 9.9, 5, true), Pointwise(DoubleEq(), {2.0, 4.0, 6.0, 8.0})) << "less than one";
  EXPECT_THAT(round_ticks(1, 1000, 4, true), Pointwise(DoubleEq(), {1.0, 10.0, 100.0, 1000.0}));
  EXPECT_THAT(round_ticks(1, 1000, 3, true), Pointwise(DoubleEq(), {1.0, 100.0}));
}

/// Labels that a ticker generates.
std::string labels(const QSharedPointer<QCPAxisTicker>& ticker, double low, double high) {
  QVector<double> ticks;
  QVector<QString> words;
  ticker->generate({low, high}, QLocale::c(), QLatin1Char('g'), 6, ticks, nullptr, &words);
  return QStringList(words.begin(), words.end()).join(QLatin1Char('|')).toStdString();
}

TEST(AxisTickers, StepsFollowTheRange) {
  EXPECT_EQ(labels(length_ticker(), 128, 4096), "128|256|512|1k|2k|4k");
  EXPECT_EQ(labels(length_ticker(), 2048, 5000), "2048|2560|3072|3584|4096") << "an octave and a quarter";
  EXPECT_EQ(labels(length_ticker(), 3500, 4096), "3584|3840|4096") << "less than an octave";
  EXPECT_EQ(labels(length_ticker(), 1, 32768), "1|4|16|64|256|1k|4k|16k") << "every other of 15 octaves";
  EXPECT_EQ(labels(time_ticker(), 1e6, 1e9), "1|10|100|1000") << "milliseconds";
  EXPECT_EQ(labels(time_ticker(), 1e6, 1e8), "1|2|5|10|20|50|100");
  EXPECT_EQ(labels(time_ticker(), 1e6, 1e7), "1|1.5|2|3|4|5|6|8|10");
  EXPECT_EQ(labels(round_ticker(1e-6, false), 0, 8e6), "0|1|2|3|4|5|6|7|8");
  EXPECT_EQ(labels(round_ticker(1e-6, false), 1e5, 6.1e5), "0.1|0.2|0.3|0.4|0.5|0.6");
  EXPECT_EQ(labels(round_ticker(1, true), 1, 1000), "1|3|10|30|100|300|1000");
  EXPECT_EQ(labels(round_ticker(1, true), 0.45, 3.2), "0.5|1.0|1.5|2.0|2.5|3.0") << "one format along a scale";
  EXPECT_EQ(labels(round_ticker(1, true), 0.01, 10), "0.01|0.03|0.1|0.3|1|3|10")
      << "over three decades, each label has its own format";
}

TEST(Markers, FillShowsProvenance) {
  const style::PlotIdentity identity = style::identity_of("fa2");
  struct Case {
    Provenance provenance;
    SampleKind kind;
  };
  for (const Case& of :
       {Case{Provenance::measured, SampleKind::filled}, Case{Provenance::derived, SampleKind::filled},
        Case{Provenance::modeled, SampleKind::line}, Case{Provenance::simulated, SampleKind::hollow},
        Case{Provenance::extrapolated, SampleKind::hollow}, Case{Provenance::imported, SampleKind::filled}}) {
    EXPECT_EQ(sample_of(of.provenance, identity), (Sample{of.kind, identity})) << to_string(of.provenance);
  }
  const QColor color(0x123456);
  EXPECT_EQ(scatter_of({SampleKind::filled, identity}, color, Qt::white).brush().color(), color);
  EXPECT_EQ(scatter_of({SampleKind::hollow, identity}, color, Qt::white).brush().color(), QColor(Qt::white));
  EXPECT_TRUE(scatter_of({SampleKind::line, identity}, color, Qt::white).isNone());
}

TEST(Markers, LineShowsProvenanceAndRun) {
  const QColor color(0x123456);
  const QPen measured = series_pen(color, Provenance::measured, false);
  EXPECT_EQ(measured.style(), Qt::SolidLine);
  EXPECT_EQ(measured.widthF(), 2);
  EXPECT_EQ(series_pen(color, Provenance::modeled, false).widthF(), 1);
  const QPen dashed = series_pen(color, Provenance::measured, true);
  const QPen dotted = series_pen(color, Provenance::simulated, false);
  EXPECT_GT(dashed.dashPattern().front(), 1);
  EXPECT_LT(dotted.dashPattern().front(), 1);
}

TEST(Markers, ShiftMovesTheShape) {
  const Sample sample{SampleKind::filled, style::identity_of("fa1")};
  const QRectF still = scatter_of(sample, Qt::red, Qt::white).customPath().boundingRect();
  const QRectF moved = scatter_of(sample, Qt::red, Qt::white, 8).customPath().boundingRect();
  EXPECT_NEAR(moved.center().x() - still.center().x(), 8, 1e-9);
  EXPECT_NEAR(moved.width(), still.width(), 1e-9);
}

}  // namespace
}  // namespace attnscope::ui
