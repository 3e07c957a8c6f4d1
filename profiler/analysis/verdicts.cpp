// SPDX-License-Identifier: Apache-2.0
#include "profiler/analysis/verdicts.h"

#include <algorithm>
#include <array>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "profiler/analysis/common_course.h"
#include "profiler/analysis/variance_prior.h"

namespace attnscope::analysis {
namespace {

/// No clock tells more than a ten-thousandth from one round to the next: rounds that agree by rounding scatter so much.
constexpr double least_variance = 1e-8;
/// From so many recordings on, of both sides together, they tell how much recordings differ.
constexpr std::size_t enough_recordings = 4;
/// From so many rows on it can be told what they have in common.
constexpr std::size_t rows_in_common = 8;
/// Probabilities above this leave a row out of the correction (Zhao, Small and Su's tau).
constexpr double left_out_above = 0.5;
/// How often a suggested number of rounds has to decide.
constexpr double wanted_power = 0.9;
/// A common course is real where most rows scatter less than this share of their variance without it.
constexpr double less_scatter = 0.9;

/// From so many degrees of freedom on Student's t is the normal distribution.
constexpr double as_good_as_normal = 1e6;

/// Doubles are precise enough: boost would otherwise compute in long double, several times as long.
using Plain = boost::math::policies::policy<boost::math::policies::promote_double<false>>;
using Students = boost::math::students_t_distribution<double, Plain>;
const boost::math::normal_distribution<double, Plain> standard_normal;

/// What is known of a log ratio.
struct Estimate {
  double centre = 0;  ///< Hodges and Lehmann's
  double mean = 0;
  double error = 0;  ///< standard error of the mean; 0: exact
  double freedom = 0;
  double spread = 0;  ///< of one round's log ratio, both sides in one round
  double apart = 0;   ///< likewise of one recording's, as far as a round tells
  SpreadFloor floor = SpreadFloor::none;
  bool steadied = false;
};

/// That a mean so far above `bound` comes by chance where the truth is `bound`.
double chance_above(const Estimate& estimate, double value, double bound) {
  if (estimate.error <= 0) return value > bound ? 0 : 1;
  const double t = (value - bound) / estimate.error;
  if (estimate.freedom < as_good_as_normal) {
    return boost::math::cdf(boost::math::complement(Students(estimate.freedom), t));
  }
  return boost::math::cdf(boost::math::complement(standard_normal, t));
}

/// What all but `level` of a distribution lie within; kept by degrees of freedom, which most rows share.
class Quantiles {
 public:
  explicit Quantiles(double level) : tail_(level / 2) {}

  double of(double freedom) {
    if (!(freedom < as_good_as_normal)) return boost::math::quantile(boost::math::complement(standard_normal, tail_));
    const auto [place, first] = by_freedom_.try_emplace(freedom);
    if (first) place->second = boost::math::quantile(boost::math::complement(Students(freedom), tail_));
    return place->second;
  }

