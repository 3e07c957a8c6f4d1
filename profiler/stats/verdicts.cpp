// SPDX-License-Identifier: Apache-2.0
#include "profiler/stats/verdicts.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <stdexcept>
#include <utility>

#include "profiler/stats/ratio_estimates.h"
#include "profiler/stats/sample_math.h"

namespace attnscope::analysis {
namespace {

/// p-values above this are dropped from the correction (tau in Zhao, Small and Su).
constexpr double max_p_value = 0.5;
/// Power of suggested numbers of rounds and recordings.
constexpr double target_power = 0.9;

/// Returns the probability that an estimate exceeds `value` by chance if the true value is `bound`.
double p_value_above(const RatioEstimate& estimate, double value, double bound) {
  if (estimate.error <= 0) return value > bound ? 0 : 1;
  const double t = (value - bound) / estimate.error;
  if (estimate.dof < max_student_dof) {
    return boost::math::cdf(boost::math::complement(StudentT(estimate.dof), t));
  }
  return boost::math::cdf(boost::math::complement(standard_normal, t));
}

/// One-sided quantiles, cached by degrees of freedom and tail, which most rows share.
class Tails {
 public:
  double of(double dof, double tail) {
    if (!(dof <= max_student_dof)) return boost::math::quantile(boost::math::complement(standard_normal, tail));
    const auto [place, first] = known_.try_emplace({dof, tail});
    if (first) place->second = boost::math::quantile(boost::math::complement(StudentT(dof), tail));
    return place->second;
  }

 private:
  std::map<std::pair<double, double>, double> known_;
};

/// `level`: miss probability of the interval.
RatioInterval ratio_of(const RatioEstimate& estimate, double level, Tails& tails) {
  const double half = estimate.error > 0 ? tails.of(estimate.dof, level / 2) * estimate.error : 0;
  return {.ratio = std::exp(estimate.center),
          .interval = {.low = std::exp(std::min(estimate.mean - half, estimate.center)),
                       .high = std::exp(std::max(estimate.mean + half, estimate.center))},
          .assumed = estimate.floor == SpreadFloor::assumed_percent};
}

bool is_unknown(const RatioEstimate& estimate) {
  return estimate.floor == SpreadFloor::unknown;
}

struct CorrectedTests {
  std::vector<bool> found;  ///< per row
  double next = 0;          ///< largest p-value at which one more row would be found
};

/// Benjamini-Hochberg over the rows in `asked`, without those above `max_p_value`.
CorrectedTests correct(const std::vector<double>& chances, const std::vector<bool>& asked, double level) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < chances.size(); ++i) {
    if (asked[i] && chances[i] <= max_p_value) order.push_back(i);
  }
  std::ranges::sort(order, {}, [&](std::size_t i) { return chances[i]; });
  const double each = max_p_value * level / static_cast<double>(std::max<std::size_t>(order.size(), 1));
  std::size_t found = 0;
  for (std::size_t k = 0; k < order.size(); ++k) {
    if (chances[order[k]] <= each * static_cast<double>(k + 1)) found = k + 1;
  }
  CorrectedTests result{
      .found = std::vector<bool>(chances.size()),
      .next = each * static_cast<double>(std::min(found + 1, std::max<std::size_t>(order.size(), 1)))};
  for (std::size_t k = 0; k < found; ++k) result.found[order[k]] = true;
  return result;
}

/// Returns P(T > t) of noncentral Student's t with noncentrality `truth` (Abramowitz and Stegun 26.7.10).
double noncentral_t_tail(double t, double truth, double dof) {
  const double z = (t * (1 - 1 / (4 * dof)) - truth) / std::sqrt(1 + t * t / (2 * dof));
  return boost::math::cdf(boost::math::complement(standard_normal, z));
}

/// Returns the power for a single row with this standard error, assuming that the estimated ratio is true.
double test_power(double ratio, double margin, double error, double dof, double level, Tails& tails) {
  // For one row, the correction halves the level.
  const double chance = max_p_value * level;
  const double beyond = std::abs(ratio) - margin;
  if (beyond > 0) {  // two-sided
    const double t = tails.of(dof, chance / 2);
    return noncentral_t_tail(t, beyond / error, dof);
  }
  const double t = tails.of(dof, chance);
  const double far = (margin + std::abs(ratio)) / error;
  return noncentral_t_tail(t, -beyond / error, dof) + noncentral_t_tail(t, far, dof) - 1;
}

