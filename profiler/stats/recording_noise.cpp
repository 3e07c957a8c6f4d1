// SPDX-License-Identifier: Apache-2.0
#include "profiler/stats/recording_noise.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <tuple>
#include <utility>

#include "profiler/stats/clock_normalization.h"
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

}  // namespace attnscope::analysis
