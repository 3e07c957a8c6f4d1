// SPDX-License-Identifier: Apache-2.0
#include "profiler/predict/explored_tables.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "messages/explorer.h"
#include "tests/profiler/points/fixtures.h"

namespace attnscope::analysis {
namespace {

Exploration explored(const char* algorithm, int br, int bc, const char* mask = "full") {
  PointSpec spec = fixtures::spec(algorithm, 4096, br, bc);
  spec.problem.mask = *parse_mask(mask);
  return explore({.spec = spec}, fixtures::h200(), built_in_algorithms());
}

Table figures(const std::vector<const Exploration*>& all) {
  const auto column = [](const Exploration* of) { return ExploredColumn{.title = "name", .exploration = of}; };
  const auto pinned = all.size() > 1 ? std::optional(column(all[1])) : std::nullopt;
  return exploration_table(column(all[0]), pinned, built_in_algorithms());
}

/// Index of the row whose label starts with `label`; the number of rows if none does.
std::size_t row(const Table& table, std::string_view label) {
  std::size_t at = 0;
  while (at < table.rows && table.columns[0].cell(at).text != label) ++at;
  return at;
}

struct Shown {
  std::string text;
  std::optional<double> number;
  Tone tone;
};
Shown shown(const Table& table, std::string_view label, std::size_t configuration) {
  const std::size_t at = row(table, label);
  EXPECT_LT(at, table.rows) << label;
  const Column& column = table.columns.at(configuration + 1);
  const Cell cell = column.cell(at);
  return {cell.text, cell.number, table.tone_of(column, at)};
}

TEST(ExplorationTable, ValuesMatchTheExploration) {
  const Exploration e = explored("fa2", 128, 64);
  const Table table = figures({&e});
  EXPECT_EQ(table.rows, 15U) << "multi-GPU values are omitted";
  for (std::size_t i = 0; i < table.rows; ++i) EXPECT_GT(*table.columns[1].cell(i).number, 0) << i;
  EXPECT_DOUBLE_EQ(*shown(table, text(msg::explorer::time{}), 0).number, e.ns);
  EXPECT_DOUBLE_EQ(*shown(table, text(msg::explorer::l2_bytes{}), 0).number, static_cast<double>(e.traffic.total()));
}

TEST(ExplorationTable, RatingsFollowEachValuesDirection) {
  const Exploration tall = explored("fa2", 128, 64);
  const Exploration low = explored("fa2", 64, 64);
  const Table table = figures({&low, &tall});
  EXPECT_EQ(shown(table, text(msg::explorer::l2_bytes{}), 0).tone, Tone::worse) << "more bytes";
  EXPECT_EQ(shown(table, text(msg::explorer::l2_intensity{}), 0).tone, Tone::worse) << "lower intensity";
  EXPECT_EQ(shown(table, text(msg::explorer::flops{}), 1).text, shown(table, text(msg::explorer::flops{}), 0).text);
  const Shown memory = shown(table, text(msg::explorer::shared{}), 0);
  EXPECT_EQ(memory.tone, Tone::plain) << "no better direction";
  EXPECT_TRUE(memory.text.ends_with("%") || memory.text.find("×") != std::string::npos) << memory.text;
  const Table other_way = figures({&tall, &low});
  EXPECT_EQ(shown(other_way, text(msg::explorer::l2_bytes{}), 0).tone, Tone::better);
  EXPECT_EQ(shown(other_way, text(msg::explorer::l2_bytes{}), 1).tone, Tone::plain);
}

TEST(ExplorationTable, DifferentProblemsAreNotRated) {
  const Exploration full = explored("fa2", 128, 64);
  const Exploration causal = explored("fa2", 128, 64, "causal");
  const Shown bytes = shown(figures({&causal, &full}), text(msg::explorer::l2_bytes{}), 0);
  EXPECT_EQ(bytes.tone, Tone::plain);
  EXPECT_TRUE(bytes.text.ends_with("  −47%")) << bytes.text;
}

TEST(ExplorationTable, InfeasibleConfigurationsHaveNoValues) {
  const Exploration runs = explored("fa2", 128, 64);
  const Exploration refused = explored("fa2", 512, 512);
  ASSERT_TRUE(refused.refusal);
  const Table table = figures({&runs, &refused});
  EXPECT_EQ(shown(table, text(msg::explorer::time{}), 1).text, "–");
  EXPECT_EQ(shown(table, text(msg::explorer::time{}), 0).text,
            shown(figures({&runs}), text(msg::explorer::time{}), 0).text);
  EXPECT_EQ(operands_table(refused).rows, 0U);
}

TEST(ExplorationTable, StartsWithDifferingFieldsKnobsAndDevices) {
  const Exploration a = explored("fa2", 128, 64);
  Exploration b = explored("fa2", 64, 64, "causal");
  b.point.spec.knobs.set("warps", std::int64_t{4});
  b.point.padding_bytes = 4096;
  const Table table = figures({&a, &b});
  const std::vector<std::pair<std::string, std::string>> expected{
      {"full", "causal"}, {"128", "64"}, {"auto", "4"}, {"0", "4096"}};
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(table.columns[1].cell(i).text, expected[i].first) << i;
    EXPECT_EQ(table.columns[2].cell(i).text, expected[i].second) << i;
  }
  EXPECT_EQ(row(table, text(msg::explorer::time{})), expected.size());
}

}  // namespace
}  // namespace attnscope::analysis
