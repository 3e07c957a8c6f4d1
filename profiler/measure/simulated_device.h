// SPDX-License-Identifier: Apache-2.0
// Device implementation that replays tile programs through an L2 model.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "kernels/model/ceilings.h"
#include "kernels/model/device_limits.h"
#include "profiler/measure/device.h"

namespace attnscope {

/// UUID of a simulated device: "SIM-NVIDIA-H200". For a hypothetical GPU it includes a digest of its values.
[[nodiscard]] std::string simulated_uuid(const DeviceLimits&);

/// Ceilings of a GPU as measured by `attnscope ceilings`.
struct MeasuredCeilings {
  std::vector<Ceiling> ceilings{};
  std::string from{};  ///< GPU and date of the measurement; see DeviceInfo::rates_source.
};

/// Creates a simulated device with these limits. SM<->L2 bytes are exact; DRAM bytes, occupancy and time are estimates
/// (see traffic_simulation.h). Values have the provenance simulated, extrapolated (launch too long to simulate
/// completely) or modeled (closed form). Times use measured rates if available, else datasheet rates. `unit`: number of
/// the GPU in a simulated machine, from 1, each with its own UUID; 0: a single GPU.
[[nodiscard]] std::unique_ptr<Device> make_simulated_device(const DeviceLimits&, const Registry&,
                                                            const MeasuredCeilings& = {}, int unit = 0);

}  // namespace attnscope
