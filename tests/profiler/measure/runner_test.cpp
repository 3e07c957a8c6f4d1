// SPDX-License-Identifier: Apache-2.0
#include "profiler/measure/runner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "tests/profiler/measure/fake_device.h"

namespace attnscope {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class Runner : public testing::Test {
 protected:
  Runner() {
    for (const std::int64_t n : {256, 512, 1024}) plan.points.push_back(point(n, {.br = 64, .bc = 64}));
  }

  static PointSpec point(std::int64_t n, TileShape tile) {
    return {.algorithm = "fa2", .problem = {.n_q = n, .n_k = n, .d = 64}, .tile = tile};
  }

  RunOutcome run(const std::vector<bool>& done = {}) {
    RunObserver observer;
    observer.on_build = [&](std::size_t, std::size_t, const BuildReport&) { ++builds; };
    observer.on_point_started = [&](std::size_t i, const PointSpec&) { started.push_back(i); };
    observer.on_point = [&](std::size_t i, const PointRecord& record, const RunCounts& counts) {
      reported.push_back(i);
      records.push_back(record);
      EXPECT_EQ(counts.done, reported.size());
    };
    return run_sweep(plan, device, {}, done, observer, cancel);
  }

  SweepPlan plan;
  FakeDevice device;
  CancelToken cancel;
  std::size_t builds = 0;
  std::vector<std::size_t> started;
  std::vector<std::size_t> reported;
  std::vector<PointRecord> records;
};

TEST_F(Runner, ReportsEveryPointInOrder) {
  const RunOutcome outcome = run();
  EXPECT_EQ(outcome.state, RunState::complete);
  EXPECT_EQ(outcome.counts.total, 3U);
  EXPECT_EQ(outcome.counts.done, 3U);
  EXPECT_EQ(outcome.counts.ok, 3U);
  EXPECT_EQ(outcome.counts.not_ok, 0U);
  EXPECT_EQ(builds, 3U);
  EXPECT_THAT(started, ElementsAre(0, 1, 2));
  EXPECT_THAT(reported, ElementsAre(0, 1, 2));
}

TEST_F(Runner, AnInfeasiblePointIsReportedWithoutAskingTheDevice) {
  plan.points[1].tile = {.br = 24, .bc = 64};
  const RunOutcome outcome = run();
  EXPECT_EQ(outcome.state, RunState::complete);
  EXPECT_EQ(outcome.counts.ok, 2U);
  EXPECT_EQ(outcome.counts.not_ok, 1U);
  EXPECT_EQ(device.measured.size(), 2U);
  EXPECT_EQ(device.prepared.size(), 2U);
  EXPECT_EQ(records[1].disposition, Disposition::infeasible);
  EXPECT_THAT(text(records[1].reason), HasSubstr("24"));
  ASSERT_NE(records[1].kernel("all"), nullptr);
  EXPECT_EQ(records[1].spec, plan.points[1]);
}

TEST_F(Runner, InfeasibleOnTheSimulatorIsLabelledSimulated) {
  device.device_info.simulated = true;
  plan.points[0].tile = {.br = 24, .bc = 64};
  plan.points[1].algorithm = "fa9";
  EXPECT_EQ(run().state, RunState::complete);
  EXPECT_EQ(records[0].provenance, Provenance::simulated);
  EXPECT_EQ(records[1].disposition, Disposition::infeasible);
  EXPECT_THAT(text(records[1].reason), HasSubstr("fa9"));
}

TEST_F(Runner, OnePointsFailureEndsNothing) {
  device.answer = [](PointRecord& record) {
    if (record.spec.problem.n_q == 512) record.disposition = Disposition::timeout;
  };
  const RunOutcome outcome = run();
  EXPECT_EQ(outcome.state, RunState::complete);
  EXPECT_EQ(outcome.counts.ok, 2U);
  EXPECT_EQ(outcome.counts.not_ok, 1U);
}

TEST_F(Runner, ResumingSkipsWhatIsDone) {
  const RunOutcome outcome = run({true, false, true});
  EXPECT_EQ(outcome.state, RunState::complete);
  EXPECT_EQ(outcome.counts.total, 3U);
  EXPECT_EQ(outcome.counts.skipped, 2U);
  EXPECT_EQ(outcome.counts.done, 1U);
  EXPECT_THAT(reported, ElementsAre(1));
  EXPECT_EQ(device.prepared.size(), 1U);
}

TEST_F(Runner, NothingLeftToDoIsComplete) {
  EXPECT_EQ(run({true, true, true}).state, RunState::complete);
  EXPECT_TRUE(device.prepared.empty());
  EXPECT_TRUE(reported.empty());
}

TEST_F(Runner, CancelBetweenPointsReportsNoFurtherOne) {
  device.answer = [&](PointRecord&) { cancel.cancel(); };
  const RunOutcome outcome = run();
  EXPECT_EQ(outcome.state, RunState::cancelled);
  EXPECT_THAT(reported, ElementsAre(0));
  EXPECT_EQ(records[0].disposition, Disposition::ok);
}

TEST_F(Runner, CancelWithinAPointReportsItAsCancelled) {
  device.answer = [&](PointRecord& record) {
    cancel.cancel();
    record.disposition = Disposition::cancelled;
  };
  EXPECT_EQ(run().state, RunState::cancelled);
  EXPECT_THAT(reported, ElementsAre(0));
  EXPECT_EQ(records[0].disposition, Disposition::cancelled);
}

TEST_F(Runner, CancelledBeforeTheStartDoesNothing) {
  cancel.cancel();
  EXPECT_EQ(run().state, RunState::cancelled);
  EXPECT_TRUE(device.prepared.empty());
  EXPECT_TRUE(started.empty());
}

TEST_F(Runner, CancelAfterTheLastPointIsComplete) {
  device.answer = [&](PointRecord& record) {
    if (record.spec.problem.n_q == 1024) cancel.cancel();
  };
  EXPECT_EQ(run().state, RunState::complete);
}

TEST_F(Runner, ALostDeviceEndsTheRunAfterItsPoint) {
  device.answer = [&](PointRecord& record) {
    record.disposition = Disposition::crashed;
    record.reason = Message::verbatim("illegal address");
    device.is_usable = false;
  };
  const RunOutcome outcome = run();
  EXPECT_EQ(outcome.state, RunState::device_lost);
  EXPECT_THAT(text(outcome.reason), HasSubstr("illegal address"));
  EXPECT_THAT(reported, ElementsAre(0));
  EXPECT_EQ(outcome.counts.done, 1U);
}

TEST_F(Runner, AnObserversExceptionPassesThrough) {
  RunObserver observer;
  observer.on_point = [](std::size_t, const PointRecord&, const RunCounts&) { throw std::runtime_error("disk full"); };
  EXPECT_THROW((void)run_sweep(plan, device, {}, {}, observer, cancel), std::runtime_error);
  EXPECT_EQ(device.measured.size(), 1U);
}

}  // namespace
}  // namespace attnscope
