// SPDX-License-Identifier: Apache-2.0
#include "tests/profiler/stats/verdict_simulation.h"

#include <algorithm>
#include <cmath>
#include <random>

namespace attnscope::simulated_rounds {
namespace {

using analysis::ComparedRow;
using analysis::SideRounds;
using analysis::Verdict;
using Random = std::mt19937_64;

constexpr double max_clock_hz = 1.98e9;
constexpr double clock_step_hz = 15e6;
constexpr std::size_t steps_per_round = 50;

double normal(Random& random) {
  return std::normal_distribution<double>()(random);
}

/// Log time common to all rows at each moment of a recording.
class Course {
 public:
  Course(const Setting& setting, Random& random) : values_(setting.rounds * steps_per_round + 1) {
    const auto count = static_cast<double>(values_.size());
    double walk = 0;
    if (setting.noise == Noise::drift) {
      for (std::size_t i = 0; i < values_.size(); ++i) {
        values_[i] = 0.03 * static_cast<double>(i) / count + walk;
        walk += 0.005 / std::sqrt(steps_per_round) * normal(random);
      }
    } else if (setting.noise == Noise::steps) {
      const int jumps = std::poisson_distribution<int>(0.3 * static_cast<double>(setting.rounds))(random);
      for (int jump = 0; jump < jumps; ++jump) {
        const auto at = static_cast<std::size_t>(std::uniform_real_distribution<double>(0, count)(random));
        const double by = std::bernoulli_distribution()(random) ? 0.02 : -0.02;
        for (std::size_t i = at; i < values_.size(); ++i) values_[i] += by;
      }
    } else if (setting.noise == Noise::power_cap) {
      const double kept = std::exp(-1.0 / 10);
      walk = normal(random);
      for (double& value : values_) {
        value = -std::log(1 - std::clamp(0.02 + 0.015 * walk, 0.0, 0.2));
        walk = kept * walk + std::sqrt(1 - kept * kept) * normal(random);
      }
    }
  }

  /// `moment`: in rounds.
  [[nodiscard]] double at(double moment) const {
    const double place = moment * steps_per_round;
    const std::size_t below = std::min(static_cast<std::size_t>(place), values_.size() - 2);
    const double part = place - static_cast<double>(below);
    return (1 - part) * values_[below] + part * values_[below + 1];
  }

