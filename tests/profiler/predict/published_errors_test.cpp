// SPDX-License-Identifier: Apache-2.0
#include "profiler/predict/published_errors.h"

#include <gtest/gtest.h>

#include <cmath>

#include "profiler/stats/verdicts.h"

namespace attnscope::analysis {
namespace {

TEST(PublishedErrors, AreParsed) {
  const PublishedErrors table = parse_published_errors(
      "algorithm,pass,half,quantity,points,problems,median_error,p95_error,devices\n"
      "fa1,fwd,held out,time,12,3,0.05,0.2,NVIDIA H200\nfa1,fwd,fitted,tile_ratio,12,1,0.05,0.1,NVIDIA H200\n"
      "fa1,fwd,held out,time,x,3,0.05,0.2,a\nfa1,fwd,held out,time,12,3,0.05,a\n");
  EXPECT_EQ(table.device, "NVIDIA H200");
  ASSERT_EQ(table.rows.size(), 2U);
  EXPECT_EQ(table.rows[0].half, "held out");
  EXPECT_EQ(table.rows[0].points, 12U);
  EXPECT_DOUBLE_EQ(table.rows[0].p95, 0.2);
}

TEST(PublishedErrors, FewPointsUseAtLeastTheOverallError) {
  const PublishedErrors table = parse_published_errors(
      "fa1,fwd,held out,time,20,3,0.05,0.06,NVIDIA H200\n"
      "fa1,fwd,fitted,time,200,3,0.05,0.9,NVIDIA H200\n"
      "fa2,fwd,held out,time,19,3,0.05,0.06,NVIDIA H200\n"
      "fa3,fwd,held out,time,19,3,0.05,0.3,NVIDIA H200\n"
      "all,all,held out,time,80,3,0.05,0.2,NVIDIA H200\n"
      "fa1,fwd,held out,tile_ratio,190,1,0.05,0.1,NVIDIA H200\n"
      "fa2,fwd,fitted,tile_ratio,190,1,0.05,0.4,NVIDIA H200\n");
  EXPECT_EQ(published_time_error(table, "fa1", Pass::fwd), 0.06);
  EXPECT_EQ(published_time_error(table, "fa2", Pass::fwd), 0.2);
  EXPECT_EQ(published_time_error(table, "fa3", Pass::fwd), 0.3);
  EXPECT_EQ(published_tile_error(table, "fa1", Pass::fwd), 0.1);
}

TEST(PublishedErrors, AnErrorNobodyMeasuredIsUnknown) {
  const PublishedErrors table = parse_published_errors(
      "fa1,fwd,held out,time,20,3,0.05,0.06,NVIDIA H200\nall,all,held out,time,80,3,0.05,0.2,NVIDIA H200\n"
      "fa2,fwd,fitted,time,80,3,0.05,0.2,NVIDIA H200\nfa2,fwd,fitted,tile_ratio,190,1,0.05,0.4,NVIDIA H200\n");
  EXPECT_FALSE(published_time_error(table, "fa1", Pass::bwd));
  EXPECT_FALSE(published_time_error(table, "fa2", Pass::fwd)) << "fitted points only";
  EXPECT_FALSE(published_time_error({}, "fa1", Pass::fwd));
  EXPECT_FALSE(published_tile_error(table, "fa1", Pass::fwd));
  const auto spec_of = [](const char* algorithm, DType dtype) {
    return PointSpec{.algorithm = algorithm, .problem = {.dtype = dtype, .n_q = 64, .n_k = 64, .d = 64}};
  };
  const PointSpec fa1 = spec_of("fa1", DType::fp16);
  const PointSpec fa2 = spec_of("fa2", DType::fp16);
  const PointSpec fp8 = spec_of("fa1", DType::fp8);
  EXPECT_TRUE(published_ratio_error({fa1, &table}, {fa1, &table}, true)) << "from the times, without tile ratios";
  EXPECT_TRUE(published_ratio_error({fa2, &table}, {fa2, &table}, true)) << "from the tile ratios, without times";
  EXPECT_FALSE(published_ratio_error({fa1, &table}, {fa2, &table}, true));
  EXPECT_FALSE(published_ratio_error({fa1, &table}, {fp8, &table}, false));
  EXPECT_FALSE(published_ratio_error({fa1, &table}, {fa1, nullptr}, false));
}

// Published rates are of prefill with one tile; they say nothing of decoding, nor of the ratio of two tiles.
TEST(PublishedErrors, PublishedRatesHoldForTheirProblems) {
  const PublishedErrors* a100 = validated_errors(*find_gpu("A100"));
  ASSERT_NE(a100, nullptr);
  EXPECT_LT(a100->find("fa2", Pass::fwd, "time")->p95, 0.1719) << "below the worst error of 17.2%";
  PointSpec spec{.algorithm = "fa2", .problem = {.n_q = 512, .n_k = 4096, .d = 64}};
  EXPECT_TRUE(published_time_error({spec, a100}));
  EXPECT_TRUE(published_ratio_error({spec, a100}, {spec, validated_errors(*find_gpu("RTX 4090"))}, false));
  EXPECT_FALSE(published_ratio_error({spec, a100}, {spec, a100}, true)) << "two tiles";
  spec.problem.n_q = 511;
  EXPECT_FALSE(published_time_error({spec, a100}));
}

TEST(PublishedErrors, HypotheticalGpusHaveNone) {
  DeviceLimits gpu = *find_gpu("A100");
  gpu.name = "My " + gpu.name;
  EXPECT_EQ(validated_errors(gpu), nullptr);
}

TEST(PublishedErrors, EachRecordedGpuHasErrors) {
  for (const char* name : {"NVIDIA H100 80GB HBM3", "NVIDIA H100 SXM", "h100"}) {
    EXPECT_EQ(validated_errors(*find_gpu(name))->device, "NVIDIA H100 80GB HBM3") << name;
  }
  EXPECT_EQ(validated_errors(DeviceLimits()), nullptr);
  for (const char* name : {"H100", "H200"}) {
    const PublishedErrors& errors = *validated_errors(*find_gpu(name));
    EXPECT_GT(errors.rows.size(), 50U) << name;
    EXPECT_EQ(errors.find("fa2", Pass::fwd, "time")->half, "held out") << name;
    EXPECT_EQ(errors.find("fa3", Pass::fwd, "tile_ratio")->half, "fitted") << name;
    EXPECT_EQ(errors.find("torch-flash", Pass::fwd, "time"), nullptr) << name;
  }
}

}  // namespace
}  // namespace attnscope::analysis
