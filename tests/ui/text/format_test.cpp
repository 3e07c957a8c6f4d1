// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/text/format.h"

#include <gtest/gtest.h>

#include <QSet>
#include <QTextDocument>

#include "profiler/metrics/metrics.h"
#include "ui/text/qtext.h"
#include "ui/theme/theme.h"

namespace attnscope::ui {
namespace {

TEST(Format, TrafficInSiAndCapacityInIec) {
  EXPECT_EQ(format_bytes(0), "0 B");
  EXPECT_EQ(format_bytes(999), "999 B");
  EXPECT_EQ(format_bytes(1'073'741'824), "1.07 GB");
  EXPECT_EQ(format_bytes(999'999), "1.00 MB");
  EXPECT_EQ(format_capacity(232448), "227 KiB");
  EXPECT_EQ(format_capacity(62914560), "60 MiB");
}

TEST(Format, ATooltipShowsWhatFilesSayAsItIs) {
  const auto seen = [](const QString& tip) {
    if (!Qt::mightBeRichText(tip)) return tip;
    QTextDocument document;
    document.setHtml(tip);
    return document.toPlainText();
  };
  const Message reason =
      stored_message("point.gpu_gone", R"({"error": "<img src='file:///x.png'><b>bold</b> & {error}"})", "");
  EXPECT_EQ(seen(plain_tip(qtext(reason))), "The GPU is gone. [<img src='file:///x.png'><b>bold</b> & {error}]");
  EXPECT_EQ(seen(plain_tip("<h1>two\nlines  apart</h1>")), "<h1>two\nlines  apart</h1>");
  EXPECT_EQ(plain_tip("a < b"), "a < b");
}

TEST(Format, Durations) {
  EXPECT_EQ(format_duration(812), "812 ns");
  EXPECT_EQ(format_duration(1'240'000), "1.24 ms");
  EXPECT_EQ(format_wait(59.2), "1 min 00 s");
  EXPECT_EQ(format_wait(125), "2 min 05 s");
  EXPECT_EQ(format_wait(3720), "1 h 02 min");
}

TEST(Format, NumbersKeepThreeDigits) {
  EXPECT_EQ(format_number(0), "0");
  EXPECT_EQ(format_number(0.0031), "0.00310");
  EXPECT_EQ(format_number(24.3), "24.3");
  EXPECT_EQ(format_number(16384), "16,384");
  EXPECT_EQ(format_number(1e-5), "1e-05");
}

TEST(Format, ValuesCarryTheirUnit) {
  EXPECT_EQ(format_value(98.6, "percent"), "98.6 %");
  EXPECT_EQ(format_value(168, "register"), "168 registers");
  EXPECT_EQ(format_value(1, "register"), "1 register");
  EXPECT_EQ(format_value(1.98e9, "hertz"), "1.98 GHz");
  EXPECT_EQ(format_metric({std::string(metric_key::shared_bytes), 98304, "byte", Provenance::measured}), "96 KiB");
  EXPECT_EQ(format_metric({std::string(metric_key::l2_sm_over_model), 1.00123, "1", Provenance::derived}), "1.0012");
}

TEST(Format, OneScaleForAWholeMap) {
  const UnitScale scale = unit_scale(3.2e9, "byte");
  EXPECT_EQ(scale.suffix, "GB");
  EXPECT_DOUBLE_EQ(4.5e8 * scale.factor, 0.45);
  EXPECT_EQ(unit_scale(50, "percent").suffix, "%");
}

TEST(Format, LengthsInUnitsOf1024) {
  EXPECT_EQ(format_length(512), "512");
  EXPECT_EQ(format_length(1024), "1k");
  EXPECT_EQ(format_length(16384), "16k");
  EXPECT_EQ(format_length(1500), "1500");
  EXPECT_EQ(format_length(1048576), "1M");
  EXPECT_EQ(format_length(1536 * 1024), "1536k");
}

TEST(Format, MasksInWords) {
  EXPECT_EQ(format_mask(Mask::none), "full");
  EXPECT_EQ(format_mask(Mask::causal), "causal");
  EXPECT_EQ(format_mask(*parse_mask("window:256:0")), "window:256:0");
  EXPECT_EQ(format_mask(*parse_mask("lengths:300/512/7")), "lengths:300/512/7");
  EXPECT_EQ(format_mask(*parse_mask("causal+lengths:300/512/7/8/9")),
            QStringLiteral("causal+lengths:300/512/…/9 (5 lengths, 836 keys)"));
}

TEST(Format, TilesSayWhatWasChosen) {
  EXPECT_EQ(format_tile(TileShape{128, 64}), QStringLiteral("128 × 64"));
  EXPECT_EQ(format_tile(Config({16, 128}, {{"splits", 8}, {"warps", 4}, {"stages", 3}})),
            QStringLiteral("16 × 128, splits 8, stages 3, warps 4"));
  EXPECT_EQ(format_tile(TileShape{0, 0}), "not stated");
}

TEST(Theme, WordsRoundTrip) {
  for (const ThemeChoice choice : {ThemeChoice::system, ThemeChoice::light, ThemeChoice::dark}) {
    EXPECT_EQ(parse_theme(to_string(choice)), choice);
  }
  EXPECT_EQ(parse_theme(QStringLiteral("neon")), ThemeChoice::system);
}

TEST(Theme, AlgorithmsKeepApartInBothThemes) {
  for (const bool dark : {false, true}) {
    EXPECT_NE(algorithm_color("naive", dark), algorithm_color("fa1", dark));
    EXPECT_NE(algorithm_color("fa1", dark), algorithm_color("fa2", dark));
    EXPECT_NE(algorithm_color("naive", dark), algorithm_color("fa2", dark));
    EXPECT_NE(algorithm_color("fa2", dark), algorithm_color("fa3", dark));
  }
}

TEST(Theme, ForeignAlgorithmsHaveColoursOfTheirOwn) {
  for (const bool dark : {false, true}) {
    QSet<QRgb> colors;
    for (const char* name :
         {"naive", "fa1", "fa2", "splitkv", "fa3", "torch-flash", "torch-cudnn", "torch-eager", "flash-attn"}) {
      colors.insert(algorithm_color(name, dark).rgb());
      EXPECT_EQ(algorithm_color(name, dark), algorithm_color(name, dark));
    }
    EXPECT_EQ(colors.size(), 9);
  }
}

TEST(Theme, HeatColoursGrowBrighter) {
  int last = -1;
  for (int i = 0; i <= 20; ++i) {
    const QColor color = viridis(i / 20.0);
    const int luminance = 299 * color.red() + 587 * color.green() + 114 * color.blue();
    EXPECT_GT(luminance, last);
    last = luminance;
  }
  EXPECT_EQ(ink_on(viridis(0)), QColor(Qt::white));
  EXPECT_NE(ink_on(viridis(1)), QColor(Qt::white));
}

}  // namespace
}  // namespace attnscope::ui
