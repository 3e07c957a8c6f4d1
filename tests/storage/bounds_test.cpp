// SPDX-License-Identifier: Apache-2.0
#include "storage/bounds.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <tuple>
#include <vector>

#include "storage/compared_runs.h"
#include "tests/storage/samples.h"

namespace attnscope {
namespace {

using ::testing::ElementsAre;

PointRecord record_with(const std::function<void(PointRecord&)>& change) {
  PointRecord record = testing::simple_record(1024);
  record.clocks.emplace();
  record.kernels.push_back(record.kernels[0]);  // what is changed is the second kernel
  record.kernels[1].kernel = "fwd";
  change(record);
  return record;
}

// Each value with the nearest one beyond its limit.
TEST(Bounds, LimitsAreInclusive) {
  const auto sample = [](double ns) { return [ns](PointRecord& p) { p.kernels[1].samples_ns.back() = ns; }; };
  const auto metric = [](const char* unit, double value) {
    return [=](PointRecord& p) { p.kernels[1].metrics.back() = {"mine", value, unit, Provenance::measured}; };
  };
  const auto name = [](std::size_t size) { return [size](PointRecord& p) { p.kernels[1].kernel.assign(size, 'a'); }; };
  const auto grid = [](std::uint32_t extent) {
    return [extent](PointRecord& p) { p.kernels[1].launch.emplace().grid[2] = extent; };
  };
  const auto count = [](std::size_t samples) {
    return [samples](PointRecord& p) { p.kernels[1].samples_ns.assign(samples, 1); };
  };
  const auto knob = [](std::int64_t value) { return [value](PointRecord& p) { p.spec.knobs.set("mine", value); }; };
  const auto watts = [](double value) { return [value](PointRecord& p) { p.clocks->power_w = value; }; };
  const auto degrees = [](double value) { return [value](PointRecord& p) { p.clocks->temperature_c = value; }; };
  struct {
    const char* what;
    std::function<void(PointRecord&)> accepted, rejected;
  } const cases[] = {
      {"shortest sample", sample(1e-3), sample(0.999e-3)},
      {"no sample", sample(0), sample(-1)},
      {"longest sample", sample(1e18), sample(1.001e18)},
      {"samples of a round", count(800'000), count(800'001)},
      {"shortest time", metric("ns", 1e-3), metric("ns", 0.999e-3)},
      {"zero", metric("ns", 0), metric("ns", -0.999e-3)},
      {"longest time", metric("ns", 1e18), metric("ns", 1.001e18)},
      {"small value", metric("byte", 1e-9), metric("byte", std::numeric_limits<double>::quiet_NaN())},
      {"largest value", metric("byte", 1e30), metric("byte", 1.001e30)},
      {"smallest value", metric("byte", -1e30), metric("byte", -1.001e30)},
      {"long name", name(200), name(201)},
      {"short name", name(1), name(0)},
      {"grid", grid(1U << 31U), grid((1U << 31U) + 1)},
      {"knob", knob(2'147'483'647), knob(2'147'483'648)},
      {"no knob", knob(0), knob(-1)},
      {"power", watts(0), watts(-1)},
      {"cold", degrees(-1e6), degrees(-1.001e6)},
  };
  for (const auto& [what, accepted, rejected] : cases) {
    EXPECT_TRUE(bounds_error(record_with(accepted)).empty()) << what << ": " << bounds_error(record_with(accepted));
    EXPECT_FALSE(bounds_error(record_with(rejected)).empty()) << what;
  }
}

TEST(Bounds, CountsAreInclusive) {
  EXPECT_TRUE(round_index_error(0).empty() && round_index_error(max_rounds - 1).empty());
  EXPECT_FALSE(round_index_error(-1).empty() || round_index_error(max_rounds).empty());
  EXPECT_TRUE(round_count_error(1).empty() && round_count_error(max_rounds).empty());
  EXPECT_FALSE(round_count_error(0).empty() || round_count_error(max_rounds + 1).empty());
  const ReadLimits limits{.point_values = 7, .point_samples = 9};
  EXPECT_TRUE(point_size_error(7, 9, limits).empty());
  EXPECT_FALSE(point_size_error(8, 9, limits).empty() || point_size_error(7, 10, limits).empty());
}

TEST(Bounds, EveryRoundAndKernelIsStoredClean) {
  PointRecord record = record_with([](PointRecord& p) {
    p.kernels[1].metrics = {{"a", 1, "byte", Provenance::measured},
                            {"a", 2, "sector", Provenance::measured},
                            {"b", std::nan(""), "byte", Provenance::measured},
                            {"a", 3, "byte", Provenance::measured}};
    for (const int round : {0, 1}) p.rounds.push_back({.round = round, .kernels = p.kernels, .clocks = {}});
  });
  record = stored_form(record);
  const auto values = [](const KernelRecord& kernel) {
    std::vector<double> all;
    for (const MetricValue& metric : kernel.metrics) all.push_back(metric.value);
    return all;
  };
  EXPECT_THAT(values(record.kernels[1]), ElementsAre(3, 2)) << "of two the later, in the earlier's place";
  for (const RoundRecord& round : record.rounds) EXPECT_THAT(values(round.kernels[1]), ElementsAre(3, 2));
  record.rounds[1].kernels[1].samples_ns = {-1};
  EXPECT_FALSE(bounds_error(record).empty()) << "second kernel of the second round";
}

TEST(ComparedRuns, SidesAreHalvesOfThePlan) {
  RunSummary run;
  run.preset = ab_preset;
  for (const std::size_t planned : {1U, 2U, 3U}) {
    run.planned_points = planned;
    EXPECT_EQ(has_two_sides(run), planned == 2) << planned;
  }
  run.planned_points = 4;
  std::vector<bool> sides;
  for (std::size_t place = 0; place < 4; ++place) sides.push_back(is_candidate_side(run, place));
  EXPECT_THAT(sides, ElementsAre(false, false, true, true));
}

// The two programs of a comparison alternate within each round: base first.
TEST(ComparedRuns, ProgramsShareTheirRounds) {
  RunSummary run;
  run.planned_points = 3;
  run.rounds = 5;
  run.order_seed = 7;
  run.provenance = Provenance::measured;
  for (const auto& [preset, first, planned] :
       {std::tuple(base_program_preset, 0U, 6U), std::tuple(other_program_preset, 3U, 6U),
        std::tuple(ab_preset, 0U, 3U)}) {
    run.preset = preset;
    analysis::Run row;
    set_rounds(run, row);
    EXPECT_EQ(row.first_place, first) << preset;
    EXPECT_EQ(row.planned_points, planned) << preset;
    EXPECT_EQ(row.rounds.count, 5) << preset;
    EXPECT_EQ(row.rounds.seed, 7U) << preset;
  }
  run.order_seed = 0;
  analysis::Run unordered;
  set_rounds(run, unordered);
  EXPECT_EQ(unordered.rounds.count, 1) << "without a seed the order is unknown";
}

}  // namespace
}  // namespace attnscope
