// SPDX-License-Identifier: Apache-2.0
#include "profiler/predict/multi_gpu_scaling.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "profiler/metrics/metrics.h"
#include "profiler/metrics/model_metrics.h"

namespace attnscope::analysis {
namespace {

/// 1024 tokens on two GPUs, 16 query heads on 4 K/V heads, d 128, full: 8.59 GFLOP.
PointRecord point_of(int gpus, double ns) {
  PointRecord record;
  record.spec.algorithm = "ring";
  record.spec.problem = {.heads_q = 16, .heads_kv = 4, .n_q = 1024, .n_k = 1024, .d = 128};
  record.spec.problem.gpus = gpus;
  record.spec.tile = {.br = 128, .bc = 128};
  kernel_record(record, "all").samples_ns = {ns};
  return record;
}

PointTable table_of(const std::vector<PointRecord>& records) {
  PointTableBuilder builder;
  const RunIndex run = builder.add_run({});
  for (const PointRecord& record : records) builder.add(run, record);
  return std::move(builder).finish();
}

TEST(MultiGpuScaling, EfficiencyHiddenShareAndRates) {
  PointRecord shared = point_of(2, 12'500);
  // Each of two GPUs sends 1 MiB in 5 us (0.2097 TB/s) and computes 4.295 GFLOP in 10 us (429.5 TFLOP/s): 2048 FLOP per
  // byte, divided by 4 query heads per K/V head.
  add_link_bytes(kernel_record(shared, "all"), 2 << 20, Provenance::simulated);
  add_multi_gpu_times(kernel_record(shared, "all"),
                      {.ns = 12'500,
                       .attention_ns = 10'000,
                       .combine_ns = 500,
                       .exposed_ns = 2'000,
                       .copies_ns = 5'000,
                       .imbalance = 1},
                      Provenance::simulated);
  const PointTable table = table_of({point_of(1, 20'000), shared});
  const std::vector<MultiGpuPoint> points = multi_gpu_points(table);
  ASSERT_EQ(points.size(), 1U);
  EXPECT_EQ(points[0].row, 1U);
  EXPECT_EQ(points[0].alone, 0U);
  EXPECT_DOUBLE_EQ(points[0].efficiency.value(), 0.8);
  EXPECT_DOUBLE_EQ(points[0].hidden.value(), 0.6);
  EXPECT_NEAR(points[0].hides_from.value(), 512, 1e-9);
  EXPECT_EQ(points[0].tokens, 512);
  EXPECT_NEAR(table.values(metric_key::tflops).value(1), 8.589934592e9 / 2 / 12'500e-9 / 1e12, 1e-9);
  const Table shown = sharing_table(table, points);
  EXPECT_EQ(shown.find("efficiency")->cell(0).text, "0.800");
  EXPECT_EQ(shown.find("gpu_exposed_ns")->cell(0).text, "2 µs");
  EXPECT_EQ(shown.find("link_bytes")->cell(0).number, 2 << 20);
}

// Each run has its own time on one GPU. Causal, 16 heads of d 128 and N 1024: 4.2992 GFLOP.
TEST(MultiGpuScaling, FourGpusOfTheSecondRun) {
  const auto causal_point = [](const char* algorithm, int gpus, double ns) {
    PointRecord record = point_of(gpus, ns);
    record.spec.algorithm = algorithm;
    record.spec.problem.mask = Mask::causal;
    return record;
  };
  const auto shared_point = [&](const char* algorithm, GpuOrder order, double exposed_ns, double copies_ns) {
    PointRecord record = causal_point(algorithm, 4, 12'500);
    record.spec.problem.gpu_order = order;
    add_link_bytes(kernel_record(record, "all"), 4 << 20, Provenance::simulated);
    add_multi_gpu_times(kernel_record(record, "all"),
                        {.ns = 12'500,
                         .attention_ns = 10'000,
                         .combine_ns = 0,
                         .exposed_ns = exposed_ns,
                         .copies_ns = copies_ns,
                         .imbalance = 1.5},
                        Provenance::simulated);
    return record;
  };
  PointTableBuilder builder;
  const RunIndex first = builder.add_run({});
  builder.add(first, causal_point("ring", 1, 20'000));
  builder.add(first, causal_point("ring", 4, 25'000));
  const RunIndex second = builder.add_run({});
  builder.add(second, shared_point("ring", GpuOrder::zigzag, 6'000, 5'000));
  builder.add(second, shared_point("ring", GpuOrder::contiguous, 2'500, 5'000));
  builder.add(second, causal_point("ring", 2, 30'000));
  builder.add(second, shared_point("allgather", GpuOrder::contiguous, 1'000, 5'000));
  builder.add(second, causal_point("ring", 1, 40'000));
  builder.add(second, shared_point("ring", GpuOrder::striped, 2'500, 0));
  const PointTable table = std::move(builder).finish();
  const std::vector<MultiGpuPoint> points = multi_gpu_points(table);
  ASSERT_EQ(points.size(), 6U);
  const std::vector<Row> order{1, 5, 4, 3, 2, 7};  // by run, algorithm, order and number of GPUs
  for (std::size_t i = 0; i < order.size(); ++i) EXPECT_EQ(points[i].row, order[i]) << i;
  EXPECT_DOUBLE_EQ(points[0].efficiency.value(), 0.2) << "20 us, not the second run's 40 us";
  EXPECT_FALSE(points[1].efficiency) << "another algorithm";
  EXPECT_DOUBLE_EQ(points[1].hidden.value(), 0.8);
  EXPECT_FALSE(points[1].hides_from) << "copies before it computes";
  EXPECT_DOUBLE_EQ(points[2].efficiency.value(), 40.0 / 60);
  EXPECT_EQ(points[2].tokens, 512);
  EXPECT_DOUBLE_EQ(points[3].hidden.value(), 0.5);
  const MultiGpuPoint& zigzag = points[4];
  EXPECT_DOUBLE_EQ(zigzag.efficiency.value(), 0.8);
  EXPECT_EQ(zigzag.tokens, 256);
  EXPECT_EQ(zigzag.hidden, 0) << "waits exceed the copies";
  EXPECT_NEAR(zigzag.attention_rate.value(), 4.2991616e9 / 4 * 1.5 / 10e-6, 1e3);
  EXPECT_NEAR(zigzag.link_rate.value(), (1 << 20) / 5e-6, 1);
  // F/B, divided by 4 query heads per K/V head, doubled as each step computes half of its pairs.
  EXPECT_NEAR(zigzag.hides_from.value(), 4.2991616e9 / 4 * 1.5 / 10 * 5 / (1 << 20) / 4 * 2, 1e-6);
  EXPECT_DOUBLE_EQ(points[3].hides_from.value(), *zigzag.hides_from / 2) << "contiguous";
  EXPECT_FALSE(points[5].hidden || points[5].link_rate || points[5].hides_from) << "no copies";
}

// On one GPU the GPU order has no effect.
TEST(MultiGpuScaling, OneGpuMatchesEveryGpuOrder) {
  PointRecord alone = point_of(1, 20'000);
  PointRecord shared = point_of(2, 12'500);
  alone.spec.problem.gpu_order = GpuOrder::zigzag;
  shared.spec.problem.gpu_order = GpuOrder::striped;
  const PointTable table = table_of({alone, shared});
  EXPECT_DOUBLE_EQ(multi_gpu_points(table).at(0).efficiency.value(), 0.8);
}

TEST(MultiGpuScaling, OtherProblemsAreNotMatched) {
  PointRecord other = point_of(1, 20'000);
  other.spec.problem.mask = Mask::causal;
  const PointTable table = table_of({other, point_of(2, 12'500)});
  const std::vector<MultiGpuPoint> points = multi_gpu_points(table);
  ASSERT_EQ(points.size(), 1U);
  EXPECT_FALSE(points[0].alone || points[0].efficiency || points[0].hidden || points[0].hides_from);
  EXPECT_EQ(sharing_table(table, points).find("efficiency")->cell(0).text, "");
}

}  // namespace
}  // namespace attnscope::analysis
