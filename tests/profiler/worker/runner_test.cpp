// SPDX-License-Identifier: Apache-2.0
#include "profiler/worker/runner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <numeric>
#include <set>
#include <stdexcept>
#include <utility>
#include <vector>

#include "tests/kernels/modified_algorithm.h"
#include "tests/profiler/measure/fake_device.h"

namespace attnscope {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class Runner : public ::testing::Test {
 protected:
  Runner() {
    for (const std::int64_t n : {256, 512, 1024}) plan.points.push_back(point(n, {.br = 64, .bc = 64}));
  }

  static PointSpec point(std::int64_t n, TileShape tile) {
    return {.algorithm = "fa2", .problem = {.n_q = n, .n_k = n, .d = 64}, .tile = tile};
  }

  RunOutcome run(const std::vector<bool>& ended = {}) {
    std::vector<PointProgress> done;
    for (const bool each : ended) done.push_back({.rounds = {}, .ended = each});
    RunObserver observer;
    observer.on_point_started = [&](std::size_t i, const PointSpec&) { started.push_back(i); };
    observer.on_point = [&](std::size_t i, const PointRecord& record) {
      reported.push_back(i);
      records.push_back(record);
    };
    return run_sweep(plan, device, {}, {}, std::move(done), observer, cancel);
  }

  [[nodiscard]] std::ptrdiff_t count_ok() const {
    return std::ranges::count(records, Disposition::ok, &PointRecord::disposition);
  }

  SweepPlan plan;
  FakeDevice device;
  CancelToken cancel;
  std::vector<std::size_t> started;
  std::vector<std::size_t> reported;
  std::vector<PointRecord> records;
};

TEST_F(Runner, ReportsEveryPointInOrder) {
  const RunOutcome outcome = run();
  EXPECT_EQ(outcome.state, RunState::complete);
  EXPECT_EQ(count_ok(), 3);
  EXPECT_THAT(started, ElementsAre(0, 1, 2));
  EXPECT_THAT(reported, ElementsAre(0, 1, 2));
}

TEST_F(Runner, InfeasiblePointIsReportedUnmeasured) {
  plan.points[1].tile = {.br = 24, .bc = 64};
  const RunOutcome outcome = run();
  EXPECT_EQ(outcome.state, RunState::complete);
  EXPECT_EQ(count_ok(), 2);
  EXPECT_EQ(device.measured.size(), 2U);
  EXPECT_EQ(records[1].disposition, Disposition::infeasible);
  EXPECT_THAT(text(records[1].reason), HasSubstr("24"));
  ASSERT_NE(records[1].kernel("all"), nullptr);
  EXPECT_EQ(records[1].spec, plan.points[1]);
}

TEST_F(Runner, InfeasiblePointOfSimulatorIsSimulated) {
  device.device_info.simulated = true;
  plan.points[0].tile = {.br = 24, .bc = 64};
  plan.points[1].algorithm = "fa9";
  EXPECT_EQ(run().state, RunState::complete);
  EXPECT_EQ(records[0].provenance, Provenance::simulated);
  EXPECT_EQ(records[1].disposition, Disposition::infeasible);
  EXPECT_THAT(text(records[1].reason), HasSubstr("fa9"));
}

TEST_F(Runner, FailedPointDoesNotEndRun) {
  device.answer = [](PointRecord& record) {
    if (record.spec.problem.n_q == 512) record.disposition = Disposition::timeout;
  };
  const RunOutcome outcome = run();
  EXPECT_EQ(outcome.state, RunState::complete);
  EXPECT_EQ(count_ok(), 2);
}

TEST_F(Runner, ResumeSkipsCompletedPoints) {
  const RunOutcome outcome = run({true, false, true});
  EXPECT_EQ(outcome.state, RunState::complete);
  EXPECT_THAT(reported, ElementsAre(1));
}

TEST_F(Runner, EmptyPlanIsComplete) {
  EXPECT_EQ(run({true, true, true}).state, RunState::complete);
  EXPECT_TRUE(reported.empty());
}

TEST_F(Runner, CancelBetweenPointsStopsReports) {
  device.answer = [&](PointRecord&) { cancel.cancel(); };
  const RunOutcome outcome = run();
  EXPECT_EQ(outcome.state, RunState::cancelled);
  EXPECT_THAT(reported, ElementsAre(0));
  EXPECT_EQ(records[0].disposition, Disposition::ok);
}

TEST_F(Runner, CancelWithinPointReportsCancelled) {
  device.answer = [&](PointRecord& record) {
    cancel.cancel();
    record.disposition = Disposition::cancelled;
  };
  EXPECT_EQ(run().state, RunState::cancelled);
  EXPECT_THAT(reported, ElementsAre(0));
  EXPECT_EQ(records[0].disposition, Disposition::cancelled);
}

TEST_F(Runner, CancelBeforeStartDoesNothing) {
  cancel.cancel();
  EXPECT_EQ(run().state, RunState::cancelled);
  EXPECT_TRUE(started.empty());
}

TEST_F(Runner, CancelAfterLastPointIsComplete) {
  device.answer = [&](PointRecord& record) {
    if (record.spec.problem.n_q == 1024) cancel.cancel();
  };
  EXPECT_EQ(run().state, RunState::complete);
}

TEST_F(Runner, LostDeviceEndsRun) {
  device.answer = [&](PointRecord& record) {
    record.disposition = Disposition::crashed;
    record.reason = Message::verbatim("illegal address");
    device.is_usable = false;
  };
  const RunOutcome outcome = run();
  EXPECT_EQ(outcome.state, RunState::device_lost);
  EXPECT_THAT(text(outcome.reason), HasSubstr("illegal address"));
  EXPECT_THAT(reported, ElementsAre(0));
}

// Devices that count several points together.

class RunnerSharedSessions : public Runner {
 protected:
  RunnerSharedSessions() {
    plan.points.clear();
    for (std::int64_t i = 1; i <= 12; ++i) plan.points.push_back(point(64 * i, {.br = 64, .bc = 64}));
    device.max_together = 4;
    device.count_answer = [](PointRecord& record) {
      record.kernels.front().metrics.push_back(
          {"dram_read_bytes", static_cast<double>(record.spec.problem.n_q), "byte", Provenance::measured});
    };
  }

