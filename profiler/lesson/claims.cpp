// SPDX-License-Identifier: Apache-2.0
#include "profiler/lesson/claims.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <functional>
#include <map>
#include <utility>

#include "profiler/curves/law_exponents.h"
#include "profiler/lesson/front_matter_reader.h"
#include "profiler/lesson/hierarchy.h"
#include "profiler/lesson/json_card.h"
#include "profiler/lesson/online_softmax.h"
#include "profiler/lesson/pairs.h"
#include "profiler/metrics/metrics.h"
#include "profiler/plan/text.h"
#include "profiler/points/point_query.h"

namespace attnscope::analysis::lesson {
namespace {

std::string_view series(std::string_view side) {
  return side.starts_with(imported_series) ? side.substr(imported_series.size()) : side;
}

std::vector<Row> rows_of(const Claim& claim, const Evidence& evidence) {
  const auto query = PointQuery::parse(claim.points, evidence.points);
  if (!query.ok()) return {};
  std::vector<Row> rows = query->rows(evidence.points);
  for (const std::string_view side : {claim.from, claim.to}) {
    if (!side.starts_with(imported_series)) continue;
    std::erase_if(rows, [&](Row row) {
      return evidence.points.algorithm(row) == series(side) &&
             evidence.points.run(row).provenance != Provenance::imported;
    });
  }
  return rows;
}

/// Key of a case: algorithm, device, provenance, problem and cache state.
std::string case_key(const PointTable& points, Row row) {
  const PointSpec spec = points.spec(row);
  const Run& run = points.run(row);
  return fmt::format("{} {} {} {} {}", spec.algorithm, run.device_id, to_string(run.provenance), describe(spec.problem),
                     to_string(spec.cache));
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
  return ratios(evidence,
                pairs_of_algorithms(evidence.points, rows_of(claim, evidence), series(claim.from), series(claim.to),
                                    claim.metric),
                true);
}

/// Tests the ratio of a metric at 2N to that at N.
ClaimFindings doubled(const Claim& claim, const Evidence& evidence) {
  return ratios(evidence, find_doubled_pairs(evidence.points, rows_of(claim, evidence), claim.metric), false);
}

/// Tests a metric of the fastest point per algorithm and problem that has time and metric. `scale`: factor for a run's
/// points; 0 skips them.
ClaimFindings fastest_metric(const Claim& claim, const Evidence& evidence, std::string_view metric, Unit unit,
                             const std::function<double(const Run&)>& scale) {
  std::map<std::string, Row> best;
  const ValueColumn& times = evidence.points.values(metric_key::time_median_ns);
  // DRAM bytes as in plots: including write-back bytes if known.
  const ValueColumn& values =
      metric == metric_key::dram_settled_bytes ? evidence.points.dram_traffic() : evidence.points.values(metric);
  for (const Row row : rows_of(claim, evidence)) {
    if (!has_valid_times(evidence.points, row) || !times.has(row) || !values.has(row)) continue;
    const auto [place, fresh] = best.emplace(case_key(evidence.points, row), row);
    if (!fresh && times.value(row) < times.value(place->second)) place->second = row;
  }
  ClaimFindings findings{.unit = unit, .none = "no_points"};
  for (const auto& [key, row] : best) {
    const double by = scale(evidence.points.run(row));
    if (by == 0) continue;
    findings.cases.push_back({values.value(row) * by, values.provenance(row), gpu_of(evidence, row), {row}});
  }
  return findings;
}

ClaimFindings metric_of_fastest(const Claim& claim, const Evidence& evidence) {
  const std::string_view unit = find_metric(claim.metric)->unit;
  return fastest_metric(claim, evidence, claim.metric,
                        unit == "percent"   ? Unit::percent
                        : unit == "Tflop/s" ? Unit::tflops
                        : unit == "byte"    ? Unit::bytes
                        : unit == "ns"      ? Unit::nanoseconds
                                            : Unit::plain,
                        [](const Run&) { return 1.0; });
}

std::span<const Ceiling> ceilings_of(const Evidence& evidence, std::string_view gpu) {
  if (same_gpu(gpu, evidence.gpu.name)) return evidence.ceilings;
  const auto found =
      std::ranges::find_if(evidence.all_ceilings, [&](const DeviceCeilings& each) { return same_gpu(each.gpu, gpu); });
  return found == evidence.all_ceilings.end() ? std::span<const Ceiling>() : found->ceilings;
}

/// Tests arithmetic intensity over the ridge point of the card's ceiling; below 1 a kernel is memory-bound.
ClaimFindings over_ridge(const Claim& claim, const Evidence& evidence) {
  std::map<std::string, HierarchyFigure> ridges;  // key: GPU
  ClaimFindings findings =
      fastest_metric(claim, evidence, metric_key::arithmetic_intensity, Unit::ratio, [&](const Run& run) {
        const auto ridge = hierarchy_of(run.limits, ceilings_of(evidence, run.limits.name), claim.ceiling)
                               .at(MemoryLevel::dram)
                               .flops_per_byte;
        if (!ridge || ridge->value <= 0) return 0.0;
        ridges.emplace(run.limits.name, *ridge);
        return 1 / ridge->value;
      });
  if (ridges.empty() && !rows_of(claim, evidence).empty()) findings.none = "no_ceilings";
  for (const auto& [gpu, ridge] : ridges) {
    findings.beside.push_back(
        {"ridge", ridge.value, Unit::plain, fmt::format("{}, {}", gpu, claim.ceiling), to_string(ridge.source)});
  }
  return findings;
}

/// Tests a fitted exponent of the law of Theorem 2.
ClaimFindings exponent(const Claim& claim, const Evidence& evidence) {
  ClaimFindings findings{.unit = Unit::plain, .none = "no_law"};
  for (const LawFamily& family : fit_law_exponents(evidence.points, rows_of(claim, evidence)).families) {
    const PowerLawFit* fit = family.reported_fit();
    if (fit == nullptr || (claim.level == "dram") != (family.level == LawLevel::dram)) continue;
    ClaimCase found{fit->exponents[static_cast<std::size_t>(claim.of)], family.provenance,
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
  ClaimFindings findings{.unit = Unit::length, .none = "no_pairs"};
  for (const Crossover& group :
       crossovers(evidence.points, rows_of(claim, evidence), series(claim.from), series(claim.to))) {
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
    const auto of = [&](std::string_view key) -> std::optional<double> {
      const auto found = std::ranges::find_if(device.ceilings, [&](const Ceiling& ceiling) {
        return ceiling.name == key && ceiling.source != CeilingSource::datasheet;
      });
      return found == device.ceilings.end() ? std::nullopt : std::optional(found->value);
    };
    const std::optional<double> value = of(claim.ceiling);
    const std::optional<double> under = of(claim.over);
    if (value && under) findings.cases.push_back({*value / *under, Provenance::derived, device.gpu});
  }
  return findings;
}

/// Tests the ratio of executed FLOPs of two algorithms.
ClaimFindings operations(const Claim& claim, const Evidence& evidence) {
  std::vector<double> flops;
  for (const std::string& name : {claim.from, claim.to}) {
    const Algorithm* algorithm = evidence.registry.find(name);
    if (algorithm == nullptr) return {.none = "no_flops", .detail = name};
    const AttentionModel model =
        algorithm->model(claim.problem, algorithm->default_config(claim.problem, evidence.gpu), evidence.gpu);
    if (model.refusal) return {.none = "refused", .detail = text(model.refusal->reason)};
    const std::optional<double> executed = model.executed_flops();
    if (!executed) return {.none = "no_flops", .detail = name};
    flops.push_back(*executed);
  }
  return {.cases = {{flops[0] / flops[1], Provenance::modeled}}};
}

/// Tests the error of the online softmax for scores 0 to 7 in blocks of two, so that the maximum rises in each block.
ClaimFindings softmax_error(const Claim& claim, const Evidence& /*evidence*/) {
  const std::vector<double> scores{0, 1, 2, 3, 4, 5, 6, 7};
  return {.cases = {{online_softmax_error(scores, scores, claim.fault == "none"), Provenance::modeled}},
          .unit = Unit::plain};
}

/// Reads an algorithm, or a series of another program, which only the points can confirm.
std::string side_of(JsonCard& card, std::string_view key, const Registry& registry) {
  std::string side = card.text(key);
  if (!side.starts_with(imported_series)) {
    (void)card.algorithm(key, registry);
  } else if (!is_name(series(side)) || registry.find(series(side)) != nullptr) {
    card.report_invalid(key, "expected an algorithm, or imported:NAME for a series of another program");
  }
  return side;
}

std::string metric_of(JsonCard& card) {
  std::string metric = card.text("metric");
  if (find_metric(metric) != nullptr) return metric;
  std::vector<std::string> known;
  for (const Metric& each : metrics_table()) known.emplace_back(each.key);
  const auto near = closest_matches(metric, known);
  card.report_invalid(
      "metric", near.empty() ? "unknown metric" : make_message("unknown metric; did you mean {}?", join_or(near)));
  return metric;
}

std::string points_of(JsonCard& card) {
  // Parse without points: the loaded ones may lack some fields.
  static const PointTable none;
  std::string points = card.text("points");
  if (const auto query = PointQuery::parse(points, none); !query.ok()) card.report_invalid("points", query.error());
  return points;
}

ClaimedRange read_claimed_range(JsonCard& card) {
  ClaimedRange claimed;
  const auto low = card.number("low");
  const auto high = card.number("high");
  claimed.stated = card.number("states");
  claimed.tolerance = card.number("tolerance").value_or(0.1);
  if (claimed.tolerance < 0) card.report_invalid("tolerance", "expected a number of 0 or more");
  if (low && high && *high < *low) card.report_invalid("high", "expected a number not below \"low\"");
  claimed.bounds_from_source = card.keyword("stated_by", {"source", "ours"}) == "source";
  const double give = std::abs(claimed.stated.value_or(0)) * claimed.tolerance;
  claimed.low = claimed.stated ? *claimed.stated - give : low.value_or(claimed.low);
  claimed.high = claimed.stated ? *claimed.stated + give : high.value_or(claimed.high);
  if (!low && !high && !claimed.stated) card.report_invalid("states", "expected a number, or \"low\" or \"high\"");
  return claimed;
}

std::int64_t whole(JsonCard& card, std::string_view key, std::int64_t most) {
  const double value = card.number(key).value_or(1);
  if (value >= 1 && value <= static_cast<double>(most) && value == std::floor(value))
    return static_cast<std::int64_t>(value);
  card.report_invalid(key, make_message("expected a whole number from 1 to {}", most));
  return 1;
}

std::vector<std::string> ceiling_keys() {
  std::vector<std::string> keys;
  for (const auto& kind : ceiling_kinds()) keys.emplace_back(kind.key);
  return keys;
}

void read_parameter(JsonCard& card, std::string_view key, const Registry& registry, Claim& claim) {
  if (key == "from" || key == "to") (key == "from" ? claim.from : claim.to) = side_of(card, key, registry);
  if (key == "metric") claim.metric = metric_of(card);
  if (key == "points") claim.points = points_of(card);
  if (key == "level") claim.level = card.keyword(key, {memory_levels.begin(), memory_levels.end()});
  if (key == "ceiling" || key == "over") {
    (key == "over" ? claim.over : claim.ceiling) = card.keyword(key, ceiling_keys());
  }
  if (key == "n") claim.problem.n_q = claim.problem.n_k = whole(card, key, std::int64_t{1} << 20);
  if (key == "d") claim.problem.d = whole(card, key, 1024);
  if (key == "of") {
    const std::string of = card.keyword(key, {"N", "d", "M"});
    claim.of = of == "M" ? LawVariable::m : of == "d" ? LawVariable::d : LawVariable::n;
  }
  if (key == "fault") claim.fault = card.keyword(key, {"none", "forget-rescale"});
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
      {"operations", {"from", "to", "n", "d"}, operations},
      {"softmax-error", {"fault"}, softmax_error},
  };
  return tests;
}

std::optional<Claim> read_claim(const std::string& file, std::string_view text, std::string_view language,
                                const KnownNames& known, const Registry& registry, std::vector<TextProblem>& problems) {
  JsonCard card(file, text, language);
  Claim claim{.id = card.id(), .order = card.number("order").value_or(100)};
  claim.title = card.required_text("title");
  claim.source = card.required_text("source");
  claim.gpu = card.text("gpu");
  claim.text = card.text("text");
  claim.published = card.text("published");
  claim.changes = card.text("changes");
  std::vector<std::string> words;
  for (const ClaimTest& each : claim_tests()) words.emplace_back(each.word);
  (void)card.required_text("test");
  const std::string word = card.keyword("test", words);
  if (const auto test = std::ranges::find(claim_tests(), word, &ClaimTest::word); test != claim_tests().end()) {
    claim.test = &*test;
    for (const std::string_view key : test->needs) {
      if (key != "n" && key != "d") (void)card.required_text(key);
      if (card.has(key)) read_parameter(card, key, registry, claim);
    }
    claim.claimed = read_claimed_range(card);
  }
  const bool whole = card.finish({claim.text, claim.changes, claim.published}, known, problems);
  return whole ? std::optional(std::move(claim)) : std::nullopt;
}

Verdict judge(const Claim& claim, const Evidence& evidence) {
  try {
    Verdict verdict = judge_cases(claim, claim.test->run(claim, evidence));
    const auto add = [](std::vector<std::string>& names, std::string_view name) {
      if (!name.empty() && std::ranges::count(names, name) == 0) names.emplace_back(name);
    };
    for (const Row row : verdict.points()) {
      const std::string& algorithm = evidence.points.algorithm(row);
      // Points that were exported here and imported again have a known algorithm.
      const bool others =
          evidence.points.run(row).provenance == Provenance::imported && evidence.registry.find(algorithm) == nullptr;
      add(others ? verdict.others : verdict.own, short_title(evidence.points.algorithms(), algorithm));
    }
    const Metric* metric = find_metric(claim.metric);
    verdict.level = metric != nullptr                  ? metric->level
                    : claim.test->word == "over-ridge" ? "dram"
                                                       : std::string_view(claim.level);
    return verdict;
  } catch (const std::exception& error) {
    return {.explanation = "broken_card", .detail = error.what()};
  }
}

}  // namespace attnscope::analysis::lesson
