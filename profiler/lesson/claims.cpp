// SPDX-License-Identifier: Apache-2.0
#include "profiler/lesson/claims.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <utility>

#include "profiler/curves/law_exponents.h"
#include "profiler/lesson/claim_tests.h"
#include "profiler/lesson/hierarchy.h"
#include "profiler/lesson/pairs.h"
#include "profiler/points/point_query.h"

namespace attnscope::analysis::lesson {
namespace {

/// What is measured of one problem is held together, on one device, by one means and from one state of the L2.
std::string case_of(const PointTable& points, Row row) {
  const PointSpec spec = points.spec(row);
  const Run& run = points.run(row);
  return fmt::format("{} {} {} {} {}", spec.algorithm, run.device_id, to_string(run.provenance), describe(spec.problem),
                     to_string(spec.cache));
}

Verdict of_pairs(const Front& card, const Evidence& evidence, const std::vector<Pair>& pairs, bool inverse) {
  if (pairs.empty()) return untestable("no_pairs");
  std::vector<ClaimFigure> found;
  std::vector<Row> points;
  for (const Pair& pair : pairs) {
    found.push_back({"each", inverse ? 1 / pair.ratio() : pair.ratio(), Unit::ratio, derived_from(pair.provenance),
                     name_of(evidence.points, pair.to)});
    points.insert(points.end(), {pair.from, pair.to});
  }
  return held_to(claimed_by(card), std::move(found), Unit::ratio, std::move(points));
}

/// Of one algorithm the metric over another's: `from` / `to`.
Verdict versus(const Front& card, const Evidence& evidence) {
  return of_pairs(card, evidence,
                  pairs_of_algorithms(evidence.points, rows_of_card(card, evidence), series_of(card, "from"),
                                      series_of(card, "to"), card.text("metric")),
                  true);
}

/// After over before, with one thing twice as large.
Verdict doubled(const Front& card, const Evidence& evidence) {
  const std::optional<Doubled> what = doubled_of(card.text("doubled"));
  if (!what) return untestable("broken_card", card.text("doubled"));
  return of_pairs(card, evidence,
                  doubled_pairs(evidence.points, rows_of_card(card, evidence), *what, card.text("metric")), false);
}

/// The backward pass over the forward one.
Verdict passes(const Front& card, const Evidence& evidence) {
  return of_pairs(
      card, evidence,
      pairs_of_passes(evidence.points, rows_of_card(card, evidence), Pass::fwd, Pass::bwd, card.text("metric")), false);
}

/// Of the card's points those with both the metric and a time, of each algorithm and problem the fastest.
std::vector<Row> fastest_of_each(const Front& card, const Evidence& evidence, std::string_view metric) {
  std::map<std::string, Row> best;
  const ValueColumn& times = evidence.points.values(metric_key::time_median_ns);
  const ValueColumn& values = evidence.points.values(metric);
  for (const Row row : rows_of_card(card, evidence)) {
    if (!ended_well(evidence.points, row) || !times.has(row) || !values.has(row)) continue;
    const auto [place, fresh] = best.emplace(case_of(evidence.points, row), row);
    if (!fresh && times.value(row) < times.value(place->second)) place->second = row;
  }
  std::vector<Row> rows;
  rows.reserve(best.size());
  for (const auto& [key, row] : best) rows.push_back(row);
  return rows;
}

/// `scale`: of a point, by what its value is multiplied; 0 leaves it out.
Verdict of_metric(const Front& card, const Evidence& evidence, std::string_view metric, Unit unit,
                  const std::function<double(const Run&)>& scale = nullptr) {
  std::vector<ClaimFigure> found;
  const ValueColumn& values = evidence.points.values(metric);
  std::vector<Row> points = fastest_of_each(card, evidence, metric);
  std::erase_if(points, [&](Row row) { return scale != nullptr && scale(evidence.points.run(row)) == 0; });
  for (const Row row : points) {
    const double by = scale == nullptr ? 1 : scale(evidence.points.run(row));
    found.push_back({"each", values.value(row) * by, unit, values.provenance(row), name_of(evidence.points, row)});
  }
  if (found.empty()) return untestable("no_points");
  return held_to(claimed_by(card), std::move(found), unit, std::move(points));
}

Verdict rate(const Front& card, const Evidence& evidence) {
  return of_metric(card, evidence, metric_key::tflops, Unit::tflops);
}

/// Puts what all cases were divided by, or divided by otherwise, behind their median; where they are of one GPU.
void name_the_measure(Verdict& verdict, const Evidence& evidence,
                      const std::function<std::vector<ClaimFigure>(const DeviceLimits&, const ClaimFigure&)>& of) {
  const auto middle = std::ranges::find_if(
      verdict.figures, [](const ClaimFigure& each) { return each.label == "median" || each.label == "found"; });
  if (middle == verdict.figures.end()) return;
  const DeviceLimits& gpu = evidence.points.run(verdict.points.front()).limits;
  const auto of_it = [&](Row row) { return evidence.points.run(row).limits.name == gpu.name; };
  if (!std::ranges::all_of(verdict.points, of_it)) return;
  const std::vector<ClaimFigure> more = of(gpu, *middle);
  verdict.figures.insert(middle + 1, more.begin(), more.end());
}

/// Ceilings that were measured of the GPU.
std::span<const Ceiling> ceilings_of(const Evidence& evidence, const DeviceLimits& gpu) {
  return same_gpu(gpu.name, evidence.gpu.name) ? std::span<const Ceiling>(evidence.ceilings)
                                               : std::span<const Ceiling>();
}

/// Of what the datasheet says of its own GPU; the same as a share of a measured ceiling stands beside it.
Verdict peak_share(const Front& card, const Evidence& evidence) {
  Verdict verdict = of_metric(card, evidence, metric_key::tflops, Unit::percent, [](const Run& run) {
    return run.limits.tensor_flops > 0 ? 1e14 / run.limits.tensor_flops : 0;
  });
  name_the_measure(verdict, evidence, [&](const DeviceLimits& gpu, const ClaimFigure& share) {
    std::vector<ClaimFigure> more{{"peak", gpu.tensor_flops, Unit::flops, Provenance::modelled, gpu.name, "datasheet"}};
    for (const Ceiling& ceiling : ceilings_of(evidence, gpu)) {
      if (ceiling.name != card.text("ceiling") || ceiling.source == CeilingSource::datasheet) continue;
      more.push_back({"share_of_ceiling", share.value * gpu.tensor_flops / ceiling.value, Unit::percent,
                      derived_from(share.provenance),
                      fmt::format("{}, {}", ceiling.name, format_figure(ceiling.value, Unit::flops))});
    }
    return more;
  });
  return verdict;
}

/// Operations for each byte of DRAM over the ridge point of the card's ceiling: below 1 a kernel is bound by memory.
Verdict over_ridge(const Front& card, const Evidence& evidence) {
  const auto ridge_of = [&](const DeviceLimits& gpu) {
    return hierarchy_of(gpu, ceilings_of(evidence, gpu), card.text("ceiling")).at(Rung::dram).flops_per_byte;
  };
  const auto over_it = [&](const Run& run) {
    const auto ridge = ridge_of(run.limits);
    return ridge && ridge->value > 0 ? 1 / ridge->value : 0;
  };
  const std::vector<Row> rows = rows_of_card(card, evidence);
  const auto has_none = [&](Row row) { return over_it(evidence.points.run(row)) == 0; };
  if (!rows.empty() && std::ranges::all_of(rows, has_none)) return untestable("no_ceilings");
  Verdict verdict = of_metric(card, evidence, metric_key::arithmetic_intensity, Unit::ratio, over_it);
  name_the_measure(verdict, evidence, [&](const DeviceLimits& gpu, const ClaimFigure& /*ratio*/) {
    const auto ridge = ridge_of(gpu);
    return std::vector<ClaimFigure>{{"ridge", ridge->value, Unit::plain, Provenance::derived,
                                     fmt::format("{}, {}", gpu.name, card.text("ceiling")), to_string(ridge->source)}};
  });
  return verdict;
}

/// The achieved occupancy.
Verdict occupancy(const Front& card, const Evidence& evidence) {
  return of_metric(card, evidence, metric_key::achieved_occupancy_pct, Unit::percent);
}

/// An exponent of Theorem 2's law, as it was fitted.
Verdict exponent(const Front& card, const Evidence& evidence) {
  const LawReport report = fit_law_exponents(evidence.points, rows_of_card(card, evidence));
  const std::string level = card.text("level");
  std::vector<ClaimFigure> found;
  std::vector<Row> points;
  for (const LawFamily& family : report.families) {
    if (family.refusal || !family.fit || (level == "dram") != (family.level == LawLevel::dram)) continue;
    for (const LawVariable variable : {LawVariable::n, LawVariable::d, LawVariable::m}) {
      if (to_string(variable) != card.text("of")) continue;
      found.push_back({"each", family.fit->exponents[static_cast<std::size_t>(variable)], Unit::plain,
                       family.provenance,
                       device_of(evidence.points, family.points.front().row) +
                           std::string(short_title(evidence.points.algorithms(), family.algorithm))});
      for (const LawPoint& point : family.points) points.push_back(point.row);
    }
  }
  if (found.empty()) return untestable("no_law");
  return held_to(claimed_by(card), std::move(found), Unit::plain, std::move(points));
}

/// From which N one algorithm is faster. Fewer than three N are no sweep; where the faster one is ahead from the first
/// measured N on, that N decides only if it lies below what is claimed, or within where all below it is claimed, too.
Verdict crossover(const Front& card, const Evidence& evidence) {
  constexpr std::size_t least_pairs = 3;
  const Claimed claimed = claimed_by(card);
  std::vector<ClaimFigure> found;
  std::vector<Row> points;
  for (const Crossover& group :
       crossovers(evidence.points, rows_of_card(card, evidence), card.text("from"), card.text("to"))) {
    if (group.pairs.size() < least_pairs) continue;
    const auto first = static_cast<double>(evidence.points.n_k(group.pairs.front().to));
    const bool up_to_it = std::isinf(claimed.low) && first <= claimed.high;
    if (!group.n && !group.never && !(first < claimed.low) && !up_to_it) continue;
    const Provenance provenance = std::ranges::max(group.pairs, {}, &Pair::provenance).provenance;
    found.push_back({group.n || group.never ? "each" : "each_at_most", group.never ? infinite : group.n.value_or(first),
                     Unit::length, derived_from(provenance),
                     fmt::format("{}d {} BH {}", device_of(evidence.points, group.pairs.front().to), group.like.d,
                                 group.like.instances())});
    for (const Pair& pair : group.pairs) points.insert(points.end(), {pair.from, pair.to});
  }
  if (found.empty()) return untestable("no_pairs");
  return held_to(claimed_by(card), std::move(found), Unit::length, std::move(points));
}

/// A tile's time over the fastest of its problem's.
Verdict tile_best(const Front& card, const Evidence& evidence) {
  struct Times {
    double best = infinite;
    std::set<std::pair<int, int>> tiles{};
    std::optional<Row> tile{};
  };
  std::map<std::string, Times> problems;
  const ValueColumn& times = evidence.points.values(metric_key::time_median_ns);
  const auto br = static_cast<int>(number_of(card, "br", 0));
  const auto bc = static_cast<int>(number_of(card, "bc", 0));
  std::vector<Row> points;
  for (const Row row : rows_of_card(card, evidence)) {
    if (!ended_well(evidence.points, row) || !times.has(row)) continue;
    Times& problem = problems[case_of(evidence.points, row)];
    problem.best = std::min(problem.best, times.value(row));
    const TileShape& tile = evidence.points.tile_of(row).tile;
    problem.tiles.emplace(tile.br, tile.bc);
    const bool it = tile.br == br && tile.bc == bc;
    if (it && (!problem.tile || times.value(row) < times.value(*problem.tile))) problem.tile = row;
    points.push_back(row);
  }
  std::vector<ClaimFigure> found;
  for (const auto& [key, problem] : problems) {
    if (!problem.tile || problem.tiles.size() < 2) continue;  // alone it is the best of nothing
    found.push_back({"each", times.value(*problem.tile) / problem.best, Unit::ratio,
                     derived_from(times.provenance(*problem.tile)), name_of(evidence.points, *problem.tile)});
  }
  if (found.empty()) return untestable("no_tile");
  return held_to(claimed_by(card), std::move(found), Unit::ratio, std::move(points));
}

/// How much a metric varies with one side of the tile, all else equal.
Verdict varies_with(const Front& card, const Evidence& evidence) {
  const std::optional<Doubled> what = doubled_of(card.text("of"));
  if (what != Doubled::br && what != Doubled::bc) return untestable("broken_card", card.text("of"));
  struct Extremes {
    double low = infinite;
    double high = 0;
    Row row = 0;
    std::set<int> sides{};  ///< of the one that varies
  };
  std::map<std::string, Extremes> groups;
  std::vector<Row> points;
  const ValueColumn& values = evidence.points.values(card.text("metric"));
  for (const Row row : rows_of_card(card, evidence)) {
    if (!ended_well(evidence.points, row) || !values.has(row)) continue;
    const TileShape& tile = evidence.points.tile_of(row).tile;
    Extremes& group =
        groups[fmt::format("{} {}", case_of(evidence.points, row), what == Doubled::br ? tile.bc : tile.br)];
    group.low = std::min(group.low, values.value(row));
    group.high = std::max(group.high, values.value(row));
    group.row = row;
    group.sides.insert(what == Doubled::br ? tile.br : tile.bc);
    points.push_back(row);
  }
  std::vector<ClaimFigure> found;
  for (const auto& [key, group] : groups) {
    if (group.sides.size() < 2) continue;
    found.push_back({"each", group.high / group.low, Unit::ratio, derived_from(values.provenance(group.row)),
                     name_of(evidence.points, group.row)});
  }
  if (found.empty()) return untestable("no_points");
  return held_to(claimed_by(card), std::move(found), Unit::ratio, std::move(points));
}

}  // namespace

std::span<const ClaimTest> claim_tests() {
  // What is claimed: one number with its tolerance, or bounds (claimed_by()).
  const std::vector<std::string_view> claimed{"states", "tolerance", "low", "high", "stated_by"};
  const std::vector<std::string_view> of_share{"states", "tolerance", "low", "high", "stated_by", "ceiling"};
  const std::vector<std::string_view> of_problem{"states", "tolerance", "low", "high", "stated_by", "heads", "batch"};
  const std::vector<std::string_view> of_ceilings{"states", "tolerance", "low", "high", "stated_by", "over"};
  const std::vector<std::string_view> of_matrix{"over", "unit", "tolerance", "d", "heads", "batch"};
  static const std::vector<ClaimTest> tests{
      {"versus", {"from", "to", "metric", "points"}, claimed, versus},
      {"doubled", {"doubled", "metric", "points"}, claimed, doubled},
      {"passes", {"metric", "points"}, claimed, passes},
      {"rate", {"points"}, claimed, rate},
      {"peak-share", {"points"}, of_share, peak_share},
      {"over-ridge", {"ceiling", "points"}, claimed, over_ridge, DataKind::points, "dram"},
      {"occupancy", {"points"}, claimed, occupancy},
      {"exponent", {"of", "level", "points"}, claimed, exponent},
      {"crossover", {"from", "to", "points"}, claimed, crossover},
      {"tile-best", {"br", "bc", "points"}, claimed, tile_best},
      {"varies-with", {"of", "metric", "points"}, claimed, varies_with},
      {"ledger", {"matrix", "n", "states"}, of_matrix, ledger_test, DataKind::arithmetic},
      {"ledger-share",
       {"matrix", "n", "states", "gpu"},
       {"over", "tolerance", "d", "heads", "batch"},
       ledger_share,
       DataKind::arithmetic},
      {"gpu-value", {"gpu", "value", "states"}, {"tolerance"}, gpu_value, DataKind::arithmetic},
      {"ceiling", {"ceiling"}, of_ceilings, ceiling_test, DataKind::gpu},
      {"tile-fits", {"algorithm", "br", "bc", "d"}, {"n", "heads", "batch"}, tile_fits, DataKind::program},
      {"paper-rule", {"m_kib", "d", "states"}, {"tolerance"}, paper_rule, DataKind::arithmetic},
      {"operations", {"algorithm", "n", "d"}, of_problem, operations, DataKind::program},
      {"loaded-times", {"algorithm", "tensor", "n", "d"}, of_problem, loaded_times, DataKind::program, "sm-l2"},
      {"memory-saved", {"from", "to", "n", "d"}, of_problem, memory_saved, DataKind::program},
      {"softmax-error", {"fault"}, claimed, softmax_error, DataKind::arithmetic},
      {"elsewhere", {"missing"}, {}, elsewhere, DataKind::arithmetic},
  };
  return tests;
}

const ClaimTest* find_claim_test(std::string_view word) {
  const auto found = std::ranges::find(claim_tests(), word, &ClaimTest::word);
  return found == claim_tests().end() ? nullptr : &*found;
}

Verdict judge(const Front& card, const Evidence& evidence) {
  const ClaimTest* test = find_claim_test(card.text("test"));
  if (test == nullptr) return untestable("broken_card", card.text("test"));
  if (card.find("points") != nullptr) {
    const auto query = PointQuery::parse(card.text("points"), evidence.points);
    if (!query.ok()) return untestable("broken_card", text(query.error()));
  }
  if (card.find("source_level") != nullptr && level_of_data(card, *test).empty())
    return untestable("broken_card", card.text("source_level"));
  try {
    Evidence meant = evidence;
    std::vector<Mismatch> mismatches = keep_what_the_source_means(card, *test, meant);
    Verdict verdict = test->run(card, meant);
    verdict.of = data_of(card, *test, evidence, verdict.points);
    if (mismatches.empty()) return verdict;
    verdict.outcome = Outcome::not_testable;
    std::erase_if(verdict.figures, [](const ClaimFigure& each) { return each.label == "cases_inside"; });
    verdict.mismatches = std::move(mismatches);
    return verdict;
  } catch (const std::exception& error) {
    return untestable("broken_card", error.what());
  }
}

}  // namespace attnscope::analysis::lesson
