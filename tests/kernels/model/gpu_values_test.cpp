// SPDX-License-Identifier: Apache-2.0
#include "kernels/model/gpu_values.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>
#include <string>

#include "kernels/model/device_rates.h"
#include "kernels/model/pipeline_model.h"
#include "kernels/registry.h"

namespace attnscope {
namespace {

DeviceLimits own(std::string_view base = "h200") {
  return own_gpu_like(*find_gpu(base), "mine");
}

DeviceLimits own_with(std::string_view key, double value) {
  DeviceLimits gpu = own();
  find_gpu_value(key)->set(gpu, value);
  return gpu;
}

TEST(GpuValues, AnOwnGpuBeginsWithAllThatThePublicOneHas) {
  for (const DeviceLimits& known : known_gpus()) {
    const DeviceLimits gpu = own_gpu_like(known, "mine");
    EXPECT_TRUE(wrong_gpu(gpu).empty()) << known.name << ": " << wrong_gpu(gpu);
    const DeviceRates rates = device_rates(gpu);
    const DeviceRates usual = device_rates(known);
    EXPECT_DOUBLE_EQ(rates.per_cycle.tensor, usual.per_cycle.tensor) << known.name;
    EXPECT_DOUBLE_EQ(rates.per_cycle.exponential, usual.per_cycle.exponential);
    EXPECT_NEAR(rates.l2_bytes_per_second / usual.l2_bytes_per_second, 1, 1e-12);
    EXPECT_EQ(rates.boost_hz, usual.boost_hz);
    EXPECT_TRUE(rates.inherited) << "nobody measured it";
  }
}

TEST(GpuValues, EachIsWhatItWasSetTo) {
  std::set<std::string_view> keys;
  for (const GpuValue& value : gpu_values()) {
    EXPECT_TRUE(keys.insert(value.key).second) << value.key;
    for (const double share : {0.0, 0.5, 1.0}) {
      double wanted = value.least * std::pow(value.most / value.least, share);
      if (value.whole) wanted = std::round(wanted);
      DeviceLimits gpu = own();
      value.set(gpu, wanted);
      EXPECT_NEAR(value.get(gpu) / wanted, 1, 1e-12) << value.key;
    }
  }
}

TEST(GpuValues, PeaksGoWithSmsClockAndWhatEachDoesInAClock) {
  // 4096 FLOP a clock, 132 SMs, 1.98 GHz.
  EXPECT_NEAR(own().tensor_flops, 4096 * 132 * 1.98e9, 1);
  EXPECT_NEAR(own_with("sm_count", 264).tensor_flops, 4096 * 264 * 1.98e9, 1);
  EXPECT_NEAR(own_with("clock_ghz", 1).tensor_flops, 4096 * 132 * 1e9, 1);
  const DeviceRates faster = device_rates(own_with("tensor_flop_per_clock", 5000));
  EXPECT_DOUBLE_EQ(faster.per_cycle.tensor, 5000) << "not the next power of two";
  EXPECT_DOUBLE_EQ(device_rates(own_with("exponentials_per_clock", 32)).per_cycle.exponential, 32);
  EXPECT_NEAR(device_rates(own_with("l2_bytes_per_clock", 64)).l2_bytes_per_second, 64 * 132 * 1.98e9, 1);
}

TEST(GpuValues, WhatAGpuCannotHaveIsNamed) {
  for (const double ends : {1, 4096}) EXPECT_TRUE(wrong_gpu(own_with("sm_count", ends)).empty()) << ends;
  EXPECT_EQ(wrong_gpu(own_with("sm_count", 0)), "sm_count is 0; it must be 1 to 4096");
  EXPECT_EQ(wrong_gpu(own_with("dram_gb_per_second", 2e6)), "dram_gb_per_second is 2e+06; it must be 10 to 1e+06");
  EXPECT_FALSE(wrong_gpu(own_with("clock_ghz", std::numeric_limits<double>::quiet_NaN())).empty());
  EXPECT_EQ(wrong_gpu(own_with("shared_kib_per_block", 228)),
            "shared_kib_per_block must be at least 1 KiB below shared_kib_per_sm");
  DeviceLimits gpu = own();
  for (const char* bad : {"", " mine", "mine ", "a\nb", "a\x7F"}) {
    gpu.name = bad;
    EXPECT_FALSE(wrong_gpu(gpu).empty()) << bad;
  }
  gpu.name = std::string(longest_gpu_name + 1, 'x');
  EXPECT_FALSE(wrong_gpu(gpu).empty());
  gpu.name = "rtx 4090";
  EXPECT_EQ(wrong_gpu(gpu), "the name is that of a public GPU, NVIDIA GeForce RTX 4090; use another name");
}

TEST(GpuValues, DigestsTellValuesApart) {
  EXPECT_EQ(digest_of_values(own()), digest_of_values(own()));
  EXPECT_EQ(digest_of_values(own()).size(), 8U);
  for (const GpuValue& value : gpu_values()) {
    DeviceLimits gpu = own();
    value.set(gpu, value.whole ? value.get(gpu) + 1 : value.get(gpu) * 1.01);
    EXPECT_NE(digest_of_values(gpu), digest_of_values(own())) << value.key;
  }
}

TEST(WhatIfs, MultiplyAndSaySo) {
  const DeviceLimits& h200 = *find_gpu("h200");
  EXPECT_EQ(what_if(h200, {}).name, "NVIDIA H200");
  EXPECT_FALSE(device_rates(what_if(h200, {})).inherited);
  const DeviceLimits changed = what_if(h200, {.shared_memory = 2, .l2 = 0.5, .dram_rate = 4});
  EXPECT_EQ(changed.name, "NVIDIA H200, shared memory x2, L2 x0.5, DRAM rate x4");
  EXPECT_EQ(changed.shared_bytes_per_sm, 456 * 1024);
  EXPECT_EQ(changed.shared_bytes_per_block, 455 * 1024) << "less what is reserved for it";
  EXPECT_EQ(what_if(h200, {.shared_memory = 0.5}).shared_bytes_per_block, 113 * 1024);
  EXPECT_EQ(changed.l2_bytes, 30 * 1024 * 1024);
  EXPECT_EQ(changed.dram_bytes_per_second, 19.2e12);
  EXPECT_TRUE(device_rates(changed).inherited);
  EXPECT_EQ(device_rates(changed).boost_hz, 1.98e9);
}

TEST(WhatIfs, PredictionsFollow) {
  // FA1 at this length cycles through more than the L2 holds: DRAM bounds it, and a larger L2 or a faster DRAM frees
  // it.
  const Algorithm& fa1 = *built_in_algorithms().find("fa1");
  const AttentionProblem p{.heads_q = 132, .heads_kv = 132, .n_q = 4096, .n_k = 4096, .d = 64};
  const Config tile{TileShape{.br = 64, .bc = 128}};
  const auto dram_of = [&](const WhatIf& factors) {
    const DeviceLimits gpu = what_if(*find_gpu("h200"), factors);
    const AttentionModel model = fa1.model(p, tile, gpu);
    return predict_times(model, gpu).front().busy(GpuUnit::dram);
  };
  EXPECT_NEAR(dram_of({.dram_rate = 2}) / dram_of({}), 0.5, 1e-9);
  EXPECT_LT(dram_of({.l2 = 8}), 0.3 * dram_of({}));
  const AttentionModel large = fa1.model(p, Config{TileShape{.br = 64, .bc = 1024}}, *find_gpu("h200"));
  ASSERT_TRUE(large.refusal) << "which no block holds";
}

}  // namespace
}  // namespace attnscope
