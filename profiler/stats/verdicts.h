// SPDX-License-Identifier: Apache-2.0
// Whether one thing is faster than another, of times that scatter. The unit is a round: the median of what was sampled
// of a point in one pass over all points, for what drifts between rounds is more than what scatters within one.
//
// Where both sides were measured in the same rounds, in shuffled order (paired), a row's values are the logarithms of
// the ratio other / base, one a round. The centre is that of Hodges and Lehmann (1963); the interval is Student's t of
// the mean, with the row's variance moderated by those of all rows (variance_prior.h).
//
// Where it is known when in its round each value was measured, what all rows go through alike (common_drift.h) is
// taken off first, if at least half of the rows scatter less by a tenth without it: it is real, then, and shuffling has
// made it scatter that says nothing of a row. Times and cycles are asked apart.
//
// Recordings made one after the other differ by more than their rounds scatter. Of four or more of them (two degrees of
// freedom between recordings of one side) a recording's mean is the unit; of fewer, the spread of a single round stands
// for what recordings differ by, however many rounds they have. What all rows of a round or recording have in common is
// estimated apart, with the few degrees of freedom that it has, and not moderated: one a recording where rounds are the
// unit, for a clock that stepped down stays there. It never scatters less between recordings than between rounds. Below
// `fewest_rounds` the spread is not known: a floor of 5% stands for it. Where repeated recordings of one build told
// what a recording does to a point (recording_noise.h), that is the spread, and a side is where its recordings put the
// point: the mean of the faster half of the rounds, for the slow ones at the power cap say nothing of the kernel. Where
// a side was computed, what such a ratio is known to be off by stands for it.
//
// Of one point, in builds or at times that differ, both sides' times are brought to one clock first (one_clock.h): its
// clock is what its rounds mostly differ by. A verdict then stands where the ratio as timed says the same: for SAME it
// lies inside the margin, for a change beyond it on that side.
//
// FASTER and SLOWER: a test of |log ratio| <= log(1 + margin), and, where clocks are known and not held, one that the
// cycles changed in the same direction; the larger of the two probabilities goes through Benjamini and Hochberg (1995)
// over all rows, of which those above 0.5 are left out and the others divided by 0.5 (Zhao, Small and Su, J. Am. Stat.
// Assoc. 114 (2019) 1291: rows that lie well inside the margin do not cost those outside it their verdict). SAME: two
// one-sided tests against the margin (Schuirmann 1987), corrected in the same way. All else is UNDECIDED, with a
// reason.
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
/// "FASTER", "SLOWER", "SAME", "UNDECIDED".
[[nodiscard]] std::string_view to_string(Verdict);

/// Why a row is ambiguous.
enum class Undecided {
  decided,     ///< it is not
  few_rounds,  ///< fewer than `fewest_rounds`, and within the floor that stands for their spread
  apart,       ///< recordings made one after the other: more rounds of them would not tell
  spread,      ///< the rounds scatter too much for their number
  clocks,    ///< the time changed, the cycles did not, or the other way; or one clock says another thing than as timed
  computed,  ///< one side was computed, and may be as far off as the other seems
  noise,     ///< calibrated recordings differ too much for their number
};
[[nodiscard]] std::string_view to_string(Undecided);

/// What stands below a row's spread.
enum class SpreadFloor {
  none,        ///< measured in the same rounds, or enough recordings to know what they differ by
  of_rounds,   ///< recordings differ by no less than a single round does, nor than is assumed of any two
  of_percent,  ///< too few rounds: 5%
  of_model,    ///< one side was computed: what that is off by
  calibrated,  ///< what repeated recordings of one build differ by
};
[[nodiscard]] std::string_view to_string(SpreadFloor);

/// One side of a row: a value a round, in the order of rounds.
struct RoundsOfSide {
  std::vector<double> ns;
  std::vector<double> cycles;             ///< as many, or none where a clock is not known
  std::vector<std::uint32_t> recordings;  ///< as many where not paired: which recording it is of
  /// As many, or none, where not paired: the round of its recording, by which rows know what they have in common; else
  /// the n-th value is taken to be of the n-th round.
  std::vector<std::uint32_t> rounds = {};
  /// As many, or none, where paired: when it was, as common_drift.h has it.
  std::vector<double> moments = {};
  /// Not paired: the variance of the logarithm of where one recording puts the point; without a degree of freedom it is
  /// not known.
  FoundVariance place = {};
};

