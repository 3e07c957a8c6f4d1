// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>

#include "kernels/model/attention.h"
#include "kernels/model/io_model.h"
#include "profiler/lesson/hierarchy.h"
#include "profiler/lesson/ledger.h"
#include "profiler/lesson/pairs.h"
#include "profiler/metrics/metrics.h"
#include "tests/profiler/points/fixtures.h"

namespace attnscope::analysis::lesson {
namespace {

PointRecord timed(const PointSpec& spec, double ns) {
  PointRecord record = fixtures::ok_point(spec);
  for (KernelRecord& kernel : record.kernels) {
    kernel.samples_ns.assign(3, ns);
    std::erase_if(kernel.metrics, [](const MetricValue& m) { return m.name == metric_key::time_median_ns; });
  }
  return record;
}

TEST(Pairs, DoublesN) {
  const PointTable table =
      fixtures::Points({fixtures::ok_point(fixtures::spec("fa2", 8192)),
                        fixtures::ok_point(fixtures::spec("fa2", 16384)),
                        fixtures::ok_point(fixtures::spec("fa2", 32768, 64)),
                        fixtures::failed_point(fixtures::spec("fa2", 512), Disposition::infeasible, "no")})
          .table();
  const auto pairs = find_doubled_pairs(table, table.rows(), DoubledParameter::n, metric_key::l2_sm_bytes);
  ASSERT_EQ(pairs.size(), 1U);
  EXPECT_EQ(pairs[0].from, 0U);
  EXPECT_EQ(pairs[0].to, 1U);
  EXPECT_NEAR(pairs[0].ratio(), 4, 0.1);
}

TEST(Pairs, SelectsLongestPairWithinTheorem) {
  // M = 4 d Bc: Bc 512 satisfies M <= N d from N 2048.
  const PointTable table =
      fixtures::Points(
          {fixtures::ok_point(fixtures::spec("fa1", 256, 32, 512)),
           fixtures::ok_point(fixtures::spec("fa1", 512, 32, 512)),
           fixtures::ok_point(fixtures::spec("fa1", 2048, 32, 512)),
           fixtures::ok_point(fixtures::spec("fa1", 4096, 32, 512)),
           fixtures::ok_point(fixtures::spec("fa1", 8192, 32, 512)),
           fixtures::ok_point(fixtures::spec("fa2", 256, 128)), fixtures::ok_point(fixtures::spec("fa2", 512, 128)),
           fixtures::ok_point(fixtures::spec("naive", 512)), fixtures::ok_point(fixtures::spec("naive", 1024))})
          .table();
  EXPECT_FALSE(theorem_applies(table, 1));
  EXPECT_TRUE(theorem_applies(table, 2));
  const auto pairs = find_doubled_pairs(table, table.rows(), DoubledParameter::n, metric_key::l2_sm_bytes);
  ASSERT_EQ(pairs.size(), 5U);
  const auto telling = representative_pairs(table, pairs);
  ASSERT_EQ(telling.size(), 3U);
  EXPECT_EQ(telling[0].from, 3U);  // 4096 to 8192
  EXPECT_NEAR(telling[0].ratio(), 4, 0.15);
  EXPECT_EQ(telling[1].from, 5U);  // none within the theorem: the longest N
  EXPECT_FALSE(theorem_applies(table, telling[1].from));
  EXPECT_EQ(telling[2].from, 7U);  // S in memory: O(N^2) for every tile
  EXPECT_TRUE(theorem_applies(table, telling[2].from));
}

TEST(Pairs, TheoremNeedsManyRowsOfTheDividedSide) {
  // One query and 65,536 keys: tiles of queries have nothing to divide.
  std::vector<PointRecord> records;
  for (const char* algorithm : {"fa1", "fa2"}) {
    PointSpec spec = fixtures::spec(algorithm, 65'536, 64, 64);
    spec.problem.n_q = 1;
    records.push_back(fixtures::ok_point(spec));
  }
  const PointTable table = fixtures::Points(std::move(records)).table();
  EXPECT_TRUE(theorem_applies(table, 0));
  EXPECT_FALSE(theorem_applies(table, 1));
}

TEST(Pairs, DoublesBc) {
  const PointTable table = fixtures::Points({fixtures::ok_point(fixtures::spec("fa1", 4096, 64, 64)),
                                             fixtures::ok_point(fixtures::spec("fa1", 4096, 64, 128)),
                                             fixtures::ok_point(fixtures::spec("fa2", 4096, 64, 64)),
                                             fixtures::ok_point(fixtures::spec("fa2", 4096, 64, 128))})
                               .table();
  const auto pairs = find_doubled_pairs(table, table.rows(), DoubledParameter::bc, metric_key::l2_sm_bytes);
  ASSERT_EQ(pairs.size(), 2U);
  EXPECT_NEAR(pairs[0].ratio(), 0.5, 0.05);
  EXPECT_NEAR(pairs[1].ratio(), 1, 0.01);
}

TEST(Pairs, InterpolatesCrossover) {
  std::vector<PointRecord> records;
  for (const auto& [n, slow, fast] :
       {std::tuple{512, 100.0, 200.0}, {1024, 400.0, 400.0 * 2}, {2048, 1600.0, 800.0}, {4096, 6400.0, 1600.0}}) {
    records.push_back(timed(fixtures::spec("naive", n), slow));
    records.push_back(timed(fixtures::spec("fa2", n), fast));
  }
  const PointTable table = fixtures::Points(records).table();
  const auto found = crossovers(table, table.rows(), "naive", "fa2");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].pairs.size(), 4U);
  ASSERT_TRUE(found[0].n);
  // Ratios 2 at 1024 and 1/2 at 2048: the midpoint in logarithms.
  EXPECT_NEAR(*found[0].n, 1024 * std::sqrt(2.0), 1e-6);
  EXPECT_FALSE(found[0].never);
  const auto other = crossovers(table, table.rows(), "fa2", "fa2");
  ASSERT_EQ(other.size(), 1U);
  EXPECT_TRUE(other[0].never);

