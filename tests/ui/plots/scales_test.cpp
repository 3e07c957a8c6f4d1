// SPDX-License-Identifier: GPL-3.0-or-later
// Color scales of maps, ticks of axes and markers of values, at and around each limit.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <utility>
#include <vector>

#include "ui/plots/axis_tickers.h"
#include "ui/plots/curve_style.h"
#include "ui/plots/heatmap_drawing.h"

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
  EXPECT_EQ(labels(element_ticker(), 10, 1e8), "10|100|1 k|10 k|100 k|1 M|10 M|100 M");
  EXPECT_EQ(labels(round_ticker(1e-6, false), 0, 8e6), "0|1|2|3|4|5|6|7|8");
  EXPECT_EQ(labels(round_ticker(1e-6, false), 1e5, 6.1e5), "0.1|0.2|0.3|0.4|0.5|0.6");
  EXPECT_EQ(labels(round_ticker(1, true), 1, 1000), "1|3|10|30|100|300|1000");
  EXPECT_EQ(labels(round_ticker(1, true), 0.45, 3.2), "0.5|1.0|1.5|2.0|2.5|3.0") << "one format along a scale";
  EXPECT_EQ(labels(round_ticker(1, true), 0.01, 10), "0.01|0.03|0.1|0.3|1|3|10")
      << "over three decades, each label has its own format";
}

TEST(ValueMarkerTest, DependOnProvenance) {
  struct Case {
    Provenance provenance;
    SampleMark mark;
    bool simulated;
  };
  for (const Case& of :
       {Case{Provenance::measured, SampleMark::disc, false}, Case{Provenance::derived, SampleMark::disc, false},
        Case{Provenance::modeled, SampleMark::disc, false}, Case{Provenance::simulated, SampleMark::hollow_disc, true},
        Case{Provenance::extrapolated, SampleMark::plus_disc, true},
        Case{Provenance::imported, SampleMark::diamond, false}}) {
    EXPECT_EQ(mark_of_values(of.provenance), of.mark) << to_string(of.provenance);
    EXPECT_EQ(is_simulated(of.provenance), of.simulated) << to_string(of.provenance);
  }
}

// Curves of several runs: marks by place, shades by GPU, opacity by age.
TEST(CurveStyle, DistinguishesRunsAndGpus) {
  Curve curve;
  curve.kind = CurveKind::measured;
  curve.provenance = Provenance::measured;
  curve.name.algorithm = "fa2";
  const std::vector<std::pair<Quantity, std::vector<SampleMark>>> marks{
      {Quantity::dram,
       {SampleMark::disc, SampleMark::crossed_disc, SampleMark::barred_disc, SampleMark::upright_disc,
        SampleMark::disc}},
      {Quantity::sm_l2,
       {SampleMark::square, SampleMark::crossed_square, SampleMark::barred_square, SampleMark::upright_square,
        SampleMark::square}}};
  for (const auto& [quantity, expected] : marks) {
    curve.quantity = quantity;
    for (curve.marker_index = 0; curve.marker_index < 5; ++curve.marker_index) {
      EXPECT_EQ(mark_of(curve), expected[static_cast<std::size_t>(curve.marker_index)]) << curve.marker_index;
    }
    curve.marker_index = 0;
  }
  for (const bool dark : {false, true}) {
    PlotColors colors;
    colors.dark = dark;
    colors.background = dark ? Qt::black : Qt::white;
    std::vector<QColor> shades;
    for (curve.shade = 0; curve.shade < 4; ++curve.shade) shades.push_back(curve_color(curve, colors));
    EXPECT_EQ(shades[0], algorithm_color("fa2", dark));
    EXPECT_LT(shades[1].lightness(), shades[0].lightness());
    EXPECT_GT(shades[2].lightness(), shades[0].lightness());
    EXPECT_EQ(shades[3], shades[0]);
    curve.shade = 0;
    curve.lighter_shade = true;
    const auto distance = [&](int age) {
      curve.name.age = age;
      return std::abs(curve_color(curve, colors).lightness() - colors.background.lightness());
    };
    const int newest = std::abs(shades[0].lightness() - colors.background.lightness());
    EXPECT_LT(distance(1), newest);
    EXPECT_LT(distance(2), distance(1));
    EXPECT_EQ(distance(3), distance(2));
    curve.lighter_shade = false;
    curve.hue = 1;
    EXPECT_EQ(curve_color(curve, colors), identity_color(style::category_identity(1), dark));
    curve.hue = -1;
  }
}

}  // namespace
}  // namespace attnscope::ui
