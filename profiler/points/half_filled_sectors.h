// SPDX-License-Identifier: Apache-2.0
// Explains counted stores of about twice the expected bytes. SM->L2 bytes count whole 32-byte sectors, so requests that
// each fill half of their sectors count double.
#pragma once

#include <optional>

#include "kernels/messages/message.h"
#include "profiler/points/point_table.h"

namespace attnscope::analysis {

struct HalfFilledSectors {
  double ratio = 0;  ///< counted over expected SM->L2 store bytes (closed form, law or compulsory), 1.9 to 2.1
  std::optional<double> fill{};  ///< counted, filled share of each stored sector; empty: not counted
};

/// Returns a value if the counted stores of a measured or imported point are about twice the expected ones and no
/// counter shows that their sectors are full. Without `fill` the cause is possible, not proven.
[[nodiscard]] std::optional<HalfFilledSectors> half_filled_sectors(const PointRecord&);
[[nodiscard]] std::optional<HalfFilledSectors> half_filled_sectors(const PointTable&, Row);
/// States the ratio, the cause and the remedy.
[[nodiscard]] Message describe(const HalfFilledSectors&);

}  // namespace attnscope::analysis
