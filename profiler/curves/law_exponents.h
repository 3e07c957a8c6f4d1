// SPDX-License-Identifier: Apache-2.0
// The power law that an algorithm states (Facts::power_law) held to points: that of Theorem 2 of FlashAttention (arXiv
// 2205.14135v2) says that bytes grow as N^2 d^2 / M for d <= M <= N d. M is the memory on chip that the paper's rule
// makes the point's tile of (memory_of_tile()), in elements.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/messages/message.h"
#include "kernels/model/law.h"
#include "profiler/points/point_table.h"
#include "profiler/points/table.h"
#include "profiler/stats/fit.h"

namespace attnscope::analysis {

/// Where bytes are counted: between SM and L2, or at DRAM with what is written back after the kernel's end.
enum class LawLevel { sm_l2, dram };
/// The line of the metrics table.
[[nodiscard]] std::string_view metric_of(LawLevel);
/// "SM<->L2", "DRAM, settled".
[[nodiscard]] std::string_view to_string(LawLevel);

struct LawPoint {
  Row row = 0;
  std::array<double, law_variables> at{};  ///< N, d, M in elements
  double bytes = 0;
  double law_bytes = 0;  ///< by the law, over all heads, without a constant
  /// By the closed form. At DRAM: all that passes between SM and L2 where that is cycled through, since only points
  /// whose working set has left the L2 are here; else each byte once.
  std::optional<double> model_bytes = std::nullopt;
  Provenance provenance = Provenance::measured;

  [[nodiscard]] double value(LawVariable variable) const { return at.at(static_cast<std::size_t>(variable)); }
  /// Bytes over the law's: what collapses onto one band where the law holds.
  [[nodiscard]] double ratio() const { return bytes / law_bytes; }
};

/// Why points have no exponents.
enum class ExponentRefusal {
  too_few,    ///< fewer than `fewest_of_a_law`
  constant,   ///< one of N, d and M has one value
  entangled,  ///< they vary together only
  vague,      ///< an interval reaches further than `vaguest` to either side
  misses,     ///< some point lies further off than the scatter of the others allows, and than `small_miss`
};

/// Twice as many points as the fit has numbers.
inline constexpr std::size_t fewest_of_a_law = 8;
/// Exponents closer than this are not told apart: 1 and 2 would both be within.
inline constexpr double vaguest = 0.5;
/// As much as ragged last tiles, and what every byte is moved once, make where a side has eight tiles.
inline constexpr double small_miss = 0.1;

/// The points of one run, algorithm and problem, but for N, d and M, at one level.
struct LawFamily {
  RunIndex run = 0;
  std::string algorithm;
  PowerLaw law;           ///< that it states
  AttentionProblem like;  ///< of its first point
  CacheState cache = CacheState::cold;
  Knobs knobs;  ///< that were given
  LawLevel level = LawLevel::sm_l2;
  /// Of what is computed of the points: derived where all were measured, else theirs; extrapolated as soon as one is.
  Provenance provenance = Provenance::derived;
  std::vector<LawPoint> points;  ///< ascending by N, d, M
  std::size_t outside = 0;       ///< left out: not d <= M <= N d
  std::size_t cached = 0;        ///< left out, of DRAM: their working set has not left the L2
  /// Whether anything that grows with N is cycled through. Where nothing is, the L2 serves what is read again, and DRAM
  /// sees every byte about once.
  bool cycles = true;

  std::optional<ExponentRefusal> refusal;
  std::optional<LawVariable> fixed;  ///< with ExponentRefusal::constant
  std::optional<PowersFit> fit;      ///< exponents in the order of LawVariable; with a refusal it is not to be shown
  std::optional<PowersFit> closed_form;  ///< of the model's bytes at the very same points, where all have them

  struct Band {
    double low = 0;
    double median = 0;
    double high = 0;
  };
  /// Of LawPoint::ratio(), dimensionless: elements for each of the law's.
  Band band;
  /// The largest bytes over the least.
  double bytes_range = 0;
};

struct LawReport {
  std::vector<LawFamily> families;  ///< in the order of the runs, then of the algorithms; SM<->L2 before DRAM
  /// Sweeps in which fewer than two of N, d and M vary: curves, and maps, which are no trial of the law.
  std::size_t others = 0;
};

/// Of points that ended well, of as many queries as keys, with an algorithm that states a law and a tile that the
/// paper's rule gives; all others are no part of it.
[[nodiscard]] LawReport fit_law_exponents(const PointTable&, std::span<const Row> rows);

/// The exponents that they have of a variable: "2".
[[nodiscard]] std::string laws_exponents(std::span<const LawFamily>, LawVariable);

/// "fwd · full · fp16 · batch x heads 1 x 132 · cold": what a family's points have in common.
[[nodiscard]] std::string problem_text(const LawFamily&);
/// Why it has no exponents, one sentence; empty where it has.
[[nodiscard]] Message refusal_words(const LawFamily&);

// The exponents of N, d and M: those of the laws that are stated, then of each family its own and its closed form's.
// Points and families have to outlive the tables.

/// "SM↔L2", "DRAM, settled".
[[nodiscard]] Message level_title(LawLevel);

/// A row of the table for people.
struct LawLine {
  enum class Kind { law, found, closed_form };
  Kind kind = Kind::law;
  const LawFamily* family = nullptr;  ///< of a law the first that states it
};
[[nodiscard]] std::vector<LawLine> law_lines(std::span<const LawFamily>);
[[nodiscard]] Table law_table(const PointTable&, std::span<const LawFamily>);
/// For programs: a row a family, withheld ones among them. `files`: by run.
[[nodiscard]] Table law_data(const PointTable&, std::span<const LawFamily>, std::span<const std::string> files);

}  // namespace attnscope::analysis
