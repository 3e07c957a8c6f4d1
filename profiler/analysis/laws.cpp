// SPDX-License-Identifier: Apache-2.0
#include "profiler/analysis/laws.h"

#include <cmath>
#include <utility>
#include <vector>

namespace attnscope::analysis {
namespace {

/// Tiles of N from which a ragged last one no longer bends the curve.
constexpr std::int64_t whole_tiles = 4;
/// Two orders of growth closer than this cannot be told apart by a fit.
constexpr double apart = 0.5;

struct Extents {
  double element = 0;  ///< bytes
  double heads = 0;
  double kv_heads = 0;
  double d = 0;
};

Extents extents_of(const AttentionProblem& p) {
  return {static_cast<double>(bytes_per_element(p.dtype)), static_cast<double>(p.instances()),
          static_cast<double>(p.kv_instances()), static_cast<double>(p.d)};
}

/// Pairs of query and key over all heads; under the usual masks all of them, since those leave a constant share.
std::function<double(std::int64_t)> pairs_of(const AttentionProblem& like, bool counted) {
  if (counted) {
    return [like](std::int64_t n) { return static_cast<double>(unmasked_pairs(at_length(like, n))); };
  }
  const auto heads = static_cast<double>(like.instances());
  return [heads](std::int64_t n) { return heads * static_cast<double>(n) * static_cast<double>(n); };
}

Law linear_law(const AttentionProblem& like) {
  const Extents e = extents_of(like);
  Law law;
  law.text = fixed_queries(like) ? "n_k·d" : "N·d";
  law.bytes = [e](std::int64_t n) { return e.kv_heads * static_cast<double>(n) * e.d * e.element; };
  return law;
}

}  // namespace

std::optional<std::int64_t> fixed_queries(const AttentionProblem& problem) {
  return problem.n_q == problem.n_k ? std::nullopt : std::optional(problem.n_q);
}

AttentionProblem at_length(AttentionProblem problem, std::int64_t n) {
  if (!fixed_queries(problem)) problem.n_q = n;
  problem.n_k = n;
  return problem;
}

Law law_of(const Algorithm& algorithm, const AttentionProblem& like, const Config& tile, const DeviceLimits& limits) {
  const Growth growth = algorithm.facts().growth;
  if (fixed_queries(like) || growth == Growth::nd) return linear_law(like);
  const Extents e = extents_of(like);
  Law law;
  law.lower = "N·d";
  law.lower_bytes = [e](std::int64_t n) { return e.heads * static_cast<double>(n) * e.d * e.element; };
  if (growth == Growth::n2) {
    law.text = "N²";
    law.bytes = [pairs = pairs_of(like, false), e](std::int64_t n) { return pairs(n) * e.element; };
    return law;
  }
  const bool counted = like.mask != Mask::none && like.mask != Mask::causal;
  const auto pairs = pairs_of(like, counted);
  const std::string size = counted ? "P·" : "N²";
  if (algorithm.facts().traffic_side(Pass::fwd) != TileSide::br) {
    const std::int64_t m = limits.sram_elements(bytes_per_element(like.dtype));
    law.text = size + "d²/M";
    law.from = m > 0 ? (m + like.d - 1) / like.d : 1;
    law.from_words = "N·d ≥ M";
    const double factor = m > 0 ? e.d * e.d / static_cast<double>(m) * e.element : 0;
    law.bytes = [pairs, factor](std::int64_t n) { return pairs(n) * factor; };
    return law;
  }
  const bool by_rows = algorithm.facts().traffic_side(like.pass) == TileSide::br;
  const int side = by_rows ? tile.tile.br : tile.tile.bc;
  const std::string name = by_rows ? "Br" : "Bc";
  law.text = size + "d/" + name;
  law.from = whole_tiles * side;
  law.from_words = "N ≥ " + std::to_string(whole_tiles) + name;
  const double factor = side > 0 ? e.d / side * e.element : 0;
  law.bytes = [pairs, factor](std::int64_t n) { return pairs(n) * factor; };
  return law;
}

double FittedLaw::bytes(std::int64_t n) const {
  return (fit->scale * law.bytes(n)) + (law.lower.empty() ? 0 : fit->below * law.lower_bytes(n));
}

FittedLaw fit_growth(Law law, std::span<const std::int64_t> lengths, std::span<const double> bytes) {
  FittedLaw result;
  std::vector<double> n;
  std::vector<double> y;
  std::vector<double> leading;
  std::vector<double> lower;
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    if (lengths[i] < law.from) continue;
    if (result.points++ == 0) result.first = lengths[i];
    n.push_back(static_cast<double>(lengths[i]));
    y.push_back(bytes[i]);
    leading.push_back(law.bytes(lengths[i]));
    if (!law.lower.empty()) lower.push_back(law.lower_bytes(lengths[i]));
  }
  result.law = std::move(law);
  result.power = fit_power_law(n, y);
  const auto refuse = [&](FitRefusal why) {
    result.refusal = why;
    return result;
  };
  if (result.points < fewest_fitted) return refuse(FitRefusal::too_few);
  // Under a window the pairs grow as N does: there is one order, not two.
  const auto leading_power = fit_power_law(n, leading);
  const auto lower_power = fit_power_law(n, lower);
  if (leading_power && lower_power && leading_power->slope - lower_power->slope < apart) {
    lower.clear();
    result.law.lower.clear();
  }
  result.fit = fit_law(leading, lower, y);
  if (!result.fit) return refuse(FitRefusal::not_seen);
  const LawFit& fit = *result.fit;
  result.worst_n = static_cast<std::int64_t>(n[fit.worst_point]);
  if (fit.scale_interval.low <= 0) return refuse(FitRefusal::not_seen);
  if (!lower.empty() && fit.below_interval.high < 0) return refuse(FitRefusal::steeper);
  if (fit.worst > std::max(fit.relative_half_width(), good_enough)) return refuse(FitRefusal::misses);
  return result;
}

}  // namespace attnscope::analysis
