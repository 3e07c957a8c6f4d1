// SPDX-License-Identifier: Apache-2.0
#include "profiler/predict/explored_tables.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "messages/explorer.h"
#include "messages/metric.h"
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
  EXPECT_EQ(shown(table, text(msg::explorer::nominal_flops{}), 1).text,
            shown(table, text(msg::explorer::nominal_flops{}), 0).text);
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

TEST(ExplorationTable, DifferencesArePercentOrFactors) {
  const Exploration pinned = explored("fa2", 128, 64);
  const auto time = [&](double factor, double pinned_factor = 1) {
    Exploration now = pinned;
    Exploration before = pinned;
    now.ns *= factor;
    before.ns *= pinned_factor;
    return shown(figures({&now, &before}), text(msg::explorer::time{}), 0);
  };
  for (const auto& [factor, by] :
       {std::pair(2.0, "×2"), {1.99, "+99%"}, {0.5, "×0.5"}, {0.51, "−49%"}, {3.5, "×3.50"}}) {
    EXPECT_NE(time(factor).text.find(by), std::string::npos) << time(factor).text;
    EXPECT_EQ(time(factor).tone, factor > 1 ? Tone::worse : Tone::better) << factor;
  }
  EXPECT_EQ(time(1 + 1e-14).tone, Tone::plain) << "rounding";
  EXPECT_EQ(time(1, 0).text, shown(figures({&pinned}), text(msg::explorer::time{}), 0).text) << "no ratio to 0";
}

TEST(ExplorationTable, ValuesOfSeveralGpus) {
  const auto on = [](int gpus) {
    PointSpec spec = fixtures::spec("ring", 4096, 128, 128);
    spec.problem.gpus = gpus;
    return explore({.spec = spec}, fixtures::h200(), built_in_algorithms());
  };
  const Exploration one = on(1);
  const Exploration four = on(4);
  const std::string bytes = text(msg::metric::link_bytes{});
  for (const bool pinned : {false, true}) {
    const Table table = pinned ? figures({&one, &four}) : figures({&four, &one});
    EXPECT_EQ(shown(table, bytes, pinned ? 1 : 0).number, static_cast<double>(four.link_bytes));
    EXPECT_EQ(shown(table, bytes, pinned ? 0 : 1).text, "–");
  }
  // No waits are a value; 0 is unknown only without a time model.
  Exploration balanced = four;
  balanced.sharing->exposed_ns = 0;
  EXPECT_EQ(shown(figures({&balanced}), text(msg::metric::gpu_exposed_ns{}), 0).number, 0);
  balanced.can_predict_time = false;
  EXPECT_FALSE(shown(figures({&balanced}), text(msg::metric::gpu_exposed_ns{}), 0).number);
}

TEST(OperandsTable, ListsBothDirectionsAndShares) {
  Exploration e = explored("fa2", 128, 64);
  e.operands = {{Tensor::q, {.l2_to_sm_bytes = 3'000'000}},
                {Tensor::s, {.l2_to_sm_bytes = 1'000'000, .sm_to_l2_bytes = 4'000'000}}};
  e.traffic = sum_of(e.operands);
  const Table table = operands_table(e);
  const auto texts = [&](std::size_t at) {
    std::vector<std::string> all;
    for (const Column& column : table.columns) all.push_back(column.cell(at).text);
    return all;
  };
  EXPECT_EQ(texts(0), (std::vector<std::string>{"Q", "3 MB", "–", "3 MB", "37.5%"}));
  EXPECT_EQ(texts(1), (std::vector<std::string>{"S", "1 MB", "4 MB", "5 MB", "62.5%"}));
  EXPECT_EQ(texts(2)[1] + texts(2)[2] + texts(2)[3], "4 MB4 MB8 MB");
  EXPECT_EQ(table.rows, 5U);
  e.dram_bytes = 0;
  EXPECT_EQ(operands_table(e).rows, 4U) << "no DRAM bytes";
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
