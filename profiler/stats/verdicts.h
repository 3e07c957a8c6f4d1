// SPDX-License-Identifier: Apache-2.0
// Decides whether a candidate is faster than a baseline from noisy times. The unit is a round: the median of a point's
// samples in one pass over all points, because drift between rounds exceeds the scatter within one.
//
// Paired rows (both sides measured in the same rounds, in shuffled order): the values are log(other / base) per round.
// The estimate is the Hodges-Lehmann estimator (1963); the interval is Student's t of the mean, with the row's variance
// moderated by those of all rows (variance_prior.h). If the moment of each sample is known, drift common to all rows
// (common_drift.h) is subtracted, provided that it reduces the variance of at least half of the rows by 10%. Times and
// cycles are tested for it separately.
//
// Unpaired rows (separate recordings): recordings differ by more than their rounds scatter. With four or more
// recordings, the unit is a recording's mean; with fewer, the spread between rounds is used as the spread between
// recordings. Effects common to all rows of a round or recording are estimated separately and not moderated, with one
// degree of freedom per recording if rounds are the unit, because a clock step persists. The spread between recordings
// is never less than between rounds. Below `min_rounds` the spread between recordings is unknown: the error is that of
// the samples (SampleSpread) or of the few rounds, added to an assumed one of 5%. If repeated recordings of one build
// were calibrated (recording_noise.h), their variance is the spread, and a side's time is the mean of the faster half
// of its rounds, which excludes rounds throttled at the power cap. For a computed side the model's error is the spread.
//
// If both sides are the same point in different builds or recordings, their times are normalized to one clock first
// (clock_normalization.h), because rounds differ mostly by clock. The verdict is then reported only if the ratio
// without normalization agrees: within the margin for SAME, beyond it in the same direction for a change.
//
// FASTER and SLOWER: a test of |log ratio| <= log(1 + margin) and, if clocks are known but not normalized, one that the
// cycles changed in the same direction. The larger p-value enters Benjamini and Hochberg (1995) over all rows; rows
// with p > 0.5 are dropped and the others divided by 0.5 (Zhao, Small and Su, J. Am. Stat. Assoc. 114 (2019) 1291), so
// that rows well inside the margin do not reduce the power for the others. SAME: two one-sided tests against the margin
// (Schuirmann 1987), corrected in the same way. All other rows are UNDECIDED, with a reason.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "profiler/stats/fit.h"
#include "profiler/stats/variance_prior.h"

