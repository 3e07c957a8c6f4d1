// SPDX-License-Identifier: Apache-2.0
#include "profiler/predict/tile_rule.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <utility>
#include <vector>

namespace attnscope::analysis {
namespace {

constexpr int step = 16;
constexpr std::array usual_sides{16, 32, 48, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384, 448, 512};

std::span<const int> sweep_sides(const std::vector<int>& stated) {
  return stated.empty() ? std::span<const int>(usual_sides) : stated;
}

Knobs without_tile_knobs(const Algorithm& algorithm, const Knobs& given) {
  Knobs kept = given;
  for (const Knob& knob : algorithm.facts().knobs) {
    if (knob.depends_on_tile && given.find(knob.name) != nullptr) kept.set(knob.name, std::int64_t{0});
  }
  return kept;
}

/// The paper's rule in terms of outer and inner side.
class PaperRule {
 public:
  PaperRule(const Algorithm& algorithm, const AttentionProblem& problem, const Config& config,
            const DeviceLimits& device)
      : algorithm_(algorithm),
        problem_(problem),
        device_(device),
        outer_(algorithm.facts().traffic_side(problem.pass)),
        knobs_(without_tile_knobs(algorithm, config.knobs)) {}

  [[nodiscard]] TileShape asked(std::int64_t m_bytes) const {
    const PaperTile paper = paper_tile(m_bytes / bytes_per_element(problem_.dtype), problem_.d);
    return shape(static_cast<int>(paper.bc), static_cast<int>(paper.br));
  }

  /// Largest tile of the rule that is feasible with `m_bytes` of shared memory.
  [[nodiscard]] std::optional<Config> config(std::int64_t m_bytes) const {
    for (int outer = max_outer(m_bytes); outer >= step; outer -= step) {
      const TileShape tile = with_outer(outer);
      if (!refusal(tile, m_bytes)) return Config(tile, knobs_);
    }
    return std::nullopt;
  }

  /// Why the next larger tile of the rule is infeasible with all of the device's shared memory.
  [[nodiscard]] std::optional<Refusal> limiting_refusal(const TileShape& chosen) const {
    const int next = outer_side(chosen) + step;
    if (next > max_outer(device_.shared_bytes_per_block)) return std::nullopt;
    return refusal(with_outer(next), device_.shared_bytes_per_block);
  }

 private:
  [[nodiscard]] TileShape shape(int outer, int inner) const {
    return outer_ == TileSide::bc ? TileShape{.br = inner, .bc = outer} : TileShape{.br = outer, .bc = inner};
  }
  /// Tile of the rule with outer side `outer`.
  [[nodiscard]] TileShape with_outer(int outer) const {
    return tile_of_memory(4 * problem_.d * outer, problem_.d, outer_);
  }
  [[nodiscard]] int max_outer(std::int64_t m_bytes) const {
    const std::int64_t elements = std::max<std::int64_t>(1, m_bytes / bytes_per_element(problem_.dtype));
    return std::min(outer_side(tile_of_memory(elements, problem_.d, outer_)), tile_side_limit);
  }
  [[nodiscard]] int outer_side(const TileShape& tile) const { return outer_ == TileSide::bc ? tile.bc : tile.br; }
  [[nodiscard]] std::optional<Refusal> refusal(const TileShape& tile, std::int64_t m_bytes) const {
    DeviceLimits within = device_;
    within.shared_bytes_per_block = std::min(m_bytes, device_.shared_bytes_per_block);
    return algorithm_.refusal(problem_, Config(tile, knobs_), within);
  }

