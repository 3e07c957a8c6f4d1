// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <string>

#include "kernels/model/ceilings.h"
#include "kernels/model/device_limits.h"
#include "kernels/model/device_rates.h"
#include "kernels/model/gpu_values.h"
#include "kernels/model/pipeline_model.h"
#include "kernels/registry.h"
#include "tests/kernels/programs.h"
#include "tests/message_matchers.h"

namespace attnscope {
namespace {

using test::h200;

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

// Runs store the driver's name, which differs from the datasheet's.
TEST(FindGpu, AcceptsDriverNames) {
  EXPECT_EQ(find_gpu("NVIDIA H100 80GB HBM3"), find_gpu("H100"));
  EXPECT_EQ(find_gpu("NVIDIA A100-SXM4-40GB"), find_gpu("A100 40GB"));
  EXPECT_EQ(find_gpu("NVIDIA H100 PCIe"), nullptr) << "another GPU";
}

TEST(FindGpu, AcceptsCommonSpellings) {
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

TEST(SameGpu, ComparesProductsAndUnknownNames) {
  EXPECT_TRUE(same_gpu("H100", "NVIDIA H100 80GB HBM3"));
  EXPECT_FALSE(same_gpu("H100", "H200"));
  EXPECT_TRUE(same_gpu("mine", "mine"));
  EXPECT_FALSE(same_gpu("mine", "yours")) << "both are unknown";
}

constexpr std::int64_t many_blocks = 1'000'000;

void expect_occupancy(const LaunchFootprint& launch, int blocks, double pct, std::string_view limiter) {
  const Occupancy occupancy = theoretical_occupancy(h200(), launch);
  EXPECT_EQ(occupancy.blocks_per_sm, blocks);
  EXPECT_DOUBLE_EQ(occupancy.warps_pct, pct);
  EXPECT_EQ(occupancy.limiter, limiter);
}

// Expected values from the CUDA Programming Guide for compute capability 9.0: 64 warps, 32 blocks, 65,536 registers,
// 228 KiB of shared memory, 1 KiB reserved per block.
TEST(Occupancy, Threads) {
  expect_occupancy({many_blocks, 1024, 32, 0}, 2, 100, "threads");
  expect_occupancy({many_blocks, 256, 0, 0}, 8, 100, "threads");
}

TEST(Occupancy, Blocks) {
  expect_occupancy({many_blocks, 32, 16, 0}, 32, 50, "blocks");
  expect_occupancy({many_blocks, 64, 32, 0}, 32, 100, "threads");  // the first of equal limits
  expect_occupancy({many_blocks, 33, 16, 0}, 32, 100, "threads");  // two warps
}

TEST(Occupancy, RegistersAreAllocatedInUnitsOf256PerWarp) {
  // 255 registers: 8,160 per warp, rounded up to 8,192; 8 warps fit: 2 blocks of 4.
  expect_occupancy({many_blocks, 128, 255, 0}, 2, 12.5, "registers");
  // 168 registers: 5,376 per warp; 3 warps in each of four partitions: 3 blocks of 4.
  expect_occupancy({many_blocks, 128, 168, 0}, 3, 18.75, "registers");
  // 128 registers: 4,096 per warp; 16 warps fit: 3 blocks of 5.
  expect_occupancy({many_blocks, 160, 128, 0}, 3, 23.4375, "registers");
  // 184 registers: 5,888 per warp; two warps per partition: 8 blocks of one warp.
  expect_occupancy({many_blocks, 32, 184, 0}, 8, 12.5, "registers");
  EXPECT_EQ(allocated_register_bytes({.threads_per_block = 96, .registers_per_thread = 184}), 3 * 5888 * 4);
  EXPECT_EQ(allocated_register_bytes({.threads_per_block = 97, .registers_per_thread = 3}), 4 * 256 * 4);
}

TEST(Occupancy, MaxRegistersAllowExactlyOneBlock) {
  for (int threads = 32; threads <= 1024; threads += 32) {
    const int most = max_registers_per_thread(h200(), threads);
    EXPECT_GE(theoretical_occupancy(h200(), {many_blocks, threads, most, 0}).blocks_per_sm, 1) << threads;
    if (most < 255) {
      EXPECT_EQ(theoretical_occupancy(h200(), {many_blocks, threads, most + 1, 0}).blocks_per_sm, 0) << threads;
    }
  }
  EXPECT_EQ(max_registers_per_thread(h200(), 256), 255);
  EXPECT_EQ(max_registers_per_thread(h200(), 384), 168);
  EXPECT_EQ(max_registers_per_thread(h200(), 1024), 64);
  EXPECT_EQ(max_registers_per_thread(h200(), 257), 168) << "9 warps, 3 of them on one partition";
}

TEST(Occupancy, SharedMemoryIncludesReservation) {
  expect_occupancy({many_blocks, 128, 32, 65'536}, 3, 18.75, "shared memory");
  expect_occupancy({many_blocks, 128, 32, 115'712}, 2, 12.5, "shared memory");
  expect_occupancy({many_blocks, 128, 32, 115'713}, 1, 6.25, "shared memory");
}

TEST(Occupancy, OversizedBlockDoesNotFit) {
  expect_occupancy({many_blocks, 128, 32, 233'472}, 0, 0, "shared memory");
}

TEST(Occupancy, SmallGridIsTheLimiter) {
  expect_occupancy({263, 1024, 32, 0}, 2, 100, "grid");
  expect_occupancy({264, 1024, 32, 0}, 2, 100, "threads");
}

DeviceLimits custom_gpu(std::string_view base = "h200") {
  return make_custom_gpu(*find_gpu(base), "mine");
}

DeviceLimits custom_gpu_with(std::string_view key, double value) {
  DeviceLimits gpu = custom_gpu();
  find_gpu_value(key)->set(gpu, value);
  return gpu;
}

TEST(GpuValues, CustomGpuStartsFromPublicGpu) {
  for (const DeviceLimits& known : known_gpus()) {
    const DeviceLimits gpu = make_custom_gpu(known, "mine");
    EXPECT_TRUE(gpu_error(gpu).empty()) << known.name << ": " << gpu_error(gpu);
    const DeviceRates rates = device_rates(gpu);
    const DeviceRates usual = device_rates(known);
    EXPECT_DOUBLE_EQ(rates.per_cycle.tensor, usual.per_cycle.tensor) << known.name;
    EXPECT_DOUBLE_EQ(rates.per_cycle.exponential, usual.per_cycle.exponential);
    EXPECT_NEAR(rates.l2_bytes_per_second / usual.l2_bytes_per_second, 1, 1e-12);
    EXPECT_EQ(rates.boost_hz, usual.boost_hz);
    EXPECT_TRUE(rates.inherited) << "nobody measured it";
  }
}

TEST(GpuValues, SetThenGet) {
  std::set<std::string_view> keys;
  for (const GpuValue& value : gpu_values()) {
    EXPECT_TRUE(keys.insert(value.key).second) << value.key;
    for (const double share : {0.0, 0.5, 1.0}) {
      double wanted = value.least * std::pow(value.most / value.least, share);
      if (value.whole) wanted = std::round(wanted);
      DeviceLimits gpu = custom_gpu();
      value.set(gpu, wanted);
      EXPECT_NEAR(value.get(gpu) / wanted, 1, 1e-12) << value.key;
    }
  }
}

TEST(GpuValues, PeaksScaleWithSmsClockAndRates) {
  // 4096 FLOPs per clock, 132 SMs, 1.98 GHz.
  EXPECT_NEAR(custom_gpu().tensor_flops, 4096 * 132 * 1.98e9, 1);
  EXPECT_NEAR(custom_gpu_with("sm_count", 264).tensor_flops, 4096 * 264 * 1.98e9, 1);
  EXPECT_NEAR(custom_gpu_with("clock_ghz", 1).tensor_flops, 4096 * 132 * 1e9, 1);
  const DeviceRates faster = device_rates(custom_gpu_with("tensor_flop_per_clock", 5000));
  EXPECT_DOUBLE_EQ(faster.per_cycle.tensor, 5000) << "not the next power of two";
  EXPECT_DOUBLE_EQ(device_rates(custom_gpu_with("exponentials_per_clock", 32)).per_cycle.exponential, 32);
  EXPECT_NEAR(device_rates(custom_gpu_with("l2_bytes_per_clock", 64)).l2_bytes_per_second, 64 * 132 * 1.98e9, 1);
}

TEST(GpuValues, RejectsInvalidValues) {
  for (const double ends : {1, 4096}) EXPECT_TRUE(gpu_error(custom_gpu_with("sm_count", ends)).empty()) << ends;
  EXPECT_THAT(gpu_error(custom_gpu_with("sm_count", 0)), test::HasWords("sm_count 0 1 4096"));
  EXPECT_THAT(gpu_error(custom_gpu_with("dram_gb_per_second", 2e6)),
              test::HasWords("dram_gb_per_second 2e+06 10 1e+06"));
  EXPECT_FALSE(gpu_error(custom_gpu_with("clock_ghz", std::numeric_limits<double>::quiet_NaN())).empty());
  EXPECT_THAT(gpu_error(custom_gpu_with("shared_kib_per_block", 228)),
              test::HasWords("shared_kib_per_block 1 shared_kib_per_sm"));
  DeviceLimits gpu = custom_gpu();
  for (const char* bad : {"", " mine", "mine ", "a\nb", "a\x7F"}) {
    gpu.name = bad;
    EXPECT_FALSE(gpu_error(gpu).empty()) << bad;
  }
  for (const auto& [length, valid] : {std::pair(max_gpu_name_length, true), {max_gpu_name_length + 1, false}}) {
    gpu.name = std::string(length, 'x');
    EXPECT_EQ(gpu_error(gpu).empty(), valid) << length;
  }
  gpu.name = "my GPU";
  EXPECT_TRUE(gpu_error(gpu).empty()) << "spaces within";
  gpu.name = "rtx 4090";
  EXPECT_NE(gpu_error(gpu).find("NVIDIA GeForce RTX 4090"), std::string::npos);
}

TEST(GpuValues, DigestsDifferByValue) {
  EXPECT_EQ(gpu_values_digest(custom_gpu()), gpu_values_digest(custom_gpu()));
  EXPECT_EQ(gpu_values_digest(custom_gpu()).size(), 8U);
  for (const GpuValue& value : gpu_values()) {
    DeviceLimits gpu = custom_gpu();
    value.set(gpu, value.whole ? value.get(gpu) + 1 : value.get(gpu) * 1.01);
    EXPECT_NE(gpu_values_digest(gpu), gpu_values_digest(custom_gpu())) << value.key;
  }
}

TEST(WhatIfFactors, ScaleAndRename) {
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

TEST(WhatIfFactors, ChangePredictions) {
  // At this length FA1 rereads more than L2 holds and is DRAM-bound: a larger L2 or faster DRAM helps.
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

std::map<std::string, double> datasheet(const char* gpu) {
  std::map<std::string, double> values;
  for (const Ceiling& ceiling : datasheet_ceilings(*find_gpu(gpu))) {
    EXPECT_EQ(ceiling.source, CeilingSource::datasheet);
    EXPECT_FALSE(ceiling.q1 || ceiling.q3);
    values[ceiling.name] = ceiling.value;
  }
  return values;
}

TEST(Ceilings, HaveUniqueKeysLabelsAndUnits) {
  std::set<std::string_view> keys;
  for (const CeilingKind& kind : ceiling_kinds()) {
    EXPECT_TRUE(keys.insert(kind.key).second) << kind.key;
    EXPECT_FALSE(kind.label().empty()) << kind.key;
    EXPECT_FALSE(kind.unit.empty()) << kind.key;
    EXPECT_EQ(find_ceiling(kind.key), &kind);
  }
  EXPECT_EQ(find_ceiling("no_such"), nullptr);
}

// NVIDIA's datasheets: fp32 in TFLOP/s (67, 19.5, 82.6), DRAM in TB/s, dense fp16 in TFLOP/s.
TEST(Ceilings, DatasheetValuesMatchPublished) {
  const auto h200 = datasheet("H200");
  EXPECT_NEAR(h200.at("fma_fp32"), 67e12, 0.2e12);
  EXPECT_NEAR(h200.at("dram_copy"), 4.8e12, 1e9);
  EXPECT_NEAR(h200.at("wgmma_fp16"), 989.4e12, 1e9);
  EXPECT_EQ(h200.at("l2_private_capacity"), 60.0 * 1024 * 1024);
  EXPECT_FALSE(h200.contains("mma_fp16")) << "the peak is wgmma's";
  EXPECT_FALSE(h200.contains("l2_read")) << "no datasheet has it";
  EXPECT_FALSE(h200.contains("latency_dram"));
  const auto a100 = datasheet("A100");
  EXPECT_NEAR(a100.at("fma_fp32"), 19.5e12, 0.1e12);
  EXPECT_NEAR(a100.at("mma_bf16"), 312e12, 1e9);
  EXPECT_FALSE(a100.contains("wgmma_fp16"));
  EXPECT_FALSE(datasheet("B200").contains("mma_fp16")) << "another instruction's, too";
  EXPECT_NEAR(datasheet("RTX 4090").at("fma_fp32"), 82.6e12, 0.2e12);
  EXPECT_NEAR(datasheet("RTX 3090").at("fma_fp32"), 35.6e12, 0.1e12);
  EXPECT_NEAR(datasheet("RTX 5090").at("mma_fp16"), 209.5e12, 1e9);
  EXPECT_NEAR(h200.at("wgmma_fp8"), 1979e12, 1e12);
  // 16 exponentials and 128 bytes per clock and SM.
  EXPECT_NEAR(h200.at("exp2_fp32"), 16 * 132 * 1.98e9, 1);
  EXPECT_NEAR(h200.at("shared_memory_read"), 128 * 132 * 1.98e9, 1);
}

TEST(Ceilings, UnknownClockOmitsClockBasedValues) {
  DeviceLimits limits = *find_gpu("H200");
  limits.boost_hz = 0;
  for (const Ceiling& ceiling : datasheet_ceilings(limits)) {
    EXPECT_NE(ceiling.name, "fma_fp32");
    EXPECT_GT(ceiling.value, 0) << ceiling.name;
  }
}

TEST(Ceilings, RowsFollowTableOrderWithCurvesLast) {
  const auto ceiling = [](const char* name, double value, double argument = 0) {
    Ceiling made;
    made.name = name;
    made.value = value;
    made.argument = argument;
    return made;
  };
  std::vector<Ceiling> ceilings{ceiling("l2_private_miss", 0.5, 64), ceiling("latency_dram", 600),
                                ceiling("dram_copy_clock", 1.9e9),   ceiling("l2_private_miss", 0.1, 16),
                                ceiling("dram_copy", 4e12),          ceiling("of_a_later_program", 1),
                                ceiling("l2_shared_read", 3e12, 32)};
  ceilings[4].q1 = 3.9e12;
  ceilings[4].q3 = 4.1e12;
  const std::vector<CeilingRow> lines = ceiling_rows(ceilings);
  ASSERT_EQ(lines.size(), 5U);
  EXPECT_EQ(lines[0].ceiling, ceilings[4]);
  EXPECT_EQ(lines[0].kind, find_ceiling("dram_copy"));
  EXPECT_EQ(lines[0].clock_hz, 1.9e9);
  EXPECT_NEAR(relative_spread(lines[0].ceiling).value(), 0.025, 1e-12);
  EXPECT_EQ(lines[1].ceiling, ceilings[1]);
  EXPECT_FALSE(lines[1].clock_hz);
  EXPECT_FALSE(relative_spread(lines[1].ceiling)) << "not sampled";
  EXPECT_EQ(lines[2].ceiling.name, "l2_shared_read") << "each curve by itself";
  EXPECT_EQ(lines[3].ceiling.argument, 16);
  EXPECT_EQ(lines[4].ceiling.argument, 64);
  Ceiling negative = ceiling("l2_shared_miss", -2);
  negative.q1 = -3;
  negative.q3 = -1;
  EXPECT_EQ(relative_spread(negative), 0.5);
}

TEST(Ceilings, HalfMissSizeIsInterpolated) {
  const auto curve = [](std::vector<std::pair<double, double>> points) {
    std::vector<Ceiling> ceilings;
    for (const auto& [bytes, share] : points) {
      ceilings.push_back({.name = "l2_shared_miss", .argument = bytes, .value = share, .unit = "1"});
    }
    return ceilings;
  };
  const auto half = half_miss_size(curve({{64, 1.0}, {16, 0.25}, {4, 0.0}, {32, 1.0}}));
  ASSERT_TRUE(half);
  EXPECT_NEAR(*half, 16 * std::cbrt(2), 1e-9) << "a third of the way from 16 to 32, as sizes grow";
  EXPECT_EQ(half_miss_size(curve({{4, 0.1}, {8, 0.5}, {16, 0.9}})), 8) << "just there";
  EXPECT_FALSE(half_miss_size(curve({{4, 0.1}, {8, 0.4}}))) << "never";
  EXPECT_FALSE(half_miss_size(curve({{4, 0.6}, {8, 0.9}}))) << "from the beginning";
  EXPECT_FALSE(half_miss_size({}));
}

}  // namespace
}  // namespace attnscope