  static bool counted(const PointRecord& record) {
    return record.kernels.front().metric("dram_read_bytes") == static_cast<double>(record.spec.problem.n_q);
  }
  [[nodiscard]] std::vector<std::size_t> sizes() const {
    std::vector<std::size_t> sizes;
    for (const auto& session : device.sessions) sizes.push_back(session.size());
    return sizes;
  }
  static std::vector<std::size_t> up_to(std::size_t count) {
    std::vector<std::size_t> indices(count);
    std::iota(indices.begin(), indices.end(), 0);
    return indices;
  }
};

TEST_F(RunnerSharedSessions, SessionSizeDoublesAndOrderIsKept) {
  const RunOutcome outcome = run();
  EXPECT_EQ(outcome.state, RunState::complete);
  EXPECT_EQ(count_ok(), 12);
  EXPECT_EQ(started, up_to(12));
  EXPECT_EQ(reported, up_to(12));
  EXPECT_THAT(sizes(), ElementsAre(1, 2, 4, 4, 1));
  for (const PointRecord& record : records) EXPECT_TRUE(counted(record)) << describe(record.spec);
}

TEST_F(RunnerSharedSessions, UncountedPointsKeepOrder) {
  plan.points[4].tile = {.br = 24, .bc = 64};
  device.answer = [](PointRecord& record) {
    if (record.spec.problem.n_q == 64 * 6) record.disposition = Disposition::incorrect;
  };
  EXPECT_EQ(run().state, RunState::complete);
  EXPECT_EQ(reported, up_to(12));
  EXPECT_EQ(records[4].disposition, Disposition::infeasible);
  EXPECT_EQ(records[5].disposition, Disposition::incorrect);
  for (const std::size_t i : {3U, 6U, 7U}) EXPECT_TRUE(counted(records[i])) << i;
  EXPECT_THAT(device.sessions[2], ElementsAre(64 * 4, 64 * 7, 64 * 8, 64 * 9));
}

TEST_F(RunnerSharedSessions, SessionsAreLimited) {
  device.max_together = 1000;
  plan.points.resize(1 + 2 + 4 + 8 + 16 + 32 + 64 + 64 + 1, plan.points.front());
  EXPECT_EQ(run().state, RunState::complete);
  EXPECT_THAT(sizes(), ElementsAre(1, 2, 4, 8, 16, 32, 64, 64, 1));
}

TEST_F(RunnerSharedSessions, LongPointsAreCountedSoon) {
  for (const auto& [seconds, expected] : std::vector<std::pair<double, std::vector<std::size_t>>>{
           {0.6, {1, 2, 2, 2, 2, 2, 1}}, {0.5, {1, 2, 2, 2, 2, 2, 1}}, {0.375, {1, 2, 3, 3, 3}}}) {
    device.sessions.clear();
    reported.clear();
    device.answer = [seconds = seconds](PointRecord& record) { record.wall_seconds = seconds; };
    EXPECT_EQ(run().state, RunState::complete);
    EXPECT_EQ(sizes(), expected) << seconds;
  }
}

TEST_F(RunnerSharedSessions, MissingCountersAffectOnlyOnePoint) {
  device.count_answer = [count = device.count_answer](PointRecord& record) {
    if (record.spec.problem.n_q == 64 * 5) {
      record.disposition = Disposition::no_counters;
    } else {
      count(record);
    }
  };
  const RunOutcome outcome = run();
  EXPECT_EQ(outcome.state, RunState::complete);
  EXPECT_EQ(count_ok(), 11);
  EXPECT_EQ(reported, up_to(12));
  for (std::size_t i = 0; i < 12; ++i) EXPECT_EQ(counted(records[i]), i != 4) << i;
}

TEST_F(RunnerSharedSessions, DeviceLossIsAttributedToOnePoint) {
  // Counting points 5 or 9 loses the device every time.
  device.count_answer = [&, count = device.count_answer](PointRecord& record) {
    const std::int64_t n = record.spec.problem.n_q;
    if (n == 64 * 6 || n == 64 * 10) {
      record.disposition = Disposition::crashed;
      record.reason = Message::verbatim("illegal address");
      device.is_usable = false;
      return;
    }
    count(record);
  };
  std::vector<bool> done(12, false);
  std::map<std::size_t, PointRecord> all;
  int processes = 0;
  for (RunState state = RunState::device_lost; state == RunState::device_lost && processes < 5; ++processes) {
    started.clear();
    reported.clear();
    records.clear();
    device.is_usable = true;
    const RunOutcome outcome = run(done);
    state = outcome.state;
    for (std::size_t i = 0; i < reported.size(); ++i) {
      EXPECT_FALSE(done[reported[i]]) << reported[i] << " was reported twice";
      done[reported[i]] = true;
      all[reported[i]] = records[i];
    }
    if (state == RunState::device_lost) {
      EXPECT_THAT(text(outcome.reason), HasSubstr("illegal address"));
      EXPECT_EQ(records.back().disposition, Disposition::crashed);
      EXPECT_GE(records.size(), 2U) << "each process gets beyond the fatal point of the last one";
    }
  }
  EXPECT_EQ(processes, 3);
  ASSERT_EQ(all.size(), 12U);
  for (const auto& [i, record] : all) {
    EXPECT_EQ(record.disposition, i == 5 || i == 9 ? Disposition::crashed : Disposition::ok) << i;
    EXPECT_EQ(counted(record), i != 5 && i != 9) << i;
  }
}

TEST_F(RunnerSharedSessions, DeviceLossKeepsWaitingPointsUnreported) {
  device.answer = [&](PointRecord& record) {
    if (record.spec.problem.n_q != 64 * 6) return;
    record.disposition = Disposition::timeout;
    record.reason = Message::verbatim("still running");
    device.is_usable = false;
  };
  const RunOutcome outcome = run();
  EXPECT_EQ(outcome.state, RunState::device_lost);
  EXPECT_THAT(text(outcome.reason), HasSubstr("still running"));
  EXPECT_THAT(reported, ElementsAre(0, 1, 2, 5)) << "counters of 3 and 4 are pending";
}

// Another point crashed before without losing the device.
TEST_F(RunnerSharedSessions, DeviceLossNamesTheFatalPoint) {
  device.answer = [&](PointRecord& record) {
    if (record.spec.problem.n_q != 64 * 5) return;
    record.disposition = Disposition::crashed;
    record.reason = Message::verbatim("one call failed");
  };
  device.count_answer = [&](PointRecord& record) {
    if (record.spec.problem.n_q != 64 * 6) return;
    record.disposition = Disposition::out_of_memory;
    record.reason = Message::verbatim("no memory, and then no device");
    device.is_usable = false;
  };
  const RunOutcome outcome = run();
  EXPECT_EQ(outcome.state, RunState::device_lost);
  EXPECT_THAT(text(outcome.reason), HasSubstr("no memory, and then no device"));
}

TEST_F(RunnerSharedSessions, CancelDropsWaitingPoints) {
  device.answer = [&](PointRecord& record) {
    if (record.spec.problem.n_q == 64 * 5) cancel.cancel();
  };
  EXPECT_EQ(run().state, RunState::cancelled);
  EXPECT_THAT(reported, ElementsAre(0, 1, 2));
  EXPECT_THAT(started, ElementsAre(0, 1, 2, 3, 4));
  EXPECT_THAT(sizes(), ElementsAre(1, 2)) << "no point starts after a cancel";
}

TEST_F(RunnerSharedSessions, CancelDuringCountingDropsSession) {
  device.count_answer = [&, count = device.count_answer](PointRecord& record) {
    if (record.spec.problem.n_q == 64 * 5) cancel.cancel();
    count(record);
  };
  EXPECT_EQ(run().state, RunState::cancelled);
  EXPECT_THAT(reported, ElementsAre(0, 1, 2));
}

TEST_F(Runner, ObserverExceptionIsRethrown) {
  RunObserver observer;
  observer.on_point = [](std::size_t, const PointRecord&) { throw std::runtime_error("disk full"); };
  EXPECT_THROW((void)run_sweep(plan, device, {}, {}, {}, observer, cancel), std::runtime_error);
  EXPECT_EQ(device.measured.size(), 1U);
}

/// Three points in several rounds; the device's answers may differ per round.
class RunnerRounds : public Runner {
 protected:
  RunOutcome run_rounds(int count, std::vector<PointProgress> done = {}) {
    RunObserver observer;
    observer.on_round = [&](int round) { now = round; };
    observer.on_point = [&](std::size_t i, const PointRecord& record) {
      measured.emplace_back(now, i);
      records.push_back(record);
    };
    return run_sweep(plan, device, {}, {.count = count, .seed = 7}, std::move(done), observer, cancel);
  }

