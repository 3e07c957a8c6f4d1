// SPDX-License-Identifier: Apache-2.0
#include "profiler/stats/one_clock.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

namespace attnscope::analysis {
namespace {

/// Prior of the slope: mean and standard deviation over the points measured.
constexpr double usual_slope = -0.7;
constexpr double spread_of_slopes = 0.35;
/// z-score exceeded by chance in one of 1,000 rows.
constexpr double hardly_by_chance = 3.3;
/// z-score exceeded by chance in one of 20 rows.
constexpr double seldom_by_chance = 2;
/// Maximum error of a log time due to the slope's uncertainty; well below any margin.
constexpr double most_unknown = 0.002;
/// Floor of the residual variance: clock resolution.
constexpr double least_residual = 1e-7;

double log_ghz(const RoundsOfSide& side, std::size_t round) {
  return std::log(side.cycles[round] / side.ns[round]);
}

/// Sums of squares and products about the mean of each recording.
struct Scatter {
  double clocks = 0;
  double times = 0;
  double both = 0;
  double freedom = 0;

  void add(const RoundsOfSide& side) {
    std::map<std::uint32_t, std::vector<std::size_t>> recordings;
    for (std::size_t k = 0; k < side.ns.size(); ++k) {
      recordings[side.recordings.empty() ? 0 : side.recordings[k]].push_back(k);
    }
    for (const auto& [recording, rounds] : recordings) {
      double clock = 0;
      double time = 0;
      for (const std::size_t k : rounds) {
        clock += log_ghz(side, k) / static_cast<double>(rounds.size());
        time += std::log(side.ns[k]) / static_cast<double>(rounds.size());
      }
      for (const std::size_t k : rounds) {
        const double of_clock = log_ghz(side, k) - clock;
        const double of_time = std::log(side.ns[k]) - time;
        clocks += of_clock * of_clock;
        times += of_time * of_time;
        both += of_clock * of_time;
      }
      freedom += static_cast<double>(rounds.size() - 1);
    }
  }
};

double mean_clock(const RoundsOfSide& side) {
  double sum = 0;
  for (std::size_t k = 0; k < side.ns.size(); ++k) sum += log_ghz(side, k);
  return sum / static_cast<double>(side.ns.size());
}

}  // namespace

std::optional<ClockLine> clock_line(std::span<const RoundsOfSide* const> sides) {
  Scatter scatter;
  double clock = 0;
  double rounds = 0;
  for (const RoundsOfSide* side : sides) {
    if (side->ns.empty() || side->cycles.size() != side->ns.size()) return std::nullopt;
    scatter.add(*side);
    const auto count = static_cast<double>(side->ns.size());
    clock += count * mean_clock(*side);
    rounds += count;
  }
  if (!(rounds > 0)) return std::nullopt;
  // Ridge regression: posterior mean of the slope under a normal prior.
  double left = scatter.times;
  if (scatter.clocks > 0) left -= scatter.both * scatter.both / scatter.clocks;
  const double variance = std::max(left / std::max(scatter.freedom - 1, 1.0), least_residual);
  const double weight = variance / (spread_of_slopes * spread_of_slopes);
  const double slope = (scatter.both + weight * usual_slope) / (scatter.clocks + weight);
  return ClockLine{.slope = std::clamp(slope, -1.0, 0.0),
                   .slope_error = std::sqrt(variance / (scatter.clocks + weight)),
                   .log_ghz = clock / rounds};
}

std::vector<double> times_at(const ClockLine& line, const RoundsOfSide& side) {
  std::vector<double> times(side.ns);
  for (std::size_t k = 0; k < times.size(); ++k) {
    times[k] *= std::exp(line.slope * (line.log_ghz - log_ghz(side, k)));
  }
  return times;
}

void hold_clock(ComparedRow& row) {
  const std::array<const RoundsOfSide*, 2> sides{&row.base, &row.other};
  const std::optional<ClockLine> line = clock_line(sides);
  if (!line) return;
  double error = 0;
  for (const RoundsOfSide* side : sides) {
    Scatter scatter;
    scatter.add(*side);
    if (scatter.freedom > 0) error += scatter.clocks / scatter.freedom / static_cast<double>(side->ns.size());
  }
  const double apart = mean_clock(row.other) - mean_clock(row.base);
  if (std::abs(apart) * line->slope_error > most_unknown) return;
  if (row.paired && std::abs(apart) > seldom_by_chance * std::sqrt(error)) return;
  row.clock_shift = line->slope * apart;
  row.clocks_differ = std::abs(apart) > hardly_by_chance * std::sqrt(error);
  std::vector<double> base = times_at(*line, row.base);
  row.other.ns = times_at(*line, row.other);
  row.base.ns = std::move(base);
  row.one_clock = true;
}

}  // namespace attnscope::analysis
