// SPDX-License-Identifier: Apache-2.0
#include "profiler/tune.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace attnscope {
namespace {

/// Answers with times from a formula: the best tile is 128 x 64 at N 1024 and 64 x 64 at N 4096, by a little.
class TimedDevice final : public Device {
 public:
  TimedDevice() { info_.limits = *find_gpu("h200"); }
  [[nodiscard]] const DeviceInfo& info() const override { return info_; }
  [[nodiscard]] Environment environment() const override { return {}; }
  [[nodiscard]] CounterAvailability counters() const override { return {}; }
  [[nodiscard]] std::vector<UnknownMetric> unknown_metrics(std::span<const std::string>) const override { return {}; }
  void prepare(std::span<const PointSpec>, const CancelToken&, const BuildProgress&) override {}
  [[nodiscard]] std::int64_t free_bytes() const override { return 0; }
  [[nodiscard]] PointRecord measure(const PointSpec& spec, const MeasureOptions&, const CancelToken&) override {
    ++measured;
    PointRecord record;
    record.spec = spec;
    if (spec.tile.bc == 512) {
      record.disposition = Disposition::compile_error;
      record.reason = "no";
      return record;
    }
    const double best_br = spec.problem.n_q == 1024 ? 128 : 64;
    const double off = std::abs(std::log2(spec.tile.br / best_br)) * (best_br == 128 ? 0.10 : 0.02) +
                       std::abs(std::log2(spec.tile.bc / 64.0)) * 0.5;
    record.kernels.emplace_back();
    record.kernels.back().samples_ns = {1e6 * (1 + off)};
    return record;
  }
  int measured = 0;

 private:
  DeviceInfo info_;
};

TuneRequest request() {
  TuneRequest request;
  request.algorithms = {"fa2"};
  request.passes = {Pass::fwd};
  request.masks = {Mask::none};
  request.head_dims = {64};
  request.lengths = {1024, 4096};
  return request;
}

TEST(Tune, PicksTheTileThatIsNowhereFarFromTheFastest) {
  TimedDevice device;
  int failures = 0;
  int lines = 0;
  const TuneObserver observer{.on_choice = [&](const TuneResult&) { ++lines; },
                              .on_failure = [&](const PointRecord&) { ++failures; }};
  const auto results = tune(device, request(), observer, {});
  ASSERT_EQ(results.size(), 1U);
  EXPECT_EQ(lines, 1);
  EXPECT_EQ(results[0].choice.tile, (TileShape{.br = 128, .bc = 64}));  // 1.00 and 1.02, not 1.10 and 1.00
  EXPECT_NEAR(results[0].worst_ratio, 1.02, 1e-9);
  EXPECT_EQ(results[0].choice.arch, "9.0");
  EXPECT_THAT(results[0].choice.reason, ::testing::HasSubstr("at worst 1.020 of the fastest at N 1024 4096"));
  const auto candidates =
      tune_candidates(*find_algorithm("fa2"), {.n_q = 4096, .n_k = 4096, .d = 64}, device.info().limits);
  EXPECT_EQ(results[0].tiles, candidates.size());
  EXPECT_EQ(failures, std::ranges::count(candidates, 512, &TileShape::bc));
  EXPECT_LT(device.measured, static_cast<int>(2 * candidates.size()));
}

TEST(Tune, CandidatesAreWhatTheAlgorithmAccepts) {
  const AttentionProblem p{.n_q = 1024, .n_k = 1024, .d = 256};
  const Algorithm& fa2 = *find_algorithm("fa2");
  const DeviceLimits& a100 = *find_gpu("a100");
  const auto candidates = tune_candidates(fa2, p, a100);
  EXPECT_FALSE(candidates.empty());
  for (const TileShape& tile : candidates) EXPECT_FALSE(fa2.refusal(p, tile, a100)) << describe(tile);
}

TEST(Tune, CancelKeepsWhatIsFinished) {
  TimedDevice device;
  CancelToken cancel;
  TuneRequest two = request();
  two.head_dims = {64, 128};
  const TuneObserver observer{.on_choice = [&](const TuneResult&) { cancel.cancel(); }, .on_failure = {}};
  EXPECT_EQ(tune(device, two, observer, cancel).size(), 1U);
}

TEST(Tune, NewLinesReplaceTheirOldOnesOnly) {
  const std::vector<TileChoice> old{{.algorithm = "fa2", .arch = "8.0", .d = 64, .reason = "kept"},
                                    {.algorithm = "fa2", .arch = "9.0", .d = 64, .reason = "replaced"}};
  TuneResult found;
  found.choice = {.algorithm = "fa2", .arch = "9.0", .d = 64, .reason = "new"};
  const auto merged = merge_choices(old, std::span(&found, 1));
  ASSERT_EQ(merged.size(), 2U);
  EXPECT_EQ(merged[0].reason, "kept");
  EXPECT_EQ(merged[1].reason, "new");
}

}  // namespace
}  // namespace attnscope