 private:
  double tail_;
  std::map<double, double> by_freedom_;
};

RatioInterval ratio_of(const Estimate& estimate, Quantiles& quantiles) {
  const double half = estimate.error > 0 ? quantiles.of(estimate.freedom) * estimate.error : 0;
  return {.ratio = std::exp(estimate.centre),
          .interval = {.low = std::exp(std::min(estimate.mean - half, estimate.centre)),
                       .high = std::exp(std::max(estimate.mean + half, estimate.centre))}};
}

/// What is looked at of a side.
using Values = std::vector<double> RoundsOfSide::*;

std::vector<double> logs_of(const std::vector<double>& values) {
  std::vector<double> logs(values.size());
  std::ranges::transform(values, logs.begin(), [](double value) { return std::log(value); });
  return logs;
}

double mean_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double median_of(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  if (values.size() % 2 == 1) return *middle;
  return (*std::max_element(values.begin(), middle) + *middle) / 2;
}

/// So many values stand for all where there are more: pairs of them all would not fit in memory.
constexpr std::size_t most_to_pair = 2000;

/// Of many values as many that lie evenly in their order.
std::vector<double> thinned(std::vector<double> values) {
  if (values.size() <= most_to_pair) return values;
  std::ranges::sort(values);
  std::vector<double> kept;
  kept.reserve(most_to_pair);
  for (std::size_t k = 0; k < most_to_pair; ++k)
    kept.push_back(values[(2 * k + 1) * values.size() / (2 * most_to_pair)]);
  return kept;
}

void stand_in_for_spread(Estimate& estimate) {
  static const double error = std::log1p(unknown_spread_floor) / boost::math::quantile(standard_normal, 0.975);
  estimate.error = error;
  estimate.freedom = std::numeric_limits<double>::infinity();
  estimate.floor = SpreadFloor::of_percent;
}

/// Rows of one kind, and where their estimates belong.
using Places = std::vector<std::size_t>;

double variance_about(const std::vector<double>& values, double mean) {
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return values.size() < 2 ? 0 : squares / static_cast<double>(values.size() - 1);
}

/// Log ratios of the rounds of each of these rows.
using Ratios = std::vector<std::vector<double>>;

Ratios ratios_of(std::span<const ComparedRow> rows, const Places& places, Values values) {
  Ratios ratios;
  ratios.reserve(places.size());
  for (const std::size_t place : places) {
    const std::vector<double> base = logs_of(rows[place].base.*values);
    std::vector<double>& of_row = ratios.emplace_back(logs_of(rows[place].other.*values));
    for (std::size_t k = 0; k < of_row.size(); ++k) of_row[k] -= base[k];
  }
  return ratios;
}

/// The rows for which it is known when each of their values was measured.
Places timed_rows(std::span<const ComparedRow> rows, const Places& places) {
  Places timed;
  for (std::size_t i = 0; i < places.size(); ++i) {
    const ComparedRow& row = rows[places[i]];
    if (!row.base.moments.empty() && !row.other.moments.empty()) timed.push_back(i);
  }
  return timed;
}

/// Takes off what all rows went through alike, where that is real. Which rows it was taken off, of `places`.
Places steady(std::span<const ComparedRow> rows, const Places& places, Values values, Ratios& ratios) {
  Places timed = timed_rows(rows, places);
  std::vector<TimedValue> all;
  for (std::size_t i = 0; i < timed.size(); ++i) {
    const ComparedRow& row = rows[places[timed[i]]];
    for (const RoundsOfSide* side : {&row.base, &row.other}) {
      const std::vector<double> logs = logs_of(side->*values);
      for (std::size_t k = 0; k < logs.size(); ++k) {
        all.push_back({.series = 2 * i + (side == &row.other ? 1 : 0), .moment = side->moments[k], .log = logs[k]});
      }
    }
  }
  const std::vector<double> course = common_course(all, 2 * timed.size());
  if (course.empty()) return {};
  Ratios steadied;
  std::size_t at = 0;
  std::size_t calmer = 0;
  for (const std::size_t i : timed) {
    std::vector<double>& of_row = steadied.emplace_back(ratios[i]);
    const std::size_t rounds = of_row.size();
    for (std::size_t k = 0; k < rounds; ++k) of_row[k] -= course[at + rounds + k] - course[at + k];
    at += 2 * rounds;
    const double before = variance_about(ratios[i], mean_of(ratios[i]));
    if (variance_about(of_row, mean_of(of_row)) <= less_scatter * before) ++calmer;
  }
  if (2 * calmer < timed.size()) return {};
  for (std::size_t i = 0; i < timed.size(); ++i) ratios[timed[i]] = std::move(steadied[i]);
  return timed;
}

void estimate_paired(std::span<const ComparedRow> rows, const Places& places, Values values,
                     std::vector<Estimate>& estimates) {
  Ratios ratios = ratios_of(rows, places, values);
  for (const std::size_t i : steady(rows, places, values, ratios)) estimates[places[i]].steadied = true;
  std::vector<FoundVariance> found;
  found.reserve(places.size());
  for (std::size_t i = 0; i < places.size(); ++i) {
    Estimate& estimate = estimates[places[i]];
    estimate.centre = hodges_lehmann(ratios[i]);
    estimate.mean = mean_of(ratios[i]);
    const double freedom = ratios[i].size() < fewest_rounds ? 0 : static_cast<double>(ratios[i].size() - 1);
    found.push_back({.variance = freedom > 0 ? variance_about(ratios[i], estimate.mean) : 0, .freedom = freedom});
  }
  const std::vector<FoundVariance> variances = moderated(found, least_variance);
  for (std::size_t i = 0; i < places.size(); ++i) {
    Estimate& estimate = estimates[places[i]];
    if (!(found[i].freedom > 0)) {
      stand_in_for_spread(estimate);
      continue;
    }
    estimate.spread = estimate.apart = std::sqrt(variances[i].variance);
    estimate.error = estimate.spread / std::sqrt((rows[places[i]].base.*values).size());
    estimate.freedom = variances[i].freedom;
  }
}

/// Of rows not paired: a value a unit, which is a round, or a recording where there are enough of them.
struct Unit {
  std::tuple<bool, std::uint32_t, std::size_t> id;  ///< other side, recording, round of it
  std::size_t group = 0;                            ///< of units that differ by chance alone
  double value = 0;
};

struct RowOfUnits {
  std::vector<Unit> units;
  std::size_t groups = 0;
  double share = 0;  ///< 1 / recordings of base + 1 / recordings of other
  double freedom = 0;
  FoundVariance between;  ///< of the means of a side's recordings
};

/// The values of a recording, with the rounds that they are of.
struct OfRecording {
  std::vector<double> logs;
  std::vector<std::size_t> rounds;
};

std::map<std::uint32_t, OfRecording> by_recording(const RoundsOfSide& side, Values values) {
  const std::vector<double> logs = logs_of(side.*values);
  std::map<std::uint32_t, OfRecording> recordings;
  for (std::size_t k = 0; k < logs.size(); ++k) {
    OfRecording& own = recordings[side.recordings[k]];
    own.rounds.push_back(side.rounds.empty() ? own.logs.size() : side.rounds[k]);
    own.logs.push_back(logs[k]);
  }
  return recordings;
}

/// The median difference of two recordings' rounds, and the median of those: a recording counts once, however many
/// rounds it has, as it does in the mean.
double centre_of(const std::vector<std::vector<double>>& base, const std::vector<std::vector<double>>& other) {
  std::vector<double> centres;
  centres.reserve(base.size() * other.size());
  for (const std::vector<double>& of_base : base) {
    for (const std::vector<double>& of_other : other) {
      std::vector<double> differences;
      differences.reserve(of_base.size() * of_other.size());
      for (const double b : of_base) {
        for (const double o : of_other) differences.push_back(o - b);
      }
      centres.push_back(median_of(std::move(differences)));
    }
  }
  return median_of(std::move(centres));
}

RowOfUnits units_of(const ComparedRow& row, Values values, bool of_recordings, Estimate& estimate) {
  RowOfUnits result;
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
      all.at(other).push_back(thinned(logs));
      if (of_recordings) {
        result.units.push_back({{other, recording, 0}, result.groups, of_recording});
        continue;
      }
      few = few || logs.size() < fewest_rounds;
      for (std::size_t k = 0; k < logs.size(); ++k) {
        result.units.push_back({{other, recording, own.rounds[k]}, result.groups, logs[k]});
      }
      ++result.groups;
    }
    if (of_recordings) ++result.groups;
    result.share += 1 / static_cast<double>(recordings.size());
    difference += other ? mean : -mean;
    const double freedom = static_cast<double>(means.size() - 1);
    result.between.variance += variance_about(means, mean) * freedom;
    result.between.freedom += freedom;
  }
  if (result.between.freedom > 0) result.between.variance /= result.between.freedom;
  if (!few) result.freedom = static_cast<double>(result.units.size() - result.groups);
  estimate.mean = difference;
  estimate.centre = centre_of(all[0], all[1]);
  return result;
}

