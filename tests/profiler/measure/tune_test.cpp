// SPDX-License-Identifier: Apache-2.0
#include "profiler/measure/tune.h"
#include "kernels/common_knobs.h"
#include "kernels/registry.h"
#include "profiler/metrics/metrics.h"
#include "tests/kernels/restated.h"
#include "tests/kernels/tiling.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace attnscope {
namespace {

using ::testing::ElementsAre;

/// Answers with times from a formula of the test.
class TimedDevice final : public Device {
 public:
  /// To the fastest; 0: does not compile; negative: takes too long.
  using Formula = std::function<double(const PointSpec&)>;
  explicit TimedDevice(Formula formula) : formula_(std::move(formula)) { info_.limits = *find_gpu("h200"); }
  [[nodiscard]] const DeviceInfo& info() const override { return info_; }
  [[nodiscard]] const Registry& algorithms() const override { return built_in_algorithms(); }
  [[nodiscard]] Environment environment() const override { return {}; }
  [[nodiscard]] CounterAvailability counters() const override { return {}; }
  [[nodiscard]] std::vector<UnknownMetric> unknown_metrics(std::span<const std::string>) const override { return {}; }
  void prepare(std::span<const PointSpec> points, const CancelToken&, const BuildProgress&) override {
    for (const PointSpec& point : points) ++prepared[describe(point.config())];
  }
  [[nodiscard]] std::int64_t free_bytes() const override { return 0; }
  [[nodiscard]] PointRecord measure(const PointSpec& spec, const MeasureOptions& options, const CancelToken&) override {
    measured.push_back(spec);
    if (options.slow_ns == 0) ++confirmed;
    PointRecord record;
    record.spec = spec;
    const double ratio = formula_(spec);
    if (ratio <= 0) {
      record.disposition = ratio == 0 ? Disposition::compile_error : Disposition::timeout;
      record.reason = Message::verbatim("no");
      return record;
    }
    record.kernels.emplace_back();
    record.kernels.back().samples_ns = {1e6 * ratio};
    record.kernels.back().kernel = "all";
    const double local = spills && spills(spec.tile) ? 16 : 0;
    record.kernels.back().metrics.push_back(
        {std::string(metric_key::local_bytes), local, "byte", Provenance::measured});
    return record;
  }
  [[nodiscard]] std::ptrdiff_t times_measured(const Config& tile, std::int64_t n) const {
    return std::ranges::count_if(measured,
                                 [&](const PointSpec& spec) { return spec.config() == tile && spec.problem.n_k == n; });
  }
  std::vector<PointSpec> measured;
  std::map<std::string, int> prepared;  ///< by tile
  int confirmed = 0;
  std::function<bool(const TileShape&)> spills{};

