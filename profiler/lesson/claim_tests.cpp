// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <utility>

#include "profiler/curves/law_exponents.h"
#include "profiler/lesson/claims.h"
#include "profiler/lesson/pairs.h"
#include "profiler/metrics/metrics.h"
#include "profiler/points/point_query.h"

namespace attnscope::analysis::lesson {
namespace {

std::vector<Row> rows_of(const Claim& claim, const Evidence& evidence) {
  const auto query = PointQuery::parse(claim.parameter("points"), evidence.points);
  if (!query.ok()) return {};
  std::vector<Row> rows = query->rows(evidence.points);
  for (const std::string_view side : {claim.parameter("from"), claim.parameter("to")}) {
    if (!side.starts_with(imported_series)) continue;
    std::erase_if(rows, [&](Row row) {
      return evidence.points.algorithm(row) == series_name(side) &&
             evidence.points.run(row).provenance != Provenance::imported;
    });
  }
  return rows;
}

std::string gpu_of(const Evidence& evidence, Row row) {
  return evidence.points.run(row).device_name;
}

Provenance derived_from(Provenance provenance) {
  return provenance == Provenance::measured ? Provenance::derived : provenance;
}

ClaimFindings ratios(const Evidence& evidence, const std::vector<Pair>& pairs, bool inverse) {
  ClaimFindings findings{.none = "no_pairs"};
  for (const Pair& pair : pairs) {
    findings.cases.push_back({inverse ? 1 / pair.ratio() : pair.ratio(),
                              derived_from(pair.provenance),
                              gpu_of(evidence, pair.to),
                              {pair.from, pair.to}});
  }
  return findings;
}

/// Tests the ratio of a metric between two algorithms: `from` / `to`.
ClaimFindings versus(const Claim& claim, const Evidence& evidence) {
  const auto pairs =
      pairs_of_algorithms(evidence.points, rows_of(claim, evidence), series_name(claim.parameter("from")),
                          series_name(claim.parameter("to")), claim.parameter("metric"));
  return ratios(evidence, pairs, true);
}

/// Tests the ratio of a metric at 2N to that at N.
ClaimFindings doubled(const Claim& claim, const Evidence& evidence) {
  const auto pairs = find_doubled_pairs(evidence.points, rows_of(claim, evidence), claim.parameter("metric"));
  return ratios(evidence, pairs, false);
}

/// Tests a metric of the fastest point per algorithm, device and problem that has time and metric. `scale`: factor for
/// a run's points; 0 skips them.
ClaimFindings fastest_metric(const Claim& claim, const Evidence& evidence, std::string_view metric,
                             std::string_view unit, const std::function<double(const Run&)>& scale) {
  const PointTable& points = evidence.points;
  const ValueColumn& times = points.values(metric_key::time_median_ns);
  const ValueColumn& values = column_of(points, metric);
  std::map<std::string, Row> best;
  for (const Row row : rows_of(claim, evidence)) {
    if (!has_valid_times(points, row) || !times.has(row) || !values.has(row)) continue;
    const PointSpec spec = points.spec(row);
    const Run& run = points.run(row);
    const auto [place, fresh] =
        best.emplace(fmt::format("{} {} {} {} {}", spec.algorithm, run.device_id, to_string(run.provenance),
                                 describe(spec.problem), to_string(spec.cache)),
                     row);
    if (!fresh && times.value(row) < times.value(place->second)) place->second = row;
  }
  ClaimFindings findings{.unit = unit, .none = "no_points"};
  for (const auto& [key, row] : best) {
    const double by = scale(points.run(row));
    if (by == 0) continue;
    findings.cases.push_back({values.value(row) * by, values.provenance(row), gpu_of(evidence, row), {row}});
  }
  return findings;
}

ClaimFindings metric_of_fastest(const Claim& claim, const Evidence& evidence) {
  const std::string_view metric = claim.parameter("metric");
  return fastest_metric(claim, evidence, metric, find_metric(metric)->unit, [](const Run&) { return 1.0; });
}

std::span<const Ceiling> ceilings_of(const Evidence& evidence, std::string_view gpu) {
  if (same_gpu(gpu, evidence.gpu.name)) return evidence.ceilings;
  const auto found =
      std::ranges::find_if(evidence.all_ceilings, [&](const DeviceCeilings& each) { return same_gpu(each.gpu, gpu); });
  return found == evidence.all_ceilings.end() ? std::span<const Ceiling>() : found->ceilings;
}

/// Tests arithmetic intensity over the ridge point of the card's ceiling; below 1 a kernel is memory-bound.
ClaimFindings over_ridge(const Claim& claim, const Evidence& evidence) {
  const std::string_view ceiling = claim.parameter("ceiling");
  std::map<std::string, GpuFigure> ridges;  // key: GPU
  ClaimFindings findings = fastest_metric(claim, evidence, metric_key::arithmetic_intensity, "×", [&](const Run& run) {
    const auto measured = ceilings_of(evidence, run.limits.name);
    const auto ridge = ridge_point(run.limits, measured, gpu_figure(run.limits, measured, {ceiling}));
    if (!ridge) return 0.0;
    ridges.emplace(run.limits.name, *ridge);
    return 1 / ridge->value;
  });
  if (ridges.empty() && !rows_of(claim, evidence).empty()) findings.none = "no_ceilings";
  for (const auto& [gpu, ridge] : ridges)
    findings.beside.push_back(
        {"ridge", ridge.value, "1", to_string(ridge.source), fmt::format("{}, {}", gpu, ceiling)});
  return findings;
}

/// Tests a fitted exponent of the law of Theorem 2.
ClaimFindings exponent(const Claim& claim, const Evidence& evidence) {
  const std::string_view of = claim.parameter("of");
  const LawVariable variable = of == "M" ? LawVariable::m : of == "d" ? LawVariable::d : LawVariable::n;
  ClaimFindings findings{.unit = "1", .none = "no_law"};
  for (const LawFamily& family : fit_law_exponents(evidence.points, rows_of(claim, evidence)).families) {
    const PowerLawFit* fit = family.reported_fit();
    if (fit == nullptr || (claim.parameter("level") == "dram") != (family.level == LawLevel::dram)) continue;
    ClaimCase found{fit->exponents[static_cast<std::size_t>(variable)], family.provenance,
                    gpu_of(evidence, family.points.front().row)};
    for (const LawPoint& point : family.points) found.points.push_back(point.row);
    findings.cases.push_back(std::move(found));
  }
  return findings;
}

/// Tests the N from which one algorithm is faster. Sweeps with fewer than three N are ignored. If the faster algorithm
/// leads at the first measured N already, the crossover is only known to be at or below it; such a sweep counts if that
/// decides the claim.
ClaimFindings crossover(const Claim& claim, const Evidence& evidence) {
  constexpr std::size_t least_pairs = 3;
  const ClaimedRange& claimed = claim.claimed;
  ClaimFindings findings{.unit = "N", .none = "no_pairs"};
  for (const Crossover& group : crossovers(evidence.points, rows_of(claim, evidence),
                                           series_name(claim.parameter("from")), series_name(claim.parameter("to")))) {
    if (group.pairs.size() < least_pairs) continue;
    const auto first = static_cast<double>(evidence.points.n_k(group.pairs.front().to));
    const bool up_to_it = std::isinf(claimed.low) && first <= claimed.high;
    if (!group.n && !group.never && !(first < claimed.low) && !up_to_it) continue;
    ClaimCase found{group.never ? std::numeric_limits<double>::infinity() : group.n.value_or(first),
                    derived_from(std::ranges::max(group.pairs, {}, &Pair::provenance).provenance),
                    gpu_of(evidence, group.pairs.front().to)};
    found.at_most = !group.n && !group.never;
    for (const Pair& pair : group.pairs) found.points.insert(found.points.end(), {pair.from, pair.to});
    findings.cases.push_back(std::move(found));
  }
  return findings;
}

/// Tests the ratio of two measured ceilings of each device.
ClaimFindings ceiling_ratio(const Claim& claim, const Evidence& evidence) {
  ClaimFindings findings{.none = "no_ceilings"};
  for (const DeviceCeilings& device : evidence.all_ceilings) {
    const auto of = [&](std::string_view key) {
      const auto found = std::ranges::find_if(device.ceilings, [&](const Ceiling& ceiling) {
        return ceiling.name == key && ceiling.source != CeilingSource::datasheet;
      });
      return found == device.ceilings.end() ? 0.0 : found->value;
    };
    const double value = of(claim.parameter("ceiling"));
    const double under = of(claim.parameter("over"));
    if (value > 0 && under > 0) findings.cases.push_back({value / under, Provenance::derived, device.gpu});
  }
  return findings;
}

/// Tests the ratio of executed FLOPs of two algorithms at N 4096, d 64.
ClaimFindings operations(const Claim& claim, const Evidence& evidence) {
  const AttentionProblem problem{.n_q = 4096, .n_k = 4096};
  std::vector<double> flops;
  for (const std::string_view key : {"from", "to"}) {
    const std::string name(claim.parameter(key));
    const Algorithm* algorithm = evidence.registry.find(name);
    if (algorithm == nullptr) return {.none = "no_flops", .detail = name};
    const AttentionModel model =
        algorithm->model(problem, algorithm->default_config(problem, evidence.gpu), evidence.gpu);
    const std::optional<double> executed = model.refusal ? std::nullopt : model.executed_flops();
    if (!executed) return {.none = "no_flops", .detail = name};
    flops.push_back(*executed);
  }
  return {.cases = {{flops[0] / flops[1], Provenance::modeled}}};
}

/// Tests the error of the online softmax (FlashAttention-2, arXiv 2307.08691, Section 3.1) for scores and values 0 to 7
/// in blocks of two, so that the maximum rises in each block. The page simulates other scores and faults.
ClaimFindings softmax_error(const Claim& claim, const Evidence& /*evidence*/) {
  constexpr int count = 8;
  double l = 0;
  double o = 0;
  double exact_l = 0;
  double exact_o = 0;
  for (int j = 0; j < count; ++j) {
    const int m = j | 1;  // the maximum is the last score of the block
    if (j % 2 == 0 && claim.parameter("fault") == "none") {
      l *= std::exp(-2.0);
      o *= std::exp(-2.0);
    }
    l += std::exp(j - m);
    o += std::exp(j - m) * j;
    exact_l += std::exp(j - (count - 1));
    exact_o += std::exp(j - (count - 1)) * j;
  }
  return {.cases = {{std::abs(o / l - exact_o / exact_l), Provenance::modeled}}, .unit = "1"};
}

}  // namespace

std::span<const ClaimTest> claim_tests() {
  static const std::vector<ClaimTest> tests{
      {"versus", {"from", "to", "metric", "points"}, versus},
      {"doubled", {"metric", "points"}, doubled},
      {"metric", {"metric", "points"}, metric_of_fastest},
      {"over-ridge", {"ceiling", "points"}, over_ridge},
      {"exponent", {"of", "level", "points"}, exponent},
      {"crossover", {"from", "to", "points"}, crossover},
      {"ceiling", {"ceiling", "over"}, ceiling_ratio},
      {"operations", {"from", "to"}, operations},
      {"softmax-error", {"fault"}, softmax_error},
  };
  return tests;
}

}  // namespace attnscope::analysis::lesson
