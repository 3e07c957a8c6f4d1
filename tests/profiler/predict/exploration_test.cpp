// SPDX-License-Identifier: Apache-2.0
#include "profiler/predict/exploration.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <tuple>

#include "kernels/model/integer.h"
#include "kernels/tile_table.h"
#include "tests/profiler/points/fixtures.h"

namespace attnscope::analysis {
namespace {

using fixtures::kib;

Exploration explored(const PointSpec& spec, std::int64_t padding = 0, const DeviceLimits& device = fixtures::h200()) {
  return explore({.spec = spec, .padding_bytes = padding}, device, built_in_algorithms());
}

const MemorySpan* find(const MemoryMap& map, std::string_view name) {
  const auto found = std::ranges::find(map.block, name, &MemorySpan::name);
  return found == map.block.end() ? nullptr : &*found;
}

Traffic of(const Exploration& e, Tensor tensor) {
  const auto found = std::ranges::find(e.operands, tensor, &OperandTraffic::tensor);
  return found == e.operands.end() ? Traffic{} : found->traffic;
}

PointSpec sixteen_heads(const std::string& algorithm, int br = 128, int bc = 64) {
  PointSpec spec = fixtures::spec(algorithm, 4096, br, bc);
  spec.problem.heads_q = spec.problem.heads_kv = 16;
  return spec;
}

TEST(Exploration, MemoryMapIsExact) {
  const Exploration e = explored(sixteen_heads("fa2"));
  ASSERT_FALSE(e.refusal);
  ASSERT_EQ(e.kernels.size(), 1U);
  const MemoryMap& shared = e.kernels[0].shared;
  ASSERT_NE(find(shared, "Q"), nullptr);
  EXPECT_EQ(find(shared, "Q")->bytes, 128 * 128 * 2);
  EXPECT_EQ(find(shared, "K")->offset, 128 * 128 * 2);
  EXPECT_EQ(find(shared, "K")->bytes, 64 * 128 * 2);
  EXPECT_EQ(find(shared, "V")->offset, 128 * 128 * 2 + 64 * 128 * 2);
  EXPECT_EQ(shared.block.back().kind, SpanKind::reserved);
  EXPECT_EQ(shared.block.back().bytes, 1 * kib);
  EXPECT_EQ(shared.block_bytes, 65 * kib);
  EXPECT_EQ(shared.sm_bytes, 228 * kib);
  EXPECT_EQ(e.kernels[0].shared_bytes, 64 * kib);
  const MemoryMap& registers = e.kernels[0].registers;
  ASSERT_NE(find(registers, "O"), nullptr);
  EXPECT_EQ(find(registers, "O")->bytes, 128 * 128 * 4);
  EXPECT_EQ(find(registers, "m, l")->bytes, 128 * 2 * 4);
  EXPECT_EQ(registers.sm_bytes, 256 * kib);
  EXPECT_EQ(registers.block_bytes,
            e.kernels[0].threads_per_block / 32 * round_up(e.kernels[0].registers_per_thread * 32, 256) * 4);
}

TEST(Exploration, BuffersHaveStages) {
  const Exploration e = explored(sixteen_heads("fa3", 128, 128));
  ASSERT_FALSE(e.refusal);
  const MemorySpan* k = find(e.kernels[0].shared, "K");
  ASSERT_NE(k, nullptr);
  EXPECT_EQ(k->bytes, k->stages * 128 * 128 * 2);
  EXPECT_GE(k->stages, 2);
}

/// All tiles of the built-in table, on the problem they are tuned for.
TEST(Exploration, MemoryMapsAreConsistentForAllTiles) {
  int seen = 0;
  for (const TileChoice& choice : tile_table()) {
    PointSpec spec = fixtures::spec(choice.algorithm, choice.n, choice.config.tile.br, choice.config.tile.bc, choice.d);
    spec.problem.pass = choice.pass;
    if (choice.causal) spec.problem.mask = Mask::causal;
    if (built_in_algorithms().find(choice.algorithm)->facts().for_decoding) {
      spec.problem.n_q = 1;
      spec.problem.heads_q = spec.problem.heads_kv * tuning_gqa_group;
    }
    spec.knobs = choice.config.knobs;
    const Exploration e = explored(spec);
    if (e.refusal) continue;
    SCOPED_TRACE(describe(spec));
    for (const ExploredKernel& kernel : e.kernels) {
      ++seen;
      for (const MemoryMap* map : {&kernel.shared, &kernel.registers}) {
        std::int64_t end = 0;
        for (const MemorySpan& span : map->block) {
          EXPECT_EQ(span.offset, end);
          EXPECT_GT(span.bytes, 0);
          end += span.bytes;
        }
        EXPECT_EQ(end, map->block_bytes) << kernel.name;
        EXPECT_GE(map->free_bytes(), 0) << kernel.name;
        EXPECT_GE(map->blocks, 1);
      }
      EXPECT_EQ(kernel.registers.block_bytes,
                allocated_register_bytes({.threads_per_block = kernel.threads_per_block,
                                          .registers_per_thread = kernel.registers_per_thread}))
          << kernel.name << ": named parts fit into the block";
    }
  }
  EXPECT_GT(seen, 150);
}

TEST(Exploration, OccupancyNamesItsLimiter) {
  const Exploration wide = explored(sixteen_heads("fa2"));
  const ExploredKernel& kernel = wide.kernels[0];
  EXPECT_EQ(kernel.blocks, 16 * 32);
  EXPECT_GT(kernel.occupancy.blocks_per_sm, 0);
  // One more block exceeds the named limiter.
  const int more = kernel.occupancy.blocks_per_sm + 1;
  if (kernel.occupancy.limiter == "registers") {
    EXPECT_GT(more * kernel.registers.block_bytes, kernel.registers.sm_bytes);
  } else {
    ASSERT_EQ(kernel.occupancy.limiter, "shared memory");
    EXPECT_GT(more * kernel.shared.block_bytes, kernel.shared.sm_bytes);
  }
  ASSERT_LT(kernel.occupancy.blocks_per_sm, ceil_div(kernel.blocks, std::int64_t{fixtures::h200().sm_count}));
  EXPECT_EQ(kernel.shared.blocks, kernel.occupancy.blocks_per_sm) << "the grid has more blocks";
  // FA1 has one block per head: 16 blocks leave most SMs empty.
  const Exploration heads = explored(sixteen_heads("fa1", 64, 64));
  EXPECT_EQ(heads.kernels[0].blocks, 16);
  EXPECT_EQ(heads.kernels[0].occupancy.limiter, "grid");
  EXPECT_EQ(heads.kernels[0].shared.blocks, 1);
}

TEST(Exploration, OperandBytesMatchThePaper) {
  const std::int64_t heads = 16;
  const std::int64_t n = 4096;
  const std::int64_t d = 128;
  const Exploration fa2 = explored(sixteen_heads("fa2"));
  EXPECT_EQ(of(fa2, Tensor::q), (Traffic{heads * n * d * 2, 0}));
  EXPECT_EQ(of(fa2, Tensor::k), (Traffic{heads * (n / 128) * n * d * 2, 0})) << "once for each of Tr query tiles";
  EXPECT_EQ(of(fa2, Tensor::v), of(fa2, Tensor::k));
  EXPECT_EQ(of(fa2, Tensor::o), (Traffic{0, heads * n * d * 2}));
  EXPECT_EQ(of(fa2, Tensor::lse), (Traffic{0, heads * n * 4}));
  const Exploration fa1 = explored(sixteen_heads("fa1", 64, 64));
  EXPECT_EQ(of(fa1, Tensor::k), (Traffic{heads * n * d * 2, 0})) << "once";
  EXPECT_EQ(of(fa1, Tensor::q), (Traffic{heads * (n / 64) * n * d * 2, 0})) << "once for each of Tc key tiles";
  const Exploration naive = explored(sixteen_heads("naive", 128, 128));
  EXPECT_EQ(of(naive, Tensor::s), (Traffic{heads * n * n * 2, heads * n * n * 2}))
      << "stored by one kernel, loaded by another";
  for (const Exploration* e : {&fa2, &fa1, &naive}) {
    EXPECT_EQ(sum_of(e->operands), e->traffic);
    EXPECT_GE(e->traffic.total(), e->compulsory_bytes);
  }
}

TEST(Exploration, IntensitiesUseNominalFlops) {
  const Exploration e = explored(sixteen_heads("fa2"));
  const double pairs = 16.0 * 4096 * 4096;
  EXPECT_DOUBLE_EQ(e.nominal_flops, 4 * 128 * pairs);
  // FA2, SM<->L2: 4 d N^2 FLOPs over about 2 (N / Br) N d 2 bytes is Br FLOPs per byte.
  EXPECT_NEAR(e.l2_intensity(), 128, 0.06 * 128);
  // DRAM: each matrix once, N / 2 FLOPs per byte.
  EXPECT_NEAR(e.dram_intensity(), 4096 / 2.0, 0.02 * 2048);
  PointSpec causal = sixteen_heads("fa2");
  causal.problem.mask = Mask::causal;
  const Exploration half = explored(causal);
  EXPECT_DOUBLE_EQ(half.nominal_flops, 4 * 128 * 16.0 * 4096 * 4097 / 2);
  EXPECT_GT(half.executed_flops, half.nominal_flops) << "diagonal tiles count as full tiles";
  EXPECT_LT(half.executed_flops, 1.05 * half.nominal_flops);
}

TEST(Exploration, TimesMatchThePipelineModel) {
  for (const char* algorithm : {"fa2", "naive"}) {
    const PointSpec spec = sixteen_heads(algorithm, 128, 128);
    const Exploration e = explored(spec);
    ASSERT_FALSE(e.refusal);
    const AttentionModel model =
        built_in_algorithms().find(algorithm)->model(spec.problem, spec.config(), fixtures::h200());
    const std::vector<LaunchTime> times = predict_times(model, fixtures::h200());
    ASSERT_EQ(e.kernels.size(), times.size());
    EXPECT_DOUBLE_EQ(e.ns, point_ns(times));
    for (const GpuUnit unit : gpu_units) {
      double sum = 0;
      for (const LaunchTime& time : times) sum += time.busy(unit);
      EXPECT_NEAR(e.light.of(unit) * e.ns, sum, 1e-9 * e.ns) << to_string(unit);
      EXPECT_LE(e.light.of(unit), e.light.of(e.light.busiest()));
    }
    EXPECT_LE(e.kernels[e.longest()].time.ns, e.ns * 1.001);
    EXPECT_FALSE(e.rates_inherited);
    EXPECT_EQ(e.rates_measured_on, fixtures::h200().name);
  }
  EXPECT_EQ(explored(sixteen_heads("naive", 128, 128)).light.busiest(), GpuUnit::dram)
      << "0.5 GB of scores written and read";
  EXPECT_TRUE(explored(sixteen_heads("fa2"), 0, *find_gpu("A100")).rates_inherited);
  const Exploration unvalidated = explored(sixteen_heads("fa2"), 0, *find_gpu("L40S"));
  EXPECT_FALSE(unvalidated.can_predict_time);
  EXPECT_GT(unvalidated.kernels[0].waves.value(), 0);
  EXPECT_EQ(unvalidated.kernels[0].time.ns, 0);
}

// Sums over the operations of the schedule, which run each launch on several GPUs.
TEST(Exploration, SeveralGpusSumOverOperations) {
  for (const char* algorithm : {"ring", "allgather"}) {
    PointSpec spec = sixteen_heads(algorithm, 128, 128);
    spec.problem.mask = Mask::causal;
    spec.problem.gpus = 4;
    const Exploration e = explored(spec);
    ASSERT_FALSE(e.refusal);
    const AttentionPlan plan =
        built_in_algorithms().find(algorithm)->plan(spec.problem, spec.config(), fixtures::h200());
    Traffic traffic;
    double tensor_flops = 0;
    double dram_bytes = 0;
    UnitValues busy{};  // of the last GPU, which sees the most keys
    for (const Operation& each : plan.schedule.operations) {
      if (each.is_transfer()) continue;
      const KernelLaunch& launch = plan.launches[each.launch];
      const ExploredKernel& kernel = *std::ranges::find(e.kernels, launch.name, &ExploredKernel::name);
      traffic += launch.traffic;
      tensor_flops += launch.work.tensor_flops;
      dram_bytes += kernel.dram_bytes;
      for (const GpuUnit unit : gpu_units) {
        busy[static_cast<std::size_t>(unit)] += each.gpu == 3 ? kernel.time.busy(unit) : 0;
      }
    }
    EXPECT_EQ(e.traffic, traffic) << algorithm;
    EXPECT_EQ(sum_of(e.operands), traffic) << algorithm;
    EXPECT_DOUBLE_EQ(e.executed_flops, tensor_flops) << algorithm;
    EXPECT_DOUBLE_EQ(e.dram_bytes, dram_bytes) << algorithm;
    EXPECT_DOUBLE_EQ(e.flops_per_second(), 4 * 128 * 16.0 * 4096 * 4097 / 2 / 4 / e.ns * 1e9) << algorithm;
    EXPECT_DOUBLE_EQ(e.light.waiting, e.sharing->exposed_ns / e.ns) << algorithm;
    EXPECT_GT(e.light.waiting, 0) << algorithm;
    for (const GpuUnit unit : gpu_units) {
      EXPECT_NEAR(e.light.of(unit) * e.ns, busy[static_cast<std::size_t>(unit)], 1e-6 * e.ns) << to_string(unit);
    }
  }
}

TEST(Exploration, ResidentBlocksAreThoseOfTheFullestSm) {
  for (const auto& [heads, n, blocks] :
       {std::tuple(131, 64, 1), {132, 64, 1}, {133, 64, 2}, {132, 128, 2}, {1, 64, 1}, {1000, 4096, 1000}}) {
    PointSpec spec = fixtures::spec("fa2", n, 64, 64);
    spec.problem.heads_q = spec.problem.heads_kv = heads;
    const ExploredKernel kernel = explored(spec).kernels.at(0);
    ASSERT_GE(kernel.occupancy.blocks_per_sm, 2);
    EXPECT_EQ(kernel.shared.blocks, std::min(blocks, kernel.occupancy.blocks_per_sm)) << heads << " heads, N " << n;
    EXPECT_EQ(kernel.registers.blocks, kernel.shared.blocks);
  }
}

TEST(Exploration, SetupKernelsAreExcluded) {
  PointSpec spec = sixteen_heads("fa2", 64, 64);
  spec.problem.pass = Pass::bwd;
  const Exploration e = explored(spec);
  ASSERT_FALSE(e.refusal);
  ASSERT_EQ(e.kernels.size(), 3U);
  EXPECT_EQ(e.kernels[0].name, "dot");
  EXPECT_EQ(e.kernels[e.longest()].name, "bwd");
  EXPECT_EQ(of(e, Tensor::dk).sm_to_l2_bytes, 16 * 4096 * 128 * 2);
  // Padding that only the forward pass, a setup launch, has no room for.
  spec = sixteen_heads("fa2", 16, 16);
  spec.problem.pass = Pass::bwd;
  std::int64_t most = 0;
  for (const ExploredKernel& kernel : explored(spec).kernels) most = std::max(most, kernel.shared_bytes);
  const AttentionModel model = built_in_algorithms().find("fa2")->model(spec.problem, spec.config(), fixtures::h200());
  ASSERT_TRUE(model.kernels.at(0).setup);
  ASSERT_GT(model.kernels.at(0).dynamic_shared_bytes, most);
  EXPECT_FALSE(explored(spec, 227 * kib - most).refusal);
  EXPECT_TRUE(explored(spec, 227 * kib - most + 1).refusal);
}

TEST(Exploration, PaddingChangesOnlyOccupancy) {
  const PointSpec spec = sixteen_heads("fa2", 64, 32);
  const Exploration plain = explored(spec);
  const Exploration padded = explored(spec, 96 * kib);
  ASSERT_FALSE(padded.refusal);
  EXPECT_GT(plain.kernels[0].occupancy.blocks_per_sm, 1);
  EXPECT_EQ(padded.kernels[0].occupancy.blocks_per_sm, 1) << "two padded blocks exceed an SM";
  EXPECT_EQ(padded.kernels[0].occupancy.limiter, "shared memory");
  EXPECT_EQ(padded.traffic, plain.traffic);
  EXPECT_EQ(padded.executed_flops, plain.executed_flops);
  EXPECT_EQ(padded.kernels[0].shared_bytes, plain.kernels[0].shared_bytes);
  EXPECT_GT(padded.ns, plain.ns) << "fewer warps hide less";
  const auto padding = std::ranges::find(padded.kernels[0].shared.block, SpanKind::padding, &MemorySpan::kind);
  ASSERT_NE(padding, padded.kernels[0].shared.block.end());
  EXPECT_EQ(padding->bytes, 96 * kib);
  const std::int64_t left = 227 * kib - plain.kernels[0].shared_bytes;
  EXPECT_FALSE(explored(spec, left).refusal);
  EXPECT_TRUE(explored(spec, left + 1).refusal);
  EXPECT_EQ(explored(spec, left).kernels[0].shared.overrun(), 0);
  const Exploration refused = explored(spec, 220 * kib);
  ASSERT_TRUE(refused.refusal);
  EXPECT_EQ(refused.refusal->cause, Refusal::Cause::shared_memory);
  EXPECT_FALSE(refused.nearest) << "the padding is the cause";
  ASSERT_EQ(refused.overrun.size(), 1U);
  EXPECT_EQ(refused.overrun[0].shared.overrun(), plain.kernels[0].shared_bytes + 220 * kib - 227 * kib);
}

TEST(Exploration, OverrunMatchesTheRefusal) {
  // With unlimited memory FA1 would choose eight teams here and use more than the refused kernel.
  const Exploration e = explored(sixteen_heads("fa1", 16, 448));
  ASSERT_TRUE(e.refusal);
  ASSERT_EQ(e.overrun.size(), 1U);
  std::string reason = text(e.refusal->reason);
  std::erase(reason, ',');
  EXPECT_NE(reason.find(std::to_string(e.overrun[0].shared_bytes)), std::string::npos)
      << reason << "; " << e.overrun[0].shared_bytes;
  // Refused for its padding alone: with any more memory FA1 would choose another team.
  PointSpec teams = fixtures::spec("fa1", 512, 16, 848, 64);
  const Exploration padded = explored(teams, 100 * kib);
  ASSERT_EQ(padded.overrun.size(), 1U);
  EXPECT_EQ(padded.overrun[0].shared_bytes, explored(teams).kernels.at(0).shared_bytes);
}

TEST(Exploration, InfeasibleTilesHaveAReasonAndANearestTile) {
  const Exploration e = explored(sixteen_heads("fa2", 512, 512));
  ASSERT_TRUE(e.refusal);
  EXPECT_TRUE(e.kernels.empty());
  ASSERT_TRUE(e.nearest);
  // Q, K and V with 512 rows each at d 128 in fp16, plus the reserved shared memory.
  ASSERT_EQ(e.overrun.size(), 1U);
  EXPECT_EQ(e.overrun[0].shared.block_bytes, 3 * 512 * 128 * 2 + 1 * kib);
  EXPECT_EQ(e.overrun[0].shared.overrun(), (384 - 227) * kib);
  EXPECT_EQ(e.overrun[0].shared.sm_bytes, 228 * kib);
  PointSpec nearest = e.point.spec;
  nearest.set_config(*e.nearest);
  EXPECT_FALSE(explored(nearest).refusal);
}

TEST(Exploration, BlockMasksAreSlowToModel) {
  AttentionProblem problem;
  EXPECT_TRUE(is_fast_to_model(problem));
  problem.mask = *parse_mask("blocks:64:butterfly");
  EXPECT_FALSE(is_fast_to_model(problem));
  problem.mask = *parse_mask("lengths:ramp");
  EXPECT_TRUE(is_fast_to_model(problem));
  for (const auto& [batch, quick] : {std::pair(8, true), {9, false}, {64, false}}) {
    problem.batch = batch;
    EXPECT_EQ(is_fast_to_model(problem), quick) << batch;
  }
  problem.batch = 1;
  for (const auto& [gpus, quick] : {std::pair(8, true), {9, false}}) {
    problem.gpus = gpus;
    EXPECT_EQ(is_fast_to_model(problem), quick) << gpus << " GPUs";
  }
}

}  // namespace
}  // namespace attnscope::analysis