 private:
  std::vector<double> values_;
};

struct Moments {
  double log_time = 0;  ///< without noise
  double spread = 0;
};

void measure(const Setting& setting, const Course& course, const Moments& row, std::uint32_t recording, Random& random,
             SideRounds& side) {
  for (std::size_t round = 0; round < setting.rounds; ++round) {
    const double moment = static_cast<double>(round) + std::uniform_real_distribution<double>()(random);
    const double common = course.at(moment);
    const double own = setting.noise == Noise::heavy_tails
                           ? std::student_t_distribution<double>(3)(random) / std::sqrt(3.0)
                           : normal(random);
    const double ns = std::exp(row.log_time + common + row.spread * own);
    side.ns.push_back(ns);
    side.recordings.push_back(recording);
    if (setting.moments) side.moments.push_back(moment);
    if (setting.noise == Noise::power_cap) {
      side.cycles.push_back(ns * std::round(max_clock_hz * std::exp(-common) / clock_step_hz) * clock_step_hz / 1e9);
    }
  }
}

}  // namespace

std::string_view to_string(Noise noise) {
  switch (noise) {
    case Noise::gaussian:
      return "Gaussian";
    case Noise::drift:
      return "drift";
    case Noise::steps:
      return "steps";
    case Noise::heavy_tails:
      return "heavy tails (t3)";
    case Noise::power_cap:
      break;
  }
  return "power cap";
}

Simulated simulate(const Setting& setting, std::uint64_t seed) {
  Random random(seed);
  Simulated result{.rows = std::vector<ComparedRow>(setting.rows), .truth = std::vector<double>(setting.rows, 1.0)};
  std::fill_n(result.truth.begin(), std::min(setting.changed, setting.rows), 1 + setting.change);
  std::vector<Moments> moments(setting.rows);
  for (Moments& row : moments) {
    row.log_time = std::uniform_real_distribution<double>(std::log(1e4), std::log(1e7))(random);
    row.spread = setting.spread * std::exp(setting.spread_variation * normal(random));
  }
  const bool paired = setting.base_recordings == 0;
  if (paired) {
    const Course course(setting, random);
    for (std::size_t i = 0; i < setting.rows; ++i) {
      ComparedRow& row = result.rows[i];
      row.paired = true;
      measure(setting, course, moments[i], 0, random, row.base);
      moments[i].log_time += std::log(result.truth[i]);
      measure(setting, course, moments[i], 0, random, row.other);
    }
    return result;
  }
  for (std::uint32_t recording = 0; recording < setting.base_recordings + setting.other_recordings; ++recording) {
    const bool other = recording >= setting.base_recordings;
    const Course course(setting, random);
    const double offset = setting.between * normal(random);
    for (std::size_t i = 0; i < setting.rows; ++i) {
      Moments row = moments[i];
      row.log_time += offset + setting.between * normal(random) + (other ? std::log(result.truth[i]) : 0);
      measure(setting, course, row, recording, random, other ? result.rows[i].other : result.rows[i].base);
    }
  }
  return result;
}

namespace {

void count(const analysis::RowVerdict& verdict, double truth, Tally& tally) {
  ++tally.rows;
  if (verdict.time.interval.contains(truth)) ++tally.covered;
  if (verdict.verdict == Verdict::same) ++tally.same;
  if (verdict.verdict == Verdict::ambiguous) ++tally.undecided;
  if (truth != 1) ++tally.planted;
  if (verdict.verdict != Verdict::faster && verdict.verdict != Verdict::slower) return;
  const bool right = truth != 1 && (verdict.verdict == Verdict::slower) == (truth > 1);
  ++(right ? tally.found : tally.wrong);
}

/// Returns a paired row with only its first rounds.
ComparedRow first_rounds(const ComparedRow& row, std::size_t rounds) {
  ComparedRow begun = row;
  for (SideRounds* side : {&begun.base, &begun.other}) {
    side->ns.resize(rounds);
    side->recordings.resize(rounds);
    side->moments.clear();
    if (!side->cycles.empty()) side->cycles.resize(rounds);
  }
  return begun;
}

}  // namespace

Tally play(const Setting& setting, std::size_t trials, std::uint64_t seed, const analysis::VerdictOptions& options) {
  Tally tally;
  for (std::size_t trial = 0; trial < trials; ++trial) {
    const Simulated simulated = simulate(setting, seed + 1000 * trial);
    const std::vector<analysis::RowVerdict> verdicts = analysis::judge(simulated.rows, options);
    for (std::size_t i = 0; i < verdicts.size(); ++i) count(verdicts[i], simulated.truth[i], tally);
  }
  return tally;
}

Tally simulate_until_decided(Setting setting, std::size_t trials, std::uint64_t seed, bool corrected,
                             std::size_t* spent) {
  Tally tally;
  setting.rows = 1;
  const std::vector<std::size_t> looks = analysis::analysis_rounds(setting.rounds);
  const analysis::VerdictOptions options = {.looks = corrected ? analysis::analysis_count(setting.rounds) : 1};
  for (std::size_t trial = 0; trial < trials; ++trial) {
    const Simulated simulated = simulate(setting, seed + 1000 * trial);
    analysis::RowVerdict verdict;
    for (const std::size_t rounds : looks) {
      verdict = analysis::judge(std::vector{first_rounds(simulated.rows[0], rounds)}, options).at(0);
      if (spent != nullptr && (verdict.verdict != Verdict::ambiguous || rounds == looks.back())) *spent += rounds;
      if (verdict.verdict != Verdict::ambiguous) break;
    }
    count(verdict, simulated.truth[0], tally);
  }
  return tally;
}

}  // namespace attnscope::simulated_rounds
