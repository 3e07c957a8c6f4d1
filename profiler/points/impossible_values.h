// SPDX-License-Identifier: Apache-2.0
// Checks of measured values: imported values that the GPU cannot have produced, and stores that count double.
#pragma once

#include <cstdint>
#include <optional>

#include "kernels/messages/message.h"
#include "kernels/model/device_limits.h"
#include "profiler/points/point_table.h"

namespace attnscope::analysis {

enum class BrokenLimit : std::uint8_t {
  dram_rate,         ///< above 105% of the DRAM roof
  flop_rate,         ///< executed FLOPs above the peak
  compulsory_bytes,  ///< fewer DRAM bytes than compulsory minus the L2, which may be warm
};

struct ImpossibleValue {
  BrokenLimit limit = BrokenLimit::dram_rate;
  double value = 0;  ///< byte/s, Tflop/s (executed at least) or bytes
  double bound = 0;

  [[nodiscard]] double ratio() const { return value / bound; }
  /// Returns true if a unit off by 1,000 is the likely cause.
  [[nodiscard]] bool is_likely_unit_error() const;
};

/// Returns the first limit that an imported point breaks. Unknown limits of a GPU are the largest of the known GPUs of
/// its compute capability, or twice the largest of all. Points of other provenance break none.
[[nodiscard]] std::optional<ImpossibleValue> impossible_value(const PointRecord&, const DeviceLimits&);
[[nodiscard]] std::optional<ImpossibleValue> impossible_value(const PointTable&, Row);
/// "impossible: 230% of the DRAM rate of NVIDIA A100"; English, as stored reasons are.
[[nodiscard]] Message describe(const ImpossibleValue&, const DeviceLimits&);

/// Counted stores of about twice the expected bytes: SM->L2 bytes count whole 32-byte sectors, so requests that each
/// fill half of their sectors count double.
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
