// SPDX-License-Identifier: Apache-2.0
#include "profiler/analysis/prediction_error.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <numeric>
#include <tuple>

#include "profiler/metrics/metrics.h"
#include "profiler/plan/fields.h"

namespace attnscope::analysis {
namespace {

PointSpec problem_alone(const PointSpec& spec) {
  PointSpec problem = spec;
  problem.algorithm.clear();
  problem.tile = {};
  problem.knobs = {};
  return problem;
}

std::optional<double> time_of(const PointRecord& record) {
  const KernelRecord* all = record.kernel("all");
  const auto summary = all != nullptr ? summarize(all->samples_ns) : std::nullopt;
  return summary ? std::optional(summary->median) : std::nullopt;
}

std::optional<double> value_of(const PointRecord& record, std::string_view metric) {
  const auto found = evaluate(metric, record);
  return found ? std::optional(found->value) : std::nullopt;
}
std::optional<double> settled_of(const PointRecord& record) {
  return value_of(record, metric_key::dram_settled_bytes);
}

/// One value of a point, on both sides.
struct Pair {
  double measured = 0;
  double predicted = 0;
  [[nodiscard]] double ratio() const { return predicted / measured; }
  [[nodiscard]] double error() const { return std::abs(ratio() - 1); }
};

std::optional<Pair> pair_of(std::optional<double> measured, std::optional<double> predicted, double least) {
  if (!measured || !predicted || *measured <= least || *predicted <= 0) return {};
  return Pair{*measured, *predicted};
}

struct JudgedPoint {
  const PredictedPoint* point = nullptr;
  const PointSpec* spec = nullptr;
  std::string problem;  ///< with the device and the algorithm: the points of a map share it
  Half half = Half::fitted;
  std::optional<Pair> dram;
  std::optional<Pair> time;
};

JudgedPoint judge(const PredictedPoint& point) {
  const PointSpec& spec = point.measured->spec;
  return {.point = &point,
          .spec = &spec,
          .problem = point.device + " " + spec.algorithm + " " + identity_text(problem_alone(spec)),
          .half = half_of(spec),
          .dram = pair_of(settled_of(*point.measured), settled_of(*point.predicted), least_dram_bytes),
          .time = pair_of(time_of(*point.measured), time_of(*point.predicted), 0)};
}

std::optional<ErrorFigures> figures(std::span<const JudgedPoint* const> points,
                                    std::optional<Pair> JudgedPoint::*value) {
  std::map<std::string_view, std::vector<Pair>> problems;
  ErrorFigures result;
  for (const JudgedPoint* point : points) {
    const std::optional<Pair>& pair = point->*value;
    if (!pair) continue;
    problems[point->problem].push_back(*pair);
    result.worst_factor = std::max({result.worst_factor, pair->ratio(), 1 / pair->ratio()});
    ++result.points;
  }
  if (problems.empty()) return {};
  result.problems = problems.size();
  std::vector<double> errors;
  std::vector<double> ratios;
  for (const auto& [problem, pairs] : problems) {
    std::vector<double> its_errors;
    std::vector<double> its_ratios;
    for (const Pair& pair : pairs) {
      its_errors.push_back(pair.error());
      its_ratios.push_back(pair.ratio());
    }
    errors.push_back(quantile(std::move(its_errors), 0.5));
    ratios.push_back(quantile(std::move(its_ratios), 0.5));
  }
  result.median = quantile(errors, 0.5);
  result.p95 = quantile(errors, 0.95);
  result.ratio = quantile(ratios, 0.5);
  return result;
}

/// Of one problem, each tile once, in their order.
std::vector<const JudgedPoint*> distinct_tiles(std::span<const JudgedPoint* const> points) {
  using Tiles = std::map<std::string, const JudgedPoint*>;
  std::map<std::string_view, Tiles> runs;
  for (const JudgedPoint* point : points) runs[point->point->run].emplace(identity_text(*point->spec), point);
  std::vector<const Tiles*> by_size;
  by_size.reserve(runs.size());
  for (const auto& [run, tiles] : runs) by_size.push_back(&tiles);
  std::ranges::stable_sort(by_size, std::ranges::greater(), [](const Tiles* tiles) { return tiles->size(); });
  Tiles taken;
  for (const Tiles* tiles : by_size) {
    if (std::ranges::any_of(*tiles, [&](const auto& each) { return taken.contains(each.first); })) continue;
    taken.insert(tiles->begin(), tiles->end());
  }
  std::vector<const JudgedPoint*> result;
  for (const JudgedPoint* point : points) {
    const auto tile = taken.find(identity_text(*point->spec));
    if (tile != taken.end() && tile->second == point) result.push_back(point);
  }
  return result;
}

/// Of the ratios of two of these tiles' times. Pre: two of them.
ErrorFigures pair_figures(std::span<const double> measured, std::span<const double> predicted) {
  std::vector<double> errors;
  errors.reserve(measured.size() * (measured.size() - 1) / 2);
  for (std::size_t i = 0; i < measured.size(); ++i) {
    for (std::size_t k = i + 1; k < measured.size(); ++k) {
      const double off = predicted[i] / predicted[k] * measured[k] / measured[i];
      errors.push_back(std::max(off, 1 / off) - 1);
    }
  }
  return {.points = errors.size(),
          .problems = 1,
          .median = quantile(errors, 0.5),
          .p95 = quantile(errors, 0.95),
          .worst_factor = 1 + std::ranges::max(errors)};
}

/// Over the problems of such a row.
std::optional<ErrorFigures> figures_of_tiles(std::span<const TileRanks> ranks, const ErrorRow& row) {
  ErrorFigures result;
  std::vector<double> medians;
  for (const TileRanks& of_problem : ranks) {
    const PointSpec& spec = of_problem.problem;
    if (!row.algorithm.empty() && row.algorithm != judged_as(spec.algorithm, spec.problem.dtype)) continue;
    if ((row.pass && *row.pass != spec.problem.pass) || (row.half && *row.half != of_problem.half)) continue;
    result.points += of_problem.pairs.points;
    result.p95 = std::max(result.p95, of_problem.pairs.p95);
    result.worst_factor = std::max(result.worst_factor, of_problem.pairs.worst_factor);
    medians.push_back(of_problem.pairs.median);
  }
  if (medians.empty()) return std::nullopt;
  result.problems = medians.size();
  result.median = quantile(std::move(medians), 0.5);
  return result;
}

std::vector<TileRanks> ranks_of(std::span<const JudgedPoint> judged) {
  std::map<std::string_view, std::vector<const JudgedPoint*>> problems;
  for (const JudgedPoint& point : judged) {
    if (point.time) problems[point.problem].push_back(&point);
  }
  std::vector<TileRanks> ranks;
  for (const auto& [problem, points] : problems) {
    if (points.size() < least_tiles) continue;
    const std::vector<const JudgedPoint*> tiles = distinct_tiles(points);
    if (tiles.size() < least_tiles) continue;
    std::vector<double> measured;
    std::vector<double> predicted;
    for (const JudgedPoint* tile : tiles) {
      measured.push_back(tile->time->measured);
      predicted.push_back(tile->time->predicted);
    }
    const auto chosen = static_cast<std::size_t>(std::ranges::min_element(predicted) - predicted.begin());
    ranks.push_back({.problem = *tiles.front()->spec,
                     .device = tiles.front()->point->device,
                     .half = tiles.front()->half,
                     .tiles = tiles.size(),
                     .spearman = rank_correlation(measured, predicted),
                     .chosen_over = measured[chosen] / std::ranges::min(measured),
                     .pairs = pair_figures(measured, predicted)});
  }
  return ranks;
}

std::vector<double> ranks_with_ties(std::span<const double> values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::sort(order, {}, [&](std::size_t i) { return values[i]; });
  std::vector<double> ranks(values.size());
  for (std::size_t first = 0; first < order.size();) {
    std::size_t end = first;
    while (end < order.size() && values[order[end]] == values[order[first]]) ++end;
    for (std::size_t i = first; i < end; ++i) ranks[order[i]] = static_cast<double>(first + end - 1) / 2;
    first = end;
  }
  return ranks;
}

}  // namespace

std::string_view to_string(Half half) {
  return half == Half::fitted ? "fitted" : "held out";
}

Half half_of(const PointSpec& spec) {
  // FNV-1a over what the problem is known by, which later fields leave as it is.
  std::uint64_t hash = 0xCBF29CE484222325U;
  for (const char c : identity_text(problem_alone(spec))) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3U;
  }
  return ((hash >> 32U) & 1U) != 0 ? Half::held_out : Half::fitted;
}

