// SPDX-License-Identifier: Apache-2.0
#include "profiler/lesson/claims.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <iterator>
#include <map>
#include <utility>

#include "profiler/curves/law_exponents.h"
#include "profiler/lesson/claim_tests.h"
#include "profiler/lesson/hierarchy.h"
#include "profiler/lesson/ledger.h"
#include "profiler/lesson/online_softmax.h"
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
  std::vector<Row> rows;
  std::ranges::set_intersection(query->rows(evidence.points), evidence.rows, std::back_inserter(rows));
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

Verdict judge_ratios(const Claim& claim, const Evidence& evidence, const std::vector<Pair>& pairs, bool inverse) {
  if (pairs.empty()) return not_testable_verdict("no_pairs");
  std::vector<ClaimFigure> found;
  std::vector<Row> points;
  for (const Pair& pair : pairs) {
    found.push_back({"each", inverse ? 1 / pair.ratio() : pair.ratio(), Unit::ratio, derived_from(pair.provenance),
                     name_of(evidence.points, pair.to)});
    points.insert(points.end(), {pair.from, pair.to});
  }
  return judge_cases(claim.claimed, std::move(found), Unit::ratio, std::move(points));
}

/// Tests the ratio of a metric between two algorithms: `from` / `to`.
Verdict judge_versus(const Claim& claim, const Evidence& evidence) {
  return judge_ratios(claim, evidence,
                      pairs_of_algorithms(evidence.points, rows_of(claim, evidence), series(claim.from),
                                          series(claim.to), claim.metric),
                      true);
}

/// Tests the ratio of a metric at 2N to that at N.
Verdict doubled(const Claim& claim, const Evidence& evidence) {
  return judge_ratios(claim, evidence,
                      find_doubled_pairs(evidence.points, rows_of(claim, evidence), DoubledParameter::n, claim.metric),
                      false);
}

/// Tests a metric of the fastest point per algorithm and problem that has time and metric. `scale`: factor for a run's
/// points; 0 skips them.
Verdict metric_query_field(const Claim& claim, const Evidence& evidence, std::string_view metric, Unit unit,
                           const std::function<double(const Run&)>& scale = nullptr) {
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
  std::vector<ClaimFigure> found;
  std::vector<Row> points;
  for (const auto& [key, row] : best) {
    const double by = scale == nullptr ? 1 : scale(evidence.points.run(row));
    if (by == 0) continue;
    found.push_back({"each", values.value(row) * by, unit, values.provenance(row), name_of(evidence.points, row)});
    points.push_back(row);
  }
  if (found.empty()) return not_testable_verdict("no_points");
  return judge_cases(claim.claimed, std::move(found), unit, std::move(points));
}

Verdict judge_fastest_metric(const Claim& claim, const Evidence& evidence) {
  const std::string_view unit = find_metric(claim.metric)->unit;
  return metric_query_field(claim, evidence, claim.metric,
                            unit == "percent"   ? Unit::percent
                            : unit == "Tflop/s" ? Unit::tflops
                            : unit == "byte"    ? Unit::bytes
                            : unit == "ns"      ? Unit::nanoseconds
                                                : Unit::plain);
}

/// Tests arithmetic intensity over the ridge point of the card's ceiling; below 1 a kernel is memory-bound.
Verdict judge_over_ridge(const Claim& claim, const Evidence& evidence) {
  const auto ridge_of = [&](const DeviceLimits& gpu) {
    // Measured ceilings apply to one GPU only.
    const auto measured = same_gpu(gpu.name, evidence.gpu.name) ? std::span<const Ceiling>(evidence.ceilings)
                                                                : std::span<const Ceiling>();
    return hierarchy_of(gpu, measured, claim.ceiling).at(MemoryLevel::dram).flops_per_byte;
  };
  std::map<std::string, HierarchyFigure> ridges;  // key: GPU
  Verdict verdict =
      metric_query_field(claim, evidence, metric_key::arithmetic_intensity, Unit::ratio, [&](const Run& run) {
        const auto ridge = ridge_of(run.limits);
        if (!ridge || ridge->value <= 0) return 0.0;
        ridges.emplace(run.limits.name, *ridge);
        return 1 / ridge->value;
      });
  if (ridges.empty() && !rows_of(claim, evidence).empty()) return not_testable_verdict("no_ceilings");
  for (const auto& [gpu, ridge] : ridges) {
    verdict.figures.push_back({"ridge", ridge.value, Unit::plain, Provenance::derived,
                               fmt::format("{}, {}", gpu, claim.ceiling), to_string(ridge.source)});
  }
  return verdict;
}

