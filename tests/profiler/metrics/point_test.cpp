// SPDX-License-Identifier: Apache-2.0
#include "profiler/metrics/point.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <set>
#include <tuple>

#include "messages/throttle.h"
#include "profiler/metrics/manifest.h"
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
  const std::pair<std::uint64_t, Message> bits[] = {
      {0x2, msg::throttle::application_clocks{}}, {0x4, msg::throttle::power_cap{}},
      {0x8, msg::throttle::hardware_slowdown{}},  {0x10, msg::throttle::sync_boost{}},
      {0x20, msg::throttle::thermal_slowdown{}},  {0x40, msg::throttle::hardware_thermal_slowdown{}},
      {0x80, msg::throttle::power_brake{}},       {0x100, msg::throttle::display_clocks{}}};
  for (const auto& [bit, words] : bits) EXPECT_EQ(text(describe_throttle_reasons(bit | 1U)), text(words)) << bit;
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

TEST(Summary, AMedianOfZeroOrLessHasNoSpread) {
  for (const double below : {-1.0, -5.0}) {
    const auto summary = summarize({below, 0, -below, 0});
    EXPECT_EQ(summary->median, 0);
    EXPECT_EQ(summary->relative_spread, 0);
  }
  EXPECT_EQ(summarize({-3, -2, -1})->relative_spread, 0);
}

TEST(Manifest, DigestAndDescriptionCoverEverySource) {
  const auto manifest = [](std::size_t count) {
    StoredManifest made{.text = "{}", .host_code = false, .sources = {}};
    for (std::size_t i = 0; i < count; ++i)
      made.sources.push_back({.name = std::string(1, static_cast<char>('a' + i)), .digest = {}});
    return made;
  };
  for (const auto& [count, ending] : {std::pair<std::size_t, std::string>(1, " (a)"),
                                      {2, " (a, b)"},
                                      {4, " (a, b, c, d)"},
                                      {5, " (a, b, c, d, ... (5))"}}) {
    EXPECT_EQ(describe(manifest(count)), digest_of(manifest(count)).substr(0, 8) + ending);
  }
  EXPECT_EQ(describe(manifest(0)).size(), 8U);
  const StoredManifest three = manifest(3);
  std::set<std::string> digests{digest_of(three), digest_of(manifest(2))};
  for (std::size_t i = 0; i < 3; ++i) {
    StoredManifest other = three;
    other.sources[i].digest = "changed";
    digests.insert(digest_of(other));
    other.sources[i].name = "z";
    digests.insert(digest_of(other));
  }
  EXPECT_EQ(digests.size(), 8U);
  StoredManifest reordered = three;
  std::ranges::reverse(reordered.sources);
  EXPECT_EQ(digest_of(reordered), digest_of(three));
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
