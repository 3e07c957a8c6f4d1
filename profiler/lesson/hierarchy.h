// SPDX-License-Identifier: Apache-2.0
// The memory hierarchy of a GPU with where each figure comes from: measured ceilings where there are some, what the
// architecture's tables and the datasheet say elsewhere, and nothing where nobody says anything.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "kernels/model/ceilings.h"
#include "kernels/model/device_limits.h"

namespace attnscope::analysis::lesson {

struct HierarchyFigure {
  double value = 0;
  CeilingSource source = CeilingSource::datasheet;
};

/// From the nearest to the farthest.
enum class Rung : std::uint8_t { registers, shared, l2, dram, host };

struct HierarchyRung {
  Rung rung = Rung::registers;
  std::optional<HierarchyFigure> bytes{};       ///< of the whole GPU; of the host's memory nobody says
  std::optional<HierarchyFigure> bandwidth{};   ///< bytes a second, all SMs together; of the host one way of the link
  std::optional<HierarchyFigure> latency_ns{};  ///< of a load that is waited for
  /// Little's law: latency x bandwidth, what has to be under way at every moment so that no time is lost.
  std::optional<HierarchyFigure> in_flight_bytes{};
  /// Tensor-core operations in the time of one byte of this level.
  std::optional<HierarchyFigure> flops_per_byte{};
};

struct Hierarchy {
  std::vector<HierarchyRung> rungs{};
  HierarchyFigure tensor_flops;  ///< a second, at fp16

  [[nodiscard]] const HierarchyRung& at(Rung rung) const { return rungs[static_cast<std::size_t>(rung)]; }
};

/// `measured` are ceilings of that very GPU; empty: the datasheet's. Latencies have no datasheet. `tensor` is the
/// ceiling of the tensor cores' instruction, 0 where nobody knows it; empty: the fastest one's.
[[nodiscard]] Hierarchy hierarchy_of(const DeviceLimits&, std::span<const Ceiling> measured = {},
                                     std::string_view tensor = {});

}  // namespace attnscope::analysis::lesson
