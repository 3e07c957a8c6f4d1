// SPDX-License-Identifier: Apache-2.0
#include "profiler/lesson/curves.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "profiler/lesson/pairs.h"
#include "profiler/plan/fields.h"

namespace attnscope::analysis::lesson {
namespace {

/// What points of one set of curves have in common: the run, and all of a point but algorithm, N and tile.
using CurveKey = std::pair<RunIndex, std::string>;

CurveKey key_of(RunIndex run, PointSpec spec) {
  spec.algorithm.clear();
  spec.problem.n_q = spec.problem.n_k = 0;
  spec.set_config({});
  return {run, identity_text(spec)};
}

/// By algorithm and N the row of the fastest tile.
using Fastest = std::map<std::pair<std::size_t, std::int64_t>, Row>;

std::map<CurveKey, Fastest> fastest_of(const Evidence& evidence, std::span<const Algorithm* const> algorithms,
                                       std::int64_t d, std::string_view metric) {
  const PointTable& table = evidence.points;
  const ValueColumn& times = table.values(metric_key::time_median_ns);
  const ValueColumn& values = table.values(metric);
  std::map<CurveKey, Fastest> all;
  for (const Row row : evidence.rows) {
    const auto algorithm = std::ranges::find(algorithms, table.algorithm(row), &Algorithm::name);
    if (algorithm == algorithms.end() || !ended_well(table, row)) continue;
    if (!times.has(row) || !values.has(row)) continue;
    const PointSpec spec = table.spec(row);
    const AttentionProblem& p = spec.problem;
    if (p.pass != Pass::fwd || p.mask != Mask::none || p.n_q != p.n_k || p.d != d) continue;
    Fastest& fastest = all[key_of(table.run_index(row), spec)];
    const auto [place, fresh] =
        fastest.emplace(std::pair(static_cast<std::size_t>(algorithm - algorithms.begin()), p.n_k), row);
    if (!fresh && times.value(row) < times.value(place->second)) place->second = row;
  }
  return all;
}

std::size_t algorithms_in(const Fastest& fastest) {
  std::size_t count = 0;
  for (auto at = fastest.begin(); at != fastest.end(); at = fastest.lower_bound({at->first.first + 1, 0})) ++count;
  return count;
}

}  // namespace

std::optional<LengthCurves> length_curves(const Evidence& evidence, std::span<const Algorithm* const> algorithms,
                                          std::int64_t d, std::string_view metric) {
  const auto all = fastest_of(evidence, algorithms, d, metric);
  const auto rank = [](const auto& each) { return std::pair(algorithms_in(each.second), each.second.size()); };
  const auto best = std::ranges::max_element(all, {}, rank);
  if (best == all.end() || algorithms_in(best->second) < 2) return std::nullopt;
  LengthCurves curves{.run = best->first.first};
  for (const auto& [at, row] : best->second) curves.lengths.push_back(at.second);
  std::ranges::sort(curves.lengths);
  curves.lengths.erase(std::unique(curves.lengths.begin(), curves.lengths.end()), curves.lengths.end());
  curves.like = evidence.points.problem(best->second.begin()->second);
  curves.rows.assign(algorithms.size(), std::vector<std::optional<Row>>(curves.lengths.size()));
  for (const auto& [at, row] : best->second) {
    const auto length = std::ranges::lower_bound(curves.lengths, at.second) - curves.lengths.begin();
    curves.rows[at.first][static_cast<std::size_t>(length)] = row;
  }
  return curves;
}

std::optional<LawSlices> law_slices(const Evidence& evidence, std::string_view algorithm) {
  LawSlices best;
  for (LawFamily& family : fit_law_exponents(evidence.points, evidence.rows).families) {
    const bool fits = family.algorithm == algorithm && family.level == LawLevel::sm_l2 && !family.refusal;
    if (fits && family.points.size() > best.family.points.size()) best.family = std::move(family);
  }
  if (best.family.points.empty()) return std::nullopt;
  for (std::size_t i = 0; i < law_variables; ++i) {
    std::map<std::array<double, law_variables>, std::vector<LawPoint>> groups;
    for (const LawPoint& point : best.family.points) {
      std::array<double, law_variables> others = point.at;
      others.at(i) = 0;
      groups[others].push_back(point);
    }
    LawSlice& slice = best.slices.at(i);
    slice.variable = static_cast<LawVariable>(i);
    for (auto& [others, points] : groups) {
      if (points.size() >= slice.points.size()) slice.points = std::move(points);
    }
    std::ranges::sort(slice.points, {}, [i](const LawPoint& point) { return point.at.at(i); });
  }
  return best;
}

}  // namespace attnscope::analysis::lesson
