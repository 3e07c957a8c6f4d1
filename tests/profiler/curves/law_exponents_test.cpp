// SPDX-License-Identifier: Apache-2.0
#include "profiler/curves/law_exponents.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>
#include <vector>

#include "kernels/model/io_model.h"
#include "profiler/metrics/metrics.h"
#include "profiler/metrics/model_metrics.h"
#include "tests/message_matchers.h"
#include "tests/profiler/points/fixtures.h"

namespace attnscope::analysis {
namespace {

using fixtures::Points;
using ::testing::IsEmpty;
using ::testing::SizeIs;

struct At {
  std::int64_t n = 0;
  std::int64_t d = 0;
  std::int64_t m = 0;
};

/// Values of N, d and M in the preset `law`.
std::vector<At> preset_points() {
  std::vector<At> all;
  for (const std::int64_t n : {3072, 6144, 12288}) {
    for (const std::int64_t d : {32, 64, 128}) {
      for (const std::int64_t m : {8192, 16384, 32768, 65536, 114688}) all.push_back({n, d, m});
    }
  }
  return all;
}

PointSpec spec_at(const std::string& algorithm, const At& at) {
  const TileSide side = algorithm == "fa1" ? TileSide::bc : TileSide::br;
  const TileShape tile = tile_of_memory(at.m, at.d, side);
  return fixtures::spec(algorithm, at.n, tile.br, tile.bc, at.d);
}

/// Returns a measured point with these bytes at a level.
PointRecord point_with(const PointSpec& spec, double bytes, LawLevel level = LawLevel::sm_l2,
                       Provenance provenance = Provenance::measured) {
  PointRecord record;
  record.spec = spec;
  record.provenance = provenance;
  KernelRecord& all = kernel_record(record, "all");
  if (level == LawLevel::sm_l2) {
    all.metrics.push_back({std::string(metric_key::l2_to_sm_bytes), bytes, "byte", provenance});
    all.metrics.push_back({std::string(metric_key::sm_to_l2_bytes), 0, "byte", provenance});
  } else {
    all.metrics.push_back({std::string(metric_key::dram_settled_bytes), bytes, "byte", provenance});
  }
  return record;
}

using Bytes = std::function<double(const PointSpec&, const At&)>;

std::vector<PointRecord> points_with(const std::string& algorithm, const std::vector<At>& where, const Bytes& bytes,
                                     LawLevel level = LawLevel::sm_l2) {
  std::vector<PointRecord> records;
  for (const At& at : where) {
    const PointSpec spec = spec_at(algorithm, at);
    records.push_back(point_with(spec, bytes(spec, at), level));
  }
  return records;
}

LawReport report_of(const std::vector<PointRecord>& records) {
  const PointTable table = Points(records).table();
  return fit_law_exponents(table, table.rows());
}

/// 132 heads with 3 N^2 d^2 / M elements of 2 bytes.
double triple_law_bytes(const PointSpec& spec, const At& at) {
  const auto n = static_cast<double>(spec.problem.n_k);
  const auto d = static_cast<double>(spec.problem.d);
  return 132 * 2 * 3 * n * n * d * d / static_cast<double>(at.m);
}

TEST(LawExponents, FitsExactLaw) {
  const LawReport report = report_of(points_with("fa1", preset_points(), triple_law_bytes));
  ASSERT_THAT(report.families, SizeIs(1));
  const LawFamily& family = report.families[0];
  EXPECT_FALSE(family.refusal.has_value());
  ASSERT_TRUE(family.fit.has_value());
  EXPECT_NEAR(family.fit->exponents[0], 2, 1e-9);
  EXPECT_NEAR(family.fit->exponents[1], 2, 1e-9);
  EXPECT_NEAR(family.fit->exponents[2], -1, 1e-9);
  for (const Interval& interval : family.fit->intervals) EXPECT_LT(interval.high - interval.low, 1e-9);
  // Excluded: d 32, M 114,688, N 3072, because M exceeds N d = 98,304.
  EXPECT_EQ(family.points.size(), 44U);
  EXPECT_EQ(family.outside, 1U);
  EXPECT_EQ(family.provenance, Provenance::derived);
  EXPECT_NEAR(family.band.low, 3, 1e-9);
  EXPECT_NEAR(family.band.median, 3, 1e-9);
  EXPECT_NEAR(family.band.high, 3, 1e-9);
  // N^2 varies by 16, d^2 by 16 and M by 14; the point with the least bytes (N 3072, d 32, M 114,688) is excluded.
  EXPECT_NEAR(family.bytes_ratio, 16 * 16 * 8, 1e-6);
  EXPECT_EQ(report.others, 0U);
}

// Expected values: formulas of Algorithm 1 and of FlashAttention-2 in 16 bits, with O, l and m of FA1 in fp32 between
// key tiles, fitted in a separate program. FA1: 4Nd + Tc N (10d + 16) + N (2d + 8) bytes per head. FA2: 4Nd + 4N + 4 Tr
// N d.
TEST(LawExponents, FitsClosedForm) {
  const auto modeled = [](const PointSpec& spec, const At&) {
    const AttentionModel model =
        built_in_algorithms().find(spec.algorithm)->model(spec.problem, spec.config(), fixtures::h200());
    return static_cast<double>(model.traffic().total());
  };
  const LawReport fa1 = report_of(points_with("fa1", preset_points(), modeled));
  ASSERT_THAT(fa1.families, SizeIs(1));
  const PowerLawFit& first = *fa1.families[0].fit;
  EXPECT_NEAR(first.exponents[0], 1.983, 0.0006);
  EXPECT_NEAR(first.exponents[1], 1.957, 0.0006);
  EXPECT_NEAR(first.exponents[2], -0.979, 0.0006);
  EXPECT_NEAR(first.worst(), 0.042, 0.0006);
  ASSERT_TRUE(fa1.families[0].closed_form.has_value());
  EXPECT_EQ(fa1.families[0].closed_form->exponents, first.exponents);
  EXPECT_NEAR(fa1.families[0].band.low, 20.27, 0.006);
  EXPECT_NEAR(fa1.families[0].band.high, 23.26, 0.006);

  std::vector<At> runs;  // tiles of 896 and 512 query rows have no kernel
  for (const At& at : preset_points()) {
    const PointSpec spec = spec_at("fa2", at);
    if (!built_in_algorithms().find("fa2")->refusal(spec.problem, spec.config(), fixtures::h200())) runs.push_back(at);
  }
  const LawReport fa2 = report_of(points_with("fa2", runs, modeled));
  ASSERT_THAT(fa2.families, SizeIs(1));
  EXPECT_FALSE(fa2.families[0].refusal.has_value());
  EXPECT_NEAR(fa2.families[0].band.low, 8.01, 0.006) << "2 N^2 d / Br with Br = M / 4d";
}

TEST(LawExponents, ExponentIntervalsHaveNominalCoverage) {
  std::mt19937_64 random(20220527);
  std::normal_distribution<double> scatter(0, 0.05);
  int held = 0;
  constexpr int trials = 400;
  for (int trial = 0; trial < trials; ++trial) {
    std::array<std::vector<double>, 3> x;
    std::vector<double> y;
    for (const At& at : preset_points()) {
      const std::array<double, 3> values{static_cast<double>(at.n), static_cast<double>(at.d),
                                         static_cast<double>(at.m)};
      for (std::size_t k = 0; k < 3; ++k) x.at(k).push_back(values.at(k));
      y.push_back(20 * std::pow(values[0], 2) * std::pow(values[1], 2) / values[2] * std::exp(scatter(random)));
    }
    const auto fit = fit_power_law(x, y);
    ASSERT_TRUE(fit.has_value());
    held += fit->intervals[0].contains(2) + fit->intervals[1].contains(2) + fit->intervals[2].contains(-1);
  }
  // 95% of 1200 plus or minus four standard deviations of 7.5.
  EXPECT_GT(held, 1110);
  EXPECT_LT(held, 1170);
}

TEST(LawExponents, WithholdsUnreliableExponents) {
  const auto of = [](const std::vector<At>& where, const Bytes& bytes) {
    const LawReport report = report_of(points_with("fa1", where, bytes));
    EXPECT_THAT(report.families, SizeIs(1));
    return report.families.at(0);
  };
  const auto words = [](const LawFamily& family) { return text(refusal_text(family)); };

  const LawFamily few = of({{3072, 64, 8192}, {6144, 64, 16384}, {3072, 128, 8192}}, triple_law_bytes);
  EXPECT_EQ(few.refusal, ExponentRefusal::too_few);
  EXPECT_THAT(words(few), test::HasWords("3"));

  std::vector<At> one_d;
  for (const At& at : preset_points()) {
    if (at.d == 64) one_d.push_back(at);
  }
  const LawFamily fixed = of(one_d, triple_law_bytes);
  EXPECT_EQ(fixed.refusal, ExponentRefusal::constant);
  EXPECT_THAT(words(fixed), test::HasWords("d"));

  std::vector<At> linked;
  for (std::int64_t i = 1; i <= 10; ++i) linked.push_back({1024 * i, i % 2 == 0 ? 64 : 128, 65536});
  for (At& at : linked) at.m = at.d * 256;
  const LawFamily entangled = of(linked, triple_law_bytes);
  EXPECT_EQ(entangled.refusal, ExponentRefusal::entangled);

  const LawFamily outlier = of(preset_points(), [](const PointSpec& spec, const At& at) {
    const bool odd = at.n == 6144 && at.d == 64 && at.m == 32768;
    return triple_law_bytes(spec, at) * (odd ? 1.5 : 1);
  });
  EXPECT_EQ(outlier.refusal, ExponentRefusal::misses);
  EXPECT_THAT(words(outlier), test::HasWords("6,144 64 32,768"));

  // Alternating points 15% off: no outlier, but not a power law either.
  bool up = false;
  const LawFamily scattered = of(preset_points(), [&](const PointSpec& spec, const At& at) {
    up = !up;
    return triple_law_bytes(spec, at) * (up ? 1.15 : 1 / 1.15);
  });
  EXPECT_EQ(scattered.refusal, ExponentRefusal::misses);
  EXPECT_EQ(scattered.reported_fit(), nullptr);

  std::mt19937_64 random(7);
  std::normal_distribution<double> scatter(0, 3);
  const LawFamily noise = of(preset_points(), [&](const PointSpec& spec, const At& at) {
    return triple_law_bytes(spec, at) * std::exp(scatter(random));
  });
  EXPECT_EQ(noise.refusal, ExponentRefusal::vague);
}

TEST(LawExponents, SkipsDramPointsWithinL2) {
  std::vector<At> where = preset_points();
  for (const std::int64_t m : {8192, 16384}) where.push_back({256, 64, m});  // 132 heads, 392 bytes per row: 13 MB
  where.push_back({768, 64, 8192});  // 40 of 63 MB: L2 still serves some rereads
  const LawReport report = report_of(points_with("fa1", where, triple_law_bytes, LawLevel::dram));
  ASSERT_THAT(report.families, SizeIs(1));
  EXPECT_EQ(report.families[0].level, LawLevel::dram);
  EXPECT_TRUE(report.families[0].cycles);
  EXPECT_EQ(report.families[0].cached, 3U);
  EXPECT_EQ(report.families[0].points.size(), 44U);
}

TEST(LawExponents, UsesDistinctBytesIfL2ServesRereads) {
  // Q, K, V and O (2 bytes) and LSE (4 bytes) once: 8 N d + 4 N per head.
  const LawReport report = report_of(points_with(
      "fa2",
      {{3072, 64, 8192},
       {6144, 64, 8192},
       {3072, 128, 8192},
       {6144, 128, 8192},
       {3072, 64, 16384},
       {6144, 64, 16384},
       {3072, 128, 16384},
       {6144, 128, 16384}},
      [](const PointSpec& spec, const At&) {
        const auto n = static_cast<double>(spec.problem.n_k);
        return 132 * n * (8 * static_cast<double>(spec.problem.d) + 4);
      },
      LawLevel::dram));
  ASSERT_THAT(report.families, SizeIs(1));
  const LawFamily& family = report.families[0];
  EXPECT_FALSE(family.cycles);
  EXPECT_FALSE(family.refusal.has_value());
  for (const LawPoint& point : family.points) EXPECT_DOUBLE_EQ(*point.model_bytes, point.bytes);
  EXPECT_NEAR(family.fit->exponents[0], 1, 1e-9);
  EXPECT_NEAR(family.fit->exponents[1], std::log2((8 * 128 + 4) / (8.0 * 64 + 4)), 1e-9);
  EXPECT_NEAR(family.fit->exponents[2], 0, 1e-9);
}

TEST(LawExponents, KeepsRunsAndProblemsSeparate) {
  std::vector<PointRecord> causal = points_with("fa1", preset_points(), triple_law_bytes);
  for (PointRecord& record : causal) record.spec.problem.mask = Mask::causal;
  const std::vector<PointRecord> full = points_with("fa1", preset_points(), triple_law_bytes);
  std::vector<PointRecord> both = full;
  both.insert(both.end(), causal.begin(), causal.end());
  const PointTable table = Points(both).add(full, fixtures::run(Provenance::simulated, "again")).table();
  const LawReport report = fit_law_exponents(table, table.rows());
  ASSERT_THAT(report.families, SizeIs(3));
  for (const LawFamily& family : report.families) EXPECT_EQ(family.points.size(), 44U);
}

TEST(LawExponents, IgnoresTilesOutsideTheRule) {
  std::vector<PointRecord> records;
  for (const At& at : preset_points()) {
    records.push_back(point_with(fixtures::spec("fa1", at.n, 128, 64, 128), 1e9));  // the rule requires Br <= Bc
    records.push_back(point_with(fixtures::spec("naive", at.n, 128, 128, at.d), 1e9));
  }
  EXPECT_THAT(report_of(records).families, IsEmpty());
  // A curve over N with one tile varies only one of N, d and M.
  const LawReport curve =
      report_of(points_with("fa1", {{1024, 64, 8192}, {2048, 64, 8192}, {4096, 64, 8192}}, triple_law_bytes));
  EXPECT_THAT(curve.families, IsEmpty());
  EXPECT_EQ(curve.others, 1U);
}

}  // namespace
}  // namespace attnscope::analysis
