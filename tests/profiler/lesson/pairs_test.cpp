// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>

#include "kernels/model/attention.h"
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
  const auto pairs = find_doubled_pairs(table, table.rows(), metric_key::l2_sm_bytes);
  ASSERT_EQ(pairs.size(), 1U);
  EXPECT_EQ(pairs[0].from, 0U);
  EXPECT_EQ(pairs[0].to, 1U);
  EXPECT_NEAR(pairs[0].ratio(), 4, 0.1);
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

TEST(GpuFigures, FallBackToTheDatasheet) {
  const DeviceLimits& h200 = *find_gpu("H200");
  EXPECT_FALSE(bytes_in_flight(h200, {}));
  EXPECT_NEAR(ridge_point(h200, {}, tensor_rate(h200, {}))->value, 989.4e12 / 4.8e12, 1);
  EXPECT_EQ(gpu_figure(h200, {}, {ceiling_key::dram_read})->source, CeilingSource::datasheet);
  EXPECT_FALSE(ridge_point(h200, {}, std::nullopt));
}

TEST(GpuFigures, MeasuredFirst) {
  namespace key = ceiling_key;
  const DeviceLimits& h200 = *find_gpu("H200");
  const auto ceiling = [](std::string_view name, double value) {
    return Ceiling{.name = std::string(name), .value = value, .unit = std::string(find_ceiling(name)->unit)};
  };
  const std::vector<Ceiling> measured{ceiling(key::dram_read, 4.64e12), ceiling(key::latency_dram, 337),
                                      ceiling(key::wgmma_fp16, 885.6e12)};
  EXPECT_EQ(tensor_rate(h200, measured)->source, CeilingSource::measured);
  const auto in_flight = bytes_in_flight(h200, measured);
  ASSERT_TRUE(in_flight);
  EXPECT_NEAR(in_flight->value, 4.64e12 * 337e-9, 1);
  EXPECT_EQ(in_flight->source, CeilingSource::derived);
  const auto ridge = ridge_point(h200, measured, tensor_rate(h200, measured));
  EXPECT_NEAR(ridge->value, 885.6 / 4.64, 1e-9);
  EXPECT_EQ(ridge->source, CeilingSource::derived);
  const std::vector<Ceiling> rate{ceiling(key::wgmma_fp16, 885.6e12)};
  EXPECT_EQ(ridge_point(h200, rate, tensor_rate(h200, rate))->source, CeilingSource::datasheet) << "of the bandwidth";
}

}  // namespace
}  // namespace attnscope::analysis::lesson