 private:
  DeviceInfo info_;
  Formula formula_;
};

constexpr TileShape at_short{.br = 128, .bc = 96};  // neither is what `auto` takes
constexpr TileShape at_long{.br = 64, .bc = 96};

/// Slower the farther from 96 keys, and the farther from 128 query rows up to N 1024, 64 beyond: by `much` a doubling.
TimedDevice::Formula two_best(double much) {
  return [much](const PointSpec& spec) {
    if (spec.tile.bc == 512) return 0.0;
    const double best_br = spec.problem.n_q <= 1024 ? 128 : 64;
    return 1 + std::abs(std::log2(spec.tile.br / best_br)) * much + std::abs(std::log2(spec.tile.bc / 96.0)) * 0.5 +
           0.05 * (spec.knobs.number(knob::warps) != 0 ? 1 : 0) + 0.05 * (spec.knobs.number(knob::stages) != 0 ? 1 : 0);
  };
}

TuneRequest request() {
  TuneRequest request;
  request.algorithms = {"fa2"};
  request.passes = {Pass::fwd};
  request.masks = {Mask::none};
  request.head_dims = {64};
  request.lengths = {512, 1024, 4096, 16384};
  return request;
}

TEST(Tune, PicksTheFastestTileAtEachLengthAndMergesNeighbours) {
  TimedDevice device(two_best(0.10));
  int failures = 0;
  int lines = 0;
  const TuneObserver observer{.on_result = [&](const TuneResult&) { ++lines; },
                              .on_failure = [&](const PointRecord&) { ++failures; },
                              .on_untimed = [](const Algorithm&, const AttentionProblem&) { ADD_FAILURE(); }};
  const auto results = tune(device, request(), observer, {});
  ASSERT_EQ(results.size(), 1U);
  EXPECT_EQ(lines, 1);
  const auto& choices = results[0].choices;
  ASSERT_EQ(choices.size(), 2U);
  EXPECT_EQ(choices[0].config, at_short);
  EXPECT_EQ(choices[0].n, 1024);
  EXPECT_EQ(choices[1].config, at_long);
  EXPECT_EQ(choices[1].n, 16384);
  EXPECT_EQ(choices[1].d, 64);
  EXPECT_EQ(choices[1].arch, "9.0");
  EXPECT_EQ(choices[0].reason,
            fmt::format("of {} tiles; at worst 1.000 of the fastest, at N 512 1.000, 1024 1.000", results[0].tiles));
  ASSERT_EQ(results[0].cells.size(), 4U);
  for (const TuneCell& cell : results[0].cells) {
    EXPECT_DOUBLE_EQ(cell.fastest_ns, 1e6);
    EXPECT_DOUBLE_EQ(cell.chosen_ratio(), 1);
    const AttentionProblem p{
        .batch = 16384 / cell.n, .heads_q = 32, .heads_kv = 32, .n_q = cell.n, .n_k = cell.n, .d = 64};
    const Config now = auto_config(*built_in_algorithms().find("fa2"), p, device.info().limits);
    EXPECT_EQ(cell.now, now);
    EXPECT_NEAR(cell.now_ratio(),
                two_best(0.10)({.algorithm = "fa2", .problem = p, .tile = now.tile, .knobs = now.knobs}), 1e-9);
  }
  const auto candidates =
      tune_candidates(*built_in_algorithms().find("fa2"), {.n_q = 4096, .n_k = 4096, .d = 64}, device.info().limits);
  EXPECT_EQ(failures, std::ranges::count(candidates, 512, [](const Config& c) { return c.tile.bc; }))
      << "each fails once, not at every length";
}

TEST(Tune, ScreensEverywhereWhatIsNotHopelessTwiceAndCompilesOnce) {
  TimedDevice device(two_best(0.10));
  ASSERT_EQ(tune(device, request(), {}, {}).size(), 1U);
  EXPECT_EQ(device.times_measured(at_short, 4096), 2) << "screened, and at 1.10 looked at again";
  EXPECT_EQ(device.times_measured(at_short, 512), 2);
  constexpr TileShape far{.br = 64, .bc = 32};  // 1.8 and 1.9, and no line of the table
  EXPECT_EQ(device.times_measured(far, 4096), 1) << "the middle is first";
  EXPECT_EQ(device.times_measured(far, 512), 1);
  EXPECT_EQ(device.times_measured(far, 16384), 0);
  EXPECT_EQ(device.times_measured(far, 1024), 0);
  for (const auto& [tile, times] : device.prepared) EXPECT_EQ(times, 1) << tile;
}

TEST(Tune, ATileThatTakesTooLongIsTriedAtShorterLengthsOnly) {
  TimedDevice device([](const PointSpec& spec) {
    return spec.config() == at_short && spec.problem.n_q == 4096 ? -1.0 : two_best(0.10)(spec);
  });
  const auto results = tune(device, request(), {}, {});
  ASSERT_EQ(results.size(), 1U);
  EXPECT_EQ(results[0].choices.front().config, at_short);
  EXPECT_EQ(results[0].choices.front().n, 1024);
  EXPECT_EQ(device.times_measured(at_short, 4096), 1) << "the middle is first";
  EXPECT_EQ(device.times_measured(at_short, 512), 2);
  EXPECT_EQ(device.times_measured(at_short, 16384), 0);
  const Config now = results[0].cells[2].now;  // which is looked at again, whatever its first time
  TimedDevice stuck([&](const PointSpec& spec) {
    return spec.config() == now && spec.problem.n_q == 4096 ? -1.0 : two_best(0.10)(spec);
  });
  ASSERT_EQ(tune(stuck, request(), {}, {}).size(), 1U);
  EXPECT_EQ(stuck.times_measured(now, 4096), 1);
}

TEST(Tune, ALengthWithoutATimeIsToldAndHasNoCell) {
  std::vector<std::int64_t> untimed;
  const TuneObserver observer{
      .on_result = {}, .on_failure = {}, .on_untimed = [&](const Algorithm& algorithm, const AttentionProblem& p) {
        EXPECT_EQ(algorithm.name(), "fa2");
        untimed.push_back(p.n_k);
      }};
  TimedDevice none_long([](const PointSpec& spec) { return spec.problem.n_q > 4096 ? -1.0 : two_best(0.10)(spec); });
  const auto results = tune(none_long, request(), observer, {});
  ASSERT_EQ(results.size(), 1U);
  EXPECT_EQ(results[0].cells.size(), 3U);
  EXPECT_THAT(untimed, ElementsAre(16384));
  untimed.clear();
  TimedDevice none([](const PointSpec&) { return 0.0; });
  EXPECT_TRUE(tune(none, request(), observer, {}).empty());
  EXPECT_THAT(untimed, ElementsAre(512, 1024, 4096, 16384));
}

TEST(Tune, ATileWithinOnePercentIsKeptAlongTheLengths) {
  TimedDevice near(two_best(0.008));
  const auto results = tune(near, request(), {}, {});
  ASSERT_EQ(results.at(0).choices.size(), 1U);
  EXPECT_EQ(results[0].choices[0].n, 16384);
  EXPECT_TRUE(results[0].choices[0].config == at_short || results[0].choices[0].config == at_long);
  TimedDevice beyond(two_best(0.03));
  EXPECT_EQ(tune(beyond, request(), {}, {}).at(0).choices.size(), 2U);
}

TEST(Tune, ATileThatUsesLocalMemoryIsNoChoice) {
  TimedDevice device(two_best(0.10));
  device.spills = [](const TileShape& tile) { return tile.br == at_short.br && tile.bc == at_short.bc; };
  TuneRequest one = request();
  one.lengths = {512};
  const auto results = tune(device, one, {}, {});
  ASSERT_EQ(results.at(0).choices.size(), 1U);
  EXPECT_FALSE(device.spills(results[0].choices[0].config.tile));
  EXPECT_GT(results[0].cells.at(0).fastest_ns, 1e6);
}

TEST(Tune, OtherWarpsOfALeaderAreTried) {
  const Config best({.br = 128, .bc = 96}, {{knob::warps, 8}});
  TimedDevice device([&](const PointSpec& spec) { return spec.config() == best ? 0.9 : two_best(0.10)(spec); });
  TuneRequest one = request();
  one.lengths = {512};
  const auto results = tune(device, one, {}, {});
  ASSERT_EQ(results.at(0).choices.size(), 1U);
  EXPECT_EQ(results[0].choices[0].config, best);
}

TEST(Tune, TriesWhatAKnobStates) {
  const test::Fa2WithKnobs parted("parted",
                                  {{.name = "parts",
                                    .label = Message::verbatim("Parts"),
                                    .meaning = Message::verbatim("Of a head"),
                                    .largest = 64,
                                    .around =
                                        [](std::int64_t own) {
                                          return std::vector<std::int64_t>{0, own, 2 * own};
                                        }}},
                                  {{"parts", std::int64_t{6}}});
  const auto candidates = tune_candidates(parted, {.n_q = 4096, .n_k = 4096, .d = 64}, *find_gpu("h200"));
  std::set<std::int64_t> of_one_tile;
  for (const Config& config : candidates) {
    if (config.tile == TileShape{.br = 64, .bc = 64}) of_one_tile.insert(config.knobs.number("parts"));
  }
  EXPECT_EQ(of_one_tile, (std::set<std::int64_t>{0, 6, 12}));
  EXPECT_TRUE(candidates.front().knobs.empty()) << "the algorithm's own choice stands first";
}

TEST(Tune, DecodingIsMeasuredWithOneQueryAndItsSplits) {
  TuneRequest decode = request();
  decode.algorithms = {"splitkv"};
  decode.head_dims = {128};
  decode.decode_lengths = {4096, 65536};
  const auto own_or = [](double own) {
    return [own](const PointSpec& spec) {
      const std::int64_t rule = built_in_algorithms()
                                    .find("splitkv")
                                    ->default_config(spec.problem, *find_gpu("h200"))
                                    .knobs.number(knob::splits);
      const double bc = std::abs(std::log2(spec.tile.bc / 64.0)) * 0.2 + (spec.tile.br == 16 ? 0 : 0.3);
      return (spec.knobs.number(knob::splits) == 32 ? 1.0 : spec.knobs.number(knob::splits) == rule ? own : 1.2) + bc;
    };
  };
  TimedDevice good(own_or(1.015));
  const auto own = tune(good, decode, {}, {});
  ASSERT_EQ(own.at(0).choices.size(), 1U);
  const Tiling tile = tiling_of(own[0].choices[0].config);
  EXPECT_EQ(std::tuple(tile.br, tile.bc, tile.splits), std::tuple(16, 64, 0)) << "the algorithm's splits may cost 2%";
  EXPECT_EQ(own[0].choices[0].n, 65536);
  const AttentionProblem& p = good.measured.front().problem;
  EXPECT_EQ(std::tuple(p.batch, p.n_q, p.heads_q, p.heads_kv), std::tuple(1, 1, 16, 2));
  TimedDevice poor(own_or(1.03));
  const auto table = tune(poor, decode, {}, {});
  EXPECT_EQ(table.at(0).choices.at(0).config.knobs.number(knob::splits), 32);
}

TEST(Tune, CandidatesAreWhatTheAlgorithmAccepts) {
  const AttentionProblem p{.n_q = 1024, .n_k = 1024, .d = 256};
  const Algorithm& fa2 = *built_in_algorithms().find("fa2");
  const DeviceLimits& a100 = *find_gpu("a100");
  const auto candidates = tune_candidates(fa2, p, a100);
  EXPECT_FALSE(candidates.empty());
  for (const Config& tile : candidates) EXPECT_FALSE(fa2.refusal(p, tile, a100)) << describe(tile);
}

TEST(Tune, CancelKeepsWhatIsFinished) {
  TimedDevice device(two_best(0.10));
  CancelToken cancel;
  TuneRequest two = request();
  two.head_dims = {64, 128};
  const TuneObserver observer{.on_result = [&](const TuneResult&) { cancel.cancel(); }, .on_failure = {}};
  EXPECT_EQ(tune(device, two, observer, cancel).size(), 1U);
}

TEST(Tune, NewLinesReplaceTheirOldOnesOnly) {
  const auto line = [](std::string arch, std::int64_t n, std::string reason) {
    return TileChoice{.algorithm = "fa2", .arch = std::move(arch), .d = 64, .n = n, .reason = std::move(reason)};
  };
  const std::vector<TileChoice> old{line("8.0", 1024, "other GPU"), line("9.0", 256, "shorter"),
                                    line("9.0", 512, "replaced"),   line("9.0", 2048, "replaced"),
                                    line("9.0", 4096, "replaced"),  line("9.0", 16384, "longer")};
  TuneResult found;
  found.cells = {{.n = 512}, {.n = 1024}, {.n = 4096}};
  found.choices = {line("9.0", 1024, "new"), line("9.0", 4096, "new")};
  const auto merged = merge_choices(old, std::span(&found, 1));
  std::vector<std::string> seen;
  seen.reserve(merged.size());
  for (const TileChoice& choice : merged) seen.push_back(fmt::format("{} {}", choice.n, choice.reason));
  EXPECT_THAT(seen, ElementsAre("1024 other GPU", "256 shorter", "1024 new", "4096 new", "16384 longer"));
}

}  // namespace
}  // namespace attnscope