/// Each unit's value less the mean of its group.
std::vector<double> residuals_of(const RowOfUnits& row) {
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

/// What each unit does to all rows alike. Empty for few rows.
Effects effects_of(const std::vector<RowOfUnits>& rows) {
  if (rows.size() < rows_in_common) return {};
  std::map<std::tuple<bool, std::uint32_t, std::size_t>, std::vector<double>> residuals;
  for (const RowOfUnits& row : rows) {
    if (!(row.freedom > 0)) continue;
    const std::vector<double> of_row = residuals_of(row);
    for (std::size_t k = 0; k < of_row.size(); ++k) residuals[row.units[k].id].push_back(of_row[k]);
  }
  Effects effects;
  for (auto& [id, values] : residuals) {
    if (values.size() >= rows_in_common) effects[id] = median_of(std::move(values));
  }
  return effects;
}

/// How much the units' common effects scatter, with what degrees of freedom. The rounds of a recording hang together
/// (a clock that stepped down stays there), so together they count as one.
FoundVariance variance_of(const Effects& effects, bool of_recordings) {
  std::map<std::pair<bool, std::uint32_t>, std::pair<double, double>> groups;  // squares, units
  for (const auto& [id, effect] : effects) {
    auto& [squares, units] = groups[{std::get<0>(id), of_recordings ? 0 : std::get<1>(id)}];
    squares += effect * effect;
    ++units;
  }
  FoundVariance common;
  for (const auto& [group, sums] : groups) {
    common.variance += sums.first;
    common.freedom += sums.second - 1;
  }
  if (!(common.freedom > 0)) return {};
  common.variance /= common.freedom;
  if (!of_recordings) common.freedom = std::min(common.freedom, static_cast<double>(groups.size()));
  return common;
}

/// Of each row, without what its units have in common with others'.
std::vector<FoundVariance> own_variances(const std::vector<RowOfUnits>& rows, const Effects& effects) {
  std::vector<FoundVariance> found;
  found.reserve(rows.size());
  for (const RowOfUnits& row : rows) {
    RowOfUnits own = row;
    for (Unit& unit : own.units) {
      if (const auto effect = effects.find(unit.id); effect != effects.end()) unit.value -= effect->second;
    }
    double squares = 0;
    for (const double residual : residuals_of(own)) squares += residual * residual;
    found.push_back({.variance = row.freedom > 0 ? squares / row.freedom : 0, .freedom = row.freedom});
  }
  return found;
}

void estimate_apart(std::span<const ComparedRow> rows, const Places& places, Values values, bool of_recordings,
                    std::vector<Estimate>& estimates) {
  std::vector<RowOfUnits> of_units;
  for (const std::size_t place : places) {
    of_units.push_back(units_of(rows[place], values, of_recordings, estimates[place]));
  }
  const Effects effects = effects_of(of_units);
  FoundVariance common = variance_of(effects, of_recordings);
  const std::vector<FoundVariance> found = own_variances(of_units, effects);
  const std::vector<FoundVariance> variances = moderated(found, least_variance);
  std::vector<FoundVariance> of_a_round = variances;
  if (of_recordings) {
    // Few recordings may agree by chance; they do not agree better than their rounds do.
    std::vector<RowOfUnits> of_rounds;
    of_rounds.reserve(places.size());
    Estimate unused;
    for (const std::size_t place : places) of_rounds.push_back(units_of(rows[place], values, false, unused));
    const Effects of_all_rounds = effects_of(of_rounds);
    const FoundVariance by_rounds = variance_of(of_all_rounds, false);
    if (by_rounds.variance > common.variance) common = by_rounds;
    of_a_round = moderated(own_variances(of_rounds, of_all_rounds), least_variance);
  }
  for (std::size_t i = 0; i < places.size(); ++i) {
    Estimate& estimate = estimates[places[i]];
    if (!(found[i].freedom > 0)) {
      stand_in_for_spread(estimate);
      // Recordings of a side that disagree by more than the floor allows tell more than it.
      const FoundVariance& between = of_units[i].between;
      const double seen = std::sqrt(between.variance * of_units[i].share);
      if (between.freedom > 0 && seen > estimate.error) {
        estimate.error = seen;
        estimate.freedom = between.freedom;
      }
      continue;
    }
    const double variance = common.variance + variances[i].variance;
    // Satterthwaite's degrees of freedom of a sum.
    double doubt = variances[i].variance * variances[i].variance / variances[i].freedom;
    if (common.freedom > 0) doubt += common.variance * common.variance / common.freedom;
    estimate.freedom = variance * variance / doubt;
    estimate.error = std::sqrt(variance * of_units[i].share);
    estimate.spread = std::sqrt(2 * of_a_round[i].variance);
    estimate.apart = std::sqrt(2 * variance);
    estimate.floor = of_recordings ? SpreadFloor::none : SpreadFloor::of_rounds;
  }
}

std::size_t recordings_of(const ComparedRow& row) {
  std::size_t count = 0;
  for (const RoundsOfSide* side : {&row.base, &row.other}) {
    if (side->recordings.size() == 1) {
      ++count;
      continue;
    }
    count += std::set<std::uint32_t>(side->recordings.begin(), side->recordings.end()).size();
  }
  return count;
}

/// One side is computed: what that may be off by is all that there is of a spread.
void estimate_computed(const ComparedRow& row, Values values, Estimate& estimate) {
  estimate.mean = estimate.centre = median_of(logs_of(row.other.*values)) - median_of(logs_of(row.base.*values));
  estimate.error = std::log1p(row.model_error) / boost::math::quantile(standard_normal, 0.975);
  estimate.freedom = std::numeric_limits<double>::infinity();
  estimate.floor = SpreadFloor::of_model;
}

/// Of the rows that have these values; `which` says of which.
std::vector<Estimate> estimates_of(std::span<const ComparedRow> rows, Values values, std::vector<bool>& which) {
  std::vector<Estimate> estimates(rows.size());
  which.assign(rows.size(), false);
  const bool times = values == &RoundsOfSide::ns;
  Places paired;
  Places of_rounds;
  Places of_recordings;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const ComparedRow& row = rows[i];
    if ((row.base.*values).empty() || (row.other.*values).empty()) continue;
    which[i] = times || row.model_error <= 0;  // a computed clock confirms nothing
    if (row.model_error > 0) {
      estimate_computed(row, values, estimates[i]);
    } else if (row.exact) {
      estimates[i].mean = estimates[i].centre = std::log((row.other.*values).front() / (row.base.*values).front());
    } else if (row.paired) {
      paired.push_back(i);
    } else {
      (recordings_of(row) < enough_recordings ? of_rounds : of_recordings).push_back(i);
    }
  }
  estimate_paired(rows, paired, values, estimates);
  estimate_apart(rows, of_rounds, values, false, estimates);
  estimate_apart(rows, of_recordings, values, true, estimates);
  return estimates;
}

