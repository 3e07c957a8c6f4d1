// SPDX-License-Identifier: Apache-2.0
#include "profiler/plan/round_order.h"

#include <limits>
#include <numeric>
#include <random>
#include <utility>

namespace attnscope {
namespace {

/// Uniform in [0, bound). std::uniform_int_distribution differs between standard libraries.
std::size_t below(std::uint64_t bound, std::mt19937_64& random) {
  const std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  const std::uint64_t fair = most - (most % bound);  // larger draws would bias small results
  std::uint64_t drawn = random();
  while (drawn >= fair) drawn = random();
  return static_cast<std::size_t>(drawn % bound);
}

}  // namespace

std::vector<std::size_t> round_order(std::size_t points, int round, const SweepRounds& rounds) {
  std::vector<std::size_t> order(points);
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (rounds.count <= 1) return order;
  std::seed_seq seed{static_cast<std::uint32_t>(rounds.seed), static_cast<std::uint32_t>(rounds.seed >> 32U),
                     static_cast<std::uint32_t>(round)};
  std::mt19937_64 random(seed);
  for (std::size_t i = points; i > 1; --i) std::swap(order[i - 1], order[below(i, random)]);
  return order;
}

}  // namespace attnscope
