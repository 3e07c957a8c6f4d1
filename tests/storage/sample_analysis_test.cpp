// SPDX-License-Identifier: Apache-2.0
// Analysis results of the recorded samples.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kernels/model/device_limits.h"
#include "profiler/curves/curves.h"
#include "profiler/curves/law_exponents.h"
#include "profiler/metrics/metrics.h"
#include "profiler/points/impossible_values.h"
#include "profiler/tilemap/plot_list.h"
#include "storage/run_store.h"

namespace attnscope {
namespace {

using analysis::LawFamily;
using analysis::LawLevel;

/// Recorded sample: points and their table.
class Sample {
 public:
  Sample() {
    const RunStore store = RunStore::open(ATTNSCOPE_SAMPLE, RunStore::Mode::read_only);
    points_ = store.points();
    runs_ = store.runs();
    analysis::PointTableBuilder builder;
    std::vector<std::int64_t> ids;
    for (const RunSummary& summary : runs_) {
      analysis::Run run;
      run.device_id = summary.device_uuid;
      run.device_name = summary.device_name;
      run.title = run.label = summary.preset;
      run.started_at = summary.started_at;
      run.provenance = summary.provenance;
      run.limits = summary.limits;
      builder.add_run(run);
      ids.push_back(summary.id);
    }
    for (const StoredPoint& point : points_) {
      const auto place = std::ranges::find(ids, point.run_id) - ids.begin();
      builder.add(static_cast<analysis::RunIndex>(place), point.record);
    }
    table_ = std::move(builder).finish();
  }

  [[nodiscard]] const analysis::PointTable& table() const { return table_; }
  [[nodiscard]] const std::vector<StoredPoint>& points() const { return points_; }
  [[nodiscard]] const std::vector<RunSummary>& runs() const { return runs_; }
  [[nodiscard]] const RunSummary& run_of(const StoredPoint& point) const {
    return *std::ranges::find(runs_, point.run_id, &RunSummary::id);
  }

  /// Returns the curves of all problems that have some.
  [[nodiscard]] std::vector<analysis::CurveSet> all_curves(const analysis::CurveRequest& request) const {
    std::vector<analysis::CurveSet> sets;
    for (const analysis::Plot& plot : analysis::plan_plots(table_)) {
      if (plot.kind != analysis::PlotKind::bytes) continue;
      sets.push_back(analysis::build_curves(table_, plot.filter.rows(), request));
    }
    return sets;
  }

