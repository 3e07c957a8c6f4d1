// SPDX-License-Identifier: Apache-2.0
#include "profiler/tune.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <numeric>
#include <tuple>
#include <utility>

#include "profiler/metrics.h"

namespace attnscope {
namespace {

constexpr std::array br_steps{16, 32, 48, 64, 80, 96, 128, 160, 192, 256};
constexpr std::array bc_steps{16, 32, 48, 64, 80, 96, 112, 128, 144, 160, 176, 192, 224, 256, 320, 384, 448, 512};
/// Beyond it a tile will not turn out to be the best at another length.
constexpr double worth_a_second_look = 1.15;
/// Up to it, other numbers of warps and stages are tried as well.
constexpr double worth_variants = 1.03;
/// Ratios of repeated measurements of one tile differ by about as much.
constexpr double noise = 0.01;
constexpr double unusable = 1e9;

AttentionProblem cell(const TuneRequest& request, Pass pass, const Mask& mask, std::int64_t d, std::int64_t n) {
  const std::int64_t heads = std::max<std::int64_t>(1, request.hidden / d);
  return {.dtype = request.dtype,
          .pass = pass,
          .mask = mask,
          .batch = std::max<std::int64_t>(1, request.tokens / n),
          .heads_q = heads,
          .heads_kv = heads,
          .n_q = n,
          .n_k = n,
          .d = d};
}

/// Measures tiles of one algorithm, one cell after another.
class Tuner {
 public:
  Tuner(Device& device, const Algorithm& algorithm, const TuneObserver& observer, const CancelToken& cancel)
      : device_(device), algorithm_(algorithm), observer_(observer), cancel_(cancel) {}

  /// Medians in the order of the tiles; nothing for one that could not be measured.
  std::vector<std::optional<double>> measure(const std::vector<TileShape>& tiles, const AttentionProblem& problem,
                                             int samples) {
    std::vector<PointSpec> points;
    points.reserve(tiles.size());
    for (const TileShape& tile : tiles) {
      points.push_back({.algorithm = std::string(algorithm_.name()), .problem = problem, .tile = tile});
    }
    device_.prepare(points, cancel_, [](std::size_t, std::size_t, const BuildReport&) {});
    MeasureOptions options;
    options.counters = false;
    options.verify = false;
    options.min_samples = samples;
    options.max_samples = 3 * samples;
    std::vector<std::optional<double>> medians;
    for (const PointSpec& point : points) {
      medians.emplace_back();
      if (cancel_.cancelled() || !device_.usable()) continue;
      const PointRecord record = device_.measure(point, options, cancel_);
      const auto median = evaluate(metric_key::time_median_ns, record);
      if (record.disposition == Disposition::ok && median) {
        medians.back() = median->value;
      } else if (observer_.on_failure) {
        observer_.on_failure(record);
      }
    }
    return medians;
  }

