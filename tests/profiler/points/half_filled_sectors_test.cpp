// SPDX-License-Identifier: Apache-2.0
// Stores of twice the expected bytes are explained by half-filled sectors unless a counter contradicts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "messages/stores.h"
#include "profiler/metrics/metrics.h"
#include "profiler/points/impossible_values.h"
#include "tests/message_matchers.h"
#include "tests/profiler/points/fixtures.h"

namespace attnscope::analysis {
namespace {

using test::MatchesMessage;

constexpr const char* fill_pct = "smsp__sass_average_data_bytes_per_sector_mem_global_op_st.pct";

/// 16 heads of 4096 rows of 128 values: compulsory stores of O are 16.8 MB.
constexpr double o_bytes = 16.0 * 4096 * 128 * 2;

PointRecord point(std::vector<MetricValue> metrics, Provenance provenance = Provenance::measured) {
  AttentionProblem p{.heads_q = 16, .heads_kv = 16, .n_q = 4096, .n_k = 4096, .d = 128};
  PointRecord record = fixtures::imported_point("theirs", p, 1e6);
  record.provenance = provenance;
  record.kernels.front().metrics = std::move(metrics);
  return record;
}

MetricValue stored(double bytes, Provenance provenance = Provenance::measured) {
  return {std::string(metric_key::sm_to_l2_bytes), bytes, "byte", provenance};
}
MetricValue modeled(double bytes) {
  return {std::string(metric_key::model_sm_to_l2_bytes), bytes, "byte", Provenance::modeled};
}

TEST(HalfFilledSectors, ExplainStoresOfTwiceTheModel) {
  const auto ratio_of = [](double bytes) -> double {
    const auto found = half_filled_sectors(point({stored(bytes), modeled(1e6)}));
    return found ? found->ratio : 0;
  };
  EXPECT_EQ(ratio_of(2e6), 2);
  EXPECT_EQ(ratio_of(1.91e6), 1.91);
  EXPECT_EQ(ratio_of(2.09e6), 2.09);
  EXPECT_EQ(ratio_of(1e6), 0);
  EXPECT_EQ(ratio_of(1.89e6), 0);
  EXPECT_EQ(ratio_of(2.11e6), 0);
  EXPECT_EQ(ratio_of(4e6), 0);
}

TEST(HalfFilledSectors, AreOnlyPossibleWithoutASectorCounter) {
  const auto found = half_filled_sectors(point({stored(2e6), modeled(1e6)}));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->fill, std::nullopt);
  EXPECT_THAT(text(describe(*found)),
              MatchesMessage(msg::stores::maybe_half_filled{.counter = fill_pct, .ratio = "2.00"}));
}

TEST(HalfFilledSectors, CountersProveOrContradict) {
  const auto with = [](const char* counter, double value, const char* unit) {
    return half_filled_sectors(point({stored(2e6), modeled(1e6), {counter, value, unit, Provenance::measured}}));
  };
  const auto half = with(fill_pct, 50, "percent");
  ASSERT_TRUE(half);
  EXPECT_EQ(half->fill, 0.5);
  EXPECT_THAT(text(describe(*half)), MatchesMessage(msg::stores::half_filled{.fill = "50%", .ratio = "2.00"}));
  EXPECT_FALSE(with(fill_pct, 100, "percent")) << "full sectors: stored twice, or in 32 bits";
  EXPECT_FALSE(with(fill_pct, 25, "percent")) << "stores of four times the bytes";
  const char* bytes_per_sector = "smsp__sass_average_data_bytes_per_sector_mem_global_op_st.ratio";
  EXPECT_EQ(with(bytes_per_sector, 16, "byte")->fill, 0.5);
  EXPECT_FALSE(with(bytes_per_sector, 32, "byte"));
}

TEST(HalfFilledSectors, CompareWithCompulsoryStoresWithoutAModel) {
  const PointRecord record = point({stored(2 * o_bytes, Provenance::imported)}, Provenance::imported);
  const auto found = half_filled_sectors(record);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->ratio, 2);
  const fixtures::Points points({record});
  const PointTable table = points.table();
  EXPECT_TRUE(half_filled_sectors(table, table.rows().front()));
  EXPECT_FALSE(half_filled_sectors(point({}))) << "stores are not counted";
}

TEST(HalfFilledSectors, SimulatedStoresAreNotExplained) {
  EXPECT_FALSE(half_filled_sectors(point({stored(2e6, Provenance::simulated), modeled(1e6)}, Provenance::simulated)));
}

}  // namespace
}  // namespace attnscope::analysis
