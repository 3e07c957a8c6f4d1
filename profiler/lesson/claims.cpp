// SPDX-License-Identifier: Apache-2.0
#include "profiler/lesson/claims.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <utility>

#include "profiler/metrics/metrics.h"
#include "profiler/points/point_query.h"
#include "profiler/units/number_format.h"

namespace attnscope::analysis::lesson {
namespace {

/// Reads an algorithm, or a series of another program, which only the points can confirm.
std::string read_side(JsonCard& card, std::string_view key, const Registry& registry) {
  std::string side = card.text(key);
  const bool imported = side.starts_with(imported_series);
  if ((registry.find(series_name(side)) != nullptr) == imported || (imported && !is_name(series_name(side)))) {
    std::vector<std::string> known;
    for (const Algorithm* each : registry.algorithms()) known.emplace_back(each->name());
    card.report_invalid(key, make_message("expected one of {}, or imported:NAME for a series of another program",
                                          fmt::join(known, ", ")));
  }
  return side;
}

std::string read_points(JsonCard& card) {
  // Parse without points: the loaded ones may lack some fields.
  static const PointTable none;
  std::string points = card.text("points");
  if (const auto query = PointQuery::parse(points, none); !query.ok()) card.report_invalid("points", query.error());
  return points;
}

std::string read_parameter(JsonCard& card, std::string_view key, const Registry& registry) {
  if (key == "from" || key == "to") return read_side(card, key, registry);
  if (key == "points") return read_points(card);
  if (key == "level") return card.keyword(key, {memory_levels.begin(), memory_levels.end()});
  if (key == "of") return card.keyword(key, {"N", "d", "M"});
  if (key == "fault") return card.keyword(key, {"none", "forget-rescale"});
  std::string word = card.text(key);
  if (key == "metric" ? find_metric(word) == nullptr : find_ceiling(word) == nullptr)
    card.report_invalid(key, key == "metric" ? "unknown metric" : "unknown ceiling");
  return word;
}

ClaimedRange read_claimed_range(JsonCard& card) {
  ClaimedRange claimed;
  const auto low = card.number("low");
  const auto high = card.number("high");
  claimed.stated = card.number("states");
  claimed.tolerance = card.number("tolerance", 0.1);
  if (claimed.tolerance < 0) card.report_invalid("tolerance", "expected a number of 0 or more");
  if (low && high && *high < *low) card.report_invalid("high", "expected a number not below \"low\"");
  claimed.bounds_from_source = card.keyword("stated_by", {"source", "ours"}) == "source";
  const double give = std::abs(claimed.stated.value_or(0)) * claimed.tolerance;
  claimed.low = claimed.stated ? *claimed.stated - give : low.value_or(claimed.low);
  claimed.high = claimed.stated ? *claimed.stated + give : high.value_or(claimed.high);
  if (!low && !high && !claimed.stated) card.report_invalid("states", "expected a number, or \"low\" or \"high\"");
  return claimed;
}

std::vector<ClaimFigure> claimed_figures(const ClaimedRange& claimed, std::string_view unit) {
  // Tolerances are never from the source.
  if (claimed.stated) {
    return {{"claimed", *claimed.stated, unit, "stated"}, {"tolerance", 100 * claimed.tolerance, "percent", "ours"}};
  }
  const bool theirs = claimed.bounds_from_source;
  const std::string_view origin = theirs ? "stated" : "ours";
  std::vector<ClaimFigure> figures;
  if (std::isfinite(claimed.low)) figures.push_back({theirs ? "claimed_low" : "asked_low", claimed.low, unit, origin});
  if (std::isfinite(claimed.high))
    figures.push_back({theirs ? "claimed_high" : "asked_high", claimed.high, unit, origin});
  return figures;
}

std::vector<GpuCases> group_by_gpu(std::vector<ClaimCase> cases, const ClaimedRange& claimed) {
  std::ranges::stable_sort(cases, {}, &ClaimCase::value);
  std::map<std::string, GpuCases> groups;
  for (ClaimCase& each : cases) {
    GpuCases& group = groups[each.gpu];
    group.gpu = each.gpu;
    if (claimed.contains(each.value)) ++group.inside;
    group.cases.push_back(std::move(each));
  }
  std::vector<GpuCases> all;
  all.reserve(groups.size());
  for (auto& [gpu, group] : groups) all.push_back(std::move(group));
  return all;
}

/// Returns whether the medians of two GPUs differ by more than the cases of each, and by more than the tolerance.
bool gpus_disagree(const std::vector<GpuCases>& groups, double tolerance) {
  const auto [least, most] = std::ranges::minmax_element(groups, {}, &GpuCases::median);
  const double spread = std::ranges::max_element(groups, {}, &GpuCases::spread)->spread();
  return most->median() - least->median() > std::max(spread, tolerance * std::abs(most->median()));
}

}  // namespace

std::string figure_text(double value, std::string_view unit) {
  if (!std::isfinite(value)) return value > 0 ? "∞" : "−";
  if (unit == "N") return fmt::format("N {:.0f}", value);
  if (unit == "×") return fmt::format("{:.{}f} ×", value, std::abs(value) >= 100 ? 0 : 2);
  return unit == "1" ? number_text(value, 4) : value_text(value, unit);
}

std::string_view to_string(Outcome outcome) {
  constexpr std::array<std::string_view, outcomes.size()> words{"held", "partly", "refuted", "not-testable"};
  return words.at(static_cast<std::size_t>(outcome));
}

double GpuCases::median() const {
  const std::size_t half = cases.size() / 2;
  return cases.size() % 2 == 1 ? cases[half].value : (cases[half - 1].value + cases[half].value) / 2;
}

std::vector<Row> Verdict::points() const {
  std::vector<Row> rows;
  for (const GpuCases& group : found) {
    for (const ClaimCase& each : group.cases) rows.insert(rows.end(), each.points.begin(), each.points.end());
  }
  std::ranges::sort(rows);
  rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
  return rows;
}

std::string_view Claim::parameter(std::string_view key) const {
  const auto found = parameters.find(key);
  return found == parameters.end() ? std::string_view() : found->second;
}

std::string_view series_name(std::string_view side) {
  return side.starts_with(imported_series) ? side.substr(imported_series.size()) : side;
}

Claim read_claim(JsonCard& card, const Registry& registry) {
  Claim claim{.id = card.id(),
              .order = card.number("order", 100),
              .title = card.required_text("title"),
              .source = card.required_text("source"),
              .gpu = card.text("gpu"),
              .text = card.text("text"),
              .published = card.text("published"),
              .changes = card.text("changes")};
  std::vector<std::string> words;
  for (const ClaimTest& each : claim_tests()) words.emplace_back(each.word);
  const std::string word = card.keyword("test", words);
  const auto test = std::ranges::find(claim_tests(), word, &ClaimTest::word);
  if (test == claim_tests().end()) {
    (void)card.required_text("test");
    return claim;
  }
  claim.test = &*test;
  for (const std::string_view key : test->parameters)
    claim.parameters.emplace(key, card.has(key) ? read_parameter(card, key, registry) : card.required_text(key));
  claim.claimed = read_claimed_range(card);
  return claim;
}

Verdict judge_cases(const Claim& claim, ClaimFindings findings) {
  const ClaimedRange& claimed = claim.claimed;
  if (findings.cases.empty()) return {.explanation = findings.none, .detail = findings.detail};
  Verdict verdict{.claimed = claimed_figures(claimed, findings.unit),
                  .found = group_by_gpu(std::move(findings.cases), claimed),
                  .unit = findings.unit,
                  .beside = std::move(findings.beside)};
  const auto is_of_source = [&](const GpuCases& group) { return group.gpu.find(claim.gpu) != std::string::npos; };
  if (!claim.gpu.empty()) {
    if (std::ranges::none_of(verdict.found, is_of_source)) {
      verdict.explanation = "other_gpu";
      verdict.detail = claim.gpu;
      return verdict;
    }
    std::erase_if(verdict.found, [&](const GpuCases& group) { return !is_of_source(group); });
  } else if ((claimed.stated || claimed.bounds_from_source) && gpus_disagree(verdict.found, claimed.tolerance)) {
    verdict.explanation = "gpus_differ";
    return verdict;
  }
  std::size_t inside = 0;
  std::size_t cases = 0;
  for (const GpuCases& group : verdict.found) {
    inside += group.inside;
    cases += group.cases.size();
  }
  verdict.outcome = inside == cases ? Outcome::held : inside == 0 ? Outcome::refuted : Outcome::partly;
  return verdict;
}

Verdict judge(const Claim& claim, const Evidence& evidence) {
  try {
    return judge_cases(claim, claim.test->run(claim, evidence));
  } catch (const std::exception& error) {
    return {.explanation = "broken_card", .detail = error.what()};
  }
}

}  // namespace attnscope::analysis::lesson
