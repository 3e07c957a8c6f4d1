// SPDX-License-Identifier: Apache-2.0
// Parts of the tests in claims.cpp.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/lesson/claims.h"
#include "profiler/lesson/pairs.h"

namespace attnscope::analysis::lesson {

[[nodiscard]] Verdict untestable(std::string because, std::string detail = {});

/// Of what is computed from values: the values' own, but of measured ones derived.
[[nodiscard]] Provenance derived_from(Provenance);

/// A figure is a case: where all cases are as claimed it held, where none is it is refuted, and else it held in part.
/// Cases on either side of a number whose source leaves something open refute nothing: between them it may hold.
[[nodiscard]] Verdict held_to(const Claimed& claimed, std::vector<ClaimFigure> found, Unit unit,
                              std::vector<Row> points);

/// What a card's `from` and `to` begin with where they are another program's: "imported:torch-flash".
inline constexpr std::string_view imported_series = "imported:";

/// The device, where points of several are open.
[[nodiscard]] std::string device_of(const PointTable& points, Row row);
/// "FA2 N 4096 d 128 heads 64 128x64", with the device where points of several are open.
[[nodiscard]] std::string name_of(const PointTable&, Row);
[[nodiscard]] DataOf data_of(const Claim&, const Evidence&, const Verdict&);

}  // namespace attnscope::analysis::lesson
