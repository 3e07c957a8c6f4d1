// SPDX-License-Identifier: Apache-2.0
#include "profiler/stats/clock_normalization.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

namespace attnscope::analysis {
namespace {

/// Prior of the slope: mean and standard deviation over the points measured.
constexpr double prior_slope = -0.7;
constexpr double prior_slope_sd = 0.35;
/// z-score exceeded by chance in one of 1,000 rows.
constexpr double z_one_in_1000 = 3.3;
/// z-score exceeded by chance in one of 20 rows.
constexpr double z_one_in_20 = 2;
/// Maximum error of a log time due to the slope's uncertainty; well below any margin.
constexpr double max_slope_error = 0.002;
/// Floor of the residual variance: clock resolution.
constexpr double min_residual_variance = 1e-7;

double log_ghz(const SideRounds& side, std::size_t round) {
  return std::log(side.cycles[round] / side.ns[round]);
}

/// Sums of squares and products about the mean of each recording.
struct Scatter {
  double clocks = 0;
  double times = 0;
  double both = 0;
  double dof = 0;

  void add(const SideRounds& side) {
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
      dof += static_cast<double>(rounds.size() - 1);
    }
  }
};

double mean_clock(const SideRounds& side) {
  double sum = 0;
  for (std::size_t k = 0; k < side.ns.size(); ++k) sum += log_ghz(side, k);
  return sum / static_cast<double>(side.ns.size());
}

}  // namespace

std::optional<ClockFit> fit_clock(std::span<const SideRounds* const> sides) {
  Scatter scatter;
  double clock = 0;
  double rounds = 0;
  for (const SideRounds* side : sides) {
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
  const double variance = std::max(left / std::max(scatter.dof - 1, 1.0), min_residual_variance);
  const double weight = variance / (prior_slope_sd * prior_slope_sd);
  const double slope = (scatter.both + weight * prior_slope) / (scatter.clocks + weight);
  return ClockFit{.slope = std::clamp(slope, -1.0, 0.0),
                  .slope_error = std::sqrt(variance / (scatter.clocks + weight)),
                  .log_ghz = clock / rounds};
}

std::vector<double> times_at(const ClockFit& line, const SideRounds& side) {
  std::vector<double> times(side.ns);
  for (std::size_t k = 0; k < times.size(); ++k) {
    times[k] *= std::exp(line.slope * (line.log_ghz - log_ghz(side, k)));
  }
  return times;
}

void normalize_clock(ComparedRow& row) {
  const std::array<const SideRounds*, 2> sides{&row.base, &row.other};
  const std::optional<ClockFit> line = fit_clock(sides);
  if (!line) return;
  double error = 0;
  for (const SideRounds* side : sides) {
    Scatter scatter;
    scatter.add(*side);
    if (scatter.dof > 0) error += scatter.clocks / scatter.dof / static_cast<double>(side->ns.size());
  }
  const double apart = mean_clock(row.other) - mean_clock(row.base);
  if (std::abs(apart) * line->slope_error > max_slope_error) return;
  if (row.paired && std::abs(apart) > z_one_in_20 * std::sqrt(error)) return;
  row.clock_shift = line->slope * apart;
  row.clocks_differ = std::abs(apart) > z_one_in_1000 * std::sqrt(error);
  std::vector<double> base = times_at(*line, row.base);
  row.other.ns = times_at(*line, row.other);
  row.base.ns = std::move(base);
  row.one_clock = true;
}

}  // namespace attnscope::analysis