namespace attnscope::analysis {

enum class Verdict { faster, slower, same, ambiguous };
[[nodiscard]] std::string_view to_string(Verdict);

/// Reason why a row is UNDECIDED.
enum class Undecided {
  decided,
  few_rounds,     ///< fewer than `min_rounds`, and within the assumed floor of their spread
  apart,          ///< separate recordings: more rounds would not decide
  spread,         ///< too few rounds for their spread
  clocks,         ///< times changed but cycles did not or vice versa, or clock normalization changes the verdict
  computed,       ///< the ratio is within the error of a computed side
  noise,          ///< too few recordings for their calibrated spread
  not_validated,  ///< the error of a computed side is unknown
};
[[nodiscard]] std::string_view to_string(Undecided);

/// Source of a lower bound on a row's spread.
enum class SpreadFloor {
  none,               ///< measured in the same rounds, or enough recordings to estimate their spread
  of_rounds,          ///< spread of rounds, and at least the assumed spread between recordings
  assumed_percent,    ///< too few rounds: mostly the assumed 5%
  few_samples,        ///< too few rounds: mostly the scatter of samples or rounds, which exceeds 5%
  model_error_floor,  ///< error of the model that computed one side
  calibrated,         ///< spread between repeated recordings of one build
  unknown,            ///< a computed side whose error nobody measured
};
[[nodiscard]] std::string_view to_string(SpreadFloor);

/// Scatter of the samples behind a time, as recorded or as stated by an imported file.
struct SampleSpread {
  double log_range = 0;  ///< log(third quartile / first quartile)
  double samples = 0;    ///< 0 if unknown: the quartiles are then taken as those of a single draw
};

/// One side of a row: one value per round, in order.
struct SideRounds {
  std::vector<double> ns;
  std::vector<double> cycles;             ///< per round; empty if the clock is unknown
  std::vector<std::uint32_t> recordings;  ///< per round, unpaired rows only: index of the recording
  /// Per round or empty, unpaired rows only: round index within its recording, used for effects common to all rows. If
  /// empty, value n belongs to round n.
  std::vector<std::uint32_t> rounds = {};
  /// Per round or empty, paired rows only: moment of the sample, see common_drift.h.
  std::vector<double> moments = {};
  /// Unpaired rows only: variance of a recording's log time (recording_noise.h). Zero degrees of freedom if unknown.
  VarianceEstimate place = {};
  /// Per recording, or empty if none states its spread. Used below `min_rounds`.
  std::vector<SampleSpread> sampled = {};
};

struct ComparedRow {
  SideRounds base;
  SideRounds other;
  /// True if base.ns[k] and other.ns[k] come from the same round of one recording with shuffled points.
  bool paired = false;
  /// Both sides are computed the same way: no spread, and the verdict follows from the margin alone.
  bool exact = false;
  bool one_clock = false;  ///< both sides' `ns` are normalized to one clock (clock_normalization.h)
  /// Log time ratio other / base that the clock difference explains, removed from `ns` by normalization.
  double clock_shift = 0;
  bool clocks_differ = false;  ///< significantly
  /// Relative error bound (95%) of a ratio with a computed side; 0 if no side is computed, infinite if unknown.
  double model_error = 0;
};

struct RatioInterval {
  double ratio = 1;   ///< other / base
  Interval interval;  ///< 95% by default, for this row alone
  /// True if the width is assumed (`assumed_spread`) because there are too few rounds.
  bool assumed = false;
  /// True if neither ratio nor width can be claimed: the error of a computed side is unknown.
  bool unknown = false;
};

struct RowVerdict {
  RatioInterval time;
  std::optional<RatioInterval> cycles = std::nullopt;
  Verdict verdict = Verdict::ambiguous;
  Undecided undecided = Undecided::decided;
  SpreadFloor floor = SpreadFloor::none;
  std::size_t rounds = 0;  ///< minimum of both sides
  bool steadied = false;   ///< common drift was subtracted
  bool one_clock = false;  ///< times are normalized to one clock
  double clock_shift = 0;
  bool clocks_differ = false;
  double spread = 0;    ///< moderated standard deviation of a round's log ratio; 0 if unknown
  double p_change = 1;  ///< p-value of "the ratio is inside the margin", uncorrected
  double p_same = 1;    ///< p-value of "the ratio is outside the margin", uncorrected
  /// Smallest change in the direction of the estimate at the interval's level for all rows together (Bonferroni); 0.05
  /// is 5%. Negative if none.
  double certain_change = 0;
  double detectable = 0;  ///< minimum detectable change of this row alone at 90% power, relative; 0 if exact
  /// Rounds of `attnscope ab` (both sides interleaved) that decide an UNDECIDED row with 90% power if ratio and spread
  /// are as estimated. nullopt above `max_rounds`, because the change is close to the margin, and if the spread is
  /// unknown.
  std::optional<std::size_t> rounds_needed = std::nullopt;
  /// Recordings per side that decide the row if the sides cannot be interleaved; nullopt as above.
  std::optional<std::size_t> recordings_needed = std::nullopt;
};

/// Default margins of paired and unpaired rows. For unpaired rows of six rounds, a 3% change is distinguished from none
/// in three of four rows.
inline constexpr double default_margin_paired = 0.01;
inline constexpr double default_margin_unpaired = 0.015;

struct VerdictOptions {
  double margin = default_margin_paired;  ///< relative; 0 < margin < 1
  double level = 0.05;                    ///< false discovery rate of verdicts, and miss probability of an interval
  std::size_t looks = 1;                  ///< number of interim analyses that share `level`; > 0
};

/// Returns the rounds at which a sequential measurement is analyzed: 5, 10, 20, ... and `most`. Each interim analysis
/// gets an equal share of the level (Bonferroni), so that the overall error rates hold.
[[nodiscard]] std::vector<std::size_t> analysis_rounds(std::size_t most);
/// Returns the number of analyses of `attnscope ab` for at most this many rounds: the interim ones and one at the time
/// limit.
[[nodiscard]] std::size_t analysis_count(std::size_t most);

inline constexpr std::size_t min_rounds = 3;
/// Suggested if the spread is unknown.
inline constexpr std::size_t default_rounds = 10;
inline constexpr std::size_t max_rounds = 1000;
inline constexpr std::size_t max_recordings = 50;
/// Half width of the interval with fewer than `min_rounds`.
inline constexpr double assumed_spread = 0.05;

/// Returns one verdict per row. Throws std::invalid_argument for a row with an empty side, or values that are not
/// positive and finite.
[[nodiscard]] std::vector<RowVerdict> judge(std::span<const ComparedRow> rows, const VerdictOptions& options = {});

/// Returns the median of all pairwise means, each value with itself included. Pre: not empty.
[[nodiscard]] double hodges_lehmann(std::span<const double> values);

}  // namespace attnscope::analysis