/// Tests a fitted exponent of the law of Theorem 2.
Verdict exponent(const Claim& claim, const Evidence& evidence) {
  std::vector<ClaimFigure> found;
  std::vector<Row> points;
  for (const LawFamily& family : fit_law_exponents(evidence.points, rows_of(claim, evidence)).families) {
    const PowerLawFit* fit = family.reported_fit();
    if (fit == nullptr || (claim.level == "dram") != (family.level == LawLevel::dram)) continue;
    found.push_back({"each", fit->exponents[static_cast<std::size_t>(claim.of)], Unit::plain, family.provenance,
                     device_of(evidence.points, family.points.front().row) +
                         std::string(short_title(evidence.points.algorithms(), family.algorithm))});
    for (const LawPoint& point : family.points) points.push_back(point.row);
  }
  if (found.empty()) return not_testable_verdict("no_law");
  return judge_cases(claim.claimed, std::move(found), Unit::plain, std::move(points));
}

/// Tests the N from which one algorithm is faster. Sweeps with fewer than three N are ignored. If the faster algorithm
/// leads at the first measured N already, the crossover is only known to be at or below it; such a sweep counts if that
/// decides the claim.
Verdict crossover(const Claim& claim, const Evidence& evidence) {
  constexpr std::size_t least_pairs = 3;
  const ClaimedRange& claimed = claim.claimed;
  std::vector<ClaimFigure> found;
  std::vector<Row> points;
  for (const Crossover& group :
       crossovers(evidence.points, rows_of(claim, evidence), series(claim.from), series(claim.to))) {
    if (group.pairs.size() < least_pairs) continue;
    const auto first = static_cast<double>(evidence.points.n_k(group.pairs.front().to));
    const bool up_to_it = std::isinf(claimed.low) && first <= claimed.high;
    if (!group.n && !group.never && !(first < claimed.low) && !up_to_it) continue;
    const Provenance provenance = std::ranges::max(group.pairs, {}, &Pair::provenance).provenance;
    found.push_back({group.n || group.never ? "each" : "each_at_most",
                     group.never ? std::numeric_limits<double>::infinity() : group.n.value_or(first), Unit::length,
                     derived_from(provenance),
                     fmt::format("{}d {} BH {}", device_of(evidence.points, group.pairs.front().to), group.like.d,
                                 group.like.instances())});
    for (const Pair& pair : group.pairs) points.insert(points.end(), {pair.from, pair.to});
  }
  if (found.empty()) return not_testable_verdict("no_pairs");
  return judge_cases(claimed, std::move(found), Unit::length, std::move(points));
}

/// Tests the ratio of two measured ceilings.
Verdict judge_ceiling_ratio(const Claim& claim, const Evidence& evidence) {
  const auto of = [&](std::string_view key) -> std::optional<double> {
    const auto found = std::ranges::find_if(evidence.ceilings, [&](const Ceiling& ceiling) {
      return ceiling.name == key && ceiling.source != CeilingSource::datasheet;
    });
    return found == evidence.ceilings.end() ? std::nullopt : std::optional(found->value);
  };
  const std::optional<double> value = of(claim.ceiling);
  const std::optional<double> under = of(claim.over);
  if (!value || !under) return not_testable_verdict("no_ceilings");
  return judge_cases(claim.claimed, {{"found", *value / *under, Unit::ratio, Provenance::derived}}, Unit::ratio, {});
}

/// Tests the ratio of executed FLOPs of two algorithms.
Verdict operations(const Claim& claim, const Evidence& evidence) {
  std::vector<double> flops;
  for (const std::string& name : {claim.from, claim.to}) {
    const Algorithm& algorithm = *evidence.registry.find(name);
    const AttentionModel model =
        algorithm.model(claim.problem, algorithm.default_config(claim.problem, evidence.gpu), evidence.gpu);
    if (model.refusal) return not_testable_verdict("refused", text(model.refusal->reason));
    const std::optional<double> executed = model.executed_flops();
    if (!executed) return not_testable_verdict("no_flops", name);
    flops.push_back(*executed);
  }
  return judge_cases(claim.claimed, {{"found", flops[0] / flops[1], Unit::ratio, Provenance::modeled}}, Unit::ratio,
                     {});
}

