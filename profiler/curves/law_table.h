// SPDX-License-Identifier: Apache-2.0
// The exponents of N, d and M: those of the laws that are stated, then of each family its own and its closed form's.
// Points and families have to outlive the tables.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "profiler/curves/law_exponents.h"
#include "profiler/points/table.h"

namespace attnscope::analysis {

/// "SM↔L2", "DRAM, settled".
[[nodiscard]] Message level_title(LawLevel);

/// A row of the table for people.
struct LawLine {
  enum class Kind { law, found, closed_form };
  Kind kind = Kind::law;
  const LawFamily* family = nullptr;  ///< of a law the first that states it
};
[[nodiscard]] std::vector<LawLine> law_lines(std::span<const LawFamily>);
[[nodiscard]] Table law_table(const PointTable&, std::span<const LawFamily>);
/// For programs: a row a family, withheld ones among them. `files`: by run.
[[nodiscard]] Table law_data(const PointTable&, std::span<const LawFamily>, std::span<const std::string> files);

}  // namespace attnscope::analysis