struct Corrected {
  std::vector<bool> found;  ///< by row
  double next = 0;          ///< what the probability of one more has to be at most
};

/// Benjamini and Hochberg over the rows for which `asked` holds, those that say nothing left out.
Corrected correct(const std::vector<double>& chances, const std::vector<bool>& asked, double level) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < chances.size(); ++i) {
    if (asked[i] && chances[i] <= left_out_above) order.push_back(i);
  }
  std::ranges::sort(order, {}, [&](std::size_t i) { return chances[i]; });
  const double each = left_out_above * level / static_cast<double>(std::max<std::size_t>(order.size(), 1));
  std::size_t found = 0;
  for (std::size_t k = 0; k < order.size(); ++k) {
    if (chances[order[k]] <= each * static_cast<double>(k + 1)) found = k + 1;
  }
  Corrected result{.found = std::vector<bool>(chances.size()),
                   .next = each * static_cast<double>(std::min(found + 1, std::max<std::size_t>(order.size(), 1)))};
  for (std::size_t k = 0; k < found; ++k) result.found[order[k]] = true;
  return result;
}

/// That a mean comes out above t of its standard errors, where it truly is so many of them; Student's t, not central
/// (Abramowitz and Stegun 26.7.10).
double chance_beyond(double t, double truth, double freedom) {
  const double z = (t * (1 - 1 / (4 * freedom)) - truth) / std::sqrt(1 + t * t / (2 * freedom));
  return boost::math::cdf(boost::math::complement(standard_normal, z));
}