  /// Expected order of an undisturbed run.
  std::vector<std::pair<int, std::size_t>> undisturbed(int count) const {
    std::vector<std::pair<int, std::size_t>> all;
    for (int round = 0; round < count; ++round) {
      for (const std::size_t i : round_order(plan.points.size(), round, {.count = count, .seed = 7})) {
        all.emplace_back(round, i);
      }
    }
    return all;
  }

  int now = -1;
  std::vector<std::pair<int, std::size_t>> measured;
};

TEST_F(RunnerRounds, EachRoundHasItsOwnOrder) {
  for (const std::int64_t n : {2048, 4096, 8192}) plan.points.push_back(point(n, {.br = 64, .bc = 64}));
  const RunOutcome outcome = run_rounds(4);
  EXPECT_EQ(outcome.state, RunState::complete);
  EXPECT_EQ(measured, undisturbed(4));
  std::set<std::vector<std::size_t>> orders;
  for (int round = 0; round < 4; ++round) {
    std::vector<std::size_t> order = round_order(6, round, {.count = 4, .seed = 7});
    orders.insert(order);
    std::ranges::sort(order);
    EXPECT_THAT(order, ElementsAre(0, 1, 2, 3, 4, 5));
  }
  EXPECT_EQ(orders.size(), 4U);
  // A resumed run depends on this order; it must never change.
  EXPECT_THAT(round_order(6, 1, {.count = 4, .seed = 7}), ElementsAre(5, 4, 0, 3, 2, 1));
  EXPECT_THAT(round_order(3, 0, {.count = 1, .seed = 7}), ElementsAre(0, 1, 2)) << "one round uses the plan's order";
}

TEST_F(RunnerRounds, VerifiesOnlyInFirstRound) {
  (void)run_rounds(2);
  ASSERT_EQ(device.asked.size(), 6U);
  for (std::size_t i = 0; i < 6; ++i) {
    EXPECT_EQ(device.asked[i].verify, i < 3) << i;
    EXPECT_EQ(device.asked[i].placement, i < 3 ? 8U : 9U) << "from seed 7, " << i;
  }
  device.asked.clear();
  (void)run_rounds(1);
  EXPECT_EQ(device.asked.at(1).placement, 0U) << "one round keeps the caller's";
}

TEST_F(RunnerRounds, VerifiesUserDefinedKernelsInEveryRound) {
  Registry registry;
  registry.add(std::make_unique<test::ModifiedAlgorithm>(*built_in_algorithms().find("fa2"), "mine", true));
  device.registry = &registry;
  for (PointSpec& each : plan.points) each.algorithm = "mine";
  (void)run_rounds(2);
  ASSERT_EQ(device.asked.size(), 6U);
  for (const MeasureOptions& options : device.asked) EXPECT_TRUE(options.verify);
}

TEST_F(RunnerRounds, FailedPointIsNotRepeated) {
  device.answer = [&](PointRecord& record) {
    const std::int64_t n = record.spec.problem.n_q;
    if (n == 512 && now == 1) record.disposition = Disposition::timeout;
    if (n == 1024) record.disposition = Disposition::no_counters;
  };
  const RunOutcome outcome = run_rounds(3);
  EXPECT_EQ(outcome.state, RunState::complete);
  EXPECT_EQ(std::ranges::count(measured, 0U, &std::pair<int, std::size_t>::second), 3);
  EXPECT_EQ(std::ranges::count(measured, 1U, &std::pair<int, std::size_t>::second), 2)
      << "timed out in the second round";
  EXPECT_EQ(std::ranges::count(measured, 2U, &std::pair<int, std::size_t>::second), 3)
      << "measured, but without counters";
}

TEST_F(RunnerRounds, ResumesAtEveryPosition) {
  const auto all = undisturbed(3);
  for (std::size_t kept = 0; kept <= all.size(); ++kept) {
    SCOPED_TRACE(kept);
    std::vector<PointProgress> done(plan.points.size());
    for (std::size_t i = 0; i < kept; ++i) done[all[i].second].rounds.insert(all[i].first);
    measured.clear();
    EXPECT_EQ(run_rounds(3, done).state, RunState::complete);
    EXPECT_EQ(measured, (std::vector(all.begin() + static_cast<std::ptrdiff_t>(kept), all.end())));
  }
}

TEST_F(RunnerRounds, SessionsDoNotSpanRounds) {
  device.max_together = 16;
  EXPECT_EQ(run_rounds(2).state, RunState::complete);
  EXPECT_EQ(measured, undisturbed(2));
  std::size_t counted = 0;
  for (const auto& session : device.sessions) {
    counted += session.size();
    EXPECT_LE(session.size(), 3U);
    EXPECT_EQ(std::set(session.begin(), session.end()).size(), session.size()) << "no duplicate point";
  }
  EXPECT_EQ(counted, 6U);
}

TEST_F(RunnerRounds, DeviceLossKeepsEarlierRounds) {
  device.answer = [&](PointRecord& record) {
    if (now != 1 || record.spec.problem.n_q != 512) return;
    record.disposition = Disposition::crashed;
    device.is_usable = false;
  };
  const RunOutcome outcome = run_rounds(2);
  EXPECT_EQ(outcome.state, RunState::device_lost);
  std::vector<PointProgress> done(plan.points.size());
  for (std::size_t i = 0; i < measured.size(); ++i) {
    done[measured[i].second].rounds.insert(measured[i].first);
    if (records[i].disposition == Disposition::crashed) done[measured[i].second].ended = true;
  }
  device.is_usable = true;
  EXPECT_EQ(run_rounds(2, done).state, RunState::complete);
  EXPECT_EQ(measured, undisturbed(2)) << "the next process measures the remaining points in order";
}

}  // namespace
}  // namespace attnscope
