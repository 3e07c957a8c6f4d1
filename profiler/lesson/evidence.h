// SPDX-License-Identifier: Apache-2.0
// Data that a lesson uses: points, the GPU it describes, and ceilings.
#pragma once

#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/model/ceilings.h"
#include "kernels/registry.h"
#include "profiler/points/point_table.h"

namespace attnscope::analysis::lesson {

/// Measured ceilings of one device.
struct DeviceCeilings {
  std::string gpu;
  std::vector<Ceiling> ceilings;
};

struct Evidence {
  const PointTable& points;
  std::vector<Row> rows;  ///< points of `gpu`; claims use the points of all GPUs
  DeviceLimits gpu;
  std::vector<Ceiling> ceilings{};             ///< measured on `gpu`; empty if none
  std::vector<DeviceCeilings> all_ceilings{};  ///< of all devices
  const Registry& registry;
};

/// Returns the points of the GPU of the newest run that was not imported; all points and the first known GPU if there
/// is none.
[[nodiscard]] Evidence make_evidence(const PointTable&);

/// Returns whether the point ran, with or without counters, so that its times are valid.
[[nodiscard]] bool has_valid_times(const PointTable&, Row);
/// Returns a metric's column; for DRAM bytes as in plots, including write-back bytes if known.
[[nodiscard]] const ValueColumn& column_of(const PointTable&, std::string_view metric);

/// A rate or latency of a GPU.
struct GpuFigure {
  double value = 0;
  CeilingSource source = CeilingSource::datasheet;
};
/// Returns the first of these ceilings that was measured, else the first with a datasheet value.
[[nodiscard]] std::optional<GpuFigure> gpu_figure(const DeviceLimits&, std::span<const Ceiling> measured,
                                                  std::initializer_list<std::string_view> keys);
/// The fastest FLOP/s of the tensor cores in fp16.
[[nodiscard]] std::optional<GpuFigure> tensor_rate(const DeviceLimits&, std::span<const Ceiling> measured);
/// Tensor-core FLOPs in the time of one byte of DRAM.
[[nodiscard]] std::optional<GpuFigure> ridge_point(const DeviceLimits&, std::span<const Ceiling> measured,
                                                   const std::optional<GpuFigure>& tensor_rate);
/// Little's law: bytes that must be in flight to use the full DRAM bandwidth.
[[nodiscard]] std::optional<GpuFigure> bytes_in_flight(const DeviceLimits&, std::span<const Ceiling> measured);

}  // namespace attnscope::analysis::lesson
