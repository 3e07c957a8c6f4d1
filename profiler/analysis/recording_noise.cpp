// SPDX-License-Identifier: Apache-2.0
#include "profiler/analysis/recording_noise.h"

#include <algorithm>
#include <cmath>

#include "profiler/analysis/verdicts.h"

namespace attnscope::analysis {
namespace {

/// Recordings do not agree better than a clock tells.
constexpr double closest_agreement = 1e-8;
/// From so many points on their times tell a slope.
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

RecordingNoise noise_of(std::span<const RecordedRounds> recordings) {
  std::map<std::string, std::vector<double>, std::less<>> places;
  RecordingNoise noise{.recordings = recordings.size(), .rounds = 0, .points = {}};
  for (const RecordedRounds& recording : recordings) {
    for (const auto& [point, medians] : recording) {
      if (medians.empty()) continue;
      places[point].push_back(place_of_medians(medians));
      noise.rounds = noise.rounds == 0 ? medians.size() : std::min(noise.rounds, medians.size());
    }
  }
  for (const auto& [point, logs] : places) {
    if (logs.size() < 2) continue;
    const double mean = average(logs);
    double squares = 0;
    for (const double log : logs) squares += (log - mean) * (log - mean);
    const double freedom = static_cast<double>(logs.size() - 1);
    noise.points[point] = {.ns = std::exp(mean), .variance = squares / freedom, .freedom = freedom};
  }
  return noise;
}

NoiseModel::NoiseModel(const RecordingNoise& noise) : rounds_(noise.rounds) {
  std::vector<double> times;
  std::vector<double> variances;
  for (const auto& [name, point] : noise.points) {
    times.push_back(std::log(point.ns));
    variances.push_back(std::log(std::max(point.variance, closest_agreement)));
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
  std::vector<FoundVariance> over_line;
  for (const auto& [name, point] : noise.points) {
    over_line.push_back(
        {.variance = std::max(point.variance, closest_agreement) / on_line(point.ns), .freedom = point.freedom});
  }
  prior_ = fit_variance_prior(over_line, 0);
  std::vector<FoundVariance> own = moderated(over_line, 0);
  auto next = own.begin();
  for (const auto& [name, point] : noise.points) {
    points_[name] = {.variance = next->variance * on_line(point.ns), .freedom = next->freedom};
    ++next;
  }
}

double NoiseModel::on_line(double ns) const {
  return std::exp(level_ + slope_ * std::log(ns));
}

FoundVariance NoiseModel::of(std::string_view point, double ns, std::size_t rounds) const {
  const auto own = points_.find(point);
  FoundVariance found = own != points_.end()
                            ? own->second
                            : FoundVariance{.variance = prior_.variance * on_line(ns), .freedom = prior_.freedom};
  if (rounds < rounds_)
    found.variance *= static_cast<double>(rounds_) / static_cast<double>(std::max<std::size_t>(rounds, 1));
  return found;
}

HeldOutNoise held_out(std::span<const RecordedRounds> recordings, double margin) {
  HeldOutNoise result;
  std::vector<double> detectable;
  for (std::size_t a = 0; a < recordings.size(); ++a) {
    for (std::size_t b = a + 1; b < recordings.size(); ++b) {
      std::vector<RecordedRounds> others;
      for (std::size_t i = 0; i < recordings.size(); ++i) {
        if (i != a && i != b) others.push_back(recordings[i]);
      }
      const NoiseModel noise(noise_of(others));
      std::vector<ComparedRow> rows;
      for (const auto& [point, base] : recordings[a]) {
        const auto other = recordings[b].find(point);
        if (other == recordings[b].end()) continue;
        ComparedRow& row = rows.emplace_back();
        row.base = {.ns = base, .cycles = {}, .recordings = std::vector<std::uint32_t>(base.size(), 0)};
        row.other = {
            .ns = other->second, .cycles = {}, .recordings = std::vector<std::uint32_t>(other->second.size(), 1)};
        const double ns = std::exp(place_of_medians(base));
        row.base.place = noise.of(point, ns, base.size());
        row.other.place = noise.of(point, ns, other->second.size());
      }
      for (const RowVerdict& row : judge(rows, {.margin = margin})) {
        ++result.rows;
        if (row.verdict == Verdict::same) ++result.same;
        if (row.verdict == Verdict::faster || row.verdict == Verdict::slower) ++result.changed;
        detectable.push_back(row.detectable);
      }
    }
  }
  if (detectable.empty()) return result;
  const auto middle = detectable.begin() + static_cast<std::ptrdiff_t>(detectable.size() / 2);
  std::ranges::nth_element(detectable, middle);
  result.detectable = *middle;
  return result;
}

}  // namespace attnscope::analysis
