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

/// DRAM bytes as in plots: including write-back bytes if known.
std::optional<double> value_at(const PointTable& table, Row row, std::string_view metric) {
  const ValueColumn& column = metric == metric_key::dram_settled_bytes ? table.dram_traffic() : table.values(metric);
  const std::optional<double> value = column.at(row);
  return value && *value > 0 ? value : std::nullopt;
}

Provenance provenance_at(const PointTable& table, Row row, std::string_view metric) {
  return (metric == metric_key::dram_settled_bytes ? table.dram_traffic() : table.values(metric)).provenance(row);
}

std::optional<Pair> pair_of(const PointTable& table, Row from, Row to, std::string_view metric) {
  const std::optional<double> before = value_at(table, from, metric);
  const std::optional<double> after = value_at(table, to, metric);
  if (!before || !after) return std::nullopt;
  Pair pair{.from = from, .to = to, .before = *before, .after = *after};
  const Provenance a = provenance_at(table, from, metric);
  pair.provenance = a == provenance_at(table, to, metric) ? a : Provenance::derived;
  return pair;
}

/// A point's key without N, and N.
struct Place {
  std::string key;
  std::int64_t n = 0;
};

std::optional<Place> place_of(const PointTable& table, Row row) {
  PointSpec spec = table.spec(row);
  if (spec.problem.n_q != spec.problem.n_k) return std::nullopt;
  spec.problem.n_q = 1;
  const std::int64_t n = std::exchange(spec.problem.n_k, 1);
  return Place{fmt::format("{} {}", table.run_index(row), canonical_text(spec)), n};
}

std::string problem_key(const PointTable& table, Row row) {
  const PointSpec spec = table.spec(row);
  return fmt::format("{} {} {}", table.run_index(row), describe(spec.problem), to_string(spec.cache));
}

double time_at(const PointTable& table, Row row) {
  return table.values(metric_key::time_median_ns).at(row).value_or(std::numeric_limits<double>::infinity());
}

std::map<std::string, Row> fastest_rows(const PointTable& table, std::span<const Row> rows,
                                        std::string_view algorithm) {
  std::map<std::string, Row> best;
  for (const Row row : rows) {
    if (table.algorithm(row) != algorithm || !has_valid_times(table, row)) continue;
    const auto [place, fresh] = best.emplace(problem_key(table, row), row);
    if (!fresh && time_at(table, row) < time_at(table, place->second)) place->second = row;
  }
  return best;
}

}  // namespace

bool has_valid_times(const PointTable& table, Row row) {
  const Disposition disposition = table.disposition(row);
  return disposition == Disposition::ok || disposition == Disposition::no_counters;
}

std::vector<Pair> find_doubled_pairs(const PointTable& table, std::span<const Row> rows, std::string_view metric) {
  std::map<std::string, std::map<std::int64_t, Row>> groups;
  std::vector<std::pair<Place, Row>> places;
  for (const Row row : rows) {
    if (!has_valid_times(table, row)) continue;
    std::optional<Place> place = place_of(table, row);
    if (!place) continue;
    groups[place->key].emplace(place->n, row);
    places.emplace_back(*std::move(place), row);
  }
  std::vector<Pair> pairs;
  for (const auto& [place, row] : places) {
    const auto& group = groups[place.key];
    const auto twice = group.find(2 * place.n);
    // Use only the first of repeated points.
    if (twice == group.end() || group.at(place.n) != row) continue;
    if (const std::optional<Pair> pair = pair_of(table, row, twice->second, metric)) pairs.push_back(*pair);
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
    AttentionProblem like = table.problem(pair.to);
    if (like.n_q != like.n_k) continue;
    like.n_q = like.n_k = 1;
    Crossover& group = groups[fmt::format("{} {}", table.run_index(pair.to), describe(like))];
    group.like = like;
    group.pairs.push_back(pair);
  }
  std::vector<Crossover> all;
  for (auto& [key, group] : groups) {
    group.never = group.pairs.back().ratio() >= 1;
    // Use the last crossing, because at small N curves may cross more than once.
    for (std::size_t i = group.pairs.size(); i-- > 1 && !group.never;) {
      const double below = std::log(group.pairs[i - 1].ratio());
      const double above = std::log(group.pairs[i].ratio());
      if (above >= 0 || below < 0) continue;
      const double n0 = std::log(static_cast<double>(table.n_k(group.pairs[i - 1].to)));
      const double n1 = std::log(static_cast<double>(table.n_k(group.pairs[i].to)));
      group.n = std::exp(n0 + (n1 - n0) * below / (below - above));
      break;
    }
    all.push_back(std::move(group));
  }
  return all;
}

}  // namespace attnscope::analysis::lesson
