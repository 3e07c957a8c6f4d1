// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "kernels/registry.h"
#include "profiler/lesson/claim_tests.h"
#include "profiler/metrics/metrics.h"
#include "profiler/units/number_format.h"

namespace attnscope::analysis::lesson {

namespace {

/// Returns the figure "± 15%"; tolerances are never from the source.
ClaimFigure tolerance_figure(double tolerance) {
  return {"tolerance", 100 * tolerance, Unit::percent, Provenance::imported, {}, "ours"};
}

void add_claimed(Verdict& verdict, const ClaimedRange& claimed, Unit unit) {
  if (claimed.stated) {
    verdict.figures.push_back({"claimed", *claimed.stated, unit, Provenance::imported, {}, "stated"});
    verdict.figures.push_back(tolerance_figure(claimed.tolerance));
    return;
  }
  const bool theirs = claimed.bounds_from_source;
  const auto add = [&](std::string_view label, double bound) {
    if (!std::isfinite(bound)) return;
    verdict.figures.push_back({label, bound, unit, Provenance::imported, {}, theirs ? "stated" : "ours"});
  };
  add(theirs ? "claimed_low" : "asked_low", claimed.low);
  add(theirs ? "claimed_high" : "asked_high", claimed.high);
}

}  // namespace

Provenance derived_from(Provenance provenance) {
  return provenance == Provenance::measured ? Provenance::derived : provenance;
}

Verdict not_testable_verdict(std::string explanation, std::string detail) {
  return {.outcome = Outcome::not_testable, .explanation = std::move(explanation), .detail = std::move(detail)};
}

Verdict judge_cases(const ClaimedRange& claimed, std::vector<ClaimFigure> found, Unit unit, std::vector<Row> points) {
  const auto inside = std::ranges::count_if(
      found, [&](const ClaimFigure& figure) { return claimed.low <= figure.value && figure.value <= claimed.high; });
  const auto cases = std::ssize(found);
  Verdict verdict{.outcome = inside == cases ? Outcome::held
                             : inside == 0   ? Outcome::refuted
                                             : Outcome::partly,
                  .points = std::move(points)};
  const auto below = std::ranges::count_if(found, [&](const ClaimFigure& each) { return each.value < claimed.low; });
  if (!claimed.open_conditions.empty() && inside == 0 && below > 0 && below < cases) {
    verdict.outcome = Outcome::not_testable;
    verdict.explanation = "bracketed";
    verdict.detail = claimed.open_conditions;
  }
  add_claimed(verdict, claimed, unit);
  if (cases == 1) {
    if (found.front().label == "each") found.front().label = "found";
    verdict.figures.push_back(std::move(found.front()));
    return verdict;
  }
  std::ranges::stable_sort(found, {}, &ClaimFigure::value);
  const auto half = static_cast<std::size_t>(cases / 2);
  const double median = cases % 2 == 1 ? found[half].value : (found[half - 1].value + found[half].value) / 2;
  // The weakest provenance of all cases.
  const Provenance provenance = derived_from(std::ranges::max_element(found, {}, &ClaimFigure::provenance)->provenance);
  verdict.figures.push_back(
      {"cases_inside", static_cast<double>(inside), Unit::plain, provenance, fmt::format("/ {}", cases)});
  verdict.figures.push_back({"median", median, unit, provenance});
  // Show the smallest, the largest and evenly spaced cases.
  constexpr std::ptrdiff_t most_shown = 12;
  const std::ptrdiff_t shown = std::min(cases, most_shown);
  for (std::ptrdiff_t i = 0; i < shown; ++i) {
    verdict.figures.push_back(found[static_cast<std::size_t>(i * (cases - 1) / (shown - 1))]);
  }
  return verdict;
}

std::string_view to_string(Outcome outcome) {
  switch (outcome) {
    case Outcome::held:
      return "held";
    case Outcome::partly:
      return "partly";
    case Outcome::refuted:
      return "refuted";
    case Outcome::not_testable:
      return "not-testable";
  }
  return "";
}

std::string_view origin(const ClaimFigure& figure) {
  return figure.origin_key.empty() ? to_string(figure.provenance) : figure.origin_key;
}

std::string format_figure(double value, Unit unit) {
  if (!std::isfinite(value)) return value > 0 ? "∞" : "−";
  switch (unit) {
    case Unit::ratio:
      return fmt::format("{:.{}f} ×", value, std::abs(value) >= 100 ? 0 : 2);
    case Unit::percent:
      return text(Percent(value));
    case Unit::bytes:
      return text(Capacity(value));
    case Unit::nanoseconds:
      return text(Nanoseconds(value));
    case Unit::tflops:
      return text(FlopsPerSecond(1e12 * value));
    case Unit::length:
      return fmt::format("N {:.0f}", value);
    case Unit::plain:
      return number_text(value, 4);
    case Unit::bytes_per_second:
      return text(BytesPerSecond(value));
    case Unit::flops:
      return text(FlopsPerSecond(value));
  }
  return {};
}

std::string device_of(const PointTable& points, Row row) {
  const Run& own = points.run(row);
  const bool alone = std::ranges::all_of(points.runs(), [&](const Run& run) {
    return run.device_id == own.device_id && run.provenance == own.provenance;
  });
  return alone ? std::string() : device_title(points, points.run_index(row)) + ' ';
}

std::string name_of(const PointTable& points, Row row) {
  const PointSpec spec = points.spec(row);
  const AttentionProblem& p = spec.problem;
  std::string name = fmt::format(
      "{}{} {} d {} {}", device_of(points, row), short_title(points.algorithms(), spec.algorithm),
      p.n_q == p.n_k ? fmt::format("N {}", p.n_k) : fmt::format("n_q {} n_k {}", p.n_q, p.n_k), p.d,
      p.batch == 1 ? fmt::format("heads {}", p.heads_q) : fmt::format("batch {} heads {}", p.batch, p.heads_q));
  if (spec.tile.br > 0) name += fmt::format(" {}x{}", spec.tile.br, spec.tile.bc);  // imported points may lack it
  return name;
}

DataSummary summarize_data(const Claim& claim, const Evidence& evidence, const Verdict& verdict) {
  DataSummary of;
  const auto add = [](std::vector<std::string>& names, std::string_view name) {
    if (!name.empty() && std::ranges::count(names, name) == 0) names.emplace_back(name);
  };
  if (claim.test->of_gpu) {
    add(of.gpus, evidence.gpu.name);
    for (const std::string& name : {claim.from, claim.to}) {
      if (const Algorithm* own = evidence.registry.find(name)) add(of.own, own->facts().short_title);
    }
  }
  for (const Row row : verdict.points) {
    const Run& run = evidence.points.run(row);
    add(of.gpus, run.device_name);
    const std::string& algorithm = evidence.points.algorithm(row);
    // Points that were exported here and imported again have a known algorithm.
    const bool others = run.provenance == Provenance::imported && evidence.registry.find(algorithm) == nullptr;
    add(others ? of.others : of.own, short_title(evidence.points.algorithms(), algorithm));
  }
  if (verdict.points.empty()) return of;
  const Metric* metric = find_metric(claim.metric);
  of.level = metric != nullptr                  ? metric->level
             : claim.test->word == "over-ridge" ? "dram"
                                                : std::string_view(claim.level);
  return of;
}

}  // namespace attnscope::analysis::lesson
