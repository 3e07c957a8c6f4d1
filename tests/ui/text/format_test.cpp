// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/text/format.h"

#include <gtest/gtest.h>

#include <QSet>
#include <QTextDocument>

#include "messages/common.h"
#include "profiler/metrics/metrics.h"
#include "ui/text/qtext.h"
#include "ui/theme/theme.h"

namespace attnscope::ui {
namespace {

TEST(Format, TooltipsEscapeMarkupFromFiles) {
  const auto seen = [](const QString& tip) {
    if (!Qt::mightBeRichText(tip)) return tip;
    QTextDocument document;
    document.setHtml(tip);
    return document.toPlainText();
  };
  const Message reason = make_message("The GPU is gone. [{}]", "<img src='file:///x.png'><b>bold</b> & {error}");
  EXPECT_EQ(seen(plain_tooltip(qtext(reason))), "The GPU is gone. [<img src='file:///x.png'><b>bold</b> & {error}]");
  EXPECT_EQ(seen(plain_tooltip("<h1>two\nlines  apart</h1>")), "<h1>two\nlines  apart</h1>");
  EXPECT_EQ(plain_tooltip("a < b"), "a < b");
}

TEST(Format, FormatsUnits) {
  EXPECT_EQ(qtext(Nanoseconds(1240)), QStringLiteral("1.24 µs"));
  EXPECT_EQ(qtext(Capacity(98304)), "96 KiB");
  EXPECT_EQ(format_number(24.31, 2), "24");
  EXPECT_EQ(format_length(16384), "16k");
  EXPECT_EQ(format_value(36.5, "celsius"), QStringLiteral("36.5 °C"));
  EXPECT_EQ(format_metric({std::string(metric_key::shared_bytes), 98304, "byte", Provenance::measured}), "96 KiB");
}

TEST(Format, ShortensLongTexts) {
  EXPECT_EQ(shortened("abcd", 4), "abcd");
  EXPECT_EQ(shortened("abcde", 4), QStringLiteral("abc…"));
  EXPECT_EQ(compiler_error_line("a.cu(1): error: first\nb.cu(2): error: second"),
            QStringLiteral("a.cu(1): error: first …"));
}

TEST(Format, RunTitlePrefersTheName) {
  RunSummary run;
  EXPECT_EQ(run_title(run), qtext(msg::common::custom{}));
  run.preset = "import:peers";
  EXPECT_EQ(run_title(run), "import:peers") << "not imported";
  run.provenance = Provenance::imported;
  EXPECT_EQ(run_title(run), "peers");
  run.annotations.name = "mine";
  EXPECT_EQ(run_title(run), "mine");
}

TEST(Format, DescribesMasks) {
  EXPECT_EQ(format_mask(Mask::none), "full");
  EXPECT_EQ(format_mask(Mask::causal), "causal");
  EXPECT_EQ(format_mask(*parse_mask("window:256:0")), "window:256:0");
  EXPECT_EQ(format_mask(*parse_mask("lengths:300/512/7")), "lengths:300/512/7");
  EXPECT_EQ(format_mask(*parse_mask("causal+lengths:300/512/7/8/9")),
            QStringLiteral("causal+lengths:300/512/…/9 (5 lengths, 836 keys)"));
}

TEST(Format, DescribesTiles) {
  EXPECT_EQ(format_tile(TileShape{128, 64}), QStringLiteral("128 × 64"));
  EXPECT_EQ(format_tile(Config({16, 128}, {{"splits", 8}, {"warps", 4}, {"stages", 3}})),
            QStringLiteral("16 × 128, splits 8, stages 3, warps 4"));
  EXPECT_EQ(format_tile(TileShape{0, 0}), qtext(msg::common::not_stated{}));
}

TEST(Theme, NamesRoundTrip) {
  for (const ThemeChoice choice : {ThemeChoice::system, ThemeChoice::light, ThemeChoice::dark}) {
    EXPECT_EQ(parse_theme(to_string(choice)), choice);
  }
  EXPECT_EQ(parse_theme(QStringLiteral("neon")), ThemeChoice::system);
}

}  // namespace
}  // namespace attnscope::ui