 private:
  std::vector<StoredPoint> points_;
  std::vector<RunSummary> runs_;
  analysis::PointTable table_;
};

const Sample& sample() {
  static const Sample loaded;
  return loaded;
}

const analysis::Curve* find(const analysis::CurveSet& set, const std::string& algorithm, analysis::CurveKind kind,
                            analysis::Quantity quantity) {
  const auto found = std::ranges::find_if(set.curves, [&](const analysis::Curve& curve) {
    return curve.name.algorithm == algorithm && curve.kind == kind && curve.quantity == quantity;
  });
  return found == set.curves.end() ? nullptr : &*found;
}

/// Returns the bytes of FA1's intermediates, which are written but not read from DRAM if they fit in L2: O, l and m in
/// fp32, once per row. (The backward pass accumulates dQ in fp32.)
double intermediate_bytes(const PointSpec& spec) {
  const AttentionProblem& p = spec.problem;
  const std::int64_t numbers = p.pass == Pass::fwd ? p.d + 2 : p.d;
  return static_cast<double>(p.instances() * p.n_q * numbers * 4);
}

/// Returns the N at which DRAM bytes are half way between compulsory bytes (all rereads hit in L2) and SM-L2 bytes
/// (none do). Interpolated in log N; nullopt if no two points bracket it.
std::optional<double> half_way_length(const analysis::CurveSet& set) {
  const analysis::Curve* dram = find(set, "fa1", analysis::CurveKind::measured, analysis::Quantity::dram);
  const analysis::Curve* sm_l2 = find(set, "fa1", analysis::CurveKind::measured, analysis::Quantity::sm_l2);
  const analysis::Curve* least = find(set, "", analysis::CurveKind::compulsory, analysis::Quantity::sm_l2);
  if (dram == nullptr || sm_l2 == nullptr || least == nullptr) return {};
  const auto value_at = [](const analysis::Curve& curve, double n) {
    return std::ranges::find(curve.points, n, &analysis::CurvePoint::n)->value;
  };
  std::optional<std::pair<double, double>> before;
  for (const analysis::CurvePoint& point : dram->points) {
    const double floor = value_at(*least, point.n) + intermediate_bytes(sample().table().spec(*point.row));
    const double risen = (point.value - floor) / (value_at(*sm_l2, point.n) - floor);
    if (before && before->second < 0.5 && risen >= 0.5) {
      const double part = (0.5 - before->second) / (risen - before->second);
      return before->first * std::pow(point.n / before->first, part);
    }
    before = {point.n, risen};
  }
  return {};
}

TEST(SampleAnalysis, ColumnsEqualPointValues) {
  const analysis::PointTable& table = sample().table();
  ASSERT_EQ(table.size(), sample().points().size());
  for (const Metric& metric : metrics_table()) {
    const analysis::ValueColumn& column = table.values(metric.key);
    for (analysis::Row row = 0; row < table.size(); ++row) {
      const auto wanted = evaluate(metric.key, sample().points()[row].record);
      ASSERT_EQ(column.has(row), wanted.has_value()) << metric.key << ' ' << row;
      if (!wanted) continue;
      EXPECT_EQ(column.value(row), wanted->value) << metric.key << ' ' << row;
      EXPECT_EQ(column.provenance(row), wanted->provenance) << metric.key << ' ' << row;
    }
  }
  for (analysis::Row row = 0; row < table.size(); ++row) {
    const PointRecord& record = sample().points()[row].record;
    EXPECT_EQ(table.spec(row), record.spec);
    EXPECT_EQ(table.disposition(row), record.disposition);
    EXPECT_EQ(table.reason(row), record.reason);
  }
}

TEST(Sample, EveryPointIsOkOrHasAReason) {
  std::map<Disposition, int> ended;
  for (const StoredPoint& point : sample().points()) {
    const PointRecord& record = point.record;
    ++ended[record.disposition];
    if (record.disposition == Disposition::ok) {
      if (record.provenance == Provenance::imported) continue;
      ASSERT_TRUE(record.max_abs_error && record.error_bound) << describe(record.spec);
      EXPECT_LE(*record.max_abs_error, *record.error_bound) << describe(record.spec);
      for (const KernelRecord& kernel : record.kernels) {
        const auto local = kernel.metric(metric_key::local_bytes);
        EXPECT_EQ(local.value_or(0), 0) << describe(record.spec) << ": it spills registers";
      }
    } else {
      EXPECT_FALSE(record.reason.empty()) << describe(record.spec);
    }
  }
  EXPECT_EQ(ended, (std::map<Disposition, int>{
                       {Disposition::ok, 709}, {Disposition::infeasible, 200}, {Disposition::out_of_memory, 2}}));
}

TEST(Sample, RunsContainNoHostDetails) {
  for (const RunSummary& run : sample().runs()) {
    for (const std::string& word : run.argv) EXPECT_FALSE(word.starts_with('/')) << word;
  }
}

/// Returns DRAM bytes relative to the lower bound: compulsory bytes plus the log-sum-exp of each row.
double relative_to_lower_bound(const PointRecord& record) {
  const AttentionProblem& p = record.spec.problem;
  const double least =
      evaluate(metric_key::model_compulsory_bytes, record)->value + static_cast<double>(p.instances() * p.n_q * 4);
  return evaluate(metric_key::dram_settled_bytes, record)->value / least;
}

TEST(Sample, BytesAreAtLeastCompulsory) {
  int counted = 0;
  int below_without_write_back = 0;
  for (const StoredPoint& point : sample().points()) {
    const PointRecord& record = point.record;
    if (record.disposition != Disposition::ok || record.provenance == Provenance::imported) continue;
    ASSERT_EQ(record.spec.cache, CacheState::cold);
    const auto settled = evaluate(metric_key::dram_settled_bytes, record);
    ASSERT_TRUE(settled) << describe(record.spec);
    EXPECT_EQ(settled->provenance, Provenance::measured);
    const double least = evaluate(metric_key::model_compulsory_bytes, record)->value;
    EXPECT_GE(settled->value / least, 1) << describe(record.spec);
    EXPECT_NEAR(evaluate(metric_key::dram_over_compulsory, record)->value, settled->value / least, 1e-12);
    below_without_write_back += evaluate(metric_key::dram_bytes, record)->value < 0.99 * least ? 1 : 0;
    ++counted;
  }
  EXPECT_EQ(counted, 627);
  EXPECT_EQ(below_without_write_back, 280) << "without write-back bytes, points fall below the bound";
}

// A file of another program with the same values is not flagged.
TEST(Sample, NoValueIsImpossible) {
  for (const StoredPoint& point : sample().points()) {
    PointRecord record = point.record;
    record.provenance = Provenance::imported;
    const auto found = analysis::impossible_value(record, sample().run_of(point).limits);
    EXPECT_FALSE(found) << text(describe(*found, sample().run_of(point).limits));
  }
}

// Beyond L2 capacity, K and V still come from DRAM once for any N: each byte is read N/Br times and hits in L2.
// Exceptions: two blocks per SM (fa2 at d 128) or several heads (fa3 with a causal mask) read 16 MiB of K and V at
// once, a quarter of L2; 0.1% to 0.5% of those reads miss, which adds up at N/Br of 32 to 128. With a sliding window 1%
// misses, because a wave of blocks touches that much between two reads of a key.
TEST(Sample, FlashForwardReadsKeysFromDramOnce) {
  std::vector<std::string> farther;
  int within = 0;
  for (const StoredPoint& point : sample().points()) {
    const PointRecord& record = point.record;
    const std::string& algorithm = record.spec.algorithm;
    if ((algorithm != "fa2" && algorithm != "fa3") || record.disposition != Disposition::ok) continue;
    const AttentionProblem& p = record.spec.problem;
    const RunSummary& run = sample().run_of(point);
    const double compulsory = evaluate(metric_key::model_compulsory_bytes, record)->value;
    if (p.pass != Pass::fwd || p.n_q == 1 || compulsory <= static_cast<double>(run.limits.l2_bytes)) continue;
    const double ratio = relative_to_lower_bound(record);
    EXPECT_GE(ratio, 1) << describe(record.spec);
    if (ratio <= 1.01) {
      ++within;
      continue;
    }
    farther.push_back(
        fmt::format("{} {} d {} N {} {} {:.2f}", run.preset, algorithm, p.d, p.n_q, to_string(p.mask), ratio));
    const double read_again = evaluate(metric_key::l2_to_sm_bytes, record)->value - compulsory;
    EXPECT_LT((ratio - 1) * compulsory / read_again, 0.005) << describe(record.spec);
  }
  EXPECT_EQ(within, 273);
  EXPECT_THAT(farther, ::testing::UnorderedElementsAre(
                           "quick fa2 d 128 N 4096 full 1.02", "memory-wall fa2 d 128 N 4096 full 1.01",
                           "memory-wall fa2 d 128 N 8192 full 1.03", "memory-wall fa2 d 128 N 16384 full 1.09",
                           "masks fa2 d 128 N 4096 full 1.02", "masks fa2 d 128 N 8192 full 1.05",
                           "masks fa2 d 128 N 16384 full 1.19", "masks fa3 d 128 N 4096 causal 1.03",
                           "masks fa3 d 128 N 8192 causal 1.07", "masks fa3 d 128 N 16384 causal 1.10",
                           "masks fa2 d 128 N 16384 window:1024:0 1.01"));
}

// Occupancy reported by the driver when the sample was recorded.
TEST(Sample, OccupancyEqualsTheDriversForEveryLaunch) {
  std::size_t launches = 0;
  for (const StoredPoint& point : sample().points()) {
    for (const KernelRecord& kernel : point.record.kernels) {
      const auto of_driver = kernel.metric(metric_key::theoretical_occupancy_pct);
      if (!kernel.launch || !of_driver) continue;
      const LaunchRecord& launch = *kernel.launch;
      const LaunchFootprint footprint{.blocks = std::numeric_limits<std::int32_t>::max(),
                                      .threads_per_block = launch.threads,
                                      .registers_per_thread = launch.registers,
                                      .shared_bytes = launch.static_shared_bytes + launch.dynamic_shared_bytes};
      EXPECT_DOUBLE_EQ(theoretical_occupancy(sample().run_of(point).limits, footprint).warps_pct, *of_driver)
          << describe(point.record.spec) << ' ' << kernel.kernel;
      ++launches;
    }
  }
  EXPECT_GT(launches, 700U);
}

// Checks the claim in explanation.md.
TEST(Sample, Fa3TimeIsNotProportionalToBytes) {
  std::map<int, const PointRecord*> of_rows;
  for (const StoredPoint& point : sample().points()) {
    const PointSpec& spec = point.record.spec;
    if (sample().run_of(point).preset == "tiles" && spec.algorithm == "fa3" && spec.tile.bc == 128 &&
        point.record.disposition == Disposition::ok) {
      of_rows[spec.tile.br] = &point.record;
    }
  }
  ASSERT_TRUE(of_rows.contains(64) && of_rows.contains(128));
  const auto ratio = [&](std::string_view key) {
    return evaluate(key, *of_rows[64])->value / evaluate(key, *of_rows[128])->value;
  };
  EXPECT_NEAR(ratio(metric_key::l2_sm_bytes), 1.9, 0.05);
  EXPECT_NEAR(ratio(metric_key::time_median_ns), 1.16, 0.005);
}

// L2 holds FA1's working set at short N but not at long ones; the half-way N lies within the L2 band.
TEST(SampleAnalysis, L2BandContainsFa1HalfWayLength) {
  analysis::CurveRequest request;
  request.algorithms = {"fa1"};
  int bands = 0;
  for (const analysis::CurveSet& set : sample().all_curves(request)) {
    const auto half = half_way_length(set);
    if (!half) continue;
    ASSERT_EQ(set.boundaries.size(), 1U);
    const analysis::L2Boundary& band = set.boundaries.front().at;
    const analysis::Curve* any = find(set, "fa1", analysis::CurveKind::measured, analysis::Quantity::dram);
    const std::string problem = describe(sample().table().spec(*any->points.front().row));
    EXPECT_GE(*half, band.n_low) << problem << ", nominal " << band.n_nominal;
    EXPECT_LE(*half, band.n_high) << problem << ", nominal " << band.n_nominal;
    ++bands;
  }
  EXPECT_GE(bands, 5);
}

class LawSample : public ::testing::Test {
 protected:
  void SetUp() override {
    const RunStore store = RunStore::open(ATTNSCOPE_LAW_SAMPLE, RunStore::Mode::read_only);
    const std::vector<RunSummary> runs = store.runs();
    ASSERT_EQ(runs.size(), 1U);
    analysis::PointTableBuilder builder;
    builder.add_run({.device_id = runs[0].device_uuid,
                     .device_name = runs[0].device_name,
                     .title = runs[0].preset,
                     .label = {},
                     .started_at = runs[0].started_at,
                     .provenance = runs[0].provenance,
                     .limits = runs[0].limits});
    for (const StoredPoint& point : store.points()) builder.add(0, point.record);
    table = std::move(builder).finish();
    report = analysis::fit_law_exponents(table, table.rows());
    ASSERT_EQ(report.families.size(), 4U);
  }
  [[nodiscard]] const LawFamily& family(const std::string& algorithm, LawLevel level) const {
    return *std::ranges::find_if(
        report.families, [&](const LawFamily& each) { return each.algorithm == algorithm && each.level == level; });
  }

