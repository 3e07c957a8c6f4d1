// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "profiler/lesson/claims.h"
#include "profiler/units/number_format.h"

namespace attnscope::analysis::lesson {

namespace {

std::vector<ClaimFigure> claimed_figures(const ClaimedRange& claimed, Unit unit) {
  // Tolerances are never from the source.
  if (claimed.stated) {
    return {{"claimed", *claimed.stated, unit, {}, "stated"},
            {"tolerance", 100 * claimed.tolerance, Unit::percent, {}, "ours"}};
  }
  const bool theirs = claimed.bounds_from_source;
  const std::string_view origin = theirs ? "stated" : "ours";
  std::vector<ClaimFigure> figures;
  if (std::isfinite(claimed.low))
    figures.push_back({theirs ? "claimed_low" : "asked_low", claimed.low, unit, {}, origin});
  if (std::isfinite(claimed.high))
    figures.push_back({theirs ? "claimed_high" : "asked_high", claimed.high, unit, {}, origin});
  return figures;
}

std::vector<GpuCases> group_by_gpu(std::vector<ClaimCase> cases, const ClaimedRange& claimed) {
  std::ranges::stable_sort(cases, {}, &ClaimCase::value);
  std::vector<GpuCases> groups;
  for (ClaimCase& each : cases) {
    auto group = std::ranges::find(groups, each.gpu, &GpuCases::gpu);
    if (group == groups.end()) group = groups.insert(groups.end(), {.gpu = each.gpu});
    if (claimed.contains(each.value)) ++group->inside;
    group->cases.push_back(std::move(each));
  }
  std::ranges::sort(groups, {}, &GpuCases::gpu);
  return groups;
}

/// Returns whether the medians of two GPUs differ by more than the cases of each, and by more than the tolerance.
bool gpus_disagree(const std::vector<GpuCases>& groups, double tolerance) {
  const auto [least, most] = std::ranges::minmax_element(groups, {}, &GpuCases::median);
  const double spread = std::ranges::max_element(groups, {}, &GpuCases::spread)->spread();
  return most->median() - least->median() > std::max(spread, tolerance * std::abs(most->median()));
}

}  // namespace

double GpuCases::median() const {
  const std::size_t half = cases.size() / 2;
  return cases.size() % 2 == 1 ? cases[half].value : (cases[half - 1].value + cases[half].value) / 2;
}

Provenance GpuCases::provenance() const {
  return std::ranges::max_element(cases, {}, &ClaimCase::provenance)->provenance;
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

}  // namespace attnscope::analysis::lesson
