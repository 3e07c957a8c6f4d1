// SPDX-License-Identifier: Apache-2.0
#include "profiler/verify.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "kernels/algorithm.h"
#include "profiler/simulator/simulated_device.h"
#include "tests/profiler/fake_device.h"

namespace attnscope {
namespace {

using testing::HasSubstr;

std::vector<VerifyCase> few_cases(std::size_t count) {
  const std::vector<std::string> only{"fa2"};
  auto cases = verify_cases(only, *find_gpu("H200"));
  cases.resize(count);
  return cases;
}

TEST(VerifyCases, CoverTheWholeOracleTable) {
  const auto cases = verify_cases({}, *find_gpu("H200"));
  for (const Algorithm* algorithm : algorithms()) {
    std::set<std::pair<std::int64_t, std::int64_t>> shapes;
    std::set<DType> dtypes;
    std::set<std::string> masks;
    std::set<InputKind> kinds;
    std::set<std::int64_t> dims;
    std::set<std::pair<int, int>> tiles_at_64;
    std::set<Raster> rasters;
    std::size_t count = 0;
    for (const VerifyCase& one : cases) {
      if (one.spec.algorithm != algorithm->name()) continue;
      ++count;
      shapes.insert({one.spec.problem.n_q, one.spec.problem.n_k});
      dtypes.insert(one.spec.problem.dtype);
      masks.insert(to_string(one.spec.problem.mask));
      kinds.insert(one.inputs);
      dims.insert(one.spec.problem.d);
      rasters.insert(one.spec.tile.raster);
      if (one.spec.problem.d == 64 && one.spec.problem.n_q == 384)
        tiles_at_64.insert({one.spec.tile.br, one.spec.tile.bc});
    }
    EXPECT_EQ(shapes.size(), 11U);
    EXPECT_EQ(dtypes.size(), 2U);
    EXPECT_EQ(masks.size(), 2U);
    EXPECT_EQ(kinds.size(), input_kinds().size());
    EXPECT_EQ(tiles_at_64.size(), 3U);
    EXPECT_EQ(rasters.size(), 2U);
    EXPECT_TRUE(dims.contains(64) && dims.contains(128));
    EXPECT_EQ(count, shapes.size() * 4 * kinds.size() * dims.size() * 3);
    for (const std::int64_t d : dims) {
      EXPECT_TRUE(std::ranges::find(algorithm->head_dims(), d) != algorithm->head_dims().end());
    }
  }
}

TEST(VerifyCases, NamedAlgorithmsOnly) {
  for (const VerifyCase& one : few_cases(50)) EXPECT_EQ(one.spec.algorithm, "fa2");
}

TEST(VerifyCases, OneReferenceServesAllAlgorithmsAndTilesInARow) {
  const auto cases = verify_cases({}, *find_gpu("H200"));
  const auto same = [&](std::size_t a, std::size_t b) {
    return cases[a].spec.problem == cases[b].spec.problem && cases[a].inputs == cases[b].inputs;
  };
  std::size_t references = 1;
  for (std::size_t i = 1; i < cases.size(); ++i) references += same(i - 1, i) ? 0U : 1U;
  EXPECT_EQ(references * 3 * algorithms().size(), cases.size());
}

TEST(RunVerify, EachDispositionHasItsOutcome) {
  FakeDevice device;
  const std::vector<VerifyCase> cases = few_cases(6);
  std::size_t next = 0;
  device.answer = [&](PointRecord& record) {
    const Disposition dispositions[] = {Disposition::ok,          Disposition::incorrect, Disposition::infeasible,
                                        Disposition::no_counters, Disposition::ok,        Disposition::compile_error};
    record.disposition = dispositions[next];
    record.reason = "why";
    if (next != 4) record.max_abs_error = 0.25;
    record.error_bound = 0.5;
    record.rms_error = 0.125;
    ++next;
  };
  std::vector<VerifyResult> results;
  VerifyObserver observer;
  observer.on_case = [&](std::size_t i, const VerifyCase& one, const VerifyResult& result) {
    EXPECT_EQ(one, cases[i]);
    results.push_back(result);
  };
  const VerifySummary summary = run_verify(device, cases, {}, observer, CancelToken{});
  EXPECT_EQ(summary.total, 6U);
  EXPECT_EQ(summary.pass, 2U);
  EXPECT_EQ(summary.fail, 2U);
  EXPECT_EQ(summary.skip, 2U);
  EXPECT_TRUE(summary.stopped.empty());
  ASSERT_EQ(results.size(), 6U);
  EXPECT_EQ(results[0].outcome, VerifyOutcome::pass);
  EXPECT_DOUBLE_EQ(results[0].max_abs_error, 0.25);
  EXPECT_DOUBLE_EQ(results[0].error_bound, 0.5);
  EXPECT_DOUBLE_EQ(results[0].rms_error, 0.125);
  EXPECT_EQ(results[1].outcome, VerifyOutcome::fail);
  EXPECT_EQ(results[1].reason, "why");
  EXPECT_EQ(results[2].outcome, VerifyOutcome::skip);
  EXPECT_EQ(results[3].outcome, VerifyOutcome::pass);
  EXPECT_EQ(results[4].outcome, VerifyOutcome::skip);  // ok, but nobody looked at the output: that is no pass
  EXPECT_EQ(results[5].outcome, VerifyOutcome::fail);
}

TEST(RunVerify, MeasuresOnceUncountedWithTheCasesInputs) {
  FakeDevice device;
  const std::vector<VerifyCase> cases = few_cases(3);
  const VerifySummary summary = run_verify(device, cases, {}, {}, CancelToken{});
  EXPECT_EQ(summary.skip, 3U);
  ASSERT_EQ(device.asked.size(), 3U);
  for (std::size_t i = 0; i < cases.size(); ++i) {
    EXPECT_TRUE(device.asked[i].verify);
    EXPECT_FALSE(device.asked[i].counters);
    EXPECT_EQ(device.asked[i].max_samples, 1);
    EXPECT_EQ(device.asked[i].input_kind, cases[i].inputs);
  }
  EXPECT_EQ(device.prepared.size(), 3U);
}

TEST(RunVerify, PreparesEachKernelOnceForAllInputs) {
  FakeDevice device;
  const std::vector<VerifyCase> cases = few_cases(21);  // one shape: seven kinds of inputs, three tiles
  (void)run_verify(device, cases, {}, {}, CancelToken{});
  EXPECT_EQ(device.measured.size(), 21U);
  EXPECT_EQ(device.prepared.size(), 3U);
}

TEST(RunVerify, StopsWhenCancelledOrWhenTheDeviceIsLost) {
  FakeDevice device;
  CancelToken cancel;
  device.answer = [&](PointRecord&) { cancel.cancel(); };
  EXPECT_TRUE(run_verify(device, few_cases(3), {}, {}, cancel).cancelled);
  EXPECT_EQ(device.measured.size(), 1U);

  FakeDevice lost;
  lost.answer = [&](PointRecord& record) {
    record.disposition = Disposition::crashed;
    record.reason = "illegal address";
    lost.is_usable = false;
  };
  const VerifySummary summary = run_verify(lost, few_cases(3), {}, {}, CancelToken{});
  EXPECT_EQ(summary.fail, 1U);
  EXPECT_THAT(summary.stopped, HasSubstr("illegal address"));
}

TEST(RunVerify, TheSimulatorHasNothingToVerify) {
  const auto device = make_simulated_device(*find_gpu("H200"));
  const VerifySummary summary = run_verify(*device, few_cases(3), {}, {}, CancelToken{});
  EXPECT_EQ(summary.pass, 0U);
  EXPECT_THAT(summary.stopped, HasSubstr("nothing to verify"));
}

}  // namespace
}  // namespace attnscope
