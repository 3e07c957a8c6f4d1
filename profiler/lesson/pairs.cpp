// SPDX-License-Identifier: Apache-2.0
#include "profiler/lesson/pairs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "profiler/metrics/metrics.h"
#include "profiler/plan/fields.h"

namespace attnscope::analysis::lesson {
namespace {

std::optional<Pair> pair_of(const PointTable& table, Row from, Row to, std::string_view metric) {
  const ValueColumn& values = column_of(table, metric);
  const double before = values.value(from);
  const double after = values.value(to);
  if (before <= 0 || after <= 0) return std::nullopt;  // 0 if unknown
  const Provenance provenance = values.provenance(from);
  return Pair{from, to, before, after, provenance == values.provenance(to) ? provenance : Provenance::derived};
}

/// Key of a row's run and problem; without N, equal for points that differ in N only.
std::string problem_key(const PointTable& table, Row row, bool with_n) {
  const PointSpec spec = table.spec(row);
  const AttentionProblem problem = with_n ? spec.problem : at_length(spec.problem, 1);
  return fmt::format("{} {} {}", table.run_index(row), describe(problem), to_string(spec.cache));
}

std::map<std::string, Row> fastest_rows(const PointTable& table, std::span<const Row> rows,
                                        std::string_view algorithm) {
  const ValueColumn& times = table.values(metric_key::time_median_ns);
  std::map<std::string, Row> best;
  for (const Row row : rows) {
    if (table.algorithm(row) != algorithm || !has_valid_times(table, row)) continue;
    const auto [place, fresh] = best.emplace(problem_key(table, row, true), row);
    const bool faster = times.has(row) && (!times.has(place->second) || times.value(row) < times.value(place->second));
    if (!fresh && faster) place->second = row;
  }
  return best;
}

}  // namespace

std::vector<Pair> find_doubled_pairs(const PointTable& table, std::span<const Row> rows, std::string_view metric) {
  // Key: the spec without N, then N. The first of repeated points counts.
  std::map<std::string, std::map<std::int64_t, Row>> groups;
  for (const Row row : rows) {
    PointSpec spec = table.spec(row);
    if (!has_valid_times(table, row) || spec.problem.n_q != spec.problem.n_k) continue;
    const std::int64_t n = spec.problem.n_k;
    spec.problem = at_length(spec.problem, 1);
    groups[fmt::format("{} {}", table.run_index(row), canonical_text(spec))].emplace(n, row);
  }
  std::vector<Pair> pairs;
  for (const auto& [key, by_n] : groups) {
    for (const auto& [n, row] : by_n) {
      const auto twice = by_n.find(2 * n);
      const auto pair = twice == by_n.end() ? std::nullopt : pair_of(table, row, twice->second, metric);
      if (pair) pairs.push_back(*pair);
    }
  }
  return pairs;
}

std::vector<Pair> pairs_of_algorithms(const PointTable& table, std::span<const Row> rows, std::string_view from,
                                      std::string_view to, std::string_view metric) {
  const std::map<std::string, Row> first = fastest_rows(table, rows, from);
  std::vector<Pair> pairs;
  for (const auto& [key, row] : fastest_rows(table, rows, to)) {
    const auto other = first.find(key);
    if (other == first.end()) continue;
    if (const std::optional<Pair> pair = pair_of(table, other->second, row, metric)) pairs.push_back(*pair);
  }
  std::ranges::sort(pairs, {}, [&](const Pair& pair) { return std::pair(table.n_k(pair.to), pair.to); });
  return pairs;
}

std::vector<Crossover> crossovers(const PointTable& table, std::span<const Row> rows, std::string_view slow,
                                  std::string_view fast) {
  std::map<std::string, Crossover> groups;
  for (const Pair& pair : pairs_of_algorithms(table, rows, slow, fast, metric_key::time_median_ns)) {
    if (table.n_q(pair.to) == table.n_k(pair.to)) groups[problem_key(table, pair.to, false)].pairs.push_back(pair);
  }
  std::vector<Crossover> all;
  for (auto& [key, group] : groups) {
    group.never = group.pairs.back().ratio() >= 1;
    for (std::size_t i = 1; i < group.pairs.size() && !group.never; ++i) {
      const double below = std::log(group.pairs[i - 1].ratio());
      const double above = std::log(group.pairs[i].ratio());
      if (above >= 0 || below < 0) continue;
      const double n0 = std::log(static_cast<double>(table.n_k(group.pairs[i - 1].to)));
      const double n1 = std::log(static_cast<double>(table.n_k(group.pairs[i].to)));
      group.n = std::exp(n0 + (n1 - n0) * below / (below - above));
    }
    all.push_back(std::move(group));
  }
  return all;
}

}  // namespace attnscope::analysis::lesson