double quantile(std::vector<double> values, double share) {
  std::ranges::sort(values);
  const double place = share * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, values.size() - 1);
  return std::lerp(values[below], values[above], place - static_cast<double>(below));
}

double rank_correlation(std::span<const double> a, std::span<const double> b) {
  const std::vector<double> x = ranks_with_ties(a);
  const std::vector<double> y = ranks_with_ties(b);
  const double mean = (static_cast<double>(x.size()) - 1) / 2;
  double xy = 0;
  double xx = 0;
  double yy = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    xy += (x[i] - mean) * (y[i] - mean);
    xx += (x[i] - mean) * (x[i] - mean);
    yy += (y[i] - mean) * (y[i] - mean);
  }
  return xx > 0 && yy > 0 ? xy / std::sqrt(xx * yy) : 0;
}

std::string judged_as(std::string_view algorithm, DType dtype) {
  return bytes_per_element(dtype) == 1 ? fmt::format("{} {}", algorithm, to_string(dtype)) : std::string(algorithm);
}

PredictionErrors prediction_errors(std::span<const PredictedPoint> points) {
  std::vector<JudgedPoint> judged;
  judged.reserve(points.size());
  for (const PredictedPoint& point : points) judged.push_back(judge(point));

  using Key = std::tuple<std::string, Pass, Half>;
  std::map<Key, std::vector<const JudgedPoint*>> groups;
  std::map<std::optional<Half>, std::vector<const JudgedPoint*>> sums;
  for (const JudgedPoint& point : judged) {
    const std::string name = judged_as(point.spec->algorithm, point.spec->problem.dtype);
    groups[{name, point.spec->problem.pass, point.half}].push_back(&point);
    sums[point.half].push_back(&point);
    sums[std::nullopt].push_back(&point);
  }
  PredictionErrors result;
  result.ranks = ranks_of(judged);
  const auto add = [&](ErrorRow row, std::span<const JudgedPoint* const> of) {
    row.dram = figures(of, &JudgedPoint::dram);
    row.time = figures(of, &JudgedPoint::time);
    row.tiles = figures_of_tiles(result.ranks, row);
    result.rows.push_back(std::move(row));
  };
  for (const auto& [key, of] : groups) {
    const auto& [algorithm, pass, half] = key;
    add({.algorithm = algorithm, .pass = pass, .half = half, .dram = {}, .time = {}, .tiles = {}}, of);
  }
  for (const auto& [half, of] : sums)
    add({.algorithm = {}, .pass = {}, .half = half, .dram = {}, .time = {}, .tiles = {}}, of);
  result.unsettled = static_cast<std::size_t>(std::ranges::count_if(points, [](const PredictedPoint& point) {
    const auto bytes = value_of(*point.measured, metric_key::dram_bytes);
    return bytes && *bytes > least_dram_bytes && !settled_of(*point.measured);
  }));
  return result;
}

}  // namespace attnscope::analysis