  // Points without counters have valid times. At the longest N the other algorithm is faster again: no crossover.
  records.push_back(timed(fixtures::spec("naive", 8192), 100.0));
  records.push_back(timed(fixtures::spec("fa2", 8192), 130.0));
  for (PointRecord& record : records) record.disposition = Disposition::no_counters;
  const PointTable slower = fixtures::Points(records).table();
  const auto at_last = crossovers(slower, slower.rows(), "naive", "fa2");
  ASSERT_EQ(at_last.size(), 1U);
  EXPECT_TRUE(at_last[0].never);
  EXPECT_FALSE(at_last[0].n);
}

TEST(Pairs, ComparesCounterWithClosedForm) {
  const PointTable table = fixtures::Points({timed(fixtures::spec("fa2", 1024), 1000)}).table();
  const auto found = residuals(table, table.rows());
  ASSERT_EQ(found.size(), 1U);
  EXPECT_NEAR(found[0].relative(), 0.001, 1e-9);  // set by the fixture
}

constexpr std::int64_t mib = 1 << 20;

AttentionProblem square(std::int64_t n, std::int64_t heads = 1, std::int64_t batch = 1) {
  return {.batch = batch, .heads_q = heads, .heads_kv = heads, .n_q = n, .n_k = n, .d = 64};
}

TEST(Ledger, SizesOfOneHead) {
  const Ledger ledger = make_ledger(square(8192));
  EXPECT_EQ(ledger.find(Tensor::s)->matrix_bytes(), 128 * mib);
  EXPECT_EQ(ledger.find(Tensor::p)->matrix_bytes(), 128 * mib);
  EXPECT_EQ(ledger.score_traffic_bytes(), 512 * mib);
  EXPECT_EQ(ledger.find(Tensor::q)->matrix_bytes(), mib);
  EXPECT_EQ(ledger.find(Tensor::m)->matrix_bytes() + ledger.find(Tensor::l)->matrix_bytes(), 64 * 1024);
  EXPECT_EQ(ledger.find(Tensor::lse)->matrix_bytes(), 32 * 1024);
  EXPECT_EQ(ledger.find(Tensor::dq), nullptr);
}

TEST(Ledger, LongestNWithinBytes) {
  // 5608^2 x 2 = 62,899,328 of 62,914,560 bytes; 5609^2 x 2 = 62,921,762.
  EXPECT_EQ(max_n_for_score_bytes(60 * mib, DType::fp16), 5608);
  EXPECT_EQ(max_n_for_score_bytes(2 * mib, DType::fp16), 1024) << "exactly 1024^2 x 2 bytes";
  EXPECT_EQ(max_n_for_score_bytes(1, DType::fp16), 0);
}

TEST(Ledger, HeadsAndGroups) {
  // Article 003: 32 heads x batch 8 at N 4096 give 8 GiB of scores.
  EXPECT_EQ(make_ledger(square(4096, 32, 8)).find(Tensor::s)->all(), std::int64_t{8} << 30);
  AttentionProblem grouped = square(2048, 8);
  grouped.heads_kv = 2;
  EXPECT_EQ(make_ledger(grouped).tensor_bytes(), (8 + 2 + 2 + 8) * (mib / 4));
}

TEST(Ledger, MatchesStandardAttentionBytes) {
  // 4 N^2 + 4 N d: the ledger's sum equals the papers' count.
  const Ledger ledger = make_ledger(square(1000, 3));
  EXPECT_EQ(ledger.score_traffic_bytes() + ledger.tensor_bytes(), standard_attention_bytes(ledger.problem));
}

TEST(Hierarchy, FallsBackToDatasheet) {
  const DeviceLimits& h200 = *find_gpu("H200");
  const Hierarchy all = hierarchy_of(h200);
  EXPECT_FALSE(all.at(MemoryLevel::l2).latency_ns);
  EXPECT_FALSE(all.at(MemoryLevel::l2).in_flight_bytes);
  EXPECT_NEAR(all.at(MemoryLevel::dram).flops_per_byte->value, 989.4e12 / 4.8e12, 1);
  EXPECT_EQ(all.at(MemoryLevel::dram).bandwidth->source, CeilingSource::datasheet);
  EXPECT_NEAR(all.at(MemoryLevel::host).bandwidth->value, 63e9, 1e8);
  EXPECT_NEAR(hierarchy_of(*find_gpu("A100")).at(MemoryLevel::host).bandwidth->value, 31.5e9, 1e8);
}

TEST(Hierarchy, MeasuredFirst) {
  namespace key = ceiling_key;
  const auto ceiling = [](std::string_view name, double value) {
    return Ceiling{.name = std::string(name), .value = value, .unit = std::string(find_ceiling(name)->unit)};
  };
  const std::vector<Ceiling> measured{ceiling(key::dram_read, 4.64e12), ceiling(key::latency_dram, 337),
                                      ceiling(key::wgmma_fp16, 885.6e12), ceiling(key::shared_memory_read, 33.19e12)};
  const Hierarchy all = hierarchy_of(*find_gpu("H200"), measured);
  EXPECT_EQ(all.tensor_flops.source, CeilingSource::measured);
  EXPECT_EQ(all.at(MemoryLevel::dram).bandwidth->source, CeilingSource::measured);
  ASSERT_TRUE(all.at(MemoryLevel::dram).in_flight_bytes);
  EXPECT_NEAR(all.at(MemoryLevel::dram).in_flight_bytes->value, 4.64e12 * 337e-9, 1);
  EXPECT_EQ(all.at(MemoryLevel::dram).in_flight_bytes->source, CeilingSource::derived);
  EXPECT_NEAR(all.at(MemoryLevel::dram).flops_per_byte->value, 885.6 / 4.64, 1e-9);
  EXPECT_EQ(all.at(MemoryLevel::dram).flops_per_byte->source, CeilingSource::derived);
  EXPECT_EQ(all.at(MemoryLevel::host).flops_per_byte->source, CeilingSource::datasheet) << "of the link";
  EXPECT_FALSE(all.at(MemoryLevel::shared).latency_ns);
}

}  // namespace
}  // namespace attnscope::analysis::lesson