/// Tests the ratio of the bytes that two algorithms allocate in addition to Q, K, V and O.
Verdict judge_memory(const Claim& claim, const Evidence& evidence) {
  std::vector<double> kept;
  for (const std::string& name : {claim.from, claim.to}) {
    const Algorithm& algorithm = *evidence.registry.find(name);
    const Config config = algorithm.default_config(claim.problem, evidence.gpu);
    if (const auto refusal = algorithm.refusal(claim.problem, config, evidence.gpu))
      return not_testable_verdict("refused", text(refusal->reason));
    kept.push_back(static_cast<double>(bytes_of(algorithm.buffers(claim.problem, config, evidence.gpu)) -
                                       make_ledger(claim.problem).tensor_bytes()));
  }
  if (kept[1] <= 0) return not_testable_verdict("no_points", claim.to);
  Verdict verdict =
      judge_cases(claim.claimed, {{"found", kept[0] / kept[1], Unit::ratio, Provenance::modeled}}, Unit::ratio, {});
  verdict.figures.push_back({"beside_from", kept[0], Unit::bytes, Provenance::modeled});
  verdict.figures.push_back({"beside_to", kept[1], Unit::bytes, Provenance::modeled});
  return verdict;
}

/// Tests the error of the online softmax for scores 0 to 7 in blocks of two, so that the maximum rises in each block.
Verdict judge_softmax_error(const Claim& claim, const Evidence& /*evidence*/) {
  const std::vector<double> scores{0, 1, 2, 3, 4, 5, 6, 7};
  const double error = online_softmax_error(scores, scores, claim.fault == "none");
  return judge_cases(claim.claimed, {{"largest_error", error, Unit::plain, Provenance::modeled}}, Unit::plain, {});
}

Verdict elsewhere(const Claim& claim, const Evidence& /*evidence*/) {
  return not_testable_verdict("elsewhere", claim.missing);
}

/// Reads an algorithm, or a series of another program, which only the points can confirm.
std::string side_of(FrontMatterReader& front, std::string_view key, const Registry& registry) {
  std::string side = front.text(key);
  if (!side.starts_with(imported_series)) {
    (void)front.algorithm(key);
  } else if (!is_name(series(side)) || registry.find(series(side)) != nullptr) {
    front.report_invalid(key, "expected an algorithm, or imported:NAME for a series of another program");
  }
  return side;
}

std::string metric_of(FrontMatterReader& front) {
  std::string metric = front.text("metric");
  if (find_metric(metric) != nullptr) return metric;
  std::vector<std::string> known;
  for (const Metric& each : metrics_table()) known.emplace_back(each.key);
  const auto near = closest_matches(metric, known);
  front.report_invalid(
      "metric", near.empty() ? "unknown metric" : make_message("unknown metric; did you mean {}?", join_or(near)));
  return metric;
}

std::string points_of(FrontMatterReader& front) {
  // Parse without points: the loaded ones may lack some fields.
  static const PointTable none;
  std::string points = front.text("points");
  if (const auto query = PointQuery::parse(points, none); !query.ok()) front.report_invalid("points", query.error());
  return points;
}

ClaimedRange read_claimed_range(FrontMatterReader& front) {
  ClaimedRange claimed;
  const auto low = front.number("low");
  const auto high = front.number("high");
  claimed.stated = front.number("states");
  claimed.tolerance = front.number("tolerance").value_or(0.1);
  if (claimed.tolerance < 0) front.report_invalid("tolerance", "expected a number of 0 or more");
  if (low && high && *high < *low) front.report_invalid("high", "expected a number not below 'low'");
  claimed.bounds_from_source = front.keyword("stated_by", {"source", "ours"}) == "source";
  claimed.open_conditions = fmt::format("{}", fmt::join(front.word_list("source_leaves"), ", "));
  const double give = std::abs(claimed.stated.value_or(0)) * claimed.tolerance;
  claimed.low = claimed.stated ? *claimed.stated - give : low.value_or(claimed.low);
  claimed.high = claimed.stated ? *claimed.stated + give : high.value_or(claimed.high);
  if ((front.text("states") + front.text("low") + front.text("high")).empty())
    front.report_missing("'states', 'low' or 'high'");
  return claimed;
}

std::vector<std::string> ceiling_keys() {
  std::vector<std::string> keys;
  for (const auto& kind : ceiling_kinds()) keys.emplace_back(kind.key);
  return keys;
}

