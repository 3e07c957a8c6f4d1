// SPDX-License-Identifier: Apache-2.0
#include "profiler/stats/ratio_estimates.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <numbers>
#include <set>
#include <tuple>
#include <utility>

#include "profiler/stats/recording_noise.h"
#include "profiler/stats/sample_math.h"
#include "profiler/stats/variance_prior.h"

namespace attnscope::analysis {
namespace {

/// Floor of the log variance: clocks resolve about 1e-4, so rounds may agree only by rounding.
constexpr double min_log_variance = 1e-8;
/// Rows from which effects common to all rows can be estimated.
constexpr std::size_t min_rows_for_effects = 8;
/// Common drift is removed if it reduces the variance of most rows to this share or less.
constexpr double max_variance_ratio = 0.9;

double median_of(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  if (values.size() % 2 == 1) return *middle;
  return (*std::max_element(values.begin(), middle) + *middle) / 2;
}

/// Maximum number of values for pairwise means; memory grows with the square.
constexpr std::size_t max_pairwise_values = 2000;

/// Thins many values to `max_pairwise_values` evenly spaced quantiles.
std::vector<double> subsampled(std::vector<double> values) {
  if (values.size() <= max_pairwise_values) return values;
  std::ranges::sort(values);
  std::vector<double> kept;
  kept.reserve(max_pairwise_values);
  for (std::size_t k = 0; k < max_pairwise_values; ++k)
    kept.push_back(values[(2 * k + 1) * values.size() / (2 * max_pairwise_values)]);
  return kept;
}

/// Expected interquartile range of `count` standard normal samples, with quartiles interpolated as by summarize()
/// (Blom's approximation of order statistics); 0 for one sample.
double expected_range(double count) {
  return 2 * boost::math::quantile(standard_normal, (0.75 * (count - 1) + 0.625) / (count + 0.25));
}

/// Returns the variance of one sample's log. A range of quartiles determines it like 0.37 times as many samples.
VarianceEstimate sample_log_variance(const SampleSpread& spread) {
  constexpr double efficiency = 0.37;
  constexpr double normal_range = 1.349;
  constexpr double dof_of_unknown = 4;
  const bool known = spread.samples > 1;
  const double deviation = spread.log_range / (known ? expected_range(spread.samples) : normal_range);
  const double dof = known ? std::max(1.0, efficiency * (spread.samples - 1)) : dof_of_unknown;
  return {.variance = deviation * deviation, .dof = dof};
}

/// Returns the variance of a side's log time from the spread of its samples; `single_draw`: as if it were one sample.
VarianceEstimate sampling_variance(const std::vector<SampleSpread>& sampled, bool single_draw) {
  const auto count = static_cast<double>(sampled.size());
  VarianceEstimate sum{.variance = 0, .dof = 0};
  double doubt = 0;
  for (const SampleSpread& spread : sampled) {
    VarianceEstimate each = sample_log_variance(spread);
    if (!single_draw && spread.samples > 1) each.variance *= std::numbers::pi / 2 / spread.samples;  // for a median
    sum.variance += each.variance / (count * count);
    doubt += each.variance * each.variance / each.dof / std::pow(count, 4);
    sum.dof = std::max(sum.dof, each.dof);
  }
  if (doubt > 0) sum.dof = sum.variance * sum.variance / doubt;
  return sum;
}

VarianceEstimate wider(const VarianceEstimate& a, const VarianceEstimate& b) {
  return a.variance >= b.variance ? a : b;
}

/// Variance of a sum (Welch and Satterthwaite).
VarianceEstimate sum_of(const VarianceEstimate& a, const VarianceEstimate& b) {
  const double variance = a.variance + b.variance;
  double doubt = 0;
  for (const VarianceEstimate& each : {a, b}) {
    if (each.variance > 0) doubt += each.variance * each.variance / each.dof;
  }
  return {.variance = variance, .dof = doubt > 0 ? variance * variance / doubt : std::max(a.dof, b.dof)};
}

/// Sets the error of a row with too few rounds. `seen`: variance of the log ratio, as far as it was observed.
void assume_spread(const VarianceEstimate& seen, RatioEstimate& estimate) {
  static const double error = std::log1p(assumed_spread) / boost::math::quantile(standard_normal, 0.975);
  const VarianceEstimate assumed{.variance = error * error, .dof = std::numeric_limits<double>::infinity()};
  const VarianceEstimate sum = sum_of(seen, assumed);
  estimate.error = std::sqrt(sum.variance);
  estimate.dof = sum.dof;
  estimate.floor = seen.variance > assumed.variance ? SpreadFloor::few_samples : SpreadFloor::assumed_percent;
}

using PointIndices = std::vector<std::size_t>;

VarianceEstimate variance_of_mean(const std::vector<double>& values) {
  if (values.size() < 2) return {};
  const auto count = static_cast<double>(values.size());
  return {.variance = sample_variance(values, mean_of(values)) / count, .dof = count - 1};
}

/// Returns the variance of the log ratio from the samples of both sides. A side that states no spread is taken as one
/// draw of the other side's. Zero degrees of freedom if neither states one.
VarianceEstimate sampling_variance(const ComparedRow& row) {
  const auto of_side = [](const SideRounds& side, const SideRounds& opposite) {
    return side.sampled.empty() ? sampling_variance(opposite.sampled, true) : sampling_variance(side.sampled, false);
  };
  return sum_of(of_side(row.base, row.other), of_side(row.other, row.base));
}

using Ratios = std::vector<std::vector<double>>;

Ratios round_log_ratios(std::span<const ComparedRow> rows, const PointIndices& places, ValueMember values) {
  Ratios ratios;
  ratios.reserve(places.size());
  for (const std::size_t place : places) {
    const std::vector<double> base = logs_of(rows[place].base.*values);
    std::vector<double>& of_row = ratios.emplace_back(logs_of(rows[place].other.*values));
    for (std::size_t k = 0; k < of_row.size(); ++k) of_row[k] -= base[k];
  }
  return ratios;
}

/// Returns the rows (as indices into `places`) that have moments.
PointIndices rows_with_moments(std::span<const ComparedRow> rows, const PointIndices& places) {
  PointIndices timed;
  for (std::size_t i = 0; i < places.size(); ++i) {
    const ComparedRow& row = rows[places[i]];
    if (!row.base.moments.empty() && !row.other.moments.empty()) timed.push_back(i);
  }
  return timed;
}

/// Subtracts common drift if most rows scatter less without it. Returns the affected rows as indices into `places`.
PointIndices steady(std::span<const ComparedRow> rows, const PointIndices& places, ValueMember values, Ratios& ratios) {
  PointIndices timed = rows_with_moments(rows, places);
  std::vector<TimedValue> all;
  for (std::size_t i = 0; i < timed.size(); ++i) {
    const ComparedRow& row = rows[places[timed[i]]];
    for (const SideRounds* side : {&row.base, &row.other}) {
      const std::vector<double> logs = logs_of(side->*values);
      for (std::size_t k = 0; k < logs.size(); ++k) {
        all.push_back({.series = 2 * i + (side == &row.other ? 1 : 0), .moment = side->moments[k], .log = logs[k]});
      }
    }
  }
  const std::vector<double> course = common_drift(all, 2 * timed.size());
  if (course.empty()) return {};
  Ratios steadied;
  std::size_t at = 0;
  std::size_t improved_rows = 0;
  for (const std::size_t i : timed) {
    std::vector<double>& of_row = steadied.emplace_back(ratios[i]);
    const std::size_t rounds = of_row.size();
    for (std::size_t k = 0; k < rounds; ++k) of_row[k] -= course[at + rounds + k] - course[at + k];
    at += 2 * rounds;
    const double before = sample_variance(ratios[i], mean_of(ratios[i]));
    if (sample_variance(of_row, mean_of(of_row)) <= max_variance_ratio * before) ++improved_rows;
  }
  if (2 * improved_rows < timed.size()) return {};
  for (std::size_t i = 0; i < timed.size(); ++i) ratios[timed[i]] = std::move(steadied[i]);
  return timed;
}

void estimate_paired(std::span<const ComparedRow> rows, const PointIndices& places, ValueMember values,
                     std::vector<RatioEstimate>& estimates) {
  Ratios ratios = round_log_ratios(rows, places, values);
  for (const std::size_t i : steady(rows, places, values, ratios)) estimates[places[i]].steadied = true;
  std::vector<VarianceEstimate> found;
  found.reserve(places.size());
  for (std::size_t i = 0; i < places.size(); ++i) {
    RatioEstimate& estimate = estimates[places[i]];
    estimate.center = hodges_lehmann(ratios[i]);
    estimate.mean = mean_of(ratios[i]);
    const double dof = ratios[i].size() < min_rounds ? 0 : static_cast<double>(ratios[i].size() - 1);
    found.push_back({.variance = dof > 0 ? sample_variance(ratios[i], estimate.mean) : 0, .dof = dof});
  }
  const std::vector<VarianceEstimate> variances = moderate(found, min_log_variance);
  for (std::size_t i = 0; i < places.size(); ++i) {
    RatioEstimate& estimate = estimates[places[i]];
    if (!(found[i].dof > 0)) {
      assume_spread(wider(variance_of_mean(ratios[i]), sampling_variance(rows[places[i]])), estimate);
      continue;
    }
    estimate.spread = estimate.apart = std::sqrt(variances[i].variance);
    estimate.error = estimate.spread / std::sqrt((rows[places[i]].base.*values).size());
    estimate.dof = variances[i].dof;
  }
}

/// Unpaired rows: one value per unit. A unit is a round, or a recording if there are enough recordings.
struct Unit {
  std::tuple<bool, std::uint32_t, std::size_t> id;  ///< candidate side?, recording, round
  std::size_t group = 0;                            ///< units in one group differ only by chance
  double value = 0;
};

struct UnitRow {
  std::vector<Unit> units;
  std::size_t groups = 0;
  double share = 0;  ///< 1 / base recordings + 1 / candidate recordings
  double dof = 0;
  VarianceEstimate between;  ///< between the means of one side's recordings
};

/// Log values of one recording with their round indices.
struct RecordingValues {
  std::vector<double> logs;
  std::vector<std::size_t> rounds;
};

std::map<std::uint32_t, RecordingValues> by_recording(const SideRounds& side, ValueMember values) {
  const std::vector<double> logs = logs_of(side.*values);
  std::map<std::uint32_t, RecordingValues> recordings;
  for (std::size_t k = 0; k < logs.size(); ++k) {
    RecordingValues& own = recordings[side.recordings[k]];
    own.rounds.push_back(side.rounds.empty() ? own.logs.size() : side.rounds[k]);
    own.logs.push_back(logs[k]);
  }
  return recordings;
}

/// Returns the median over recording pairs of the median difference of their rounds, so each recording has the same
/// weight regardless of its number of rounds.
double unpaired_center(const std::vector<std::vector<double>>& base, const std::vector<std::vector<double>>& other) {
  std::vector<double> centers;
  centers.reserve(base.size() * other.size());
  for (const std::vector<double>& of_base : base) {
    for (const std::vector<double>& of_other : other) {
      std::vector<double> differences;
      differences.reserve(of_base.size() * of_other.size());
      for (const double b : of_base) {
        for (const double o : of_other) differences.push_back(o - b);
      }
      centers.push_back(median_of(std::move(differences)));
    }
  }
  return median_of(std::move(centers));
}

UnitRow make_units(const ComparedRow& row, ValueMember values, bool of_recordings, RatioEstimate& estimate) {
  UnitRow result;
  double difference = 0;
  std::array<std::vector<std::vector<double>>, 2> all;
  bool few = false;
  for (const bool other : {false, true}) {
    const auto recordings = by_recording(other ? row.other : row.base, values);
    double mean = 0;
    std::vector<double> means;
    means.reserve(recordings.size());
    for (const auto& [recording, own] : recordings) {
      const std::vector<double>& logs = own.logs;
      const double of_recording = mean_of(logs);
      means.push_back(of_recording);
      mean += of_recording / static_cast<double>(recordings.size());
      all.at(other).push_back(subsampled(logs));
      if (of_recordings) {
        result.units.push_back({{other, recording, 0}, result.groups, of_recording});
        continue;
      }
      few = few || logs.size() < min_rounds;
      for (std::size_t k = 0; k < logs.size(); ++k) {
        result.units.push_back({{other, recording, own.rounds[k]}, result.groups, logs[k]});
      }
      ++result.groups;
    }
    if (of_recordings) ++result.groups;
    result.share += 1 / static_cast<double>(recordings.size());
    difference += other ? mean : -mean;
    const double dof = static_cast<double>(means.size() - 1);
    result.between.variance += sample_variance(means, mean) * dof;
    result.between.dof += dof;
  }
  if (result.between.dof > 0) result.between.variance /= result.between.dof;
  if (!few) result.dof = static_cast<double>(result.units.size() - result.groups);
  estimate.mean = difference;
  estimate.center = unpaired_center(all[0], all[1]);
  return result;
}

std::vector<double> group_residuals(const UnitRow& row) {
  std::vector<double> sums(row.groups);
  std::vector<double> counts(row.groups);
  for (const Unit& unit : row.units) {
    sums[unit.group] += unit.value;
    ++counts[unit.group];
  }
  std::vector<double> residuals;
  for (const Unit& unit : row.units) residuals.push_back(unit.value - sums[unit.group] / counts[unit.group]);
  return residuals;
}

using Effects = std::map<std::tuple<bool, std::uint32_t, std::size_t>, double>;

/// Returns the effect of each unit that all rows share: the median residual. Empty for too few rows.
Effects common_effects(const std::vector<UnitRow>& rows) {
  if (rows.size() < min_rows_for_effects) return {};
  std::map<std::tuple<bool, std::uint32_t, std::size_t>, std::vector<double>> residuals;
  for (const UnitRow& row : rows) {
    if (!(row.dof > 0)) continue;
    const std::vector<double> of_row = group_residuals(row);
    for (std::size_t k = 0; k < of_row.size(); ++k) residuals[row.units[k].id].push_back(of_row[k]);
  }
  Effects effects;
  for (auto& [id, values] : residuals) {
    if (values.size() >= min_rows_for_effects) effects[id] = median_of(std::move(values));
  }
  return effects;
}

/// Variance between recordings on any H100, used without calibration because the rounds of one recording may agree
/// better than recordings do. From the 77 points of `quick` in 29 recordings on three boards, with clock normalization.
double default_recording_variance(double ns) {
  constexpr double sd_of_long_points = 0.0015;
  constexpr double sd_of_short_points = 0.008;
  constexpr double launch_jitter_ns = 110;
  const double deviation = std::clamp(launch_jitter_ns / ns, sd_of_long_points, sd_of_short_points);
  return deviation * deviation;
}

/// Returns the variance of the common effects and its degrees of freedom. Rounds of one recording are correlated (after
/// a clock step, for example) and count as one degree of freedom.
VarianceEstimate effect_variance(const Effects& effects, bool of_recordings) {
  std::map<std::pair<bool, std::uint32_t>, std::pair<double, double>> groups;  // squares, units
  for (const auto& [id, effect] : effects) {
    auto& [squares, units] = groups[{std::get<0>(id), of_recordings ? 0 : std::get<1>(id)}];
    squares += effect * effect;
    ++units;
  }
  VarianceEstimate common;
  for (const auto& [group, sums] : groups) {
    common.variance += sums.first;
    common.dof += sums.second - 1;
  }
  if (!(common.dof > 0)) return {};
  common.variance /= common.dof;
  if (!of_recordings) common.dof = std::min(common.dof, static_cast<double>(groups.size()));
  return common;
}

/// Returns each row's variance without the common effects.
std::vector<VarianceEstimate> row_variances(const std::vector<UnitRow>& rows, const Effects& effects) {
  std::vector<VarianceEstimate> found;
  found.reserve(rows.size());
  for (const UnitRow& row : rows) {
    UnitRow own = row;
    for (Unit& unit : own.units) {
      if (const auto effect = effects.find(unit.id); effect != effects.end()) unit.value -= effect->second;
    }
    double squares = 0;
    for (const double residual : group_residuals(own)) squares += residual * residual;
    found.push_back({.variance = row.dof > 0 ? squares / row.dof : 0, .dof = row.dof});
  }
  return found;
}

void estimate_unpaired(std::span<const ComparedRow> rows, const PointIndices& places, ValueMember values,
                       bool of_recordings, std::vector<RatioEstimate>& estimates) {
  std::vector<UnitRow> of_units;
  for (const std::size_t place : places) {
    of_units.push_back(make_units(rows[place], values, of_recordings, estimates[place]));
  }
  const Effects effects = common_effects(of_units);
  VarianceEstimate common = effect_variance(effects, of_recordings);
  const std::vector<VarianceEstimate> found = row_variances(of_units, effects);
  const std::vector<VarianceEstimate> variances = moderate(found, min_log_variance);
  std::vector<VarianceEstimate> round_variances = variances;
  if (of_recordings) {
    // Few recordings may agree by chance; their variance is at least that of their rounds.
    std::vector<UnitRow> of_rounds;
    of_rounds.reserve(places.size());
    RatioEstimate unused;
    for (const std::size_t place : places) of_rounds.push_back(make_units(rows[place], values, false, unused));
    const Effects of_all_rounds = common_effects(of_rounds);
    const VarianceEstimate by_rounds = effect_variance(of_all_rounds, false);
    if (by_rounds.variance > common.variance) common = by_rounds;
    round_variances = moderate(row_variances(of_rounds, of_all_rounds), min_log_variance);
  }
  for (std::size_t i = 0; i < places.size(); ++i) {
    RatioEstimate& estimate = estimates[places[i]];
    if (!(found[i].dof > 0)) {
      const ComparedRow& row = rows[places[i]];
      VarianceEstimate between = of_units[i].between;
      between.variance *= of_units[i].share;
      const VarianceEstimate of_few =
          sum_of(variance_of_mean(logs_of(row.base.*values)), variance_of_mean(logs_of(row.other.*values)));
      assume_spread(wider(wider(between, of_few), sampling_variance(row)), estimate);
      continue;
    }
    const double seen = common.variance + variances[i].variance;
    const double assumed = of_recordings ? 0 : default_recording_variance(median_of(rows[places[i]].base.ns));
    const double variance = std::max(seen, assumed);
    // Satterthwaite's degrees of freedom of a sum.
    double doubt = variances[i].variance * variances[i].variance / variances[i].dof;
    if (common.dof > 0) doubt += common.variance * common.variance / common.dof;
    estimate.dof = seen * seen / doubt;
    estimate.error = std::sqrt(variance * of_units[i].share);
    estimate.spread = std::sqrt(2 * round_variances[i].variance);
    estimate.apart = std::sqrt(2 * variance);
    estimate.floor = of_recordings ? SpreadFloor::none : SpreadFloor::of_rounds;
  }
}

/// Returns the log of the side's time (mean of its recordings' places) and its variance.
std::pair<double, VarianceEstimate> side_log_time(const SideRounds& side, ValueMember values) {
  double sum = 0;
  const auto recordings = by_recording(side, values);
  for (const auto& [recording, own] : recordings) sum += recording_log_time(own.logs);
  const auto count = static_cast<double>(recordings.size());
  return {sum / count, {.variance = side.place.variance / count, .dof = side.place.dof}};
}

void estimate_calibrated(const ComparedRow& row, ValueMember values, RatioEstimate& estimate) {
  const auto [base, of_base] = side_log_time(row.base, values);
  const auto [other, of_other] = side_log_time(row.other, values);
  estimate.mean = estimate.center = other - base;
  estimate.error = std::sqrt(of_base.variance + of_other.variance);
  // Both variances come from the same recordings, so their degrees of freedom do not add up.
  estimate.dof = std::min(of_base.dof, of_other.dof);
  estimate.apart = std::sqrt(row.base.place.variance + row.other.place.variance);
  estimate.floor = SpreadFloor::calibrated;
}

/// For a computed side the model error is the only spread.
void estimate_computed(const ComparedRow& row, ValueMember values, RatioEstimate& estimate) {
  estimate.mean = estimate.center = median_of(logs_of(row.other.*values)) - median_of(logs_of(row.base.*values));
  estimate.error = std::log1p(row.model_error) / boost::math::quantile(standard_normal, 0.975);
  estimate.dof = std::numeric_limits<double>::infinity();
  estimate.floor = std::isfinite(row.model_error) ? SpreadFloor::model_error_floor : SpreadFloor::unknown;
}

}  // namespace

std::size_t recording_count(const ComparedRow& row) {
  std::size_t count = 0;
  for (const SideRounds* side : {&row.base, &row.other}) {
    if (side->recordings.size() == 1) {
      ++count;
      continue;
    }
    count += std::set<std::uint32_t>(side->recordings.begin(), side->recordings.end()).size();
  }
  return count;
}

std::vector<RatioEstimate> estimate_ratios(std::span<const ComparedRow> rows, ValueMember values,
                                           std::vector<bool>& which) {
  std::vector<RatioEstimate> estimates(rows.size());
  which.assign(rows.size(), false);
  const bool times = values == &SideRounds::ns;
  PointIndices paired;
  PointIndices of_rounds;
  PointIndices of_recordings;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const ComparedRow& row = rows[i];
    if ((row.base.*values).empty() || (row.other.*values).empty()) continue;
    which[i] = times || row.model_error <= 0;  // a computed clock cannot confirm a time
    if (row.model_error > 0) {
      estimate_computed(row, values, estimates[i]);
    } else if (row.exact) {
      estimates[i].mean = estimates[i].center = std::log((row.other.*values).front() / (row.base.*values).front());
    } else if (row.paired) {
      paired.push_back(i);
    } else if (row.base.place.dof > 0 && row.other.place.dof > 0) {
      estimate_calibrated(row, values, estimates[i]);
    } else {
      (recording_count(row) < min_recordings_for_spread ? of_rounds : of_recordings).push_back(i);
    }
  }
  estimate_paired(rows, paired, values, estimates);
  estimate_unpaired(rows, of_rounds, values, false, estimates);
  estimate_unpaired(rows, of_recordings, values, true, estimates);
  return estimates;
}

double hodges_lehmann(std::span<const double> all) {
  if (all.size() == 1) return all.front();
  const std::vector<double> values = subsampled({all.begin(), all.end()});
  std::vector<double> means;
  means.reserve(values.size() * (values.size() + 1) / 2);
  for (std::size_t i = 0; i < values.size(); ++i) {
    for (std::size_t k = i; k < values.size(); ++k) means.push_back((values[i] + values[k]) / 2);
  }
  return median_of(std::move(means));
}

}  // namespace attnscope::analysis