/// What all but such a tail of Student's t lies below; kept, for all rows ask for the same few hundred.
class Tails {
 public:
  double of(double freedom, double tail) {
    const auto [place, first] = known_.try_emplace({freedom, tail});
    if (first) place->second = boost::math::quantile(boost::math::complement(Students(freedom), tail));
    return place->second;
  }

 private:
  std::map<std::pair<double, double>, double> known_;
};

/// How often a row by itself is decided whose log ratio is known with such an error, if it is what it seems.
double power_of(double ratio, double margin, double error, double freedom, double level, Tails& tails) {
  // Alone, a row's own part of the level is what the correction leaves of it.
  const double chance = left_out_above * level;
  const double beyond = std::abs(ratio) - margin;
  if (beyond > 0) {  // either tail speaks for a change
    const double t = tails.of(freedom, chance / 2);
    return chance_beyond(t, beyond / error, freedom);
  }
  const double t = tails.of(freedom, chance);
  const double far = (margin + std::abs(ratio)) / error;
  return chance_beyond(t, -beyond / error, freedom) + chance_beyond(t, far, freedom) - 1;
}

/// The least of such numbers that is enough; nothing where the most is not.
template <class Enough>
std::optional<std::size_t> least_enough(std::size_t least, std::size_t most, Enough enough) {
  if (!enough(most)) return std::nullopt;
  while (least < most) {
    const std::size_t middle = least + (most - least) / 2;
    if (enough(middle)) {
      most = middle;
    } else {
      least = middle + 1;
    }
  }
  return most;
}

