// SPDX-License-Identifier: Apache-2.0
#include "profiler/plan/shards.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>

#include "kernels/model/parse.h"
#include "kernels/model/pipeline_model.h"
#include "profiler/plan/fields.h"
#include "profiler/plan/text.h"

namespace attnscope {
namespace {

/// Cost per point: fixed overhead, and launches per point for timing, counters and verification; from the recorded
/// samples.
constexpr double overhead_ms_per_point = 50;
constexpr double runs_per_launch = 45;
/// A bundle stays whole if it takes at most 1/8 of a shard's time.
constexpr std::int64_t bundle_fraction = 8;

std::string problem_text(PointSpec spec, bool lengths) {
  spec.set_config({});
  if (!lengths) spec.problem.n_q = spec.problem.n_k = 1;
  return canonical_text(spec);
}

std::int64_t ms_of(const PointIndices& places, std::span<const std::int64_t> ms) {
  return std::accumulate(places.begin(), places.end(), std::int64_t{0},
                         [&](std::int64_t sum, std::size_t place) { return sum + ms[place]; });
}

}  // namespace

Result<Shard, Message> parse_shard(std::string_view text) {
  const std::vector<std::string_view> parts = split_text(text, '/');
  const auto number = parse_number<int>(parts.front());
  const auto count = parse_number<int>(parts.back());
  if (parts.size() == 2 && number && count && *number >= 1 && *number <= *count && *count <= max_shards) {
    return Shard{.number = *number, .count = *count};
  }
  return Failure{make_message("invalid shard '{}'; expected K/N, such as 3/8, with N at most {}", text, max_shards)};
}

std::string to_string(const Shard& shard) {
  return fmt::format("{}/{}", shard.number, shard.count);
}

std::vector<PointIndices> comparison_groups(std::span<const PointSpec> points) {
  struct Family {
    std::map<std::string, PointIndices> by_problem;
    PointIndices all;
  };
  std::unordered_map<std::string, Family> families;
  for (std::size_t i = 0; i < points.size(); ++i) {
    Family& family = families[problem_text(points[i], false)];
    family.by_problem[problem_text(points[i], true)].push_back(i);
    family.all.push_back(i);
  }
  std::vector<PointIndices> groups;
  for (auto& [text, family] : families) {
    std::size_t largest_map = 0;
    for (const auto& [problem, places] : family.by_problem) largest_map = std::max(largest_map, places.size());
    const bool is_maps = largest_map > 1 && largest_map >= family.by_problem.size();
    if (!is_maps) {
      groups.push_back(std::move(family.all));
      continue;
    }
    for (auto& [problem, places] : family.by_problem) groups.push_back(std::move(places));
  }
  std::ranges::sort(groups);
  return groups;
}

std::vector<std::size_t> input_bundles(std::span<const PointSpec> points, std::span<const PointIndices> groups) {
  std::vector<std::size_t> joined(groups.size());
  std::iota(joined.begin(), joined.end(), std::size_t{0});
  const auto root = [&](std::size_t group) {
    while (joined[group] != group) group = joined[group] = joined[joined[group]];
    return group;
  };
  std::vector<std::size_t> group_of(points.size(), groups.size());
  for (std::size_t g = 0; g < groups.size(); ++g) {
    for (const std::size_t place : groups[g]) group_of[place] = g;
  }
  for (std::size_t i = 1; i < points.size(); ++i) {
    if (group_of[i - 1] == groups.size() || group_of[i] == groups.size()) continue;
    if (!(points[i].problem == points[i - 1].problem)) continue;
    const auto [first, second] = std::minmax({root(group_of[i - 1]), root(group_of[i])});
    joined[second] = first;
  }
  for (std::size_t g = 0; g < groups.size(); ++g) joined[g] = root(g);
  return joined;
}

std::vector<std::int64_t> predicted_collection_ms(std::span<const PointSpec> points, const Registry& registry) {
  const DeviceLimits& gpu = known_gpus().front();
  constexpr double day_ms = 86'400e3;
  std::vector<std::int64_t> all;
  all.reserve(points.size());
  for (const PointSpec& point : points) {
    const Algorithm* algorithm = registry.find(point.algorithm);
    const AttentionModel model =
        algorithm == nullptr ? AttentionModel() : algorithm->model(point.problem, point.config(), gpu);
    double ms = 0;
    if (algorithm != nullptr && !model.refusal) {
      const double ns =
          model.can_predict_time ? point_ns(model.schedule, predict_times(model, gpu), device_rates(gpu)) : 0;
      ms = overhead_ms_per_point + runs_per_launch * ns * 1e-6;
    }
    all.push_back(std::llround(std::isfinite(ms) ? std::min(ms, day_ms) : day_ms));
  }
  return all;
}

std::vector<PointIndices> cut(std::span<const PointSpec> points, std::span<const std::int64_t> ms, int count) {
  const std::vector<PointIndices> groups = comparison_groups(points);
  const std::vector<std::size_t> bundle_of = input_bundles(points, groups);
  const std::int64_t total = std::accumulate(ms.begin(), ms.end(), std::int64_t{0});
  std::vector<std::int64_t> bundle_ms(groups.size());
  for (std::size_t g = 0; g < groups.size(); ++g) bundle_ms[bundle_of[g]] += ms_of(groups[g], ms);
  std::map<std::size_t, PointIndices> together;
  std::vector<std::pair<std::int64_t, PointIndices>> units;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const std::size_t bundle = bundle_of[g];
    if (bundle_ms[bundle] > total / (bundle_fraction * count)) {
      units.emplace_back(ms_of(groups[g], ms), groups[g]);
    } else {
      together[bundle].insert(together[bundle].end(), groups[g].begin(), groups[g].end());
    }
  }
  for (auto& [bundle, places] : together) units.emplace_back(bundle_ms[bundle], std::move(places));
  std::ranges::sort(
      units, [](const auto& a, const auto& b) { return a.first != b.first ? a.first > b.first : a.second < b.second; });
  std::vector<PointIndices> shards(static_cast<std::size_t>(count));
  std::set<std::pair<std::int64_t, std::size_t>> loads;
  for (std::size_t i = 0; i < shards.size(); ++i) loads.emplace(0, i);
  for (const auto& [unit_ms, places] : units) {
    const auto [load, shard] = *loads.begin();
    loads.erase(loads.begin());
    loads.emplace(load + unit_ms, shard);
    shards[shard].insert(shards[shard].end(), places.begin(), places.end());
  }
  for (PointIndices& shard : shards) std::ranges::sort(shard);
  return shards;
}

std::string partition_uid(std::string_view plan_hash, std::span<const PointIndices> shards,
                          std::string_view collection) {
  std::string text = fmt::format("{}\n{}\n", plan_hash, collection);
  for (const PointIndices& places : shards) text += fmt::format("{}\n", fmt::join(places, " "));
  return fmt::format("{:016x}{:016x}", fnv1a(text), fnv1a(text, ~fnv_basis));
}

}  // namespace attnscope
