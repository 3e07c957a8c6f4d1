// SPDX-License-Identifier: Apache-2.0
#include "profiler/measure/interleaved.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "tests/profiler/measure/fake_device.h"

namespace attnscope {
namespace {

using ::testing::ElementsAre;

PointSpec point(std::int64_t n) {
  return {.algorithm = "fa2", .problem = {.n_q = n, .n_k = n, .d = 64}, .tile = {.br = 64, .bc = 64}};
}

/// Two points a side; the baseline's N are 64 and 128, the candidate's 256 and 512.
class Interleaved : public ::testing::Test {
 protected:
  using Kept = std::tuple<int, std::size_t, std::size_t>;  // round, side, point

  Interleaved() {
    plan.sides = {std::vector{point(64), point(128)}, {point(256), point(512)}};
    plan.rounds = {.count = 3, .seed = 7};
    plan.timeout = std::chrono::hours(1);
    hooks = {.begin_round = [this](int round) { return (now = round) != stop_before; },
             .device = [this](std::size_t side) -> Device& { return devices[side]; },
             .keep =
                 [this](std::size_t side, std::size_t place, int round, const PointRecord& record) {
                   EXPECT_EQ(record.spec, plan.sides[side][place]);
                   EXPECT_TRUE(kept.emplace(round, side, place).second);
                 },
             .decided = [this] { return ++looks >= decided_at; },
             .progress = [this](int, std::size_t percent) { percents.push_back(percent); }};
  }

  InterleavedOutcome run() { return measure_interleaved(plan, hooks, cancel); }

  void answer(std::size_t side, std::int64_t n, int round, Disposition disposition) {
    devices[side].answer = [this, n, round, disposition](PointRecord& record) {
      if (record.spec.problem.n_q == n && now >= round) record.disposition = disposition;
    };
  }

  InterleavedPlan plan;
  InterleavedHooks hooks;
  std::array<FakeDevice, 2> devices;
  CancelToken cancel;
  int stop_before = -1;
  int looks = 0;
  int decided_at = 1000;
  int now = 0;
  std::set<Kept> kept;
  std::vector<std::size_t> percents;
};

TEST_F(Interleaved, MeasuresBothSidesInEachRound) {
  plan.measure.verify = true;
  plan.placement = 5;
  const InterleavedOutcome outcome = run();
  EXPECT_EQ(outcome.rounds, 3);
  EXPECT_FALSE(outcome.failed);
  EXPECT_FALSE(outcome.timed_out);
  EXPECT_EQ(kept.size(), 12U);
  EXPECT_THAT(percents, ElementsAre(0, 25, 50, 75, 0, 25, 50, 75, 0, 25, 50, 75));
  for (const FakeDevice& device : devices) {
    ASSERT_EQ(device.asked.size(), 6U);
    for (std::size_t i = 0; i < 6; ++i) {
      EXPECT_EQ(device.asked[i].verify, i < 2) << i;
      EXPECT_EQ(device.asked[i].placement, 5 + i / 2) << i;
    }
  }
  plan.placement = 0;
  plan.measure.placement = 77;
  plan.measure.verify = false;
  kept.clear();
  (void)run();
  EXPECT_EQ(devices[1].asked.back().placement, 77U);
  EXPECT_FALSE(devices[1].asked[6].verify);
}

TEST_F(Interleaved, SkipsFailedPointsOnBothSides) {
  for (const auto& [disposition, failed] : {std::pair(Disposition::ok, false),
                                            {Disposition::infeasible, false},
                                            {Disposition::out_of_memory, false},
                                            {Disposition::no_counters, false},
                                            {Disposition::incorrect, true},
                                            {Disposition::compile_error, true},
                                            {Disposition::timeout, true},
                                            {Disposition::crashed, true}}) {
    const bool repeats = disposition == Disposition::ok || disposition == Disposition::no_counters;
    kept.clear();
    answer(1, 512, 0, disposition);
    EXPECT_EQ(run().failed, failed) << to_string(disposition);
    for (int round = 0; round < 3; ++round) {
      for (const std::size_t side : {0U, 1U}) {
        EXPECT_TRUE(kept.contains({round, side, 0}));
        EXPECT_EQ(kept.contains({round, side, 1}), repeats || round == 0) << to_string(disposition) << round << side;
      }
    }
  }
}

TEST_F(Interleaved, StopsAtALookWithAllDecided) {
  plan.rounds.count = 6;
  plan.looks = {2, 4, 6};
  decided_at = 2;
  EXPECT_EQ(run().rounds, 4);
  EXPECT_EQ(looks, 2);
}

TEST_F(Interleaved, StopsAfterTheTimeout) {
  plan.rounds.count = 4;
  plan.timeout = std::chrono::seconds(0);
  for (const auto& [least, rounds, timed_out] : {std::tuple(1, 1, true), {3, 3, true}, {4, 4, false}, {9, 4, false}}) {
    kept.clear();
    plan.min_rounds = least;
    const InterleavedOutcome outcome = run();
    EXPECT_EQ(outcome.rounds, rounds);
    EXPECT_EQ(outcome.timed_out, timed_out) << least;
  }
  kept.clear();
  plan.min_rounds = 1;
  plan.looks = {1};
  decided_at = 0;
  EXPECT_FALSE(run().timed_out) << "all is decided";
}

TEST_F(Interleaved, CountsCompleteRoundsOnly) {
  stop_before = 2;
  EXPECT_EQ(run().rounds, 2);
  EXPECT_EQ(kept.size(), 8U);

  stop_before = -1;
  kept.clear();
  answer(1, 512, 1, Disposition::cancelled);
  EXPECT_EQ(run().rounds, 1);
  EXPECT_FALSE(kept.contains({1, 1, 1}));

  kept.clear();
  devices[0].answer = [this](PointRecord&) { cancel.cancel(); };
  devices[1].answer = devices[0].answer;
  EXPECT_EQ(run().rounds, 0);
  EXPECT_TRUE(kept.empty()) << "the point in flight is not kept";
}

}  // namespace
}  // namespace attnscope
