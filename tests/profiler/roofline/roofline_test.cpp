// SPDX-License-Identifier: Apache-2.0
#include "profiler/roofline/roofline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "kernels/registry.h"
#include "profiler/metrics/metrics.h"
#include "profiler/metrics/model_metrics.h"
#include "profiler/predict/exploration.h"
#include "tests/profiler/points/fixtures.h"

namespace attnscope::analysis {
namespace {

using fixtures::h200;
using fixtures::Points;
using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::SizeIs;

Ceiling measured_ceiling(std::string_view name, double value) {
  return {.name = std::string(name), .value = value, .unit = "", .source = CeilingSource::measured};
}

/// Round values, so that expected results are easy to compute by hand.
std::vector<Ceiling> simple_ceilings() {
  return {measured_ceiling(ceiling_key::dram_read, 4e12),  measured_ceiling(ceiling_key::l2_read, 8e12),
          measured_ceiling(ceiling_key::mma_fp16, 500e12), measured_ceiling(ceiling_key::wgmma_fp16, 800e12),
          measured_ceiling(ceiling_key::mma_bf16, 501e12), measured_ceiling(ceiling_key::exp2_fp32, 4e12),
          measured_ceiling("exp2_fp32_clock", 1.9e9)};
}

PointRecord timed_point(const PointSpec& spec, double ns, double dram, double l2_sm,
                        Provenance provenance = Provenance::measured) {
  PointRecord record;
  record.spec = spec;
  record.provenance = provenance;
  KernelRecord& all = kernel_record(record, "all");
  all.samples_ns = {ns};
  if (dram > 0) {
    all.metrics.push_back({std::string(metric_key::dram_read_bytes), dram, "byte", provenance});
    all.metrics.push_back({std::string(metric_key::dram_write_bytes), 0, "byte", provenance});
    all.metrics.push_back({std::string(metric_key::dram_writeback_bytes), 0, "byte", provenance});
  }
  if (l2_sm > 0) {
    all.metrics.push_back({std::string(metric_key::l2_to_sm_bytes), l2_sm, "byte", provenance});
    all.metrics.push_back({std::string(metric_key::sm_to_l2_bytes), 0, "byte", provenance});
  }
  return record;
}

RooflineReport report_of(const Points& points, RooflineRequest request = {}) {
  const PointTable table = points.table();
  if (request.device_id.empty()) request.device_id = table.runs().front().device_id;
  return roofline(table, table.rows(), request);
}

const Algorithm& known(std::string_view name) {
  return *built_in_algorithms().find(name);
}

AttentionProblem head(std::int64_t n, std::int64_t d, Pass pass = Pass::fwd) {
  return {.pass = pass, .batch = 1, .heads_q = 1, .heads_kv = 1, .n_q = n, .n_k = n, .d = d};
}

/// FLOPs per byte of the exact closed form.
double exact_intensity(std::string_view name, const AttentionProblem& p, const Config& config, RooflineLevel level) {
  const AttentionModel model = known(name).model(p, config, h200());
  EXPECT_FALSE(model.refusal);
  if (level == RooflineLevel::sm_l2) return pass_flops(p) / static_cast<double>(model.traffic().total());
  double once = 0;
  for (const KernelModel& kernel : model.kernels) once += kernel.work.distinct_bytes;
  return pass_flops(p) / once;
}

TEST(Roofs, MeasuredCeilingsHaveClocks) {
  const std::vector<Ceiling> ceilings = simple_ceilings();
  const std::vector<Roof> roofs = make_rooflines(h200(), {ceilings, true}, DType::fp16);
  ASSERT_THAT(roofs, SizeIs(6));
  for (const Roof& roof : roofs) {
    const bool link = roof.bound == Bound::link;
    EXPECT_EQ(roof.source, link ? RoofSource::datasheet : RoofSource::measured) << to_string(roof.bound);
  }
  EXPECT_EQ(find_roof(roofs, Bound::dram)->rate, 4e12);
  EXPECT_EQ(find_roof(roofs, Bound::l2)->rate, 8e12);
  EXPECT_EQ(find_roof(roofs, Bound::mma_sync)->rate, 500e12);
  EXPECT_EQ(find_roof(roofs, Bound::exp2)->clock_hz, 1.9e9);
  EXPECT_FALSE(find_roof(roofs, Bound::wgmma)->clock_hz);
  const std::vector<Roof> of_bf16 = make_rooflines(h200(), {ceilings, true}, DType::bf16);
  EXPECT_EQ(find_roof(of_bf16, Bound::mma_sync)->rate, 501e12);
  EXPECT_EQ(find_roof(of_bf16, Bound::mma_sync)->source, RoofSource::measured);
  EXPECT_EQ(find_roof(of_bf16, Bound::wgmma), nullptr) << "not measured for this dtype";
  EXPECT_EQ(find_roof(of_bf16, Bound::tensor)->rate, 989.4e12);
  EXPECT_EQ(find_roof(of_bf16, Bound::tensor)->source, RoofSource::datasheet);
  EXPECT_EQ(find_roof(roofs, Bound::tensor), nullptr) << "both instructions were measured";
  EXPECT_EQ(find_roof(make_rooflines(h200(), {ceilings, false}, DType::fp16), Bound::l2)->source, RoofSource::alike);
}

TEST(Roofs, Fp32IsLimitedByMultiplyAdds) {
  std::vector<Ceiling> ceilings = simple_ceilings();
  ceilings.push_back(measured_ceiling(ceiling_key::fma_fp32, 60e12));
  const std::vector<Roof> roofs = make_rooflines(h200(), {ceilings, true}, DType::fp32);
  for (const Bound bound : {Bound::mma_sync, Bound::wgmma, Bound::tensor}) EXPECT_EQ(find_roof(roofs, bound), nullptr);
  EXPECT_EQ(find_roof(roofs, Bound::fma)->rate, 60e12);
  EXPECT_EQ(find_roof(roofs, Bound::fma)->source, RoofSource::measured);
  EXPECT_EQ(find_roof(make_rooflines(h200(), {ceilings, true}, DType::fp16), Bound::fma), nullptr);
  // 132 SMs x 128 multiply-adds per cycle at 1.98 GHz.
  const std::vector<Roof> unmeasured = make_rooflines(h200(), {}, DType::fp32);
  EXPECT_NEAR(find_roof(unmeasured, Bound::fma)->rate, 2 * 132 * 128 * 1.98e9, 1e6);
  EXPECT_EQ(find_roof(unmeasured, Bound::fma)->source, RoofSource::architecture);
  EXPECT_EQ(find_roof(unmeasured, Bound::tensor), nullptr);
  PointSpec spec = fixtures::spec("elsewhere", 4096, 128, 128);
  spec.problem.dtype = DType::fp32;
  Points points;
  points.add({timed_point(spec, 10e6, 1e6, 1e6)}, fixtures::run());
  const RooflinePoint point = report_of(points).series.at(0).points.at(0);
  EXPECT_EQ(point.shares.at(0).bound, Bound::fma);
  EXPECT_NEAR(point.shares.at(0).ns, point.nominal_flops / (2 * 132 * 128 * 1.98), 1);
}

TEST(Roofs, DatasheetPeaksReplaceMissingMeasurements) {
  const std::vector<Roof> roofs = make_rooflines(h200(), {}, DType::fp16);
  EXPECT_EQ(find_roof(roofs, Bound::dram)->rate, 4.8e12);
  EXPECT_EQ(find_roof(roofs, Bound::dram)->source, RoofSource::datasheet);
  const std::vector<Ceiling> stated{
      {.name = std::string(ceiling_key::dram_read), .value = 1e12, .unit = "", .source = CeilingSource::datasheet}};
  EXPECT_EQ(find_roof(make_rooflines(h200(), {stated, true}, DType::fp16), Bound::dram)->rate, 4.8e12)
      << "not measured";
  EXPECT_EQ(find_roof(roofs, Bound::tensor)->rate, 989.4e12);
  EXPECT_EQ(find_roof(roofs, Bound::wgmma), nullptr) << "datasheet peaks belong to no instruction";
  // On Hopper, mma.sync keeps the tensor cores busy 1.5 times as long as wgmma.
  EXPECT_NEAR(find_roof(roofs, Bound::mma_sync)->rate, 659.6e12, 1e3);
  EXPECT_EQ(find_roof(roofs, Bound::mma_sync)->source, RoofSource::counted_share);
  EXPECT_EQ(find_roof(roofs, Bound::mma_sync)->clock_hz, find_roof(roofs, Bound::tensor)->clock_hz);
  // 4096 per cycle on 132 SMs; at boost clock this would be 1070.5 TFLOP/s.
  ASSERT_TRUE(find_roof(roofs, Bound::tensor)->clock_hz);
  EXPECT_THAT(*find_roof(roofs, Bound::tensor)->clock_hz, DoubleNear(1.83e9, 1e6));
  // 16 per clock on 132 SMs at 1.98 GHz; 32 bytes per clock and SM.
  EXPECT_THAT(find_roof(roofs, Bound::exp2)->rate, DoubleNear(4.18176e12, 1e6));
  EXPECT_EQ(find_roof(roofs, Bound::exp2)->clock_hz, 1.98e9);
  EXPECT_THAT(find_roof(roofs, Bound::l2)->rate, DoubleNear(8.36352e12, 1e6));
  EXPECT_EQ(find_roof(roofs, Bound::l2)->source, RoofSource::typical_for_model);
  const std::vector<Roof> of_a100 = make_rooflines(*find_gpu("a100"), {}, DType::fp16);
  EXPECT_EQ(find_roof(of_a100, Bound::tensor)->rate, 312e12);
  EXPECT_EQ(find_roof(of_a100, Bound::mma_sync), nullptr);
  // mma.sync converts 8-bit operands to 16 bits; wgmma has twice the 8-bit rate.
  const std::vector<Roof> fp8_weights_reference = make_rooflines(h200(), {}, DType::fp8);
  EXPECT_NEAR(find_roof(fp8_weights_reference, Bound::mma_sync)->rate, 659.6e12, 1e3);
  EXPECT_EQ(find_roof(fp8_weights_reference, Bound::tensor)->rate, 2 * 989.4e12);
  const DeviceLimits ada = *find_gpu("l40s");
  const std::vector<Roof> of_ada = make_rooflines(ada, {}, DType::fp8);
  EXPECT_EQ(find_roof(of_ada, Bound::mma_sync)->rate, ada.tensor_flops);
  EXPECT_EQ(find_roof(of_ada, Bound::mma_sync)->source, RoofSource::datasheet);
  // The A100 has only mma.sync; once measured, it needs no datasheet peak.
  const std::vector<Ceiling> mma{measured_ceiling(ceiling_key::mma_fp16, 290e12)};
  EXPECT_EQ(find_roof(make_rooflines(*find_gpu("a100"), {mma, true}, DType::fp16), Bound::tensor), nullptr);
  EXPECT_EQ(find_roof(make_rooflines(h200(), {mma, true}, DType::fp16), Bound::tensor)->rate, 989.4e12)
      << "wgmma was not measured";
  EXPECT_EQ(find_roof(of_a100, Bound::l2)->source, RoofSource::scaled_from_other_gpu);
  // Files do not store the clock; the GPU table has it.
  DeviceLimits read = h200();
  read.boost_hz = 0;
  EXPECT_THAT(find_roof(make_rooflines(read, {}, DType::fp16), Bound::exp2)->rate, DoubleNear(4.18176e12, 1e6));
}

// Two GPUs: the busiest has three quarters of the attention, each sends half of the bytes.
TEST(Roofs, SeveralGpusHaveALinkRoof) {
  PointSpec spec{.algorithm = "ring", .problem = head(4096, 128), .tile = {.br = 128, .bc = 128}};
  const PointRecord alone = timed_point(spec, 100e3, 0, 8e6);
  spec.problem.gpus = 2;
  PointRecord shared = timed_point(spec, 80e3, 0, 16e6);
  KernelRecord& all = kernel_record(shared, "all");
  all.metrics.push_back({std::string(metric_key::link_bytes), 40e6, "byte", Provenance::modeled});
  all.metrics.push_back({std::string(metric_key::gpu_imbalance), 1.5, "", Provenance::measured});
  all.metrics.push_back({std::string(metric_key::gpu_exposed_ns), 30e3, "ns", Provenance::measured});
  std::vector<Ceiling> ceilings = simple_ceilings();
  ceilings.push_back(measured_ceiling(ceiling_key::peer_copy_both_ways, 400e9));
  EXPECT_EQ(find_roof(report_of(Points({alone})).roofs, Bound::link), nullptr);
  const RooflineReport report = report_of(Points({shared}), {.device_id = {}, .ceilings = {ceilings, true}});
  ASSERT_NE(find_roof(report.roofs, Bound::link), nullptr);
  EXPECT_EQ(find_roof(report.roofs, Bound::link)->rate, 400e9);
  const RooflinePoint& point = report.series.at(0).points.at(0);
  EXPECT_EQ(point.ns, 80e3) << "whole time, including waits for the link";
  EXPECT_EQ(point.nominal_flops, 0.75 * 4 * 4096.0 * 4096 * 128);
  EXPECT_EQ(point.intensity(RooflineLevel::link), point.nominal_flops / 20e6);
  EXPECT_EQ(point.intensity(RooflineLevel::sm_l2), point.nominal_flops / 12e6);
  EXPECT_EQ(point.shares.front().bound, Bound::link);
  EXPECT_DOUBLE_EQ(point.shares.front().ns, 50e3);
  // One GPU sends its K and V: 2·2048·128 elements of 2 bytes.
  EXPECT_EQ(point.model_intensity(RooflineLevel::link), point.nominal_flops / (2 * 2048 * 128 * 2));
  // 4 attention launches move Q, K, V and O of 2048 x 128 values and 2048 LSE, 2 combine launches two O and LSE in and
  // one out: 4 x 2,105,344 + 2 x 1,597,440 bytes.
  ASSERT_TRUE(point.model_bytes.at(static_cast<std::size_t>(RooflineLevel::dram)));
  EXPECT_NEAR(*point.model_bytes.at(static_cast<std::size_t>(RooflineLevel::dram)) / (0.75 * 11'616'256), 1, 0.01);
}

TEST(Roofs, Exp2CeilingDependsOnD) {
  const Roof exponentials{.bound = Bound::exp2, .rate = 4e12};
  EXPECT_EQ(ceiling_flops(exponentials, softmax_flops_per_exponential(head(4096, 64))), 1024e12);
  EXPECT_EQ(ceiling_flops(exponentials, softmax_flops_per_exponential(head(4096, 128))), 2048e12);
  EXPECT_EQ(ceiling_flops(exponentials, softmax_flops_per_exponential(head(4096, 128, Pass::bwd))), 5120e12);
  EXPECT_EQ(ceiling_flops(exponentials, softmax_flops_per_exponential(head(4096, 128, Pass::fwd_bwd))), 3584e12);
  EXPECT_EQ(ceiling_flops({.bound = Bound::wgmma, .rate = 8e14}, 256), 8e14);
}

TEST(Roofline, SharesAreSortedByBound) {
  // FLOPs: 4 x 128 x 4096^2 x 16 heads = 1.3744e11, all executed; exponentials: 16 x 4096^2.
  PointSpec spec = fixtures::spec("fa2", 4096);
  spec.problem.heads_q = spec.problem.heads_kv = 16;
  const std::vector<Ceiling> ceilings = simple_ceilings();
  Points points;
  points.add({timed_point(spec, 400e3, 0.4e9, 1.6e9)}, fixtures::run());
  const RooflineReport report = report_of(points, {.device_id = {}, .ceilings = {ceilings, true}});
  ASSERT_THAT(report.series, SizeIs(1));
  ASSERT_THAT(report.series.front().points, SizeIs(1));
  const RooflinePoint& point = report.series.front().points.front();
  EXPECT_DOUBLE_EQ(point.nominal_flops, 137438953472.0);
  EXPECT_DOUBLE_EQ(point.flops_per_second(), 137438953472.0 / 400e-6);
  EXPECT_DOUBLE_EQ(point.executed_ratio(), 1);
  ASSERT_TRUE(point.intensity(RooflineLevel::dram) && point.intensity(RooflineLevel::sm_l2));
  EXPECT_NEAR(*point.intensity(RooflineLevel::dram), 343.597, 1e-3);
  EXPECT_NEAR(*point.intensity(RooflineLevel::sm_l2), 85.899, 1e-3);
  EXPECT_EQ(point.provenance, Provenance::derived);
  ASSERT_THAT(point.shares, SizeIs(4));
  // 1.374e11 / 500e12 = 275 us; 1.6e9 / 8e12 = 200 us; 0.4e9 / 4e12 = 100 us; 2.684e8 / 4e12 = 67 us.
  EXPECT_EQ(point.shares[0].bound, Bound::mma_sync);
  EXPECT_NEAR(point.shares[0].ns, 274877.9, 0.1);
  EXPECT_EQ(point.shares[1].bound, Bound::l2);
  EXPECT_NEAR(point.shares[1].ns, 200e3, 1e-6);
  EXPECT_EQ(point.shares[2].bound, Bound::dram);
  EXPECT_NEAR(point.shares[2].ns, 100e3, 1e-6);
  EXPECT_EQ(point.shares[3].bound, Bound::exp2);
  EXPECT_NEAR(point.shares[3].ns, 67108.864, 1e-3);
  EXPECT_NEAR(point.roof_share(), 0.6872, 1e-4);
}

TEST(Roofline, ImpossibleValuesHaveNoBound) {
  // 5e9 bytes in 1 ms: 5 TB/s, 104% of an H200's DRAM rate; in 0.9 ms 116%.
  const PointSpec spec = fixtures::spec("elsewhere", 1024);
  const auto point_of = [&](double ns, Provenance provenance) {
    Points points;
    points.add({timed_point(spec, ns, 5e9, 5e9, provenance)}, fixtures::run(provenance));
    return report_of(points).series.at(0).points.at(0);
  };
  EXPECT_FALSE(point_of(1e6, Provenance::imported).impossible);
  EXPECT_EQ(point_of(1e6, Provenance::imported).shares.front().bound, Bound::dram);
  const RooflinePoint above = point_of(0.9e6, Provenance::imported);
  ASSERT_TRUE(above.impossible);
  EXPECT_EQ(above.impossible->limit, BrokenLimit::dram_rate);
  EXPECT_NEAR(above.impossible->ratio(), 5e9 / 0.9e-3 / h200().dram_bytes_per_second, 1e-9);
  EXPECT_TRUE(above.shares.empty());
  EXPECT_FALSE(point_of(0.9e6, Provenance::measured).impossible) << "only what others state";
}

TEST(Roofline, RepeatedPointsUseTheFaster) {
  const PointSpec spec = fixtures::spec("fa2", 1024);
  Points points;
  points.add({timed_point(spec, 70e3, 1e8, 1e9), timed_point(spec, 50e3, 1e8, 1e9)}, fixtures::run());
  EXPECT_EQ(report_of(points).series.at(0).points.at(0).ns, 50e3);
}

TEST(Roofline, AlgorithmsUseTheirInstructionsCeiling) {
  const std::vector<Ceiling> ceilings = simple_ceilings();
  const auto matrix_bound = [&](const std::string& name, std::span<const Ceiling> measured) {
    Points points;
    points.add({timed_point(fixtures::spec(name, 4096, 128, 128), 400e3, 1e6, 1e6)}, fixtures::run());
    return report_of(points, {.device_id = {}, .ceilings = {measured, true}})
        .series.at(0)
        .points.at(0)
        .shares.at(0)
        .bound;
  };
  EXPECT_EQ(matrix_bound("fa2", ceilings), Bound::mma_sync);
  EXPECT_EQ(matrix_bound("fa3", ceilings), Bound::wgmma);
  EXPECT_EQ(matrix_bound("fa2", {}), Bound::mma_sync) << "fa2 runs no wgmma";
  EXPECT_EQ(matrix_bound("fa3", {}), Bound::tensor);
  EXPECT_EQ(matrix_bound("elsewhere", {}), Bound::tensor);
  const std::vector<Ceiling> wgmma_alone{measured_ceiling(ceiling_key::wgmma_fp16, 800e12)};
  EXPECT_EQ(matrix_bound("fa2", wgmma_alone), Bound::mma_sync);
  EXPECT_EQ(matrix_bound("fa3", wgmma_alone), Bound::wgmma);
  EXPECT_EQ(matrix_bound("elsewhere", ceilings), Bound::wgmma) << "unknown instruction";
  EXPECT_EQ(matrix_bound("elsewhere", wgmma_alone), Bound::tensor) << "it may use the other instruction";
}

TEST(Roofline, SharesMatchTheExplorer) {
  const PointSpec spec = fixtures::spec("fa2", 4096, 128, 64);
  const Exploration explored = explore({.spec = spec}, h200(), built_in_algorithms());
  Points points;
  points.add({timed_point(spec, explored.ns, 1e6, 1e6)}, fixtures::run());
  const RooflineReport report = report_of(points);
  const std::vector<BoundShare>& shares = report.series.at(0).points.at(0).shares;
  const auto of_mma = std::ranges::find(shares, Bound::mma_sync, &BoundShare::bound);
  ASSERT_NE(of_mma, shares.end());
  // The roof uses its own clock, the explorer the predicted clock of the launch.
  const double roof_hz = *find_roof(report.roofs, Bound::mma_sync)->clock_hz;
  const LaunchTime& launch = explored.kernels.at(explored.longest()).time;
  EXPECT_NEAR(of_mma->ns / explored.ns * roof_hz / launch.clock_hz, speed_of_light({&launch, 1}).of(GpuUnit::tensor),
              0.01);
}

TEST(Roofline, MaskedTilesCountAsExecuted) {
  // One head, N 256, tiles of 128 x 128: a causal mask keeps three of four tiles and 32,896 of 65,536 pairs.
  PointSpec spec = fixtures::spec("fa2", 256, 128, 128);
  spec.problem.batch = 1;
  spec.problem.heads_q = spec.problem.heads_kv = 1;
  spec.problem.mask = Mask::causal;
  Points points;
  points.add({timed_point(spec, 10e3, 1e6, 1e6)}, fixtures::run());
  const RooflineReport report = report_of(points);
  const RooflinePoint& point = report.series.at(0).points.at(0);
  EXPECT_DOUBLE_EQ(point.nominal_flops, 4.0 * 128 * 32896);
  EXPECT_DOUBLE_EQ(*point.executed_flops, 4.0 * 128 * 3 * 128 * 128);
  EXPECT_NEAR(point.executed_ratio(), 49152.0 / 32896, 1e-12);
  const auto exponentials = std::ranges::find(point.shares, Bound::exp2, &BoundShare::bound);
  EXPECT_NEAR(exponentials->ns, 49152 / 4.18176e12 * 1e9, 1e-9);
}

TEST(Roofline, CurvesUseTheFastestTile) {
  std::vector<PointRecord> records;
  for (const std::int64_t n : {4096, 1024}) {
    records.push_back(timed_point(fixtures::spec("fa2", n, 64, 64), 90e3, 1e8, 1e9));
    records.push_back(timed_point(fixtures::spec("fa2", n, 128, 64), n == 1024 ? 50e3 : 95e3, 1e8, 1e9));
  }
  records.push_back(timed_point(fixtures::spec("fa2", 2048), 0, 1e8, 1e9));
  records.back().kernels.front().samples_ns.clear();
  records.push_back(timed_point(fixtures::spec("fa2", 512), 80e3, 0, 0));
  records.push_back(fixtures::failed_point(fixtures::spec("fa2", 8192), Disposition::timeout, "long"));
  Points points;
  points.add(records, fixtures::run());
  const RooflineReport report = report_of(points);
  ASSERT_THAT(report.series, SizeIs(1));
  const std::vector<RooflinePoint>& line = report.series.front().points;
  ASSERT_THAT(line, SizeIs(2));
  EXPECT_EQ(line[0].n, 1024);
  EXPECT_EQ(line[0].tile.br, 128);
  EXPECT_EQ(line[1].n, 4096);
  EXPECT_EQ(line[1].tile.br, 64);
  EXPECT_EQ(report.without_time, 1U);
  EXPECT_EQ(report.without_bytes, 1U);
}

TEST(Roofline, ReportsOneDevice) {
  analysis::Run simulated = fixtures::run(Provenance::simulated, "sim");
  simulated.device_id = "SIM-NVIDIA-H200";
  Points points;
  points.add({timed_point(fixtures::spec("fa2", 1024), 1e5, 1e8, 1e9, Provenance::simulated)}, simulated);
  points.add({timed_point(fixtures::spec("fa2", 2048), 1e5, 1e8, 1e9)}, fixtures::run());
  const PointTable table = points.table();
  const std::vector<std::string> devices = roofline_devices(table, table.rows());
  EXPECT_THAT(devices, ElementsAre(fixtures::run().device_id, "SIM-NVIDIA-H200"));
  const RooflineReport report = roofline(table, table.rows(), {.device_id = devices[1], .ceilings = {}});
  ASSERT_THAT(report.series, SizeIs(1));
  EXPECT_EQ(report.series[0].points.at(0).n, 1024);
  EXPECT_EQ(report.series[0].points.at(0).provenance, Provenance::simulated);
}

// Textbook approximations for fp16 and large N, compared with the exact closed forms.

TEST(Intensity, StandardAttentionDramIntensityIsHalfD) {
  // 4 N^2 d / (2 B x (4 N^2 + 4 N d)) = d/2 / (1 + d/N).
  for (const std::int64_t d : {64, 128}) {
    for (const std::int64_t n : {4096, 16384}) {
      const Config config = known("naive").default_config(head(n, d), h200());
      const double exact = exact_intensity("naive", head(n, d), config, RooflineLevel::dram);
      const double by_hand = static_cast<double>(d) / 2 / (1 + static_cast<double>(d) / static_cast<double>(n));
      EXPECT_NEAR(exact / by_hand, 1, 1e-9) << d << " " << n;
    }
  }
}

TEST(Intensity, TiledAttentionIntensityIsHalfNAtDramAndBrAtL2) {
  // DRAM: 4 N^2 d / (8 N d + 4 N); N/2 ignores the LSE, a relative 1/(2 d).
  // SM<->L2: K and V once per tile of rows: 4 N^2 d / (4 N^2 d / Br + 4 N d + 4 N).
  for (const double d : {64.0, 128.0}) {
    for (const int br : {64, 128}) {
      const double n = 16384;
      const AttentionProblem p = head(16384, static_cast<std::int64_t>(d));
      const Config config{TileShape{.br = br, .bc = 64}};
      const double dram = exact_intensity("fa2", p, config, RooflineLevel::dram);
      EXPECT_NEAR(dram, 4 * n * n * d / (8 * n * d + 4 * n), 1e-6);
      EXPECT_NEAR(dram / (n / 2), 1 / (1 + 1 / (2 * d)), 1e-9);
      const double l2 = exact_intensity("fa2", p, config, RooflineLevel::sm_l2);
      EXPECT_NEAR(l2, 4 * n * n * d / (4 * n * n * d / br + 4 * n * d + 4 * n), 1e-6);
      EXPECT_NEAR(l2 / br, 1, 0.01) << "textbook form, approached from above";
    }
  }
  // At N 1024, Q and O are not negligible against 8 reads of K and V: Br is off by an eighth.
  const double small =
      exact_intensity("fa2", head(1024, 128), Config{TileShape{.br = 128, .bc = 64}}, RooflineLevel::sm_l2);
  EXPECT_NEAR(small / 128, 1 / (1 + 128.0 / 1024 * (1 + 1.0 / 128)), 1e-9);
}

TEST(Intensity, DecodingIntensityIsTheGroupSize) {
  // 4 G n_k d FLOPs for 2 n_k d elements of two bytes: G. Q, O and partial results are negligible for long n_k.
  for (const std::int64_t group : {1, 4, 8}) {
    AttentionProblem p{.batch = 4, .heads_q = 8 * group, .heads_kv = 8, .n_q = 1, .n_k = 65536, .d = 128};
    const Config config = known("splitkv").default_config(p, h200());
    for (const RooflineLevel level : {RooflineLevel::dram, RooflineLevel::sm_l2}) {
      const double exact = exact_intensity("splitkv", p, config, level);
      EXPECT_NEAR(exact / static_cast<double>(group), 1, 0.02) << group;
    }
  }
  // If heads are not packed, each loads K and V through the SMs: G applies to DRAM only.
  const AttentionProblem p{.batch = 4, .heads_q = 64, .heads_kv = 8, .n_q = 1, .n_k = 65536, .d = 128};
  const Config config = known("fa2").default_config(p, h200());
  EXPECT_NEAR(exact_intensity("fa2", p, config, RooflineLevel::sm_l2), 1, 0.01);
  EXPECT_NEAR(exact_intensity("fa2", p, config, RooflineLevel::dram), 8, 0.1);
}

}  // namespace
}  // namespace attnscope::analysis