struct ComparedRow {
  RoundsOfSide base;
  RoundsOfSide other;
  /// Whether base.ns[k] and other.ns[k] are of one round of one recording, which shuffles its points.
  bool paired = false;
  /// Both sides are one computation: they have no spread, and the verdict is that of the margin.
  bool exact = false;
  bool one_clock = false;  ///< both sides' `ns` are as at one clock (one_clock.h)
  /// Of these: log of what the sides' clocks move the time by, other over base, and `ns` leaves out.
  double clock_shift = 0;
  bool clocks_differ = false;  ///< by more than they scatter
  /// A side is computed: what 95 of 100 such ratios are off by at most, relative; 0 where it is not so.
  double model_error = 0;
};

struct RatioInterval {
  double ratio = 1;   ///< other / base
  Interval interval;  ///< 95% unless the options say another, of this row alone
  /// Nothing that was measured says how wide it is: too few rounds, and `unknown_spread_floor` stands for their spread.
  bool assumed = false;
};

struct RowVerdict {
  RatioInterval time;
  std::optional<RatioInterval> cycles = std::nullopt;
  Verdict verdict = Verdict::ambiguous;
  Undecided undecided = Undecided::decided;
  SpreadFloor floor = SpreadFloor::none;
  std::size_t rounds = 0;  ///< of the side that has fewer
  bool steadied = false;   ///< what all rows went through alike was taken off its times
  bool one_clock = false;  ///< the ratio is of times at one clock
  double clock_shift = 0;  ///< ComparedRow's, and so is the next
  bool clocks_differ = false;
  double spread = 0;    ///< standard deviation of one round's log ratio, as moderated; 0 where it is not known
  double p_change = 1;  ///< that it lies inside the margin, uncorrected
  double p_same = 1;    ///< that it lies outside
  /// The least change in the verdict's direction that holds at the interval's level for all rows together (Bonferroni):
  /// 0.05 is 5%; below 0 where none does.
  double sure = 0;
  double detectable = 0;  ///< relative change that is found 9 times of 10 in such a row by itself; 0 where exact
  /// Of an ambiguous row: the most rounds of `attnscope ab`, which measures both sides in each and nothing else, by
  /// which it is decided 9 times of 10 if ratio and spread are what they seem. Nothing where that takes more than
  /// `most_rounds`: the change lies at the margin. `usual_rounds` where nothing is known of the spread.
  std::optional<std::size_t> rounds_needed = std::nullopt;
  /// Where the sides cannot be measured in the same rounds: so many recordings of either, if they differ by
  /// what a round scatters.
  std::optional<std::size_t> recordings_needed = std::nullopt;
};

/// The margin unless one is given: of sides in the same rounds, and of recordings made one after the other, of which
/// six rounds tell a change of 3% from none in three of four rows.
inline constexpr double usual_margin_paired = 0.01;
inline constexpr double usual_margin_apart = 0.015;

struct VerdictOptions {
  double margin = usual_margin_paired;  ///< relative; 0 < margin < 1
  double level = 0.05;                  ///< share of wrong ones among verdicts
  /// How often an interval may miss.
  double interval_level = 0.05;
  std::size_t looks = 1;  ///< between which both are divided: of_each_look(). > 0
};

/// Rounds that go on until a verdict stands are looked at several times, and each look is a chance to be wrong. So
/// there are few looks, 5, 10, 20, ... rounds and the last, and each gets its part of the level and of the interval's
/// (Bonferroni): false verdicts and intervals that miss are together no more than of one look.
[[nodiscard]] std::vector<std::size_t> rounds_to_look_at(std::size_t most);
/// Options of each of so many looks. Pre: looks > 0.
[[nodiscard]] VerdictOptions of_each_look(VerdictOptions options, std::size_t looks);
/// What `attnscope ab` does of at most so many rounds: the looks, and one more at which its time is over.
[[nodiscard]] std::size_t looks_of_turns(std::size_t most);

inline constexpr std::size_t fewest_rounds = 3;
/// What is suggested where nothing is known of the spread.
inline constexpr std::size_t usual_rounds = 10;
inline constexpr std::size_t most_rounds = 1000;
inline constexpr std::size_t most_recordings = 50;
/// Half of the interval of what has fewer than `fewest_rounds`.
inline constexpr double unknown_spread_floor = 0.05;

/// One verdict a row, in their order. Throws std::invalid_argument for a row without a value on either side, of
/// lengths that do not fit, and of values that are not positive and finite.
[[nodiscard]] std::vector<RowVerdict> judge(std::span<const ComparedRow> rows, const VerdictOptions& options = {});

/// The median of all means of two values, each with itself among them. Pre: not empty.
[[nodiscard]] double hodges_lehmann(std::span<const double> values);

}  // namespace attnscope::analysis
