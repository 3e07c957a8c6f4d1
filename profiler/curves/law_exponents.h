// SPDX-License-Identifier: Apache-2.0
// Fits the exponents of the power law that an algorithm declares (Facts::power_law). Theorem 2 of FlashAttention (arXiv
// 2205.14135v2): bytes grow as N^2 d^2 / M for d <= M <= N d, where M is the on-chip memory in elements for which the
// paper's rule yields the point's tile (memory_of_tile()).
#pragma once

#include <array>
#include <cstddef>
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

/// Level of the bytes: SM↔L2, or DRAM including write-back bytes.
enum class LawLevel { sm_l2, dram };
/// Returns the key of the metrics table.
[[nodiscard]] std::string_view metric_of(LawLevel);
/// Returns "SM<->L2" or "DRAM, settled".
[[nodiscard]] std::string_view to_string(LawLevel);

struct LawPoint {
  Row row = 0;
  std::array<double, law_variable_count> at{};  ///< N, d, M (elements)
  double bytes = 0;
  double law_bytes = 0;  ///< bytes of the law without its constant, for all heads
  /// Bytes by the closed form. At DRAM: all SM↔L2 bytes if the working set exceeds L2 (smaller points are skipped),
  /// otherwise each distinct byte once.
  std::optional<double> model_bytes = std::nullopt;
  Provenance provenance = Provenance::measured;

  [[nodiscard]] double value(LawVariable variable) const { return at.at(static_cast<std::size_t>(variable)); }
  /// Returns measured bytes over the law's bytes; constant over all points if the law holds.
  [[nodiscard]] double ratio() const { return bytes / law_bytes; }
};

/// Reason why exponents are not reported.
enum class ExponentRefusal {
  too_few,    ///< fewer than `min_law_points` points
  constant,   ///< N, d or M has only one value
  entangled,  ///< N, d and M are collinear
  vague,      ///< an interval is wider than ± `max_exponent_half_width`
  misses,     ///< a point is off the fit by more than `max_accepted_residual`
};

/// Twice the number of fitted parameters.
inline constexpr std::size_t min_law_points = 8;
/// Widest accepted interval half width. Wider intervals cannot distinguish exponents 1 and 2.
inline constexpr double max_exponent_half_width = 0.5;
/// Expected effect of ragged tiles and compulsory bytes with eight tiles per dimension.
inline constexpr double max_accepted_residual = 0.1;

/// Points of one run, algorithm, problem (except N and d) and level, with varying tile.
struct LawFamily {
  RunIndex run = 0;
  std::string algorithm;
  PowerLaw law;           ///< declared by the algorithm
  AttentionProblem like;  ///< problem of the first point
  CacheState cache = CacheState::cold;
  Knobs knobs;  ///< non-default knobs
  LawLevel level = LawLevel::sm_l2;
  /// Derived if all points were measured; extrapolated if any point is; otherwise the points' provenance.
  Provenance provenance = Provenance::derived;
  std::vector<LawPoint> points;  ///< sorted by N, d, M
  std::size_t outside = 0;       ///< points skipped because d <= M <= N d does not hold
  std::size_t cached = 0;        ///< DRAM points skipped because their working set fits in L2
  /// True if the working set grows with N. Otherwise L2 serves rereads, and each byte crosses DRAM about once.
  bool cycles = true;

  std::optional<ExponentRefusal> refusal;
  std::optional<LawVariable> fixed;        ///< with ExponentRefusal::constant
  std::optional<PowerLawFit> fit;          ///< exponents in the order of LawVariable; show reported_fit()
  std::optional<PowerLawFit> closed_form;  ///< fit of the modeled bytes at the same points, if all have them

  struct Band {
    double low = 0;
    double median = 0;
    double high = 0;
  };
  /// Range of LawPoint::ratio(), dimensionless.
  Band band;
  /// Largest over smallest bytes.
  double bytes_ratio = 0;

  /// Returns the fit if its exponents are reported: without a refusal. Null otherwise.
  [[nodiscard]] const PowerLawFit* reported_fit() const { return refusal || !fit ? nullptr : &*fit; }
};

struct LawReport {
  std::vector<LawFamily> families;  ///< sorted by run, then algorithm; SM↔L2 before DRAM
  /// Sweeps skipped because fewer than two of N, d and M vary (curves and maps).
  std::size_t others = 0;
};

/// Fits all ok points with equal numbers of queries and keys whose algorithm declares a law and whose tile follows the
/// paper's rule. Other points are ignored.
[[nodiscard]] LawReport fit_law_exponents(const PointTable&, std::span<const Row> rows);

/// Returns the exponents of a variable in the families' laws: "2".
[[nodiscard]] std::string declared_exponents(std::span<const LawFamily>, LawVariable);

/// Returns the common problem of a family: "fwd · full · fp16 · batch x heads 1 x 132 · cold".
[[nodiscard]] std::string problem_text(const LawFamily&);
[[nodiscard]] Message refusal_text(const LawFamily&);

// Tables of exponents: the declared laws, then each family's fit and its closed form's. They refer to the points and
// families, which must outlive them.

[[nodiscard]] Message level_title(LawLevel);

struct LawLine {
  enum class Kind { law, found, closed_form };
  Kind kind = Kind::law;
  const LawFamily* family = nullptr;  ///< for a law, the first family that has it
};
[[nodiscard]] std::vector<LawLine> law_lines(std::span<const LawFamily>);
[[nodiscard]] Table law_table(const PointTable&, std::span<const LawFamily>);
/// For export: one row per family, including those with a refusal. `files`: by run.
[[nodiscard]] Table law_data(const PointTable&, std::span<const LawFamily>, std::span<const std::string> files);

}  // namespace attnscope::analysis
