// SPDX-License-Identifier: Apache-2.0
// Helpers shared by the tests in claims.cpp and claim_outcome.cpp.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/lesson/claims.h"
#include "profiler/lesson/pairs.h"

namespace attnscope::analysis::lesson {

[[nodiscard]] Verdict not_testable_verdict(std::string explanation, std::string detail = {});

/// Returns the provenance of a value computed from others: `derived` for measured ones, otherwise unchanged.
[[nodiscard]] Provenance derived_from(Provenance);

/// Judges a claim by its cases: held if all figures are within the claimed bounds, refuted if none is, partly held
/// otherwise. If the source leaves conditions open, cases on both sides of the claimed number make it not testable
/// instead of refuted, because it may hold in between.
[[nodiscard]] Verdict judge_cases(const ClaimedRange& claimed, std::vector<ClaimFigure> found, Unit unit,
                                  std::vector<Row> points);

/// Prefix of a card's `from` and `to` for series of other programs: "imported:torch-flash".
inline constexpr std::string_view imported_series = "imported:";

/// Returns the device's title if the points are from several devices; otherwise an empty string.
[[nodiscard]] std::string device_of(const PointTable& points, Row row);
/// Returns "FA2 N 4096 d 128 heads 64 128x64", preceded by the device if the points are from several.
[[nodiscard]] std::string name_of(const PointTable&, Row);
[[nodiscard]] DataSummary summarize_data(const Claim&, const Evidence&, const Verdict&);

}  // namespace attnscope::analysis::lesson
