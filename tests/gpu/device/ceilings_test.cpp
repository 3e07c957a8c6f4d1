// SPDX-License-Identifier: Apache-2.0
// Ceilings of a real GPU; skipped without one.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "kernels/model/ceilings.h"
#include "profiler/measure/gpu/gpu_device.h"

namespace attnscope {
namespace {

class GpuCeilingsTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    auto opened = open_gpu_device();
    if (!opened) {
      reason_ = text(opened.error().message());
      return;
    }
    device_ = std::move(opened).value();
    const auto set = device_->ceilings({}, {}, {});
    if (!set) {
      ADD_FAILURE() << set.error().reason;
      return;
    }
    for (const Message& remark : set->remarks) fmt::print("{}\n", text(remark));
    for (const Ceiling& each : set->ceilings) {
      if (each.argument > 0) curves_[each.name].push_back(each);
      if (each.argument == 0) ceilings_[each.name] = each;
    }
  }
  static void TearDownTestSuite() { device_.reset(); }
  void SetUp() override {
    if (!reason_.empty()) GTEST_SKIP() << reason_;
  }
  static double value(const std::string& name) {
    EXPECT_TRUE(ceilings_.contains(name)) << name;
    return ceilings_[name].value;
  }

  static inline std::unique_ptr<Device> device_;
  static inline std::string reason_;
  static inline std::map<std::string, Ceiling> ceilings_;
  static inline std::map<std::string, std::vector<Ceiling>> curves_;
};

TEST_F(GpuCeilingsTest, CeilingsDoNotExceedDatasheet) {
  std::size_t judged = 0;
  for (const Ceiling& peak : datasheet_ceilings(device_->info().limits)) {
    if (peak.unit == "byte") continue;
    if (!ceilings_.contains(peak.name)) continue;  // needs a second GPU
    const double share = value(peak.name) / peak.value;
    fmt::print("{:20} {:10.4g} {:7}, {:.3f} of the datasheet\n", peak.name, value(peak.name), peak.unit, share);
    // The clock may exceed the datasheet's by a step or two.
    EXPECT_LT(share, 1.05) << peak.name;
    EXPECT_GT(share, 0.4) << peak.name << ": the benchmark is far below the datasheet";
    ++judged;
  }
  EXPECT_GE(judged, 5U);
}

TEST_F(GpuCeilingsTest, LatencyGrowsWithDistance) {
  EXPECT_LT(value("latency_shared_memory"), value("latency_l2"));
  EXPECT_LT(value("latency_l1"), value("latency_l2"));
  EXPECT_LT(value("latency_l2"), value("latency_dram"));
  EXPECT_GT(value("l2_read"), value("dram_read"));
  EXPECT_GT(value("shared_memory_read"), value("l2_read"));
}

TEST_F(GpuCeilingsTest, MissRateRisesBeyondL2) {
  const auto l2 = static_cast<double>(device_->info().limits.l2_bytes);
  for (const std::string sharing : {"shared", "private"}) {
    std::vector<Ceiling> misses = curves_["l2_" + sharing + "_miss"];
    ASSERT_GE(misses.size(), 20U);
    std::ranges::sort(misses, {}, &Ceiling::argument);
    for (const Ceiling& each : misses) {
      fmt::print("{} {:6.1f} MiB: {:.3f} missed ({})\n", sharing, each.argument / 1024 / 1024, each.value,
                 to_string(each.source));
      EXPECT_GT(each.value, 1 - l2 / each.argument - 0.05) << "no replacement policy can hit more";
    }
    EXPECT_LT(misses.front().value, 0.05) << "a tenth of the L2 size hits";
    EXPECT_GT(misses.back().value, 0.9) << "three times the L2 size misses";
    const double capacity = value("l2_" + sharing + "_capacity");
    EXPECT_GT(capacity, 0.2 * l2);
    // If half of a working set twice the L2 size hits, that is the most that L2 can hold.
    EXPECT_LT(capacity, 2 * l2);
  }
}

}  // namespace
}  // namespace attnscope
