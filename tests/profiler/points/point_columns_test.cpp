// SPDX-License-Identifier: Apache-2.0
#include "profiler/points/point_columns.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "profiler/measure/simulated_device.h"
#include "profiler/metrics/rounds.h"
#include "tests/profiler/points/fixtures.h"

namespace attnscope::analysis {
namespace {

PointColumns columns_of(const std::vector<PointRecord>& records) {
  PointColumns columns;
  for (const PointRecord& record : records) columns.add(record);
  return columns;
}

/// All metric keys, and other metric names in the records.
std::set<std::string> metric_names(const std::vector<PointRecord>& records) {
  std::set<std::string> names{"no such metric"};
  for (const Metric& metric : metrics_table()) names.emplace(metric.key);
  for (const PointRecord& record : records) {
    for (const KernelRecord& kernel : record.kernels) {
      for (const MetricValue& value : kernel.metrics) names.insert(value.name);
    }
  }
  return names;
}

void expect_value(const std::optional<EvaluatedMetric>& got, const std::optional<MetricValue>& wanted) {
  ASSERT_EQ(got.has_value(), wanted.has_value());
  if (!wanted) return;
  EXPECT_EQ(got->name, wanted->name);
  EXPECT_EQ(got->value, wanted->value);
  EXPECT_EQ(got->unit, wanted->unit);
  EXPECT_EQ(got->provenance, wanted->provenance);
}

void expect_row(const PointColumns& columns, Row row, const PointRecord& record, const std::set<std::string>& names) {
  EXPECT_EQ(columns.spec(row), record.spec);
  EXPECT_EQ(columns.disposition(row), record.disposition);
  EXPECT_EQ(columns.reason(row), record.reason);
  EXPECT_EQ(columns.origin(row), record.origin());
  EXPECT_EQ(columns.throttled(row), record.clocks && record.clocks->throttled);
  EXPECT_EQ(columns.throttle_reasons(row), record.clocks ? record.clocks->throttle_reasons : 0);
  EXPECT_EQ(columns.sum(row).has_value(), record.kernel("all") != nullptr);
  const std::vector<RowKernel> kernels = columns.kernels(row);
  ASSERT_EQ(kernels.size(), record.kernels.size());
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    const std::string& kernel = record.kernels[i].kernel;
    EXPECT_EQ(kernels[i].name(), kernel);
    EXPECT_EQ(kernels[i].times(), summarize(record.kernels[i].samples_ns));
    for (const std::string& name : names) {
      SCOPED_TRACE(kernel + " " + name);
      expect_value(evaluate(name, kernels[i]), evaluate(name, record, kernel));
    }
    expect_value(dram_traffic(kernels[i]), dram_traffic(record, kernel));
    EXPECT_EQ(columns.round_values(row, metric_key::time_median_ns, kernel),
              round_values(metric_key::time_median_ns, record, kernel));
    EXPECT_EQ(columns.round_values(row, metric_key::dram_bytes, kernel),
              round_values(metric_key::dram_bytes, record, kernel));
  }
  EXPECT_EQ(columns.rounds(row), std::max<std::size_t>(record.rounds.size(), 1));
  EXPECT_EQ(columns.sm_clock_hz(row), record.clocks ? record.clocks->sm_clock_hz : 0);
}

void expect_rows(const PointColumns& columns, const std::vector<PointRecord>& records) {
  ASSERT_EQ(columns.size(), records.size());
  const std::set<std::string> names = metric_names(records);
  for (Row row = 0; row < columns.size(); ++row) {
    SCOPED_TRACE(describe(records[row].spec));
    expect_row(columns, row, records[row], names);
  }
}

/// Simulated sweep; one point is extrapolated.
std::vector<PointRecord> simulated_sweep() {
  const auto gpu = make_simulated_device(*find_gpu("H200"), built_in_algorithms());
  std::vector<PointRecord> records;
  for (const char* algorithm : {"naive", "fa2"}) {
    for (const std::int64_t n : {512, 2048, 16384}) {
      for (const CacheState cache : {CacheState::cold, CacheState::warm}) {
        PointSpec spec = fixtures::spec(algorithm, n, 128, 128);
        spec.problem.heads_q = spec.problem.heads_kv = 16;
        spec.cache = cache;
        records.push_back(gpu->measure(spec, {}, {}));
      }
    }
  }
  return records;
}

/// A point of several rounds with growing bytes and falling clock; the last has no counters.
PointRecord in_rounds(const PointSpec& spec, int rounds) {
  PointRecord point = fixtures::ok_point(spec);
  point.clocks = ClockReading{.sm_clock_hz = 2e9};
  for (int round = 1; round < rounds; ++round) {
    PointRecord again = fixtures::ok_point(spec);
    again.clocks = ClockReading{.sm_clock_hz = 2e9 - (1e6 * round), .throttle_reasons = 4, .throttled = true};
    for (KernelRecord& kernel : again.kernels) {
      for (MetricValue& metric : kernel.metrics) metric.value *= 1 + (0.01 * round);
      for (double& ns : kernel.samples_ns) ns += 100 * round;
      if (round == rounds - 1) kernel.metrics.clear();
    }
    add_round(point, round, again);
  }
  return point;
}

std::vector<PointRecord> diverse_points() {
  std::vector<PointRecord> records = fixtures::memory_wall();
  for (const auto& more : {fixtures::tile_sweep(), fixtures::peers(), fixtures::decoding(), fixtures::backward()}) {
    records.insert(records.end(), more.begin(), more.end());
  }
  PointRecord odd = fixtures::ok_point(fixtures::spec("naive", 1024));
  odd.clocks = ClockReading{.throttle_reasons = 4, .throttled = true};
  odd.kernels[0].metrics.push_back({"lts__t_sectors.sum", 12.5, "sector", Provenance::measured});
  // One name with two units, and a duplicate; the first one wins.
  odd.kernels[0].metrics.push_back({"lts__t_bytes.sum", 1, "byte", Provenance::measured});
  odd.kernels[0].metrics.push_back({"lts__t_bytes.sum", 2, "byte", Provenance::imported});
  odd.kernels[1].metrics.push_back({"lts__t_bytes.sum", 3, "sector", Provenance::derived});
  LaunchRecord& launch = odd.kernels[1].launch.emplace();
  launch.kernel = "qk";
  launch.source_file = "a.cuh";
  launch.entry = "qk";
  launch.defines = {"ATTN_WARPS=4"};
  records.push_back(odd);
  records.push_back(
      fixtures::failed_point(fixtures::spec("fa2", 77), Disposition::infeasible,
                             make_reason("refusal.head_dim", "d {} is not supported; supported: 64, 128.", 77)));
  PointRecord detailed = fixtures::ok_point(fixtures::decode_spec("splitkv", 4096));
  detailed.spec.knobs = {{"splits", 4}, {"nobody's", "word"}};
  detailed.spec.problem.mask = *parse_mask("window:255:0");
  detailed.spec.problem.dropout = 0.1;
  detailed.spec.problem.page = 64;
  detailed.spec.problem.deterministic = true;
  detailed.spec.cache = CacheState::warm;
  records.push_back(detailed);
  records.push_back(in_rounds(fixtures::spec("naive", 1024), 4));
  records.push_back(fixtures::ok_point(fixtures::spec("fa2", 4096)));
  records.push_back(in_rounds(fixtures::spec("fa2", 2048), 2));
  return records;
}

TEST(PointColumns, EqualTheRecords) {
  const std::vector<PointRecord> records = diverse_points();
  expect_rows(columns_of(records), records);
}

TEST(PointColumns, EqualASimulatedSweep) {
  const std::vector<PointRecord> records = simulated_sweep();
  std::set<Provenance> origins;
  for (const PointRecord& record : records) origins.insert(record.origin());
  ASSERT_THAT(origins, testing::ElementsAre(Provenance::simulated, Provenance::extrapolated));
  expect_rows(columns_of(records), records);
}

TEST(PointColumns, AppendRowsOfOtherColumns) {
  const std::vector<PointRecord> records = diverse_points();
  const PointColumns from = columns_of(records);
  const std::vector<PointRecord> simulated = simulated_sweep();
  PointColumns columns = columns_of(simulated);
  std::vector<PointRecord> wanted = simulated;
  std::vector<Row> rows;
  for (Row row = from.size(); row-- > 0;) {
    if (row % 3 == 1) continue;
    rows.push_back(row);
    wanted.push_back(records[row]);
  }
  columns.add(from, rows);
  columns.add(from, {});
  expect_rows(columns, wanted);
  columns.add(records[1]);
  wanted.push_back(records[1]);
  expect_rows(columns, wanted);
}

TEST(PointColumns, KeepRounds) {
  PointRecord point = fixtures::ok_point(fixtures::spec("fa2", 1024));
  const auto found = [&](double bytes, double ns, double hertz) {
    PointRecord one = point;
    one.rounds.clear();
    one.kernels = {KernelRecord{}};
    one.kernels[0].metrics = {{"dram_read_bytes", bytes, "byte", Provenance::measured},
                              {"dram_write_bytes", 1, "byte", Provenance::measured}};
    one.kernels[0].samples_ns = {ns, ns + 10};
    one.clocks = ClockReading{.sm_clock_hz = hertz};
    return one;
  };
  point = found(100, 1000, 1.5e9);
  add_round(point, 1, found(300, 3000, 1.7e9));
  add_round(point, 4, found(200, 2000, 1.6e9));
  const PointColumns columns = columns_of({fixtures::ok_point(fixtures::spec("naive", 512)), point});
  EXPECT_EQ(columns.rounds(0), 1U);
  EXPECT_EQ(columns.rounds(1), 3U);
  using testing::ElementsAre;
  using testing::Optional;
  EXPECT_THAT(columns.round_values(1, "dram_bytes"), ElementsAre(Optional(101), Optional(301), Optional(201)));
  EXPECT_THAT(columns.round_values(1, metric_key::time_median_ns),
              ElementsAre(Optional(1005), Optional(3005), Optional(2005)));
  EXPECT_THAT(columns.round_values(1, "l2_sm_bytes"), ElementsAre(std::nullopt, std::nullopt, std::nullopt));
  EXPECT_THAT(columns.round_values(1, metric_key::time_median_ns, "no such kernel"),
              ElementsAre(std::nullopt, std::nullopt, std::nullopt));
  EXPECT_THAT(columns.round_clocks(1),
              ElementsAre(RoundClock{0, 1.5e9, false}, RoundClock{1, 1.7e9, false}, RoundClock{4, 1.6e9, false}));
  EXPECT_THAT(columns.round_values(0, metric_key::time_median_ns),
              ElementsAre(Optional(columns.sum(0)->times()->median)));
  const auto scatter = quartiles_over_rounds("dram_bytes", *columns.sum(1));
  ASSERT_TRUE(scatter);
  EXPECT_EQ(scatter->q1, 151);
  EXPECT_EQ(scatter->q3, 251);
}

TEST(PointColumns, KeepKnobs) {
  PointRecord record = fixtures::ok_point(fixtures::spec("fa2", 1024));
  record.spec.knobs = {{"cluster", 4}, {"order", "up_and_down"}};
  const PointColumns columns = columns_of({fixtures::ok_point(fixtures::spec("fa2", 1024)), record});
  EXPECT_TRUE(columns.knobs()[0].empty());
  EXPECT_EQ(columns.knobs()[1], record.spec.knobs);
  EXPECT_EQ(columns.spec(1, {}).knobs, record.spec.knobs);
}

TEST(PointColumns, SameComparesSettingsOutcomeAndTimes) {
  const PointRecord first = fixtures::ok_point(fixtures::spec("naive", 1024));
  const PointColumns reference = columns_of({fixtures::ok_point(fixtures::spec("fa2", 512)), first});
  const auto same = [&](const PointRecord& other) {
    return PointColumns::same(reference, 1, columns_of({other}), 0) &&
           PointColumns::same(columns_of({other}), 0, reference, 1);
  };
  EXPECT_TRUE(same(first));
  std::vector<PointRecord> others(5, first);
  others[0].spec.problem.n_q = 1025;
  others[1].spec.knobs = {{"splits", 4}};
  others[2].disposition = Disposition::incorrect;
  others[3].kernels[1].samples_ns.assign(9, 1e6);
  others[4].kernels.pop_back();
  for (std::size_t i = 0; i < others.size(); ++i) EXPECT_FALSE(same(others[i])) << i;
}

}  // namespace
}  // namespace attnscope::analysis
