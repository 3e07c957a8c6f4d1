// SPDX-License-Identifier: Apache-2.0
// Selection of tiles in comparisons, and what else differs between the points of a row.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/tile_table.h"
#include "messages/compare.h"
#include "messages/difference.h"
#include "profiler/compare/comparison_view.h"
#include "profiler/metrics/metrics.h"
#include "tests/message_matchers.h"
#include "tests/profiler/points/fixtures.h"

namespace attnscope::analysis {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::UnorderedElementsAre;
using Tiles = ComparedTiles;
using SkipReason = SkippedRows::SkipReason;

PointRecord record_with_time(PointSpec spec, double ns) {
  PointRecord record;
  record.spec = std::move(spec);
  record.kernels.emplace_back().samples_ns = {ns, ns, ns};
  return record;
}

PointRecord tile_point(int br, int bc, double ns, std::int64_t n = 1024) {
  return record_with_time(fixtures::spec("fa2", n, br, bc), ns);
}

PointRecord without_result(PointRecord record, Disposition disposition) {
  record.disposition = disposition;
  if (disposition != Disposition::incorrect) record.kernels.clear();
  return record;
}

analysis::Run run_on(const std::string& gpu) {
  analysis::Run run = fixtures::run();
  run.device_name = gpu;
  run.device_id = gpu;
  return run;
}

/// A view of two runs; a message names the error of parse_alignment().
struct TwoGpus {
  TwoGpus(const std::vector<PointRecord>& base, const std::vector<PointRecord>& other, std::optional<Tiles> tiles = {},
          const std::string& gpu = "NVIDIA H100 80GB HBM3", const std::vector<std::string>& align = {})
      : table(fixtures::Points().add(base, run_on("NVIDIA H200")).add(other, run_on(gpu)).table()) {
    std::vector<Row> rows[2];
    for (const Row row : table.rows()) rows[table.run_index(row)].push_back(row);
    const auto alignment = parse_alignment(align, table, rows[0], rows[1], tiles);
    if (!alignment.ok()) {
      error = alignment.error();
      return;
    }
    view = view_of(
        table,
        {.sides = {{.base_name = "a", .name = "b", .base = rows[0], .other = rows[1], .alignment = *alignment}}});
  }
  [[nodiscard]] const Alignment& alignment() const { return view.sides.at(0)->alignment; }
  [[nodiscard]] const ComparisonResult& result() const { return view.sides.at(0)->result; }
  [[nodiscard]] std::vector<std::string> differences(std::size_t pair = 0) const {
    std::vector<std::string> keys;
    for (const PointDifference& each : point_differences(table, result().pairs.at(pair))) keys.push_back(each.key);
    return keys;
  }
  PointTable table;
  ComparisonView view;
  Message error;
};

constexpr const char* h200_name = "NVIDIA H200";

TEST(ComparedTiles, DefaultFollowsGpusAndSharedTiles) {
  const std::vector<PointRecord> square{tile_point(64, 64, 1000)};
  const std::vector<PointRecord> wide{tile_point(128, 64, 900)};
  EXPECT_EQ(TwoGpus(square, square).alignment().tiles, Tiles::best);
  EXPECT_EQ(TwoGpus(square, square, {}, h200_name).alignment().tiles, Tiles::equal);
  EXPECT_EQ(TwoGpus(square, wide, {}, h200_name).alignment().tiles, Tiles::best);
  EXPECT_EQ(TwoGpus(square, wide, Tiles::equal).alignment().tiles, Tiles::equal);
  EXPECT_EQ(TwoGpus(square, wide, {}, h200_name, {"problem"}).alignment().tiles, Tiles::any);
  EXPECT_EQ(TwoGpus(square, wide, {}, "NVIDIA A100", {"problem"}).alignment().tiles, Tiles::best);
  EXPECT_EQ(TwoGpus(square, wide, {}, "NVIDIA A100", {"problem", "tile"}).alignment().tiles, Tiles::any);
  EXPECT_THAT(TwoGpus(square, square, Tiles::equal, h200_name, {"problem"}).alignment().keywords(),
              ElementsAre("problem", "tile", "knobs"));
  EXPECT_THAT(text(TwoGpus(square, wide, Tiles::best, h200_name, {"tile"}).error),
              test::HasWords("--align --tiles best"));
}

// Tiles of different algorithms are not the same choice.
TEST(ComparedTiles, EqualTilesNeedASharedAlgorithm) {
  const auto point = [](const std::string& algorithm, int br, double ns) {
    return record_with_time(fixtures::spec(algorithm, 1024, br, 64), ns);
  };
  const std::vector base{point("fa1", 64, 1000), point("fa1", 128, 900)};
  const TwoGpus others(base, {point("fa2", 64, 500), point("fa2", 128, 600)}, {}, h200_name);
  EXPECT_EQ(others.alignment().tiles, Tiles::best);
  ASSERT_EQ(others.result().pairs.size(), 1U);
  EXPECT_NEAR(others.result().pairs[0].verdict.time.ratio, 500.0 / 900, 1e-12);
  // The shared algorithm has no shared tile.
  EXPECT_EQ(TwoGpus(base, {point("fa2", 64, 500), point("fa1", 32, 600)}, {}, h200_name).alignment().tiles,
            Tiles::best);
  EXPECT_EQ(TwoGpus(base, {point("fa2", 64, 500), point("fa1", 128, 600)}, {}, h200_name).alignment().tiles,
            Tiles::equal);
}

// One GPU model has several names: of the product and of the driver.
TEST(ComparedTiles, ProductAndDriverNamesAreOneGpu) {
  fixtures::Points points;
  points.add({tile_point(64, 64, 1000)}, run_on("NVIDIA H100 SXM"))
      .add({tile_point(64, 64, 900)}, run_on("NVIDIA H100 80GB HBM3"));
  const PointTable table = points.table();
  const std::vector<Row> base{0};
  const std::vector<Row> other{1};
  EXPECT_EQ(parse_alignment({}, table, base, other)->tiles, Tiles::equal);
}

TEST(ComparedTiles, BestTileOfEachSide) {
  const TwoGpus of({tile_point(64, 64, 1000), tile_point(128, 64, 900), tile_point(128, 128, 950),
                    without_result(tile_point(32, 32, 100), Disposition::incorrect),
                    without_result(tile_point(16, 16, 100), Disposition::crashed)},
                   {tile_point(64, 32, 450)});
  ASSERT_EQ(of.result().pairs.size(), 1U);
  const ComparedPair& pair = of.result().pairs[0];
  EXPECT_NEAR(pair.verdict.time.ratio, 0.5, 1e-12);
  EXPECT_THAT(pair.tiles, ElementsAre(3U, 1U));
  EXPECT_THAT(of.differences(), UnorderedElementsAre("tile", "device"));
  EXPECT_THAT(of.result().left_out, IsEmpty());
  const Message unequal = msg::compare::unequal_choice{.most = 3, .rows = 1};
  EXPECT_EQ(std::ranges::count(of.view.evidence, text(unequal), [](const Message& each) { return text(each); }), 1);
  const TwoGpus both({tile_point(64, 64, 1000), tile_point(128, 64, 900)},
                     {tile_point(64, 64, 500), tile_point(128, 64, 600)});
  EXPECT_NEAR(both.result().pairs.at(0).verdict.time.ratio, 500.0 / 900, 1e-12);
  EXPECT_EQ(both.view.evidence.size() + 1, of.view.evidence.size()) << "both sides had two tiles";
}

TEST(ComparedTiles, BestTileHasLeastMedianOverRecordings) {
  const TwoGpus of({tile_point(64, 64, 700), tile_point(64, 64, 1000), tile_point(64, 64, 1010),
                    tile_point(128, 64, 900), tile_point(128, 64, 910), tile_point(128, 64, 920)},
                   {tile_point(64, 64, 455)});
  const ComparedPair& pair = of.result().pairs.at(0);
  EXPECT_EQ(of.table.spec(pair.base.front()).tile.br, 128);
  EXPECT_EQ(pair.base.size(), 3U) << "the recordings of the tile are repeats";
  EXPECT_THAT(pair.tiles, ElementsAre(2U, 1U));
}

TEST(ComparedTiles, BestIsNotChosenAcrossProvenancesAndAlgorithms) {
  PointRecord simulated = tile_point(64, 64, 500);
  simulated.provenance = Provenance::simulated;
  for (const PointRecord& second : {simulated, record_with_time(fixtures::spec("fa1", 1024), 500)}) {
    const TwoGpus of({tile_point(128, 64, 900), second}, {tile_point(64, 64, 455)}, {}, "NVIDIA A100", {"problem"});
    EXPECT_THAT(of.result().pairs, IsEmpty());
    ASSERT_EQ(of.result().left_out.size(), 1U);
    EXPECT_EQ(of.result().left_out[0].why, SkipReason::several);
  }
}

TEST(ComparedTiles, FailedTilesOfOneProblemAreOneEntry) {
  const TwoGpus of({tile_point(128, 64, 900)}, {without_result(tile_point(64, 64, 0), Disposition::infeasible),
                                                without_result(tile_point(128, 64, 0), Disposition::crashed)});
  ASSERT_EQ(of.result().left_out.size(), 1U);
  EXPECT_EQ(of.result().left_out[0].why, SkipReason::failed);
  EXPECT_EQ(of.result().left_out[0].rows.size(), 2U);
  EXPECT_EQ(of.result().newly_failed(of.table), 1U);
}

TEST(ComparedTiles, AdviceNamesTheTileOfEachSide) {
  const auto command = [](int br) {
    const TwoGpus of({tile_point(64, 64, 1000)}, {tile_point(br, 64, 1000)});
    return suggested_command(of.table, of.result().pairs.at(0), 0.015);
  };
  EXPECT_THAT(command(128), AllOf(HasSubstr("br=64 "), HasSubstr("br=128 ")));
  EXPECT_THAT(command(64), AllOf(HasSubstr("br=64 "), Not(HasSubstr(";")))) << "both sides run the same point";
}

// An import may state what its GPU cannot have produced: 10 GB of DRAM traffic in 1 ms.
TEST(ComparedTiles, ImpossibleValuesAreNotCompared) {
  const auto imported = [](int br, double ns) {
    PointRecord record = tile_point(br, 64, ns);
    record.provenance = Provenance::imported;
    for (const std::string_view key : {metric_key::dram_read_bytes, metric_key::dram_write_bytes}) {
      record.kernels.front().metrics.push_back({std::string(key), 5e9, "byte", Provenance::imported});
    }
    return record;
  };
  const PointRecord impossible = imported(64, 1e6);
  const PointRecord possible = imported(128, 3e6);
  const auto compared = [](const std::vector<PointRecord>& base, const std::vector<PointRecord>& other) {
    analysis::Run run = fixtures::run(Provenance::imported);
    const PointTable table = fixtures::Points().add(base, run).add(other, run).table();
    std::vector<Row> rows[2];
    for (const Row row : table.rows()) rows[table.run_index(row)].push_back(row);
    const Alignment alignment = parse_alignment({}, table, rows[0], rows[1], Tiles::best).value();
    return compare(table, {.base = rows[0], .other = rows[1], .alignment = alignment});
  };
  for (const bool swapped : {false, true}) {
    const ComparisonResult none = swapped ? compared({impossible}, {possible}) : compared({possible}, {impossible});
    EXPECT_THAT(none.pairs, IsEmpty());
    ASSERT_EQ(none.left_out.size(), 1U);
    EXPECT_EQ(none.left_out[0].why, SkipReason::impossible);
    EXPECT_EQ(none.left_out[0].of_other, !swapped);
  }
  const ComparisonResult best = compared({possible}, {impossible, possible});
  ASSERT_EQ(best.pairs.size(), 1U);
  EXPECT_DOUBLE_EQ(best.pairs[0].verdict.time.ratio, 1) << "the impossible tile is not the best one";
  EXPECT_EQ(best.left_out.at(0).why, SkipReason::impossible);
}

TEST(ComparedTiles, EqualTilesOnly) {
  const TwoGpus of({tile_point(64, 64, 1000), tile_point(128, 64, 900)},
                   {tile_point(64, 64, 500), tile_point(128, 128, 400)}, Tiles::equal);
  ASSERT_EQ(of.result().pairs.size(), 1U);
  EXPECT_NEAR(of.result().pairs[0].verdict.time.ratio, 0.5, 1e-12);
  EXPECT_EQ(of.result().left_out.size(), 2U);
  EXPECT_THAT(of.result().pairs[0].tiles, ElementsAre(0U, 0U));
}

TEST(ComparedTiles, AutomaticTileOfEachSide) {
  const Algorithm& algorithm = *known_algorithms().find("fa2");
  const auto automatic = [&](std::int64_t n, std::int64_t of_n, double ns) {
    PointSpec spec = fixtures::spec("fa2", n);
    spec.set_config(auto_config(algorithm, fixtures::spec("fa2", of_n).problem, fixtures::h200()));
    return record_with_time(spec, ns);
  };
  PointSpec other_tile = automatic(1024, 1024, 0).spec;
  other_tile.tile.bc /= 2;
  const TwoGpus of({automatic(1024, 1024, 1000), record_with_time(other_tile, 500)}, {automatic(1024, 1024, 800)},
                   Tiles::automatic);
  ASSERT_EQ(of.result().pairs.size(), 1U);
  EXPECT_NEAR(of.result().pairs[0].verdict.time.ratio, 0.8, 1e-12);
  const TwoGpus none({automatic(1024, 1024, 1000)}, {record_with_time(other_tile, 500)}, Tiles::automatic);
  EXPECT_THAT(none.result().pairs, IsEmpty());
  ASSERT_EQ(none.result().left_out.size(), 1U);
  EXPECT_EQ(none.result().left_out[0].why, SkipReason::other_tiles);
  EXPECT_TRUE(none.result().left_out[0].of_other);
}

// A sweep over N has the automatic tile of its longest N.
TEST(ComparedTiles, AutomaticTileOfSweep) {
  constexpr std::int64_t longest = 16384;
  std::size_t checked = 0;
  for (const char* name : {"naive", "fa1", "fa2", "fa3"}) {
    const auto config = [&](std::int64_t n) {
      return auto_config(*known_algorithms().find(name), fixtures::spec(name, n).problem, fixtures::h200());
    };
    for (const std::int64_t n : {512, 1024, 2048, 4096, 8192}) {
      if (config(n) == config(longest)) continue;
      std::vector<PointRecord> sweep;
      for (const std::int64_t each : {n, longest}) {
        PointSpec spec = fixtures::spec(name, each);
        spec.set_config(config(longest));
        sweep.push_back(record_with_time(spec, static_cast<double>(each)));
      }
      EXPECT_EQ(TwoGpus(sweep, sweep, Tiles::automatic).result().pairs.size(), 2U) << name << ' ' << n;
      EXPECT_THAT(TwoGpus({sweep[0]}, {sweep[0]}, Tiles::automatic).result().pairs, IsEmpty()) << name << ' ' << n;
      ++checked;
    }
  }
  EXPECT_GT(checked, 0U) << "some automatic tile depends on the length";
}

TEST(ComparedTiles, UnknownTilesCountAsAutomatic) {
  AttentionProblem problem = fixtures::spec("fa2", 1024).problem;
  const std::vector<PointRecord> imported{fixtures::imported_point("torch-cudnn", problem, 1e6)};
  EXPECT_EQ(TwoGpus(imported, imported, Tiles::automatic).result().pairs.size(), 1U);
}

TEST(PointDifferences, NamesEachProperty) {
  const auto recorded = [](const char* digest, double hertz, Provenance provenance, int br, std::int64_t splits,
                           CacheState cache) {
    PointRecord record = tile_point(br, 64, 1000);
    record.kernels.front().launch.emplace().digest = digest;
    record.clocks = ClockReading{.sm_clock_hz = hertz};
    record.provenance = provenance;
    if (splits > 0) record.spec.knobs.set("splits", splits);
    record.spec.cache = cache;
    return record;
  };
  const auto measured = Provenance::measured;
  const PointRecord base = recorded("abc", 1.98e9, measured, 64, 0, CacheState::cold);
  for (const auto& [other, keys] : std::vector<std::pair<PointRecord, std::vector<std::string>>>{
           {base, {}},
           {recorded("", 1.97e9, measured, 64, 0, CacheState::cold), {}},
           {recorded("abc", 0, measured, 64, 0, CacheState::cold), {}},
           {recorded("abd", 1.98e9, measured, 64, 0, CacheState::cold), {"kernel_source"}},
           {recorded("abc", 1.95e9, measured, 64, 0, CacheState::cold), {"sm_clock"}},
           {recorded("abc", 1.98e9, Provenance::simulated, 64, 0, CacheState::cold), {"provenance"}},
           {recorded("abd", 1.98e9, measured, 128, 0, CacheState::cold), {"tile"}},
           {recorded("abd", 1.98e9, measured, 64, 4, CacheState::cold), {"splits"}},
           {recorded("abd", 1.1e9, measured, 128, 4, CacheState::warm), {"cache", "tile", "splits", "sm_clock"}}}) {
    const TwoGpus of({base}, {other}, {}, h200_name, {"N"});
    EXPECT_EQ(of.differences(), keys);
    std::vector<std::string> rows;  // names in the summary
    for (const Difference& each : of.result().differences) rows.push_back(text(each.name));
    EXPECT_EQ(rows.size(), keys.size());
  }
}

TEST(PointDifferences, TableAndSummaryNameValues) {
  const TwoGpus of({tile_point(64, 64, 1000), tile_point(64, 64, 1000, 2048)},
                   {tile_point(128, 64, 1000), tile_point(64, 64, 1000, 2048)});
  const auto [shown, common] = comparison_table(of.view, of.view.lines(ComparisonView::Lines::pairs));
  EXPECT_EQ(shown.find("tile")->cell(0).text, "64x64 → 128x64");
  EXPECT_EQ(shown.find("tile")->cell(1).text, "64x64");
  EXPECT_EQ(shown.find("differs")->cell(0).text, "") << "all rows differ in the GPU, which the summary names";
  EXPECT_EQ(shown.find("tiles"), nullptr) << "each side had one tile";
  EXPECT_EQ(text(common).find(text(msg::compare::best_of{.base = 1, .other = 1})), std::string::npos);
  EXPECT_THAT(text(of.view.differences), HasSubstr("; tile 64x64 → 128x64 in 1 rows"));
  const std::vector<std::string> files{"a", "b"};
  const Table data = comparison_data(of.view, files);
  EXPECT_EQ(data.find("differs")->cell(0).text, "tile device");
  EXPECT_EQ(data.find("differs")->cell(1).text, "device");
  EXPECT_EQ(data.find("baseline_tiles")->cell(0).text, "1");
  const Table summary = difference_table(of.result());
  ASSERT_EQ(summary.rows, 2U);
  EXPECT_EQ(summary.find("rows")->cell(0).text, "") << "the GPU is that of the runs";
  EXPECT_EQ(summary.find("baseline")->cell(1).text, "64x64");
  EXPECT_EQ(summary.find("candidate")->cell(1).text, "128x64");
  EXPECT_EQ(summary.find("rows")->cell(1).text, "1/2");
}

TEST(ComparisonMean, WeighsProblemsEqually) {
  std::vector<PointRecord> base{tile_point(64, 64, 1000, 2048), record_with_time(fixtures::spec("fa1", 1024), 1000)};
  std::vector<PointRecord> other{tile_point(64, 64, 500, 2048), record_with_time(fixtures::spec("fa1", 1024), 1000)};
  for (int k = 1; k <= 100; ++k) {
    base.push_back(tile_point(16 * k, 64, 1000));
    other.push_back(tile_point(16 * k, 64, 2000));
  }
  const TwoGpus of(base, other, Tiles::equal);
  const ComparisonAnswer& total = of.view.answers.front();
  EXPECT_EQ(total.points, 102U);
  EXPECT_EQ(total.problems, 3U);
  EXPECT_NEAR(total.mean.ratio, 1, 1e-9) << "2, 0.5 and 1";
  EXPECT_NEAR(total.mean.interval.high, 1.05, 1e-9) << "as wide as each row's";
  EXPECT_EQ(of.view.count(Verdict::slower), 100U) << "verdicts count rows";
}

/// Random points of one side: problems, algorithms, tiles, knobs, clocks, sources and dispositions, some repeated.
std::vector<PointRecord> random_side(std::mt19937_64& random) {
  const auto pick = [&](auto... values) {
    const std::array all{values...};
    return all[std::uniform_int_distribution<std::size_t>(0, all.size() - 1)(random)];
  };
  std::vector<PointRecord> records;
  for (int count = pick(1, 5, 20, 40); count > 0; --count) {
    PointRecord record = record_with_time(
        fixtures::spec(pick("fa1", "fa2", "mine"), pick(512, 1024), pick(0, 64, 64, 128), pick(32, 64)),
        1e7 * std::exp(std::uniform_real_distribution<double>(-1, 1)(random)));
    if (record.spec.tile.br == 0) record.spec.tile.bc = 0;
    if (record.spec.algorithm != "mine" && pick(0, 0, 1) == 1) {
      const Algorithm& algorithm = *known_algorithms().find(record.spec.algorithm);
      record.spec.set_config(auto_config(algorithm, record.spec.problem, fixtures::h200()));
    } else if (pick(0, 0, 1) == 1) {
      record.spec.knobs.set("splits", std::int64_t{pick(2, 4)});
    }
    record.spec.cache = pick(CacheState::cold, CacheState::cold, CacheState::warm);
    record.provenance = pick(Provenance::measured, Provenance::measured, Provenance::simulated, Provenance::imported);
    record.clocks = ClockReading{.sm_clock_hz = pick(0., 1.98e9, 1.975e9, 1.1e9)};
    record.kernels.front().launch.emplace().digest = pick("", "aaaa", "bbbb");
    if (pick(0, 0, 0, 1) == 1) record = without_result(record, pick(Disposition::incorrect, Disposition::infeasible));
    records.push_back(std::move(record));
  }
  return records;
}

/// Expects that the two points of a row are equal in all that is not named, and that each side's tile was selected.
void check_pair(const TwoGpus& of, std::size_t index) {
  const ComparedPair& pair = of.result().pairs[index];
  const std::vector<std::string> keys = of.differences(index);
  const auto named = [&](const char* key) { return std::ranges::count(keys, key) > 0; };
  const PointSpec base = of.table.spec(pair.base.front());
  const PointSpec other = of.table.spec(pair.other.front());
  EXPECT_EQ(base.tile != other.tile, named("tile"));
  EXPECT_EQ(base.knobs.number("splits") != other.knobs.number("splits"), named("splits"));
  EXPECT_EQ(base.algorithm != other.algorithm, named("algorithm"));
  EXPECT_EQ(base.problem, other.problem);
  EXPECT_EQ(base.cache, other.cache);
  const PointColumns& points = of.table.points();
  EXPECT_EQ(points.origin(pair.base.front()) != points.origin(pair.other.front()), named("provenance"));
  const Tiles tiles = of.alignment().tiles;
  EXPECT_FALSE(tiles == Tiles::equal && named("tile"));
  for (const std::vector<Row>* rows : {&pair.base, &pair.other}) {
    const PointSpec chosen = of.table.spec(rows->front());
    for (const Row row : *rows) EXPECT_EQ(of.table.spec(row), chosen);
    if (tiles != Tiles::best) continue;
    // No tile of this problem with a correct result is faster, and the row has the number of tiles.
    std::map<std::pair<std::string, std::string>, std::vector<double>> times;
    for (const Row row : of.table.rows()) {
      const PointSpec spec = of.table.spec(row);
      if (of.table.run_index(row) != of.table.run_index(rows->front()) || spec.algorithm != chosen.algorithm ||
          spec.problem != chosen.problem || spec.cache != chosen.cache || of.table.disposition(row) != Disposition::ok)
        continue;
      times[{describe(spec.tile), describe(spec.knobs)}].push_back(*of.table.values("time_median_ns").at(row));
    }
    const auto median = [](std::vector<double> all) {
      std::ranges::sort(all);
      return (all[(all.size() - 1) / 2] + all[all.size() / 2]) / 2;
    };
    const double best = median(times.at({describe(chosen.tile), describe(chosen.knobs)}));
    for (const auto& [tile, all] : times) EXPECT_LE(best, median(all));
    EXPECT_EQ(pair.tiles.at(rows == &pair.base ? 0 : 1), times.size());
  }
}

TEST(ComparedTiles, RandomTablesNameUnequalTiles) {
  std::mt19937_64 random(56);
  std::map<Tiles, std::size_t> pairs;
  std::size_t unequal = 0;
  for (int trial = 0; trial < 3000; ++trial) {
    const std::array<std::optional<Tiles>, 4> choices{std::nullopt, Tiles::best, Tiles::automatic, Tiles::equal};
    const auto& tiles = choices.at(static_cast<std::size_t>(trial) % choices.size());
    const TwoGpus of(random_side(random), random_side(random), tiles);
    for (std::size_t i = 0; i < of.result().pairs.size(); ++i) {
      check_pair(of, i);
      ++pairs[of.alignment().tiles];
      unequal += std::ranges::count(of.differences(i), "tile") > 0 ? 1U : 0U;
    }
    if (::testing::Test::HasFailure()) FAIL() << "trial " << trial;
  }
  for (const Tiles tiles : tile_choices) EXPECT_GT(pairs[tiles], 100U) << to_string(tiles);
  EXPECT_GT(unequal, 100U);
}

}  // namespace
}  // namespace attnscope::analysis