/// Returns the smallest number in [least, most] for which `enough` holds; nullopt if it does not hold for `most`.
template <class Enough>
std::optional<std::size_t> smallest_sufficient(std::size_t least, std::size_t most, Enough enough) {
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

std::optional<std::size_t> needed_rounds(const RatioEstimate& estimate, const VerdictOptions& options, Tails& tails) {
  if (!(estimate.spread > 0)) return std::nullopt;
  return smallest_sufficient(min_rounds, max_rounds, [&](std::size_t rounds) {
    // The suggested measurement pays for its own interim analyses only, not for those already done.
    const double level = options.level / static_cast<double>(analysis_count(rounds));
    const auto count = static_cast<double>(rounds);
    return test_power(estimate.center, std::log1p(options.margin), estimate.spread / std::sqrt(count), count - 1, level,
                      tails) >= target_power;
  });
}

std::optional<std::size_t> needed_recordings(const RatioEstimate& estimate, const VerdictOptions& options,
                                             Tails& tails) {
  constexpr std::size_t fewest = min_recordings_for_spread / 2;
  if (!(estimate.apart > 0)) return std::nullopt;
  const bool calibrated = estimate.floor == SpreadFloor::calibrated;
  return smallest_sufficient(calibrated ? 1 : fewest, max_recordings, [&](std::size_t recordings) {
    const auto count = static_cast<double>(recordings);
    const double dof = calibrated ? std::min(estimate.dof, max_student_dof) : 2 * (count - 1);
    return test_power(estimate.center, std::log1p(options.margin), estimate.apart / std::sqrt(count), dof,
                      options.level, tails) >= target_power;
  });
}

double detectable_change(const RatioEstimate& estimate, double margin, double level, Tails& tails) {
  if (!(estimate.error > 0)) return 0;
  const double dof = std::min(estimate.dof, max_student_dof);
  const double found = tails.of(dof, max_p_value * level / 2);
  return std::expm1(margin + (found + tails.of(dof, 1 - target_power)) * estimate.error);
}

void check(const ComparedRow& row) {
  const auto good = [](double value) { return std::isfinite(value) && value > 0; };
  for (const SideRounds* side : {&row.base, &row.other}) {
    const auto fits = [&](const auto& list) { return list.empty() || list.size() == side->ns.size(); };
    if (side->ns.empty() || !std::ranges::all_of(side->ns, good) || !std::ranges::all_of(side->cycles, good) ||
        !fits(side->cycles) || !fits(side->moments) || !fits(side->rounds) ||
        (!row.paired && !row.exact && side->recordings.size() != side->ns.size()))
      throw std::invalid_argument("invalid rounds: values must be positive and lists of equal length");
  }
  if (row.paired && row.base.ns.size() != row.other.ns.size())
    throw std::invalid_argument("paired sides must have equally many rounds");
}

/// `by_time`: the time alone, without clocks, would have decided.
Undecided undecided_reason(SpreadFloor floor, bool by_time) {
  if (floor == SpreadFloor::model_error_floor) return Undecided::computed;
  if (by_time) return Undecided::clocks;
  if (floor == SpreadFloor::assumed_percent) return Undecided::few_rounds;
  if (floor == SpreadFloor::of_rounds) return Undecided::apart;
  return floor == SpreadFloor::calibrated ? Undecided::noise : Undecided::spread;
}

/// Returns the p-value of "cycles did not change in the direction of the time".
double sign_p_value(const RatioEstimate& time, const RatioEstimate& cycles) {
  return p_value_above(cycles, time.mean < 0 ? -cycles.mean : cycles.mean, 0);
}

}  // namespace

std::string_view to_string(Verdict verdict) {
  static constexpr std::array<std::string_view, 4> names{"FASTER", "SLOWER", "SAME", "UNDECIDED"};
  return names.at(static_cast<std::size_t>(verdict));
}

std::string_view to_string(Undecided undecided) {
  static constexpr std::array<std::string_view, 8> names{
      "", "few-rounds", "separate-recordings", "spread", "clocks", "computed", "noise", "not-validated"};
  return names.at(static_cast<std::size_t>(undecided));
}

