// SPDX-License-Identifier: Apache-2.0
// Memory hierarchy of a GPU with the source of each figure: measured ceilings if available, otherwise the datasheet;
// empty if unknown.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "kernels/model/ceilings.h"
#include "kernels/model/device_limits.h"

namespace attnscope::analysis::lesson {

struct HierarchyFigure {
  double value = 0;
  CeilingSource source = CeilingSource::datasheet;
};

/// From fastest to slowest.
enum class MemoryLevel : std::uint8_t { l2, dram };

struct HierarchyLevel {
  std::optional<HierarchyFigure> bandwidth{};   ///< bytes per second of all SMs
  std::optional<HierarchyFigure> latency_ns{};  ///< of a dependent load
  /// Little's law: latency x bandwidth, the bytes in flight needed to saturate the bandwidth.
  std::optional<HierarchyFigure> in_flight_bytes{};
  /// Tensor-core FLOPs in the time of one byte at this level.
  std::optional<HierarchyFigure> flops_per_byte{};
};

struct Hierarchy {
  std::array<HierarchyLevel, 2> levels{};
  HierarchyFigure tensor_flops;  ///< FLOP/s in fp16

  [[nodiscard]] const HierarchyLevel& at(MemoryLevel level) const { return levels.at(static_cast<std::size_t>(level)); }
};

/// `measured`: ceilings of this GPU; the datasheet is used for missing ones, except for latencies. `tensor`: key of the
/// tensor-core ceiling, whose value is 0 if unknown; default: the fastest.
[[nodiscard]] Hierarchy hierarchy_of(const DeviceLimits&, std::span<const Ceiling> measured = {},
                                     std::string_view tensor = {});

}  // namespace attnscope::analysis::lesson
