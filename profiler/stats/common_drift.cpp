// SPDX-License-Identifier: Apache-2.0
#include "profiler/stats/ratio_estimates.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>

namespace attnscope::analysis {
namespace {

/// Rounds with fewer values have too few neighbors for a running mean.
constexpr std::size_t min_values_per_round = 160;
constexpr std::size_t min_neighbors = 24;
constexpr std::size_t max_neighbors = 80;
constexpr std::size_t knots_per_width = 8;
/// Backfitting iterations; further ones change the result by less than its uncertainty.
constexpr int turns = 4;

struct Knot {
  double moment = 0;
  double course = 0;
};

/// Returns the number of neighbors averaged in a round of this many values.
std::size_t width_of(std::size_t values) {
  return std::clamp(values / 50, min_neighbors, max_neighbors);
}

double median_point(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

/// Returns each value's deviation from its series' mean, clipped to three robust standard deviations (scaled MAD).
std::vector<double> clipped_deviations(std::span<const TimedValue> values, std::span<const std::size_t> round,
                                       const std::vector<double>& means) {
  constexpr double mad_to_sd = 1.4826;  // MAD to standard deviation of a normal distribution
  constexpr double farthest = 3;
  std::vector<double> above;
  above.reserve(round.size());
  for (const std::size_t place : round) above.push_back(values[place].log - means[values[place].series]);
  const double center = median_point(above);
  std::vector<double> distances(above.size());
  std::ranges::transform(above, distances.begin(), [&](double value) { return std::abs(value - center); });
  const double bound = farthest * mad_to_sd * median_point(std::move(distances));
  for (double& value : above) value = std::clamp(value, center - bound, center + bound);
  return above;
}

std::vector<Knot> make_knots(std::span<const TimedValue> values, std::span<const std::size_t> round,
                             const std::vector<double>& above) {
  const std::size_t width = width_of(round.size());
  const std::size_t step = width / knots_per_width;
  std::vector<Knot> knots;
  knots.reserve((round.size() - width) / step + 1);
  for (std::size_t begin = 0; begin + width <= round.size(); begin += step) {
    Knot& knot = knots.emplace_back();
    for (std::size_t i = begin; i < begin + width; ++i) {
      knot.moment += values[round[i]].moment / static_cast<double>(width);
      knot.course += above[i] / static_cast<double>(width);
    }
  }
  return knots;
}

/// Interpolates linearly between knots, constant beyond the outer ones. Removes each value's own contribution to its
/// knot so that its own noise is not subtracted.
void follow(const std::vector<Knot>& knots, std::span<const TimedValue> values, std::span<const std::size_t> round,
            const std::vector<double>& above, std::vector<double>& course) {
  const double own = 1 / static_cast<double>(width_of(round.size()));
  std::size_t next = 0;
  for (std::size_t i = 0; i < round.size(); ++i) {
    const double moment = values[round[i]].moment;
    while (next < knots.size() && knots[next].moment <= moment) ++next;
    double found = knots[next == 0 ? 0 : next - 1].course;
    if (next > 0 && next < knots.size()) {
      const Knot& before = knots[next - 1];
      const double part = (moment - before.moment) / (knots[next].moment - before.moment);
      found = (1 - part) * before.course + part * knots[next].course;
    }
    course[round[i]] = (found - own * above[i]) / (1 - own);
  }
}

}  // namespace

std::vector<double> common_drift(std::span<const TimedValue> values, std::size_t count) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t place) { return values[place].moment; });
  std::vector<std::span<const std::size_t>> rounds;
  for (std::size_t begin = 0; begin < order.size();) {
    const double round = std::floor(values[order[begin]].moment);
    std::size_t end = begin;
    while (end < order.size() && values[order[end]].moment < round + 1) ++end;
    if (end - begin < min_values_per_round) return {};
    rounds.push_back(std::span<const std::size_t>(order).subspan(begin, end - begin));
    begin = end;
  }
  std::vector<double> course(values.size());
  std::vector<double> sizes(count);
  for (const TimedValue& value : values) ++sizes[value.series];
  for (int turn = 0; turn < turns; ++turn) {
    std::vector<double> means(count);
    for (std::size_t i = 0; i < values.size(); ++i) {
      means[values[i].series] += (values[i].log - course[i]) / sizes[values[i].series];
    }
    for (const std::span<const std::size_t> round : rounds) {
      const std::vector<double> above = clipped_deviations(values, round, means);
      follow(make_knots(values, round, above), values, round, above, course);
    }
  }
  return course;
}

}  // namespace attnscope::analysis
