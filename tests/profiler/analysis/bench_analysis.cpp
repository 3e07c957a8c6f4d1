// SPDX-License-Identifier: Apache-2.0
// What a view asks of 100,000 points: the table, the choice of one problem, its curves and its map of tiles.
#include <benchmark/benchmark.h>

#include <memory>

#include "profiler/analysis/curves.h"
#include "profiler/analysis/plot_list.h"
#include "profiler/analysis/point_query.h"
#include "profiler/analysis/problem_filter.h"
#include "profiler/analysis/tile_map.h"
#include "tests/profiler/analysis/fixtures.h"

namespace attnscope::analysis {
namespace {

/// Both passes, four masks, two types, sixteen numbers of heads, N 256 ... 16384 and tiles of three algorithms.
const fixtures::Points& many_points() {
  static const std::unique_ptr<fixtures::Points> points = [] {
    constexpr std::size_t wanted = 100'000;
    std::vector<PointRecord> records;
    // Points are made of one another: the closed forms of 100,000 would take longer than what is measured here.
    const std::vector<PointRecord> wall = fixtures::memory_wall();
    const std::vector<PointRecord> tiles = fixtures::tile_sweep();
    for (int heads = 1; records.size() < wanted; ++heads) {
      for (const char* mask : {"none", "causal", "window:255:0", "lengths:ramp"}) {
        for (const DType dtype : {DType::fp16, DType::bf16}) {
          const auto add = [&](PointRecord record) {
            record.spec.problem.heads_q = record.spec.problem.heads_kv = 16 * heads;
            record.spec.problem.mask = *parse_mask(mask);
            record.spec.problem.dtype = dtype;
            records.push_back(std::move(record));
          };
          for (const PointRecord& record : wall) add(record);
          for (const PointRecord& record : tiles) add(record);
        }
      }
    }
    records.resize(wanted);
    return std::make_unique<fixtures::Points>(records);
  }();
  return *points;
}

CurveRequest all_algorithms() {
  CurveRequest request;
  request.algorithms = {"naive", "fa1", "fa2"};
  return request;
}

void make_table(benchmark::State& state) {
  const fixtures::Points& points = many_points();
  for (auto _ : state) benchmark::DoNotOptimize(points.table());
}
BENCHMARK(make_table)->Unit(benchmark::kMillisecond);

/// The first look at a file: every column that curves need is made.
void first_curves(benchmark::State& state) {
  const fixtures::Points& points = many_points();
  for (auto _ : state) {
    const PointTable table = points.table();
    ProblemFilter filter(curve_facets(), key_length_facet());
    filter.update(table, table.rows());
    benchmark::DoNotOptimize(build_curves(table, filter.rows(), all_algorithms()));
  }
}
BENCHMARK(first_curves)->Unit(benchmark::kMillisecond);

/// A line in the filter: read, and the rows that fit.
void filter_by_query(benchmark::State& state) {
  const PointTable table = many_points().table();
  for (auto _ : state) {
    const auto query = PointQuery::parse("algo:fa1,fa2 d:128 N>=1024 status:ok -bf16 causal -heads:32", table);
    benchmark::DoNotOptimize(query->rows(table).size());
  }
}
BENCHMARK(filter_by_query)->Unit(benchmark::kMillisecond);

/// What the word at the cursor can become: the values of a field that occur.
void complete_a_query(benchmark::State& state) {
  const PointTable table = many_points().table();
  for (auto _ : state) benchmark::DoNotOptimize(complete("causal heads:1", 14, table).texts.size());
}
BENCHMARK(complete_a_query)->Unit(benchmark::kMillisecond);

/// Another choice, with the columns there.
void choose_a_problem(benchmark::State& state) {
  const PointTable table = many_points().table();
  ProblemFilter filter(curve_facets(), key_length_facet());
  filter.update(table, table.rows());
  const std::size_t mask = filter.place_of("mask");
  const std::vector<std::string> options = filter.options("mask");
  std::size_t next = 0;
  for (auto _ : state) {
    filter.choose(mask, options[next++ % options.size()]);
    filter.update(table, table.rows());
    benchmark::DoNotOptimize(filter.rows().data());
  }
}
BENCHMARK(choose_a_problem)->Unit(benchmark::kMillisecond);

void build_series(benchmark::State& state) {
  const PointTable table = many_points().table();
  ProblemFilter filter(curve_facets(), key_length_facet());
  filter.update(table, table.rows());
  for (auto _ : state) benchmark::DoNotOptimize(build_curves(table, filter.rows(), all_algorithms()));
}
BENCHMARK(build_series)->Unit(benchmark::kMillisecond);

void find_swept_problems(benchmark::State& state) {
  const PointTable table = many_points().table();
  for (auto _ : state) benchmark::DoNotOptimize(swept_rows(table, table.rows()));
}
BENCHMARK(find_swept_problems)->Unit(benchmark::kMillisecond);

void build_map(benchmark::State& state) {
  const PointTable table = many_points().table();
  ProblemFilter filter(map_facets(), tile_facet());
  filter.update(table, swept_rows(table, table.rows()));
  for (auto _ : state) benchmark::DoNotOptimize(build_tile_map(table, filter.rows(), metric_key::time_median_ns));
}
BENCHMARK(build_map)->Unit(benchmark::kMillisecond);

void list_plots(benchmark::State& state) {
  const PointTable table = many_points().table();
  for (auto _ : state) benchmark::DoNotOptimize(plan_plots(table).size());
}
BENCHMARK(list_plots)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace attnscope::analysis
