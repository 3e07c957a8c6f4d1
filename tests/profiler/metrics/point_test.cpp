// SPDX-License-Identifier: Apache-2.0
#include "profiler/metrics/point.h"

#include <gtest/gtest.h>

#include <optional>
#include <tuple>

#include "messages/throttle.h"
#include "profiler/metrics/metrics.h"
#include "tests/message_matchers.h"

namespace attnscope {
namespace {

using test::HasWords;

TEST(Words, DispositionsRoundTrip) {
  const std::pair<Disposition, std::string_view> words[] = {{Disposition::ok, "ok"},
                                                            {Disposition::infeasible, "infeasible"},
                                                            {Disposition::out_of_memory, "out-of-memory"},
                                                            {Disposition::incorrect, "incorrect"},
                                                            {Disposition::compile_error, "compile-error"},
                                                            {Disposition::timeout, "timeout"},
                                                            {Disposition::crashed, "crashed"},
                                                            {Disposition::no_counters, "no-counters"},
                                                            {Disposition::cancelled, "cancelled"}};
  for (const auto& [value, word] : words) {
    EXPECT_EQ(to_string(value), word);
    ASSERT_TRUE(parse_disposition(word).ok());
    EXPECT_EQ(*parse_disposition(word), value);
  }
}

TEST(Words, ProvenanceAndCacheStateRoundTrip) {
  for (const auto value : {Provenance::measured, Provenance::derived, Provenance::modeled, Provenance::simulated}) {
    EXPECT_EQ(*parse_provenance(to_string(value)), value);
  }
  for (const auto value : {CacheState::cold, CacheState::warm, CacheState::unknown}) {
    EXPECT_EQ(*parse_cache_state(to_string(value)), value);
  }
}

TEST(Words, UnknownNamesAreErrorsWithTheAcceptedOnes) {
  const auto parsed = parse_cache_state("hot");
  ASSERT_FALSE(parsed.ok());
  EXPECT_THAT(text(parsed.error()), HasWords("hot cold warm"));
}

TEST(Describe, APointInOneLine) {
  PointSpec spec{.algorithm = "fa2",
                 .problem = {.mask = Mask::causal, .heads_q = 16, .heads_kv = 16, .n_q = 4096, .n_k = 4096, .d = 128},
                 .tile = {.br = 128, .bc = 64}};
  EXPECT_EQ(describe(spec), "fa2 fp16 causal batch 1 heads 16 N 4096 d 128 tile 128x64");
  spec.cache = CacheState::warm;
  EXPECT_EQ(describe(spec), "fa2 fp16 causal batch 1 heads 16 N 4096 d 128 tile 128x64 warm");
  spec.cache = CacheState::unknown;
  EXPECT_TRUE(describe(spec).ends_with("L2 unknown")) << describe(spec);
}

TEST(Origin, OnlyIncompleteSimulationsAreExtrapolated) {
  const std::tuple<Provenance, std::optional<bool>, Provenance> cases[] = {
      {Provenance::simulated, false, Provenance::extrapolated},
      {Provenance::simulated, true, Provenance::simulated},
      {Provenance::simulated, std::nullopt, Provenance::simulated},
      {Provenance::measured, false, Provenance::measured},
      {Provenance::imported, false, Provenance::imported}};
  for (const auto& [provenance, complete, origin] : cases) {
    PointRecord record;
    record.provenance = provenance;
    record.kernels.emplace_back().kernel = "fwd";
    record.kernels.back().complete = complete;
    EXPECT_EQ(record.origin("fwd"), origin) << to_string(provenance);
    EXPECT_EQ(record.origin("bwd"), provenance) << "unknown kernel";
  }
}

TEST(PointFacts, ErrorBoundIsModeledAndReadingsAreMeasured) {
  PointRecord record;
  record.provenance = Provenance::measured;
  record.max_abs_error = 0.25;
  record.error_bound = 0.5;
  record.clocks = ClockReading{.sm_clock_hz = 0, .power_w = 300};
  const std::tuple<const char*, std::optional<double>, Provenance> facts[] = {
      {"max_abs_error", 0.25, Provenance::measured},
      {"error_bound", 0.5, Provenance::modeled},
      {"power_w", 300, Provenance::measured},
      {"sm_clock_hz", std::nullopt, Provenance::measured},
      {"rms_error", std::nullopt, Provenance::measured}};
  for (const auto& [key, wanted, provenance] : facts) {
    const std::optional<MetricValue> value = value_of(*find_point_fact(key), record);
    ASSERT_EQ(value.has_value(), wanted.has_value()) << key;
    if (!value) continue;
    EXPECT_EQ(value->value, wanted) << key;
    EXPECT_EQ(value->provenance, provenance) << key;
  }
}

TEST(Throttle, ReasonsHaveNamesExceptIdle) {
  EXPECT_EQ(text(describe_throttle_reasons(0)), "");
  EXPECT_EQ(text(describe_throttle_reasons(0x1)), "");
  const msg::throttle::several both{.first = msg::throttle::power_cap{}, .next = msg::throttle::thermal_slowdown{}};
  EXPECT_EQ(text(describe_throttle_reasons(0x4 | 0x20)), text(both));
}

TEST(Summary, IsEmptyWithoutSamples) {
  EXPECT_FALSE(summarize({}).has_value());
}

TEST(Summary, OneSampleEqualsItsQuartiles) {
  const auto summary = summarize({7});
  ASSERT_TRUE(summary.has_value());
  EXPECT_DOUBLE_EQ(summary->median, 7);
  EXPECT_DOUBLE_EQ(summary->q1, 7);
  EXPECT_DOUBLE_EQ(summary->q3, 7);
  EXPECT_DOUBLE_EQ(summary->relative_spread, 0);
  EXPECT_EQ(summary->count, 1U);
}

TEST(Summary, QuartilesInterpolateBetweenOrderStatistics) {
  // Sorted 1 2 4 8: positions 0.75, 1.5, 2.25.
  const auto summary = summarize({8, 1, 4, 2});
  ASSERT_TRUE(summary.has_value());
  EXPECT_DOUBLE_EQ(summary->q1, 1.75);
  EXPECT_DOUBLE_EQ(summary->median, 3);
  EXPECT_DOUBLE_EQ(summary->q3, 5);
  EXPECT_DOUBLE_EQ(summary->relative_spread, 3.25 / 3);
}

}  // namespace
}  // namespace attnscope
