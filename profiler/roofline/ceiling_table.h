// SPDX-License-Identifier: Apache-2.0
// What a device is capable of: a row a ceiling, curves a row a size.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/model/attention.h"
#include "kernels/model/ceilings.h"
#include "profiler/points/table.h"

namespace attnscope::analysis {

/// For people: lines as ceiling_lines() gives them.
[[nodiscard]] Table ceiling_table(std::vector<CeilingLine>);

/// Ceilings of a device, and when they were measured.
struct CeilingsOf {
  std::string device_uuid;
  std::string measured_at;  ///< empty: never
  std::vector<Ceiling> ceilings;
};
/// For programs, in base units, as they are stored; the sets have to outlive it.
[[nodiscard]] Table ceiling_data(std::span<const CeilingsOf>);

/// What a ceiling is called: a datasheet's peak of the tensor cores has no instruction's name, whichever line of the
/// table it stands on.
[[nodiscard]] Message ceiling_label(const CeilingKind&, CeilingSource);
}  // namespace attnscope::analysis
