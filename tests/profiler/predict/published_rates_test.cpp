// SPDX-License-Identifier: Apache-2.0
#include "profiler/predict/published_errors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

namespace attnscope::analysis {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

constexpr const char* header =
    "algorithm,gpu,half,pass,mask,batch,heads_q,heads_kv,n_q,n_k,d,tflops,clock_mhz,source\n";

PublishedRate parsed(const std::string& line) {
  return parse_published_rates(header + line).at(0);
}

TEST(PublishedRates, AreNominalTimes) {
  const PublishedRate rate = parsed("fa2,A100,fitted,fwd,causal,2,16,4,1024,1024,64,100,1200,a paper, Fig. 5");
  EXPECT_EQ(rate.gpu->name, "NVIDIA A100 80GB");
  EXPECT_EQ(rate.half, Half::fitted);
  EXPECT_EQ(rate.spec.problem.heads_kv, 4);
  EXPECT_EQ(rate.source, "a paper, Fig. 5");
  // 4 d FLOPs per visible pair of each of 2 x 16 heads.
  EXPECT_NEAR(rate.ns(), 1e9 * 4 * 64 * 32 * (1024.0 * 1024 / 2) / 100e12, 1e-6);
  EXPECT_EQ(rate.rates().clock.fixed_hz, 1.2e9);
  EXPECT_EQ(parsed("fa2,A100,held out,fwd,full,1,1,1,64,64,64,1,,s").rates().clock.fixed_hz,
            device_rates(*rate.gpu).clock.fixed_hz);
}

TEST(PublishedRates, TimesOfSeveralLaunchesAddUp) {
  const PublishedRate rate = parsed("fa2,A100,fitted,fwd+bwd,full,1,16,16,2048,2048,128,150,,s");
  double ns = 0;
  for (const KernelRecord& kernel : rate.record().kernels) ns += kernel.samples_ns.at(0);
  EXPECT_EQ(rate.record().kernels.size(), 4U);
  EXPECT_NEAR(ns, rate.ns(), 1e-6 * ns);
}

TEST(PublishedRates, AnInvalidLineIsNamed) {
  const auto wrong = [](const std::string& line) {
    return [line] { (void)parse_published_rates(header + ("# comment\n" + line)); };
  };
  for (const char* line :
       {"fa9,A100,fitted,fwd,full,1,1,1,64,64,64,1,,s", "fa2,GTX 1,fitted,fwd,full,1,1,1,64,64,64,1,,s",
        "fa2,A100,third,fwd,full,1,1,1,64,64,64,1,,s", "fa2,A100,fitted,fwd,full,1,1,1,64,64,64,0,,s",
        "fa2,A100,fitted,fwd,full,1,1,1,64,64,64", "fa2,A100,fitted,fwd,full,1,1,1,64,64,65,1,,s",
        "fa2,A100,fitted,fwd,full,1,1,1,64,-64,64,1,,s", "fa2,A100,fitted,fwd,window:64:0,1,1,1,64,64,64,1,,s"}) {
    EXPECT_THAT(wrong(line), ThrowsMessage<std::invalid_argument>(HasSubstr("line 3"))) << line;
  }
}

TEST(PublishedRates, ErrorsAreCountedBySourceAndForAll) {
  const std::string problem = "fwd,full,1,16,16,4096,4096,128,";
  std::vector<PublishedRate> rates;
  const double predicted = parsed("fa2,A100,held out," + problem + "100,,s").predicted_ns();
  // Predicted / published - 1 is 0.1, 0.3 and -0.2.
  for (const auto& [source, ratio] : {std::pair("one", 1.1), {"one", 1.3}, {"two", 0.8}}) {
    rates.push_back(parsed("fa2,A100,held out," + problem + "100,," + source));
    rates.back().flops_per_second *= rates.back().ns() / predicted * ratio;
  }
  const std::vector<RateErrors> errors = rate_errors(rates);
  ASSERT_EQ(errors.size(), 3U);
  EXPECT_EQ(errors[0].source, "one");
  EXPECT_NEAR(errors[0].median, 0.2, 1e-9);
  EXPECT_NEAR(errors[1].worst, 0.2, 1e-9);
  EXPECT_EQ(errors[2].source, "") << "all";
  EXPECT_EQ(errors[2].rates, 3U);
  EXPECT_NEAR(errors[2].median, 0.2, 1e-9);
  EXPECT_NEAR(errors[2].worst, 0.3, 1e-9);
}

/// Times are shown for GPUs on which predictions are close to published rates that no constant is fitted to, and for
/// GPUs without rates whose compute capability such a GPU has.
TEST(PublishedRates, OnlyCloseGpusAreValidated) {
  std::map<std::string, std::vector<RateErrors>> held_out;
  for (const RateErrors& errors : rate_errors(published_rates())) {
    if (errors.source.empty() && errors.half == to_string(Half::held_out)) held_out[errors.gpu].push_back(errors);
  }
  EXPECT_GE(held_out.size(), 10U);
  for (const auto& [gpu, errors] : held_out) {
    const bool close = errors.at(0).median <= max_median_error && errors.at(0).worst <= max_worst_error;
    EXPECT_EQ(device_rates(*find_gpu(gpu)).validated_on, close ? gpu : "")
        << "median " << errors[0].median << ", worst " << errors[0].worst;
    EXPECT_GE(errors[0].rates, 10U) << gpu;
  }
  const auto validated_on = [](const char* name, int major, int minor) {
    DeviceLimits gpu = *find_gpu("H200");
    gpu.name = name;
    gpu.compute_major = major;
    gpu.compute_minor = minor;
    return device_rates(gpu).validated_on;
  };
  EXPECT_EQ(validated_on("NVIDIA A100-SXM4-40GB", 8, 0), "NVIDIA A100 80GB");
  EXPECT_EQ(validated_on("an Ada GPU", 8, 9), "NVIDIA GeForce RTX 4090");
  EXPECT_EQ(validated_on("NVIDIA L40S", 8, 9), "") << "its own rates are too far off";
  EXPECT_EQ(validated_on("a Hopper GPU", 9, 0), "NVIDIA H200");
  EXPECT_EQ(validated_on("a Turing GPU", 7, 5), "");
}

TEST(PublishedErrors, RecordedGpusAreValidated) {
  for (const char* gpu : {"H200", "H100"}) {
    const std::vector<ErrorRow>& rows = validated_errors(*find_gpu(gpu))->rows;
    const auto all = std::ranges::find_if(rows, [](const ErrorRow& row) {
      return row.algorithm == "all" && row.quantity == "time" && row.half == to_string(Half::held_out);
    });
    ASSERT_NE(all, rows.end()) << gpu;
    EXPECT_LE(all->median, max_median_error) << gpu;
    EXPECT_LE(all->p95, max_worst_error) << gpu;
  }
}

TEST(PublishedRates, AreErrorsOfTheirGpus) {
  const PublishedErrors* a100 = validated_errors(*find_gpu("NVIDIA A100-SXM4-80GB"));
  ASSERT_NE(a100, nullptr);
  EXPECT_EQ(a100->device, "NVIDIA A100 80GB");
  for (const Pass pass : {Pass::fwd, Pass::fwd_bwd}) {
    ASSERT_NE(a100->find("fa2", pass, "time"), nullptr);
    EXPECT_EQ(a100->find("fa2", pass, "time")->half, "held out");
    EXPECT_GE(*published_time_error(*a100, "fa2", pass), a100->find("fa2", pass, "time")->p95);
  }
  EXPECT_EQ(a100->find("fa1", Pass::fwd, "time"), nullptr);
  EXPECT_EQ(validated_errors(*find_gpu("NVIDIA A100 40GB")), a100);
  EXPECT_EQ(validated_errors(*find_gpu("NVIDIA L40S")), nullptr);
}

}  // namespace
}  // namespace attnscope::analysis