 private:
  Device& device_;
  const Algorithm& algorithm_;
  const TuneObserver& observer_;
  const CancelToken& cancel_;
};

/// Other numbers of warps and stages for the fastest tiles, as far as the algorithm has them.
std::vector<TileShape> variants(const Algorithm& algorithm, const AttentionProblem& problem, const DeviceLimits& limits,
                                const std::vector<TileShape>& tiles) {
  std::vector<TileShape> found;
  for (const TileShape& tile : tiles) {
    for (const int warps : {0, tile.br / 16, tile.br / 32}) {
      for (const int stages : {0, 1, 2, 3}) {
        TileShape other = tile;
        other.warps = warps;
        other.stages = stages;
        if (other == tile || std::ranges::find(found, other) != found.end()) continue;
        if (!algorithm.refusal(problem, other, limits)) found.push_back(other);
      }
    }
  }
  return found;
}

double fastest(const std::vector<std::optional<double>>& medians) {
  double least = 0;
  for (const auto& median : medians) {
    if (median && (least == 0 || *median < least)) least = *median;
  }
  return least;
}

}  // namespace

std::vector<TileShape> tune_candidates(const Algorithm& algorithm, const AttentionProblem& problem,
                                       const DeviceLimits& limits) {
  std::vector<TileShape> tiles;
  for (const int br : br_steps) {
    for (const int bc : bc_steps) {
      const TileShape tile{.br = br, .bc = bc};
      if (!algorithm.refusal(problem, tile, limits)) tiles.push_back(tile);
    }
  }
  // The algorithm's own rule may lie between the steps.
  const TileShape rule = algorithm.default_tile(problem, limits);
  if (!algorithm.refusal(problem, rule, limits) && std::ranges::find(tiles, rule) == tiles.end()) tiles.push_back(rule);
  return tiles;
}

std::vector<TuneResult> tune(Device& device, const TuneRequest& request, const TuneObserver& observer,
                             const CancelToken& cancel) {
  const DeviceLimits& limits = device.info().limits;
  std::vector<TuneResult> results;
  const auto one = [&](const Algorithm& algorithm, Pass pass, const Mask& mask, std::int64_t d) {
    const std::int64_t middle = request.lengths[request.lengths.size() / 2];
    std::vector<TileShape> tiles = tune_candidates(algorithm, cell(request, pass, mask, d, middle), limits);
    if (tiles.empty()) return;
    Tuner tuner(device, algorithm, observer, cancel);
    TuneResult result;
    result.tiles = tiles.size();
    const auto screened = tuner.measure(tiles, cell(request, pass, mask, d, middle), 5);
    const double best = fastest(screened);
    if (best == 0) return;
    std::vector<TileShape> kept;
    std::vector<TileShape> leading;
    for (std::size_t i = 0; i < tiles.size(); ++i) {
      if (!screened[i]) continue;
      result.samples.push_back({tiles[i], middle, *screened[i]});
      if (*screened[i] <= worth_a_second_look * best) kept.push_back(tiles[i]);
      if (*screened[i] <= worth_variants * best) leading.push_back(tiles[i]);
    }
    std::ranges::move(variants(algorithm, cell(request, pass, mask, d, middle), limits, leading),
                      std::back_inserter(kept));
    std::vector<double> worst(kept.size(), 1.0);
    std::vector<double> mean(kept.size(), 0.0);  // of the ratios' logarithms
    for (const std::int64_t n : request.lengths) {
      const auto medians = tuner.measure(kept, cell(request, pass, mask, d, n), 10);
      const double least = fastest(medians);
      for (std::size_t i = 0; i < kept.size(); ++i) {
        // What fails at one length is no choice for all of them.
        worst[i] = medians[i] ? std::max(worst[i], *medians[i] / least) : unusable;
        if (medians[i]) mean[i] += std::log(*medians[i] / least);
        if (medians[i]) result.samples.push_back({kept[i], n, *medians[i]});
      }
    }
    if (cancel.cancelled() || !device.usable()) return;
    std::vector<std::size_t> order(kept.size());
    std::iota(order.begin(), order.end(), 0U);
    const double least_worst = std::ranges::min(worst);
    std::ranges::stable_sort(order, {}, [&](std::size_t i) {
      // Worst ratios as near as repeated measurements are count as equal; then the mean decides.
      const bool near = worst[i] <= least_worst + noise;
      return std::tuple{near ? least_worst : worst[i], mean[i]};
    });
    const std::size_t chosen = order.front();
    const std::size_t second = order[std::min<std::size_t>(1, order.size() - 1)];
    result.worst_ratio = worst[chosen];
    std::string reason = fmt::format("of {} tiles; at worst {:.3f} of the fastest at N {}", result.tiles,
                                     result.worst_ratio, fmt::join(request.lengths, " "));
    if (second != chosen) {
      reason += fmt::format("; next {}x{} at worst {:.3f}", kept[second].br, kept[second].bc, worst[second]);
    }
    result.choice = {.algorithm = std::string(algorithm.name()),
                     .pass = pass,
                     .arch = fmt::format("{}.{}", limits.compute_major, limits.compute_minor),
                     .causal = mask.right != Mask::unlimited,
                     .d = d,
                     .tile = kept[chosen],
                     .reason = std::move(reason)};
    if (observer.on_choice) observer.on_choice(result);
    results.push_back(std::move(result));
  };
  for (const std::string& name : request.algorithms) {
    const Algorithm& algorithm = *find_algorithm(name);
    const auto dims = algorithm.head_dims();
    for (const Pass pass : request.passes) {
      for (const Mask& mask : request.masks) {
        for (const std::int64_t d : request.head_dims) {
          if (cancel.cancelled() || !device.usable()) return results;
          if (std::ranges::find(dims, d) != dims.end()) one(algorithm, pass, mask, d);
        }
      }
    }
  }
  return results;
}

std::vector<TileChoice> merge_choices(std::span<const TileChoice> old, std::span<const TuneResult> found) {
  const auto key = [](const TileChoice& c) { return std::tie(c.algorithm, c.pass, c.arch, c.causal, c.d); };
  std::vector<TileChoice> merged(old.begin(), old.end());
  for (const TuneResult& result : found) {
    std::erase_if(merged, [&](const TileChoice& c) { return key(c) == key(result.choice); });
    merged.push_back(result.choice);
  }
  std::ranges::sort(merged, {}, key);
  return merged;
}

}  // namespace attnscope
