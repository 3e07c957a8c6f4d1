// SPDX-License-Identifier: Apache-2.0
#include "kernels/model/device_limits.h"

#include <gtest/gtest.h>

#include <set>

namespace attnscope {
namespace {

TEST(KnownGpus, H200First) {
  const DeviceLimits& h200 = known_gpus().front();
  EXPECT_EQ(h200.name, "NVIDIA H200");
  EXPECT_EQ(h200.compute_major, 9);
  EXPECT_EQ(h200.sm_count, 132);
  EXPECT_EQ(h200.shared_bytes_per_block, 227 * 1024);
  EXPECT_EQ(h200.shared_bytes_per_sm, 228 * 1024);
  EXPECT_EQ(h200.registers_per_sm, 65536);
  EXPECT_EQ(h200.l2_bytes, 60 * 1024 * 1024);
  EXPECT_DOUBLE_EQ(h200.dram_bytes_per_second, 4.8e12);
  EXPECT_EQ(h200.sram_elements(2), 116'224);
}

TEST(KnownGpus, SharedMemoryFollowsTheComputeCapability) {
  struct Expected {
    const char* name;
    int capability;
    std::int64_t block_kib;
    int threads;
    int blocks;
  };
  for (const auto& [name, capability, block_kib, threads, blocks] :
       {Expected{"H100 SXM", 90, 227, 2048, 32}, Expected{"A100 80GB", 80, 163, 2048, 32},
        Expected{"A100 40GB", 80, 163, 2048, 32}, Expected{"L40S", 89, 99, 1536, 24},
        Expected{"RTX 4090", 89, 99, 1536, 24}, Expected{"RTX 3090", 86, 99, 1536, 16},
        Expected{"RTX 5090", 120, 99, 1536, 24}, Expected{"B200", 100, 227, 2048, 32}}) {
    const DeviceLimits* gpu = find_gpu(name);
    ASSERT_NE(gpu, nullptr) << name;
    EXPECT_EQ(gpu->compute_major * 10 + gpu->compute_minor, capability) << name;
    EXPECT_EQ(gpu->shared_bytes_per_block, block_kib * 1024) << name;
    EXPECT_EQ(gpu->shared_bytes_per_sm, (block_kib + 1) * 1024) << name;
    EXPECT_EQ(gpu->max_threads_per_sm, threads) << name;
    EXPECT_EQ(gpu->max_blocks_per_sm, blocks) << name;
  }
}

TEST(KnownGpus, EveryFieldIsFilled) {
  std::set<std::string> names;
  for (const DeviceLimits& gpu : known_gpus()) {
    EXPECT_TRUE(names.insert(gpu.name).second) << gpu.name;
    EXPECT_GT(gpu.sm_count, 0) << gpu.name;
    EXPECT_GT(gpu.l2_bytes, 0) << gpu.name;
    EXPECT_GT(gpu.dram_bytes, gpu.l2_bytes) << gpu.name;
    EXPECT_GT(gpu.l2_bytes_per_second, gpu.dram_bytes_per_second / 2) << gpu.name;
    EXPECT_GT(gpu.tensor_flops, 5e13) << gpu.name;
  }
}

// A run on a GPU has its driver's name, which no datasheet writes so.
TEST(FindGpu, KnowsDriversNames) {
  EXPECT_EQ(find_gpu("NVIDIA H100 80GB HBM3"), find_gpu("H100"));
  EXPECT_EQ(find_gpu("NVIDIA A100-SXM4-40GB"), find_gpu("A100 40GB"));
  EXPECT_EQ(find_gpu("NVIDIA H100 PCIe"), nullptr) << "another GPU";
}

TEST(FindGpu, TakesNamesAsPeopleWriteThem) {
  const DeviceLimits* h200 = &known_gpus().front();
  EXPECT_EQ(find_gpu("h200"), h200);
  EXPECT_EQ(find_gpu("NVIDIA H200"), h200);
  EXPECT_EQ(find_gpu("nvidia-h200"), h200);
  EXPECT_EQ(find_gpu("a100")->name, "NVIDIA A100 80GB");
  EXPECT_EQ(find_gpu("A100-40GB")->name, "NVIDIA A100 40GB");
  EXPECT_EQ(find_gpu("rtx_4090")->name, "NVIDIA GeForce RTX 4090");
  EXPECT_EQ(find_gpu("geforce rtx 4090")->name, "NVIDIA GeForce RTX 4090");
  EXPECT_EQ(find_gpu("h2000"), nullptr);
  EXPECT_EQ(find_gpu("h20"), nullptr);
  EXPECT_EQ(find_gpu("nvidia"), nullptr);
  EXPECT_EQ(find_gpu(""), nullptr);
}

}  // namespace
}  // namespace attnscope