std::optional<std::size_t> rounds_that_decide(const Estimate& estimate, const VerdictOptions& options, Tails& tails) {
  if (!(estimate.spread > 0)) return usual_rounds;
  return least_enough(fewest_rounds, most_rounds, [&](std::size_t rounds) {
    // The turns that are suggested have looks of their own, however often these rounds were looked at.
    const double level = options.level / static_cast<double>(looks_of_turns(rounds));
    const auto count = static_cast<double>(rounds);
    return power_of(estimate.centre, std::log1p(options.margin), estimate.spread / std::sqrt(count), count - 1, level,
                    tails) >= wanted_power;
  });
}

std::optional<std::size_t> recordings_that_decide(const Estimate& estimate, const VerdictOptions& options,
                                                  Tails& tails) {
  constexpr std::size_t fewest = enough_recordings / 2;
  if (!(estimate.apart > 0)) return fewest;
  return least_enough(fewest, most_recordings, [&](std::size_t recordings) {
    const auto count = static_cast<double>(recordings);
    return power_of(estimate.centre, std::log1p(options.margin), estimate.apart / std::sqrt(count), 2 * (count - 1),
                    options.level, tails) >= wanted_power;
  });
}

void check(const ComparedRow& row) {
  for (const RoundsOfSide* side : {&row.base, &row.other}) {
    const std::size_t rounds = side->ns.size();
    const auto good = [](double value) { return std::isfinite(value) && value > 0; };
    if (rounds == 0 || !std::ranges::all_of(side->ns, good) || !std::ranges::all_of(side->cycles, good) ||
        (!side->cycles.empty() && side->cycles.size() != rounds) ||
        (!row.paired && !row.exact && side->recordings.size() != rounds) ||
        (!side->moments.empty() && side->moments.size() != rounds) ||
        (!side->rounds.empty() && side->rounds.size() != rounds)) {
      throw std::invalid_argument("rounds that cannot be compared");
    }
  }
  if (row.paired && row.base.ns.size() != row.other.ns.size()) throw std::invalid_argument("pairs of unequal length");
}

/// That the cycles did not change in the direction of the time.
double chance_of_sign(const Estimate& time, const Estimate& cycles) {
  return chance_above(cycles, time.mean < 0 ? -cycles.mean : cycles.mean, 0);
}

}  // namespace

std::string_view to_string(Verdict verdict) {
  switch (verdict) {
    case Verdict::faster:
      return "FASTER";
    case Verdict::slower:
      return "SLOWER";
    case Verdict::same:
      return "SAME";
    case Verdict::ambiguous:
      break;
  }
  return "AMBIGUOUS";
}

std::string_view to_string(Undecided undecided) {
  switch (undecided) {
    case Undecided::few_rounds:
      return "few-rounds";
    case Undecided::apart:
      return "apart";
    case Undecided::spread:
      return "spread";
    case Undecided::clocks:
      return "clocks";
    case Undecided::computed:
      return "computed";
    case Undecided::decided:
      break;
  }
  return "";
}

std::string_view to_string(SpreadFloor floor) {
  switch (floor) {
    case SpreadFloor::of_rounds:
      return "rounds";
    case SpreadFloor::of_percent:
      return "5%";
    case SpreadFloor::of_model:
      return "model";
    case SpreadFloor::none:
      break;
  }
  return "";
}

