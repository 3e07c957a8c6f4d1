// SPDX-License-Identifier: Apache-2.0
#include "profiler/stats/recording_noise.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <tuple>
#include <utility>

#include "profiler/stats/one_clock.h"

namespace attnscope::analysis {
namespace {

/// Floor of the log variance: clock resolution.
constexpr double closest_agreement = 1e-8;
constexpr std::size_t points_for_a_slope = 8;

double average(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

}  // namespace

double place_of(std::vector<double> logs) {
  std::ranges::sort(logs);
  logs.resize(std::max<std::size_t>(1, logs.size() / 2));
  return average(logs);
}

double place_of_medians(const std::vector<double>& medians) {
  std::vector<double> logs(medians.size());
  std::ranges::transform(medians, logs.begin(), [](double median) { return std::log(median); });
  return place_of(std::move(logs));
}

namespace {

using Recorded = std::vector<const RoundsOfSide*>;

/// Returns the geometric mean of the recordings' times and the variance of their logarithms.
std::pair<double, double> spread_of_places(const std::vector<std::vector<double>>& medians) {
  std::vector<double> places(medians.size());
  std::ranges::transform(medians, places.begin(), place_of_medians);
  const double mean = average(places);
  double squares = 0;
  for (const double place : places) squares += (place - mean) * (place - mean);
  return {std::exp(mean), squares / static_cast<double>(places.size() - 1)};
}

PointNoise noise_of_point(const Recorded& recorded) {
  std::vector<std::vector<double>> medians;
  for (const RoundsOfSide* rounds : recorded) medians.push_back(rounds->ns);
  PointNoise noise{.freedom = static_cast<double>(recorded.size() - 1)};
  std::tie(noise.ns, noise.variance) = spread_of_places(medians);
  if (const std::optional<ClockLine> line = clock_line(recorded)) {
    std::ranges::transform(recorded, medians.begin(),
                           [&](const RoundsOfSide* rounds) { return times_at(*line, *rounds); });
    noise.at_one_clock = std::max(spread_of_places(medians).second, closest_agreement);
  }
  return noise;
}

}  // namespace

RecordingNoise noise_of(std::span<const RecordedRounds> recordings) {
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
    if (recorded.size() > 1) noise.points[point] = noise_of_point(recorded);
  }
  return noise;
}

NoiseModel::Line::Line(const RecordingNoise& noise, double PointNoise::*variance) {
  std::vector<double> times;
  std::vector<double> variances;
  std::vector<FoundVariance> found;
  std::vector<const std::string*> names;
  for (const auto& [name, point] : noise.points) {
    if (!(point.*variance > 0) && variance == &PointNoise::at_one_clock) continue;
    times.push_back(std::log(point.ns));
    found.push_back({.variance = std::max(point.*variance, closest_agreement), .freedom = point.freedom});
    variances.push_back(std::log(found.back().variance));
    names.push_back(&name);
  }
  if (times.empty()) return;
  const double time = average(times);
  double across = 0;
  double along = 0;
  for (std::size_t i = 0; i < times.size(); ++i) {
    along += (times[i] - time) * (times[i] - time);
    across += (times[i] - time) * variances[i];
  }
  if (times.size() >= points_for_a_slope && along > 0) slope_ = across / along;
  level_ = average(variances) - slope_ * time;
  const auto scaled = [&](double by) {
    for (std::size_t i = 0; i < found.size(); ++i) found[i].variance *= std::pow(at(std::exp(times[i])), by);
  };
  scaled(-1);  // divide by the line
  prior_ = fit_variance_prior(found, 0);
  found = moderated(found, 0);
  scaled(1);
  for (std::size_t i = 0; i < found.size(); ++i) points_[*names[i]] = found[i];
}

double NoiseModel::Line::at(double ns) const {
  return std::exp(level_ + slope_ * std::log(ns));
}

FoundVariance NoiseModel::Line::of(std::string_view point, double ns) const {
  const auto own = points_.find(point);
  return own != points_.end() ? own->second
                              : FoundVariance{.variance = prior_.variance * at(ns), .freedom = prior_.freedom};
}

NoiseModel::NoiseModel(const RecordingNoise& noise)
    : rounds_(noise.rounds), as_timed_(noise, &PointNoise::variance), at_one_clock_(noise, &PointNoise::at_one_clock) {}

FoundVariance NoiseModel::of(std::string_view point, double ns, std::size_t rounds, bool one_clock) const {
  FoundVariance found = one_clock ? at_one_clock_.of(point, ns) : FoundVariance();
  if (!(found.freedom > 0)) found = as_timed_.of(point, ns);  // estimated without clock normalization: conservative
  if (rounds < rounds_)
    found.variance *= static_cast<double>(rounds_) / static_cast<double>(std::max<std::size_t>(rounds, 1));
  return found;
}

}  // namespace attnscope::analysis
