// SPDX-License-Identifier: Apache-2.0
// Attention across GPUs: executing the schedules in any order that the streams allow computes attention; closed forms
// of links and of the combine kernel match the executed operations; token orders distribute the work as documented.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "kernels/model/integer.h"
#include "kernels/oracle/inputs.h"
#include "kernels/registry.h"
#include "kernels/ringattn/ringattn_combine.h"
#include "tests/kernels/attention_inputs.h"
#include "tests/kernels/host_machine.h"
#include "tests/kernels/programs.h"

namespace attnscope {
namespace {

using test::h200;
using test::sanitized;

struct Case {
  std::string algorithm;
  AttentionProblem problem;
};

std::string label(const Case& each) {
  return each.algorithm + " " + describe(each.problem);
}

/// All token orders, odd numbers of GPUs, partial tiles, GQA, several batch entries.
std::vector<Case> cases() {
  std::vector<Case> all;
  for (const std::string algorithm : {"ring", "allgather", "ulysses"}) {
    for (const int gpus : {1, 2, 3, 4}) {
      for (const GpuOrder order : gpu_orders) {
        for (const Mask& mask : {Mask::none, Mask::causal}) {
          for (const DType dtype : {DType::fp16, DType::bf16}) {
            AttentionProblem p{.dtype = dtype,
                               .mask = mask,
                               .batch = dtype == DType::fp16 ? 2 : 1,
                               .heads_q = 2 * gpus,
                               .heads_kv = dtype == DType::fp16 ? gpus : 2 * gpus,
                               .n_q = 26 * gpus,
                               .n_k = 26 * gpus,
                               .d = 16};
            p.gpus = gpus;
            p.gpu_order = order;
            const Algorithm& known = *built_in_algorithms().find(algorithm);
            if (!known.refusal(p, known.default_config(p, h200()), h200())) all.push_back({algorithm, p});
          }
        }
      }
    }
  }
  return all;
}

std::int64_t link_bytes(std::string_view algorithm, const AttentionProblem& p) {
  return built_in_algorithms().find(algorithm)->facts().link_bytes(p);
}

AttentionPlan plan_of(const Case& each) {
  const Algorithm& algorithm = *built_in_algorithms().find(each.algorithm);
  return algorithm.plan(each.problem, algorithm.default_config(each.problem, h200()), h200());
}

TEST(MultiGpuSequence, AnyAllowedOrderComputesAttention) {
  std::size_t executed = 0;
  for (const Case& each : cases()) {
    if (each.problem.gpus == 1 || (sanitized() && each.problem.dtype == DType::bf16)) continue;
    SCOPED_TRACE(label(each));
    const AttentionPlan plan = plan_of(each);
    const AttentionInputs inputs = make_inputs(each.problem, InputKind::normal, 7);
    const Reference reference = reference_attention(single_gpu_problem(each.problem), inputs);
    KernelOutput first;
    for (const std::uint64_t order : {1U, 2U, 3U}) {
      test::HostMachine machine(plan, each.problem, inputs);
      const KernelOutput output = machine.run(order);
      const CheckResult result = check(reference, output);
      ASSERT_TRUE(result.pass) << result.reason;
      if (order == 1) first = output;
      ASSERT_EQ(output, first) << "the stream order changes the results";
    }
    ++executed;
  }
  EXPECT_GT(executed, sanitized() ? 15U : 30U);
}

TEST(MultiGpuSequence, LinkBytesMatchTheClosedForm) {
  for (const Case& each : cases()) {
    const AttentionProblem& p = each.problem;
    const AttentionPlan plan = plan_of(each);
    EXPECT_EQ(plan.schedule.link_bytes(), link_bytes(each.algorithm, p)) << label(each);
    EXPECT_EQ(plan.schedule.empty(), p.gpus == 1);
  }
  // 64k tokens on two GPUs, 16 heads of d 128: each sends 32,768 x 16 x 128 elements of K and of V.
  AttentionProblem p{.heads_q = 16, .heads_kv = 16, .n_q = 65'536, .n_k = 65'536, .d = 128};
  p.gpus = 2;
  EXPECT_EQ(link_bytes("ring", p), std::int64_t{2} * 2 * 32'768 * 16 * 128 * 2);
}

TEST(MultiGpuSequence, EachPairIsComputedOnce) {
  for (Case each : cases()) {
    AttentionProblem& p = each.problem;
    const std::int64_t tokens = 4608;  // half of them are whole tiles of 128, 144, 192 and 256
    p.n_q = p.n_k = tokens * p.gpus;
    const Algorithm& algorithm = *built_in_algorithms().find(each.algorithm);
    const Config config = algorithm.default_config(p, h200());
    std::int64_t pairs = p.n_q * p.n_k;
    if (p.mask == Mask::causal) {
      // Tiles up to the diagonal; in striped order, each pair of GPUs has a diagonal.
      const bool striped = p.gpu_order == GpuOrder::striped;
      const std::int64_t diagonals = striped ? p.gpus * p.gpus : 1;
      pairs = 0;
      for (std::int64_t last = config.tile.br; last <= (striped ? tokens : p.n_q); last += config.tile.br) {
        pairs += diagonals * config.tile.br * round_up(last, config.tile.bc);
      }
    }
    EXPECT_EQ(algorithm.model(p, config, h200()).executed_flops(), 4 * static_cast<double>(p.instances() * p.d * pairs))
        << label(each);
  }
}

TEST(MultiGpuSequence, CombineClosedFormMatchesProgram) {
  for (const std::int64_t rows : {1, 7, 16, 26, 50, 130}) {
    for (const std::int64_t instances : {1, 3, 16, 19}) {
      for (const std::int64_t first : {std::int64_t{0}, std::int64_t{1}, rows / 2, rows}) {
        for (const int later : {0, 2}) {
          const ringattn::PartialResults parts{
              .d = 48, .instances = instances, .rows = rows, .whole = 2, .later = later, .first = first};
          const KernelLaunch launch = ringattn::combine_launch(parts, "combine");
          ASSERT_EQ(launch.traffic, walk(*launch.program)) << rows << " " << instances << " " << first << " " << later;
          ASSERT_EQ(launch.blocks(), launch.program->blocks());
        }
      }
    }
  }
}

/// Distribution of attention work over GPUs, measured in executed FLOPs.
ScheduleTimes schedule_by_flops(const AttentionPlan& plan) {
  const auto flops = [&](const Operation& operation) {
    return operation.is_transfer() || operation.kind == Operation::Kind::combine
               ? 0
               : plan.launches[operation.launch].work.tensor_flops;
  };
  return total_schedule_times(plan.schedule, simulate_schedule(plan.schedule, flops));
}

TEST(MultiGpuSequence, CausalImbalanceMatchesFormula) {
  for (const int gpus : {2, 3, 4, 8}) {
    AttentionProblem p{.mask = Mask::causal, .heads_q = 8, .heads_kv = 8, .d = 64};
    p.gpus = gpus;
    p.n_q = p.n_k = 147'456 * gpus;                  // whole tiles; those at the diagonal are a small part
    const double formula = (2.0 * gpus - 1) / gpus;  // 1 / imbalance is P / (2 P - 1)
    EXPECT_NEAR(schedule_by_flops(plan_of({"ring", p})).imbalance, formula, 2e-3) << gpus;
    p.gpu_order = GpuOrder::zigzag;
    EXPECT_NEAR(schedule_by_flops(plan_of({"ring", p})).imbalance, 1, 1e-12) << gpus;
    EXPECT_NEAR(schedule_by_flops(plan_of({"allgather", p})).imbalance, 1, 1e-12) << gpus;
    p.gpu_order = GpuOrder::striped;
    EXPECT_NEAR(schedule_by_flops(plan_of({"ring", p})).imbalance, 1, 2e-3) << gpus;
  }
}

TEST(MultiGpuSequence, RingOverlapsCopiesAllGatherDoesNot) {
  AttentionProblem p{.heads_q = 8, .heads_kv = 8, .n_q = 4096, .n_k = 4096, .d = 64};
  p.gpus = 4;
  const auto times_of = [&](const char* algorithm, double copy_ns) {
    const AttentionPlan plan = plan_of({algorithm, p});
    return total_schedule_times(
        plan.schedule, simulate_schedule(plan.schedule, [&](const Operation& each) {
          return each.link_bytes() > 0 ? copy_ns : each.kind == Operation::Kind::attention ? 100.0 : 0.0;
        }));
  };
  const ScheduleTimes ring = times_of("ring", 40);  // K and V of a step take 80, attention takes 100
  EXPECT_DOUBLE_EQ(ring.ns, 400);
  EXPECT_DOUBLE_EQ(ring.attention_ns, 400);
  EXPECT_DOUBLE_EQ(ring.exposed_ns, 0);
  EXPECT_DOUBLE_EQ(ring.copies_ns, 3 * 80);
  const ScheduleTimes slow = times_of("ring", 60);  // 120 for copies against 100 for attention, three times
  EXPECT_DOUBLE_EQ(slow.ns, 3 * 120 + 100);
  EXPECT_DOUBLE_EQ(slow.exposed_ns, 3 * 20);
  const ScheduleTimes gather = times_of("allgather", 40);
  EXPECT_DOUBLE_EQ(gather.exposed_ns, 3 * 80);
}

}  // namespace
}  // namespace attnscope