std::string_view to_string(SpreadFloor floor) {
  static constexpr std::array<std::string_view, 7> names{"",      "rounds",     "assumed", "samples",
                                                         "model", "calibrated", "unknown"};
  return names.at(static_cast<std::size_t>(floor));
}

std::vector<std::size_t> analysis_rounds(std::size_t most) {
  constexpr std::size_t first_analysis = 5;
  std::vector<std::size_t> looks;
  for (std::size_t rounds = first_analysis; rounds < most; rounds *= 2) looks.push_back(rounds);
  looks.push_back(most);
  return looks;
}

std::size_t analysis_count(std::size_t most) {
  return analysis_rounds(most).size() + 1;
}

std::vector<RowVerdict> judge(std::span<const ComparedRow> rows, const VerdictOptions& options) {
  for (const ComparedRow& row : rows) check(row);
  const double margin = std::log1p(options.margin);
  std::vector<bool> timed;
  std::vector<bool> clocked;
  const std::vector<RatioEstimate> times = estimate_ratios(rows, &SideRounds::ns, timed);
  const std::vector<RatioEstimate> cycles = estimate_ratios(rows, &SideRounds::cycles, clocked);
  std::vector<double> change(rows.size());
  std::vector<double> same(rows.size());
  std::vector<bool> uncertain(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const double distance = std::abs(times[i].mean);
    uncertain[i] = !rows[i].exact && !is_unknown(times[i]);
    change[i] = p_value_above(times[i], distance, margin);
    if (times[i].error > 0) change[i] += p_value_above(times[i], distance, -margin);
    same[i] = times[i].error > 0 ? p_value_above(times[i], margin - distance, 0) : (distance > margin ? 1 : 0);
  }
  std::vector<double> confirmed = change;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].one_clock) clocked[i] = false;  // normalized times are proportional to cycles
    if (clocked[i]) confirmed[i] = std::max(change[i], sign_p_value(times[i], cycles[i]));
  }
  const double level = options.level / static_cast<double>(options.looks);
  const double level_of_all = level / static_cast<double>(std::max<std::size_t>(rows.size(), 1));
  const CorrectedTests changed = correct(confirmed, uncertain, level);
  const CorrectedTests alike = correct(same, uncertain, level);
  Tails tails;
  std::vector<RowVerdict> verdicts(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    RowVerdict& row = verdicts[i];
    row.rounds = std::min(rows[i].base.ns.size(), rows[i].other.ns.size());
    row.floor = times[i].floor;
    if (is_unknown(times[i])) {
      const double ratio = std::exp(times[i].center);
      row.time = {.ratio = ratio, .interval = {.low = ratio, .high = ratio}, .unknown = true};
      row.undecided = Undecided::not_validated;
      continue;
    }
    row.time = ratio_of(times[i], level, tails);
    if (clocked[i]) row.cycles = ratio_of(cycles[i], level, tails);
    const Interval together = ratio_of(times[i], level_of_all, tails).interval;
    row.certain_change = times[i].mean < 0 ? 1 - together.high : together.low - 1;
    row.steadied = times[i].steadied;
    row.one_clock = rows[i].one_clock;
    row.clock_shift = rows[i].clock_shift;
    row.clocks_differ = rows[i].clocks_differ;
    row.spread = times[i].spread;
    row.p_change = confirmed[i];
    row.p_same = same[i];
    row.detectable = detectable_change(times[i], margin, level, tails);
    const double unnormalized = times[i].mean + rows[i].clock_shift;
    const bool inside = std::abs(unnormalized) <= margin;
    const bool beyond = !inside && (unnormalized < 0) == (times[i].mean < 0);
    if ((changed.found[i] && beyond) || (rows[i].exact && change[i] <= 0)) {
      row.verdict = times[i].mean < 0 ? Verdict::faster : Verdict::slower;
    } else if ((alike.found[i] && inside) || (rows[i].exact && same[i] <= 0)) {
      row.verdict = Verdict::same;
    } else {
      row.undecided = undecided_reason(row.floor, change[i] <= changed.next || alike.found[i]);
      if (row.undecided != Undecided::clocks && row.undecided != Undecided::computed) {
        row.rounds_needed = needed_rounds(times[i], options, tails);
        row.recordings_needed = needed_recordings(times[i], options, tails);
      }
    }
  }
  return verdicts;
}

}  // namespace attnscope::analysis
