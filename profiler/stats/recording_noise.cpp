// SPDX-License-Identifier: Apache-2.0
#include "profiler/stats/recording_noise.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "profiler/stats/sample_math.h"

namespace attnscope::analysis {

namespace {

/// Floor of the log variance: clock resolution.
constexpr double min_recording_variance = 1e-8;
constexpr std::size_t min_points_for_slope = 8;

using Recorded = std::vector<const SideRounds*>;

/// Returns the geometric mean of the recordings' times and the variance of their logarithms.
std::pair<double, double> time_and_variance(const std::vector<std::vector<double>>& medians) {
  std::vector<double> places(medians.size());
  std::ranges::transform(medians, places.begin(), log_time_of_medians);
  const double mean = mean_of(places);
  return {std::exp(mean), sample_variance(places, mean)};
}

PointNoise estimate_point_noise(const Recorded& recorded) {
  std::vector<std::vector<double>> medians;
  for (const SideRounds* rounds : recorded) medians.push_back(rounds->ns);
  PointNoise noise{.dof = static_cast<double>(recorded.size() - 1)};
  std::tie(noise.ns, noise.variance) = time_and_variance(medians);
  if (const std::optional<ClockFit> line = fit_clock(recorded)) {
    std::ranges::transform(recorded, medians.begin(),
                           [&](const SideRounds* rounds) { return times_at(*line, *rounds); });
    noise.normalized_variance = std::max(time_and_variance(medians).second, min_recording_variance);
  }
  return noise;
}

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

double recording_log_time(std::vector<double> logs) {
  std::ranges::sort(logs);
  logs.resize(std::max<std::size_t>(1, logs.size() / 2));
  return mean_of(logs);
}

double log_time_of_medians(const std::vector<double>& medians) {
  return recording_log_time(logs_of(medians));
}

RecordingNoise estimate_noise(std::span<const RecordedRounds> recordings) {
  std::map<std::string, Recorded, std::less<>> points;
  RecordingNoise noise{.recordings = recordings.size(), .rounds = 0, .points = {}};
  for (const RecordedRounds& recording : recordings) {
    for (const auto& [point, rounds] : recording) {
      if (rounds.ns.empty()) continue;
      points[point].push_back(&rounds);
      noise.rounds = noise.rounds == 0 ? rounds.ns.size() : std::min(noise.rounds, rounds.ns.size());
    }
  }
  for (const auto& [point, recorded] : points) {
    if (recorded.size() > 1) noise.points[point] = estimate_point_noise(recorded);
  }
  return noise;
}

NoiseModel::Line::Line(const RecordingNoise& noise, double PointNoise::*variance) {
  std::vector<double> times;
  std::vector<double> variances;
  std::vector<VarianceEstimate> found;
  std::vector<const std::string*> names;
  for (const auto& [name, point] : noise.points) {
    if (!(point.*variance > 0) && variance == &PointNoise::normalized_variance) continue;
    times.push_back(std::log(point.ns));
    found.push_back({.variance = std::max(point.*variance, min_recording_variance), .dof = point.dof});
    variances.push_back(std::log(found.back().variance));
    names.push_back(&name);
  }
  if (times.empty()) return;
  const double time = mean_of(times);
  double across = 0;
  double along = 0;
  for (std::size_t i = 0; i < times.size(); ++i) {
    along += (times[i] - time) * (times[i] - time);
    across += (times[i] - time) * variances[i];
  }
  if (times.size() >= min_points_for_slope && along > 0) slope_ = across / along;
  level_ = mean_of(variances) - slope_ * time;
  const auto scaled = [&](double by) {
    for (std::size_t i = 0; i < found.size(); ++i) found[i].variance *= std::pow(at(std::exp(times[i])), by);
  };
  scaled(-1);  // divide by the line
  prior_ = fit_variance_prior(found, 0);
  found = moderate(found, 0);
  scaled(1);
  for (std::size_t i = 0; i < found.size(); ++i) points_[*names[i]] = found[i];
}

double NoiseModel::Line::at(double ns) const {
  return std::exp(level_ + slope_ * std::log(ns));
}

VarianceEstimate NoiseModel::Line::of(std::string_view point, double ns) const {
  const auto own = points_.find(point);
  return own != points_.end() ? own->second : VarianceEstimate{.variance = prior_.variance * at(ns), .dof = prior_.dof};
}

NoiseModel::NoiseModel(const RecordingNoise& noise)
    : rounds_(noise.rounds),
      unnormalized_(noise, &PointNoise::variance),
      normalized_(noise, &PointNoise::normalized_variance) {}

VarianceEstimate NoiseModel::of(std::string_view point, double ns, std::size_t rounds, bool one_clock) const {
  VarianceEstimate found = one_clock ? normalized_.of(point, ns) : VarianceEstimate();
  if (!(found.dof > 0)) found = unnormalized_.of(point, ns);  // estimated without clock normalization: conservative
  if (rounds < rounds_)
    found.variance *= static_cast<double>(rounds_) / static_cast<double>(std::max<std::size_t>(rounds, 1));
  return found;
}

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