void take(FrontMatterReader& front, std::string_view key, const Registry& registry, Claim& claim) {
  if (key == "from" || key == "to") (key == "from" ? claim.from : claim.to) = side_of(front, key, registry);
  if (key == "metric") claim.metric = metric_of(front);
  if (key == "points") claim.points = points_of(front);
  if (key == "level") claim.level = front.keyword(key, {memory_levels.begin(), memory_levels.end()});
  if (key == "ceiling" || key == "over") {
    (key == "over" ? claim.over : claim.ceiling) = front.keyword(key, ceiling_keys());
  }
  if (key == "missing") claim.missing = front.text(key);
  if (key == "n") claim.problem.n_q = claim.problem.n_k = front.whole(key, 1024, 1, std::int64_t{1} << 20);
  if (key == "d") claim.problem.d = front.whole(key, 64, 1, 1024);
  if (key == "heads") claim.problem.heads_q = claim.problem.heads_kv = front.whole(key, 1, 1, 512);
  if (key == "batch") claim.problem.batch = front.whole(key, 1, 1, 256);
  if (key == "of") {
    const std::string of = front.keyword(key, {"N", "d", "M"});
    claim.of = of == "M" ? LawVariable::m : of == "d" ? LawVariable::d : LawVariable::n;
  }
  if (key == "fault") claim.fault = front.keyword(key, {"none", "forget-rescale"});
}

}  // namespace

std::span<const ClaimTest> claim_tests() {
  static const std::vector<ClaimTest> tests{
      {"versus", {"from", "to", "metric", "points"}, {}, true, judge_versus},
      {"doubled", {"metric", "points"}, {}, true, doubled},
      {"metric", {"metric", "points"}, {}, true, judge_fastest_metric},
      {"over-ridge", {"ceiling", "points"}, {}, true, judge_over_ridge},
      {"exponent", {"of", "level", "points"}, {}, true, exponent},
      {"crossover", {"from", "to", "points"}, {}, true, crossover},
      {"ceiling", {"ceiling", "over"}, {}, true, judge_ceiling_ratio, true},
      {"operations", {"from", "to", "n", "d"}, {"heads", "batch"}, true, operations, true},
      {"memory-saved", {"from", "to", "n", "d"}, {"heads", "batch"}, true, judge_memory, true},
      {"softmax-error", {"fault"}, {}, true, judge_softmax_error},
      {"elsewhere", {"missing"}, {}, false, elsewhere},
  };
  return tests;
}

std::optional<Claim> read_claim(const Document& document, std::string_view language,
                                const std::vector<std::string>& languages, const Registry& registry,
                                std::vector<TextProblem>& problems) {
  FrontMatterReader front(document, registry);
  Claim claim{.id = document.file.substr(7, document.file.size() - 10)};
  // The language's text replaces the untranslated one.
  const auto said = [&](std::string_view key) {
    std::string own;
    for (const std::string& each : languages) {
      const std::string value = front.text(fmt::format("{}.{}", key, each));
      if (each == language) own = value;
    }
    return own.empty() ? front.text(key) : own;
  };
  claim.title = said("title");
  claim.source = said("source");
  claim.order = front.required_text("source");
  claim.text = said("text");
  if (claim.title.empty()) front.report_missing(fmt::format("'title.{}'", language));
  std::vector<std::string> words;
  for (const ClaimTest& each : claim_tests()) words.emplace_back(each.word);
  const std::string word = front.keyword("test", words);
  if (const auto test = std::ranges::find(claim_tests(), word, &ClaimTest::word); test != claim_tests().end()) {
    claim.test = &*test;
    for (const std::string_view key : test->needs) {
      if (!front.required_text(key).empty()) take(front, key, registry, claim);
    }
    for (const std::string_view key : test->takes) take(front, key, registry, claim);
    if (test->has_bounds) claim.claimed = read_claimed_range(front);
    if (word == "elsewhere") claim.missing = said("missing");
    // Tests without points cannot use imported series.
    if (test->of_gpu) {
      for (const std::string_view key : {"from", "to"}) {
        if (front.text(key).starts_with(imported_series)) front.report_invalid(key, "expected an algorithm");
      }
    }
  }
  std::vector<TextProblem> wrong = front.finish();
  if (!is_name(claim.id)) wrong.push_back({document.file, 0, no_name(claim.id)});
  const bool whole = wrong.empty();
  std::ranges::move(wrong, std::back_inserter(problems));
  return whole ? std::optional(std::move(claim)) : std::nullopt;
}

Verdict judge(const Claim& claim, const Evidence& evidence) {
  try {
    Verdict verdict = claim.test->run(claim, evidence);
    verdict.of = summarize_data(claim, evidence, verdict);
    return verdict;
  } catch (const std::exception& error) {
    return not_testable_verdict("broken_card", error.what());
  }
}

}  // namespace attnscope::analysis::lesson
