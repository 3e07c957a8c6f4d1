// SPDX-License-Identifier: Apache-2.0
#include "profiler/measure/gpu/counting.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "profiler/measure/gpu/driver/nvml.h"
#include "profiler/measure/gpu/driver/nvrtc.h"

namespace attnscope::gpu {
namespace {

TEST(Counters, DramHasOtherNamesOnComputeCapability12) {
  const auto named = [](int major, const char* counter) {
    const auto counters = default_counters(major);
    return std::ranges::find(counters, counter, &CounterMetric::counter) != counters.end();
  };
  EXPECT_TRUE(named(9, "dram__bytes_read.sum"));
  EXPECT_FALSE(named(9, "dram__bytes_op_read.sum"));
  EXPECT_TRUE(named(12, "dram__bytes_op_read.sum"));
  EXPECT_FALSE(named(12, "dram__bytes_read.sum"));
  EXPECT_TRUE(named(12, "l1tex__m_xbar2l1tex_read_bytes.sum"));
}

TEST(Clocks, OnlyReducedSmClocksCountAsThrottled) {
  EXPECT_FALSE(indicates_throttling(0));
  EXPECT_FALSE(indicates_throttling(0x1));   // idle
  EXPECT_FALSE(indicates_throttling(0x2));   // application clocks
  EXPECT_FALSE(indicates_throttling(0x10));  // sync boost
  EXPECT_TRUE(indicates_throttling(0x4));    // power cap
  EXPECT_TRUE(indicates_throttling(0x8));    // hardware slowdown
  EXPECT_TRUE(indicates_throttling(0x20));   // thermal, software
  EXPECT_TRUE(indicates_throttling(0x40));   // thermal, hardware
  EXPECT_TRUE(indicates_throttling(0x80));   // power brake
  EXPECT_TRUE(indicates_throttling(0x1 | 0x20));
}

TEST(CompileLog, ParsesFiguresOfNamedKernel) {
  constexpr const char* log =
      "ptxas info    : 0 bytes gmem\n"
      "ptxas info    : Compiling entry function 'other' for 'sm_90a'\n"
      "ptxas info    : Function properties for other\n"
      "ptxas         .     8 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
      "ptxas info    : Used 12 registers\n"
      "ptxas info    : Compiling entry function 'wanted' for 'sm_90a'\n"
      "ptxas info    : Function properties for wanted\n"
      "ptxas         .     256 bytes stack frame, 24 bytes spill stores, 32 bytes spill loads\n"
      "ptxas info    : Used 168 registers, used 1 barriers, 256 bytes cumulative stack size, 1024 bytes smem\n";
  const ResourceUsage expected{.registers = 168,
                               .static_shared_bytes = 1024,
                               .local_bytes = 256,
                               .spill_store_bytes = 24,
                               .spill_load_bytes = 32};
  EXPECT_EQ(parse_resource_usage(log, "wanted"), expected);
  EXPECT_EQ(parse_resource_usage(log, "other").registers, 12);
  EXPECT_EQ(parse_resource_usage(log, "absent"), ResourceUsage{});
}

TEST(Architectures, SuffixFromHopperOn) {
  EXPECT_EQ(arch_for(8, 0), "sm_80");
  EXPECT_EQ(arch_for(8, 9), "sm_89");
  EXPECT_EQ(arch_for(9, 0), "sm_90a");
  EXPECT_EQ(arch_for(12, 0), "sm_120a");
}

}  // namespace
}  // namespace attnscope::gpu