  const Algorithm& algorithm_;
  const AttentionProblem& problem_;
  const DeviceLimits& device_;
  TileSide outer_;
  Knobs knobs_;
};

}  // namespace

double tile_distance(const TileShape& a, const TileShape& b) {
  const auto logarithm = [](int of, int over) { return std::log(static_cast<double>(of) / over); };
  const double rows = logarithm(a.br, b.br);
  const double keys = logarithm(a.bc, b.bc);
  return std::sqrt(rows * rows + keys * keys);  // not std::hypot: it would require glibc 2.35
}

std::optional<Config> nearest_tile(const Algorithm& algorithm, const AttentionProblem& problem, const Config& config,
                                   const DeviceLimits& device) {
  struct Candidate {
    TileShape tile;
    double distance;
  };
  const TileShape from{.br = std::max(1, config.tile.br), .bc = std::max(1, config.tile.bc)};
  std::vector<Candidate> candidates;
  const auto sides = [](std::vector<int> stated) {
    if (!stated.empty()) return stated;
    for (int side = step; side <= tile_side_limit; side += step) stated.push_back(side);
    return stated;
  };
  for (const int br : sides(algorithm.facts().br)) {
    for (const int bc : sides(algorithm.facts().bc)) {
      const TileShape tile{.br = br, .bc = bc};
      candidates.push_back({tile, tile_distance(tile, from)});
    }
  }
  std::ranges::sort(candidates, [](const Candidate& a, const Candidate& b) {
    if (a.distance != b.distance) return a.distance < b.distance;
    return a.tile.br * a.tile.bc > b.tile.br * b.tile.bc;
  });
  const Knobs knobs = without_tile_knobs(algorithm, config.knobs);
  for (const Candidate& candidate : candidates) {
    Config tried(candidate.tile, knobs);
    if (!algorithm.refusal(problem, tried, device)) return tried;
  }
  return std::nullopt;
}

std::vector<Config> usual_tiles(const Algorithm& algorithm, const Config& config) {
  const Knobs knobs = without_tile_knobs(algorithm, config.knobs);
  std::vector<Config> tiles;
  for (const int br : sweep_sides(algorithm.facts().br)) {
    for (const int bc : sweep_sides(algorithm.facts().bc)) tiles.emplace_back(TileShape{.br = br, .bc = bc}, knobs);
  }
  return tiles;
}

std::vector<TileShape> tiles_around(const Facts& facts, const TileShape& tile, int steps) {
  const auto near = [&](int side, const std::vector<int>& stated) {
    const std::span<const int> sides = sweep_sides(stated);
    const auto below = std::ranges::lower_bound(sides, side);
    const auto above = std::ranges::upper_bound(sides, side);
    std::vector<int> some(below - std::min<std::ptrdiff_t>(steps, below - sides.begin()), below);
    some.push_back(side);
    some.insert(some.end(), above, above + std::min<std::ptrdiff_t>(steps, sides.end() - above));
    return some;
  };
  std::vector<TileShape> tiles;
  for (const int br : near(tile.br, facts.br)) {
    for (const int bc : near(tile.bc, facts.bc)) {
      if (const TileShape other{.br = br, .bc = bc}; other != tile) tiles.push_back(other);
    }
  }
  std::ranges::stable_sort(tiles, {}, [&](const TileShape& other) { return tile_distance(other, tile); });
  return tiles;
}

std::optional<RuleTile> paper_rule_tile(const Algorithm& algorithm, const AttentionProblem& problem,
                                        const Config& config, const DeviceLimits& device, std::int64_t m_bytes) {
  const TileSide outer = algorithm.facts().traffic_side(problem.pass);
  if (outer == TileSide::none) return std::nullopt;
  const PaperRule rule(algorithm, problem, config, device);
  RuleTile result;
  result.outer = outer;
  result.m_bytes = std::min(m_bytes, device.shared_bytes_per_block);
  result.asked = rule.asked(result.m_bytes);
  result.config = rule.config(result.m_bytes);
  if (!result.config) return result;
  // The rule is monotonic in M and feasibility is, too, so comparing the two ends suffices.
  result.unchanged_by_larger_m = rule.config(device.shared_bytes_per_block) == result.config;
  if (result.unchanged_by_larger_m) result.limiting_refusal = rule.limiting_refusal(result.config->tile);
  return result;
}

}  // namespace attnscope::analysis