  analysis::PointTable table;
  analysis::LawReport report;
};

TEST_F(LawSample, SmL2BytesEqualClosedForms) {
  for (const char* algorithm : {"fa1", "fa2"}) {
    const LawFamily& counted = family(algorithm, LawLevel::sm_l2);
    ASSERT_FALSE(counted.refusal.has_value()) << text(refusal_text(counted));
    EXPECT_EQ(counted.provenance, Provenance::derived);
    for (const analysis::LawPoint& point : counted.points) {
      EXPECT_NEAR(point.bytes / *point.model_bytes, 1, 1e-3) << describe(table.spec(point.row));
    }
    for (std::size_t k = 0; k < law_variable_count; ++k) {
      EXPECT_NEAR(counted.fit->exponents[k], counted.closed_form->exponents[k], 1e-3) << algorithm;
    }
  }
}

TEST_F(LawSample, Fa1SettledDramBytesFollowTheLaw) {
  const LawFamily& counted = family("fa1", LawLevel::dram);
  ASSERT_FALSE(counted.refusal.has_value()) << text(refusal_text(counted));
  EXPECT_EQ(counted.points.size(), 44U);
  EXPECT_EQ(counted.cached, 0U);
  for (std::size_t k = 0; k < law_variable_count; ++k) {
    EXPECT_TRUE(counted.fit->intervals[k].contains(counted.closed_form->exponents[k])) << k;
    EXPECT_NEAR(counted.fit->exponents[k], counted.law.exponents[k], 0.05);
  }
  // Bytes span a factor of 1,800, but their ratios to the law differ by less than 20%.
  EXPECT_GT(counted.bytes_ratio, 1500);
  EXPECT_LT(counted.band.high / counted.band.low, 1.2);
}

TEST_F(LawSample, Fa2DramBytesAreIndependentOfM) {
  const LawFamily& counted = family("fa2", LawLevel::dram);
  EXPECT_FALSE(counted.cycles);
  ASSERT_FALSE(counted.refusal.has_value()) << text(refusal_text(counted));
  EXPECT_NEAR(counted.fit->exponents[0], 1, 0.03);
  EXPECT_NEAR(counted.fit->exponents[1], 1, 0.03);
  EXPECT_NEAR(counted.fit->exponents[2], 0, 0.01);
}

}  // namespace
}  // namespace attnscope
