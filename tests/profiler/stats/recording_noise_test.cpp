// SPDX-License-Identifier: Apache-2.0
#include "profiler/stats/recording_noise.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "profiler/stats/ratio_estimates.h"
#include "profiler/stats/verdicts.h"

namespace attnscope::analysis {
namespace {

TEST(RecordingNoise, AveragesFasterHalf) {
  EXPECT_DOUBLE_EQ(recording_log_time({5}), 5);
  EXPECT_DOUBLE_EQ(recording_log_time({9, 2}), 2);
  EXPECT_DOUBLE_EQ(recording_log_time({4, 1, 100, 2}), 1.5);
  EXPECT_DOUBLE_EQ(recording_log_time({4, 1, 100, 2, 3}), 1.5);
  EXPECT_NEAR(log_time_of_medians({100, 400, 1000, 900}), std::log(200), 1e-12);
}

TEST(RecordingNoise, EstimatesVarianceOfTwoRecordings) {
  const auto rounds = [](std::vector<double> ns) {
    return SideRounds{.ns = std::move(ns), .cycles = {}, .recordings = {}};
  };
  const std::vector<RecordedRounds> recordings{
      {{"a", rounds({100, 200, 100})}, {"b", rounds({50, 50, 50})}, {"once", rounds({1, 1, 1})}},
      {{"a", rounds({101, 101, 300})}, {"b", rounds({50, 60, 50, 50})}, {"none", rounds({})}}};
  const RecordingNoise noise = estimate_noise(recordings);
  EXPECT_EQ(noise.recordings, 2U);
  EXPECT_EQ(noise.rounds, 3U) << "of the shortest";
  ASSERT_EQ(noise.points.size(), 2U) << "that both have";
  const PointNoise& a = noise.points.at("a");
  EXPECT_NEAR(a.variance, std::pow(std::log(1.01), 2) / 2, 1e-12);
  EXPECT_NEAR(a.ns, 100 * std::sqrt(1.01), 1e-9);
  EXPECT_EQ(a.dof, 1);
  EXPECT_EQ(a.normalized_variance, 0) << "there are no clocks";
  EXPECT_EQ(noise.points.at("b").variance, 0);
}

/// Variance inversely proportional to time, with points above and below the line.
RecordingNoise noise_by_time() {
  RecordingNoise noise{.recordings = 6, .rounds = 10, .points = {}};
  for (int k = 0; k < 20; ++k) {
    const double ns = 1e4 * std::pow(2, k / 2);
    noise.points[fmt::format("{}", k)] = {.ns = ns, .variance = (k % 2 == 0 ? 2.0 : 0.5) * 10 / ns, .dof = 5};
  }
  return noise;
}

TEST(RecordingNoise, ModeratesTowardsTrend) {
  const NoiseModel model(noise_by_time());
  const VarianceEstimate noisy = model.of("0", 1e4, 10, false);
  EXPECT_LT(noisy.variance, 2e-3);
  EXPECT_GT(noisy.variance, 1e-3);
  EXPECT_GT(noisy.dof, 5) << "the other points contribute degrees of freedom";
  EXPECT_GT(model.of("1", 1e4, 10, false).variance, 0.5e-3);
  // 16 times the time, 1/16 of the variance.
  const double short_ones = model.of("unknown", 1e4, 10, false).variance;
  EXPECT_NEAR(short_ones / model.of("unknown", 16e4, 10, false).variance, 16, 0.5);
}

TEST(RecordingNoise, ScalesWithFewerRounds) {
  const NoiseModel model(noise_by_time());
  const double calibrated = model.of("3", 2e4, 10, false).variance;
  EXPECT_DOUBLE_EQ(model.of("3", 2e4, 5, false).variance, 2 * calibrated);
  EXPECT_DOUBLE_EQ(model.of("3", 2e4, 40, false).variance, calibrated);
}

TEST(RecordingNoise, IsUnknownWithoutRecordings) {
  EXPECT_EQ(NoiseModel(RecordingNoise()).of("a", 100, 10, false).dof, 0);
}

TEST(RecordingNoise, RatioHasTheFewerDegreesOfFreedom) {
  ComparedRow row;
  row.base.ns = row.other.ns = {100, 100};
  row.base.recordings = {0, 0};
  row.other.recordings = {1, 1};
  row.base.place = {.variance = 9e-4, .dof = 20};
  row.other.place = {.variance = 16e-4, .dof = 3};
  ComparedRow exchanged = row;
  std::swap(exchanged.base.place, exchanged.other.place);
  std::vector<bool> which;
  for (const RatioEstimate& estimate : estimate_ratios(std::vector{row, exchanged}, &SideRounds::ns, which)) {
    EXPECT_EQ(estimate.floor, SpreadFloor::calibrated);
    EXPECT_NEAR(estimate.error, 0.05, 1e-12);
    EXPECT_EQ(estimate.dof, 3);
  }
}

/// Simulates recordings of one build with an offset per point and recording; some rounds are throttled at the power
/// cap. `clock`: standard deviation of the rounds' log clock, which a kernel follows by a factor of 0.6 to 1; 0: no
/// clocks.
std::vector<RecordedRounds> drawn(std::size_t count, std::mt19937_64& random, double first_factor = 1,
                                  double clock = 0) {
  std::normal_distribution<double> normal;
  std::vector<RecordedRounds> recordings(count);
  for (RecordedRounds& recording : recordings) {
    for (int point = 0; point < 77; ++point) {
      const double moves = 0.001 * (1 + point % 3) * normal(random);
      SideRounds& rounds = recording[fmt::format("{}", point)];
      for (int round = 0; round < 10; ++round) {
        const double capped = clock == 0 && random() % 10 == 0 ? 0.1 : 0;
        const double hz = clock * normal(random);
        const double slow = capped - hz * (0.6 + 0.1 * (point % 5));
        rounds.ns.push_back(1e5 * (1 + point) * std::exp(moves + 0.002 * normal(random) + slow));
        if (clock > 0) rounds.cycles.push_back(rounds.ns.back() * 1.8 * std::exp(hz));
      }
    }
  }
  for (int point = 0; point < 77; point += 10) {
    SideRounds& rounds = recordings.front()[fmt::format("{}", point)];
    for (double& ns : rounds.ns) ns *= first_factor;
    for (double& cycles : rounds.cycles) cycles *= first_factor;
  }
  return recordings;
}

/// Verdicts on pairs of recordings of one build, judged with the noise of the other recordings.
struct HeldOutNoise {
  std::size_t rows = 0;
  std::size_t changed = 0;  ///< FASTER or SLOWER, all incorrect
  std::size_t same = 0;
  double detectable = 0;  ///< median minimum detectable change over rows
};
/// Judges each pair of recordings at this margin with the noise of all others. Pre: four or more recordings.
HeldOutNoise held_out(std::span<const RecordedRounds> recordings, double margin) {
  HeldOutNoise result;
  std::vector<double> detectable;
  for (std::size_t a = 0; a < recordings.size(); ++a) {
    for (std::size_t b = a + 1; b < recordings.size(); ++b) {
      std::vector<RecordedRounds> others;
      for (std::size_t i = 0; i < recordings.size(); ++i) {
        if (i != a && i != b) others.push_back(recordings[i]);
      }
      const NoiseModel noise(estimate_noise(others));
      std::vector<ComparedRow> rows;
      for (const auto& [point, base] : recordings[a]) {
        const auto other = recordings[b].find(point);
        if (other == recordings[b].end()) continue;
        ComparedRow& row = rows.emplace_back();
        row.base = base;
        row.other = other->second;
        row.base.recordings.assign(base.ns.size(), 0);
        row.other.recordings.assign(other->second.ns.size(), 1);
        normalize_clock(row);
        const double ns = std::exp(log_time_of_medians(base.ns));
        for (SideRounds* side : {&row.base, &row.other}) {
          side->place = noise.of(point, ns, side->ns.size(), row.one_clock);
        }
      }
      for (const RowVerdict& row : judge(rows, {.margin = margin})) {
        ++result.rows;
        if (row.verdict == Verdict::same) ++result.same;
        if (row.verdict == Verdict::faster || row.verdict == Verdict::slower) ++result.changed;
        detectable.push_back(row.detectable);
      }
    }
  }
  if (detectable.empty()) return result;
  const auto middle = detectable.begin() + static_cast<std::ptrdiff_t>(detectable.size() / 2);
  std::ranges::nth_element(detectable, middle);
  result.detectable = *middle;
  return result;
}

// False verdicts for identical builds are below 0.1%, and most rows are SAME.
TEST(RecordingNoise, IdenticalBuildsAreSame) {
  std::mt19937_64 random(7);
  HeldOutNoise all;
  for (int set = 0; set < 4; ++set) {
    const HeldOutNoise held = held_out(drawn(8, random), default_margin_unpaired);
    all.rows += held.rows;
    all.changed += held.changed;
    all.same += held.same;
    EXPECT_GT(held.detectable, default_margin_unpaired);
    EXPECT_LT(held.detectable, 0.04);
  }
  EXPECT_EQ(all.rows, 4U * 28 * 77);
  EXPECT_LE(all.changed, all.rows / 1000);
  EXPECT_GE(all.same, all.rows * 8 / 10);
}

// One recording has every tenth point slower by 5%; those rows are found in each pair that contains it.
TEST(RecordingNoise, FindsRegression) {
  std::mt19937_64 random(11);
  const HeldOutNoise held = held_out(drawn(8, random, 1.05), default_margin_unpaired);
  const std::size_t planted = 7 * 8;
  EXPECT_GE(held.changed, planted * 9 / 10);
  EXPECT_LE(held.changed, planted + 3);
}

// Clock variation of 1.8% would leave most rows UNDECIDED without clock normalization.
TEST(RecordingNoise, ClockNormalizationReducesNoise) {
  std::mt19937_64 random(13);
  std::vector<RecordedRounds> recordings = drawn(8, random, 1.03, 0.018);
  const HeldOutNoise known = held_out(recordings, default_margin_unpaired);
  const std::size_t planted = 7 * 8;
  EXPECT_GE(known.changed, planted * 9 / 10);
  EXPECT_LE(known.changed, planted + 3);
  EXPECT_GE(known.same, (known.rows - planted) * 8 / 10);
  for (RecordedRounds& recording : recordings) {
    for (auto& [point, rounds] : recording) rounds.cycles.clear();
  }
  EXPECT_LT(held_out(recordings, default_margin_unpaired).same, known.same / 2);
}

}  // namespace
}  // namespace attnscope::analysis