double hodges_lehmann(std::span<const double> all) {
  if (all.size() == 1) return all.front();
  const std::vector<double> values = thinned({all.begin(), all.end()});
  std::vector<double> means;
  means.reserve(values.size() * (values.size() + 1) / 2);
  for (std::size_t i = 0; i < values.size(); ++i) {
    for (std::size_t k = i; k < values.size(); ++k) means.push_back((values[i] + values[k]) / 2);
  }
  return median_of(std::move(means));
}

std::vector<std::size_t> rounds_to_look_at(std::size_t most) {
  constexpr std::size_t first_look = 5;
  std::vector<std::size_t> looks;
  for (std::size_t rounds = first_look; rounds < most; rounds *= 2) looks.push_back(rounds);
  looks.push_back(most);
  return looks;
}

std::size_t looks_of_turns(std::size_t most) {
  return rounds_to_look_at(most).size() + 1;
}

VerdictOptions of_each_look(VerdictOptions options, std::size_t looks) {
  options.looks = looks;
  return options;
}

std::vector<RowVerdict> judge(std::span<const ComparedRow> rows, const VerdictOptions& options) {
  for (const ComparedRow& row : rows) check(row);
  const auto margin_of = [&](const ComparedRow& row) {
    const bool rounds = !row.paired && !row.exact && row.model_error <= 0;
    const bool apart = rounds && recordings_of(row) < enough_recordings;
    return std::log1p(apart ? std::max(options.margin, least_margin_apart) : options.margin);
  };
  std::vector<bool> timed;
  std::vector<bool> clocked;
  const std::vector<Estimate> times = estimates_of(rows, &RoundsOfSide::ns, timed);
  const std::vector<Estimate> cycles = estimates_of(rows, &RoundsOfSide::cycles, clocked);
  std::vector<double> change(rows.size());
  std::vector<double> same(rows.size());
  std::vector<bool> uncertain(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const double distance = std::abs(times[i].mean);
    const double margin = margin_of(rows[i]);
    uncertain[i] = !rows[i].exact;
    change[i] = chance_above(times[i], distance, margin);
    if (times[i].error > 0) change[i] += chance_above(times[i], distance, -margin);
    same[i] = times[i].error > 0 ? chance_above(times[i], margin - distance, 0) : (distance > margin ? 1 : 0);
  }
  std::vector<double> confirmed = change;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (clocked[i]) confirmed[i] = std::max(change[i], chance_of_sign(times[i], cycles[i]));
  }
  const auto looks = static_cast<double>(options.looks);
  const Corrected changed = correct(confirmed, uncertain, options.level / looks);
  const Corrected alike = correct(same, uncertain, options.level / looks);
  Quantiles quantiles(options.interval_level / looks);
  Tails tails;
  std::vector<RowVerdict> verdicts(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    RowVerdict& row = verdicts[i];
    row.time = ratio_of(times[i], quantiles);
    if (clocked[i]) row.cycles = ratio_of(cycles[i], quantiles);
    row.floor = times[i].floor;
    row.steadied = times[i].steadied;
    row.rounds = std::min(rows[i].base.ns.size(), rows[i].other.ns.size());
    row.spread = times[i].spread;
    row.p_change = confirmed[i];
    row.p_same = same[i];
    if (changed.found[i] || (rows[i].exact && change[i] <= 0)) {
      row.verdict = times[i].mean < 0 ? Verdict::faster : Verdict::slower;
    } else if (alike.found[i] || (rows[i].exact && same[i] <= 0)) {
      row.verdict = Verdict::same;
    } else {
      const bool by_time = change[i] <= changed.next;
      row.undecided = row.floor == SpreadFloor::of_percent  ? Undecided::few_rounds
                      : row.floor == SpreadFloor::of_model  ? Undecided::computed
                      : by_time                             ? Undecided::clocks
                      : row.floor == SpreadFloor::of_rounds ? Undecided::apart
                                                            : Undecided::spread;
      if (row.undecided != Undecided::clocks && row.undecided != Undecided::computed) {
        row.rounds_needed = rounds_that_decide(times[i], options, tails);
        row.recordings_needed = recordings_that_decide(times[i], options, tails);
      }
    }
  }
  return verdicts;
}

}  // namespace attnscope::analysis
