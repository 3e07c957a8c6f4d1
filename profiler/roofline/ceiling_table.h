// SPDX-License-Identifier: Apache-2.0
// Tables of device ceilings: one row per ceiling, curves one row per size.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/model/attention.h"
#include "kernels/model/ceilings.h"
#include "profiler/points/table.h"

namespace attnscope::analysis {

/// For display; lines from ceiling_rows().
[[nodiscard]] Table ceiling_table(std::vector<CeilingRow>);

struct DatedCeilings {
  std::string device_uuid;
  std::string measured_at;  ///< empty: never measured
  std::vector<Ceiling> ceilings;
};
/// Machine-readable table in base units. `sets` must outlive it.
[[nodiscard]] Table ceiling_data(std::span<const DatedCeilings>);

/// Display name of a ceiling. Datasheet peaks of the tensor cores are not named after an instruction.
[[nodiscard]] Message ceiling_label(const CeilingKind&, CeilingSource);
}  // namespace attnscope::analysis
